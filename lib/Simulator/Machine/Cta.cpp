// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A CTA's life: its parts, its named barriers, and what it must not leave
// behind.

#include "Machine/Cta.h"

#include "Machine/Machine.h"

using namespace fp8::sim;

Cta::Cta(Machine &machine, uint32_t rank, std::array<uint32_t, 3> index,
         std::array<uint32_t, 3> indexInCluster, uint32_t sharedBytes)
    : machine(machine), rank(rank), index(index),
      indexInCluster(indexInCluster), shared(machine, rank, sharedBytes),
      tensor(machine, rank), barrierSlots(sharedBytes / 8 + 2, -1) {}

Cta::~Cta() = default;

Mbarrier *Cta::findBarrier(uint32_t offset) {
  if (offset / 8 >= barrierSlots.size())
    return nullptr;
  int32_t slot = barrierSlots[offset / 8];
  return slot < 0 ? nullptr : &mbarriers[size_t(slot)];
}

Mbarrier &Cta::makeBarrier(uint32_t offset) {
  if (Mbarrier *barrier = findBarrier(offset))
    return *barrier;
  barrierSlots[offset / 8] = int32_t(mbarriers.size());
  mbarriers.emplace_back();
  Mbarrier &barrier = mbarriers.back();
  barrier.cta = this;
  barrier.offset = offset;
  barrier.agent = machine.newAgent();
  return barrier;
}

uint32_t Cta::liveThreads() const {
  uint32_t count = 0;
  for (const auto &warp : warps)
    count += warp->finished() ? 0 : 32;
  return count;
}

bool Cta::finished() const {
  for (const auto &warp : warps)
    if (!warp->finished())
      return false;
  return true;
}

void Cta::tryCompleteNamed(NamedBarrier &barrier) {
  uint32_t needed = barrier.wholeCta ? liveThreads() : barrier.expected;
  if (!barrier.arrived || barrier.arrived < needed)
    return;
  barrier.done.join(barrier.arriving);
  barrier.resultAnd = barrier.reduceAnd;
  barrier.resultOr = barrier.reduceOr;
  barrier.resultPopc = barrier.reducePopc;
  barrier.reduceAnd = 1;
  barrier.reduceOr = barrier.reducePopc = 0;
  barrier.arrived = barrier.expected = 0;
  barrier.lanes.clear();
  barrier.wholeCta = false;
  ++barrier.generation;
  machine.progress();
  uint32_t id = uint32_t(&barrier - namedBarriers.data());
  for (auto &warp : warps)
    warp->wakeIf([&](const LaneGroup &group) {
      return group.wait == WaitKind::Named && group.id == id;
    });
}

void Cta::lanesExited(const Warp &warp) {
  for (NamedBarrier &barrier : namedBarriers)
    if (auto waiting = barrier.lanes.find(warp.globalIndex);
        waiting != barrier.lanes.end() && !(warp.live() & ~waiting->second)) {
      barrier.count(warp);
      tryCompleteNamed(barrier);
    }
}

void Cta::threadsExited() {
  for (NamedBarrier &barrier : namedBarriers)
    if (barrier.wholeCta)
      tryCompleteNamed(barrier);
  machine.tryCompleteCluster();
  if (ended || !finished())
    return;
  ended = true;
  checkEnd();
}

void Cta::checkPairEnd() {
  const Cta *peer =
      machine.program.ctaGroup == 2 && (rank ^ 1) < machine.ctas.size()
          ? machine.ctas[rank ^ 1].get()
          : nullptr;
  if (!peer || !peer->ended ||
      !tensor.relinquished == !peer->tensor.relinquished)
    return;
  const Cta &only = tensor.relinquished ? *this : *peer;
  const Inst *inst = only.tensor.relinquished;
  machine
      .error(ErrorKind::TensorMemoryAllocation,
             "'" + Machine::mnemonic(inst) +
                 "' was executed only by CTA rank " +
                 std::to_string(only.rank) +
                 " of its pair; a warp of each of the two must execute it, and "
                 "the first may wait for the second (PTX ISA 9.7.16.5)",
             nullptr, inst)
      .block = only.index;
}

void Cta::checkEnd() {
  if (machine.stopped)
    return;
  checkPairEnd();
  for (const TensorMemory::Allocation &a : tensor.allocations())
    machine
        .error(ErrorKind::TensorMemoryAllocation,
               "the CTA ends with tensor memory columns " +
                   std::to_string(a.column) + " to " +
                   std::to_string(a.column + a.count - 1) +
                   " allocated; execute tcgen05.dealloc before the CTA ends",
               nullptr, a.inst)
        .block = index;
  for (const Warpgroup &group : warpgroups)
    if (!group.steps.empty())
      machine
          .error(ErrorKind::InvalidOperation,
                 "the CTA ends, but only " +
                     std::to_string(group.steps.front().warps) +
                     " of the warps of a warpgroup have executed '" +
                     Machine::mnemonic(group.steps.front().inst) +
                     "'; all four must execute it",
                 warps[group.steps.front().first].get(),
                 group.steps.front().inst)
          .block = index;
  if (!machine.checksOrder)
    return;
  for (auto &warp : warps)
    for (int lane = 0; lane < 32; ++lane)
      for (const CopyGroups::Pending &group : warp->bulk[size_t(lane)].groups) {
        if (group.waitedRead)
          continue;
        machine.error(Rule::StoreReadsAtExit,
                      "the CTA ends, but nothing has waited for '" +
                          Machine::mnemonic(group.inst) +
                          "' to read its shared memory; execute "
                          "cp.async.bulk.commit_group and "
                          "cp.async.bulk.wait_group before the CTA ends",
                      warp.get(), group.inst, lane);
      }
  for (const auto &op : machine.queue().operations()) {
    bool mine = false;
    for (const SharedAccess &access : op->shared)
      mine |= access.cta == rank;
    for (const TensorRegion &region : op->tensor)
      mine |= region.cta == rank;
    if (!mine || op->engine == Engine::BulkStore)
      continue;
    machine.error(
        ErrorKind::WorkInFlight,
        "the CTA ends while '" + Machine::mnemonic(op->inst) +
            "' is still in flight; wait for its completion before the CTA ends",
        op->issuer, op->inst, op->lane);
  }
  machine.checkRemoteUse(*this);
}
