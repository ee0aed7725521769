// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The laps of ends: all that a role may do to barriers between two advances.

#include "LapWalker.h"

#include <algorithm>
#include <utility>

using namespace fp8::proof;

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

static bool has(uint64_t bits, unsigned set) { return bits >> set & 1; }

bool EndLaps::everWaits(unsigned set, int64_t rank) const {
  return std::any_of(laps.begin(), laps.end(), [&](const Lap &lap) {
    auto its = lap.waits.find(rank);
    return its != lap.waits.end() && has(its->second.begun, set);
  });
}

bool EndLaps::alwaysWaits(unsigned set, int64_t rank) const {
  return everWaits(set, rank) &&
         std::all_of(laps.begin(), laps.end(), [&](const Lap &lap) {
           auto its = lap.waits.find(rank);
           return its == lap.waits.end() || has(its->second.begun, set);
         });
}

bool fp8::proof::signals(const Lap &lap, unsigned set, int64_t from, int64_t to,
                         unsigned behind) {
  for (bool ofBytes : {false, true}) {
    auto share = lap.shares.find({set, from, to, ofBytes});
    if (share != lap.shares.end() && has(share->second.behind, behind))
      return true;
  }
  return false;
}

bool EndLaps::alwaysSignals(unsigned set, int64_t from, int64_t to,
                            unsigned behind) const {
  return !laps.empty() &&
         std::all_of(laps.begin(), laps.end(), [&](const Lap &lap) {
           return signals(lap, set, from, to, behind);
         });
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

/// The most laps that differ at one place.
static constexpr size_t kMostLaps = 64;

static void makeSet(Laps &laps) {
  std::stable_sort(laps.begin(), laps.end());
  laps.erase(std::unique(laps.begin(), laps.end()), laps.end());
}

void LapWalker::record(Lap lap) {
  if (std::find(result.laps.begin(), result.laps.end(), lap) ==
      result.laps.end())
    result.laps.push_back(std::move(lap));
}

/// Moves what CTAs of these ranks have done out of the map. `getRank` takes its
/// key.
template <typename Map, typename Function>
static Map take(Map &from, const std::vector<int64_t> &ranks,
                Function getRank) {
  Map taken;
  for (auto it = from.begin(); it != from.end();) {
    bool isIn = std::count(ranks.begin(), ranks.end(), getRank(it->first));
    if (isIn)
      taken.insert(*it);
    it = isIn ? from.erase(it) : std::next(it);
  }
  return taken;
}

void LapWalker::finish(unsigned site, Lap &lap) {
  Lap done;
  done.site = result.cursor ? site : lap.site;
  done.shares =
      take(lap.shares, ranks, [](const Signal &its) { return its.from; });
  done.bytes =
      take(lap.bytes, ranks, [](auto &its) { return std::get<1>(its); });
  done.waits = take(lap.waits, ranks, [](int64_t rank) { return rank; });
  bool drains = std::exchange(lap.drains, false);
  if (!done.shares.empty() || !result.cursor)
    record(std::move(done));
  else if (!drains)
    faults.push_back({site, "role \"" + role.name +
                                "\" must signal each slot that it takes"});
}

Laps LapWalker::repeat(const EventNode &node, Laps laps) {
  const EventBlock &body = node.arms.front();
  if (node.trips) {
    for (int64_t trip = 0; trip < *node.trips; ++trip) {
      Laps next = walk(body, laps);
      if (next == laps || obstacle)
        break;
      laps = std::move(next);
    }
    return laps;
  }
  for (Laps fresh = laps; !fresh.empty() && !obstacle;) {
    Laps next = walk(body, std::move(fresh));
    fresh.clear();
    std::set_difference(next.begin(), next.end(), laps.begin(), laps.end(),
                        std::back_inserter(fresh));
    laps.insert(laps.end(), fresh.begin(), fresh.end());
    makeSet(laps);
    if (laps.size() > kMostLaps)
      obstruct(node.site, "its turns signal a slot any number of times");
  }
  return laps;
}

Laps LapWalker::walk(const EventBlock &block, Laps laps) {
  using Kind = EventNode::Kind;
  for (const EventNode &node : block) {
    if (obstacle)
      return laps;
    switch (node.kind) {
    case Kind::Event:
    case Kind::Skip:
      apply(node, laps);
      makeSet(laps);
      break;
    case Kind::Advance:
      for (Lap &lap : laps)
        if (node.cursor == result.cursor && lap.variable == node.variable)
          finish(node.site, lap);
      makeSet(laps);
      break;
    case Kind::Move:
      move(node, laps);
      makeSet(laps);
      break;
    case Kind::Repeat:
      laps = repeat(node, std::move(laps));
      break;
    case Kind::Choice: {
      Laps all;
      for (const EventBlock &arm : node.arms) {
        Laps its = walk(arm, laps);
        all.insert(all.end(), its.begin(), its.end());
      }
      laps = std::move(all);
      makeSet(laps);
      if (laps.size() > kMostLaps)
        obstruct(node.site, "its branches differ in too many ways");
      break;
    }
    case Kind::Ranks: {
      std::vector<int64_t> outer = ranks;
      ranks.clear();
      std::set_intersection(outer.begin(), outer.end(), node.ranks.begin(),
                            node.ranks.end(), std::back_inserter(ranks));
      laps = walk(node.arms.front(), std::move(laps));
      ranks = std::move(outer);
      break;
    }
    }
  }
  return laps;
}

EndLaps LapWalker::walk() {
  Lap first;
  first.variable = variable;
  Laps laps = walk(role.body, {std::move(first)});
  if (role.body.empty())
    return std::move(result);
  unsigned site = role.body.back().site;
  for (Lap &lap : laps)
    if (!result.cursor)
      finish(site, lap);
    else if (!lap.shares.empty())
      obstruct(site, "its role ends with a slot that it has signalled");
  return std::move(result);
}

static bool mayExchange(const RoleEvents &role, unsigned cursor) {
  return std::any_of(
      role.variables.begin(), role.variables.end(),
      [&](const EndVariable &its) { return its.cursor == cursor; });
}

KernelLaps fp8::proof::findLaps(const KernelEvents &events,
                                const BarrierSets &sets) {
  KernelLaps result;
  // Sets are bits of a word.
  if (sets.size() > 64) {
    result.obstacle = Miscount{0, "it has too many rings"};
    return result;
  }
  for (const RoleEvents &role : events.roles) {
    auto follow = [&](std::optional<unsigned> cursor,
                      std::optional<unsigned> variable) {
      LapWalker walker(events, sets, role, cursor, variable);
      result.ends.push_back(walker.walk());
      result.steps += walker.steps;
      result.faults.insert(result.faults.end(), walker.faults.begin(),
                           walker.faults.end());
      if (walker.obstacle && !result.obstacle)
        result.obstacle = walker.obstacle;
    };
    follow(std::nullopt, std::nullopt);
    for (unsigned cursor = 0; cursor < role.cursors.size(); ++cursor)
      if (!role.cursors[cursor].batch && !mayExchange(role, cursor))
        follow(cursor, std::nullopt);
    for (unsigned number = 0; number < role.variables.size(); ++number)
      if (const EndVariable &its = role.variables[number]; its.ring) {
        follow(std::nullopt, number);
        follow(its.cursor, number);
      }
  }
  return result;
}
