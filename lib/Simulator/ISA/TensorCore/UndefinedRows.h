// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Undefined data in an operand of a product: an undefined row of A leaves a row
// of D undefined, and one of B a column.

#ifndef FP8_LIB_SIMULATOR_ISA_TENSORCORE_UNDEFINEDROWS_H
#define FP8_LIB_SIMULATOR_ISA_TENSORCORE_UNDEFINEDROWS_H

#include "ISA/TensorCore/TensorCore.h"
#include "Memory/SharedMemory.h"

#include <vector>

namespace fp8::sim {

/// Why each row is undefined; 0 where it is not.
using RowOrigins = std::vector<OriginId>;

/// Those of an operand in shared memory that `inst` reads.
RowOrigins findUndefinedRows(SharedMemory &shared, const Inst &inst,
                             const OperandLayout &layout, const MmaShape &shape,
                             MmaFormat format);

/// The undefined rows of an operand of tcgen05.mma.
struct UndefinedOperand {
  bool isA;      ///< else it is B
  uint32_t side; ///< the CTA that holds these rows, as in `sides`
  RowOrigins rows;
};

/// Marks the cells of D that they leave undefined (Tcgen05Undefined.cpp).
/// `sides`: as of multiply().
void leaveUndefined(const MmaOperation &operation,
                    const UndefinedOperand &operand,
                    const std::array<MmaSide, 2> &sides);

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_ISA_TENSORCORE_UNDEFINEDROWS_H
