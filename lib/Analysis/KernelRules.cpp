// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules that a kernel keeps as a whole beside its counts: nothing waits for
// what nobody does, and nothing is read that nobody wrote (K1 to K5).

#include "fp8/Analysis/KernelPlan.h"

using namespace mlir;
using namespace mlir::fp8;

/// (K1) Whole-CTA synchronisation and memory that the kernel's layout does not
/// know. Named by text: the gpu dialect is no dependency of the analysis.
static LogicalResult checkForeign(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (name == "gpu.barrier" && op->getParentOfType<RoleOp>())
    return op->emitOpError()
           << "waits for all warps of the CTA, but only those of its role come "
              "here (K1); hand over through a ring";
  if (name == "gpu.dynamic_shared_memory")
    return op->emitOpError() << "is memory that the layout of the kernel's "
                                "rings does not know of "
                                "(K1); add a tile to a pipeline";
  return success();
}

/// (K2) A handle of an output pipeline is made on every path: the other side
/// waits for it.
static LogicalResult checkCreate(Operation *op) {
  if (!isa<CreateMmaWarpOp, CreateEpilogueWarpOp>(op))
    return success();
  Operation *parent = op->getParentOp();
  if (isa<RoleOp>(parent) ||
      parent->getName().getStringRef() == "scf.execute_region")
    return success();
  InFlightDiagnostic diagnostic =
      op->emitOpError() << "must stand in the body of its role (K2): the other "
                           "side of the output pipeline waits for it";
  diagnostic.attachNote(parent->getLoc()) << "here it may not run";
  return diagnostic;
}

/// (K3) MMAs read what was filled and write what is theirs; promotion reads
/// what is complete.
static LogicalResult checkViews(Operation *op) {
  auto check = [&](Value view, auto isRight, StringRef what,
                   StringRef stage) -> LogicalResult {
    Operation *lender = view.getDefiningOp();
    if (isa_and_nonnull<TileOp, AccumulatorOp>(lender) &&
        isRight(lender->getOperand(0).getType()))
      return success();
    InFlightDiagnostic diagnostic =
        op->emitOpError() << what << " must be lent by " << stage << " (K3)";
    if (lender)
      diagnostic.attachNote(lender->getLoc()) << "this one is not";
    return diagnostic;
  };
  auto isConsumer = [](Type type) { return isa<ConsumerStageType>(type); };
  auto isMma = [](Type type) { return isa<MmaStageType>(type); };
  auto isEpilogue = [](Type type) { return isa<EpilogueStageType>(type); };
  if (auto mma = dyn_cast<MmaOp>(op))
    return failure(
        failed(check(mma.getAccumulator(), isMma, "the accumulator",
                     "an mma stage")) ||
        failed(check(mma.getA(), isConsumer, "A", "a consumer stage")) ||
        failed(check(mma.getB(), isConsumer, "B", "a consumer stage")));
  if (auto promote = dyn_cast<PromoteOp>(op))
    return failure(failed(check(promote.getPartial(), isEpilogue,
                                "the accumulator", "an epilogue stage")) ||
                   failed(check(promote.getAScale(), isConsumer, "the A scales",
                                "a consumer stage")));
  return success();
}

LogicalResult KernelPlan::checkRules(FunctionOpInterface kernel) {
  WalkResult result = kernel->walk([](Operation *op) {
    return failed(checkForeign(op)) || failed(checkCreate(op)) ||
                   failed(checkViews(op))
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// (K4) If one end of a ring takes slots, all do: the others would keep it
/// waiting.
static LogicalResult checkBothSides(Operation *ring, const HandleFlow &flow) {
  Operation *taker = nullptr;
  Value idle;
  for (Value end : ring->getResults()) {
    ArrayRef<Operation *> acquires = flow.getAcquires(flow.getEnd(end));
    if (acquires.empty())
      idle = end;
    else if (!taker)
      taker = acquires.front();
  }
  if (!taker || !idle)
    return success();
  InFlightDiagnostic diagnostic =
      taker->emitOpError()
      << "takes slots of a ring of which another end takes "
         "none (K4); it would wait for ever";
  diagnostic.attachNote((*idle.user_begin())->getLoc())
      << "this role closes its end unused";
  return diagnostic;
}

LogicalResult KernelPlan::checkStages() const {
  for (auto &[op, ring] : rings)
    if (failed(checkBothSides(op, *flow)))
      return failure();
  for (const auto &[number, use] : flow->getStageUses()) {
    // (K5) An MMA that does not accumulate discards what the one before it did.
    llvm::SmallDenseMap<Block *, Operation *> first;
    for (MmaOp mma : use.mmas) {
      if (flow->getStage(mma.getAccumulator().getDefiningOp()->getOperand(0)) !=
          number)
        continue; // it reads the stage
      auto [it, inserted] = first.insert({mma->getBlock(), mma});
      if (inserted || it->second == mma || mma.getAccumulate())
        continue;
      InFlightDiagnostic diagnostic =
          mma.emitOpError()
          << "overwrites what an MMA has computed in the same "
             "accumulator (K5); add 'accumulate'";
      diagnostic.attachNote(it->second->getLoc()) << "computed here";
      return diagnostic;
    }
  }
  return success();
}
