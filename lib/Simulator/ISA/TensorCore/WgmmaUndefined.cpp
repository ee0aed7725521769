// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Undefined data in the operands of wgmma.mma_async: an undefined row of A
// leaves a row of D undefined, and one of B a column.

#include "ISA/TensorCore/WgmmaOperation.h"

#include "Machine/Cta.h"

#include <algorithm>

using namespace fp8::sim;

/// Of each row of an operand, why it is undefined; 0 if it is not.
static std::vector<OriginId> findRows(SharedMemory &shared, const Inst &inst,
                                      const OperandLayout &layout,
                                      uint32_t perChunk) {
  std::vector<OriginId> found(layout.rows);
  const uint32_t outer = layout.mnMajor ? layout.k : layout.rows,
                 inner = layout.mnMajor ? layout.rows : layout.k;
  const uint32_t *chunk = layout.chunks.data();
  for (uint32_t o = 0; o < outer; ++o)
    for (uint32_t c = 0; c < inner; c += perChunk) {
      UndefinedPart part;
      shared.findUndefined(inst, *chunk++, 16, part);
      if (!part.bytes)
        continue;
      if (!layout.mnMajor)
        found[o] = part.first();
      // Sixteen bytes of an MN-major operand are of several rows.
      for (uint32_t byte = 0; byte < 16 && layout.mnMajor; ++byte)
        if (uint32_t row = c + byte * perChunk / 16;
            row < inner && part.bytes >> byte & 1)
          found[row] = part.origins[byte];
    }
  return found;
}

void WgmmaOperation::findUndefined(
    Warp &warp, const Inst &inst,
    std::vector<WgmmaState::Flight::Undefined> &found) const {
  const bool isPair = shape.result == MmaResult::F16; // of columns
  const uint32_t results = resultRows(shape.result, shape.n);
  auto leaveRow = [&](uint32_t row, OriginId origin) {
    if (row / 16 != warp.id % kWarpgroup)
      return;
    for (uint32_t n = 0; n < results; ++n)
      if ((isPair ? n : n / 2) % 2 == row % 16 / 8)
        found.push_back({rows[n], 0xfu << row % 8 * 4, origin});
  };
  auto leaveColumn = [&](uint32_t column, OriginId origin) {
    for (uint32_t half = 0; half < 2; ++half) {
      uint32_t n = column / 8 * 2 + half;
      found.push_back({rows[isPair ? n : n * 2 + column % 2],
                       0x11111111u << column % 8 / 2, origin});
    }
  };
  for (const auto &layout : {a, b}) {
    if (!layout)
      continue;
    std::vector<OriginId> origins =
        findRows(warp.cta.shared, inst, *layout, 16 / shape.elementBytes);
    for (uint32_t row = 0; row < origins.size(); ++row)
      if (origins[row] && layout == a)
        leaveRow(row, origins[row]);
      else if (origins[row])
        leaveColumn(row, origins[row]);
  }
}
