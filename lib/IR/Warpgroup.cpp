// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The warpgroup family: products in registers.

#include "BindingRegion.h"
#include "fp8/IR/RegisterLayout.h"

using namespace mlir;
using namespace mlir::fp8;

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
  if (getAccumulator() && getAccumulator().getType() != product)
    return emitOpError() << "adds to a fragment of the product's type "
                         << product << " (A5), but got "
                         << getAccumulator().getType();
  return success();
}
