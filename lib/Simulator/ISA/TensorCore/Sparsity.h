// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sparse MMAs: A keeps two of four consecutive elements of a row, or one of
// two, and metadata says which (PTX ISA 9.7.14.6.1). A chunk of four, or two,
// has four bits.

#ifndef FP8_LIB_SIMULATOR_ISA_TENSORCORE_SPARSITY_H
#define FP8_LIB_SIMULATOR_ISA_TENSORCORE_SPARSITY_H

#include "Numerics/Accumulation.h"

#include <array>
#include <cstdint>

namespace fp8::sim {

/// Elements that are kept of a row of A, in one instruction.
constexpr uint32_t kMaxKept = 64;

/// For each element that a row keeps, the row of B that it multiplies.
using Kept = std::array<uint8_t, kMaxKept>;

/// Where four bits of metadata are: in the word of a lane (of a warp, or of
/// tensor memory), and of which column of tensor memory.
struct MetadataPlace {
  uint32_t lane, column, shift;
};

/// Those of the chunk of a row, of `chunks` a row, among 16 rows of a warp:
/// threads of a quad have them, `selector` says which where not all do (PTX
/// ISA 9.7.14.6.1, 9.7.15.6.1).
MetadataPlace findInWarp(uint32_t row, uint32_t chunk, uint32_t chunks,
                         bool bytes, uint32_t selector);
/// Those of the chunk of a row among 128 lanes of tensor memory; `bytes`: A has
/// elements of at most 8 bits (PTX ISA 9.7.16.10.6).
MetadataPlace findInTensorMemory(uint32_t row, uint32_t chunk, bool bytes,
                                 uint32_t selector);

/// What a chunk keeps: two of four elements; one of two (tf32); or of four
/// pairs two (kinds mxf4 and mxf4nvf4, PTX ISA 9.7.16.10.6).
enum class Grain : uint8_t { TwoOfFour, OneOfTwo, TwoPairsOfFour };
/// The elements that it keeps.
constexpr uint32_t keptOfChunk(Grain grain) {
  return grain == Grain::OneOfTwo ? 1 : grain == Grain::TwoOfFour ? 2 : 4;
}
/// Reads the elements that a chunk keeps into `kept`.
void keepChunk(Kept &kept, uint32_t chunk, uint32_t bits, Grain grain);

/// The rows of B that a row of A multiplies, one behind the other.
class KeptRows {
public:
  /// Row j + 1 of B is `pitch` elements behind row j, of which `n` count.
  Factors select(Factors b, const Kept &kept, uint32_t count, uint32_t n,
                 uint32_t pitch);

private:
  std::array<float, kMaxKept * 256> values;
  std::array<int16_t, kMaxKept * 256> exponents;
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_ISA_TENSORCORE_SPARSITY_H
