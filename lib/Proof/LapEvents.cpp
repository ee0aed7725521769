// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the events of a role add to laps.

#include "LapWalker.h"

#include <string_view>

using namespace fp8::proof;

namespace {

/// What an instruction does to the barriers that it names.
struct Effect {
  bool arrives = false, announces = false, waits = false;
};

} // namespace

static bool has(uint64_t bits, unsigned set) { return bits >> set & 1; }

static const Quantity *getField(const Event &event, std::string_view name) {
  for (const auto &[field, quantity] : event.fields)
    if (field == name)
      return &quantity;
  return nullptr;
}

/// The barrier on which an event works; null if it works on none.
static const Quantity *getBarrier(const Event &event) {
  const Quantity *at = getField(event, "at");
  return at ? at : getField(event, "id");
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
                     const RoleEvents &role, std::optional<unsigned> cursor,
                     std::optional<unsigned> variable)
    : events(events), sets(sets), role(role),
      variable(variable), result{&role, cursor, {}, {}} {
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
    std::optional<unsigned> set = sets.find(node.event, role);
    if (set && parity && parity->cursor && !sets[*set].followsCursor())
      owners[*set] = *parity->cursor;
  }
}

std::optional<unsigned> LapWalker::getCursor(const Event &event,
                                             unsigned set) const {
  if (sets[set].followsCursor())
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

void LapWalker::apply(const EventNode &node, unsigned set, int64_t rank,
                      Lap &lap) {
  const Event &event = node.event;
  Effect effect = getEffect(event);
  const Doers &doers = event.doers;
  bool byAll = doers.lanes == Doers::Lanes::All;
  int64_t lanes = byAll                                  ? 32
                  : doers.lanes == Doers::Lanes::Elected ? 1
                                                         : doers.below,
          every = doers.everyWarp ? doers.everyWarp : role.warps,
          threads = (role.warps + every - 1) / every;
  const Quantity *cta = getField(event, "cta");
  // Else each lane tells a CTA of its own.
  if (!cta || cta->byLane.empty())
    threads *= lanes;
  Waits &waits = lap.waits[rank];
  for (int64_t to : getTargets(event, rank)) {
    if (effect.announces || event.brings) {
      const Quantity *told =
          effect.announces ? getField(event, "bytes") : nullptr;
      std::optional<unsigned> counter =
          told ? told->parameter : event.bringsParameter;
      Bytes &bytes =
          lap.bytes[{set, rank, to, counter ? int64_t(*counter) : -1}];
      int64_t announced = told ? told->constant : 0;
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
    if (effect.arrives)
      for (auto &[place, bytes] : lap.bytes)
        if (std::tie(std::get<0>(place), std::get<1>(place),
                     std::get<2>(place)) == std::tie(set, rank, to))
          bytes.isOpen = false;
  }
  if (!effect.waits)
    return;
  if (has(waits.begun, set))
    obstruct(node.site, "it waits twice before its end goes on to a next slot");
  waits.begun |= uint64_t(1) << set;
}

std::optional<unsigned> LapWalker::findSet(const EventNode &node) {
  std::optional<unsigned> set = sets.find(node.event, role);
  const Quantity *at = getBarrier(node.event);
  if (!set) {
    // Warpgroups meet among themselves at other named barriers.
    if (!getField(node.event, "id"))
      obstruct(node.site, "it works on a barrier of no ring");
    return std::nullopt;
  }
  if (at->variable.has_value() != variable.has_value() ||
      getCursor(node.event, *set) != result.cursor)
    return std::nullopt;
  return variable ? sets.getAlike(*set, *role.variables[*variable].ring) : *set;
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
  std::optional<unsigned> set = findSet(node);
  for (Lap &lap : laps) {
    if (!set || lap.variable != getBarrier(event)->variable)
      continue;
    if (effect.waits)
      wait(node, *set);
    lap.site = node.site;
    lap.drains |= event.drains;
    for (int64_t rank : ranks)
      apply(node, *set, rank, lap);
  }
}

void LapWalker::move(const EventNode &node, Laps &laps) {
  for (Lap &lap : laps)
    for (auto [from, to] : node.moves)
      if (lap.variable == from) {
        lap.variable = to;
        if (ranks.size() != size_t(events.clusterSize))
          obstruct(node.site, "ends change places in some CTAs only");
        break;
      }
}
