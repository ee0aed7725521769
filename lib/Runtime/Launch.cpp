// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launch plan to cuLaunchKernelEx.
#include "fp8/Runtime/Launch.h"

#include "fp8/Runtime/TensorMap.h"

#include <cstring>

namespace fp8::runtime {
namespace {
std::string extent(const std::array<uint32_t, 3> &size) {
  return std::to_string(size[0]) + "x" + std::to_string(size[1]) + "x" +
         std::to_string(size[2]);
}

/// What a parameter is made of, for errors.
std::string operandName(const launch::Manifest &manifest, size_t index) {
  const launch::ParameterSpec &spec = manifest.parameters[index];
  if (const auto *map = std::get_if<launch::TensorMapSpec>(&spec))
    return manifest.arguments[map->argument].name;
  return "parameter " + std::to_string(index);
}
} // namespace

Expected<PreparedLaunch> PreparedLaunch::make(Kernel kernel,
                                              const launch::Manifest &manifest,
                                              const launch::LaunchPlan &plan,
                                              LaunchOptions options) {
  if (auto error =
          kernel.allow(plan.sharedMemoryBytes, plan.nonPortableCluster))
    return *error;
  if (manifest.debugWaits)
    if (auto error = kernel.device()->keepWaitRecords(
            kernel.module(), kernel.name(), *manifest.debugWaits))
      return *error;
  PreparedLaunch launch(std::move(kernel));
  launch.grid = plan.grid;
  launch.block = plan.block;
  launch.cluster = plan.cluster;
  launch.sharedMemoryBytes = plan.sharedMemoryBytes;
  launch.options = options;
  launch.options.programmaticSerialization |= plan.programmatic;
  const Driver &driver = launch.kernel().device()->driver();
  launch.parameters.resize(plan.parameters.size());
  for (size_t i = 0; i < plan.parameters.size(); ++i) {
    const launch::BoundParameter &parameter = plan.parameters[i];
    cu::TensorMap &bytes = launch.parameters[i];
    if (const auto *pointer = std::get_if<launch::BoundPointer>(&parameter)) {
      std::memcpy(&bytes, &pointer->address, sizeof(pointer->address));
    } else if (const auto *scalar =
                   std::get_if<launch::BoundScalar>(&parameter)) {
      // The driver copies as many bytes as the parameter has; both ends are
      // little-endian.
      std::memcpy(&bytes, &scalar->value, sizeof(scalar->value));
    } else if (auto error = encodeTensorMap(
                   driver, std::get<launch::BoundTensorMap>(parameter),
                   operandName(manifest, i), bytes)) {
      return *error;
    }
  }
  return launch;
}

std::optional<Error> PreparedLaunch::enqueue(cu::Stream stream) const {
  cu::LaunchAttribute attributes[2] = {};
  unsigned count = 0;
  // A cluster of one block is what a launch without the attribute has, too.
  if (cluster[0] * cluster[1] * cluster[2] > 1) {
    attributes[count].id = cu::LaunchAttributeId::ClusterDimension;
    attributes[count].value.clusterDim = {cluster[0], cluster[1], cluster[2]};
    ++count;
  }
  if (options.programmaticSerialization) {
    attributes[count].id =
        cu::LaunchAttributeId::ProgrammaticStreamSerialization;
    attributes[count].value.programmaticStreamSerializationAllowed = 1;
    ++count;
  }
  cu::LaunchConfig config = {};
  config.gridX = grid[0];
  config.gridY = grid[1];
  config.gridZ = grid[2];
  config.blockX = block[0];
  config.blockY = block[1];
  config.blockZ = block[2];
  config.sharedMemoryBytes = sharedMemoryBytes;
  config.stream = stream;
  config.attributes = count ? attributes : nullptr;
  config.attributeCount = count;
  std::vector<void *> pointers;
  for (const cu::TensorMap &parameter : parameters)
    pointers.push_back(const_cast<cu::TensorMap *>(&parameter));
  const Driver &driver = launchedKernel.device()->driver();
  const cu::LaunchConfig *configPointer = &config;
  void **extra = nullptr;
  return driver.call(driver.launchKernelEx, "cannot launch " + str(),
                     configPointer, launchedKernel.handle(), pointers.data(),
                     extra);
}

std::string PreparedLaunch::str() const {
  return "kernel '" + launchedKernel.name() + "' (grid " + extent(grid) +
         ", block " + extent(block) + ", cluster " + extent(cluster) + ", " +
         std::to_string(sharedMemoryBytes) + " bytes of dynamic shared memory)";
}

} // namespace fp8::runtime
