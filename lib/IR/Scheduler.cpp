// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The scheduler family: the loop over a CTA's output tiles.

#include "BindingRegion.h"

using namespace mlir;
using namespace mlir::fp8;

ParseResult ForEachTileOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  Type index = builder.getIndexType();
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<SchedulerKind> kind = symbolizeSchedulerKind(keyword);
  if (!kind)
    return parser.emitError(loc)
           << "expected one_tile or persistent, but got " << keyword;
  result.addAttribute("scheduler",
                      SchedulerKindAttr::get(parser.getContext(), *kind));

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
  if (succeeded(parser.parseOptionalKeyword("iter_args"))) {
    if (parser.getCurrentLocation(&initsLoc) ||
        parser.parseAssignmentList(arguments, inits) ||
        parser.parseArrowTypeList(result.types))
      return failure();
    if (result.types.size() != inits.size())
      return parser.emitError(initsLoc)
             << "expected a type for each carried value";
    for (auto [argument, type] :
         llvm::zip(llvm::drop_begin(arguments, 2), result.types))
      argument.type = type;
  }
  if (parser.resolveOperands(bounds, {index, index}, boundsLoc,
                             result.operands) ||
      parser.resolveOperands(inits, result.types, initsLoc, result.operands) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*result.addRegion(), arguments))
    return failure();
  ensureYield(*result.regions.front(), result.location);
  return success();
}

void ForEachTileOp::print(OpAsmPrinter &printer) {
  Block &body = getBody().front();
  printer << ' ' << stringifySchedulerKind(getScheduler()) << " ("
          << body.getArgument(0) << ", " << body.getArgument(1) << ") in ("
          << getTilesM() << ", " << getTilesN() << ")";
  if (!getInits().empty()) {
    printer << " iter_args(";
    llvm::interleaveComma(
        llvm::zip(body.getArguments().drop_front(2), getInits()), printer,
        [&](auto carried) {
          printer << std::get<0>(carried) << " = " << std::get<1>(carried);
        });
    printer << ") -> (" << getResultTypes() << ')';
  }
  printBody(printer, *this, getBody(), {"scheduler"});
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
  return verifyResultTypes(*this, SmallVector<Type>(getInits().getTypes()),
                           "the carried values");
}

OperandRange ForEachTileOp::getEntrySuccessorOperands(RegionSuccessor) {
  return getInits();
}
void ForEachTileOp::getSuccessorRegions(
    RegionBranchPoint, SmallVectorImpl<RegionSuccessor> &successors) {
  // The body may run again, or not at all, from wherever one comes.
  successors.emplace_back(&getBody(), getBody().getArguments().drop_front(2));
  successors.emplace_back(*this, (*this)->getResults());
}
SmallVector<Region *> ForEachTileOp::getLoopRegions() { return {&getBody()}; }
std::optional<ResultRange> ForEachTileOp::getLoopResults() {
  return getResults();
}
Block::BlockArgListType ForEachTileOp::getRegionIterArgs() {
  return getBody().getArguments().drop_front(2);
}
std::optional<MutableArrayRef<OpOperand>>
ForEachTileOp::getYieldedValuesMutable() {
  return cast<YieldOp>(getBody().front().getTerminator()).getOperandsMutable();
}
