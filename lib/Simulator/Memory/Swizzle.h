// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The patterns in which tiles lie in shared memory (PTX ISA 5.5).

#ifndef FP8_LIB_SIMULATOR_MEMORY_SWIZZLE_H
#define FP8_LIB_SIMULATOR_MEMORY_SWIZZLE_H

#include "fp8/Simulator/TensorMap.h"

#include <cstdint>

namespace fp8::sim {

/// The swizzled place of a byte: the index of its chunk is exchanged by XOR
/// with the row bits above it. Works on addresses, so `address` counts from a
/// multiple of 1024 bytes.
inline uint32_t swizzleAddress(Swizzle swizzle, uint32_t address) {
  const SwizzlePattern &p = patternOf(swizzle);
  return address ^ (address >> p.shift & p.mask) ^
         (address >> p.flipShift & p.flipMask);
}

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MEMORY_SWIZZLE_H
