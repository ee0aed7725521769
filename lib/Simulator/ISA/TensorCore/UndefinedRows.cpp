// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of an operand in shared memory that have undefined bytes.

#include "ISA/TensorCore/UndefinedRows.h"

using namespace fp8::sim;

RowOrigins fp8::sim::findUndefinedRows(SharedMemory &shared, const Inst &inst,
                                       const OperandLayout &layout,
                                       const MmaShape &shape,
                                       MmaFormat format) {
  RowOrigins found(layout.rows);
  const uint32_t outer = layout.mnMajor ? layout.k : layout.rows,
                 inner = layout.mnMajor ? layout.rows : layout.k,
                 perChunk = 16 / shape.elementBytes, bits = getRow(format).bits;
  const uint32_t *chunk = layout.chunks.data();
  for (uint32_t o = 0; o < outer; ++o)
    for (uint32_t c = 0; c < inner; c += perChunk) {
      UndefinedPart part;
      shared.findUndefined(inst, *chunk++, usedBytes(shape, format), part);
      if (!part.bytes)
        continue;
      if (!layout.mnMajor) {
        found[o] = part.first();
        continue;
      }
      // A chunk of an MN-major operand is of several rows. Codes of less than 8
      // bits lie across bytes.
      for (uint32_t e = 0; e < perChunk && c + e < inner; ++e)
        for (uint32_t byte = e * bits / 8; byte <= (e * bits + bits - 1) / 8;
             ++byte)
          if (part.bytes >> byte & 1)
            found[c + e] = part.origins[byte];
    }
  return found;
}
