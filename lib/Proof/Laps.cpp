// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The laps of ends: all that a role may do to barriers between two advances.

#include "Laps.h"

#include <algorithm>
#include <string_view>
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
// Events
//===----------------------------------------------------------------------===//

namespace {

/// What an instruction does to the barriers that it names.
struct Effect {
  bool arrives = false, announces = false, waits = false;
};

using Laps = std::vector<Lap>;

/// Follows a role for one of its ends. The laps that are under way at a place
/// are those of all paths that lead there.
class LapWalker {
public:
  LapWalker(const KernelEvents &events, const BarrierSets &sets,
            const RoleEvents &role, std::optional<unsigned> cursor);

  EndLaps walk();

  std::vector<Miscount> faults;
  std::optional<Miscount> obstacle;
  uint64_t steps = 0;

private:
  /// Says to which cursor barriers belong whose addresses follow none.
  void findOwners(const EventBlock &block);
  std::optional<unsigned> getCursor(const Event &event, unsigned set) const;
  Laps walk(const EventBlock &block, Laps laps);
  Laps repeat(const EventNode &node, Laps laps);
  void apply(const EventNode &node, Laps &laps);
  /// What one CTA does to barriers of a set. `ends`: how many ends do so in a
  /// lap of the set.
  void apply(const EventNode &node, unsigned set, int64_t ends, int64_t rank,
             Lap &lap);
  /// The CTAs at whose barriers an event in this one takes effect.
  std::vector<int64_t> getTargets(const Event &event, int64_t rank) const;
  void wait(const EventNode &node, unsigned set);
  /// Ends the laps of the CTAs that are followed.
  void finish(unsigned site, Laps &laps);
  void record(Lap lap);
  void obstruct(unsigned site, const std::string &reason);

  const KernelEvents &events;
  const BarrierSets &sets;
  const RoleEvents &role;
  EndLaps result;
  std::map<unsigned, unsigned> owners;
  std::vector<int64_t> ranks; ///< that take the block at hand
};

} // namespace

static const Quantity *getField(const Event &event, std::string_view name) {
  for (const auto &[field, quantity] : event.fields)
    if (field == name)
      return &quantity;
  return nullptr;
}

static int64_t getAt(const Quantity &quantity, int64_t rank) {
  return quantity.constant +
         (quantity.byRank.empty() ? 0 : quantity.byRank[rank]);
}

static Effect getEffect(const Event &event) {
  static const std::map<std::string_view, Effect> kEffects = {
      {"wait", {false, false, true}},
      {"wait for cluster", {false, false, true}},
      {"arrive", {true}},
      {"arrive remotely", {true}},
      {"arrive after copies", {true}},
      {"arrive expecting", {true, true}},
      {"arrive expecting remotely", {true, true}},
      {"expect", {false, true}},
      {"commit", {true}},
      {"commit to several", {true}},
      {"commit of pair to several", {true}},
      {"named arrive", {true}},
      {"named sync", {true, false, true}}};
  auto its = kEffects.find(event.kind);
  return its == kEffects.end() ? Effect() : its->second;
}

LapWalker::LapWalker(const KernelEvents &events, const BarrierSets &sets,
                     const RoleEvents &role, std::optional<unsigned> cursor)
    : events(events), sets(sets), role(role), result{&role, cursor, {}, {}} {
  for (int64_t rank = 0; rank < events.clusterSize; ++rank)
    ranks.push_back(rank);
  findOwners(role.body);
}

void LapWalker::obstruct(unsigned site, const std::string &reason) {
  if (!obstacle)
    obstacle = Miscount{site, reason};
}

void LapWalker::findOwners(const EventBlock &block) {
  for (const EventNode &node : block) {
    for (const EventBlock &arm : node.arms)
      findOwners(arm);
    const Quantity *parity = getField(node.event, "parity");
    for (auto [set, ends] : sets.find(node.event, role))
      if (parity && parity->cursor && !sets[set].followsCursor)
        owners[set] = *parity->cursor;
  }
}

std::optional<unsigned> LapWalker::getCursor(const Event &event,
                                             unsigned set) const {
  if (sets[set].followsCursor)
    return getField(event, "at")->cursor;
  auto owner = owners.find(set);
  return owner == owners.end() ? std::nullopt : std::optional(owner->second);
}

std::vector<int64_t> LapWalker::getTargets(const Event &event,
                                           int64_t rank) const {
  const Quantity *cta = getField(event, "cta"), *mask = getField(event, "mask");
  std::vector<int64_t> targets;
  if (mask) {
    for (int64_t other = 0; other < events.clusterSize; ++other)
      if (getAt(*mask, rank) >> other & 1)
        // A copy of a pair signals one CTA of each pair that it reaches.
        targets.push_back(cta ? (other & ~int64_t(1)) | (getAt(*cta, rank) & 1)
                              : other);
  } else if (cta && !cta->byLane.empty()) {
    targets = cta->byLane[rank];
  } else if (cta) {
    targets.push_back(getAt(*cta, rank));
  } else if (event.kind == "request for all") {
    for (int64_t other = 0; other < events.clusterSize; ++other)
      targets.push_back(other);
  } else {
    targets.push_back(rank);
  }
  return targets;
}

void LapWalker::wait(const EventNode &node, unsigned set) {
  const Quantity *parity = getField(node.event, "parity");
  int64_t lag = parity ? parity->constant : 0;
  if (parity && result.cursor &&
      (!parity->isParity || parity->cursor != result.cursor))
    obstruct(node.site, "a wait does not follow the laps of its end");
  if (!result.lags.insert({set, lag}).second && result.lags[set] != lag)
    obstruct(node.site, "an end waits for phases of two laps");
}

void LapWalker::apply(const EventNode &node, unsigned set, int64_t ends,
                      int64_t rank, Lap &lap) {
  const Event &event = node.event;
  Effect effect = getEffect(event);
  const Doers &doers = event.doers;
  bool byAll = doers.lanes == Doers::Lanes::All;
  int64_t lanes = byAll                                  ? 32
                  : doers.lanes == Doers::Lanes::Elected ? 1
                                                         : doers.below,
          every = doers.everyWarp ? doers.everyWarp : role.warps,
          threads = ends * ((role.warps + every - 1) / every);
  const Quantity *cta = getField(event, "cta");
  // Else each lane tells a CTA of its own.
  if (!cta || cta->byLane.empty())
    threads *= lanes;
  Waits &waits = lap.waits[rank];
  for (int64_t to : getTargets(event, rank)) {
    if (effect.announces || event.brings) {
      Bytes &bytes = lap.bytes[{set, rank, to}];
      int64_t announced =
          effect.announces ? getField(event, "bytes")->constant : 0;
      bytes.missing += threads * (announced - event.brings);
      bytes.isOpen |= effect.announces && !effect.arrives;
    }
    if (!effect.arrives && !event.brings)
      continue;
    Share &share = lap.shares[{set, rank, to, event.brings != 0}];
    share.arrivals += effect.arrives ? threads : 0;
    share.behind &= waits.begun;
    share.behindAll |= byAll ? waits.begun : waits.met;
    share.byAllWarps |= every == 1;
    auto bytes = lap.bytes.find({set, rank, to});
    if (effect.arrives && bytes != lap.bytes.end())
      bytes->second.isOpen = false;
  }
  if (!effect.waits)
    return;
  if (has(waits.begun, set))
    obstruct(node.site, "it waits twice before its end goes on to a next slot");
  waits.begun |= uint64_t(1) << set;
}

void LapWalker::apply(const EventNode &node, Laps &laps) {
  const Event &event = node.event;
  ++steps;
  if (event.kind == "warp sync" && event.doers.lanes == Doers::Lanes::All) {
    for (Lap &lap : laps)
      for (int64_t rank : ranks)
        if (auto its = lap.waits.find(rank); its != lap.waits.end())
          its->second.met |= its->second.begun;
    return;
  }
  Effect effect = getEffect(event);
  if (!effect.arrives && !effect.announces && !effect.waits && !event.brings)
    return;
  auto found = sets.find(event, role);
  // Warpgroups meet among themselves at other named barriers.
  if (found.empty() && !getField(event, "id"))
    obstruct(node.site, "it works on a barrier of no ring");
  for (auto [set, ends] : found) {
    if (getCursor(event, set) != result.cursor)
      continue;
    if (effect.waits)
      wait(node, set);
    for (Lap &lap : laps) {
      lap.site = node.site;
      lap.drains |= event.drains;
      for (int64_t rank : ranks)
        apply(node, set, ends, rank, lap);
    }
  }
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

void LapWalker::finish(unsigned site, Laps &laps) {
  for (Lap &lap : laps) {
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
  makeSet(laps);
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
      if (node.cursor == result.cursor)
        finish(node.site, laps);
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
  Laps laps = walk(role.body, {Lap()});
  if (role.body.empty())
    return std::move(result);
  unsigned site = role.body.back().site;
  if (!result.cursor)
    finish(site, laps);
  for (const Lap &lap : laps)
    if (!lap.shares.empty())
      obstruct(site, "its role ends with a slot that it has signalled");
  return std::move(result);
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
    std::vector<std::optional<unsigned>> cursors = {std::nullopt};
    for (unsigned cursor = 0; cursor < role.cursors.size(); ++cursor)
      if (!role.cursors[cursor].batch)
        cursors.push_back(cursor);
    for (std::optional<unsigned> cursor : cursors) {
      LapWalker walker(events, sets, role, cursor);
      result.ends.push_back(walker.walk());
      result.steps += walker.steps;
      result.faults.insert(result.faults.end(), walker.faults.begin(),
                           walker.faults.end());
      if (walker.obstacle && !result.obstacle)
        result.obstacle = walker.obstacle;
    }
  }
  return result;
}
