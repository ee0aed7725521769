// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A manifest bound to actual arguments: everything as numbers, ready for any
// backend (the simulator, the CUDA driver) to carry out.
#ifndef FP8_LAUNCH_LAUNCHPLAN_H
#define FP8_LAUNCH_LAUNCHPLAN_H

#include "fp8/Launch/Manifest.h"

namespace fp8::launch {

struct BoundPointer {
  uint64_t address = 0;
};

struct BoundScalar {
  ElementType type = ElementType::I32;
  int64_t value = 0; ///< fits `type`, as signed or as unsigned
};

using BoundParameter = std::variant<tensor::TensorMap, BoundPointer, BoundScalar>;

struct LaunchPlan {
  std::array<uint32_t, 3> grid{};
  std::array<uint32_t, 3> block{};
  std::array<uint32_t, 3> cluster{};
  uint32_t sharedMemoryBytes = 0;
  bool nonPortableCluster = false;
  bool programmatic = false; ///< may start before the kernel in front has ended
  /// In the entry's order; empty when there is nothing to launch.
  std::vector<BoundParameter> parameters;

  /// A grid with a zero extent: success without a launch.
  bool nothingToLaunch() const { return !grid[0] || !grid[1] || !grid[2]; }
};

/// Binds `manifest` to a call. Checks, in this order: count, dtype, rank,
/// static extents and static strides of the arguments; the constraints, each
/// with its rule; grid, cluster and shared memory against the device's limits;
/// every parameter. The first broken one is the error. A grid with a zero
/// extent ends the checks after the grid. A tensor map's extent of 0 becomes 1,
/// and its strides are then raised to the smallest legal ones: a kernel must
/// not touch such a map.
Expected<LaunchPlan> bindLaunch(const Manifest &manifest,
                                const std::vector<ArgumentValue> &arguments,
                                const DeviceProperties &device);

/// Shape and dtype checks of `bindLaunch` alone, for a caller that has them
/// before it has memory.
std::optional<Error>
checkArguments(const Manifest &manifest,
               const std::vector<ArgumentValue> &arguments);

} // namespace fp8::launch

#endif // FP8_LAUNCH_LAUNCHPLAN_H
