// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pipeline family: rings of shared-memory slots, their ends and stages.

#include "StageScope.h"

using namespace mlir;
using namespace mlir::fp8;

//===----------------------------------------------------------------------===//
// pipeline
//===----------------------------------------------------------------------===//

LogicalResult mlir::fp8::verifyRingEnds(Operation *op,
                                        function_ref<bool(Type)> isRing,
                                        StringRef what) {
  if (failed(verifyInEntryBlock(op, "P3")))
    return failure();
  bool sawConsumer = false;
  int64_t producers = 0, consumers = 0;
  Type ring;
  for (Type type : op->getResultTypes()) {
    if (!isa<ProducerType, ConsumerType>(type))
      return op->emitOpError()
             << "must make producer and consumer ends, but got " << type;
    auto end = cast<EndTypeInterface>(type);
    if (!isRing(end.getRing()))
      return op->emitOpError()
             << "makes the ends of " << what << ", but got " << end.getRing();
    if (ring && ring != end.getRing())
      return op->emitOpError()
             << "must make the ends of one ring (P2), but got " << ring
             << " and " << end.getRing();
    ring = end.getRing();
    if (end.isProducer() && sawConsumer)
      return op->emitOpError()
             << "must list its producer ends before its consumer ends";
    sawConsumer |= !end.isProducer();
    (end.isProducer() ? producers : consumers)++;
  }
  if (producers == 0 || consumers == 0)
    return op->emitOpError() << "must have at least one producer end and one "
                                "consumer end (P1), but got "
                             << producers << " and " << consumers;
  return success();
}

LogicalResult PipelineOp::verify() {
  return verifyRingEnds(
      *this, [](Type ring) { return isa<PipelineType>(ring); },
      "a !fp8.pipeline");
}

//===----------------------------------------------------------------------===//
// acquire, release
//===----------------------------------------------------------------------===//

LogicalResult AcquireOp::verify() {
  return verifyIsUsable(*this, getEnd().getType(), "acquire from");
}

LogicalResult AcquireOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> location,
                                          ValueRange operands, DictionaryAttr,
                                          OpaqueProperties, RegionRange,
                                          SmallVectorImpl<Type> &inferred) {
  Type stage =
      operands.size() == 1 ? getStageTypeOf(operands[0].getType()) : Type();
  if (!stage)
    return emitOptionalError(location,
                             "'fp8.acquire' op expected the end of a ring");
  inferred.push_back(stage);
  return success();
}

LogicalResult ReleaseOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> location,
                                          ValueRange operands, DictionaryAttr,
                                          OpaqueProperties, RegionRange,
                                          SmallVectorImpl<Type> &inferred) {
  auto stage = operands.size() == 1
                   ? dyn_cast<StageTypeInterface>(operands[0].getType())
                   : StageTypeInterface();
  if (!stage)
    return emitOptionalError(location,
                             "'fp8.release' op expected a stage of a ring");
  inferred.push_back(stage.getEndType());
  return success();
}

//===----------------------------------------------------------------------===//
// tile
//===----------------------------------------------------------------------===//

void TileOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), getName());
}

LogicalResult TileOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> location,
                                       ValueRange operands,
                                       DictionaryAttr attributes,
                                       OpaqueProperties properties, RegionRange,
                                       SmallVectorImpl<Type> &inferred) {
  auto stage = operands.size() == 1
                   ? dyn_cast<StageTypeInterface>(operands[0].getType())
                   : StageTypeInterface();
  auto ring = stage ? dyn_cast<PipelineType>(stage.getRing()) : PipelineType();
  if (!ring)
    return emitOptionalError(
        location, "'fp8.tile' op expected a stage of a !fp8.pipeline");
  StringAttr name =
      properties ? properties.as<TileOp::Properties *>()->getName()
                 : llvm::dyn_cast_or_null<StringAttr>(attributes.get("name"));
  TileType tile = name ? ring.getTile(name.getValue()) : TileType();
  if (!tile)
    return emitOptionalError(location, "'fp8.tile' op: the pipeline ", ring,
                             " has no tile ", name);
  inferred.push_back(tile);
  return success();
}

//===----------------------------------------------------------------------===//
// produce, consume
//===----------------------------------------------------------------------===//

ParseResult ProduceOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseStageScope(parser, result);
}
void ProduceOp::print(OpAsmPrinter &printer) {
  printStageScope(printer, *this, getInits(), getBody());
}
LogicalResult ProduceOp::verify() {
  if (getInits().size() != 1 || !isa_and_nonnull<ProducerType, MmaWarpType>(
                                    getEndOf(getInits()[0].getType())))
    return emitOpError() << "expected one producer end or mma warp";
  return verifyStageScope(*this, getInits(), getBody());
}
OperandRange ProduceOp::getEntrySuccessorOperands(RegionSuccessor) {
  return getInits().take_front(0);
}
void ProduceOp::getSuccessorRegions(
    RegionBranchPoint point, SmallVectorImpl<RegionSuccessor> &successors) {
  getOnceRegionSuccessors(*this, getBody(), point, getInits().size(),
                          successors);
}

ParseResult ConsumeOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseStageScope(parser, result);
}
void ConsumeOp::print(OpAsmPrinter &printer) {
  printStageScope(printer, *this, getInits(), getBody());
}
LogicalResult ConsumeOp::verify() {
  if (getInits().size() != 1 ||
      !isa_and_nonnull<ConsumerType, EpilogueWarpType>(
          getEndOf(getInits()[0].getType())))
    return emitOpError() << "expected one consumer end or epilogue warps";
  return verifyStageScope(*this, getInits(), getBody());
}
OperandRange ConsumeOp::getEntrySuccessorOperands(RegionSuccessor) {
  return getInits().take_front(0);
}
void ConsumeOp::getSuccessorRegions(
    RegionBranchPoint point, SmallVectorImpl<RegionSuccessor> &successors) {
  getOnceRegionSuccessors(*this, getBody(), point, getInits().size(),
                          successors);
}
