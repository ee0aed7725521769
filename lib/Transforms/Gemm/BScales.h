// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The B scales of the columns of an output tile, by K block.

#ifndef FP8_LIB_TRANSFORMS_GEMM_BSCALES_H
#define FP8_LIB_TRANSFORMS_GEMM_BSCALES_H

#include "KernelBuilder.h"

namespace mlir::fp8 {

/// Which B scales a tile meets, and which columns they belong to. Loads them,
/// where no ring brings them, a group of K blocks ahead of their use: each lane
/// of a warp those of one block.
class BScales : public KernelBuilder {
public:
  /// The scales of the `block`th of a group, those of equal parts of the
  /// tile's columns. None where each column has its own, which a ring brings.
  using ScalesOf = function_ref<SmallVector<Value>(Value block)>;
  using GroupBody =
      function_ref<Carried(Value count, ValueRange carried, ScalesOf scalesOf)>;

  BScales(const KernelBuilder &base, Value firstColumn);

  /// The loop over the groups of K blocks of a tile.
  Carried forEachGroup(ValueRange inits, GroupBody body);
  /// The scales of the group of K blocks from `first` on, one block's in each
  /// lane.
  SmallVector<Value> loadGroup(Value first);
  /// Those of the `block`th of a group that was loaded, as scales of equal
  /// parts of the columns.
  SmallVector<Value> get(ValueRange ofLanes, Value block);
  /// The rows of the B scales that the tile can meet.
  SmallVector<Value> getRows();
  /// The scales of a K block, one of each of these rows, as scales of equal
  /// parts of the columns.
  SmallVector<Value> spread(ValueRange scales);

private:
  static constexpr int64_t kLanes = 32;

  /// The scales of K block `block` that the tile can meet.
  SmallVector<Value> load(Value block);
  /// Those of the first group if there are K blocks, else zeros.
  SmallVector<Value> loadFirstGroup();
  /// The value that another lane of the warp has.
  Value shuffle(Value value, Value lane);

  Value firstColumn;
  /// The column at which the second scale begins, where there are several.
  Value split;
  Value lane;       ///< the thread's
  Value firstBlock; ///< of the K blocks that the CTA adds up
  Value last;       ///< of all K blocks, if several CTAs do: of this one's
};

} // namespace mlir::fp8

#endif // FP8_LIB_TRANSFORMS_GEMM_BSCALES_H
