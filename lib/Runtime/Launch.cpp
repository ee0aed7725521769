// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launch plan to cuLaunchKernelEx.
#include "fp8/Runtime/Launch.h"

#include "fp8/Launch/HostArray.h"
#include "fp8/Runtime/TensorMap.h"

#include <cstring>

namespace fp8::runtime {
namespace {
std::string extent(const std::array<uint32_t, 3> &size) {
  return std::to_string(size[0]) + "x" + std::to_string(size[1]) + "x" +
         std::to_string(size[2]);
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
  if (plan.arguments.size() != manifest.arguments.size())
    return Error{"the launch plan has " +
                 std::to_string(plan.arguments.size()) +
                 " arguments, but its manifest " +
                 std::to_string(manifest.arguments.size()) +
                 "; make the plan by bindLaunch"};
  PreparedLaunch launch(std::move(kernel));
  launch.grid = plan.grid;
  launch.block = plan.block;
  launch.cluster = plan.cluster;
  launch.sharedMemoryBytes = plan.sharedMemoryBytes;
  launch.options = options;
  // A kernel that the manifest does not call programmatic may signal anywhere.
  launch.isOrdered = plan.programmatic || !options.programmaticSerialization;
  for (size_t i = 0; i < plan.arguments.size(); ++i) {
    launch.ownAddresses.push_back(plan.arguments[i].address);
    launch.argumentBytes.push_back(plan.arguments[i].bytes);
    launch.names.push_back(manifest.arguments[i].name);
    if (writes(manifest.arguments[i].access))
      launch.written.push_back(i);
  }
  // Earlier drivers cannot capture such a launch in a graph, and the kernel is
  // right without.
  constexpr int kProgrammaticGraphs = 12030;
  const Device &device = *launch.kernel().device();
  launch.options.programmaticSerialization |=
      plan.programmatic && device.info().driverVersion >= kProgrammaticGraphs;
  launch.parameters.resize(plan.parameters.size());
  launch.addressesOf.resize(plan.parameters.size());
  for (size_t i = 0; i < plan.parameters.size(); ++i) {
    const launch::BoundParameter &bound = plan.parameters[i];
    // The driver copies as many bytes as the parameter has; both ends are
    // little-endian.
    if (const auto *scalar = std::get_if<launch::BoundScalar>(&bound)) {
      std::memcpy(&launch.parameters[i], &scalar->value, sizeof(scalar->value));
      if (auto *spec =
              std::get_if<launch::ConstancySpec>(&manifest.parameters[i]);
          spec && !scalar->value)
        launch.constancies.push_back({i, spec->arguments});
      continue;
    }
    AddressOf &from = launch.addressesOf[i];
    const launch::ParameterSpec &spec = manifest.parameters[i];
    if (const auto *pointer = std::get_if<launch::BoundPointer>(&bound)) {
      from.argument = std::get<launch::PointerSpec>(spec).argument;
      from.address = pointer->address;
      std::memcpy(&launch.parameters[i], &pointer->address,
                  sizeof(pointer->address));
      continue;
    }
    from.argument = std::get<launch::TensorMapSpec>(spec).argument;
    from.name = manifest.arguments[*from.argument].name;
    from.inTensorMap = true;
    from.address = std::get<tensor::TensorMap>(bound).address;
    if (auto error = encodeTensorMap(device.driver(), device.info().capability,
                                     std::get<tensor::TensorMap>(bound),
                                     from.name, launch.parameters[i]))
      return *error;
  }
  return launch;
}

std::optional<Error>
PreparedLaunch::enqueueAt(cu::Stream stream, const uint64_t *addresses) const {
  for (size_t i = 0; i < names.size(); ++i)
    if (!addresses[i] && argumentBytes[i])
      return launch::nullAddress(names[i]);
  // A thread's launches use one buffer, so that none allocates.
  static thread_local std::vector<Parameter> values;
  values.assign(parameters.begin(), parameters.end());
  const Device &device = *launchedKernel.device();
  for (size_t i = 0; i < values.size(); ++i) {
    const AddressOf &from = addressesOf[i];
    if (!from.argument)
      continue;
    uint64_t address = addresses[*from.argument];
    if (address == from.address) // weights, which stay where they are
      continue;
    if (!from.inTensorMap)
      std::memcpy(&values[i], &address, sizeof(address));
    else if (auto error =
                 moveTensorMap(device.driver(), device.info().capability,
                               address, from.name, values[i]))
      return error;
  }
  const Driver &driver = device.driver();
  std::optional<CapturePoint> point = CapturePoint::find(driver, stream);
  if (!point)
    return enqueueValues(stream, values);
  CapturedLaunches &captured = device.captured();
  for (const Constancy &constancy : constancies) {
    int32_t isConstant =
        captured.areConstant(*point, locate(constancy.arguments, addresses));
    std::memcpy(&values[constancy.parameter], &isConstant, sizeof(isConstant));
  }
  if (auto error = enqueueValues(stream, values))
    return error;
  if (point = CapturePoint::find(driver, stream); point && isOrdered)
    captured.add(*point, locate(written, addresses));
  return std::nullopt;
}

std::vector<launch::BoundBytes>
PreparedLaunch::locate(const std::vector<unsigned> &which,
                       const uint64_t *addresses) const {
  std::vector<launch::BoundBytes> memory;
  for (unsigned i : which)
    memory.push_back({addresses[i], argumentBytes[i]});
  return memory;
}

std::optional<Error>
PreparedLaunch::enqueueValues(cu::Stream stream,
                              const std::vector<Parameter> &values) const {
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
  static thread_local std::vector<void *> pointers;
  pointers.clear();
  for (const Parameter &value : values)
    pointers.push_back(const_cast<Parameter *>(&value));
  const Driver &driver = launchedKernel.device()->driver();
  const cu::LaunchConfig *configPointer = &config;
  void **extra = nullptr;
  return driver.call(
      driver.launchKernelEx, [this] { return "cannot launch " + str(); },
      configPointer, launchedKernel.handle(), pointers.data(), extra);
}

std::optional<Error> PreparedLaunch::run() const {
  auto stream = Stream::create(launchedKernel.device());
  if (!stream)
    return stream.takeError();
  if (auto error = enqueue(*stream))
    return error;
  return stream->await(str());
}

std::string PreparedLaunch::str() const {
  return "kernel '" + launchedKernel.name() + "' (grid " + extent(grid) +
         ", block " + extent(block) + ", cluster " + extent(cluster) + ", " +
         std::to_string(sharedMemoryBytes) + " bytes of dynamic shared memory)";
}

} // namespace fp8::runtime
