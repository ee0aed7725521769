// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Issue and completion of bulk copies, with and without tensors.

#include "CopyOps.h"

using namespace fp8::sim;

void fp8::sim::issueLoad(Warp &w, const Inst &i, int lane, uint64_t target,
                         uint32_t bytes, uint64_t barrierAddress,
                         uint32_t ctaMask, bool multicast,
                         std::function<void(uint8_t *)> read) {
  Machine &m = w.machine;
  Cta *first;
  uint32_t offset;
  if (!m.clusterAddress(w, i, lane, target, first, offset))
    return;
  uint32_t mask = multicast ? ctaMask : 1u << first->rank;
  if (!mask || mask >> m.ctas.size()) {
    m.error(ErrorKind::InvalidOperation,
            "'" + Machine::mnemonic(&i) + "' has CTA mask " +
                std::to_string(mask) + " in a cluster of " +
                std::to_string(m.ctas.size()),
            &w, &i, lane, true);
    return;
  }
  for (uint32_t rank = 0; rank < m.ctas.size() && !m.stopped; ++rank) {
    if (!(mask >> rank & 1))
      continue;
    // Multicast signals the mbarrier at the same offset in each destination
    // CTA.
    uint64_t address = multicast ? (barrierAddress & kSharedOffsetMask) |
                                       uint64_t(rank) << kSharedRankShift
                                 : barrierAddress;
    Mbarrier *barrier = m.barrierAt(w, i, lane, address, true);
    if (!barrier)
      return;
    SharedRun run{rank, offset, bytes, true};
    Cta *cta = m.ctas[rank].get();
    uint64_t phase = barrier->phase;
    if (!cta->shared.checkAsync(
            w, i, lane, run,
            AccessTag(barrier->agent, barrier->time() + 1, i.index), -1, false))
      return;
    ++m.report.statistics.tmaLoads;
    m.report.statistics.tmaLoadBytes += bytes;
    auto op = std::make_unique<AsyncOp>();
    op->inst = &i;
    op->issuer = &w;
    op->lane = lane;
    op->engine = Engine::BulkLoad;
    op->shared.push_back(run);
    Warp *warp = &w;
    op->complete = [warp, &i, lane, cta, offset, bytes, barrier, phase, read] {
      read(cta->shared.data() + offset);
      if (!warp->machine.stopped)
        warp->machine.completeTransactions(*barrier, bytes, phase, *warp, i,
                                           lane);
    };
    m.issue(std::move(op));
  }
}

void fp8::sim::issueStore(Warp &w, const Inst &i, int lane, uint64_t source,
                          uint32_t bytes,
                          std::function<void(const uint8_t *)> write) {
  Machine &m = w.machine;
  Cta *cta;
  uint32_t offset;
  if (!m.clusterAddress(w, i, lane, source, cta, offset))
    return;
  uint32_t time = ++w.bulkTime;
  SharedRun run{cta->rank, offset, bytes, false};
  if (!cta->shared.checkAsync(w, i, lane, run,
                              AccessTag(w.agent(Role::BulkRead), time, i.index),
                              -1, false))
    return;
  ++m.report.statistics.tmaStores;
  m.report.statistics.tmaStoreBytes += bytes;
  CopyGroups &groups = w.bulk[size_t(lane)];
  CopyGroups::Pending &pending = groups.current(i);
  ++pending.reads;
  ++pending.writes;
  pending.time = time;
  uint32_t group = groups.open;
  auto op = std::make_unique<AsyncOp>();
  op->inst = &i;
  op->issuer = &w;
  op->lane = lane;
  op->engine = Engine::BulkStore;
  op->shared.push_back(run);
  Warp *warp = &w;
  auto update = [warp, lane, group](bool read) {
    for (CopyGroups::Pending &p : warp->bulk[size_t(lane)].groups)
      if (p.group == group)
        --(read ? p.reads : p.writes);
    warp->wake(WaitKind::BulkGroups);
  };
  // First the source is read, which .read waits for; then the writes land.
  op->complete = [warp, &i, lane, cta, offset, bytes, write, update] {
    auto data = std::make_shared<std::vector<uint8_t>>(
        cta->shared.data() + offset, cta->shared.data() + offset + bytes);
    update(true);
    auto second = std::make_unique<AsyncOp>();
    second->inst = &i;
    second->issuer = warp;
    second->lane = lane;
    second->engine = Engine::BulkStore;
    second->complete = [data, write, update] {
      write(data->data());
      update(false);
    };
    warp->machine.issue(std::move(second));
  };
  m.issue(std::move(op));
}
