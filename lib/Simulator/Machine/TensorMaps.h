// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tensor maps that a grid uses: what their bytes say, and which of the
// bytes a CTA may see.

#ifndef FP8_LIB_SIMULATOR_MACHINE_TENSORMAPS_H
#define FP8_LIB_SIMULATOR_MACHINE_TENSORMAPS_H

#include "Memory/ClusterAccesses.h"
#include "fp8/Simulator/TensorMap.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace fp8::sim {

/// Maps that were decoded before.
class TensorMapDecoder {
public:
  struct Decoded {
    TensorMap map;
    std::optional<std::string> problem; ///< why it cannot be used
  };
  /// What the 128 bytes say. The reference stays valid.
  const Decoded &decode(const uint8_t *bytes);

private:
  std::unordered_map<std::string, std::unique_ptr<Decoded>> decoded;
  const std::pair<const std::string, std::unique_ptr<Decoded>> *latest =
      nullptr;
};

/// Maps in global memory are read through the tensor-map proxy (PTX ISA 8.3,
/// 9.7.13.4), which keeps what it has read. After the kernel has written one, a
/// CTA sees that only when the writer has released it and the CTA has acquired
/// it after that, by the forms of fence.proxy.tensormap. Writes are numbered as
/// GlobalMemory does.
class TensorMaps {
public:
  /// The kernel is about to write a map, which holds `bytes`.
  void beforeWrite(uint64_t address, const uint8_t *bytes);
  /// The writes of the map up to this one are released.
  void release(uint64_t address, uint32_t write) { released[address] = write; }
  /// All writes of its cluster before this one are, by `fence`.
  void releaseAll(uint32_t before, const GlobalAccess &fence) {
    releases[fence.cluster].push_back({before, fence});
  }
  /// Whether a cluster's write is, by what `isKnown(fence)` if by a fence.
  template <typename F>
  bool isReleased(uint64_t address, uint32_t write, uint32_t cluster,
                  F isKnown) const {
    auto one = released.find(address);
    auto all = releases.find(cluster);
    return (one != released.end() && write <= one->second) ||
           (all != releases.end() &&
            std::any_of(all->second.rbegin(), all->second.rend(),
                        [&](const Release &release) {
                          return write < release.before &&
                                 isKnown(release.fence);
                        }));
  }

  /// A CTA, of all in the grid.
  using Reader = std::pair<uint32_t, uint32_t>; ///< cluster, rank
  /// The CTA sees the writes before this one, and so these bytes.
  void acquire(Reader reader, uint64_t address, uint32_t before,
               const uint8_t *bytes);
  bool hasAcquired(Reader reader, uint64_t address, uint32_t write) const;
  /// What the CTA sees that has not acquired the latest write; null: unknown.
  const uint8_t *staleBytes(Reader reader, uint64_t address) const;

private:
  using Bytes = std::vector<uint8_t>;
  struct View {
    uint32_t before = 0; ///< it sees the writes with smaller numbers
    Bytes bytes;
  };
  std::unordered_map<uint64_t, Bytes> original; ///< before the first write
  std::unordered_map<uint64_t, uint32_t> released;
  struct Release {
    uint32_t before; ///< the writes with smaller numbers
    GlobalAccess fence;
  };
  std::unordered_map<uint32_t, std::vector<Release>> releases; ///< by cluster
  std::map<std::pair<Reader, uint64_t>, View> views;
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MACHINE_TENSORMAPS_H
