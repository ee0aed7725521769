// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which part of a fragment a thread holds.

#include "Lowering.h"

using namespace mlir;
using namespace mlir::fp8;

FragmentPart::FragmentPart(FragmentType type, const RoleValues &role,
                           Instructions &instructions)
    : columns(type.getColumnsPerThread()), laneHalfDistance(0) {
  // Warp w reaches lanes 32*(w mod 4) and up (PTX ISA, tcgen05 access
  // restrictions); the lane is in the upper half of a tensor-memory address.
  Value quarter = instructions.bitAnd(role.warp, 3);
  tmemOffset = instructions.shiftLeft(quarter, 16 + 5);
  switch (type.getLayout()) {
  case FragmentLayout::Rows:
    firstRow = instructions.mul(quarter, 32);
    row = instructions.add(firstRow, role.lane);
    firstColumn =
        instructions.mul(instructions.shiftRight(role.warp, 2), columns);
    tmemOffset = instructions.add(tmemOffset, firstColumn);
    return;
  case FragmentLayout::WarpHalves:
    firstRow = instructions.mul(instructions.bitAnd(quarter, 1), 32);
    row = instructions.add(firstRow, role.lane);
    firstColumn =
        instructions.mul(instructions.shiftRight(quarter, 1), columns);
    return;
  case FragmentLayout::LaneHalves:
    firstRow = instructions.mul(quarter, 16);
    row = instructions.add(firstRow, instructions.bitAnd(role.lane, 15));
    firstColumn =
        instructions.mul(instructions.shiftRight(role.lane, 4), columns);
    laneHalfDistance = columns;
    return;
  case FragmentLayout::Warpgroups:
    firstRow =
        instructions.add(instructions.mul(instructions.shiftRight(role.warp, 2),
                                          64 * type.getNumParts()),
                         instructions.mul(quarter, 16));
    row = instructions.add(firstRow, instructions.shiftRight(role.lane, 2));
    columns = 2;
    firstColumn = instructions.mul(instructions.bitAnd(role.lane, 3), 2);
    return;
  case FragmentLayout::WarpgroupColumns:
    firstRow = instructions.i32(0);
    row = instructions.mul(instructions.bitAnd(role.lane, 3), 2);
    columns = 1;
    warpColumn =
        instructions.add(instructions.mul(instructions.shiftRight(role.warp, 2),
                                          64 * type.getNumParts()),
                         instructions.mul(quarter, 16));
    firstColumn =
        instructions.add(warpColumn, instructions.shiftRight(role.lane, 2));
    return;
  }
}

SmallVector<PairOffset> mlir::fp8::getPairOffsets(FragmentType type) {
  SmallVector<PairOffset> offsets;
  bool swapped = type.isSwapped();
  for (int64_t part = 0; part < type.getNumParts(); ++part)
    for (int64_t whole = 0; whole < type.getShape()[!swapped]; whole += 8)
      for (int64_t divided : {64 * part, 64 * part + 8})
        offsets.push_back(swapped ? PairOffset{whole, divided}
                                  : PairOffset{divided, whole});
  return offsets;
}
