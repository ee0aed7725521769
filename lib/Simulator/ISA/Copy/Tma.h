// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Boxes of tensors: which global element belongs to which byte of shared memory
// (PTX ISA 5.5).

#ifndef FP8_LIB_SIMULATOR_ISA_COPY_TMA_H
#define FP8_LIB_SIMULATOR_ISA_COPY_TMA_H

#include "fp8/Simulator/TensorMap.h"

#include <array>
#include <cstdint>

namespace fp8::sim {

/// How a copy takes rows of elements from a tensor (PTX ISA 5.5.3, 5.5.4).
enum class BoxMode : uint8_t {
  Tile,
  Im2col, ///< pixels, one behind the other along W, H, D and N
  Rows,   ///< four rows of a matrix: tile::gather4 and tile::scatter4
};
constexpr uint32_t kGatheredRows = 4;

/// Where a copy takes them.
struct BoxPlace {
  BoxMode mode = BoxMode::Tile;
  /// Of the box, or of the first pixel; of rows the column, then the rows.
  std::array<int64_t, 5> coordinates{};
  /// Im2col: what is added to W, H and D of each pixel.
  std::array<uint32_t, 3> offsets{};
};

/// Takes the pieces of a box. `shared` counts from the box's address in shared
/// memory, but is not less than 0 only because the box starts on a swizzle
/// boundary.
class BoxVisitor {
public:
  virtual ~BoxVisitor() = default;

  /// A piece that lies in the tensor and is contiguous on both sides: 16 bytes
  /// at most when swizzled.
  virtual void run(uint64_t global, uint32_t shared, uint32_t bytes) = 0;
  /// A piece outside.
  virtual void fill(uint32_t shared, uint32_t bytes) = 0;
  /// A row that lies in the tensor whole, and as in the box: its bytes, and
  /// where it begins in the box before swizzling. True where nothing is left to
  /// do; else its pieces follow.
  virtual bool row(uint64_t /*global*/, uint32_t /*logical*/,
                   uint32_t /*bytes*/) {
    return false;
  }
};

/// Shows the box at `place`, whose address in shared memory is `sharedBase`.
void walkBox(const TensorMap &map, const BoxPlace &place, uint32_t sharedBase,
             BoxVisitor &visitor);
/// Copies such a row to the box, whose first byte is at `box`.
void copyRow(const TensorMap &map, uint32_t sharedBase, uint32_t logical,
             uint32_t bytes, uint8_t *box, const uint8_t *from);

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_ISA_COPY_TMA_H
