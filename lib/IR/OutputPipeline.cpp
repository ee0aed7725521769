// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The output-pipeline family: the ring of accumulators between the MMA warp and
// the epilogue warps.

#include "StageScope.h"

using namespace mlir;
using namespace mlir::fp8;

ParseResult OutputPipelineOp::parse(OpAsmParser &parser,
                                    OperationState &result) {
  OutputPipelineType ring;
  if (parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColonType(ring))
    return failure();
  result.addTypes({ProducerType::get(parser.getContext(), ring),
                   ConsumerType::get(parser.getContext(), ring)});
  return success();
}

void OutputPipelineOp::print(OpAsmPrinter &printer) {
  printer.printOptionalAttrDict((*this)->getAttrs());
  printer << " : " << getProducer().getType().getRing();
}

LogicalResult OutputPipelineOp::verify() {
  if (failed(verifyInEntryBlock(*this, "P3")))
    return failure();
  Type ring = getProducer().getType().getRing();
  if (!isa<OutputPipelineType>(ring))
    return emitOpError()
           << "makes the ends of an !fp8.output_pipeline, but got " << ring;
  if (getConsumer().getType().getRing() != ring)
    return emitOpError() << "must make the ends of one ring, but got " << ring
                         << " and " << getConsumer().getType().getRing();
  return success();
}

LogicalResult AccumulatorOp::inferReturnTypes(MLIRContext *,
                                              std::optional<Location> location,
                                              ValueRange operands,
                                              DictionaryAttr, OpaqueProperties,
                                              RegionRange,
                                              SmallVectorImpl<Type> &inferred) {
  auto stage = operands.size() == 1
                   ? dyn_cast<StageTypeInterface>(operands[0].getType())
                   : StageTypeInterface();
  auto ring = stage ? dyn_cast<OutputPipelineType>(stage.getRing())
                    : OutputPipelineType();
  if (!ring)
    return emitOptionalError(
        location,
        "'fp8.accumulator' op expected a stage of an !fp8.output_pipeline");
  inferred.push_back(ring.getAccumulator());
  return success();
}

ParseResult PerKStageOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseStageScope(parser, result);
}
void PerKStageOp::print(OpAsmPrinter &printer) {
  printStageScope(printer, *this, getInits(), getBody());
}
LogicalResult PerKStageOp::verify() {
  if (getInits().empty() || !isa_and_nonnull<MmaWarpType, EpilogueWarpType>(
                                getEndOf(getInits()[0].getType())))
    return emitOpError() << "expected an mma warp or an epilogue warp first";
  for (Value end : getInits().drop_front())
    if (!isa_and_nonnull<ConsumerType>(getEndOf(end.getType())))
      return emitOpError() << "expected consumer ends after the warp, but got "
                           << end.getType();
  return verifyStageScope(*this, getInits(), getBody());
}
OperandRange PerKStageOp::getEntrySuccessorOperands(RegionSuccessor) {
  return getInits().take_front(0);
}
void PerKStageOp::getSuccessorRegions(
    RegionBranchPoint point, SmallVectorImpl<RegionSuccessor> &successors) {
  getOnceRegionSuccessors(*this, getBody(), point, getInits().size(),
                          successors);
}
