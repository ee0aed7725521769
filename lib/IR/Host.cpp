// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host family: tensor maps, and what a launcher knows of arguments.

#include "TmaRules.h"
#include "fp8/IR/ArgumentAccess.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::fp8;

LogicalResult TensorMapOp::verify() {
  auto type = cast<MemRefType>(getSource().getType());
  TileType tile = getMap().getType().getTile();
  int64_t rank = getMap().getType().getRank();
  if (type.getRank() != rank || type.getElementType() != tile.getElementType())
    return emitOpError() << "the source must be a " << rank << "-D memref of "
                         << tile.getElementType() << " (H1), but got " << type;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return emitOpError()
           << "the source must have a strided layout (H1), but got " << type;
  if (strides.back() != 1)
    return emitOpError()
           << "the rows of the source must be contiguous (H1), but got "
           << type;
  return verifyTmaStrides(*this, type, "the source", "H2");
}

Value mlir::fp8::getMemory(Value operand) {
  if (auto fit = operand.getDefiningOp<FitRowsOp>())
    operand = fit.getMap();
  if (auto map = operand.getDefiningOp<TensorMapOp>())
    operand = map.getSource();
  while (auto view = operand.getDefiningOp<ViewLikeOpInterface>())
    operand = view.getViewSource();
  return operand;
}

LogicalResult IsConstantOp::verify() {
  if (getSources().empty())
    return emitOpError() << "needs at least one source (H3)";
  return success();
}
