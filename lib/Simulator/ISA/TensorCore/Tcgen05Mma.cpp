// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tcgen05.mma and tcgen05.commit (PTX ISA 9.7.16.10). The MMAs of a warp and
// their commits complete in order.

#include "ISA/TensorCore/Tcgen05.h"

#include "ISA/Access/Access.h"
#include "ISA/Alu/Alu.h"
#include "ISA/TensorCore/TensorCore.h"

using namespace fp8::sim;

namespace {

int64_t mmaPipe(const Warp &w) { return int64_t(w.globalIndex) * 2; }
int64_t landingPipe(const Warp &w, uint32_t rank) {
  return int64_t(rank + 1) << 32 | mmaPipe(w);
}

/// Payload of tcgen05.mma. Sources: D, A, B, instruction descriptor. Predicate
/// source 0: enable-input-d. List: disable-output-lane.
struct MmaForm {
  MmaKind kind;
  bool pair;         ///< .cta_group::2
  bool tensorA;      ///< A lies in tensor memory
  bool masksLanes;   ///< disable-output-lane is given
  bool scalesInput;  ///< scale-input-d is given
  uint64_t offsetA;  ///< of A's address in tensor memory
  uint64_t exponent; ///< scale-input-d: D is multiplied by 2 to minus this
};

/// One MMA on its way from the operands of the instruction to the queue.
class MmaIssue {
public:
  MmaIssue(Warp &w, const Inst &i, int lane)
      : w(w), i(i), lane(lane), m(w.machine), form(i.get<MmaForm>()),
        pair(form.pair), operation(std::make_shared<MmaOperation>()),
        shape(operation->shape), op(std::make_unique<AsyncOp>()) {}

  void run() {
    if (!findCtas() || !readOperands())
      return;
    op->inst = &i;
    op->issuer = &w;
    op->lane = lane;
    op->engine = Engine::Mma;
    op->pipe = mmaPipe(w);
    tag = AccessTag(w.agent(Role::Mma), ++w.mmaTime, i.index);
    if (!takeAccumulator() || !takeA() || !takeB())
      return;
    for (const SharedRun &run : op->shared)
      if (!m.ctas[run.cta]->shared.checkAsync(w, i, lane, run, tag, op->pipe,
                                              Proxy::Async) ||
          m.stopped)
        return;
    ++m.report.statistics.mmas;
    std::array<MmaSide, 2> sides;
    for (size_t side = 0; side < ctas.size(); ++side) {
      m.touchRemote(*ctas[side], w, i, w.agent(Role::Mma), w.mmaTime);
      sides[side] = {ctas[side]->shared.data(), &ctas[side]->tensor};
    }
    std::vector<TensorRegion> results = accumulators;
    Machine *machine = &m;
    op->complete = [machine, sides, operation = operation,
                    results = std::move(results)] {
      multiply(*operation, sides);
      for (const TensorRegion &d : results)
        machine->ctas[d.cta]->tensor.markInitialised(d);
    };
    m.issue(std::move(op));
  }

private:
  Warp &w;
  const Inst &i;
  int lane;
  Machine &m;
  const MmaForm &form;
  const bool pair;
  std::shared_ptr<MmaOperation> operation;
  MmaShape &shape;
  std::unique_ptr<AsyncOp> op;
  AccessTag tag;
  std::vector<Cta *> ctas; ///< the CTA; or of a pair the even, then the odd
  std::vector<TensorRegion> accumulators;

  bool bad(ErrorKind kind, const std::string &message) {
    m.error(kind, "'" + Machine::mnemonic(&i) + "': " + message, &w, &i, lane,
            true);
    return false;
  }

  /// Either CTA of a pair may issue, while the other has not exited (PTX
  /// ISA 9.7.16.5).
  bool findCtas() {
    ctas.push_back(&w.cta);
    if (!pair)
      return true;
    Cta *peer = m.pairPeer(w, i, lane);
    if (!peer)
      return false;
    ctas.insert(peer->rank < w.cta.rank ? ctas.begin() : ctas.end(), peer);
    return true;
  }

  bool readOperands() {
    uint32_t idesc = uint32_t(w.row(i.s[3])[lane]);
    if (auto wrong = decodeInstructionDescriptor(idesc, form.kind, pair, shape))
      return bad(ErrorKind::BadDescriptor,
                 "in the instruction descriptor " + *wrong);
    operation->rule = &findSumRule(fp8::chip::MmaEngine::TensorMemory, shape,
                                   m.options.exactAccumulation);
    uint32_t address = uint32_t(w.row(i.s[0])[lane]) + uint32_t(i.offset);
    if (address >> 16)
      return bad(ErrorKind::OutOfBounds,
                 "the accumulator must start at lane 0, not " +
                     std::to_string(address >> 16));
    operation->dColumn = address & 0xffff;
    operation->accumulate = w.predicate(i, 0) >> lane & 1;
    if (form.scalesInput)
      operation->scaleD = 1.0f / float(uint64_t(1) << form.exponent);
    if (form.masksLanes)
      for (uint32_t n = 0; n < i.listCount; ++n)
        operation->disabledLanes[n] =
            uint32_t(w.row(m.program.lists[i.list + n])[lane]);
    if (operation->dColumn + shape.dColumns() > kTensorColumns)
      return bad(ErrorKind::OutOfBounds,
                 "the accumulator ends at column " +
                     std::to_string(operation->dColumn + shape.dColumns()) +
                     " of 512");
    return true;
  }

  bool takeTensor(TensorRegion region) {
    for (Cta *cta : ctas) {
      region.cta = cta->rank;
      if (!cta->tensor.check(w, i, region, tag, op->pipe))
        return false;
    }
    return true;
  }

  bool takeAccumulator() {
    TensorRegion d{shape.units(), uint16_t(operation->dColumn),
                   uint16_t(shape.dColumns()), true, 0};
    TensorRegion input = d;
    input.write = false;
    if ((operation->accumulate && !takeTensor(input)) || !takeTensor(d))
      return false;
    for (Cta *cta : ctas) {
      d.cta = cta->rank;
      accumulators.push_back(d);
      op->tensor.push_back(d);
    }
    return true;
  }

  bool takeA() {
    if (!form.tensorA)
      return takeShared(1, shape.transposeA, shape.aRows(), operation->a, "A");
    uint32_t address = uint32_t(w.row(i.s[1])[lane] + form.offsetA);
    if (address >> 16 || shape.transposeA)
      return bad(ErrorKind::BadDescriptor,
                 "A in tensor memory must start at lane 0 and be K-major");
    if (shape.folded() || (pair && shape.n % 32))
      return bad(ErrorKind::Unsupported,
                 "A in tensor memory is supported for a CTA pair only with M "
                 "256 and N a multiple of 32");
    operation->aInTensorMemory = true;
    operation->aColumn = address & 0xffff;
    TensorRegion a{shape.units(), uint16_t(operation->aColumn), 8, false, 0};
    if (!takeTensor(a))
      return false;
    for (Cta *cta : ctas) {
      a.cta = cta->rank;
      op->tensor.push_back(a);
    }
    return true;
  }

  bool takeB() {
    return takeShared(2, shape.transposeB, shape.bRows(), operation->b, "B");
  }

  /// A descriptor holds offsets, the same in both CTAs of a pair.
  bool takeShared(unsigned source, bool mnMajor, uint32_t rows,
                  MatrixDescriptor &descriptor, const char *name) {
    if (auto wrong = decodeMatrixDescriptor(w.row(i.s[source])[lane], mnMajor,
                                            shape.elementBytes, descriptor))
      return bad(ErrorKind::BadDescriptor,
                 std::string("in the descriptor of ") + name + " " + *wrong);
    for (Cta *cta : ctas) {
      std::vector<SharedRun> runs =
          operandRuns(descriptor, cta->rank, rows, shape.k);
      op->shared.insert(op->shared.end(), runs.begin(), runs.end());
    }
    return true;
  }
};

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
  MmaIssue(w, i, __builtin_ctz(mask)).run();
  return Flow::Next;
}

/// A commit arrives: those who learn of it know that the earlier ones of its
/// warp have reached the same CTA.
void land(Warp &w, const Inst &i, int lane, Mbarrier &barrier,
          const SyncClocks &carried) {
  if (!barrier.live || barrier.cta->ended)
    return;
  Warp::Landing &landing = w.landings[barrier.cta->rank];
  if (!landing.count++)
    landing.agent = w.machine.newAgent();
  w.machine.touchRemote(*barrier.cta, w, i, barrier.agent, barrier.time() + 1,
                        landing.agent, landing.count);
  SyncClocks known = carried;
  known.reached.raise(landing.agent, landing.count);
  w.machine.arrive(barrier, 1, w, i, lane, &known);
}

void issueArrival(Warp &w, const Inst &i, int lane, Mbarrier *barrier,
                  const std::shared_ptr<SyncClocks> &carried) {
  auto op = std::make_unique<AsyncOp>(i, w, lane, Engine::Arrival);
  op->pipe = mmaPipe(w);
  op->signals = int32_t(barrier->cta->rank);
  // The pipe orders the MMAs. By the letter the arrivals that they trigger land
  // when they land, so that only the phase that one lands in says that it has;
  // hardware keeps those of one warp to one CTA in order.
  Warp *warp = &w;
  int32_t rank = op->signals;
  op->complete = [warp, &i, lane, barrier, carried, rank] {
    auto arrival = std::make_unique<AsyncOp>(i, *warp, lane, Engine::Arrival);
    arrival->signals = rank;
    if (!warp->machine.options.strict)
      arrival->pipe = landingPipe(*warp, uint32_t(rank));
    arrival->complete = [warp, &i, lane, barrier, carried] {
      land(*warp, i, lane, *barrier, *carried);
    };
    warp->machine.issue(std::move(arrival));
  };
  w.machine.issue(std::move(op));
}

/// Payload of tcgen05.commit.
struct Commit {
  bool pair;    ///< .cta_group::2
  bool generic; ///< the address is
  bool multicast;
};

Flow commit(Warp &w, const Inst &i, uint32_t mask) {
  const Commit &form = i.get<Commit>();
  Machine &m = w.machine;
  forLanes(mask, [&](int l) {
    if (m.stopped)
      return;
    uint64_t address = w.row(i.s[0])[l] + uint64_t(i.offset);
    if (form.generic)
      genericToShared(address, address);
    uint32_t ctas = form.multicast ? uint32_t(w.row(i.s[1])[l]) & 0xffff : 0;
    if (form.multicast && !ctas) {
      m.error(ErrorKind::InvalidOperation,
              "'" + Machine::mnemonic(&i) + "' has an empty CTA mask", &w, &i,
              l, true);
      return;
    }
    std::vector<Mbarrier *> targets;
    auto reach = [&](uint64_t target) {
      if (Mbarrier *barrier = m.barrierAt(w, i, l, target, true))
        targets.push_back(barrier);
    };
    if (!form.multicast)
      reach(address);
    for (uint32_t rank = 0; rank < 16 && !m.stopped; ++rank)
      if (ctas >> rank & 1)
        reach((address & kSharedOffsetMask) | uint64_t(rank)
                                                  << kSharedRankShift);
    auto carried = std::make_shared<SyncClocks>();
    w.release(*carried);
    w.releaseWaits(carried->waits);
    carried->all.raise(w.agent(Role::Mma), ++w.mmaTime);
    carried->reached.raise(w.agent(Role::Mma), w.mmaTime);
    for (Mbarrier *barrier : targets)
      issueArrival(w, i, l, barrier, carried);
  });
  return Flow::Next;
}

} // namespace

bool fp8::sim::decodeTcgen05Mma(Decoder &d, Inst &i) {
  MmaForm &form = i.make<MmaForm>();
  if (!takeCtaGroup(d, form.pair))
    return false;
  if (d.hasQualifier("sp") || d.hasQualifier("ws") ||
      d.hasQualifier("block_scale"))
    return d.fail("is supported only without .sp, .ws and .block_scale");
  int kind = d.takeOneOf({"kind::f8f6f4", "kind::f16", "kind::tf32"});
  if (kind < 0)
    return d.fail(
        "is supported with kind::f8f6f4, kind::f16 and kind::tf32 only");
  d.takeOneOf({"collector::a::fill", "collector::a::use",
               "collector::a::lastuse", "collector::a::discard"});
  d.take("ashift");
  form.kind = MmaKind(kind);
  i.fn = mma;
  if (!d.address(i))
    return false;
  const ast::Operand *a = d.peekOperand();
  if (a && a->kind == ast::Operand::Kind::Address) {
    form.tensorA = true;
    if (!d.address(i, form.offsetA))
      return false;
  } else if (!d.source(i, Type::B64)) {
    return false;
  }
  if (!d.source(i, Type::B64) || !d.source(i, Type::B32))
    return false;
  const ast::Operand *lanes = d.peekOperand();
  if (lanes && lanes->kind == ast::Operand::Kind::Vector) {
    form.masksLanes = true;
    if (!d.list(i, form.pair ? 8 : 4, Type::B32, false))
      return false;
  }
  if (!d.predicateSource(i))
    return false;
  if (d.operandsLeft()) {
    form.scalesInput = true;
    if (!d.immediate(form.exponent))
      return false;
    return form.exponent <= 15 || d.fail("takes scale-input-d from 0 to 15");
  }
  return true;
}

bool fp8::sim::decodeTcgen05Commit(Decoder &d, Inst &i) {
  Commit &form = i.make<Commit>();
  if (!takeCtaGroup(d, form.pair))
    return false;
  if (!d.take("mbarrier::arrive::one"))
    return d.fail("needs .mbarrier::arrive::one");
  form.generic = !d.take("shared::cluster");
  form.multicast = d.take("multicast::cluster");
  if (!d.take("b64"))
    return d.fail("needs .b64");
  i.fn = commit;
  return d.address(i) && (!form.multicast || d.source(i, Type::U16));
}
