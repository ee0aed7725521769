// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The phases of barriers, compared with the laps of slots.

#include "fp8/Proof/Miscounts.h"

#include "LapPaths.h"

#include <algorithm>

using namespace fp8::proof;
using Holds = Miscount::Holds;

namespace {

class Comparison {
public:
  explicit Comparison(const KernelEvents &events)
      : sets(events), laps(findLaps(events, sets)), paths(laps, sets),
        size(events.clusterSize) {}

  Miscounts compare();

private:
  /// All arrivals of a lap at the barrier, and the barrier's count.
  void compareArrivals(unsigned set, int64_t rank);
  void compareBytes(const EndLaps &end, const Lap &lap);
  /// Who signals a barrier comes after its phase of the lap before.
  void checkSignals(const EndLaps &end, const Lap &lap);
  /// Nobody completes the phase behind the one that is waited for before the
  /// wait is over.
  void checkWaits(const EndLaps &end, const Lap &lap);
  bool followsPhase(const EndLaps &end, const Signal &signal,
                    const Share &share) const;
  /// Says which laps of an end that waits for the barrier keep the signal from
  /// coming after the phase before.
  void addUnsignalled(const EndLaps &end, const Signal &signal,
                      const Share &share);
  bool holdsPhase(const EndLaps &end, const Lap &lap, unsigned set,
                  int64_t rank) const;
  /// True if nobody may complete that phase, or some other way may lead from
  /// the wait to who does.
  bool mayHoldPhase(const EndLaps &end, const Lap &lap, unsigned set,
                    int64_t rank) const;
  /// True if some end waits for the barrier.
  bool isWaitedFor(unsigned set, int64_t rank) const;
  /// "the full barrier of the ring of 'a'"
  std::string getName(unsigned set, int64_t rank) const;
  void add(unsigned site, const std::string &rule, Holds holds);

  BarrierSets sets;
  KernelLaps laps;
  LapPaths paths;
  int64_t size; ///< of the cluster
  Miscounts result;
};

} // namespace

/// True if the wait of one end for a barrier that the other signals, and that
/// of the other for one that this end signals, are one lap apart together.
static bool areOneLap(const EndLaps &one, unsigned ones, const EndLaps &other,
                      unsigned others) {
  auto first = one.lags.find(ones), second = other.lags.find(others);
  return first != one.lags.end() && second != other.lags.end() &&
         first->second + second->second == 1;
}

static std::string getRole(const EndLaps &end) {
  return "role \"" + end.role->name + "\"";
}

std::string Comparison::getName(unsigned set, int64_t rank) const {
  return sets[set].name +
         (size > 1 ? " of CTA " + std::to_string(rank) + " of the cluster"
                   : "");
}

void Comparison::add(unsigned site, const std::string &rule, Holds holds) {
  bool isKnown = std::any_of(result.faults.begin(), result.faults.end(),
                             [&](const Miscount &its) {
                               return its.site == site && its.rule == rule;
                             });
  if (!isKnown)
    result.faults.push_back({site, rule, holds});
}

bool Comparison::isWaitedFor(unsigned set, int64_t rank) const {
  return std::any_of(
      laps.ends.begin(), laps.ends.end(),
      [&](const EndLaps &end) { return end.everWaits(set, rank); });
}

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

static int64_t getArrivals(const Lap &lap, unsigned set, int64_t rank) {
  int64_t arrivals = 0;
  for (auto &[signal, share] : lap.shares)
    if (signal.set == set && signal.to == rank)
      arrivals += share.arrivals;
  return arrivals;
}

void Comparison::compareArrivals(unsigned set, int64_t rank) {
  int64_t total = 0;
  for (const EndLaps &end : laps.ends) {
    int64_t most = 0;
    for (const Lap &lap : end.laps)
      most = std::max(most, getArrivals(lap, set, rank));
    total += most;
    for (const Lap &lap : end.laps)
      if (int64_t its = getArrivals(lap, set, rank); its != most)
        add(lap.site,
            getRole(end) + " must arrive at " + getName(set, rank) +
                " as often in each lap, but arrives " + std::to_string(its) +
                " times here, and " + std::to_string(most) + " times elsewhere",
            Holds::Always);
  }
  const BarrierSet &its = sets[set];
  std::string rule = getName(set, rank);
  if (its.isUneven)
    rule += " must count alike wherever it is told how often";
  else if (total != its.count)
    rule += " must get the " + std::to_string(its.count) +
            " arrivals that it counts in each lap, but gets " +
            std::to_string(total);
  else
    return;
  for (const EndLaps &end : laps.ends)
    if (end.everWaits(set, rank))
      add(end.laps.front().site, rule, Holds::Always);
}

void Comparison::compareBytes(const EndLaps &end, const Lap &lap) {
  std::map<std::tuple<unsigned, int64_t, int64_t>, int64_t> missing;
  for (auto &[place, bytes] : lap.bytes) {
    auto [set, from, to, parameter] = place;
    missing[{set, to, parameter}] += bytes.missing;
    if (bytes.isOpen)
      add(lap.site,
          getRole(end) + " must arrive at " + getName(set, to) +
              " behind its last announcement of bytes",
          Holds::Always);
  }
  for (auto &[place, bytes] : missing)
    if (bytes)
      add(lap.site,
          "copies of " + getRole(end) + " must bring the bytes that " +
              getName(std::get<0>(place), std::get<1>(place)) +
              " is to expect, but bring " + std::to_string(std::abs(bytes)) +
              (bytes > 0 ? " less" : " more"),
          Holds::Always);
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

bool Comparison::followsPhase(const EndLaps &end, const Signal &signal,
                              const Share &share) const {
  // It has waited for the phase itself.
  auto lag = end.lags.find(signal.set);
  if (lag != end.lags.end() && lag->second == 0 && signal.from == signal.to &&
      end.alwaysWaits(signal.set, signal.to))
    return true;
  // It has waited for somebody who has.
  for (unsigned behind = 0; behind < sets.size(); ++behind)
    if (share.behind >> behind & 1)
      for (const EndLaps &other : laps.ends)
        if (other.alwaysWaits(signal.set, signal.to) &&
            other.alwaysSignals(behind, signal.to, signal.from, signal.set) &&
            areOneLap(end, behind, other, signal.set))
          return true;
  return false;
}

void Comparison::addUnsignalled(const EndLaps &end, const Signal &signal,
                                const Share &share) {
  std::vector<std::pair<const EndLaps *, unsigned>> candidates;
  for (unsigned behind = 0; behind < sets.size(); ++behind)
    if (share.behind >> behind & 1)
      for (const EndLaps &other : laps.ends)
        if (other.alwaysWaits(signal.set, signal.to) &&
            areOneLap(end, behind, other, signal.set))
          candidates.push_back({&other, behind});
  if (candidates.size() != 1)
    return;
  auto [other, behind] = candidates.front();
  // What a producer signals in its next lap, it may never signal.
  if (end.lags.at(behind) != 0 ||
      !end.alwaysSignals(signal.set, signal.from, signal.to, behind))
    return;
  for (const Lap &lap : other->laps)
    if (!signals(lap, behind, signal.to, signal.from, signal.set) &&
        !paths.mayLead(*other, lap, signal.set, signal.to, end, signal.from))
      add(lap.site,
          getRole(*other) + " must signal " + getName(behind, signal.from) +
              " in each lap, so that " + getRole(end) + " signals " +
              getName(signal.set, signal.to) +
              " behind the phase of the lap before",
          Holds::FromSecondLap);
}

void Comparison::checkSignals(const EndLaps &end, const Lap &lap) {
  for (auto &[signal, share] : lap.shares)
    if (isWaitedFor(signal.set, signal.to) &&
        !followsPhase(end, signal, share)) {
      addUnsignalled(end, signal, share);
      add(lap.site,
          getRole(end) + " must not signal " + getName(signal.set, signal.to) +
              " before that has completed the phase of the lap before",
          Holds::Perhaps);
    }
}

bool Comparison::holdsPhase(const EndLaps &end, const Lap &lap, unsigned set,
                            int64_t rank) const {
  for (auto &[signal, share] : lap.shares) {
    if (signal.from != rank || !share.byAllWarps ||
        !(share.behindAll >> set & 1))
      continue;
    for (const EndLaps &other : laps.ends)
      if (other.alwaysSignals(set, signal.to, rank, signal.set) &&
          areOneLap(end, set, other, signal.set))
        return true;
  }
  return false;
}

bool Comparison::mayHoldPhase(const EndLaps &end, const Lap &lap, unsigned set,
                              int64_t rank) const {
  // There may be no next lap, to which the next phase belongs.
  if (end.lags.at(set) == 0)
    return true;
  for (const EndLaps &other : laps.ends)
    for (const Lap &its : other.laps)
      for (auto &[signal, share] : its.shares)
        if (signal.set == set && signal.to == rank &&
            paths.mayLead(end, lap, set, rank, other, signal.from))
          return true;
  return false;
}

void Comparison::checkWaits(const EndLaps &end, const Lap &lap) {
  for (auto &[rank, waits] : lap.waits)
    for (unsigned set = 0; set < sets.size(); ++set)
      if (waits.begun >> set & 1 && !holdsPhase(end, lap, set, rank))
        add(lap.site,
            getRole(end) + ", which waits at " + getName(set, rank) +
                ", must signal those who complete its next phase",
            mayHoldPhase(end, lap, set, rank) ? Holds::Perhaps : Holds::Always);
}

Miscounts Comparison::compare() {
  result.steps = laps.steps;
  result.obstacle = laps.obstacle;
  for (const Miscount &fault : laps.faults)
    add(fault.site, fault.rule, fault.holds);
  if (result.obstacle)
    return std::move(result);
  for (unsigned set = 0; set < sets.size(); ++set)
    for (int64_t rank = 0; rank < size; ++rank)
      if (isWaitedFor(set, rank))
        compareArrivals(set, rank);
  for (const EndLaps &end : laps.ends)
    for (const Lap &lap : end.laps) {
      compareBytes(end, lap);
      // What takes place once has one phase.
      if (!end.cursor)
        continue;
      checkSignals(end, lap);
      checkWaits(end, lap);
    }
  return std::move(result);
}

Miscounts fp8::proof::findMiscounts(const KernelEvents &events) {
  return Comparison(events).compare();
}
