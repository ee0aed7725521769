// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks that products in flight have scales in columns of their own. Those of
// a slot come back with it, when its MMAs are complete.

#include "ScaleRules.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::fp8;

/// The number of the stage that lends the MMA's accumulator, if an op in sight
/// does.
static std::optional<unsigned> getSumStage(MmaOp mma, const HandleFlow &flow) {
  auto sums = mma.getAccumulator().getDefiningOp<AccumulatorOp>();
  if (!sums)
    return std::nullopt;
  return flow.getStage(sums.getStage());
}

/// True if the loop, or the blocks that lead from the op's block back to it,
/// hand the stage over: each turn has one of its own.
static bool isHandedOverIn(LoopLikeOpInterface loop, Operation *op,
                           unsigned stage, const HandleFlow &flow) {
  auto use = flow.getStageUses().find(stage);
  if (use == flow.getStageUses().end())
    return false;
  if (loop)
    return llvm::any_of(use->second.handOvers, [&](Operation *handOver) {
      return loop->isProperAncestor(handOver);
    });
  llvm::SmallPtrSet<Block *, 16> others;
  for (Operation *handOver : use->second.handOvers)
    others.insert(handOver->getBlock());
  Block *block = op->getBlock();
  return others.contains(block) ||
         !block->isReachable(block, std::move(others));
}

/// (A6) A product in a loop that goes on within one turn of the slot, and of
/// the accumulator, would copy its scales over those that the product before it
/// reads.
static LogicalResult checkTurn(MmaOp mma, unsigned slot,
                               std::optional<unsigned> sums,
                               const HandleFlow &flow) {
  auto loop = mma->getParentOfType<LoopLikeOpInterface>();
  auto isOfTurn = [&](LoopLikeOpInterface loop) {
    return isHandedOverIn(loop, mma, slot, flow) ||
           (sums && isHandedOverIn(loop, mma, *sums, flow));
  };
  bool isOfBlocks = !isOfTurn(LoopLikeOpInterface());
  if (!isOfBlocks && (!loop || isOfTurn(loop)))
    return success();
  InFlightDiagnostic diagnostic =
      mma.emitOpError() << "takes the scales of one slot in each turn of a "
                           "loop (A6); acquire a slot in each turn";
  if (loop && !isOfBlocks)
    diagnostic.attachNote(loop.getLoc()) << "the loop";
  return diagnostic;
}

/// True if the slot is handed over between the two: behind the first in its
/// block, and before the second if that is in the same one.
static bool isHandedOverBetween(MmaOp first, MmaOp second,
                                const StageUse &use) {
  return llvm::any_of(use.handOvers, [&](Operation *handOver) {
    return handOver->getBlock() == first->getBlock() &&
           first->isBeforeInBlock(handOver) &&
           (second->getBlock() != first->getBlock() ||
            handOver->isBeforeInBlock(second));
  });
}

/// (A6) The columns of a slot's scales behind an accumulator hold those of one
/// product.
static LogicalResult checkSlot(unsigned number, const StageUse &use,
                               const HandleFlow &flow) {
  llvm::SmallDenseMap<unsigned, MmaOp> last; // by the accumulator's stage
  for (MmaOp mma : use.mmas) {
    Value stage = mma.getScaleStage();
    if (!stage || flow.getStage(stage) != number)
      continue;
    std::optional<unsigned> sums = getSumStage(mma, flow);
    if (failed(checkTurn(mma, number, sums, flow)))
      return failure();
    auto [it, isFirst] = last.try_emplace(sums.value_or(0), mma);
    if (isFirst || it->second == mma ||
        insideMutuallyExclusiveRegions(mma, it->second))
      continue;
    if (isHandedOverBetween(it->second, mma, use)) {
      it->second = mma;
      continue;
    }
    InFlightDiagnostic diagnostic =
        mma.emitOpError() << "takes scales of a slot whose scales another MMA "
                             "into the same accumulator takes (A6); give each "
                             "its own slot";
    diagnostic.attachNote(it->second.getLoc()) << "the other MMA";
    return diagnostic;
  }
  return success();
}

/// (A6) Products that are added up in one accumulator take scales of one ring:
/// slots of two rings would share columns.
static LogicalResult checkRings(unsigned number, const StageUse &use,
                                const HandleFlow &flow) {
  MmaOp first;
  for (MmaOp mma : use.mmas) {
    Value stage = mma.getScaleStage();
    if (!stage || getSumStage(mma, flow) != number)
      continue;
    first = first ? first : mma;
    ArrayRef<Operation *> rings = flow.getRings(stage);
    if (rings.size() == 1 && rings == flow.getRings(first.getScaleStage()))
      continue;
    InFlightDiagnostic diagnostic =
        mma.emitOpError()
        << (first == mma ? "takes scales of slots of several rings"
                         : "takes scales of another ring than an MMA into the "
                           "same accumulator")
        << " (A6), and slots of two rings would share columns of tensor "
           "memory; put the scales into one ring";
    for (Operation *ring : rings)
      diagnostic.attachNote(ring->getLoc()) << "a ring of scales";
    if (first != mma)
      diagnostic.attachNote(first.getLoc()) << "the other MMA";
    return diagnostic;
  }
  return success();
}

LogicalResult mlir::fp8::checkScales(unsigned stage, const StageUse &use,
                                     const HandleFlow &flow) {
  return failure(failed(checkSlot(stage, use, flow)) ||
                 failed(checkRings(stage, use, flow)));
}
