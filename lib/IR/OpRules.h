// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules that ops of several families keep: an op of the linear phase, and the
// one of the barrier phase that does the same at addresses.

#ifndef FP8_LIB_IR_OPRULES_H
#define FP8_LIB_IR_OPRULES_H

#include "fp8/IR/Fp8.h"

namespace mlir::fp8 {

/// What TMA does with a box of a tensor.
enum class BoxUse : uint8_t { Load, Prefetch, Store };

/// Checks that there is a coordinate for each dimension of the map's tensor,
/// and that the box may begin at those that are constants (M6).
LogicalResult verifyCoordinates(Operation *op, ValueRange coordinates,
                                TensorMapType map, BoxUse use = BoxUse::Load);

/// Checks the operands of a product of tiles in shared memory (A1, A3).
LogicalResult verifyOperandTiles(Operation *op, TileType a, TileType b);

/// Checks where an element is copied from: one of 4 bytes, in a strided memref
/// in global memory, with an index for each dimension (M3, M5).
LogicalResult verifyElementSource(Operation *op, MemRefType source,
                                  ValueRange indices);

/// Checks a store of a fragment through a queue (Q1 to Q5). `rest` is null if
/// the tile's rows are stored whole.
LogicalResult verifyStore(Operation *op, FragmentType fragment,
                          TensorMapType map, ValueRange coordinates, Value rest,
                          StoreQueueType queue);

/// Checks that the exchange is one of such fragments (J2).
LogicalResult verifyExchanged(Operation *op, FragmentType fragment,
                              ExchangeType exchange);

} // namespace mlir::fp8

#endif // FP8_LIB_IR_OPRULES_H
