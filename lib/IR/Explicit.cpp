// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The explicit family: the halves of acquire and release, and the types of the
// states between them.

#include "OpRules.h"
#include "StageScope.h"

#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace mlir::fp8;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

EndTypeInterface mlir::fp8::getEndOf(Type type) {
  if (auto ready = dyn_cast<ReadyType>(type))
    type = ready.getEnd();
  return dyn_cast<EndTypeInterface>(type);
}

/// Parses `<handle>`; what is wrong with the handle is its own parser's to say.
template <typename StateT>
static Type parseState(AsmParser &parser) {
  Type handle;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseType(handle) || parser.parseGreater())
    return {};
  return StateT::getChecked([&] { return parser.emitError(loc); },
                            parser.getContext(), handle);
}

Type ReadyType::parse(AsmParser &parser) {
  return parseState<ReadyType>(parser);
}
void ReadyType::print(AsmPrinter &printer) const {
  printer << '<' << getEnd() << '>';
}
LogicalResult ReadyType::verify(function_ref<InFlightDiagnostic()> emitError,
                                Type end) {
  if (!isa<EndTypeInterface>(end))
    return emitError() << "only an end of a ring can be ready, but got " << end;
  return success();
}

Type SignalledType::parse(AsmParser &parser) {
  return parseState<SignalledType>(parser);
}
void SignalledType::print(AsmPrinter &printer) const {
  printer << '<' << getStage() << '>';
}
LogicalResult
SignalledType::verify(function_ref<InFlightDiagnostic()> emitError,
                      Type stage) {
  if (!isa<StageTypeInterface>(stage))
    return emitError() << "only a stage of a ring can be signalled, but got "
                       << stage;
  return success();
}

//===----------------------------------------------------------------------===//
// try_wait, wait
//===----------------------------------------------------------------------===//

LogicalResult TryWaitOp::verify() {
  return verifyIsUsable(*this, getEnd().getType(), "wait for");
}

LogicalResult WaitOp::verify() {
  if (failed(verifyIsUsable(*this, getEnd().getType(), "wait for")))
    return failure();
  if (!getDone())
    return success();
  auto test = getDone().getDefiningOp<TryWaitOp>();
  if (test && test.getEnd() == getEnd())
    return success();
  InFlightDiagnostic diagnostic =
      emitOpError() << "may be left out only where an fp8.try_wait on the same "
                       "end returned true (X1)";
  if (test)
    diagnostic.attachNote(test.getLoc())
        << "this fp8.try_wait tests another end";
  else
    diagnostic.attachNote(getDone().getLoc())
        << "this is not the result of an fp8.try_wait";
  return diagnostic;
}

/// An answer that is known is not needed. Where it is true, the wait returns at
/// once, and a constant would be no evidence (X1).
OpFoldResult WaitOp::fold(FoldAdaptor adaptor) {
  if (!adaptor.getDone())
    return {};
  getDoneMutable().clear();
  return getReady();
}

LogicalResult WaitOp::inferReturnTypes(MLIRContext *context,
                                       std::optional<Location> location,
                                       ValueRange operands, DictionaryAttr,
                                       OpaqueProperties, RegionRange,
                                       SmallVectorImpl<Type> &inferred) {
  if (operands.empty() || !isa<EndTypeInterface>(operands[0].getType()))
    return emitOptionalError(location,
                             "'fp8.wait' op expected the end of a ring");
  inferred.push_back(ReadyType::get(context, operands[0].getType()));
  return success();
}

//===----------------------------------------------------------------------===//
// arrive, step
//===----------------------------------------------------------------------===//

LogicalResult ArriveOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> location,
                                         ValueRange operands, DictionaryAttr,
                                         OpaqueProperties, RegionRange,
                                         SmallVectorImpl<Type> &inferred) {
  if (operands.size() != 1 || !isa<StageTypeInterface>(operands[0].getType()))
    return emitOptionalError(location,
                             "'fp8.arrive' op expected a stage of a ring");
  inferred.push_back(SignalledType::get(context, operands[0].getType()));
  return success();
}

LogicalResult StepOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> location,
                                       ValueRange operands, DictionaryAttr,
                                       OpaqueProperties, RegionRange,
                                       SmallVectorImpl<Type> &inferred) {
  auto signalled = operands.size() == 1
                       ? dyn_cast<SignalledType>(operands[0].getType())
                       : SignalledType();
  if (!signalled)
    return emitOptionalError(
        location, "'fp8.step' op expected a stage that fp8.arrive signalled");
  inferred.push_back(
      cast<StageTypeInterface>(signalled.getStage()).getEndType());
  return success();
}

//===----------------------------------------------------------------------===//
// tma_copy
//===----------------------------------------------------------------------===//

Value TmaCopyOp::getFilledStage() {
  auto tile = getTile().getDefiningOp<TileOp>();
  return tile ? tile.getStage() : Value();
}

LogicalResult TmaCopyOp::verify() {
  if (failed(verifyCoordinates(*this, getCoordinates(), getMap().getType())))
    return failure();
  if (getTile().getType() != getMap().getType().getTile())
    return emitOpError() << "the map's box " << getMap().getType().getTile()
                         << " must be the tile " << getTile().getType()
                         << " (M1)";
  // The live name of a stage is one value, so views of one stage have it in
  // common.
  Value stage = getFilledStage();
  auto barrier = getMbarrier().getDefiningOp<MbarrierOp>();
  if (stage && isa<ProducerStageType>(stage.getType()) && barrier &&
      barrier.getStage() == stage)
    return success();
  InFlightDiagnostic diagnostic =
      emitOpError() << "the tile and the barrier must be lent by one producer "
                       "stage, with fp8.tile and fp8.mbarrier (X2)";
  diagnostic.attachNote(getTile().getLoc()) << "the tile";
  diagnostic.attachNote(getMbarrier().getLoc()) << "the barrier";
  return diagnostic;
}

//===----------------------------------------------------------------------===//
// consume_explicit
//===----------------------------------------------------------------------===//

ParseResult ConsumeExplicitOp::parse(OpAsmParser &parser,
                                     OperationState &result) {
  return parseBindingRegion(parser, result, getStageTypeOf,
                            "the end of a ring");
}
void ConsumeExplicitOp::print(OpAsmPrinter &printer) {
  printStageScope(printer, *this, getInits(), getBody());
}

/// The body yields what it signalled, a stage for each end.
static LogicalResult verifySignalledYield(ConsumeExplicitOp op) {
  auto yield = dyn_cast<YieldOp>(op.getBody().front().back());
  for (auto [index, stage] : llvm::enumerate(op.getBody().getArguments())) {
    Type expected = SignalledType::get(op.getContext(), stage.getType());
    Type actual = yield && index < yield.getNumOperands()
                      ? yield.getOperand(index).getType()
                      : Type();
    if (actual == expected)
      continue;
    InFlightDiagnostic diagnostic =
        op.emitOpError() << "must yield first, for each end, the stage that "
                            "its body signalled: operand "
                         << index << " must be " << expected << ", but ";
    if (actual)
      diagnostic << "got " << actual;
    else
      diagnostic << "there is none";
    diagnostic << "; signal it with fp8.arrive";
    return diagnostic;
  }
  return success();
}

LogicalResult ConsumeExplicitOp::verify() {
  for (Value end : getInits())
    if (EndTypeInterface type = getEndOf(end.getType());
        !type || type.isProducer())
      return emitOpError() << "expected ends that empty slots (X3), but got "
                           << end.getType();
  if (failed(verifyStageScope(*this, getInits(), getBody())))
    return failure();
  return verifySignalledYield(*this);
}
OperandRange ConsumeExplicitOp::getEntrySuccessorOperands(RegionSuccessor) {
  return getInits().take_front(0);
}
void ConsumeExplicitOp::getSuccessorRegions(
    RegionBranchPoint point, SmallVectorImpl<RegionSuccessor> &successors) {
  getOnceRegionSuccessors(*this, getBody(), point, getInits().size(),
                          successors);
}
