// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How tiles and K blocks are counted.

#ifndef FP8_LIB_TUNING_BLOCKS_H
#define FP8_LIB_TUNING_BLOCKS_H

#include <cstdint>

namespace fp8::tuning {

/// The depth of a K block.
inline constexpr int64_t kBlock = 128;
/// Rows, swapped columns, that a warpgroup multiplies at a time.
inline constexpr int64_t kProductRows = 64;

inline int64_t ceilDiv(int64_t value, int64_t divisor) {
  return (value + divisor - 1) / divisor;
}

} // namespace fp8::tuning

#endif // FP8_LIB_TUNING_BLOCKS_H
