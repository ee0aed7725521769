// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lanes whose accesses follow each other in memory: most often they can be
// checked and recorded as one.

#ifndef FP8_LIB_SIMULATOR_ISA_ACCESS_LANERUNS_H
#define FP8_LIB_SIMULATOR_ISA_ACCESS_LANERUNS_H

#include "ISA/Access/Access.h"

namespace fp8::sim {

/// Lanes that access the same bytes, or each those behind the lane before it.
struct LaneRun {
  uint32_t lanes;   ///< a bit each
  uint64_t address; ///< of the first
  uint32_t bytes;   ///< of all
  uint32_t pitch;   ///< from a lane to the next; 0: the same bytes
};

/// Calls f for the runs of the mask's lanes, which access `size` bytes each at
/// addresses[lane] + offset. `sharing`: lanes with the same bytes are a run.
template <typename F>
void eachRun(uint32_t mask, const uint64_t *addresses, uint64_t offset,
             uint32_t size, bool sharing, F f) {
  while (mask) {
    const int first = __builtin_ctz(mask);
    LaneRun run{1u << first, addresses[first] + offset, size, size};
    mask &= mask - 1;
    if (mask && sharing && addresses[__builtin_ctz(mask)] == addresses[first])
      run.pitch = 0;
    for (uint64_t next = run.address + run.pitch; mask; next += run.pitch) {
      const int lane = __builtin_ctz(mask);
      if (addresses[lane] + offset != next)
        break;
      run.lanes |= 1u << lane;
      run.bytes += run.pitch;
      mask &= mask - 1;
    }
    f(run);
  }
}

/// Checks and records the weak accesses of several lanes as access() does, and
/// returns where the bytes are. Null where a lane's access may need a report,
/// or more than one step: then nothing has changed. `value`: of a store, all
/// bytes.
uint8_t *accessRun(Warp &warp, const Inst &inst, AccessSpace space,
                   const LaneRun &run, uint32_t size, const uint8_t *value);

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_ISA_ACCESS_LANERUNS_H
