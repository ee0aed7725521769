// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a store does beside staging and copying tiles.

#ifndef FP8_LIB_CONVERSION_FP8TONVVM_STORE_H
#define FP8_LIB_CONVERSION_FP8TONVVM_STORE_H

#include "Fragment.h"

namespace mlir::fp8 {

/// What a store leaves to the threads, since TMA writes whole 16 bytes: the
/// elements behind the last of these in each row of D.
class RowRest {
public:
  /// Null values if the store has none.
  RowRest(Value memref, Instructions &instructions);
  explicit operator bool() const { return memref != nullptr; }

  /// Where to store a box that begins at a column, an index, instead: beside
  /// the map if that has no whole 16 bytes of D.
  Value getBoxColumn(Value column, Instructions &instructions) const;
  /// `threads` threads, of which this is number `thread`, an i32, store what
  /// the box staged at `address` has of the rest. The coordinates are the
  /// box's, as index.
  void store(TileType tile, Value address, ValueRange coordinates, Value thread,
             int64_t threads, Instructions &instructions) const;

private:
  Value memref;
  Value whole; ///< i32: the column at which the rest begins
  Value count; ///< i32: its elements
};

} // namespace mlir::fp8

#endif // FP8_LIB_CONVERSION_FP8TONVVM_STORE_H
