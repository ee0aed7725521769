// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The syntax `(%arg = %operand, ...) : types -> types { ... }` of ops whose
// region arguments are bound to operands.

#include "BindingRegion.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::fp8;

ParseResult mlir::fp8::parseBindingRegion(OpAsmParser &parser,
                                          OperationState &result,
                                          BindingTypeFn argumentType,
                                          StringRef expected) {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  auto parseBinding = [&]() -> ParseResult {
    return failure(parser.parseArgument(arguments.emplace_back()) ||
                   parser.parseEqual() ||
                   parser.parseOperand(operands.emplace_back()));
  };
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::OptionalParen,
                                     parseBinding))
    return failure();
  SmallVector<Type> types;
  if (!operands.empty() && parser.parseColonTypeList(types))
    return failure();
  if (types.size() != operands.size())
    return parser.emitError(loc)
           << "expected a type for each of the " << operands.size()
           << " bindings, but got " << types.size();
  for (auto [argument, type] : llvm::zip(arguments, types)) {
    argument.type = argumentType(type);
    if (!argument.type)
      return parser.emitError(loc)
             << "expected " << expected << ", but got " << type;
  }
  return failure(
      parser.resolveOperands(operands, types, loc, result.operands) ||
      parser.parseOptionalArrowTypeList(result.types) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*result.addRegion(), arguments));
}

void mlir::fp8::printBindingRegion(OpAsmPrinter &printer, Operation *op,
                                   ValueRange operands, Region &body) {
  if (!operands.empty()) {
    printer << '(';
    llvm::interleaveComma(
        llvm::zip(body.getArguments(), operands), printer, [&](auto binding) {
          printer << std::get<0>(binding) << " = " << std::get<1>(binding);
        });
    printer << ") : " << operands.getTypes();
  }
  printer.printOptionalArrowTypeList(op->getResultTypes());
}

void mlir::fp8::ensureYield(Region &body, Location loc) {
  if (body.empty())
    body.emplaceBlock();
  Block &last = body.back();
  if (!last.empty() && last.back().hasTrait<mlir::OpTrait::IsTerminator>())
    return;
  // The region belongs to no op yet, so the context comes from the location.
  OpBuilder builder(loc.getContext());
  builder.setInsertionPointToEnd(&last);
  YieldOp::create(builder, loc);
}

void mlir::fp8::printBody(OpAsmPrinter &printer, Operation *op, Region &body,
                          ArrayRef<StringRef> elidedAttrs) {
  printer.printOptionalAttrDictWithKeyword(op->getAttrs(), elidedAttrs);
  printer << ' ';
  bool bareYield = body.hasOneBlock() && !body.front().empty() &&
                   isa<YieldOp>(body.front().back()) &&
                   body.front().back().getNumOperands() == 0;
  printer.printRegion(body, /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/!bareYield);
}

LogicalResult mlir::fp8::verifyBindingRegion(Operation *op, ValueRange operands,
                                             Region &body,
                                             BindingTypeFn argumentType,
                                             StringRef expected) {
  if (body.getNumArguments() != operands.size())
    return op->emitOpError()
           << "binds " << operands.size() << " operands, but its region has "
           << body.getNumArguments() << " arguments";
  for (auto [argument, operand] : llvm::zip(body.getArguments(), operands)) {
    Type type = argumentType(operand.getType());
    if (!type)
      return op->emitOpError()
             << "expected " << expected << ", but got " << operand.getType();
    if (argument.getType() != type)
      return op->emitOpError() << "expected a region argument of type " << type
                               << ", but got " << argument.getType();
  }
  return verifyYieldedValues(op, body);
}

LogicalResult mlir::fp8::verifyYieldedValues(Operation *op, Region &body) {
  for (Block &block : body)
    if (!block.empty() &&
        llvm::is_contained(block.back().getOperands(), Value()))
      return op->emitOpError() << "has a region that ends with a null operand; "
                                  "a tool removed the op that defined it";
  return success();
}

LogicalResult mlir::fp8::verifyInEntryBlock(Operation *op, StringRef label) {
  auto function = dyn_cast_or_null<FunctionOpInterface>(op->getParentOp());
  if (function && op->getBlock() == &function.getFunctionBody().front())
    return success();
  return op->emitOpError() << "must be in the entry block of its kernel ("
                           << label << ")";
}

LogicalResult mlir::fp8::verifyResultTypes(Operation *op,
                                           ArrayRef<Type> expected,
                                           StringRef what) {
  if (op->getNumResults() < expected.size())
    return op->emitOpError()
           << "expected at least " << expected.size() << " results, " << what
           << ", but got " << op->getNumResults();
  for (auto [index, type] : llvm::enumerate(expected))
    if (op->getResult(index).getType() != type)
      return op->emitOpError()
             << "expected result " << index << " to be of type " << type << " ("
             << what << "), but got " << op->getResult(index).getType();
  return success();
}
