// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What to change in a kernel whose roles wait for one another.

#include "Cures.h"
#include "SymbolicRun.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <set>

using namespace fp8::proof;

namespace {

class CureFinder {
public:
  CureFinder(const Skeleton &skeleton, int64_t clusterSize, const State &state,
             llvm::ArrayRef<Waiting> waiting)
      : skeleton(skeleton), clusterSize(clusterSize), state(state),
        waiting(waiting) {}

  std::optional<Cure> find();

private:
  const Channel &getChannel(const Waiting &its) const {
    return skeleton.channels[skeleton.ends[its.end].channel];
  }
  const std::string &getName(const Waiting &its) const {
    return skeleton.processes[its.process].name;
  }
  /// How the role of an end waits; null if it has ended.
  const Waiting *getWaiting(unsigned end) const;
  /// Roles that wait each for the next one, and the last for the first.
  std::vector<const Waiting *> findCycle() const;
  /// With how few more slots in a ring all roles end for all launches.
  std::optional<int64_t> findSlots(const Waiting &its);
  std::optional<Cure> cureUnequalTrips() const;
  std::optional<Cure> cureCycle();

  const Skeleton &skeleton;
  int64_t clusterSize;
  const State &state;
  llvm::ArrayRef<Waiting> waiting;
};

} // namespace

const Waiting *CureFinder::getWaiting(unsigned end) const {
  // The ends of a process have its name.
  auto it = llvm::find_if(waiting, [&](const Waiting &its) {
    return getName(its) == skeleton.ends[end].name;
  });
  return it == waiting.end() ? nullptr : &*it;
}

std::vector<const Waiting *> CureFinder::findCycle() const {
  for (const Waiting &first : waiting) {
    std::vector<const Waiting *> path;
    const Waiting *its = &first;
    while (its && !its->late.empty()) {
      auto it = llvm::find(path, its);
      if (it != path.end())
        return {it, path.end()};
      path.push_back(its);
      its = getWaiting(its->late.front());
    }
  }
  return {};
}

std::optional<int64_t> CureFinder::findSlots(const Waiting &its) {
  constexpr int64_t kMost = 4;
  constexpr uint64_t kMostSteps = 50'000;
  unsigned number = skeleton.ends[its.end].channel;
  const Channel &channel = skeleton.channels[number];
  // A ring of several classes of CTAs is several channels.
  bool hasClasses =
      llvm::any_of(skeleton.processes, [](const Process &process) {
        return llvm::StringRef(process.name).ends_with(" CTA");
      });
  if (channel.isOnce() || hasClasses)
    return std::nullopt;
  for (int64_t slots = channel.slots + 1; slots <= channel.slots + kMost;
       ++slots) {
    Skeleton tried = skeleton;
    tried.channels[number].slots = slots;
    for (Pace pace : kPaces) {
      SymbolicRun run(tried, clusterSize, pace);
      run.getMachine().limit = kMostSteps;
      if (run.prove().verdict == Verdict::Proved)
        return slots;
    }
  }
  return std::nullopt;
}

std::optional<Cure> CureFinder::cureUnequalTrips() const {
  for (const Waiting &its : waiting) {
    const Channel &channel = getChannel(its);
    for (unsigned end : its.late)
      if (!getWaiting(end) && !channel.isOnce())
        return Cure{channel.site, skeleton.ends[end].name +
                                      " has ended; let it take as many slots "
                                      "of this ring as " +
                                      getName(its)};
  }
  return std::nullopt;
}

std::optional<Cure> CureFinder::cureCycle() {
  std::vector<const Waiting *> cycle = findCycle();
  auto isCurable = [&](const Waiting *its) {
    return !its->drains && !getChannel(*its).isOnce();
  };
  if (cycle.size() < 2 || !llvm::all_of(cycle, isCurable))
    return std::nullopt;
  auto isFull = [&](const Waiting *its) {
    return skeleton.ends[its->end].isProducer;
  };
  std::string names = llvm::join(
      llvm::map_range(cycle, [&](const Waiting *its) { return getName(*its); }),
      " and ");
  auto full = llvm::find_if(cycle, isFull);
  if (full == cycle.end()) {
    bool isFirst =
        llvm::all_of(cycle, [](const Waiting *its) { return its->slot == 0; });
    if (!isFirst)
      return std::nullopt;
    return Cure{getChannel(*cycle.front()).site,
                "each of " + names +
                    " waits before it fills a slot; let one fill one first"};
  }
  std::vector<std::string> ways;
  if (std::optional<int64_t> slots = findSlots(**full))
    ways.push_back("give this ring " + std::to_string(*slots) + " slots");
  // Roles that take rings one after another; of one ring alone it is a matter
  // of slots that come back late.
  std::set<const Channel *> channels;
  for (const Waiting *its : cycle)
    channels.insert(&getChannel(*its));
  if (channels.size() == cycle.size() && !llvm::all_of(cycle, isFull))
    ways.push_back("let " + names + " take their rings in the same order");
  if (channels.size() == 1)
    ways.push_back("hand its slots back sooner");
  if (ways.empty())
    return std::nullopt;
  return Cure{getChannel(**full).site, llvm::join(ways, ", or ")};
}

std::optional<Cure> CureFinder::find() {
  if (std::optional<Cure> cure = cureUnequalTrips())
    return cure;
  return cureCycle();
}

std::optional<Cure> fp8::proof::findCure(const Skeleton &skeleton,
                                         int64_t clusterSize,
                                         const State &state,
                                         llvm::ArrayRef<Waiting> waiting) {
  return CureFinder(skeleton, clusterSize, state, waiting).find();
}
