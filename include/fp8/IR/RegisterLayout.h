// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the elements of a fragment are: which register of which thread holds
// which row and column.

#ifndef FP8_IR_REGISTERLAYOUT_H
#define FP8_IR_REGISTERLAYOUT_H

#include "fp8/IR/Fp8Types.h"

#include <optional>

namespace mlir::fp8 {

/// The layout of a fragment as data: a map from (register, lane, warp) to (row,
/// column).
///
/// The numbers of a register, a lane and a warp are split into digits, and each
/// digit moves along the rows or along the columns by its stride. The sum over
/// all digits is the element's place. The map is one to one: along each axis,
/// the extents of the digits in order of their strides make up the whole axis.
class RegisterLayout {
public:
  /// The axis of a fragment, which is also its index in the shape.
  enum Axis : int64_t { Row = 0, Column = 1 };
  static Axis getOther(Axis axis) { return axis == Row ? Column : Row; }

  /// What a digit counts. A register's number is that of its part and that
  /// within the part; a warp's is that of its warpgroup, of four warps, and
  /// that within it.
  enum class Unit {
    Register,  ///< the f32 registers of one part
    Lane,      ///< the 32 lanes of a warp
    Warp,      ///< the 4 warps of a warpgroup
    Part,      ///< the products, of 64 rows each, that a warpgroup holds
    Warpgroup, ///< the warpgroups of the role
  };

  /// One digit: `extent` values of a unit's number, `stride` rows or columns
  /// from one to the next.
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

  /// The digits, those of a unit in order from the lowest on.
  ArrayRef<Digit> getDigits() const { return digits; }

  /// How many of a unit there are.
  int64_t getExtent(Unit unit) const;
  /// The registers of a thread, part after part.
  int64_t getNumRegisters() const {
    return getExtent(Unit::Register) * getExtent(Unit::Part);
  }

  /// The place of the element in that register of that thread; the warp's
  /// number is that within the role.
  Place getPlace(int64_t reg, int64_t lane, int64_t warp) const;
  /// How far that register's element is from that of the thread's first
  /// register: the same for all threads.
  Place getOffset(int64_t reg) const { return getPlace(reg, 0, 0); }

  /// The consecutive rows or columns that one thread (`Register`), warp
  /// (`Lane`) or warpgroup (`Warp`) holds of a part, or a warpgroup of all its
  /// parts (`Part`).
  int64_t getRun(Axis axis, Unit upTo) const;

  /// The axis along which the elements of a pair of registers are neighbours.
  Axis getPairAxis() const;
  /// True if all that a thread holds are consecutive columns of one row, which
  /// it reads and writes in whole 16-byte chunks.
  bool isOneRow() const {
    return getRun(Column, Unit::Register) == getNumRegisters();
  }
  /// The columns, of `elementBytes` each, that one access to a row in shared
  /// memory moves: 16 bytes, or the run of columns of a thread.
  int64_t getAccessColumns(int64_t elementBytes) const;
  /// The columns of one block. The same threads hold all of its columns: where
  /// a thread holds one row those with the same run of columns, else whole
  /// warps.
  int64_t getColumnBlock() const {
    return getRun(Column, isOneRow() ? Unit::Register : Unit::Lane);
  }
  /// A range of columns that begins and ends at multiples of this is held in
  /// whole by each warp that holds one of them, in registers that are the same
  /// for all lanes.
  int64_t getColumnStep() const;
  /// The columns whose scale is one value must be a multiple of this: those
  /// that the pairs of a warpgroup's threads, or of one part, have at a time.
  int64_t getScaleStep() const;

  /// The axis along which parts follow each other; none for what comes from
  /// tensor memory, which has no parts.
  std::optional<Axis> getPartAxis() const;
  /// Who stages a tile of its rows for a store: a warp (`Lane`) or a warpgroup
  /// (`Warp`).
  Unit getStager() const;

private:
  SmallVector<Digit, 8> digits;
};

} // namespace mlir::fp8

#endif // FP8_IR_REGISTERLAYOUT_H
