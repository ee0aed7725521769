// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who accessed each byte of global memory last, over all clusters of a grid.

#ifndef FP8_LIB_SIMULATOR_MEMORY_GLOBALMEMORY_H
#define FP8_LIB_SIMULATOR_MEMORY_GLOBALMEMORY_H

#include "Memory/ClusterAccesses.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace fp8::sim {

/// The latest accesses of all clusters, and what orders them. Two clusters are
/// ordered by strong accesses to global memory: after a read of what a thread
/// of another cluster has written, all of a cluster counts as ordered after
/// what that thread handed on. This misses races but invents none. The const
/// functions may be called by several threads.
class GlobalMemory {
public:
  GlobalMemory() : accesses(1) {}

  /// Takes over what the cluster has logged.
  void take(ClusterAccesses &cluster);

  /// The first access of another cluster, of those taken, that races with an
  /// access of `own`.
  std::optional<GlobalRace> findRace(const ClusterAccesses &own,
                                     const GlobalActor &actor,
                                     const GlobalRange &range) const;

  /// The number of the latest write to one of the bytes; 0: there is none.
  /// Later accesses have larger numbers.
  uint32_t lastWrite(uint64_t address, uint64_t count) const;
  /// All accesses so far have smaller numbers.
  uint32_t recorded() const { return uint32_t(accesses.size()); }
  const GlobalAccess &accessAt(uint32_t number) const {
    return accesses[number];
  }

  /// Whether strong accesses order another cluster's access before what the
  /// cluster does now.
  bool comesBefore(uint32_t cluster, const GlobalAccess &access) const;

  /// A strong write of a thread of the cluster, and what comes before it there.
  void release(uint32_t cluster, const std::shared_ptr<const Clock> &before,
               uint64_t address);
  /// A strong read. What a relaxed one has observed counts from the next fence
  /// of the cluster on. Both return what comes before of the cluster's own
  /// accesses, by way of other clusters or not; null if nothing does.
  const Clock *acquire(uint32_t cluster, uint64_t address);
  const Clock *observe(uint32_t cluster, uint64_t address);
  /// Other clusters may run at the same time.
  void fence(uint32_t cluster);
  /// A cluster that has taken a flag has executed fence.proxy.async behind it.
  bool hasFencedBehindFlag() const { return fencedBehindFlag; }

private:
  /// By cluster: which of its accesses come before.
  using Horizon = std::unordered_map<uint32_t, std::shared_ptr<const Clock>>;

  std::vector<GlobalAccess> accesses;
  AccessHistory history;
  std::unordered_map<uint32_t, Horizon> horizons; ///< by cluster
  std::unordered_map<uint32_t, Horizon> observed; ///< the same; of no others
  std::unordered_map<uint64_t, Horizon> flags;    ///< by address
  /// By cluster: ClusterAccesses::lastProxyFence, as of what was taken.
  std::unordered_map<uint32_t, uint32_t> proxyFences;
  bool fencedBehindFlag = false; ///< one of any cluster

  const Clock *take(Horizon &mine, uint32_t cluster, uint64_t address);
  static void join(Horizon &mine, const Horizon &other);
  bool ordered(uint32_t cluster, const GlobalActor &actor,
               uint32_t number) const;
  bool isFenced(const ClusterAccesses &own, const GlobalActor &actor,
                uint32_t number) const;
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MEMORY_GLOBALMEMORY_H
