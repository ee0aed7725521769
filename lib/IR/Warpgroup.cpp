// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The warpgroup family: products in registers.

#include "BindingRegion.h"

using namespace mlir;
using namespace mlir::fp8;

LogicalResult WarpgroupMmaOp::verify() {
  TileType a = getA().getType(), b = getB().getType();
  if (failed(verifyOperandTiles(*this, a, b)))
    return failure();
  FragmentType product = getPending().getType().getFragment();
  int64_t rows = product.getShape()[0], warpgroups = product.getWarps() / 4;
  if (a.getRows() % rows)
    return emitOpError() << "A must have 64 rows for each of the " << warpgroups
                         << " warpgroups, or several times as many (A4), but "
                            "got "
                         << a;
  int64_t parts = a.getRows() / rows;
  if (int64_t(getPart()) >= parts)
    return emitOpError() << "A has " << parts
                         << " parts of 64 rows for each warpgroup (A4), but "
                            "got part "
                         << getPart();
  if (b.getRows() != product.getShape()[1])
    return emitOpError() << "the product with " << b.getRows()
                         << " rows of B has as many columns (A5), but got "
                         << product;
  if (getAccumulator() && getAccumulator().getType() != product)
    return emitOpError() << "adds to a fragment of the product's type "
                         << product << " (A5), but got "
                         << getAccumulator().getType();
  return success();
}
