// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the scoped stage ops (produce, consume, per_k_stage,
// consume_explicit) share.

#include "StageScope.h"

using namespace mlir;
using namespace mlir::fp8;

Type mlir::fp8::getStageTypeOf(Type end) {
  EndTypeInterface endType = getEndOf(end);
  return endType ? endType.getStageType() : Type();
}

LogicalResult mlir::fp8::verifyIsUsable(Operation *op, Type end,
                                        StringRef what) {
  EndTypeInterface type = getEndOf(end);
  if (isa<ProducerType, ConsumerType>(type) &&
      isa<OutputPipelineType>(type.getRing()))
    return op->emitOpError() << "cannot " << what
                             << " the end of an output pipeline, since its "
                                "tensor memory is not allocated yet; make an "
                                "mma warp or epilogue warps of the end first";
  return success();
}

ParseResult mlir::fp8::parseStageScope(OpAsmParser &parser,
                                       OperationState &result) {
  if (parseBindingRegion(parser, result, getStageTypeOf, "the end of a ring"))
    return failure();
  ensureYield(*result.regions.front(), result.location);
  return success();
}

void mlir::fp8::printStageScope(OpAsmPrinter &printer, Operation *op,
                                ValueRange ends, Region &body) {
  printBindingRegion(printer, op, ends, body);
  printBody(printer, op, body);
}

LogicalResult mlir::fp8::verifyStageScope(Operation *op, ValueRange ends,
                                          Region &body) {
  if (ends.empty())
    return op->emitOpError()
           << "expected at least one end to acquire a stage of";
  if (failed(verifyBindingRegion(op, ends, body, getStageTypeOf,
                                 "the end of a ring")))
    return failure();
  SmallVector<Type> advanced;
  for (Type type : ends.getTypes()) {
    if (failed(verifyIsUsable(op, type, "acquire from")))
      return failure();
    advanced.push_back(getEndOf(type));
  }
  return verifyResultTypes(op, advanced, "the ends, advanced");
}

void mlir::fp8::getOnceRegionSuccessors(
    Operation *op, Region &body, RegionBranchPoint point,
    unsigned numLeadingResults, SmallVectorImpl<RegionSuccessor> &successors) {
  if (point.isParent())
    successors.emplace_back(&body);
  else
    successors.emplace_back(op, op->getResults().drop_front(std::min(
                                    numLeadingResults, op->getNumResults())));
}
