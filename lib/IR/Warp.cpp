// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The warp family: role regions, and the MMA-warp and epilogue-warp handles.

#include "StageScope.h"

using namespace mlir;
using namespace mlir::fp8;

//===----------------------------------------------------------------------===//
// yield
//===----------------------------------------------------------------------===//

MutableOperandRange YieldOp::getMutableSuccessorOperands(RegionSuccessor) {
  MutableOperandRange operands = getOperandsMutable();
  Operation *parent = (*this)->getParentOp();
  unsigned consumed = 0;
  if (isa_and_nonnull<RoleOp>(parent))
    consumed = operands.size();
  else if (isa_and_nonnull<MmaWarpOp, EpilogueWarpOp>(parent))
    consumed = std::min<unsigned>(1, operands.size());
  else if (auto scope = dyn_cast_if_present<ConsumeExplicitOp>(parent))
    consumed = std::min<unsigned>(scope.getInits().size(), operands.size());
  return operands.slice(consumed, operands.size() - consumed);
}

//===----------------------------------------------------------------------===//
// role
//===----------------------------------------------------------------------===//

static Type getSameType(Type type) { return type; }

ParseResult RoleOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  IntegerAttr warps;
  Builder &builder = parser.getBuilder();
  if (parser.parseAttribute(name, "name", result.attributes) ||
      parser.parseKeyword("warps") || parser.parseLParen() ||
      parser.parseAttribute(warps, builder.getI64Type(), "warps",
                            result.attributes) ||
      parser.parseRParen() ||
      parseBindingRegion(parser, result, getSameType, "a value"))
    return failure();
  ensureYield(*result.regions.front(), result.location);
  return success();
}

void RoleOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getNameAttr() << " warps(" << getWarps() << ") ";
  printBindingRegion(printer, *this, getInits(), getBody());
  printBody(printer, *this, getBody(), {"name", "warps"});
}

RoleThreadOp RoleOp::getThread() {
  auto threads = getBody().front().getOps<RoleThreadOp>();
  return threads.empty() ? RoleThreadOp() : *threads.begin();
}

LogicalResult RoleOp::verify() {
  if (failed(verifyBindingRegion(*this, getInits(), getBody(), getSameType,
                                 "a value")))
    return failure();
  if (failed(verifyInEntryBlock(*this, "R1")))
    return failure();
  for (Block &block : getBody())
    if (block.mightHaveTerminator() && isa<YieldOp>(block.back()))
      for (Value end : block.back().getOperands())
        if (!isa<ProducerType, ConsumerType, StoreQueueType, ExchangeType>(
                end.getType()))
          return emitOpError()
                 << "may yield only values that fp8.close can close, but got "
                 << end.getType();
  return success();
}

StringRef YieldOp::getLoweringPass() {
  bool closesEnds = isa<RoleOp>((*this)->getParentOp()) && getNumOperands();
  return closesEnds ? "--fp8-flatten-scopes" : "";
}

OperandRange RoleOp::getEntrySuccessorOperands(RegionSuccessor) {
  return getInits();
}
void RoleOp::getSuccessorRegions(RegionBranchPoint point,
                                 SmallVectorImpl<RegionSuccessor> &successors) {
  if (point.isParent())
    successors.emplace_back(&getBody(), getBody().getArguments());
  else
    successors.emplace_back(*this, (*this)->getResults());
}

//===----------------------------------------------------------------------===//
// Handles
//===----------------------------------------------------------------------===//

/// Checks that a handle is made of an end of the same output pipeline.
static LogicalResult verifySameRing(Operation *op, Type ring,
                                    OutputPipelineType warpRing) {
  if (ring != warpRing)
    return op->emitOpError()
           << "expected an end of " << warpRing << ", but got one of " << ring;
  return success();
}

LogicalResult CreateMmaWarpOp::verify() {
  return verifySameRing(*this, getEnd().getType().getRing(),
                        getWarp().getType().getRing());
}
LogicalResult WaitTmemOp::verify() {
  return verifySameRing(*this, getEnd().getType().getRing(),
                        getReady().getType().getRing());
}
LogicalResult CreateEpilogueWarpOp::verify() {
  if (failed(verifySameRing(*this, getReady().getType().getRing(),
                            getWarp().getType().getRing())))
    return failure();
  return verifySameRing(*this, getEnd().getType().getRing(),
                        getWarp().getType().getRing());
}

//===----------------------------------------------------------------------===//
// mma_warp, epilogue_warp
//===----------------------------------------------------------------------===//

/// The output pipeline whose end of kind `EndT` has that type; null if it is
/// another type.
template <typename EndT>
static OutputPipelineType getOutputRing(Type type) {
  auto end = dyn_cast<EndT>(type);
  return end ? dyn_cast<OutputPipelineType>(end.getRing())
             : OutputPipelineType();
}

static Type getMmaWarpTypeOf(Type end) {
  OutputPipelineType ring = getOutputRing<ProducerType>(end);
  return ring ? MmaWarpType::get(ring.getContext(), ring) : Type();
}
static Type getEpilogueWarpTypeOf(Type end) {
  OutputPipelineType ring = getOutputRing<ConsumerType>(end);
  return ring ? EpilogueWarpType::get(ring.getContext(), ring) : Type();
}

static LogicalResult verifyWarpScope(Operation *op, ValueRange ends,
                                     Region &body, BindingTypeFn argumentType,
                                     StringRef expected) {
  if (ends.size() != 1)
    return op->emitOpError() << "expected " << expected;
  if (failed(verifyBindingRegion(op, ends, body, argumentType, expected)))
    return failure();
  auto yield = dyn_cast<YieldOp>(body.front().back());
  if (!yield || yield.getNumOperands() == 0 ||
      yield.getOperand(0).getType() != argumentType(ends[0].getType()))
    return op->emitOpError() << "must yield its warp handle first, so that the "
                                "scope can release it";
  return success();
}

ParseResult MmaWarpOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseBindingRegion(parser, result, getMmaWarpTypeOf,
                            "the producer end of an output pipeline");
}
void MmaWarpOp::print(OpAsmPrinter &printer) {
  printBindingRegion(printer, *this, getInits(), getBody());
  printBody(printer, *this, getBody());
}
LogicalResult MmaWarpOp::verify() {
  return verifyWarpScope(*this, getInits(), getBody(), getMmaWarpTypeOf,
                         "the producer end of an output pipeline");
}
OperandRange MmaWarpOp::getEntrySuccessorOperands(RegionSuccessor) {
  return getInits().take_front(0);
}
void MmaWarpOp::getSuccessorRegions(
    RegionBranchPoint point, SmallVectorImpl<RegionSuccessor> &successors) {
  getOnceRegionSuccessors(*this, getBody(), point, 0, successors);
}

ParseResult EpilogueWarpOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseBindingRegion(parser, result, getEpilogueWarpTypeOf,
                            "the consumer end of an output pipeline");
}
void EpilogueWarpOp::print(OpAsmPrinter &printer) {
  printBindingRegion(printer, *this, getInits(), getBody());
  printBody(printer, *this, getBody());
}
LogicalResult EpilogueWarpOp::verify() {
  return verifyWarpScope(*this, getInits(), getBody(), getEpilogueWarpTypeOf,
                         "the consumer end of an output pipeline");
}
OperandRange EpilogueWarpOp::getEntrySuccessorOperands(RegionSuccessor) {
  return getInits().take_front(0);
}
void EpilogueWarpOp::getSuccessorRegions(
    RegionBranchPoint point, SmallVectorImpl<RegionSuccessor> &successors) {
  getOnceRegionSuccessors(*this, getBody(), point, 0, successors);
}
