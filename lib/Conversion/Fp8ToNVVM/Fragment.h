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

/// Where the A scale of a thread's first row of a promotion lies, or of one
/// that is `rowOffset` further. Moves the builder to where its tile is there:
/// that is often before the wait for the accumulator, which then hides the
/// load.
Value getAScaleAddress(PromoteOp op, KernelPattern<PromoteOp>::Adaptor operands,
                       const RoleValues &role, int64_t rowOffset,
                       OpBuilder &builder);
/// Loads it there.
Value loadAScale(PromoteOp op, KernelPattern<PromoteOp>::Adaptor operands,
                 const RoleValues &role, int64_t rowOffset,
                 ConversionPatternRewriter &rewriter);

/// The role of an op that follows the loop over K blocks. What depends on its
/// lane is computed at the insertion point. LLVM would move it in front of the
/// loop, where the sums need the registers.
RoleValues getRoleAfterSums(const KernelLowering &lowering, Operation *op,
                            Instructions &instructions);

/// Moves what a map computes for these values alone to the insertion point.
/// ptxas starts so much of a function of a whole fragment at once that it
/// spills; next to the stores, each result frees its registers.
void computeHere(ValueRange ofMap, ConversionPatternRewriter &rewriter);

/// The bits by which the swizzle changes a chunk's address, from the offset of
/// its row within the tile.
Value getSwizzleBits(Value rowOffset, Swizzle swizzle,
                     Instructions &instructions);

/// Where an element of a tile lies; its row and column are i32.
Value getElementAddress(TileType tile, Value address, Value row, Value column,
                        Instructions &instructions);

inline int64_t getBytes(Type element) {
  return element.getIntOrFloatBitWidth() / 8;
}

/// True if a later product stands in the promotion's block, which may take the
/// registers of the one that is promoted.
bool isBeforeProduct(PromoteOp op);

/// The pair at an address in shared memory and those that lie multiples of
/// eight elements behind it, of a row of `count` elements.
SmallVector<Value> loadEighths(Value address, Type element, int64_t count,
                               Instructions &instructions);

/// The patterns for products go before those for the other layouts; `swapped`
/// says for which products.
template <typename OpT, bool swapped>
class ProductPattern : public KernelPattern<OpT> {
public:
  ProductPattern(const TypeConverter &converter, MLIRContext *context,
                 const KernelLowering &lowering)
      : KernelPattern<OpT>(converter, context, lowering, /*benefit=*/2) {}
  using Adaptor = typename KernelPattern<OpT>::Adaptor;

private:
  LogicalResult lower(OpT op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const final {
    FragmentType type = op.getFragment().getType();
    if (!type.isOfWarpgroups() || type.isSwapped() != swapped)
      return rewriter.notifyMatchFailure(op, "of another layout");
    lowerFragment(op, operands, rewriter);
    return success();
  }
  virtual void lowerFragment(OpT op, Adaptor operands,
                             ConversionPatternRewriter &rewriter) const = 0;
};

/// Stages tiles of a warp, one after another, and copies each out as `boxes`
/// boxes. `write` fills a tile at an address, an i32; `getPlace` says where the
/// box of a tile goes. Returns the queue's next slot.
Value storeWarpTiles(
    StoreOp op, KernelPattern<StoreOp>::Adaptor operands,
    const RoleValues &role, int64_t tiles, int64_t boxes,
    function_ref<void(int64_t tile, Value address)> write,
    function_ref<SmallVector<Value>(int64_t tile, int64_t box)> getPlace,
    Instructions &instructions);

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

#endif // FP8_LIB_CONVERSION_FP8TONVVM_FRAGMENT_H
