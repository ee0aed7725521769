// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The mbarrier instructions (PTX ISA 9.7.13.15).

#include "ISA/Families.h"

#include "ISA/Access/Access.h"
#include "ISA/Alu/Alu.h"
#include "Machine/Machine.h"

#include <set>
#include <tuple>

using namespace fp8::sim;

namespace {

/// The shared::cluster address an operand names: as it is, or from a generic
/// one.
bool sharedOperand(Warp &w, const Inst &i, int lane, uint64_t address,
                   bool generic, uint64_t &shared) {
  shared = address;
  if (!generic)
    return true;
  if (genericToShared(address, shared))
    return true;
  w.machine.error(ErrorKind::BarrierUninitialised,
                  "'" + Machine::mnemonic(&i) +
                      "' uses a generic address outside shared memory",
                  &w, &i, lane, true);
  return false;
}

/// Payload of the mbarrier instructions.
struct MbarrierUse {
  bool generic;    ///< the address is
  bool remote;     ///< .shared::cluster: another CTA's is allowed
  bool relaxed;    ///< .relaxed
  bool expects;    ///< .expect_tx: the operand counts bytes
  bool completes;  ///< complete_tx
  bool drops;      ///< arrive_drop
  bool keepsPhase; ///< .noComplete
  bool parity;     ///< of waits: by parity, not by state
  bool mayPark;    ///< of waits: try_wait
};

uint64_t token(const Mbarrier &b) { return b.phase << 32 | b.pending; }

Mbarrier *find(Warp &w, const Inst &i, int lane) {
  uint64_t shared;
  if (w.machine.stopped ||
      !sharedOperand(w, i, lane, w.row(i.s[0])[lane] + uint64_t(i.offset),
                     i.get<MbarrierUse>().generic, shared))
    return nullptr;
  return w.machine.barrierAt(w, i, lane, shared);
}

/// Whether mbarrier.init would write what is there: the warp initialised it to
/// the same count, and nobody has used it since.
bool isAsInitialised(const Mbarrier &b, const Warp &w, uint32_t count) {
  return b.initAgent == w.accessAgent() && b.expected == count &&
         b.pending == count && !b.phase && !b.transactions && b.waits.empty();
}

Flow init(Warp &w, const Inst &i, uint32_t mask) {
  Machine &m = w.machine;
  // Lanes that initialise the same mbarrier with the same count write the same
  // bytes at once.
  std::set<std::tuple<Cta *, uint32_t, uint64_t>> done;
  forLanes(mask, [&](int l) {
    uint64_t address;
    Cta *cta;
    uint32_t offset;
    if (m.stopped ||
        !sharedOperand(w, i, l, w.row(i.s[0])[l] + uint64_t(i.offset),
                       i.get<MbarrierUse>().generic, address) ||
        !m.clusterAddress(w, i, l, address, cta, offset))
      return;
    uint64_t count = uint32_t(w.row(i.s[1])[l]);
    if (offset % 8 || offset < kSharedReserved ||
        offset + 8 > cta->shared.size()) {
      m.error(ErrorKind::BarrierMisuse,
              "mbarrier.init uses " + m.sharedName(offset) +
                  ", which is not 8 aligned bytes of shared memory",
              &w, &i, l, true);
      return;
    }
    if (count < 1 || count > kMaxBarrierCount) {
      m.error(ErrorKind::BarrierMisuse,
              "mbarrier.init has count " + std::to_string(count) +
                  "; the rule is 1 to 2^20 - 1",
              &w, &i, l, true);
      return;
    }
    if (!done.insert({cta, offset, count}).second)
      return;
    Mbarrier *old = cta->findBarrier(offset);
    if (old && old->live) {
      bool same = isAsInitialised(*old, w, uint32_t(count));
      SimulationError &e = m.error(
          same ? Rule::RepeatedInit : Rule::BarrierMisuse,
          "mbarrier.init uses " + m.sharedName(offset) +
              ", which holds a live mbarrier; execute mbarrier.inval first",
          &w, &i, l, !same);
      e.notes.push_back(
          m.note(old->initInst, "the mbarrier was initialised here"));
      if (!same)
        return;
      old->initTime = w.time();
      old->initFenced = false;
      old->initInst = &i;
      m.progress();
      return;
    }
    if (!cta->shared.checkWrite(w, i, l, offset, 8, nullptr))
      return;
    Mbarrier &b = cta->makeBarrier(offset);
    b.phaseBase = b.time();
    b.live = true;
    b.expected = b.pending = uint32_t(count);
    b.transactions = 0;
    b.phase = 0;
    b.initAgent = w.accessAgent();
    b.initTime = w.time();
    b.initFenced = false;
    b.initInst = &i;
    b.arriving = {};
    b.done = {};
    b.arrivingFromOthers = {};
    b.doneFromOthers = {};
    b.waits.clear();
    b.arrivals = {};
    m.barrierLog.open(b);
    cta->shared.markBarrier(offset, &i);
    m.progress();
  });
  return Flow::Next;
}

Flow inval(Warp &w, const Inst &i, uint32_t mask) {
  forLanes(mask, [&](int l) {
    Mbarrier *b = find(w, i, l);
    if (!b)
      return;
    if (b->transactions > 0 && w.machine.checksOrder)
      w.machine.error(ErrorKind::BarrierMisuse,
                      "mbarrier.inval uses " + w.machine.sharedName(b->offset) +
                          " with " + std::to_string(b->transactions) +
                          " bytes pending; wait for these bytes first",
                      &w, &i, l);
    b->live = false;
    w.machine.barrierLog.close(*b);
    b->cta->shared.markBarrier(b->offset, nullptr);
    w.machine.progress();
  });
  return Flow::Next;
}

/// Another CTA's mbarrier is reached through .shared::cluster only, and gives
/// no state back.
bool mayReach(Warp &w, const Inst &i, int lane, const Mbarrier &b) {
  const MbarrierUse &use = i.get<MbarrierUse>();
  if (b.cta == &w.cta || ((use.remote || use.generic) && !i.destinations))
    return true;
  w.machine.error(ErrorKind::BarrierMisuse,
                  "'" + Machine::mnemonic(&i) +
                      "' arrives at an mbarrier of CTA rank " +
                      std::to_string(b.cta->rank) +
                      "; use .shared::cluster, with the sink '_' for the state",
                  &w, &i, lane, true);
  return false;
}

Flow arriveOp(Warp &w, const Inst &i, uint32_t mask) {
  Machine &m = w.machine;
  const MbarrierUse &use = i.get<MbarrierUse>();
  forLanes(mask, [&](int l) {
    Mbarrier *b = find(w, i, l);
    if (!b || !mayReach(w, i, l, *b))
      return;
    m.tellAccess(*b, w, i, l, /*waits=*/false);
    uint64_t operand = i.sources > 1 ? uint32_t(w.row(i.s[1])[l]) : 1;
    uint64_t state = token(*b);
    if (use.expects) {
      if (!m.expectTransactions(*b, int64_t(operand), w, i, l))
        return;
      operand = 1;
    }
    if (operand < 1 || operand > kMaxBarrierCount) {
      m.error(ErrorKind::BarrierMisuse,
              "'" + Machine::mnemonic(&i) + "' has count " +
                  std::to_string(operand) + "; the rule is 1 to 2^20 - 1",
              &w, &i, l, true);
      return;
    }
    if (use.drops)
      b->expected -= std::min<uint32_t>(b->expected, uint32_t(operand));
    if (use.keepsPhase && b->pending <= operand) {
      m.error(ErrorKind::BarrierMisuse,
              "'" + Machine::mnemonic(&i) +
                  "' would complete the phase, which .noComplete excludes",
              &w, &i, l, true);
      return;
    }
    m.arrive(*b, uint32_t(operand), w, i, l, nullptr,
             use.relaxed ? Order::Fenced : Order::Memory);
    if (i.destinations)
      w.row(i.d[0])[l] = state;
  });
  return Flow::Next;
}

/// expect_tx and complete_tx.
Flow transactions(Warp &w, const Inst &i, uint32_t mask) {
  forLanes(mask, [&](int l) {
    Mbarrier *b = find(w, i, l);
    if (!b)
      return;
    w.machine.tellAccess(*b, w, i, l, /*waits=*/false);
    int64_t bytes = uint32_t(w.row(i.s[1])[l]);
    if (!i.get<MbarrierUse>().completes)
      w.machine.expectTransactions(*b, bytes, w, i, l);
    else {
      Clock waits;
      w.releaseWaits(waits);
      w.machine.completeTransactions(*b, bytes, b->phase, w, i, l, waits);
    }
  });
  return Flow::Next;
}

Flow wait(Warp &w, const Inst &i, uint32_t mask) {
  Machine &m = w.machine;
  LaneGroup &group = w.group();
  uint32_t result = 0;
  const MbarrierUse &use = i.get<MbarrierUse>();
  const bool parity = use.parity, mayPark = use.mayPark;
  Mbarrier *blocker = nullptr, *seen = nullptr;
  uint64_t ticket = 0;
  forLanes(mask, [&](int l) {
    Mbarrier *b = find(w, i, l);
    if (!b)
      return;
    if (b->cta != &w.cta) {
      m.error(ErrorKind::BarrierMisuse,
              "'" + Machine::mnemonic(&i) +
                  "' waits for an mbarrier of CTA rank " +
                  std::to_string(b->cta->rank) +
                  "; only threads of that CTA may wait for it",
              &w, &i, l, true);
      return;
    }
    uint64_t operand = w.row(i.s[1])[l];
    bool done =
        parity ? (b->phase & 1) != (operand & 1) : b->phase > operand >> 32;
    result |= uint32_t(done) << l;
    if (done) {
      m.sawPhase(*b, w, i, l);
      m.tellAccess(*b, w, i, l, /*waits=*/true);
      // What all lanes learn alike.
      if (b != seen)
        m.waitSucceeded(*b, w, i, parity,
                        use.relaxed ? Order::Fenced : Order::Memory);
      seen = b;
    } else if (!blocker) {
      blocker = b;
      ticket = parity ? b->phase : operand >> 32;
    }
  });
  if (m.stopped)
    return Flow::Next;
  // Lanes whose phase is incomplete wait, until their time is up or, at random,
  // not at all: try_wait may return early. A test_wait lets other warps go
  // first once, and then returns false.
  bool timeUp = group.timedOut || (group.arrived && !mayPark);
  if (!result && blocker && !timeUp && (!mayPark || !m.oneIn(8))) {
    group.barrier = blocker;
    group.ticket = ticket;
    group.arrived = !mayPark;
    return w.waitFor(mayPark ? WaitKind::Mbarrier : WaitKind::Sleep);
  }
  w.setPredicate(i, 0, mask, result);
  if (!result && blocker) {
    group.barrier = blocker;
    group.ticket = ticket;
  } else {
    group.barrier = nullptr;
  }
  return Flow::Next;
}

Flow pendingCount(Warp &w, const Inst &i, uint32_t mask) {
  forLanes(mask, [&](int l) { w.row(i.d[0])[l] = uint32_t(w.row(i.s[0])[l]); });
  return Flow::Next;
}

void takeSpace(Decoder &d, MbarrierUse &use) {
  int space = d.takeOneOf({"shared", "shared::cta", "shared::cluster"});
  use.generic = space < 0;
  use.remote = space == 2;
}

/// Without a scope it is .cta by the letter; kernels wait so for other CTAs of
/// the cluster, and none was seen to fail. So it counts as wider.
void takeSemantics(Decoder &d, Inst &i, MbarrierUse &use) {
  use.relaxed = d.take("relaxed");
  d.takeOneOf({"release", "acquire"});
  d.takeScope(i);
}

bool decodeArrive(Decoder &d, Inst &i, bool drop) {
  MbarrierUse &use = i.make<MbarrierUse>();
  use.drops = drop;
  use.expects = d.take("expect_tx");
  use.keepsPhase = d.take("noComplete");
  takeSemantics(d, i, use);
  takeSpace(d, use);
  if (!d.take("b64"))
    return d.fail("needs .b64");
  i.fn = arriveOp;
  // The remote form has no state; `_` may stand for it.
  const ast::Operand *first = d.peekOperand();
  if (first && first->kind == ast::Operand::Kind::Sink)
    d.takeOperand();
  else if (first && first->kind != ast::Operand::Kind::Address &&
           !d.destination(i, Type::B64))
    return false;
  if (!d.address(i))
    return false;
  if (d.operandsLeft())
    return d.source(i, Type::U32);
  return !(use.expects || use.keepsPhase) || d.fail("needs a count");
}

bool decodeWait(Decoder &d, Inst &i, bool mayPark) {
  MbarrierUse &use = i.make<MbarrierUse>();
  use.parity = d.take("parity");
  use.mayPark = mayPark;
  takeSemantics(d, i, use);
  takeSpace(d, use);
  if (!d.take("b64"))
    return d.fail("needs .b64");
  i.fn = wait;
  if (!d.predicateDestination(i) || !d.address(i) ||
      !d.source(i, use.parity ? Type::U32 : Type::B64))
    return false;
  if (!mayPark || !d.operandsLeft())
    return true;
  // The time hint changes no result, and may be undefined: that of CUDA 13's
  // cuda::barrier is.
  uint32_t hint;
  return d.row(*d.takeOperand(), Type::U32, hint);
}

bool decodeMbarrier(Decoder &d, Inst &i) {
  MbarrierUse &use = i.make<MbarrierUse>();
  if (d.take("init") || d.hasQualifier("inval")) {
    bool isInit = !d.take("inval");
    takeSpace(d, use);
    if (!d.take("b64"))
      return d.fail("needs .b64");
    i.fn = isInit ? init : inval;
    return d.address(i) && (!isInit || d.source(i, Type::U32));
  }
  if (d.take("arrive"))
    return decodeArrive(d, i, false);
  if (d.take("arrive_drop"))
    return decodeArrive(d, i, true);
  if (d.take("test_wait"))
    return decodeWait(d, i, false);
  if (d.take("try_wait"))
    return decodeWait(d, i, true);
  if (d.take("pending_count")) {
    i.fn = pendingCount;
    return d.take("b64") && d.destination(i, Type::U32) &&
           d.source(i, Type::B64);
  }
  int kind = d.takeOneOf({"expect_tx", "complete_tx"});
  if (kind < 0)
    return d.fail("is not supported");
  takeSemantics(d, i, use);
  takeSpace(d, use);
  if (!d.take("b64"))
    return d.fail("needs .b64");
  i.fn = transactions;
  use.completes = kind == 1;
  return d.address(i) && d.source(i, Type::U32);
}

} // namespace

void fp8::sim::addMbarriersOpcodes(OpcodeTable &t) {
  t.add("mbarrier", decodeMbarrier);
}
