// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chains of signals and waits.

#include "LapPaths.h"

#include <algorithm>
#include <set>

using namespace fp8::proof;

namespace {

/// A role in a CTA that a chain has come to: by an end, and how many laps are
/// left; without an end in any lap.
struct Place {
  const RoleEvents *role;
  int64_t rank;
  const EndLaps *end = nullptr;
  int64_t left = 0;

  bool operator<(const Place &other) const {
    return std::tie(role, rank, end, left) <
           std::tie(other.role, other.rank, other.end, other.left);
  }
};

class Search {
public:
  Search(const KernelLaps &laps, const BarrierSets &sets, unsigned ring)
      : laps(laps), sets(sets), ring(ring) {}

  /// Adds the places to which shares of this CTA lead. Those of the ring take
  /// laps from the place they begin at, if it has an end.
  void follow(const Lap &lap, const Place &from);
  void run();
  bool reaches(const EndLaps &end, int64_t rank) const;

private:
  bool isOfRing(unsigned set) const {
    return sets[set].followsCursor() && sets[set].ring == ring;
  }
  void add(const Place &place) {
    if (seen.insert(place).second)
      left.push_back(place);
  }

  const KernelLaps &laps;
  const BarrierSets &sets;
  unsigned ring;
  std::set<Place> seen;
  std::vector<Place> left;
};

} // namespace

void Search::follow(const Lap &lap, const Place &from) {
  for (auto &[signal, share] : lap.shares) {
    if (signal.from != from.rank)
      continue;
    for (const EndLaps &end : laps.ends) {
      auto lag = end.lags.find(signal.set);
      if (lag == end.lags.end() || !end.everWaits(signal.set, signal.to))
        continue;
      bool isCounted = from.end && isOfRing(signal.set);
      if (isCounted && lag->second > from.left)
        continue;
      Place to{end.role, signal.to};
      if (isCounted) {
        to.end = &end;
        to.left = from.left - lag->second;
      }
      add(to);
    }
  }
}

void Search::run() {
  while (!left.empty()) {
    Place at = left.back();
    left.pop_back();
    for (const EndLaps &end : laps.ends)
      if (end.role == at.role)
        for (const Lap &lap : end.laps)
          follow(lap, &end == at.end ? at : Place{at.role, at.rank});
  }
}

bool Search::reaches(const EndLaps &end, int64_t rank) const {
  return std::any_of(seen.begin(), seen.end(), [&](const Place &place) {
    return place.role == end.role && place.rank == rank;
  });
}

bool LapPaths::mayLead(const EndLaps &waiter, const Lap &lap, unsigned set,
                       int64_t from, const EndLaps &end, int64_t rank) const {
  Search search(laps, sets, sets[set].ring);
  // Who completes the next phase is that many laps ahead.
  auto lag = waiter.lags.find(set);
  int64_t ahead = 1 - (lag == waiter.lags.end() ? 0 : lag->second);
  search.follow(lap, {waiter.role, from, &waiter, ahead});
  for (const EndLaps &other : laps.ends)
    if (other.role == waiter.role && &other != &waiter)
      for (const Lap &its : other.laps)
        search.follow(its, {waiter.role, from});
  search.run();
  return search.reaches(end, rank);
}
