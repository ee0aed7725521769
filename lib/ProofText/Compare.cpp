// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walks the text for each thread that may act on its own.

#include "fp8/ProofText/Compare.h"

#include "Outline.h"
#include "Walk.h"

#include <atomic>
#include <exception>
#include <thread>

using namespace fp8;
using namespace fp8::prooftext;

static constexpr unsigned kLanes = 32;

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
  using Kind = std::tuple<StateKey, int, std::vector<bool>>;

  /// The same for threads that have the same part in the expected events, and
  /// do the same if what they know at a join of control flow is the same.
  StateKey getPart(const Thread &thread) const;
  /// Walks with the foci that are needed. True if the two agree.
  bool walkAlone(const Thread &thread, Comparison &result);
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
  States &states = seen[{getPart(thread), focus.cursor, focus.open}];
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
  // What the states lead to was not seen to its end.
  if (!result.agrees())
    states.clear();
  return result.agrees();
}

StateKey WarpWalker::getPart(const Thread &thread) const {
  StateKey key{thread.elected, lanesDiffer ? thread.lane : 0};
  mix(key, lanesDiffer ? thread.lanes : 0);
  for (const ScriptEvent &event : script.events)
    mix(key, event.isDoneBy(thread));
  return key;
}

bool WarpWalker::walkAlone(const Thread &thread, Comparison &result) {
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
  return agree || walk(thread, Focus{}, result);
}

void WarpWalker::walk(unsigned rank, unsigned warp) {
  seen.clear();
  auto walkLane = [&](unsigned lane, bool elected) {
    if (result.agrees())
      walkAlone({rank, warp, warp - script.firstWarp, lane, elected}, result);
  };
  unsigned first = script.getNumLanes();
  for (bool elected : {false, true}) {
    for (unsigned lane = 0; lane < first; ++lane)
      walkLane(lane, elected);
    if (first >= kLanes || !result.agrees())
      continue;
    // No event is expected of one of the others alone: they go together, unless
    // the text tells one of them apart.
    Comparison ofAll;
    Thread others{rank, warp, warp - script.firstWarp, first, elected};
    others.lanes = kLanes - first;
    bool agree = walkAlone(others, ofAll);
    result.states += ofAll.states;
    result.events += ofAll.events;
    for (unsigned lane = first; lane < kLanes && !agree; ++lane)
      walkLane(lane, elected);
  }
}

/// Walks all warps of a role in all CTAs, on the threads of the host. What is
/// found, and its order, do not depend on them.
static void walkWarps(const Code &code, const Counters &counters,
                      const KernelScript &kernel, const Script &script,
                      Comparison &result) {
  struct Found {
    Comparison its;
    std::exception_ptr error;
  };
  std::vector<Found> found(size_t(kernel.clusterSize) * script.warps);
  std::atomic<size_t> next = 0, firstBad = found.size();
  auto work = [&] {
    for (size_t i; (i = next++) < found.size() && i < firstBad;) {
      try {
        WarpWalker(code, counters, kernel, script, found[i].its)
            .walk(unsigned(i / script.warps),
                  script.firstWarp + unsigned(i % script.warps));
      } catch (...) {
        found[i].error = std::current_exception();
      }
      if (!found[i].error && found[i].its.agrees())
        continue;
      for (size_t bad = firstBad; i < bad;)
        firstBad.compare_exchange_weak(bad, i);
    }
  };
  size_t most = std::min(
      found.size(), size_t(std::max(1u, std::thread::hardware_concurrency())));
  std::vector<std::thread> others;
  while (others.size() + 1 < most)
    others.emplace_back(work);
  work();
  for (std::thread &other : others)
    other.join();
  for (Found &one : found) {
    if (one.error)
      std::rethrow_exception(one.error);
    result.states += one.its.states;
    result.events += one.its.events;
    if (one.its.agrees())
      continue;
    result.mismatches = std::move(one.its.mismatches);
    result.obstacle = std::move(one.its.obstacle);
    return;
  }
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

/// The message without "[json.exception.NAME] ", which no reader needs.
static std::string withoutPrefix(std::string message) {
  size_t end = message.find("] ");
  bool isOfJson = message.rfind("[json.exception.", 0) == 0;
  return isOfJson && end != std::string::npos ? message.substr(end + 2)
                                              : message;
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
  KernelScript kernel;
  try {
    kernel = readScript(nlohmann::json::parse(events), std::string(entry));
  } catch (const std::exception &error) {
    result.isOfEvents = true;
    result.obstacle = withoutPrefix(error.what());
    return result;
  }
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
    if (result.agrees())
      walkWarps(code, counters, kernel, script, result);
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
