// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one cluster has accessed in global memory, and in what order.

#ifndef FP8_LIB_SIMULATOR_MEMORY_CLUSTERACCESSES_H
#define FP8_LIB_SIMULATOR_MEMORY_CLUSTERACCESSES_H

#include "Memory/AccessHistory.h"
#include "Memory/Clocks.h"
#include "Program/Scope.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace fp8::sim {

class WarpOrder;

/// Who accesses global memory. An asynchronous operation keeps what its issuer
/// knew when it issued it.
struct GlobalActor {
  AccessTag tag;
  /// A strong access (PTX ISA 8.3): two of them are no race, if the scope of
  /// each includes the other's thread.
  bool strong = false;
  /// The warp, of a generic access: it is ordered after the warp's own.
  const WarpOrder *warp = nullptr;
  Clock known; ///< of an asynchronous operation
  /// Of a strong access: it orders clusters only together with fences.
  bool relaxed = false;
  /// Of an operation of the async proxy: the generic accesses that
  /// fence.proxy.async has made visible to it.
  std::optional<Clock> fenced;
  Scope scope = Scope::Gpu; ///< of a strong access
};

/// Bytes of global memory that an access reads or writes.
struct GlobalRange {
  uint64_t address = 0;
  uint64_t count = 0;
  bool write = false;
  /// Of a write: the bytes now, and those that it writes. Null: it combines
  /// them, which is a change. Writing what is there is no race.
  const uint8_t *old = nullptr, *value = nullptr;
  bool ofAtomic = false; ///< a read whose write follows

  /// The first of `n` bytes from `at` on that the write changes; all of them
  /// are in the range.
  std::optional<uint64_t> firstChange(uint64_t at, uint64_t n) const;
};

/// An access as the grid keeps it.
struct GlobalAccess {
  AccessTag tag;
  uint32_t cluster = 0;
  uint32_t number = 0; ///< of the accesses of its cluster
  bool strong = false;
  Scope scope = Scope::Gpu;

  /// Whether this and the actor's, of threads that are both in `reach`, are
  /// morally strong.
  bool isMorallyStrong(const GlobalActor &actor, Scope reach) const {
    return strong && actor.strong && scope >= reach && actor.scope >= reach;
  }
};

/// An earlier access that races with another.
struct GlobalRace {
  uint64_t address;
  GlobalAccess earlier;
  bool earlierWrites;
  enum Fault {
    Unordered,
    SameInstruction, ///< the earlier one is of another of its lanes
    Unfenced,        ///< it comes before, but no fence of the async proxy does
    NarrowScope,     ///< both are strong, of scopes without the other's thread
  } fault;
};

/// Within the cluster, its clocks order accesses. What it has accessed is
/// logged until the grid takes it.
class ClusterAccesses {
public:
  ClusterAccesses(uint32_t cluster, uint32_t warpsInCta, uint32_t ctas)
      : cluster(cluster), warpsInCta(warpsInCta), ctas(ctas),
        genericAgents((uint32_t(Role::OneLane) + 1) * warpsInCta * ctas),
        accesses(1) {}

  /// A store instruction begins: bytes that it writes twice are written by two
  /// of its lanes.
  void beginStore() { latest = 0; }

  /// Records an access. Returns the first earlier access of the cluster that it
  /// races with.
  std::optional<GlobalRace> record(const GlobalActor &actor,
                                   const GlobalRange &range);

  /// Records it if it races with none; else it is false.
  bool recordOrdered(const GlobalActor &actor, const GlobalRange &range);

  /// All accesses so far have smaller numbers.
  uint32_t recorded() const { return uint32_t(accesses.size()); }
  /// The latest write of the cluster to one of the bytes, if there is any.
  std::optional<GlobalAccess> lastWrite(uint64_t address, uint64_t count) const;
  uint32_t number() const { return cluster; }

  /// A thread of the cluster reads a flag in global memory.
  void takeFlag() { flagTaken = true; }
  /// A thread of the cluster executes fence.proxy.async.
  void fenceProxy() {
    fencedBelow = recorded();
    fencedBehindFlag |= flagTaken;
  }
  /// The last such fence stands between accesses with smaller numbers and what
  /// follows it; 0: there was none.
  uint32_t lastProxyFence() const { return fencedBelow; }
  bool hasFencedBehindFlag() const { return fencedBehindFlag; }
  /// Whether the access was made through the generic proxy, and so needs a
  /// fence before one of the async proxy.
  bool isGeneric(const GlobalAccess &access) const {
    return access.tag.agent() < genericAgents;
  }

  struct Entry {
    uint64_t address;
    uint32_t count;
    uint32_t number : 31;
    uint32_t write : 1;
  };
  const std::vector<Entry> &log() const { return entries; }
  void clearLog() { entries.clear(); }
  const GlobalAccess &operator[](uint32_t number) const {
    return accesses[number];
  }

private:
  const uint32_t cluster, warpsInCta, ctas, genericAgents;
  uint32_t fencedBelow = 0;
  bool flagTaken = false, fencedBehindFlag = false;
  std::vector<GlobalAccess> accesses;
  uint32_t latest = 0; ///< the latest recorded, which further bytes share
  AccessHistory history;
  std::vector<Entry> entries;

  uint32_t numberOf(const GlobalActor &actor);
  void append(const GlobalRange &range, uint32_t number);
  void note(const GlobalActor &actor, const GlobalRange &range,
            uint32_t number);
  /// Of a warp's agent.
  uint32_t rankOf(AccessTag tag) const {
    return tag.agent() / warpsInCta % ctas;
  }
  bool ordered(const GlobalActor &actor, uint32_t number) const;
  bool isFenced(const GlobalActor &actor, uint32_t number) const;
  std::optional<GlobalRace> findRace(const GlobalActor &actor,
                                     const GlobalRange &range,
                                     uint32_t mine) const;
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MEMORY_CLUSTERACCESSES_H
