// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cluster family: the shape of a kernel's clusters, and what one CTA does
// for the others.

#include "BindingRegion.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::fp8;

ClusterShape mlir::fp8::getClusterShape(Operation *op) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    function = op->getParentOfType<FunctionOpInterface>();
  auto attribute = function ? function->getAttrOfType<DenseI64ArrayAttr>(
                                  Fp8Dialect::kClusterAttrName)
                            : DenseI64ArrayAttr();
  if (!attribute || attribute.size() < 2)
    return {};
  return {attribute[0], attribute[1], attribute.size() > 2 ? attribute[2] : 1};
}

//===----------------------------------------------------------------------===//
// leading_cta
//===----------------------------------------------------------------------===//

static Type getSameType(Type type) { return type; }

ParseResult LeadingCtaOp::parse(OpAsmParser &parser, OperationState &result) {
  StringRef keyword;
  SMLoc loc;
  if (parser.parseKeyword("of") || parser.getCurrentLocation(&loc) ||
      parser.parseKeyword(&keyword))
    return failure();
  std::optional<CtaGrouping> grouping = symbolizeCtaGrouping(keyword);
  if (!grouping)
    return parser.emitError(loc)
           << "expected pair or cluster, but got " << keyword;
  result.addAttribute("grouping",
                      CtaGroupingAttr::get(parser.getContext(), *grouping));
  if (parseBindingRegion(parser, result, getSameType, "a value"))
    return failure();
  ensureYield(*result.regions.front(), result.location);
  return success();
}

void LeadingCtaOp::print(OpAsmPrinter &printer) {
  printer << " of " << stringifyCtaGrouping(getGrouping());
  if (!getInits().empty())
    printer << ' ';
  printBindingRegion(printer, *this, getInits(), getBody());
  printBody(printer, *this, getBody(), {"grouping"});
}

LogicalResult LeadingCtaOp::verify() {
  if (failed(verifyBindingRegion(*this, getInits(), getBody(), getSameType,
                                 "a value")))
    return failure();
  SmallVector<Type> types(getInits().getTypes());
  if (getNumResults() != types.size())
    return emitOpError() << "must have a result for each of its "
                         << types.size() << " values, but has "
                         << getNumResults() << " results";
  if (failed(verifyResultTypes(*this, types, "what it takes")))
    return failure();
  for (Block &block : getBody()) {
    if (!block.hasNoSuccessors())
      continue;
    auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
    if (!yield || !llvm::equal(yield.getOperandTypes(), types))
      return emitOpError() << "must yield values of the types of its operands";
  }
  if (getGrouping() == CtaGrouping::Pair && getClusterShape(*this).m % 2)
    return emitOpError() << "needs clusters with an even number of CTAs along "
                            "M, since a CTA pair takes two; set '"
                         << Fp8Dialect::kClusterAttrName << "' on the kernel";
  return success();
}

OperandRange LeadingCtaOp::getEntrySuccessorOperands(RegionSuccessor) {
  return getInits();
}
void LeadingCtaOp::getSuccessorRegions(
    RegionBranchPoint point, SmallVectorImpl<RegionSuccessor> &successors) {
  // In the other CTAs the operands pass through.
  if (point.isParent())
    successors.emplace_back(&getBody(), getBody().getArguments());
  successors.emplace_back(*this, (*this)->getResults());
}
