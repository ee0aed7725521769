// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walks the text for each thread that may act on its own.

#include "fp8/ProofText/Compare.h"

#include "Outline.h"
#include "Walk.h"

#include <stdexcept>

using namespace fp8;
using namespace fp8::prooftext;

/// The threads of a warp that may act on their own: by election, and by the
/// number of their lane.
static std::vector<Thread> getThreads(unsigned rank, unsigned warp,
                                      const Script &script) {
  std::vector<Thread> threads;
  auto add = [&](unsigned lane, bool elected) {
    threads.push_back({rank, warp, warp - script.firstWarp, lane, elected});
  };
  unsigned lanes = script.getNumLanes();
  for (unsigned lane = 0; lane < lanes; ++lane) {
    add(lane, false);
    add(lane, true);
  }
  if (lanes < 32) {
    add(31, false);
    add(31, true);
  }
  return threads;
}

namespace {

/// Walks the threads of a role in one CTA and warp.
class WarpWalker {
public:
  WarpWalker(const Code &code, const Counters &counters,
             const KernelScript &kernel, const Script &script,
             Comparison &result)
      : code(code), counters(counters), kernel(kernel), script(script),
        matcher(script), lanesDiffer(code.readsLane || script.hasLaneEvents()),
        result(result) {}

  void walk(unsigned rank, unsigned warp);

private:
  /// What a kind of threads and their focus have in common.
  using Kind = std::tuple<bool, unsigned, int, std::vector<bool>>;

  void walk(const Thread &thread);
  /// Walks with that focus. True if the two agree.
  bool walk(const Thread &thread, const Focus &focus, Comparison &result);

  const Code &code;
  const Counters &counters;
  const KernelScript &kernel;
  const Script &script;
  Matcher matcher;
  /// Lanes act by their number, besides the first thread at the start.
  bool lanesDiffer;
  Comparison &result;
  std::map<Kind, States> seen;
};

} // namespace

bool WarpWalker::walk(const Thread &thread, const Focus &focus,
                      Comparison &result) {
  States &states = seen[{thread.elected, lanesDiffer ? thread.lane : 0,
                         focus.cursor, focus.open}];
  size_t before = states.size();
  Walk walk(code, kernel, script, matcher, thread, focus, states);
  auto mismatch = walk.run();
  if (mismatch && walk.getOpenTable())
    result.obstacle = "line " + std::to_string(walk.getOpenTable()) +
                      " branches by a table, whose index the comparison does "
                      "not know";
  else if (mismatch)
    result.mismatches.push_back(std::move(*mismatch));
  result.events += walk.getNumEvents();
  result.states += states.size() - before;
  if (const sim::ast::Instruction *at = walk.getUnknown())
    result.obstacle = "line " + std::to_string(at->line) + ": '" +
                      at->mnemonic() +
                      "' has an operand that the comparison cannot follow";
  if (walk.isTooLong())
    result.obstacle =
        "role '" + script.name + "' has too many states to compare all of them";
  return result.agrees();
}

void WarpWalker::walk(const Thread &thread) {
  std::vector<Focus> foci;
  if (script.cursors.size() > 1)
    foci = Outline(code, counters, kernel, script, matcher, thread).getFoci();
  // What walks of single cursors do not show, that of all cursors may.
  Comparison apart;
  bool agree = !foci.empty();
  for (const Focus &focus : foci)
    agree = agree && walk(thread, focus, apart);
  result.states += apart.states;
  result.events += apart.events;
  if (!agree)
    walk(thread, Focus{}, result);
}

void WarpWalker::walk(unsigned rank, unsigned warp) {
  seen.clear();
  for (const Thread &thread : getThreads(rank, warp, script))
    if (result.agrees())
      walk(thread);
}

/// By step of the text: whether threads of the role may come there.
static std::vector<bool> findReached(const Code &code, const Counters &counters,
                                     const KernelScript &kernel,
                                     const Script &script) {
  constexpr size_t kMostStates = 5'000;
  std::vector<bool> reached(code.steps.size()), open = counters.getSteps();
  for (unsigned warp = 0; warp < script.warps; ++warp) {
    Thread any{0, script.firstWarp + warp, warp, 0, false, /*isAny=*/true};
    Execution execution(code, kernel, any, open);
    if (!execution.explore(kMostStates, [&](const State &state, bool) {
          reached[state.at] = true;
        }))
      return {};
  }
  return reached;
}

static Comparison compareKernel(const sim::PTXModule &module,
                                std::string_view entry,
                                std::string_view events) {
  Comparison result;
  const fp8::sim::ast::Function *function = module.ast().findEntry(entry);
  if (!function) {
    result.obstacle = "the text has no entry '" + std::string(entry) + "'";
    return result;
  }
  KernelScript kernel =
      readScript(nlohmann::json::parse(events), std::string(entry));
  result.verdict = kernel.verdict;
  Code all = readCode(module.ast(), *function, kernel.clusterSize);
  result.obstacle = all.obstacle;
  if (!result.obstacle.empty())
    return result;
  Counters ofAll(all);
  for (const Script &script : kernel.roles) {
    Code code = readCode(module.ast(), *function, kernel.clusterSize,
                         findReached(all, ofAll, kernel, script));
    Counters counters(code);
    WarpWalker walker(code, counters, kernel, script, result);
    for (unsigned rank = 0; rank < kernel.clusterSize; ++rank)
      for (unsigned warp = 0; warp < script.warps && result.agrees(); ++warp)
        walker.walk(rank, script.firstWarp + warp);
  }
  return result;
}

Comparison fp8::prooftext::compare(const sim::PTXModule &module,
                                   std::string_view entry,
                                   std::string_view events) {
  try {
    return compareKernel(module, entry, events);
  } catch (const std::exception &error) {
    Comparison result;
    result.obstacle = error.what();
    return result;
  }
}
