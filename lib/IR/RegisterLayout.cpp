// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The digits of each layout, and what follows from them.

#include "fp8/IR/RegisterLayout.h"

using namespace mlir;
using namespace mlir::fp8;

using Axis = RegisterLayout::Axis;
using Unit = RegisterLayout::Unit;
using Digit = RegisterLayout::Digit;

/// The layouts, each a table of unit, extent, axis, stride. Those of tensor
/// memory follow from the lanes that a warp reaches (PTX ISA, tcgen05 data path
/// layouts and access restrictions; tcgen05.ld, shapes 32x32b and, of swapped
/// products, 16x256b); those of products in registers from the registers of
/// wgmma (PTX ISA, register fragments of wgmma.mma_async, D).
static SmallVector<Digit, 8> getDigitsOf(FragmentType type) {
  constexpr Axis kRow = RegisterLayout::Row, kColumn = RegisterLayout::Column;
  ArrayRef<int64_t> shape = type.getShape();
  int64_t warpgroups = type.getWarps() / 4;
  switch (type.getLayout()) {
  case FragmentLayout::Rows: {
    int64_t columns = shape[kColumn] / warpgroups;
    return {{Unit::Register, columns, kColumn, 1},
            {Unit::Lane, 32, kRow, 1},
            {Unit::Warp, 4, kRow, 32},
            {Unit::Warpgroup, warpgroups, kColumn, columns}};
  }
  case FragmentLayout::LaneHalves:
    return {{Unit::Register, shape[kColumn] / 2, kColumn, 1},
            {Unit::Lane, 16, kRow, 1},
            {Unit::Lane, 2, kColumn, shape[kColumn] / 2},
            {Unit::Warp, 4, kRow, 16}};
  case FragmentLayout::WarpHalves:
    return {{Unit::Register, shape[kColumn] / 2, kColumn, 1},
            {Unit::Lane, 32, kRow, 1},
            {Unit::Warp, 2, kRow, 32},
            {Unit::Warp, 2, kColumn, shape[kColumn] / 2}};
  case FragmentLayout::Warpgroups:
  case FragmentLayout::WarpgroupColumns: {
    // The instruction's rows and columns. Those of an instruction whose
    // operands were swapped are the fragment's columns and rows.
    Axis m = kRow, n = kColumn;
    if (type.getLayout() == FragmentLayout::WarpgroupColumns)
      std::swap(m, n);
    int64_t parts = shape[m] / (64 * warpgroups);
    return {{Unit::Register, 2, n, 1},
            {Unit::Register, 2, m, 8},
            {Unit::Register, shape[n] / 8, n, 8},
            {Unit::Lane, 4, n, 2},
            {Unit::Lane, 8, m, 1},
            {Unit::Warp, 4, m, 16},
            {Unit::Part, parts, m, 64},
            {Unit::Warpgroup, warpgroups, m, 64 * parts}};
  }
  case FragmentLayout::QuarterColumns:
    return {{Unit::Register, 2, kRow, 1},
            {Unit::Register, 2, kColumn, 8},
            {Unit::Register, shape[kRow] / 8, kRow, 8},
            {Unit::Register, 2, kColumn, 16},
            {Unit::Lane, 4, kRow, 2},
            {Unit::Lane, 8, kColumn, 1},
            {Unit::Warp, 4, kColumn, 32}};
  }
  llvm_unreachable("unknown layout");
}

RegisterLayout::RegisterLayout(FragmentType type) : digits(getDigitsOf(type)) {}

int64_t RegisterLayout::getExtent(Unit unit) const {
  int64_t extent = 1;
  for (const Digit &digit : digits)
    if (digit.unit == unit)
      extent *= digit.extent;
  return extent;
}

RegisterLayout::Place RegisterLayout::getPlace(int64_t reg, int64_t lane,
                                               int64_t warp) const {
  int64_t registers = getExtent(Unit::Register);
  int64_t rest[] = {reg % registers, lane, warp % 4, reg / registers, warp / 4};
  Place place{0, 0};
  for (const Digit &digit : digits) {
    int64_t &number = rest[static_cast<size_t>(digit.unit)];
    (digit.axis == Row ? place.row : place.column) +=
        number % digit.extent * digit.stride;
    number /= digit.extent;
  }
  return place;
}

int64_t RegisterLayout::getRun(Axis axis, Unit upTo) const {
  int64_t run = 1;
  // The digit that continues the run, until none does.
  const Digit *next = nullptr;
  do {
    next = llvm::find_if(digits, [&](const Digit &digit) {
      return digit.axis == axis && digit.unit <= upTo && digit.extent > 1 &&
             digit.stride == run;
    });
    if (next != digits.end())
      run *= next->extent;
  } while (next != digits.end());
  return run;
}

Axis RegisterLayout::getPairAxis() const { return digits.front().axis; }

int64_t RegisterLayout::getAccessColumns(int64_t elementBytes) const {
  constexpr int64_t kChunkBytes = 16;
  return std::min(getRun(Column, Unit::Register), kChunkBytes / elementBytes);
}

int64_t RegisterLayout::getColumnStep() const {
  // Where the threads of a warp hold all columns, and registers count the
  // outermost digit, it may be cut anywhere.
  const Digit *outermost = nullptr;
  for (const Digit &digit : digits)
    if (digit.axis == Column && digit.extent > 1 &&
        (!outermost || digit.stride > outermost->stride))
      outermost = &digit;
  if (outermost && outermost->unit == Unit::Register)
    return std::max<int64_t>(outermost->stride, 2);
  return getRun(Column, Unit::Lane);
}

std::optional<Axis> RegisterLayout::getPartAxis() const {
  for (const Digit &digit : digits)
    if (digit.unit == Unit::Part)
      return digit.axis;
  return std::nullopt;
}

int64_t RegisterLayout::getScaleStep() const {
  if (isOneRow())
    return 2;
  return getPartAxis() == Column ? getRun(Column, Unit::Warp) : getColumnStep();
}

Unit RegisterLayout::getStager() const {
  // The 16 rows that a warp has of a product are a small box for TMA.
  return getPartAxis() == Row ? Unit::Warp : Unit::Lane;
}
