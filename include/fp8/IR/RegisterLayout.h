// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The layout of a fragment: which register of which thread holds which row and
// column.

#ifndef FP8_IR_REGISTERLAYOUT_H
#define FP8_IR_REGISTERLAYOUT_H

#include "fp8/IR/Fp8Types.h"

#include <optional>

namespace mlir::fp8 {

/// The layout of a fragment as data: a map from (register, lane, warp) to (row,
/// column).
///
/// The numbers of a register, a lane and a warp consist of digits. Each digit
/// has a stride along the rows or along the columns, and the element's place is
/// the sum over all digits. The map is one to one: along each axis, the digits
/// in the order of their strides cover the whole axis.
class RegisterLayout {
public:
  /// The axis of a fragment, which is also its index in the shape.
  enum Axis : int64_t { Row = 0, Column = 1 };
  static Axis getOther(Axis axis) { return axis == Row ? Column : Row; }

  /// What a digit counts. The number of a register consists of its part and its
  /// number in the part. The number of a warp consists of its warpgroup (of
  /// four warps) and its number in the warpgroup.
  enum class Unit {
    Register,  ///< the f32 registers of one part
    Lane,      ///< the 32 lanes of a warp
    Warp,      ///< the 4 warps of a warpgroup
    Part,      ///< the products, of 64 rows each, that a warpgroup holds
    Warpgroup, ///< the warpgroups of the role
  };

  /// One digit: `extent` values of a unit's number; `stride` is the rows or
  /// columns from one value to the next.
  struct Digit {
    Unit unit;
    int64_t extent;
    Axis axis;
    int64_t stride;
  };

  struct Place {
    int64_t row, column;
    bool operator==(Place other) const {
      return row == other.row && column == other.column;
    }
  };

  explicit RegisterLayout(FragmentType type);

  /// The digits; the digits of a unit are in order, the lowest first.
  ArrayRef<Digit> getDigits() const { return digits; }

  /// The number of values of a unit.
  int64_t getExtent(Unit unit) const;
  /// The registers of a thread, part after part.
  int64_t getNumRegisters() const {
    return getExtent(Unit::Register) * getExtent(Unit::Part);
  }

  /// The place of the element in that register of that thread; `warp` is the
  /// number in the role.
  Place getPlace(int64_t reg, int64_t lane, int64_t warp) const;
  /// The distance from the element of the thread's first register to the
  /// element of that register. It is the same for all threads.
  Place getOffset(int64_t reg) const { return getPlace(reg, 0, 0); }

  /// The consecutive rows or columns of a part that one thread (`Register`),
  /// warp (`Lane`) or warpgroup (`Warp`) holds; with `Part`, those that a
  /// warpgroup holds of all its parts.
  int64_t getRun(Axis axis, Unit upTo) const;

  /// The axis along which the elements of a pair of registers are neighbours.
  Axis getPairAxis() const;
  /// True if a thread holds consecutive columns of one row only. It reads and
  /// writes them in chunks of 16 bytes.
  bool isOneRow() const {
    return getRun(Column, Unit::Register) == getNumRegisters();
  }
  /// The columns that one access to a row in shared memory moves: 16 bytes, or
  /// the run of columns of a thread. `elementBytes` is the size of an element.
  int64_t getAccessColumns(int64_t elementBytes) const;
  /// The columns of one block, all of which the same threads hold. If a thread
  /// holds one row, these are the threads with the same run of columns;
  /// otherwise they are whole warps.
  int64_t getColumnBlock() const {
    return getRun(Column, isOneRow() ? Unit::Register : Unit::Lane);
  }
  /// If a range of columns begins and ends at multiples of this, a warp that
  /// holds one of its columns holds all of them, in the same registers for all
  /// lanes.
  int64_t getColumnStep() const;
  /// The number of columns that share a scale must be a multiple of this: the
  /// columns that the register pairs of a warpgroup's threads, or of one part,
  /// hold together.
  int64_t getScaleStep() const;

  /// The axis along which the parts lie one after the other; none in the
  /// layouts of tensor memory alone, which have no parts.
  std::optional<Axis> getPartAxis() const;
  /// The unit that stages a tile of its rows for a store: a warp (`Lane`) or a
  /// warpgroup (`Warp`).
  Unit getStager() const;

private:
  SmallVector<Digit, 8> digits;
};

} // namespace mlir::fp8

#endif // FP8_IR_REGISTERLAYOUT_H
