// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lanes of a warp that are at one place, and what they wait for.

#ifndef FP8_LIB_SIMULATOR_MACHINE_LANEGROUP_H
#define FP8_LIB_SIMULATOR_MACHINE_LANEGROUP_H

#include <cstdint>

namespace fp8::sim {

struct Mbarrier;

enum class WaitKind : uint8_t {
  None,
  Converge,       ///< other lanes must come to an .aligned or .sync instruction
  Mbarrier,       ///< a phase of `barrier`
  Named,          ///< generation `ticket` of named barrier `id`
  ClusterBarrier, ///< barrier.cluster.wait
  TensorLoads,    ///< tcgen05.wait::ld
  TensorStores,   ///< tcgen05.wait::st
  BulkGroups,     ///< cp.async.bulk.wait_group
  CopyGroups,     ///< cp.async.wait_group
  TensorAlloc,    ///< tcgen05.alloc
  Wgmma,          ///< wgmma.wait_group
  Registers,      ///< setmaxnreg.inc
  Sleep,          ///< a failed poll: goes on when something happens
};

/// Lanes at one program counter.
struct LaneGroup {
  uint32_t mask = 0;
  uint32_t pc = 0;
  WaitKind wait = WaitKind::None;
  Mbarrier *barrier = nullptr;
  uint64_t ticket = 0; ///< phase, generation or registers waited for
  uint32_t id = 0;
  bool arrived =
      false; ///< resumes an instruction that has already taken effect
  bool timedOut = false; ///< resumes because nothing else could go on

  bool runnable() const { return wait == WaitKind::None; }
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MACHINE_LANEGROUP_H
