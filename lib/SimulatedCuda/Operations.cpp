// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Allocations, copies and launches, for both APIs.
#include "Operations.h"

#include "fp8/Chip/LaunchLimits.h"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>

namespace fp8::cuda {

cudaError_t allocate(Gpu &gpu, void **result, size_t bytes, Reach reach,
                     const char *maker) {
  if (!result)
    return cudaErrorInvalidValue;
  auto address = gpu.memory.allocate(bytes, reach, maker);
  if (!address)
    return cudaErrorMemoryAllocation;
  *result = reinterpret_cast<void *>(*address);
  return cudaSuccess;
}

cudaError_t release(Gpu &gpu, uint64_t address) {
  if (!address || gpu.memory.release(address))
    return cudaSuccess;
  const bool again = gpu.memory.device.findReleased(address).has_value();
  return gpu.fail(cudaErrorInvalidValue,
                  again ? "the program frees memory twice"
                        : "the program frees memory that is not allocated");
}

/// Runs or records `work` in the stream.
static cudaError_t enqueue(Gpu &gpu, cudaStream_t handle, Work work) {
  Stream *stream = gpu.streams.find(handle);
  if (!stream)
    return cudaErrorInvalidResourceHandle;
  return gpu.streams.enqueue(*stream, std::move(work));
}

/// Whether `what` may touch the range; says why not.
static bool check(Gpu &gpu, const char *what, uint64_t address, size_t bytes,
                  Side side) {
  auto fault = gpu.memory.findFault(address, bytes, side);
  if (fault)
    gpu.fail(cudaErrorInvalidValue, std::string("the ") + what + " of " +
                                        std::to_string(bytes) + " bytes " +
                                        *fault);
  return !fault;
}

namespace {
struct Direction {
  cudaMemcpyKind kind;
  Side target, source;
};
constexpr Direction kDirections[] = {
    {cudaMemcpyHostToHost, Side::Any, Side::Any},
    {cudaMemcpyHostToDevice, Side::Device, Side::Any},
    {cudaMemcpyDeviceToHost, Side::Any, Side::Device},
    {cudaMemcpyDeviceToDevice, Side::Device, Side::Device},
    {cudaMemcpyDefault, Side::Any, Side::Any},
};
} // namespace

cudaError_t copy(Gpu &gpu, uint64_t target, uint64_t source, size_t bytes,
                 cudaMemcpyKind kind, cudaStream_t stream) {
  auto found = std::find_if(
      std::begin(kDirections), std::end(kDirections),
      [&](const Direction &direction) { return direction.kind == kind; });
  if (found == std::end(kDirections))
    return gpu.fail(cudaErrorInvalidMemcpyDirection,
                    std::to_string(kind) + " is no cudaMemcpyKind");
  return enqueue(gpu, stream, [&gpu, target, source, bytes, found] {
    if (!check(gpu, "target of a copy", target, bytes, found->target) ||
        !check(gpu, "source of a copy", source, bytes, found->source))
      return cudaErrorInvalidValue;
    gpu.memory.copy(target, source, bytes);
    return cudaSuccess;
  });
}

cudaError_t copyRows(Gpu &gpu, Rows target, Rows source, size_t width,
                     size_t rows, cudaMemcpyKind kind, cudaStream_t stream) {
  for (size_t pitch : {target.pitch, source.pitch})
    if (width > pitch && rows)
      return gpu.fail(cudaErrorInvalidPitchValue,
                      "a copy has rows of " + std::to_string(width) +
                          " bytes, more than their pitch of " +
                          std::to_string(pitch));
  for (size_t row = 0; row < rows; ++row)
    if (cudaError_t status =
            copy(gpu, target.address + row * target.pitch,
                 source.address + row * source.pitch, width, kind, stream))
      return status;
  return cudaSuccess;
}

cudaError_t fill(Gpu &gpu, uint64_t target, uint32_t pattern,
                 unsigned patternBytes, size_t count, cudaStream_t stream) {
  return enqueue(gpu, stream, [&gpu, target, pattern, patternBytes, count] {
    if (!check(gpu, "target of a fill", target, count * patternBytes,
               Side::Device))
      return cudaErrorInvalidValue;
    gpu.memory.fill(target, pattern, patternBytes, count);
    return cudaSuccess;
  });
}

/// Takes the attributes that change what a kernel does. Others change only
/// where or when it runs.
static cudaError_t takeAttributes(Gpu &gpu, const LaunchRequest &request,
                                  KernelLaunch &launch) {
  for (unsigned i = 0; i < request.attributeCount; ++i) {
    const cudaLaunchAttribute &attribute = request.attributes[i];
    switch (attribute.id) {
    case cudaLaunchAttributeClusterDimension: {
      const auto &cluster = attribute.val.clusterDim;
      launch.config.cluster = {cluster.x, cluster.y, cluster.z};
      break;
    }
    case cudaLaunchAttributeProgrammaticStreamSerialization:
      launch.config.programmatic =
          attribute.val.programmaticStreamSerializationAllowed != 0;
      break;
    case cudaLaunchAttributeCooperative:
      launch.cooperative = attribute.val.cooperative != 0;
      break;
    case cudaLaunchAttributeIgnore:
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributeSynchronizationPolicy:
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributeMemSyncDomain:
    case cudaLaunchAttributePreferredClusterDimension:
    case cudaLaunchAttributePreferredSharedMemoryCarveout:
      break;
    default:
      return gpu.fail(cudaErrorNotSupported, "launch attribute " +
                                                 std::to_string(attribute.id) +
                                                 " is not simulated");
    }
  }
  return cudaSuccess;
}

static std::vector<sim::KernelArgument>
copyArguments(const LaunchRequest &request) {
  std::vector<sim::KernelArgument> arguments;
  const auto *packed = static_cast<const uint8_t *>(request.packed);
  uint64_t offset = 0;
  const auto &parameters = request.kernel->entry->parameters;
  for (size_t i = 0; i < parameters.size(); ++i) {
    uint64_t alignment = std::max<uint64_t>(parameters[i].alignBytes, 1);
    offset = (offset + alignment - 1) / alignment * alignment;
    const uint8_t *value =
        packed ? packed + offset
               : static_cast<const uint8_t *>(request.arguments[i]);
    arguments.push_back(
        sim::KernelArgument::bytes({value, value + parameters[i].sizeBytes}));
    offset += parameters[i].sizeBytes;
  }
  return arguments;
}

cudaError_t launchKernel(Gpu &gpu, const LaunchRequest &request) {
  if (!request.kernel)
    return cudaErrorInvalidDeviceFunction;
  bool takesArguments = !request.kernel->entry->parameters.empty();
  if (takesArguments && !request.arguments && !request.packed)
    return cudaErrorInvalidValue;
  KernelLaunch launch;
  launch.kernel = request.kernel;
  launch.stream = request.stream;
  launch.config.grid = {request.grid.x, request.grid.y, request.grid.z};
  launch.config.block = {request.block.x, request.block.y, request.block.z};
  launch.config.dynamicSharedBytes = request.dynamicShared;
  launch.cooperative = request.cooperative;
  if (cudaError_t status = takeAttributes(gpu, request, launch))
    return status;
  if (request.dynamicShared > request.kernel->dynamicSharedLimit)
    return gpu.fail(cudaErrorInvalidValue,
                    "a launch asks for " +
                        std::to_string(request.dynamicShared) +
                        " bytes of dynamic shared memory; above " +
                        std::to_string(request.kernel->dynamicSharedLimit) +
                        " the kernel needs "
                        "cudaFuncAttributeMaxDynamicSharedMemorySize");
  const auto &cluster = request.kernel->entry->requiredClusterDim[0]
                            ? request.kernel->entry->requiredClusterDim
                            : launch.config.cluster;
  if (uint64_t(cluster[0]) * cluster[1] * cluster[2] >
          chip::kMostCtasOfPortableCluster &&
      !request.kernel->allowsLargeClusters)
    return gpu.fail(cudaErrorInvalidClusterSize,
                    "a launch has clusters of more than " +
                        std::to_string(chip::kMostCtasOfPortableCluster) +
                        " CTAs, for which the kernel needs "
                        "cudaFuncAttributeNonPortableClusterSizeAllowed");
  if (launch.cooperative) {
    const dim3 &grid = request.grid, &block = request.block;
    uint64_t most = uint64_t(gpu.settings.multiprocessors) *
                    ctasPerMultiprocessor(gpu, *request.kernel,
                                          int(block.x * block.y * block.z),
                                          request.dynamicShared);
    // A block that no SM can run is a wrong configuration.
    if (most && uint64_t(grid.x) * grid.y * grid.z > most)
      return gpu.fail(cudaErrorCooperativeLaunchTooLarge,
                      "a cooperative launch has more than the " +
                          std::to_string(most) +
                          " CTAs that are resident at once; launch as many as "
                          "cudaOccupancyMaxActiveBlocksPerMultiprocessor says");
  }
  launch.arguments = copyArguments(request);
  return enqueue(gpu, request.stream, [&gpu, launch = std::move(launch)] {
    return gpu.run(launch);
  });
}

void *entryPoint(const char *name) {
  Dl_info here;
  if (!dladdr(reinterpret_cast<const void *>(&entryPoint), &here))
    return nullptr;
  static void *library = dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  for (const char *version : {"_v4", "_v3", "_v2", ""})
    if (void *found = dlsym(library, (std::string(name) + version).c_str()))
      return found;
  return nullptr;
}

} // namespace fp8::cuda
