// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a warp's synchronisation carries from and to other threads.

#include "Memory/WarpOrder.h"

using namespace fp8::sim;

// The roles that lanes of a warp share: a lane does not know of the others'
// accesses until they meet. An MMA or a bulk copy belongs to the issuing lane.
static constexpr Role kShared[] = {
    Role::Generic,          Role::TensorLoad,        Role::TensorStore,
    Role::TensorLoadWaited, Role::TensorStoreWaited, Role::TensorLoadRead};

void WarpOrder::advance() {
  for (Role role : {Role::Generic, Role::OneLane}) {
    known.reached.raise(agent(role), epoch);
    known.all.raise(agent(role), epoch);
  }
  ++epoch;
}

void WarpOrder::learnTensorLoads(uint32_t time) {
  learn(Role::TensorLoadWaited, time);
  known.tensor.raise(agent(Role::TensorLoadWaited), time);
}

void WarpOrder::fenceTensorBefore() {
  learn(Role::TensorLoad, known.all.get(agent(Role::TensorLoadWaited)));
  learn(Role::TensorStore, known.all.get(agent(Role::TensorStoreWaited)));
}

void WarpOrder::release(SyncClocks &into, Order order, Scope reach,
                        bool isLast) {
  if (order == Order::Memory)
    return release(into, isLast);
  for (Role role : {Role::Generic, Role::OneLane})
    known.reached.raise(agent(role), epoch);
  into.reached.join(known.reached);
  releaseTime(into, isLast);
  if (order == Order::Fenced)
    into.join(fences[size_t(reach)].released);
}

void WarpOrder::releaseFenced(SyncClocks &into, Scope reach, bool isLast) {
  releaseTime(into, isLast);
  into.join(fences[size_t(reach)].released);
}

void WarpOrder::releaseTime(SyncClocks &into, bool isLast) {
  into.relaxed.join(known.all);
  for (Role role : {Role::Generic, Role::OneLane})
    into.relaxed.raise(agent(role), epoch);
  ++epoch;
  releaseWaits(into.waits, isLast);
}

void WarpOrder::releaseWaits(Clock &into, bool ofAll) const {
  into.join(known.waits);
  into.raise(waitAgentOfLanes(globalIndex),
             oneLane() && !ofAll ? waitsMet : waits);
  into.raise(waitAgentOfLanes(globalIndex) + 1, waits);
}

void WarpOrder::release(SyncClocks &into, bool isLast) {
  advance();
  releaseWaits(into.waits, isLast);
  if (!oneLane() || isLast) {
    into.join(known);
    return;
  }
  SyncClocks mine = known;
  for (Role role : kShared)
    for (Clock *clock : {&mine.all, &mine.tensor})
      clock->lower(agent(role), met.get(agent(role)));
  into.join(mine);
}

Clock WarpOrder::knowledge() const {
  Clock all = known.all;
  for (Role role : {Role::Generic, Role::OneLane})
    all.raise(agent(role), epoch);
  if (oneLane())
    for (Role role : kShared)
      all.lower(agent(role), met.get(agent(role)));
  return all;
}

void WarpOrder::acquire(const SyncClocks &from) {
  // Lanes that have all arrived where this wait ends have met there.
  for (Role role : kShared)
    met.raise(agent(role), from.all.get(agent(role)));
  known.join(from);
}

void WarpOrder::acquire(const SyncClocks &from, Order order, Scope reach) {
  if (order == Order::Memory)
    return acquire(from);
  known.joinTime(from);
  if (order == Order::Fenced)
    fences[size_t(reach)].observed.join(from);
}

void WarpOrder::meet() {
  advance();
  atMeeting = alive;
  for (Role role : kShared)
    met.raise(agent(role), known.all.get(agent(role)));
}

void WarpOrder::fenceProxy(bool ofShared, bool ofGlobal) {
  advance();
  if (ofShared)
    known.proxy.join(known.all);
  if (ofGlobal)
    known.globalProxy.join(known.all);
}

void WarpOrder::acquireFlag(const Clock &before, bool relaxed, bool isFenced) {
  SyncClocks from;
  from.all = before;
  if (isFenced)
    from.globalProxy = before;
  acquire(from, relaxed ? Order::Fenced : Order::Memory, Scope::Gpu);
}

void WarpOrder::fenceThread(Scope scope) {
  for (size_t reach = 0; reach <= size_t(scope); ++reach)
    acquire(fences[reach].observed);
  for (size_t reach = 0; reach <= size_t(scope); ++reach) {
    auto &fence = fences[reach];
    fence.lanes |= executing;
    const bool isLast = !(atMeeting & ~fence.lanes);
    release(fence.released, isLast);
    if (isLast)
      fence.lanes = 0;
  }
}
