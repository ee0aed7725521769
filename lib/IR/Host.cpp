// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host family: tensor maps.

#include "fp8/IR/Fp8.h"

using namespace mlir;
using namespace mlir::fp8;

LogicalResult TensorMapOp::verify() {
  auto type = cast<MemRefType>(getSource().getType());
  TileType tile = getMap().getType().getTile();
  if (type.getRank() != 2 || type.getElementType() != tile.getElementType())
    return emitOpError() << "the source must be a 2-D memref of "
                         << tile.getElementType() << " (H1), but got " << type;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return emitOpError()
           << "the source must have a strided layout (H1), but got " << type;
  if (strides[1] != 1)
    return emitOpError()
           << "the rows of the source must be contiguous (H1), but got "
           << type;
  int64_t elementBytes = tile.getElementType().getIntOrFloatBitWidth() / 8;
  if (!ShapedType::isDynamic(strides[0]) && strides[0] * elementBytes % 16)
    return emitOpError() << "the rows of the source must be a multiple of 16 "
                            "bytes apart (H2), but are "
                         << strides[0] * elementBytes
                         << "; pad them by a strided layout";
  return success();
}
