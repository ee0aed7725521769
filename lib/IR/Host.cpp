// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host family: tensor maps.

#include "fp8/IR/Fp8.h"

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
  int64_t elementBytes = tile.getElementType().getIntOrFloatBitWidth() / 8;
  for (auto [axis, stride] : llvm::enumerate(ArrayRef(strides).drop_back())) {
    if (ShapedType::isDynamic(stride))
      continue;
    StringRef parts =
        static_cast<int64_t>(axis) + 2 == rank ? "rows" : "matrices";
    if (stride < 0 || stride >= kMaxTmaStride / elementBytes)
      return emitOpError() << "the " << parts
                           << " of the source must be less than 2^40 bytes "
                              "apart, and none before the other (H2), but are "
                           << stride << " elements apart";
    if (stride * elementBytes % 16)
      return emitOpError() << "the " << parts
                           << " of the source must be a multiple of 16 "
                              "bytes apart (H2), but are "
                           << stride * elementBytes
                           << "; pad them by a strided layout";
  }
  return success();
}
