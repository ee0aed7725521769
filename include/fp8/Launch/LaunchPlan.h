// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A manifest bound to actual arguments: all expressions as numbers, ready for
// any backend (the simulator, the CUDA driver).
#ifndef FP8_LAUNCH_LAUNCHPLAN_H
#define FP8_LAUNCH_LAUNCHPLAN_H

#include "fp8/Launch/Manifest.h"

#include <limits>

namespace fp8::launch {

struct BoundPointer {
  uint64_t address = 0;
};

struct BoundScalar {
  ElementType type = ElementType::I32;
  int64_t value = 0; ///< fits `type`, as signed or as unsigned
};

using BoundParameter =
    std::variant<tensor::TensorMap, BoundPointer, BoundScalar>;

/// The bytes of an argument, from its element 0 to its last element; all of
/// memory if its strides are such that arrayBytes does not tell.
struct BoundBytes {
  static constexpr uint64_t kAll = std::numeric_limits<uint64_t>::max();
  uint64_t address = 0;
  uint64_t bytes = kAll;

  bool isAllOfMemory() const { return bytes == kAll; }
};

struct LaunchPlan {
  std::array<uint32_t, 3> grid{};
  std::array<uint32_t, 3> block{};
  std::array<uint32_t, 3> cluster{};
  uint32_t sharedMemoryBytes = 0;
  bool nonPortableCluster = false;
  bool programmatic = false; ///< may start before the preceding kernel ends
  /// In the entry's order; empty when there is nothing to launch.
  std::vector<BoundParameter> parameters;
  std::vector<BoundBytes> arguments; ///< in the manifest's order

  /// True for a grid with a zero extent: the launch succeeds without work.
  bool nothingToLaunch() const { return !grid[0] || !grid[1] || !grid[2]; }
};

/// Binds `manifest` to a call. Checks, in this order: count, dtype, rank,
/// static extents and static strides of the arguments; the constraints, each
/// with its rule; grid, cluster and shared memory against the device's limits;
/// every parameter; that arguments with elements have an address. A stride that
/// leads to no other element (of an axis of one element, or of an array without
/// elements) may be that of a contiguous array instead. Of what a parameter
/// calls constant the plan says only what the manifest promises. The first
/// broken rule is the error. If the grid has a zero extent, the checks end
/// after the grid. A tensor map's extent of 0 becomes 1, and its strides are
/// then raised to the smallest legal ones: a kernel must not touch such a map.
Expected<LaunchPlan> bindLaunch(const Manifest &manifest,
                                const std::vector<ArgumentValue> &arguments,
                                const DeviceProperties &device);

/// The same for callers that have not copied the arguments to the device yet:
/// with one address for all, which all are aligned to.
Expected<LaunchPlan> bindAnywhere(const Manifest &manifest,
                                  std::vector<ArgumentValue> arguments,
                                  const DeviceProperties &device);

/// The checks of `bindLaunch` but for those of addresses.
std::optional<Error> checkLaunch(const Manifest &manifest,
                                 const std::vector<ArgumentValue> &arguments,
                                 const DeviceProperties &device);

/// Only the shape and dtype checks of `bindLaunch`, for callers that have no
/// memory yet.
std::optional<Error>
checkArguments(const Manifest &manifest,
               const std::vector<ArgumentValue> &arguments);

} // namespace fp8::launch

#endif // FP8_LAUNCH_LAUNCHPLAN_H
