// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Issue and completion of bulk copies, with and without tensors.

#include "ISA/Copy/Copy.h"

using namespace fp8::sim;

/// The mbarrier that a copy to CTA `rank` signals, as a shared::cluster
/// address; false after an error. It lies in the CTA that receives the bytes;
/// with .cta_group::2 that CTA or its peer, as the operand's rank is even or
/// odd (PTX ISA 9.7.9.27.1.2).
static bool signalAddress(Warp &w, const Inst &i, int lane,
                          const BulkLoad &load, uint32_t rank,
                          uint64_t &address) {
  uint32_t given = uint32_t(load.barrier >> kSharedRankShift);
  uint32_t signalled = load.pair        ? (rank & ~1u) | (given & 1)
                       : load.multicast ? rank
                                        : given;
  address = (load.barrier & kSharedOffsetMask) | uint64_t(signalled)
                                                     << kSharedRankShift;
  bool right =
      load.multicast || (load.pair ? signalled == given : given == rank);
  if (right)
    return true;
  w.machine.error(ErrorKind::BarrierMisuse,
                  "'" + Machine::mnemonic(&i) + "' copies to CTA rank " +
                      std::to_string(rank) +
                      ", but names an mbarrier of CTA rank " +
                      std::to_string(given) +
                      "; the mbarrier must be in the CTA that receives the "
                      "bytes, or, with .cta_group::2, in its CTA pair",
                  &w, &i, lane, true);
  return false;
}

/// The part of the copy that goes to one CTA.
static bool issuePart(Warp &w, const Inst &i, int lane, const BulkLoad &load,
                      Cta &cta, uint32_t offset, const BulkRead &read) {
  Machine &m = w.machine;
  uint64_t address;
  if (!m.checkPresent(cta, w, i, lane) ||
      !signalAddress(w, i, lane, load, cta.rank, address))
    return false;
  Mbarrier *barrier = m.barrierAt(w, i, lane, address, true);
  if (!barrier)
    return false;
  SharedRun run{offset, load.bytes, true};
  run.combines = load.combines;
  // Those that combine and complete on one mbarrier may share bytes, and follow
  // each other.
  int64_t pipe = load.combines ? int64_t(3) << 48 | int64_t(address) : -1;
  // Of bytes that CTAs combine nobody knows who did it last.
  const uint32_t agent =
      load.combines ? barrier->agent : m.copyAgent(*barrier, w.cta);
  AccessTag tag(agent, barrier->time() + 1, i.index);
  if (load.source.size && !m.ctas[load.sourceCta]->shared.checkAsync(
                              w, i, lane, load.source, tag, -1, load.proxy))
    return false;
  uint64_t phase = barrier->phase;
  uint32_t time = barrier->time() + 1;
  if (!cta.shared.checkAsync(w, i, lane, run, tag, pipe, load.proxy))
    return false;
  m.touchRemote(*barrier->cta, w, i, agent, time);
  if (&cta != barrier->cta || &cta != &w.cta)
    cta.remote[agent] = {time, w.cta.rank, &i};
  if (load.engine == Engine::BulkLoad) {
    ++m.report.statistics.tmaLoads;
    m.report.statistics.tmaLoadBytes += load.bytes - load.padding;
  }
  if (m.timing) {
    TimingHooks::Copy copy{load.global,       load.bytes,
                           load.inside.bytes, load.inside.rowsBeyond,
                           load.inside.begin, load.inside.column,
                           load.inside.strips};
    if (load.multicast) {
      copy.targets = uint32_t(__builtin_popcount(load.ctaMask));
      copy.isPart = load.ctaMask & ((1u << cta.rank) - 1);
    }
    m.timing->copied(w, *barrier, copy);
  }
  auto op = std::make_unique<AsyncOp>(i, w, lane, load.engine);
  op->pipe = pipe;
  op->shared.push_back(SharedAccess::of(cta.rank, run));
  if (load.source.size)
    op->shared.push_back(SharedAccess::of(load.sourceCta, load.source));
  op->signals = int32_t(barrier->cta->rank);
  Warp *warp = &w;
  Cta *target = &cta;
  uint32_t bytes = load.bytes - load.padding;
  m.checkEarlyArrival(*barrier, w.clocks(), /*count=*/0, w, i, lane);
  Clock waits;
  w.releaseWaits(waits);
  op->complete =
      [warp, &i, lane, target, offset, bytes, barrier, phase, read,
       actor =
           GlobalActor{tag, false, nullptr,
                       load.readsGlobal ? w.knowledge() : Clock(), false,
                       load.readsGlobal ? std::optional(w.clocks().globalProxy)
                                        : std::nullopt},
       waits = std::move(waits)] {
        read({target->shared, offset}, actor);
        if (!warp->machine.stopped && !barrier->cta->ended)
          warp->machine.completeTransactions(*barrier, bytes, phase, *warp, i,
                                             lane, waits);
      };
  m.issue(std::move(op));
  return true;
}

void fp8::sim::issueLoad(Warp &w, const Inst &i, int lane, const BulkLoad &load,
                         BulkRead read) {
  Machine &m = w.machine;
  Cta *first;
  uint32_t offset;
  if (!m.clusterAddress(w, i, lane, load.target, first, offset))
    return;
  uint32_t mask = load.multicast ? load.ctaMask : 1u << first->rank;
  if (!mask || mask >> m.ctas.size()) {
    m.error(ErrorKind::InvalidOperation,
            "'" + Machine::mnemonic(&i) + "' has CTA mask " +
                std::to_string(mask) +
                "; it must select one or more of the cluster's " +
                std::to_string(m.ctas.size()) + " CTAs",
            &w, &i, lane, true);
    return;
  }
  for (uint32_t rank = 0; rank < m.ctas.size() && !m.stopped; ++rank)
    if (mask >> rank & 1 &&
        !issuePart(w, i, lane, load, *m.ctas[rank], offset, read))
      return;
}

/// Reports the first undefined byte that a store writes, if there is one.
static void
reportWritten(Warp &w, const Inst &i, int lane, SharedMemory &shared,
              uint32_t source,
              const std::function<void(const SourceVisitor &visit)> &writes) {
  constexpr uint32_t kMost = UndefinedPart::kMostBytes;
  bool told = false;
  writes([&](uint32_t offset, uint32_t bytes) {
    for (uint32_t at = 0; at < bytes && !told; at += kMost) {
      UndefinedPart part;
      shared.findUndefined(i, source + offset + at, std::min(kMost, bytes - at),
                           part);
      if (!part.bytes)
        continue;
      shared.reportUndefined(w, i, lane,
                             source + offset + at + part.firstByte());
      told = true;
    }
  });
}

void fp8::sim::issueStore(
    Warp &w, const Inst &i, int lane, uint64_t source, uint32_t bytes,
    const StoreTarget &target, bool reduces,
    const std::function<void(const SourceVisitor &visit)> &writes,
    std::function<void(const uint8_t *, const GlobalActor &)> write) {
  Machine &m = w.machine;
  Cta *cta;
  uint32_t offset;
  if (!m.clusterAddress(w, i, lane, source, cta, offset))
    return;
  uint32_t time = ++w.bulkTime;
  SharedRun run{offset, bytes, false};
  bool finds = false;
  if (!cta->shared.checkAsync(w, i, lane, run,
                              AccessTag(w.agent(Role::BulkRead), time, i.index),
                              -1, Proxy::Async, &finds))
    return;
  if (finds)
    reportWritten(w, i, lane, cta->shared, offset, writes);
  ++m.report.statistics.tmaStores;
  m.report.statistics.tmaStoreBytes += bytes;
  if (m.timing)
    m.timing->stored(w, lane, target.address, target.bytes, target.rows);
  CopyGroups &groups = w.bulk[size_t(lane)];
  CopyGroups::Pending &pending = groups.current(i);
  ++pending.reads;
  ++pending.writes;
  pending.time = time;
  uint32_t group = groups.open;
  auto op = std::make_unique<AsyncOp>(i, w, lane, Engine::BulkStore);
  op->shared.push_back(SharedAccess::of(cta->rank, run));
  Warp *warp = &w;
  auto update = [warp, lane, group](bool read) {
    for (CopyGroups::Pending &p : warp->bulk[size_t(lane)].groups)
      if (p.group == group)
        --(read ? p.reads : p.writes);
    warp->wake(WaitKind::BulkGroups);
  };
  GlobalActor actor{AccessTag(w.agent(Role::BulkWrite), time, i.index),
                    reduces,
                    nullptr,
                    w.knowledge(),
                    false,
                    w.clocks().globalProxy};
  // First the source is read, which .read waits for; then the writes land.
  op->complete = [warp, &i, lane, cta, offset, bytes, write, update,
                  actor = std::move(actor)] {
    auto data = std::make_shared<std::vector<uint8_t>>(
        cta->shared.data() + offset, cta->shared.data() + offset + bytes);
    update(true);
    auto second = std::make_unique<AsyncOp>(i, *warp, lane, Engine::BulkStore);
    second->exclusive = actor.strong;
    second->complete = [data, write, update, actor] {
      write(data->data(), actor);
      update(false);
    };
    warp->machine.issue(std::move(second));
  };
  m.issue(std::move(op));
}
