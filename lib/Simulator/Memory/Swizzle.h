// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The patterns in which tiles lie in shared memory (PTX ISA 5.5).

#ifndef FP8_LIB_SIMULATOR_MEMORY_SWIZZLE_H
#define FP8_LIB_SIMULATOR_MEMORY_SWIZZLE_H

#include "fp8/Simulator/TensorMap.h"

#include <cstdint>

namespace fp8::sim {

/// The swizzled place of a byte: the 16-byte chunk index is exchanged by XOR
/// with the row bits above it. Works on addresses, so `address` counts from a
/// multiple of 1024 bytes.
inline uint32_t swizzleAddress(Swizzle swizzle, uint32_t address) {
  switch (swizzle) {
  case Swizzle::None:
    return address;
  case Swizzle::B32:
    return address ^ (address >> 3 & 0x10);
  case Swizzle::B64:
    return address ^ (address >> 3 & 0x30);
  case Swizzle::B128:
    return address ^ (address >> 3 & 0x70);
  }
  return address;
}

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MEMORY_SWIZZLE_H
