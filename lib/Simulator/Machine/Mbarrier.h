// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An mbarrier object (PTX ISA 9.7.13.15): phase, expected and pending arrivals,
// tx-count.

#ifndef FP8_LIB_SIMULATOR_MACHINE_MBARRIER_H
#define FP8_LIB_SIMULATOR_MACHINE_MBARRIER_H

#include "Machine/BarrierLog.h"
#include "Memory/Clocks.h"
#include "Memory/WarpOrder.h"

#include <cstdint>
#include <vector>

namespace fp8::sim {

class Cta;
class Warp;
struct Inst;

/// A wait of a warp's lanes, together or of one alone, that is over.
struct PhaseWait {
  uint32_t agent; ///< in Clock waits
  uint32_t time;
  const Inst *inst;
};

/// What brought a phase to its end.
struct PhaseArrivals {
  struct Arrival {
    uint32_t agent, time; ///< of the arriving warp, in Clock reached
    uint32_t begun;       ///< when the instruction that arrives began
    uint32_t count;
  };
  std::vector<Arrival> made;
  ArrivedLanes lanes;  ///< whose arrivals these are
  bool landed = false; ///< bytes, or arrivals of issued work, are among them
  /// The thread whose tcgen05.commit all of them are; else no warp.
  struct Committer {
    const Warp *warp = nullptr;
    int lane = 0;

    bool operator==(const Committer &other) const {
      return warp == other.warp && lane == other.lane;
    }
  } committer;
};

struct Mbarrier {
  Cta *cta = nullptr;
  uint32_t offset = 0;
  bool live = false;
  uint32_t expected = 0;
  uint32_t pending = 0;
  int64_t transactions = 0;
  uint64_t phase = 0; ///< phases completed since init
  uint32_t agent = 0; ///< its place in clocks: of its phases, and of copies
                      ///< that its CTA issues or that combine
  uint32_t agentOfOthers = 0; ///< of copies that other CTAs issue; 0: none did
  uint32_t phaseBase = 0;     ///< phases of earlier lives at this address
  uint32_t initAgent = 0;
  uint32_t initTime = 0;
  bool initFenced = false; ///< fence.mbarrier_init covers the init
  const Inst *initInst = nullptr;
  SyncClocks arriving; ///< of arrivals so far
  SyncClocks done;     ///< of completed phases: what a successful wait acquires
  /// Likewise what threads of other CTAs bring, and their copies and commits,
  /// which a wait of scope .cta does not acquire. `arriving` and `done` have
  /// its time.
  SyncClocks arrivingFromOthers, doneFromOthers;

  /// The latest of each agent that found a phase complete by its parity, since
  /// the latest phase completed: all must be over when the next does.
  std::vector<PhaseWait> waits;

  /// Arrivals of the current phase, and of the latest that completed.
  PhaseArrivals arrivals, earlier;

  /// Lanes that have executed cp.async.mbarrier.arrive, until all have.
  ArrivedLanes copying;

  PhaseLog log;

  uint32_t time() const { return phaseBase + uint32_t(phase); }
};

constexpr uint32_t kMaxBarrierCount = (1u << 20) - 1;
constexpr int64_t kMaxTransactions = (int64_t(1) << 20) - 1;

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MACHINE_MBARRIER_H
