// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tcgen05.mma and tcgen05.commit (PTX ISA 9.7.16.10). The MMAs of a warp and
// their commits complete in order.

#include "Tcgen05.h"

#include "Alu.h"
#include "Memory.h"
#include "TensorCore.h"

using namespace fp8::sim;

namespace {

int64_t mmaPipe(const Warp &w) { return int64_t(w.globalIndex) * 2; }

// aux: kind; aux2 bit 0: A in tensor memory, bit 1: disable-output-lane, bit 2:
// scale-input-d (imm). Sources: D, A, B, instruction descriptor. Predicate
// source 0: enable-input-d. List: lane mask.
void issueMma(Warp &w, const Inst &i, int lane) {
  Machine &m = w.machine;
  auto bad = [&](ErrorKind kind, const std::string &message) {
    m.error(kind, "'" + Machine::mnemonic(&i) + "': " + message, &w, &i, lane,
            true);
  };
  auto operation = std::make_shared<MmaOperation>();
  uint32_t idesc = uint32_t(w.row(i.s[3])[lane]);
  if (auto wrong =
          decodeInstructionDescriptor(idesc, MmaKind(i.aux), operation->shape))
    return bad(ErrorKind::BadDescriptor,
               "in the instruction descriptor " + *wrong);
  const MmaShape &shape = operation->shape;
  uint32_t dAddress = uint32_t(w.row(i.s[0])[lane]) + uint32_t(i.offset);
  if (dAddress >> 16)
    return bad(ErrorKind::OutOfBounds,
               "the accumulator must start at lane 0, not " +
                   std::to_string(dAddress >> 16));
  operation->dColumn = dAddress & 0xffff;
  operation->accumulate = w.predicate(i, 0) >> lane & 1;
  if (i.aux2 & 4)
    operation->scaleD = 1.0 / double(uint64_t(1) << i.imm);
  if (i.aux2 & 2)
    for (uint32_t n = 0; n < 4; ++n)
      operation->disabledLanes[n] =
          uint32_t(w.row(m.program.lists[i.list + n])[lane]);
  auto op = std::make_unique<AsyncOp>();
  op->inst = &i;
  op->issuer = &w;
  op->lane = lane;
  op->engine = Engine::Mma;
  op->pipe = mmaPipe(w);
  op->tensorCta = w.cta.rank;
  AccessTag tag(w.agent(Role::Mma), ++w.mmaTime, i.index);
  uint8_t units = accumulatorUnits(shape.m);
  if (operation->dColumn + shape.n > kTensorColumns)
    return bad(ErrorKind::OutOfBounds,
               "the accumulator ends at column " +
                   std::to_string(operation->dColumn + shape.n) + " of 512");
  TensorRegion d{units, uint16_t(operation->dColumn), uint16_t(shape.n), true};
  if (operation->accumulate) {
    TensorRegion input = d;
    input.write = false;
    if (!w.cta.tensor.check(w, i, input, tag, op->pipe))
      return;
  }
  if (!w.cta.tensor.check(w, i, d, tag, op->pipe))
    return;
  op->tensor.push_back(d);
  if (i.aux2 & 1) {
    uint32_t address = uint32_t(w.row(i.s[1])[lane]);
    if (address >> 16 || shape.transposeA)
      return bad(ErrorKind::BadDescriptor,
                 "A in tensor memory must start at lane 0 and be K-major");
    operation->aInTensorMemory = true;
    operation->aColumn = address & 0xffff;
    TensorRegion a{units, uint16_t(operation->aColumn), 8, false};
    if (!w.cta.tensor.check(w, i, a, tag, op->pipe))
      return;
    op->tensor.push_back(a);
  } else {
    if (auto wrong =
            decodeMatrixDescriptor(w.row(i.s[1])[lane], shape.transposeA,
                                   shape.elementBytes, operation->a))
      return bad(ErrorKind::BadDescriptor, "in the descriptor of A " + *wrong);
    op->shared = operandRuns(operation->a, w.cta.rank, shape.m, shape.k);
  }
  if (auto wrong = decodeMatrixDescriptor(w.row(i.s[2])[lane], shape.transposeB,
                                          shape.elementBytes, operation->b))
    return bad(ErrorKind::BadDescriptor, "in the descriptor of B " + *wrong);
  std::vector<SharedRun> bRuns =
      operandRuns(operation->b, w.cta.rank, shape.n, shape.k);
  op->shared.insert(op->shared.end(), bRuns.begin(), bRuns.end());
  for (const SharedRun &run : op->shared)
    if (!w.cta.shared.checkAsync(w, i, lane, run, tag, op->pipe, false) ||
        m.stopped)
      return;
  ++m.report.statistics.mmas;
  Cta *cta = &w.cta;
  op->complete = [cta, operation, d] {
    multiply(*operation, cta->shared.data(), cta->tensor);
    cta->tensor.markInitialised(d);
  };
  m.issue(std::move(op));
}

Flow mma(Warp &w, const Inst &i, uint32_t mask) {
  if (mask & (mask - 1)) {
    w.machine.error(ErrorKind::InvalidOperation,
                    "'" + Machine::mnemonic(&i) + "' is executed by " +
                        std::to_string(__builtin_popcount(mask)) +
                        " lanes, each of which would start an MMA of its own; "
                        "let one elected lane execute it",
                    &w, &i, __builtin_ctz(mask), true);
    return Flow::Next;
  }
  issueMma(w, i, __builtin_ctz(mask));
  return Flow::Next;
}

/// aux bit 0: generic address, bit 1: multicast.
Flow commit(Warp &w, const Inst &i, uint32_t mask) {
  Machine &m = w.machine;
  forLanes(mask, [&](int l) {
    if (m.stopped)
      return;
    uint64_t address = w.row(i.s[0])[l] + uint64_t(i.offset);
    if (i.aux & 1)
      genericToShared(address, address);
    uint32_t ctas = i.aux & 2 ? uint32_t(w.row(i.s[1])[l]) & 0xffff : 0;
    auto carried = std::make_shared<SyncClocks>();
    w.release(*carried);
    carried->all.raise(w.agent(Role::Mma), w.mmaTime);
    auto issueArrival = [&](uint64_t target) {
      Mbarrier *barrier = m.barrierAt(w, i, l, target, true);
      if (!barrier)
        return;
      auto op = std::make_unique<AsyncOp>();
      op->inst = &i;
      op->issuer = &w;
      op->lane = l;
      op->engine = Engine::Arrival;
      op->pipe = mmaPipe(w);
      Warp *warp = &w;
      op->complete = [warp, &i, l, barrier, carried] {
        if (barrier->live)
          warp->machine.arrive(*barrier, 1, *warp, i, l, carried.get());
      };
      m.issue(std::move(op));
    };
    if (!(i.aux & 2)) {
      issueArrival(address);
      return;
    }
    for (uint32_t rank = 0; rank < 16 && !m.stopped; ++rank)
      if (ctas >> rank & 1)
        issueArrival((address & kSharedOffsetMask) | uint64_t(rank)
                                                         << kSharedRankShift);
  });
  return Flow::Next;
}

} // namespace

bool fp8::sim::decodeTcgen05Mma(Decoder &d, Inst &i) {
  if (d.hasQualifier("sp") || d.hasQualifier("ws") ||
      d.hasQualifier("block_scale"))
    return d.fail(
        "is supported dense, without .ws and without .block_scale only");
  int kind = d.takeOneOf({"kind::f8f6f4", "kind::f16", "kind::tf32"});
  if (kind < 0)
    return d.fail(
        "is supported with kind::f8f6f4, kind::f16 and kind::tf32 only");
  d.takeOneOf({"collector::a::fill", "collector::a::use",
               "collector::a::lastuse", "collector::a::discard"});
  d.take("ashift");
  i.aux = uint32_t(kind);
  i.fn = mma;
  if (!d.address(i))
    return false;
  const ast::Operand *a = d.peekOperand();
  int64_t offset = i.offset;
  if (a && a->kind == ast::Operand::Kind::Address) {
    i.aux2 |= 1;
    if (!d.address(i))
      return false;
    if (i.offset)
      return d.fail("takes no offset on A's address");
  } else if (!d.source(i, Type::B64)) {
    return false;
  }
  i.offset = offset;
  if (!d.source(i, Type::B64) || !d.source(i, Type::B32))
    return false;
  const ast::Operand *lanes = d.peekOperand();
  if (lanes && lanes->kind == ast::Operand::Kind::Vector) {
    i.aux2 |= 2;
    if (!d.list(i, 4, Type::B32, false))
      return false;
  }
  if (!d.predicateSource(i))
    return false;
  if (d.operandsLeft()) {
    i.aux2 |= 4;
    if (!d.immediate(i.imm))
      return false;
    return i.imm <= 15 || d.fail("takes scale-input-d from 0 to 15");
  }
  return true;
}

bool fp8::sim::decodeTcgen05Commit(Decoder &d, Inst &i) {
  if (!d.take("mbarrier::arrive::one"))
    return d.fail("needs .mbarrier::arrive::one");
  i.aux = d.takeOneOf({"shared::cluster"}) < 0;
  bool multicast = d.take("multicast::cluster");
  i.aux |= multicast ? 2 : 0;
  if (!d.take("b64"))
    return d.fail("needs .b64");
  i.fn = commit;
  return d.address(i) && (!multicast || d.source(i, Type::U16));
}
