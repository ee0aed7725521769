// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a thread reaches its part of a fragment, in tensor memory and beside
// tiles in shared memory.

#ifndef FP8_LIB_CONVERSION_FP8TONVVM_FRAGMENT_H
#define FP8_LIB_CONVERSION_FP8TONVVM_FRAGMENT_H

#include "Lowering.h"
#include "fp8/IR/RegisterLayout.h"

namespace mlir::fp8 {

using Axis = RegisterLayout::Axis;
using Unit = RegisterLayout::Unit;

/// The units that distinguish threads.
inline constexpr Unit kThreadUnits[] = {Unit::Warp, Unit::Warpgroup,
                                        Unit::Lane};

/// Which part of a fragment a thread holds: the digits of its layout that
/// threads have, as values.
class FragmentPart {
public:
  /// Computes the place at the insertion point.
  FragmentPart(FragmentType type, const RoleValues &role,
               Instructions &instructions);

  /// The place of the thread's first register along the axis, an i32. The other
  /// registers are RegisterLayout::getOffset further.
  Value getPlace(Axis axis) const {
    return axis == RegisterLayout::Row ? row : column;
  }
  /// What the digits of these units, the ones with a stride in [from, to), add
  /// to it; 0 if there are none.
  Value getPlace(Axis axis, ArrayRef<Unit> units, Instructions &instructions,
                 int64_t from = 1, int64_t to = INT64_MAX) const;
  /// True if there are any.
  bool hasDigits(Axis axis, ArrayRef<Unit> units, int64_t from = 1) const;

  const RegisterLayout layout;
  const RoleValues role;
  /// i32: what to add to an accumulator's address to reach the warp's lanes,
  /// and the thread's first column there.
  Value tmemOffset;

private:
  /// The thread's number of that unit.
  Value getNumber(Unit unit, Instructions &instructions) const;

  Value row, column;
};

/// The addresses of a tile's elements from a place on, of which the row and the
/// column are i32, or null for 0.
class TileAddresses {
public:
  TileAddresses(TileType tile, Value address, Value row, Value column,
                Instructions &instructions);
  /// Of the elements of a row, of which each belongs to a place along an axis
  /// of a fragment, from the thread's first place on; they will be read `width`
  /// at a time. The tile is not swizzled.
  static TileAddresses beside(TileType tile, Value address, Value row,
                              const FragmentPart &part, Axis axis,
                              int64_t width, Instructions &instructions);

  /// Of the element that lies so many rows and columns further.
  Value get(int64_t rows, int64_t columns);
  /// That element, as f32.
  Value load(int64_t rows, int64_t columns);
  /// What lies beside the pair of registers at these places, as pairs of f32:
  /// `count` elements of the row of `first`, or if that is 1 one for each
  /// register.
  SmallVector<Value> loadPairs(RegisterLayout::Place first,
                               RegisterLayout::Place second, int64_t count);

private:
  /// The offsets of the place's row, or of one further on, and of the place in
  /// it, and how the swizzle changes offsets there.
  struct Start {
    Value row, place, swizzle;
  };
  const Start &getStart(int64_t rows);
  /// The offset so many columns from the place on.
  Value getOffset(Value ofRow, int64_t columns);

  TileType tile;
  Value address, row, column;
  Instructions &instructions;
  llvm::SmallDenseMap<int64_t, Start> starts;
};

/// The thread's part of an accumulator: its loads are started together and
/// waited for once.
SmallVector<Value> readAccumulator(Value address, const FragmentPart &part,
                                   Instructions &instructions);

/// The role of an op that follows the loop over K blocks. What depends on its
/// lane is computed at the insertion point. LLVM would move it in front of the
/// loop, where the sums need the registers.
RoleValues getRoleAfterSums(Operation *op, Instructions &instructions);

inline int64_t getBytes(Type element) {
  return element.getIntOrFloatBitWidth() / 8;
}

} // namespace mlir::fp8

#endif // FP8_LIB_CONVERSION_FP8TONVVM_FRAGMENT_H
