// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who accessed each byte of global memory last, over all clusters of a grid.

#ifndef FP8_LIB_SIMULATOR_MEMORY_GLOBALMEMORY_H
#define FP8_LIB_SIMULATOR_MEMORY_GLOBALMEMORY_H

#include "Memory/Clocks.h"

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace fp8::sim {

class WarpOrder;

/// Who accesses global memory. An asynchronous operation keeps what its issuer
/// knew when it issued it.
struct GlobalActor {
  AccessTag tag;
  /// A strong access (PTX ISA 8.3): two of them are no race.
  bool strong = false;
  /// The warp, of a generic access: it is ordered after the warp's own.
  const WarpOrder *warp = nullptr;
  Clock known; ///< of an asynchronous operation
};

/// The latest accesses, and what orders them. Within a cluster that is its
/// clocks. Two clusters are ordered by strong accesses to global memory: after
/// a read of what another cluster has written, all of a cluster counts as
/// ordered after all that the other had done before. This misses races but
/// invents none.
class GlobalMemory {
public:
  struct Access {
    AccessTag tag;
    uint32_t cluster = 0;
    bool strong = false;
  };
  /// An earlier access that races with this one.
  struct Race {
    uint64_t address;
    Access earlier;
    bool earlierWrites;
    bool sameInstruction; ///< the earlier one is of another of its lanes
  };

  GlobalMemory() : accesses(1) {}

  /// A store instruction begins: bytes that it writes twice are written by two
  /// of its lanes.
  void beginStore() { latest = 0; }

  /// Records a read. Returns whether it races with an earlier write, the first
  /// of which it puts into `race`.
  bool read(uint32_t cluster, const GlobalActor &actor, uint64_t address,
            uint64_t count, Race &race);
  /// Records a write. `old`: the bytes now; `value`: those that it writes, or
  /// null when it combines them. Writing what is there is no race.
  bool write(uint32_t cluster, const GlobalActor &actor, uint64_t address,
             uint64_t count, const uint8_t *old, const uint8_t *value,
             Race &race);

  /// The number of the latest write to one of the bytes; 0: there is none.
  /// Later accesses have larger numbers.
  uint32_t lastWrite(uint64_t address, uint64_t count);
  /// All accesses so far have smaller numbers.
  uint32_t recorded() const { return uint32_t(accesses.size()); }
  const Access &accessAt(uint32_t number) const { return accesses[number]; }

  /// A strong access of the cluster's threads, which orders others.
  void release(uint32_t cluster, uint64_t address);
  void acquire(uint32_t cluster, uint64_t address);

private:
  static constexpr uint64_t kPageBytes = 4096;
  /// By byte, indices into `accesses`; 0: none.
  struct Page {
    std::array<uint32_t, kPageBytes> writes{}, reads{};
  };
  /// By cluster: how many of `accesses` come before.
  using Horizon = std::unordered_map<uint32_t, uint32_t>;

  std::vector<Access> accesses;
  uint32_t latest = 0; ///< the latest recorded, which further bytes share
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages;
  uint64_t cachedIndex = ~uint64_t(0);
  Page *cached = nullptr;
  std::unordered_map<uint32_t, Horizon> horizons; ///< by cluster
  std::unordered_map<uint64_t, Horizon> flags;    ///< by address

  Page &pageOf(uint64_t address);
  uint32_t record(uint32_t cluster, const GlobalActor &actor);
  bool ordered(uint32_t cluster, const GlobalActor &actor,
               uint32_t access) const;
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MEMORY_GLOBALMEMORY_H
