// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The scheduler family: the loop over a CTA's output tiles, and the work queue
// of cluster launch control.

#include "BindingRegion.h"

using namespace mlir;
using namespace mlir::fp8;

ParseResult ForEachTileOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  Type index = builder.getIndexType();
  FailureOr<SchedulerKind> kind = parseScheduler(parser);
  if (failed(kind))
    return failure();
  result.addAttribute("scheduler",
                      SchedulerKindAttr::get(parser.getContext(), *kind));
  IntegerAttr band;
  if (succeeded(parser.parseOptionalKeyword("band")) &&
      (parser.parseLParen() ||
       parser.parseAttribute(band, builder.getI64Type(), "band",
                             result.attributes)))
    return failure();
  if (band) {
    if (succeeded(parser.parseOptionalKeyword("columns")))
      result.addAttribute("band_of_columns", builder.getUnitAttr());
    if (parser.parseRParen())
      return failure();
  }

  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> bounds, inits;
  SMLoc boundsLoc, initsLoc;
  if (parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren) ||
      parser.parseKeyword("in") || parser.getCurrentLocation(&boundsLoc) ||
      parser.parseOperandList(bounds, 2, OpAsmParser::Delimiter::Paren))
    return failure();
  if (arguments.size() != 2)
    return parser.emitError(
        boundsLoc, "expected two loop variables, the tile's row and column");
  arguments[0].type = arguments[1].type = index;
  SmallVector<OpAsmParser::UnresolvedOperand> work;
  Type workType;
  if (succeeded(parser.parseOptionalKeyword("from")) &&
      (parser.parseLParen() || parser.parseOperand(work.emplace_back()) ||
       parser.parseColonType(workType) || parser.parseRParen()))
    return failure();
  SmallVector<Type> types;
  if (succeeded(parser.parseOptionalKeyword("iter_args"))) {
    if (parser.getCurrentLocation(&initsLoc) ||
        parser.parseAssignmentList(arguments, inits) ||
        parser.parseArrowTypeList(types))
      return failure();
    if (types.size() != inits.size())
      return parser.emitError(initsLoc)
             << "expected a type for each carried value";
    for (auto [argument, type] :
         llvm::zip(llvm::drop_begin(arguments, 2), types))
      argument.type = type;
  }
  if (parser.resolveOperands(bounds, {index, index}, boundsLoc,
                             result.operands) ||
      (workType &&
       parser.resolveOperand(work.front(), workType, result.operands)) ||
      parser.resolveOperands(inits, types, initsLoc, result.operands) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*result.addRegion(), arguments))
    return failure();
  ensureYield(*result.regions.front(), result.location);
  if (workType)
    result.addTypes(workType);
  result.addTypes(types);
  result.addAttribute(
      "operandSegmentSizes",
      builder.getDenseI32ArrayAttr({1, 1, static_cast<int32_t>(work.size()),
                                    static_cast<int32_t>(inits.size())}));
  return success();
}

void ForEachTileOp::print(OpAsmPrinter &printer) {
  Block &body = getBody().front();
  printer << ' ' << config::stringify(getScheduler());
  if (std::optional<int64_t> band = getBand())
    printer << " band(" << *band << (getBandOfColumns() ? " columns)" : ")");
  printer << " (" << body.getArgument(0) << ", " << body.getArgument(1)
          << ") in (" << getTilesM() << ", " << getTilesN() << ")";
  if (Value work = getWork())
    printer << " from(" << work << " : " << work.getType() << ')';
  if (!getInits().empty()) {
    printer << " iter_args(";
    llvm::interleaveComma(
        llvm::zip(body.getArguments().drop_front(2), getInits()), printer,
        [&](auto carried) {
          printer << std::get<0>(carried) << " = " << std::get<1>(carried);
        });
    printer << ") -> (" << getCarriedResults().getTypes() << ')';
  }
  printBody(printer, *this, getBody(),
            {"scheduler", "band", "band_of_columns", "operandSegmentSizes"});
}

void ForEachTileOp::getAsmBlockArgumentNames(Region &region,
                                             OpAsmSetValueNameFn setName) {
  static constexpr StringLiteral place[] = {"row", "column"};
  Block::BlockArgListType arguments = region.getArguments();
  for (auto [argument, name] : llvm::zip(arguments, place))
    setName(argument, name);
  // Types name no argument of an op that names one itself.
  for (BlockArgument carried :
       arguments.drop_front(std::min<size_t>(arguments.size(), 2)))
    if (auto type = dyn_cast<OpAsmTypeInterface>(carried.getType()))
      type.getAsmName([&](StringRef name) { setName(carried, name); });
}

LogicalResult ForEachTileOp::verify() {
  Block &body = getBody().front();
  if (body.getNumArguments() != getInits().size() + 2)
    return emitOpError() << "expected two loop variables and "
                         << getInits().size() << " carried values, but got "
                         << body.getNumArguments() << " region arguments";
  if (!body.getArgument(0).getType().isIndex() ||
      !body.getArgument(1).getType().isIndex())
    return emitOpError() << "expected loop variables of type index";
  constexpr uint64_t kMostBand = 256; // more than the SMs of a GPU
  if (getBand() && *getBand() > kMostBand)
    return emitOpError() << "a band has at most " << kMostBand
                         << " rows of tiles, or columns (W5), but got "
                         << *getBand() << "; leave it out where one has all";
  bool isDynamic = getScheduler() == SchedulerKind::ClusterLaunchControl;
  if (isDynamic != bool(getWork()) ||
      (isDynamic && !isa<WorkQueueType>(getWork().getType().getRing())))
    return emitOpError()
           << (isDynamic ? "takes its tiles from a work queue (W1); add "
                           "'from' with a consumer end of one"
                         : "reads no work queue (W1); remove 'from'");
  SmallVector<Type> expected;
  if (getWork())
    expected.push_back(getWork().getType());
  llvm::append_range(expected, getInits().getTypes());
  return verifyResultTypes(*this, expected,
                           "the work queue's end and the carried values");
}

OperandRange ForEachTileOp::getEntrySuccessorOperands(RegionSuccessor) {
  return getInits();
}
void ForEachTileOp::getSuccessorRegions(
    RegionBranchPoint, SmallVectorImpl<RegionSuccessor> &successors) {
  // The body may run again, or not at all, from wherever one comes.
  successors.emplace_back(&getBody(), getBody().getArguments().drop_front(2));
  successors.emplace_back(*this, getCarriedResults());
}
SmallVector<Region *> ForEachTileOp::getLoopRegions() { return {&getBody()}; }
std::optional<ResultRange> ForEachTileOp::getLoopResults() {
  return getCarriedResults();
}
Block::BlockArgListType ForEachTileOp::getRegionIterArgs() {
  return getBody().getArguments().drop_front(2);
}
std::optional<MutableArrayRef<OpOperand>>
ForEachTileOp::getYieldedValuesMutable() {
  return cast<YieldOp>(getBody().front().getTerminator()).getOperandsMutable();
}

//===----------------------------------------------------------------------===//
// Cluster launch control
//===----------------------------------------------------------------------===//

LogicalResult WorkQueueOp::verify() {
  if (failed(verifyRingEnds(
          *this, [](Type ring) { return isa<WorkQueueType>(ring); },
          "a !fp8.work_queue")))
    return failure();
  int64_t producers = llvm::count_if(getEnds().getTypes(), [](Type type) {
    return cast<EndTypeInterface>(type).isProducer();
  });
  if (producers != 1)
    return emitOpError()
           << "must have one producer end, for the scheduler, but got "
           << producers;
  return success();
}

/// Checks that a stage is one of a work queue.
static LogicalResult verifyWorkStage(Operation *op, Type ring) {
  if (isa<WorkQueueType>(ring))
    return success();
  return op->emitOpError() << "expected a stage of a !fp8.work_queue, but got "
                              "one of "
                           << ring;
}

LogicalResult RequestWorkOp::verify() {
  return verifyWorkStage(*this, getStage().getType().getRing());
}
LogicalResult NextWorkOp::verify() {
  return verifyWorkStage(*this, getStage().getType().getRing());
}
