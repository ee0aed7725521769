// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cp.async and its groups (PTX ISA 9.7.9.25.3). Bulk copies are in BulkOps.cpp,
// those of tensors in Tma.cpp.

#include "ISA/Families.h"

#include "ISA/Alu/Alu.h"
#include "ISA/Copy/Copy.h"

#include <cstring>

using namespace fp8::sim;

namespace {

/// The copies of a warp, and the arrivals that follow them, complete in order.
int64_t copyPipe(const Warp &w) { return int64_t(w.globalIndex) * 2 + 1; }

/// Payload of cp.async. Source 2, if any: the bytes really read. Predicate
/// source 0: ignore-src.
struct AsyncCopy {
  uint64_t bytes;
  uint64_t sourceOffset;
};

/// What lanes write, in their order.
class RunsByCta {
public:
  void add(uint32_t rank, const SharedRun &run) {
    if (runs.empty() || runs.back().first != rank)
      runs.push_back({rank, {}});
    runs.back().second.push_back(run);
  }
  std::vector<SharedAccess> take() {
    std::vector<SharedAccess> accesses;
    for (auto &[rank, list] : runs)
      accesses.push_back({rank, std::make_shared<Footprint>(std::move(list))});
    return accesses;
  }

private:
  std::vector<std::pair<uint32_t, std::vector<SharedRun>>> runs;
};

Flow copyAsync(Warp &w, const Inst &i, uint32_t mask) {
  Machine &m = w.machine;
  const uint32_t bytes = uint32_t(i.get<AsyncCopy>().bytes);
  struct LaneCopy {
    int lane;
    uint32_t target;
    uint32_t group;
    uint32_t sourceBytes;
    uint64_t source;
  };
  auto op =
      std::make_unique<AsyncOp>(i, w, __builtin_ctz(mask), Engine::CopyAsync);
  op->pipe = copyPipe(w);
  std::vector<LaneCopy> copies;
  RunsByCta runs;
  uint32_t time = ++w.copyTime;
  AccessTag tag(w.agent(Role::CopyAsync), time, i.index);
  forLanes(mask, [&](int l) {
    if (m.stopped)
      return;
    uint64_t address = w.row(i.s[0])[l] + uint64_t(i.offset);
    uint32_t sourceBytes = bytes;
    if (i.sources > 2)
      sourceBytes = std::min<uint32_t>(sourceBytes, uint32_t(w.row(i.s[2])[l]));
    if (i.predicateSources && w.predicate(i, 0) >> l & 1)
      sourceBytes = 0;
    uint64_t source = w.row(i.s[1])[l] + i.get<AsyncCopy>().sourceOffset;
    if (address % bytes || source % bytes) {
      m.error(ErrorKind::Misaligned,
              "'" + Machine::mnemonic(&i) +
                  "' needs addresses that are multiples of its size",
              &w, &i, l, true);
      return;
    }
    Cta *cta;
    uint32_t offset;
    if (!m.clusterAddress(w, i, l, address, cta, offset))
      return;
    SharedRun run{offset, bytes, true};
    if (!cta->shared.checkAsync(w, i, l, run, tag, -1, Proxy::Generic))
      return;
    if (sourceBytes && !m.global(w, i, l, source, sourceBytes, false))
      return;
    CopyGroups &groups = w.copies[size_t(l)];
    CopyGroups::Pending &pending = groups.current(i);
    ++pending.writes;
    ++pending.reads;
    pending.time = time;
    runs.add(cta->rank, run);
    copies.push_back({l, offset, groups.open, sourceBytes, source});
  });
  if (m.stopped)
    return Flow::Next;
  op->shared = runs.take();
  Warp *warp = &w;
  op->complete = [warp, &i, copies = std::move(copies), bytes,
                  actor = GlobalActor{tag, false, nullptr, w.knowledge()}] {
    for (const LaneCopy &c : copies) {
      uint8_t *target = warp->cta.shared.data() + c.target;
      if (const uint8_t *source =
              c.sourceBytes
                  ? warp->machine.accessGlobal(*warp, i, c.lane, actor,
                                               c.source, c.sourceBytes, false)
                  : nullptr) {
        std::memcpy(target, source, c.sourceBytes);
        warp->machine.landUnwritten(i, c.source, c.sourceBytes,
                                    {warp->cta.shared, c.target});
      }
      std::memset(target + c.sourceBytes, 0, bytes - c.sourceBytes);
      for (CopyGroups::Pending &p : warp->copies[size_t(c.lane)].groups)
        if (p.group == c.group) {
          --p.writes;
          --p.reads;
        }
    }
    warp->wake(WaitKind::CopyGroups);
  };
  m.issue(std::move(op));
  return Flow::Next;
}

Flow copyCommit(Warp &w, const Inst &, uint32_t mask) {
  forLanes(mask, [&](int l) { ++w.copies[size_t(l)].open; });
  return Flow::Next;
}

Flow copyWait(Warp &w, const Inst &i, uint32_t mask) {
  const GroupWait &wait = i.get<GroupWait>();
  uint32_t pending = uint32_t(wait.pending);
  if (wait.all)
    forLanes(mask, [&](int l) { ++w.copies[size_t(l)].open; });
  bool complete = true;
  forLanes(mask, [&](int l) {
    complete &= w.copies[size_t(l)].complete(pending, false);
  });
  if (!complete)
    return w.waitFor(WaitKind::CopyGroups);
  forLanes(mask, [&](int l) {
    uint32_t time = w.copies[size_t(l)].observe(pending, false);
    w.learn(Role::CopyAsync, time);
  });
  w.machine.progress();
  return Flow::Next;
}

/// Payload of cp.async.mbarrier.arrive.
struct CopyArrival {
  bool counted; ///< .noinc: the mbarrier's count has it
};

/// Arrives when all prior cp.async of the thread are complete.
Flow copyArrive(Warp &w, const Inst &i, uint32_t mask) {
  Machine &m = w.machine;
  forLanes(mask, [&](int l) {
    if (m.stopped)
      return;
    uint64_t address = w.row(i.s[0])[l] + uint64_t(i.offset);
    Mbarrier *barrier = m.barrierAt(w, i, l, address);
    if (!barrier)
      return;
    m.tellAccess(*barrier, w, i, l, /*waits=*/false);
    if (!i.get<CopyArrival>().counted)
      ++barrier->pending;
    auto carried = std::make_shared<SyncClocks>(w.clocks());
    // The last lane tells of the waits of them all.
    const bool isLast = w.isLastOf(barrier->copying, 1u << l);
    w.releaseWaits(carried->waits, isLast);
    if (isLast)
      barrier->copying.erase(w.globalIndex);
    carried->all.raise(w.agent(Role::CopyAsync), w.copyTime);
    auto op = std::make_unique<AsyncOp>(i, w, l, Engine::Arrival);
    op->pipe = copyPipe(w);
    Warp *warp = &w;
    size_t ticket = m.timing ? m.timing->committed(w, *barrier) : 0;
    op->complete = [warp, &i, l, barrier, carried, ticket] {
      if (!barrier->live)
        return;
      if (warp->machine.timing)
        warp->machine.timing->landed(ticket, *barrier);
      warp->machine.arrive(*barrier, 1, *warp, i, l, carried.get());
    };
    m.issue(std::move(op));
  });
  return Flow::Next;
}

bool decodeCp(Decoder &d, Inst &i) {
  if (d.text().qualifiers.empty() || d.text().qualifiers[0] != "async")
    return decodeReduceBulk(d, i);
  d.take("async");
  if (d.take("bulk"))
    return decodeBulk(d, i);
  if (d.take("commit_group")) {
    i.fn = copyCommit;
    return true;
  }
  if (d.take("wait_group")) {
    i.fn = copyWait;
    return d.immediate(i.make<GroupWait>().pending);
  }
  if (d.take("wait_all")) {
    i.fn = copyWait;
    i.make<GroupWait>().all = true;
    return true;
  }
  if (d.take("mbarrier")) {
    if (!d.take("arrive"))
      return d.fail("is not supported");
    i.make<CopyArrival>().counted = d.take("noinc");
    d.takeOneOf({"shared", "shared::cta"});
    i.fn = copyArrive;
    return d.take("b64") && d.address(i);
  }
  int level = d.takeOneOf({"ca", "cg"});
  if (level < 0 || d.takeOneOf({"shared", "shared::cta"}) < 0 ||
      !d.take("global"))
    return d.fail("is not supported in this form");
  d.dropCacheHints();
  i.fn = copyAsync;
  AsyncCopy &copy = i.make<AsyncCopy>();
  if (!d.address(i) || !d.address(i, copy.sourceOffset) ||
      !d.immediate(copy.bytes))
    return false;
  uint64_t bytes = copy.bytes;
  if (!(bytes == 16 || (level == 0 && (bytes == 4 || bytes == 8))))
    return d.fail("copies 4, 8 or 16 bytes (.ca), or 16 (.cg)");
  size_t hint = d.cacheHint;
  if (d.operandsLeft() > hint) {
    const ast::Operand *next = d.peekOperand();
    bool predicate = next->kind == ast::Operand::Kind::Register &&
                     d.function.registers[next->index].bits == 1;
    if (predicate ? !d.predicateSource(i) : !d.source(i, Type::U32))
      return false;
  }
  if (hint)
    d.takeOperand();
  return true;
}

} // namespace

void fp8::sim::addCopyAsyncOpcodes(OpcodeTable &t) { t.add("cp", decodeCp); }
