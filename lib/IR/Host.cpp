// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host family: tensor maps, and what a launcher knows of arguments.

#include "TmaRules.h"
#include "fp8/IR/ArgumentAccess.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::fp8;

/// (H7) Checks that a map which fits is not fitted again: it has no other rows
/// then, and the manifest has one expression of them.
static LogicalResult verifyFits(Value map) {
  for (Operation *fit : map.getUsers())
    for (Operation *user : fit->getUsers())
      if (isa<FitRowsOp>(fit) && isa<FitRowsOp>(user)) {
        InFlightDiagnostic error =
            user->emitOpError() << "takes a map whose boxes fit already (H7); "
                                   "use the operand in place of the result";
        error.attachNote(fit->getLoc()) << "the map";
        return error;
      }
  return success();
}

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
  if (failed(verifyTmaStrides(*this, type, "the source", "H2")))
    return failure();
  return verifyFits(getMap());
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
