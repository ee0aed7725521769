// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One lane's access to any state space.

#ifndef FP8_LIB_SIMULATOR_ISA_ACCESS_ACCESS_H
#define FP8_LIB_SIMULATOR_ISA_ACCESS_ACCESS_H

#include "Machine/Machine.h"

namespace fp8::sim {

enum class AccessSpace : uint8_t {
  Generic,
  Global,
  Shared,
  SharedCluster,
  Local,
  Param,
  Const
};

/// Checks an access of `count` bytes and returns where the bytes are; null
/// after an error. `value`: what a store is about to write.
uint8_t *access(Warp &warp, const Inst &inst, int lane, AccessSpace space,
                uint64_t address, uint32_t count, bool write, Strength strength,
                const uint8_t *value = nullptr);

/// A generic address in shared memory as a shared::cluster address; false for
/// any other.
bool genericToShared(uint64_t address, uint64_t &shared);

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_ISA_ACCESS_ACCESS_H
