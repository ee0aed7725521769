// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cursors over rings: barriers, slots and phases.
//
// A barrier's phases alternate in parity. A wait for parity p returns once the
// phase of that parity has completed; on a fresh barrier a wait for parity 1
// returns at once (PTX ISA, mbarrier.try_wait). So a consumer begins with
// parity 0, a producer with parity 1, and both flip where the ring wraps.

#include "Lowering.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fp8;

/// The size of an mbarrier object in bytes (PTX ISA, mbarrier).
static constexpr int64_t kBarrierBytes = 8;

static int64_t getNumStages(Type ring) {
  return cast<RingTypeInterface>(ring).getNumStages();
}

int64_t fp8::getCtaGroup(Type ring) {
  if (auto output = dyn_cast<OutputPipelineType>(ring))
    return output.getCtaGroup();
  auto pipeline = dyn_cast<PipelineType>(ring);
  return pipeline ? pipeline.getCtaGroup() : 1;
}

Value RingCursor::getFullBarrier(Instructions &instructions) const {
  return instructions.add(barriers, instructions.mul(index, kBarrierBytes));
}

Value RingCursor::getEmptyBarrier(Instructions &instructions, Type ring) const {
  return instructions.add(getFullBarrier(instructions),
                          kBarrierBytes * getNumStages(ring));
}

RingCursor RingCursor::advance(Instructions &instructions, Type ring) const {
  int64_t stages = getNumStages(ring);
  if (stages == 1)
    return {barriers, base, index,
            instructions.bitXor(phase, instructions.i32(1))};
  Value next = instructions.add(index, 1);
  Value wraps = instructions.equal(next, stages);
  Value flipped = instructions.bitXor(phase, instructions.i32(1));
  return {barriers, base, instructions.select(wraps, instructions.i32(0), next),
          instructions.select(wraps, flipped, phase)};
}

Value RingCursor::getAwaitedBarrier(Instructions &instructions,
                                    EndTypeInterface end) const {
  return end.isProducer() ? getEmptyBarrier(instructions, end.getRing())
                          : getFullBarrier(instructions);
}

void RingCursor::wait(Instructions &instructions, EndTypeInterface end) const {
  instructions.waitBarrier(getAwaitedBarrier(instructions, end), phase);
}

Value RingCursor::test(Instructions &instructions, EndTypeInterface end) const {
  return instructions.allLanes(
      instructions.testBarrier(getAwaitedBarrier(instructions, end), phase));
}

void RingCursor::drain(OpBuilder &builder, Location loc,
                       EndTypeInterface end) const {
  Instructions instructions(builder, loc);
  Value first = instructions.i32(0),
        last = instructions.i32(getNumStages(end.getRing())),
        one = instructions.i32(1);
  scf::ForOp::create(
      builder, loc, first, last, one, ValueRange{index, phase},
      [&](OpBuilder &inner, Location, Value, ValueRange carried) {
        Instructions body(inner, loc);
        RingCursor cursor(barriers, base, carried[0], carried[1]);
        cursor.wait(body, end);
        RingCursor next = cursor.advance(body, end.getRing());
        scf::YieldOp::create(inner, loc, ValueRange{next.index, next.phase});
      });
}
