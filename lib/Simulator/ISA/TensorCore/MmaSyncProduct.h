// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The floating-point products of mma.sync, once their fragments are put
// together.

#ifndef FP8_LIB_SIMULATOR_ISA_TENSORCORE_MMASYNCPRODUCT_H
#define FP8_LIB_SIMULATOR_ISA_TENSORCORE_MMASYNCPRODUCT_H

#include "ISA/TensorCore/MmaKinds.h"
#include "ISA/TensorCore/Sparsity.h"
#include "Program/Types.h"

#include <cstdint>

namespace fp8::sim {

constexpr uint32_t kMaxM = 16, kN = 8;

/// The accumulators, as the bits of their type.
struct Results {
  uint64_t cells[kMaxM][kN];
};

/// A's and B's elements as numbers, and the exponents of their formats.
struct Factored {
  static constexpr uint32_t kMost = 32;
  float a[kMaxM * kMost], b[2 * kMost * kN];
  int16_t aExponents[kMaxM * kMost], bExponents[2 * kMost * kN];
  uint32_t m, k;
  uint32_t dense; ///< elements of K in B: k, or where A is sparse twice k
  std::array<Kept, kMaxM> kept; ///< of a sparse A

  bool isSparse() const { return dense != k; }

  void findExponents(MmaFormat formatA, MmaFormat formatB);
  /// The elements of A's K whose index has this value as bit 1, and what they
  /// multiply.
  Factored half(uint32_t which) const;
};

/// Adds the products to a row of sums of type `c`, which become of type `d`.
void addProducts(const chip::SumRule &rule, const Factored &factored,
                 uint32_t row, Type c, Type d, uint64_t *cells);

/// Neither chip has an instruction for 8 bits: ptxas converts the operands to
/// f16, multiplies first the lower two elements of each register and then the
/// upper two, and adds C last (ptxas 13.0, sm_90 and sm_100a;
/// docs/Numerics.md).
void multiplyFloat8(const Factored &factored, Type c, Type d, Results &results);

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_ISA_TENSORCORE_MMASYNCPRODUCT_H
