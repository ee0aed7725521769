// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Boxes of tensors: which global element belongs to which byte of shared memory
// (PTX ISA 5.5).

#ifndef FP8_LIB_SIMULATOR_ISA_COPY_TMA_H
#define FP8_LIB_SIMULATOR_ISA_COPY_TMA_H

#include "fp8/Simulator/TensorMap.h"

#include <array>
#include <cstdint>
#include <functional>

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

/// Calls `run(global, shared, bytes)` for every piece of the box at `place`
/// that lies in the tensor and is contiguous on both sides (16 bytes at most
/// when swizzled), and `fill(shared, bytes)` for every piece outside.
/// `sharedBase`: the address of the box in shared memory; `shared` counts from
/// it, but is not less than 0 only because the box starts on a swizzle
/// boundary.
void walkBox(const TensorMap &map, const BoxPlace &place, uint32_t sharedBase,
             const std::function<void(uint64_t global, uint32_t shared,
                                      uint32_t bytes)> &run,
             const std::function<void(uint32_t shared, uint32_t bytes)> &fill);

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_ISA_COPY_TMA_H
