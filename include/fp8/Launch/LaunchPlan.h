// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A manifest bound to actual arguments: everything as numbers, ready for any
// backend (the simulator, the CUDA driver) to carry out.
#ifndef FP8_LAUNCH_LAUNCHPLAN_H
#define FP8_LAUNCH_LAUNCHPLAN_H

#include "fp8/Launch/Manifest.h"

namespace fp8::launch {

/// A TensorMapSpec with its numbers; it obeys the rules of
/// cuTensorMapEncodeTiled (CUDA driver API, "Tensor Map Object Management").
struct BoundTensorMap {
  uint64_t address = 0;
  DataType dtype = DataType::F32;
  std::vector<uint64_t> dims;         ///< elements, innermost first; 1 to 2^32
  std::vector<uint64_t> stridesBytes; ///< of dims 1 and up
  std::vector<uint32_t> box;
  std::vector<uint32_t> elementStrides;
  Swizzle swizzle = Swizzle::None;
  Interleave interleave = Interleave::None;
  L2Promotion l2Promotion = L2Promotion::None;
  OobFill oobFill = OobFill::Zero;
};

struct BoundPointer {
  uint64_t address = 0;
};

struct BoundScalar {
  DataType type = DataType::I32;
  int64_t value = 0; ///< fits `type`, as signed or as unsigned
};

using BoundParameter = std::variant<BoundTensorMap, BoundPointer, BoundScalar>;

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
