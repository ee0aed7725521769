// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a thread reads its part of a fragment from tensor and shared memory.

#ifndef FP8_LIB_CONVERSION_FP8TONVVM_FRAGMENT_H
#define FP8_LIB_CONVERSION_FP8TONVVM_FRAGMENT_H

#include "Lowering.h"

namespace mlir::fp8 {

/// The thread's part of an accumulator: its loads are started together and
/// waited for once.
SmallVector<Value> readAccumulator(Value address, const FragmentPart &part,
                                   Instructions &instructions);

/// `count` elements of a row of a tile, as pairs of f32. The row begins at
/// `rowOffset` bytes into the tile and is read from `byteColumn` on, a multiple
/// of 16, both i32.
SmallVector<Value> readTileRow(TileType tile, Value address, Value rowOffset,
                               Value byteColumn, int64_t count,
                               Instructions &instructions);

/// Loads the A scale of a thread's first row of a promotion, or of one that is
/// `rowOffset` further, as soon as its tile is there: that is often before the
/// wait for the accumulator, which then hides the load.
Value loadAScale(PromoteOp op, KernelPattern<PromoteOp>::Adaptor operands,
                 const RoleValues &role, int64_t rowOffset,
                 ConversionPatternRewriter &rewriter);

/// The bits by which the swizzle changes a chunk's address, from the offset of
/// its row within the tile.
Value getSwizzleBits(Value rowOffset, Swizzle swizzle,
                     Instructions &instructions);

} // namespace mlir::fp8

#endif // FP8_LIB_CONVERSION_FP8TONVVM_FRAGMENT_H
