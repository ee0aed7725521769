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

#include "Lowering.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fp8;

/// The size of an mbarrier object in bytes (PTX ISA, mbarrier).
static constexpr int64_t kBarrierBytes = 8;

static int64_t getNumStages(Type ring) {
  return cast<RingTypeInterface>(ring).getNumStages();
}

/// True if the ring's cursors count without wrapping. With one slot, flipping
/// the parity is cheaper still.
static bool counts(int64_t stages) {
  return stages > 1 && llvm::isPowerOf2_64(stages);
}

Value RingCursor::getSlot(Instructions &instructions, Type ring) const {
  int64_t stages = getNumStages(ring);
  return counts(stages) ? instructions.bitAnd(index, stages - 1) : index;
}

/// The parity that this side waits for.
static Value getParity(const RingCursor &cursor, Instructions &instructions,
                       Type ring) {
  int64_t stages = getNumStages(ring);
  if (!counts(stages))
    return cursor.phase;
  Value lap = instructions.shiftRight(cursor.index, llvm::Log2_64(stages));
  return instructions.bitXor(instructions.bitAnd(lap, 1), cursor.phase);
}

Value RingCursor::getFullBarrier(Instructions &instructions, Type ring) const {
  return instructions.add(
      barriers, instructions.mul(getSlot(instructions, ring), kBarrierBytes));
}

Value RingCursor::getEmptyBarrier(Instructions &instructions, Type ring) const {
  return instructions.add(getFullBarrier(instructions, ring),
                          kBarrierBytes * getNumStages(ring));
}

RingCursor RingCursor::advance(Instructions &instructions, Type ring) const {
  int64_t stages = getNumStages(ring);
  if (stages == 1)
    return {barriers, base, index,
            instructions.bitXor(phase, instructions.i32(1))};
  Value next = instructions.add(index, 1);
  if (counts(stages))
    return {barriers, base, next, phase};
  Value wraps = instructions.equal(next, stages);
  Value flipped = instructions.bitXor(phase, instructions.i32(1));
  return {barriers, base, instructions.select(wraps, instructions.i32(0), next),
          instructions.select(wraps, flipped, phase)};
}

// Slots and parities repeat: as many steps as there are slots lead back to the
// slot, with the other parity, and twice as many to both. Said with the values
// that the cursor set out with, rather than with sums that are as large, this
// makes what a loop carries around whole laps, and every address and parity in
// it, plain invariants of the loop. Steps are counted where control flow is
// straight: what a branch or a loop yields sets out anew.
RingCursor KernelLowering::advance(const RingCursor &cursor, Type ring,
                                   Instructions &instructions) const {
  CursorWay way = {cursor.index, cursor.phase, 0};
  if (auto known = ways.find(cursor.index); known != ways.end())
    way = known->second;
  if (++way.steps == getNumStages(ring))
    return {cursor.barriers, cursor.base, way.index,
            instructions.bitXor(way.phase, instructions.i32(1))};
  RingCursor next = cursor.advance(instructions, ring);
  ways[next.index] = way;
  return next;
}

Value RingCursor::getAwaitedBarrier(Instructions &instructions,
                                    EndTypeInterface end) const {
  return end.isProducer() ? getEmptyBarrier(instructions, end.getRing())
                          : getFullBarrier(instructions, end.getRing());
}

void RingCursor::wait(Instructions &instructions, EndTypeInterface end,
                      int64_t limit) const {
  instructions.waitBarrier(getAwaitedBarrier(instructions, end),
                           getParity(*this, instructions, end.getRing()),
                           limit);
}

Value RingCursor::test(Instructions &instructions, EndTypeInterface end) const {
  return instructions.allLanes(
      instructions.testBarrier(getAwaitedBarrier(instructions, end),
                               getParity(*this, instructions, end.getRing())));
}

void RingCursor::drain(OpBuilder &builder, Location loc, EndTypeInterface end,
                       int64_t limit) const {
  Instructions instructions(builder, loc);
  Value first = instructions.i32(0),
        last = instructions.i32(getNumStages(end.getRing())),
        one = instructions.i32(1);
  scf::ForOp::create(
      builder, loc, first, last, one, ValueRange{index, phase},
      [&](OpBuilder &inner, Location, Value, ValueRange carried) {
        Instructions body(inner, loc);
        RingCursor cursor(barriers, base, carried[0], carried[1]);
        cursor.wait(body, end, limit);
        RingCursor next = cursor.advance(body, end.getRing());
        scf::YieldOp::create(inner, loc, ValueRange{next.index, next.phase});
      });
}
