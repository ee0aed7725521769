// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many clusters a GPU runs at a time.
#ifndef FP8_CHIP_CLUSTERS_H
#define FP8_CHIP_CLUSTERS_H

#include <algorithm>
#include <array>
#include <cstdint>

namespace fp8::chip {

/// The clusters of each size that run at a time, if a CTA fills an SM. A
/// cluster lies in one GPC, and GPCs have different numbers of SMs. GPUs of one
/// name differ, too: these are of one GPU. cuOccupancyMaxActiveClusters tells
/// them.
struct ClusterRoom {
  /// The sizes whose clusters are counted. Other sizes have those of the next.
  static constexpr std::array<int64_t, 7> kSizes = {3, 4, 5, 6, 7, 8, 16};
  std::array<int64_t, kSizes.size()> counts;

  /// The CTAs that run at a time in clusters of `size` CTAs, on a GPU with so
  /// many SMs. Two SMs are a TPC, so clusters of two fit everywhere.
  constexpr int64_t countCtas(int64_t size, int64_t multiprocessors) const {
    if (size <= 2)
      return multiprocessors / size * size;
    for (size_t i = 0; i < kSizes.size(); ++i)
      if (size <= kSizes[i])
        return std::min(counts[i], multiprocessors / size) * size;
    return 0;
  }
};

/// Of an H200 with 132 SMs, driver 580.159.
inline constexpr ClusterRoom kHopperClusters = {{39, 30, 22, 17, 15, 15, 7}};
/// Published for a B300 are 15 clusters of 8 (docs/Timing.md). Assumed: there
/// are as many clusters of four or fewer as its SMs hold, and as many of five
/// or more as the SMs of those 15 hold.
inline constexpr ClusterRoom kBlackwellClusters = {{49, 37, 24, 20, 17, 15, 7}};

} // namespace fp8::chip

#endif // FP8_CHIP_CLUSTERS_H
