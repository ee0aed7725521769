// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which part of a fragment a thread holds, and where that lies in a tile.

#include "Fragment.h"

using namespace mlir;
using namespace mlir::fp8;

//===----------------------------------------------------------------------===//
// FragmentPart
//===----------------------------------------------------------------------===//

FragmentPart::FragmentPart(FragmentType type, const RoleValues &role,
                           Instructions &instructions)
    : layout(type), role(role) {
  constexpr Axis kColumn = RegisterLayout::Column;
  // Warp w reaches lanes 32*(w mod 4) and up (PTX ISA, tcgen05 access
  // restrictions); the lane is in the upper half of a tensor-memory address.
  tmemOffset =
      instructions.shiftLeft(getNumber(Unit::Warp, instructions), 16 + 5);
  row = getPlace(RegisterLayout::Row, kThreadUnits, instructions);
  column = getPlace(kColumn, kThreadUnits, instructions);
  // Warpgroups share the lanes, and so divide the columns of tensor memory.
  Axis along = layout.getPairAxis();
  if (hasDigits(along, Unit::Warpgroup))
    tmemOffset = instructions.add(
        tmemOffset, getPlace(along, Unit::Warpgroup, instructions));
}

Value FragmentPart::getNumber(Unit unit, Instructions &instructions) const {
  switch (unit) {
  case Unit::Lane:
    return role.lane;
  case Unit::Warp:
    return instructions.bitAnd(role.warp, 3);
  case Unit::Warpgroup:
    return instructions.shiftRight(role.warp, 2);
  case Unit::Register:
  case Unit::Part:
    break;
  }
  llvm_unreachable("a thread has all registers");
}

/// Calls `visit` with each digit of the unit, what the extents in front of it
/// amount to, and whether it is the last.
static void forEachDigit(
    const RegisterLayout &layout, Unit unit,
    function_ref<void(const RegisterLayout::Digit &, int64_t, bool)> visit) {
  int64_t below = 1, extent = layout.getExtent(unit);
  for (const RegisterLayout::Digit &digit : layout.getDigits())
    if (digit.unit == unit) {
      visit(digit, below, below * digit.extent == extent);
      below *= digit.extent;
    }
}

Value FragmentPart::getPlace(Axis axis, ArrayRef<Unit> units,
                             Instructions &instructions, int64_t from,
                             int64_t to) const {
  // Where no digit is left out it is the thread's place, which there is.
  Value place = axis == RegisterLayout::Row ? row : column;
  bool hasAll = llvm::none_of(
      layout.getDigits(), [&](const RegisterLayout::Digit &digit) {
        return digit.axis == axis &&
               llvm::is_contained(kThreadUnits, digit.unit) &&
               (!llvm::is_contained(units, digit.unit) || digit.stride < from ||
                digit.stride >= to);
      });
  if (place && hasAll)
    return place;
  Value sum;
  for (Unit unit : units)
    forEachDigit(
        layout, unit,
        [&](const RegisterLayout::Digit &digit, int64_t below, bool isLast) {
          if (digit.axis != axis || digit.stride < from || digit.stride >= to)
            return;
          Value value = getNumber(unit, instructions);
          if (below > 1)
            value = instructions.shiftRight(value, llvm::Log2_64(below));
          if (!isLast)
            value = instructions.bitAnd(value, digit.extent - 1);
          if (digit.stride > 1)
            value = instructions.mul(value, digit.stride);
          sum = sum ? instructions.add(value, sum) : value;
        });
  return sum ? sum : instructions.i32(0);
}

bool FragmentPart::hasDigits(Axis axis, ArrayRef<Unit> units,
                             int64_t from) const {
  return llvm::any_of(layout.getDigits(),
                      [&](const RegisterLayout::Digit &digit) {
                        return digit.axis == axis && digit.stride >= from &&
                               llvm::is_contained(units, digit.unit);
                      });
}

//===----------------------------------------------------------------------===//
// TileAddresses
//===----------------------------------------------------------------------===//

TileAddresses::TileAddresses(TileType tile, Value address, Value row,
                             Value column, Instructions &instructions)
    : tile(tile), address(address), row(row), column(column),
      instructions(instructions) {
  (void)getStart(0);
}

const TileAddresses::Start &TileAddresses::getStart(int64_t rows) {
  Start &start = starts[rows];
  if (start.row)
    return start;
  start.row = instructions.i32(rows * tile.getRowBytes());
  if (row)
    start.row =
        instructions.mul(instructions.add(row, rows), tile.getRowBytes());
  start.place = getOffset(start.row, 0);
  // Bits 7.. of the offset within the swizzle's pattern are XORed into bits 4..
  // (PTX ISA, swizzling modes).
  int64_t mask = (int64_t(1) << static_cast<uint32_t>(tile.getSwizzle())) - 1;
  start.swizzle = instructions.shiftLeft(
      instructions.bitAnd(instructions.shiftRight(start.row, 7), mask), 4);
  return start;
}

Value TileAddresses::getOffset(Value ofRow, int64_t columns) {
  int64_t bytes = getBytes(tile.getElementType());
  if (!column)
    return instructions.add(ofRow, columns * bytes);
  return instructions.add(
      ofRow, instructions.mul(instructions.add(column, columns), bytes));
}

Value TileAddresses::get(int64_t rows, int64_t columns) {
  const Start &start = getStart(rows);
  Value offset = columns == 0 ? start.place : getOffset(start.row, columns);
  return instructions.add(address, instructions.bitXor(offset, start.swizzle));
}

Value TileAddresses::load(int64_t rows, int64_t columns) {
  return instructions.loadSharedFloat(get(rows, columns),
                                      tile.getElementType());
}

TileAddresses TileAddresses::beside(TileType tile, Value address, Value row,
                                    const FragmentPart &part, Axis axis,
                                    int64_t width, Instructions &instructions) {
  TileAddresses addresses(tile, address, row, part.getPlace(axis),
                          instructions);
  if (width != 2)
    return addresses;
  // Pairs lie constants apart, which loads take.
  return TileAddresses(tile, addresses.get(0, 0), /*row=*/Value(),
                       /*column=*/Value(), instructions);
}

SmallVector<Value> TileAddresses::loadPairs(RegisterLayout::Place first,
                                            RegisterLayout::Place second,
                                            int64_t count) {
  if (count > 1)
    return instructions.loadSharedPairs(get(first.row, first.column),
                                        tile.getElementType(), count);
  Value value = load(first.row, first.column);
  if (first == second)
    return {instructions.splatPair(value)};
  Value pair = instructions.insert(instructions.undefPair(), value, 0);
  return {instructions.insert(pair, load(second.row, second.column), 1)};
}
