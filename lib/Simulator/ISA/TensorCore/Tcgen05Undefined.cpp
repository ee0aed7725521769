// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What undefined rows of the operands of tcgen05.mma leave undefined of D, in
// tensor memory.

#include "ISA/TensorCore/UndefinedRows.h"

#include "Memory/TensorMemory.h"

using namespace fp8::sim;

void fp8::sim::leaveUndefined(const MmaOperation &op,
                              const UndefinedOperand &operand,
                              const std::array<MmaSide, 2> &sides) {
  const MmaShape &s = op.shape;
  /// Element (row, column) of D, of which the CTA `side` has the row.
  auto leave = [&](uint32_t side, uint32_t row, uint32_t column,
                   OriginId origin) {
    const uint32_t part = column / s.dColumns(),
                   lane = op.firstLane + s.lane(row) + part * s.foldLanes();
    if (!(op.disabledLanes[side * 4 + lane / 32] >> lane % 32 & 1))
      sides[side].tensor->markUndefined(
          lane, op.dColumn + column % s.dColumns(), origin);
  };
  for (uint32_t r = 0; r < operand.rows.size(); ++r) {
    const OriginId origin = operand.rows[r];
    if (!origin)
      continue;
    if (operand.isA) {
      for (uint32_t column = 0; column < s.n; ++column)
        leave(operand.side, r, column, origin);
      continue;
    }
    const uint32_t column = operand.side * s.bRows() + r;
    for (uint32_t side = 0; side < (s.pair ? 2u : 1u); ++side)
      for (uint32_t row = 0; row < s.aRows() && !op.zeroColumns[column]; ++row)
        leave(side, row, column, origin);
  }
}
