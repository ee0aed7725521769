// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fragments of mma.sync (PTX ISA 9.7.14.5), which those of wmma are made
// of: where elements are, and products of them.

#ifndef FP8_LIB_SIMULATOR_ISA_TENSORCORE_MMAFRAGMENTS_H
#define FP8_LIB_SIMULATOR_ISA_TENSORCORE_MMAFRAGMENTS_H

#include "ISA/TensorCore/MmaSyncForm.h"
#include "Machine/Machine.h"

namespace fp8::sim {

/// An element of a matrix.
struct MmaPlace {
  uint32_t row, column;
};

/// Where element `j` of A's register `r` of a lane lies. A register has
/// elements of one row; the next register is 8 rows below, if there are 16, and
/// the one behind these further on in K.
inline MmaPlace placeInA(const MmaSyncForm &mma, uint32_t lane, uint32_t r,
                         uint32_t j) {
  const uint32_t packed = mma.packed(), halves = mma.form().m / 8;
  return {lane / 4 + r % halves * 8,
          r / halves * 4 * packed + lane % 4 * packed + j};
}
/// The same of B: its row is along K.
inline MmaPlace placeInB(const MmaSyncForm &mma, uint32_t lane, uint32_t r,
                         uint32_t j) {
  const uint32_t packed = mma.packed();
  return {r * 4 * packed + lane % 4 * packed + j, lane / 4};
}
/// The same of C and D, whose elements are of `type`.
inline MmaPlace placeInC(Type type, uint32_t lane, uint32_t r, uint32_t j) {
  if (type == Type::F16)
    return {lane / 4 + r * 8, lane % 4 * 2 + j};
  return {lane / 4 + r / 2 * 8, lane % 4 * 2 + r % 2};
}

/// Where an instruction's registers are; metadata: of a sparse A.
struct MmaRegisters {
  const uint32_t *a, *b, *c, *d, *metadata;
};

/// The elements of C.
void loadResults(Warp &warp, const MmaSyncForm &form, const uint32_t *rows,
                 Results &results);
/// Adds one product to the results; marks what is undefined of D.
void multiplyFragments(Warp &warp, const Inst &inst, const MmaSyncForm &form,
                       const MmaRegisters &registers, Results &results);
void storeResults(Warp &warp, const MmaSyncForm &form, const uint32_t *rows,
                  const Results &results);

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_ISA_TENSORCORE_MMAFRAGMENTS_H
