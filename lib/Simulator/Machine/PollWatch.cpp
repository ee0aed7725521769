// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a warp has come back to where it was.

#include "Machine/PollWatch.h"

#include "Machine/Warp.h"

using namespace fp8::sim;

static uint64_t mixed(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

uint64_t Warp::hashOfPlaces() const {
  uint64_t hash = 0;
  for (const LaneGroup &group : groups)
    hash = mixed(hash, mixed(group.pc, uint64_t(group.mask) << 8 |
                                           uint64_t(group.wait) << 1 |
                                           group.arrived));
  return hash;
}

uint64_t Warp::hashOfRegisters() const {
  uint64_t hash = 0;
  for (uint64_t value : values)
    hash = mixed(hash, value);
  for (uint32_t value : predicates)
    hash = mixed(hash, value);
  for (const CallStack &stack : stacks)
    hash = mixed(hash, stack.calls.size());
  return hash;
}

void PollWatch::begin(size_t warps) {
  on = true;
  marks.assign(warps, {});
  noted.clear();
}

/// The lanes that go on, now or when their time is up.
static uint32_t ableLanes(const Warp &warp) {
  uint32_t able = 0;
  for (const LaneGroup &group : warp.laneGroups())
    if (group.runnable() || group.wait == WaitKind::Mbarrier ||
        group.wait == WaitKind::Sleep)
      able |= group.mask;
  return able;
}

void PollWatch::look(Warp &warp) {
  Mark &mark = marks[warp.globalIndex];
  if (mark.repeated)
    return;
  const uint64_t place = warp.hashOfPlaces();
  if (!mark.isSet) {
    mark = {true, false, place, warp.hashOfRegisters()};
    warp.lanesRun = 0;
    return;
  }
  // Lanes that have not run yet might do something else.
  mark.repeated = place == mark.place && !(ableLanes(warp) & ~warp.lanesRun) &&
                  warp.hashOfRegisters() == mark.state;
}

bool PollWatch::repeats(const Warp &warp) const {
  return on && (marks[warp.globalIndex].repeated || !ableLanes(warp));
}

void PollWatch::note(const Warp &warp, const Poll &poll) {
  noted[{warp.globalIndex, poll.inst->index}] = poll;
}

std::vector<Poll> PollWatch::polls(const Warp &warp) const {
  std::vector<Poll> all;
  for (auto it = noted.lower_bound({warp.globalIndex, 0});
       it != noted.end() && it->first.first == warp.globalIndex; ++it)
    all.push_back(it->second);
  return all;
}
