// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cursors over rings: barriers, slots and phases.
//
// A barrier's phases alternate in parity. A wait for parity p returns once the
// phase of that parity has completed; on a fresh barrier a wait for parity 1
// returns at once (PTX ISA, mbarrier.try_wait). So a consumer begins with
// parity 0, a producer with parity 1, and both flip where the ring wraps.
//
// The slots of a ring with a power of two of them are counted without wrapping:
// slot and parity are bits of the count, which takes fewer instructions than
// comparing, selecting and flipping.

#include "RingLowering.h"

using namespace mlir;
using namespace mlir::fp8;

static int64_t getNumStages(Type ring) {
  return cast<RingTypeInterface>(ring).getNumStages();
}

Value RingCursor::getSlot(BarrierBuilder &builder, Type ring) const {
  int64_t stages = getNumStages(ring);
  return AdvanceOp::countsSlots(stages) ? builder.bitAnd(number, stages - 1)
                                        : number;
}

/// The parity that this side waits for.
static Value getParity(const RingCursor &cursor, BarrierBuilder &builder,
                       Type ring) {
  int64_t stages = getNumStages(ring);
  if (!AdvanceOp::countsSlots(stages))
    return cursor.parity;
  Value lap = builder.shiftRight(cursor.number, llvm::Log2_64(stages));
  return builder.bitXor(builder.bitAnd(lap, 1), cursor.parity);
}

Value RingCursor::getFullBarrier(BarrierBuilder &builder, Type ring) const {
  return builder.add(barriers,
                     builder.mul(getSlot(builder, ring), kBarrierBytes));
}

Value RingCursor::getEmptyBarrier(BarrierBuilder &builder, Type ring) const {
  return builder.add(getFullBarrier(builder, ring),
                     kBarrierBytes * getNumStages(ring));
}

Value RingCursor::getTile(BarrierBuilder &builder, PipelineType ring,
                          StringRef name) const {
  int64_t stride = KernelPlan::getTileStride(ring.getTile(name));
  Value offset = builder.mul(getSlot(builder, ring), stride);
  return builder.add(builder.add(base, offset),
                     KernelPlan::getTileOffset(ring, name));
}

RingCursor RingCursor::advance(BarrierBuilder &builder, Type ring) const {
  auto next = builder.make<AdvanceOp>(number, parity, getNumStages(ring));
  return {barriers, base, next.getNextNumber(), next.getNextParity()};
}

/// The step behind this one, where control flow is straight; null behind the
/// last.
static AdvanceOp getNextStep(AdvanceOp op) {
  for (Operation *user : op.getNextNumber().getUsers())
    if (auto next = dyn_cast<AdvanceOp>(user);
        next && next.getStages() == op.getStages())
      return next;
  return {};
}

// Slots and parities repeat: as many steps as there are slots lead back to the
// slot, with the other parity, and twice as many to both. Said with the values
// that the cursor set out with, rather than with sums that are as large, this
// makes what a loop carries around whole laps, and every address and parity in
// it, plain invariants of the loop. Steps are counted where control flow is
// straight: what a branch or a loop yields sets out anew. Steps that make no
// whole laps stay: no address is then an invariant, and that of the first slot
// would be kept in a register for the second lap.
void mlir::fp8::foldLaps(FunctionOpInterface kernel) {
  SmallVector<AdvanceOp> firsts;
  kernel->walk([&](AdvanceOp op) {
    auto before = op.getNumber().getDefiningOp<AdvanceOp>();
    if (!before || before.getStages() != op.getStages())
      firsts.push_back(op);
  });
  for (AdvanceOp first : firsts) {
    SmallVector<AdvanceOp> steps;
    for (AdvanceOp op = first; op; op = getNextStep(op))
      steps.push_back(op);
    uint64_t slots = first.getStages();
    if (steps.size() % slots)
      continue;
    Value number = first.getNumber(), parity = first.getParity();
    for (size_t last = slots - 1; last < steps.size(); last += slots) {
      AdvanceOp op = steps[last];
      OpBuilder atOp(op);
      BarrierBuilder builder(atOp, op.getLoc());
      parity = builder.bitXor(parity, builder.i32(1));
      op.getNextNumber().replaceAllUsesWith(number);
      op.getNextParity().replaceAllUsesWith(parity);
      op.erase();
    }
  }
}

Value RingCursor::getAwaitedBarrier(BarrierBuilder &builder,
                                    EndTypeInterface end) const {
  return end.isProducer() ? getEmptyBarrier(builder, end.getRing())
                          : getFullBarrier(builder, end.getRing());
}

void RingCursor::wait(RingBuilder &builder, EndTypeInterface end) const {
  Value awaited = getParity(*this, builder, end.getRing());
  builder.make<MbarrierWaitOp>(getAwaitedBarrier(builder, end), awaited,
                               /*cluster=*/false, builder.start.waitLimit);
}

Value RingCursor::test(BarrierBuilder &builder, EndTypeInterface end) const {
  Value awaited = getParity(*this, builder, end.getRing());
  return builder.make<MbarrierTestOp>(getAwaitedBarrier(builder, end), awaited);
}

void RingCursor::drain(RingBuilder &builder, EndTypeInterface end) const {
  Value first = builder.i32(0), last = builder.i32(getNumStages(end.getRing())),
        one = builder.i32(1);
  builder.make<scf::ForOp>(
      first, last, one, ValueRange{number, parity},
      [&](OpBuilder &inner, Location loc, Value, ValueRange carried) {
        RingBuilder body(inner, loc, builder.start);
        RingCursor cursor(barriers, base, carried[0], carried[1]);
        cursor.wait(body, end);
        RingCursor next = cursor.advance(body, end.getRing());
        body.make<scf::YieldOp>(ValueRange{next.number, next.parity});
      });
}
