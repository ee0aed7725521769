// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What TMA asks of memrefs.

#include "TmaRules.h"

using namespace mlir;
using namespace mlir::fp8;

StringRef mlir::fp8::getPartName(MemRefType type, int64_t axis) {
  int64_t fromLast = type.getRank() - 1 - axis;
  // Scales of MXFP8 lie in tiles, which lie in rows.
  if (type.getRank() > 3 && isa<Float8E8M0FNUType>(type.getElementType()) &&
      fromLast > 1)
    return fromLast == 2   ? "tiles"
           : fromLast == 3 ? "rows of tiles"
                           : "matrices";
  return fromLast > 1 ? "matrices" : "rows";
}

LogicalResult mlir::fp8::verifyTmaStrides(Operation *op, MemRefType type,
                                          const Twine &name, StringRef label) {
  using namespace ::fp8::tensor;
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)type.getStridesAndOffset(strides, offset);
  int64_t bytes = type.getElementType().getIntOrFloatBitWidth() / 8;
  for (auto [axis, stride] : llvm::enumerate(ArrayRef(strides).drop_back())) {
    if (ShapedType::isDynamic(stride))
      continue;
    if (stride < 0 || stride >= kStrideLimitBytes / bytes)
      return op->emitOpError()
             << "the " << getPartName(type, axis) << " of " << name
             << " must be less than 2^40 bytes apart, and none before the "
                "other, because TMA copies them ("
             << label << "), but are " << stride << " elements apart";
    if (stride * bytes % kGranuleBytes)
      return op->emitOpError()
             << "the " << getPartName(type, axis) << " of " << name
             << " must be a multiple of " << kGranuleBytes
             << " bytes apart, because TMA copies them (" << label
             << "), but are " << stride * bytes
             << "; pad them by a strided layout";
  }
  return success();
}
