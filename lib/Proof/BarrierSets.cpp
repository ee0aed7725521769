// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The barriers by which roles hand over, as a kernel initialises them.

#include "Laps.h"

#include <functional>

using namespace fp8::proof;

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
    auto add = [&](const char *side, int64_t offset) {
      sets.push_back({std::string("the ") + side + " barrier of " + ring.name,
                      offset, ring.slots, /*followsCursor=*/true, number});
    };
    add("full", ring.full);
    add("empty", ring.empty);
    if (ring.deallocation)
      sets.push_back(
          {"the barrier that gives back the tensor memory of " + ring.name,
           *ring.deallocation});
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
    sets.push_back({"a barrier of an exchange", offset});
    sets.back().count = getField(node->event, "count")->constant;
  }
}

/// A named barrier is told with each use how many threads it counts.
void BarrierSets::addNamed(const KernelEvents &events) {
  for (const RingBarriers &ring : events.rings)
    if (ring.allocation)
      sets.push_back(
          {"the barrier that hands out the tensor memory of " + ring.name,
           *ring.allocation, 1, false, 0, /*isNamed=*/true});
  std::function<void(const EventBlock &, const RoleEvents &)> visit =
      [&](const EventBlock &block, const RoleEvents &role) {
        for (const EventNode &node : block) {
          for (const EventBlock &arm : node.arms)
            visit(arm, role);
          if (node.kind != EventNode::Kind::Event || !isNamed(node.event))
            continue;
          const Quantity *threads = getField(node.event, "threads");
          for (auto [number, laps] : find(node.event, role)) {
            BarrierSet &set = sets[number];
            set.isUneven |= set.count && set.count != threads->constant;
            set.count = threads->constant;
          }
        }
      };
  for (const RoleEvents &role : events.roles)
    visit(role.body, role);
}

std::vector<std::pair<unsigned, int64_t>>
BarrierSets::find(const Event &event, const RoleEvents &role) const {
  bool named = ::isNamed(event);
  const Quantity *at = getField(event, named ? "id" : "at");
  if (!at || at->groupStride)
    return {};
  std::vector<std::pair<unsigned, int64_t>> found;
  for (unsigned number = 0; number < sets.size(); ++number) {
    const BarrierSet &set = sets[number];
    bool hasPlace = set.followsCursor
                        ? at->cursor && at->stride == kBarrierBytes &&
                              role.cursors[*at->cursor].slots == set.slots
                        : !at->cursor;
    if (set.isNamed != named || set.offset != at->constant || !hasPlace)
      continue;
    found.push_back({number, 1});
    if (!at->cursor || role.cursors[*at->cursor].ends.empty())
      return found;
    // Of each ring the barrier of the same side.
    bool isEmpty = number && sets[number - 1].ring == set.ring &&
                   sets[number - 1].followsCursor;
    found.clear();
    for (auto [ring, ends] : role.cursors[*at->cursor].ends)
      for (unsigned other = 0; other < sets.size(); ++other)
        if (sets[other].followsCursor && sets[other].ring == ring) {
          found.push_back({other + isEmpty, ends});
          break;
        }
    return found;
  }
  return found;
}
