// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether clusters that ran at the same time have accessed the same bytes.

#ifndef FP8_LIB_SIMULATOR_MEMORY_OVERLAPS_H
#define FP8_LIB_SIMULATOR_MEMORY_OVERLAPS_H

#include "Memory/ClusterAccesses.h"

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace fp8::sim {

/// Bytes that clusters have written, by granules of 16.
class Overlaps {
public:
  /// Enters the writes in a log. Returns whether another cluster has written
  /// one of the bytes. `cluster`: a number of the caller's.
  bool addWrites(uint32_t cluster, const ClusterAccesses &accesses);
  /// Whether a read in the log is of a byte that another cluster has written.
  bool hasReads(uint32_t cluster, const ClusterAccesses &accesses) const;

private:
  static constexpr uint64_t kGranule = 16, kPageBytes = 4096;
  struct Part {
    uint32_t cluster;
    uint16_t bytes; ///< of the granule, a bit each
  };
  /// Most granules have one part; `further` has the others.
  struct Granule {
    Part first{0, 0};
    bool isShared = false;
  };
  std::unordered_map<uint64_t, std::array<Granule, kPageBytes / kGranule>>
      pages;
  std::unordered_map<uint64_t, std::vector<Part>> further; ///< by address

  /// Whether a page of the entry has been written.
  bool touches(const ClusterAccesses::Entry &entry) const;
  template <typename F>
  static void forGranules(const ClusterAccesses::Entry &entry, F f);
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MEMORY_OVERLAPS_H
