// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The barriers by which roles hand over, as a kernel initialises them.

#include "Laps.h"

#include <algorithm>

using namespace fp8::proof;
using Use = BarrierSet::Use;

/// The size of an mbarrier object in bytes (PTX ISA, mbarrier).
static constexpr int64_t kBarrierBytes = 8;

static const Quantity *getField(const Event &event, const char *name) {
  for (const auto &[field, quantity] : event.fields)
    if (field == name)
      return &quantity;
  return nullptr;
}

static bool isNamed(const Event &event) {
  return event.kind == "named arrive" || event.kind == "named sync";
}

BarrierSets::BarrierSets(const KernelEvents &events) {
  addMemory(events);
  addNamed(events);
}

void BarrierSets::addMemory(const KernelEvents &events) {
  for (unsigned number = 0; number < events.rings.size(); ++number) {
    const RingBarriers &ring = events.rings[number];
    auto add = [&](Use use, const char *which, int64_t offset, int64_t slots) {
      sets.push_back({use, number, which + ring.name, offset, slots});
    };
    add(Use::Full, "the full barrier of ", ring.full, ring.slots);
    add(Use::Empty, "the empty barrier of ", ring.empty, ring.slots);
    if (ring.deallocation)
      add(Use::Deallocation,
          "the barrier that gives back the tensor memory of ",
          *ring.deallocation, 1);
  }
  std::map<int64_t, const EventNode *> inits;
  for (const EventNode &node : events.start)
    if (node.kind == EventNode::Kind::Event && node.event.kind == "init")
      inits[getField(node.event, "at")->constant] = &node;
  // Slots of one set count alike. What is left are single barriers.
  for (BarrierSet &set : sets)
    for (int64_t slot = 0; slot < set.slots; ++slot) {
      auto init = inits.find(set.offset + kBarrierBytes * slot);
      if (init == inits.end())
        continue;
      int64_t count = getField(init->second->event, "count")->constant;
      set.isUneven |= slot && count != set.count;
      set.count = count;
      inits.erase(init);
    }
  for (auto [offset, node] : inits) {
    sets.push_back({Use::Exchange, 0, "a barrier of an exchange", offset});
    sets.back().count = getField(node->event, "count")->constant;
  }
}

/// A named barrier is told with each use how many threads it counts.
void BarrierSets::addNamed(const KernelEvents &events) {
  for (unsigned number = 0; number < events.rings.size(); ++number)
    if (const RingBarriers &ring = events.rings[number]; ring.allocation)
      sets.push_back(
          {Use::Allocation, number,
           "the barrier that hands out the tensor memory of " + ring.name,
           *ring.allocation});
  for (const RoleEvents &role : events.roles)
    countThreads(role.body, role);
}

void BarrierSets::countThreads(const EventBlock &block,
                               const RoleEvents &role) {
  for (const EventNode &node : block) {
    for (const EventBlock &arm : node.arms)
      countThreads(arm, role);
    if (node.kind != EventNode::Kind::Event || !isNamed(node.event))
      continue;
    std::optional<unsigned> set = find(node.event, role);
    if (!set)
      continue;
    int64_t threads = getField(node.event, "threads")->constant;
    auto count = [&](BarrierSet &its) {
      its.isUneven |= its.count && its.count != threads;
      its.count = threads;
    };
    std::optional<unsigned> variable = getField(node.event, "id")->variable;
    if (!variable) {
      count(sets[*set]);
      continue;
    }
    for (const EndVariable &its : role.variables)
      if (its.ring && its.cursor == role.variables[*variable].cursor)
        count(sets[getAlike(*set, *its.ring)]);
  }
}

std::optional<unsigned> BarrierSets::find(const Event &event,
                                          const RoleEvents &role) const {
  bool named = ::isNamed(event);
  const Quantity *at = getField(event, named ? "id" : "at");
  if (!at || at->groupStride)
    return std::nullopt;
  for (unsigned number = 0; number < sets.size(); ++number) {
    const BarrierSet &set = sets[number];
    bool hasPlace = set.followsCursor()
                        ? at->cursor && at->stride == kBarrierBytes &&
                              role.cursors[*at->cursor].slots == set.slots
                        : !at->cursor;
    if (set.isNamed() == named && set.offset == at->constant && hasPlace)
      return number;
  }
  return std::nullopt;
}

unsigned BarrierSets::getAlike(unsigned set, unsigned ring) const {
  auto its = std::find_if(sets.begin(), sets.end(), [&](const BarrierSet &its) {
    return its.use == sets[set].use && its.ring == ring;
  });
  return its == sets.end() ? set : its - sets.begin();
}
