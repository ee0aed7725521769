// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The warpgroup family: products in registers.

#include "BindingRegion.h"
#include "OpRules.h"
#include "fp8/IR/RegisterLayout.h"

using namespace mlir;
using namespace mlir::fp8;

ParseResult mlir::fp8::parseRegisters(
    OpAsmParser &parser,
    std::optional<OpAsmParser::UnresolvedOperand> &registers, Type &type,
    UnitAttr &overwrites) {
  if (succeeded(parser.parseOptionalKeyword("into")))
    overwrites = parser.getBuilder().getUnitAttr();
  else if (failed(parser.parseOptionalKeyword("accumulate")))
    return success();
  return failure(parser.parseLParen() ||
                 parser.parseOperand(registers.emplace()) ||
                 parser.parseColonType(type) || parser.parseRParen());
}

void mlir::fp8::printRegisters(OpAsmPrinter &printer, WarpgroupMmaOp,
                               Value registers, Type type,
                               UnitAttr overwrites) {
  if (registers)
    printer << (overwrites ? "into(" : "accumulate(") << registers << " : "
            << type << ')';
}

LogicalResult WarpgroupMmaOp::verify() {
  TileType a = getA().getType(), b = getB().getType();
  if (failed(verifyOperandTiles(*this, a, b)))
    return failure();
  FragmentType product = getPending().getType().getFragment();
  // What warpgroups divide, and what each has all of.
  RegisterLayout::Axis m = *product.getRegisterLayout().getPartAxis(),
                       n = RegisterLayout::getOther(m);
  bool swapped = m == RegisterLayout::Column;
  TileType divided = swapped ? b : a, whole = swapped ? a : b;
  StringRef dividedName = swapped ? "B" : "A", wholeName = swapped ? "A" : "B";
  int64_t rows = product.getShape()[m], warpgroups = product.getWarps() / 4;
  if (divided.getRows() % rows)
    return emitOpError() << dividedName << " must have 64 rows for each of the "
                         << warpgroups
                         << " warpgroups, or several times as many (A4), but "
                            "got "
                         << divided;
  int64_t parts = divided.getRows() / rows;
  if (int64_t(getPart()) >= parts)
    return emitOpError() << dividedName << " has " << parts
                         << " parts of 64 rows for each warpgroup (A4), but "
                            "got part "
                         << getPart();
  if (whole.getRows() != product.getShape()[n])
    return emitOpError() << "the product with " << whole.getRows()
                         << " rows of " << wholeName << " has as many "
                         << (swapped ? "rows" : "columns") << " (A5), but got "
                         << product;
  if (getOverwrites() && !getAccumulator())
    return emitOpError() << "overwrites the registers of no fragment (A5); "
                            "name one with into(...)";
  if (getAccumulator() && getAccumulator().getType() != product)
    return emitOpError() << "adds to a fragment of the product's type "
                         << product << " (A5), but got "
                         << getAccumulator().getType();
  return success();
}
