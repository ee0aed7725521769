// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A CTA: its warps, shared memory, tensor memory, mbarriers and named barriers.

#ifndef FP8_LIB_SIMULATOR_MACHINE_CTA_H
#define FP8_LIB_SIMULATOR_MACHINE_CTA_H

#include "Machine/Mbarrier.h"
#include "Machine/Warpgroup.h"
#include "Memory/SharedMemory.h"
#include "Memory/TensorMemory.h"

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace fp8::sim {

class Machine;
class Warp;

/// One of the 16 barriers of bar.sync and bar.arrive.
struct NamedBarrier {
  uint32_t expected = 0; ///< threads; 0 before the first arrival
  uint32_t arrived = 0;  ///< threads, in warps
  bool wholeCta = false; ///< expects all threads that have not exited
  uint64_t generation = 0;
  ArrivedLanes lanes; ///< that have arrived, of warps that do not count yet
  SyncClocks arriving;
  SyncClocks done;
  uint32_t reduceAnd = 1, reduceOr = 0, reducePopc = 0; ///< of bar.red
  uint32_t resultAnd = 0, resultOr = 0, resultPopc = 0;
  const Inst *first = nullptr;

  /// All lanes of the warp have arrived.
  void count(const WarpOrder &warp) {
    lanes.erase(warp.globalIndex);
    arrived += 32;
  }
};

/// The latest access of an agent of another CTA.
struct RemoteAccess {
  uint32_t time = 0;
  uint32_t rank = 0; ///< of the CTA that it came from
  const Inst *inst = nullptr;
  /// Who knows that this agent has reached this time knows of the access, if
  /// commits land in order. Time 0: nobody does.
  uint32_t orderAgent = 0, orderTime = 0;
};

/// What the even CTA of a pair has allocated for both, and the odd one has not
/// taken yet.
struct PairAllocation {
  uint32_t column = 0;  ///< what was found
  uint32_t columns = 0; ///< how many
  uint32_t address = 0; ///< where alloc writes the column to
  const Inst *inst = nullptr;
};

/// Threads of a CTA have waited for a failed clusterlaunchcontrol.try_cancel.
struct FailureSeen {
  AccessTag wait;
  uint32_t lanes = 0; ///< that have waited
};

class Cta {
public:
  Cta(Machine &machine, uint32_t rank, std::array<uint32_t, 3> index,
      std::array<uint32_t, 3> indexInCluster, uint32_t sharedBytes);
  ~Cta();

  Machine &machine;
  const uint32_t rank; ///< in the cluster
  const std::array<uint32_t, 3> index;
  const std::array<uint32_t, 3> indexInCluster;
  SharedMemory shared;
  TensorMemory tensor;
  std::deque<PairAllocation> forPeer; ///< in order; of an even CTA
  const Inst *awaitsPair =
      nullptr; ///< where a warp of an odd CTA waits for one
  std::map<uint32_t, FailureSeen> failuresSeen; ///< by agent
  /// The first griddepcontrol.launch_dependents; null: none yet.
  const Inst *startedNext = nullptr;
  std::unordered_map<uint32_t, RemoteAccess> remote; ///< by agent
  bool ended = false; ///< its last warp has exited
  std::vector<std::unique_ptr<Warp>> warps;
  std::array<NamedBarrier, 16> namedBarriers;
  std::array<Warpgroup, 8> warpgroups;
  uint32_t freeRegisters = 0; ///< of the pool of setmaxnreg, in registers of
                              ///< all threads of a warp
  std::deque<Mbarrier> mbarriers; ///< stable addresses

  /// The mbarrier at `offset`, or null when none was ever initialised there.
  Mbarrier *findBarrier(uint32_t offset);
  Mbarrier &makeBarrier(uint32_t offset);
  uint32_t liveThreads() const;
  bool finished() const;
  /// Completes `barrier` when all are there; wakes its waiters.
  void tryCompleteNamed(NamedBarrier &barrier);
  /// After lanes of the warp exited, of which others may wait for them.
  void lanesExited(const Warp &warp);
  /// After a warp's lanes exited.
  void threadsExited();
  /// Reports what the CTA leaves behind.
  void checkEnd();

private:
  /// At the end of the later CTA of a pair: what only one of them has done.
  void checkPairEnd();
  std::vector<int32_t> barrierSlots; ///< by offset / 8
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MACHINE_CTA_H
