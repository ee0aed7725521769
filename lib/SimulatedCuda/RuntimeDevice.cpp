// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CUDA runtime: devices, errors, versions, limits.
#include "Operations.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>

using namespace fp8::cuda;

static cudaDeviceProp propertiesOf(const Gpu &gpu) {
  auto value = [&](cudaDeviceAttr attribute) {
    return *deviceAttribute(gpu, attribute);
  };
  cudaDeviceProp p{};
  std::string name = "simulated " + gpu.settings.chip;
  std::strncpy(p.name, name.c_str(), sizeof(p.name) - 1);
  p.totalGlobalMem = gpu.memory.limit();
  p.sharedMemPerBlock = size_t(value(cudaDevAttrMaxSharedMemoryPerBlock));
  p.regsPerBlock = value(cudaDevAttrMaxRegistersPerBlock);
  p.warpSize = value(cudaDevAttrWarpSize);
  p.memPitch = size_t(value(cudaDevAttrMaxPitch));
  p.maxThreadsPerBlock = value(cudaDevAttrMaxThreadsPerBlock);
  p.maxThreadsDim[0] = value(cudaDevAttrMaxBlockDimX);
  p.maxThreadsDim[1] = value(cudaDevAttrMaxBlockDimY);
  p.maxThreadsDim[2] = value(cudaDevAttrMaxBlockDimZ);
  p.maxGridSize[0] = value(cudaDevAttrMaxGridDimX);
  p.maxGridSize[1] = value(cudaDevAttrMaxGridDimY);
  p.maxGridSize[2] = value(cudaDevAttrMaxGridDimZ);
  p.totalConstMem = size_t(value(cudaDevAttrTotalConstantMemory));
  p.major = value(cudaDevAttrComputeCapabilityMajor);
  p.minor = value(cudaDevAttrComputeCapabilityMinor);
  p.textureAlignment = size_t(value(cudaDevAttrTextureAlignment));
  p.surfaceAlignment = size_t(value(cudaDevAttrSurfaceAlignment));
  p.multiProcessorCount = value(cudaDevAttrMultiProcessorCount);
  p.canMapHostMemory = value(cudaDevAttrCanMapHostMemory);
  p.concurrentKernels = value(cudaDevAttrConcurrentKernels);
  p.asyncEngineCount = value(cudaDevAttrAsyncEngineCount);
  p.unifiedAddressing = value(cudaDevAttrUnifiedAddressing);
  p.memoryBusWidth = value(cudaDevAttrGlobalMemoryBusWidth);
  p.l2CacheSize = value(cudaDevAttrL2CacheSize);
  p.maxThreadsPerMultiProcessor = value(cudaDevAttrMaxThreadsPerMultiProcessor);
  p.streamPrioritiesSupported = value(cudaDevAttrStreamPrioritiesSupported);
  p.globalL1CacheSupported = value(cudaDevAttrGlobalL1CacheSupported);
  p.localL1CacheSupported = value(cudaDevAttrLocalL1CacheSupported);
  p.sharedMemPerMultiprocessor =
      size_t(value(cudaDevAttrMaxSharedMemoryPerMultiprocessor));
  p.regsPerMultiprocessor = value(cudaDevAttrMaxRegistersPerMultiprocessor);
  p.managedMemory = value(cudaDevAttrManagedMemory);
  p.computePreemptionSupported = value(cudaDevAttrComputePreemptionSupported);
  p.cooperativeLaunch = value(cudaDevAttrCooperativeLaunch);
  p.sharedMemPerBlockOptin =
      size_t(value(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  p.maxBlocksPerMultiProcessor = value(cudaDevAttrMaxBlocksPerMultiprocessor);
  p.reservedSharedMemPerBlock =
      size_t(value(cudaDevAttrReservedSharedMemoryPerBlock));
  p.memoryPoolsSupported = value(cudaDevAttrMemoryPoolsSupported);
  p.clusterLaunch = value(cudaDevAttrClusterLaunch);
  p.unifiedFunctionPointers = 1;
  p.hostNumaId = -1;
  return p;
}

FP8_CUDA_API cudaError_t cudaGetDeviceCount(int *count) {
  return onGpu([&](Gpu &) {
    *count = 1;
    return cudaSuccess;
  });
}

FP8_CUDA_API cudaError_t cudaGetDevice(int *device) {
  return onGpu([&](Gpu &) {
    *device = 0;
    return cudaSuccess;
  });
}

FP8_CUDA_API cudaError_t cudaSetDevice(int device) {
  return onGpu([&](Gpu &) {
    return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
  });
}

FP8_CUDA_API cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  return cudaSetDevice(device);
}

FP8_CUDA_API cudaError_t cudaSetDeviceFlags(unsigned) {
  return onGpu([](Gpu &) { return cudaSuccess; });
}

FP8_CUDA_API cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties,
                                                 int device) {
  return onGpu([&](Gpu &gpu) {
    if (device)
      return cudaErrorInvalidDevice;
    *properties = propertiesOf(gpu);
    return cudaSuccess;
  });
}

FP8_CUDA_API cudaError_t cudaDeviceGetAttribute(int *value,
                                                cudaDeviceAttr attribute,
                                                int device) {
  return onGpu([&](Gpu &gpu) {
    if (device)
      return cudaErrorInvalidDevice;
    auto known = deviceAttribute(gpu, attribute);
    if (!known)
      return gpu.fail(cudaErrorNotSupported, "device attribute " +
                                                 std::to_string(attribute) +
                                                 " is not simulated");
    *value = *known;
    return cudaSuccess;
  });
}

FP8_CUDA_API cudaError_t cudaDeviceCanAccessPeer(int *can, int, int) {
  return onGpu([&](Gpu &) {
    *can = 0;
    return cudaSuccess;
  });
}

FP8_CUDA_API cudaError_t cudaDeviceSynchronize() {
  return onGpu([](Gpu &) { return cudaSuccess; });
}

FP8_CUDA_API cudaError_t cudaDeviceReset() {
  return onGpu([](Gpu &) { return cudaSuccess; });
}

/// They limit nothing here. At first they are those of a GPU, in bytes or
/// launches.
static std::map<cudaLimit, size_t> limits = {
    {cudaLimitStackSize, 1024},
    {cudaLimitPrintfFifoSize, 1 << 20},
    {cudaLimitMallocHeapSize, 8 << 20},
    {cudaLimitDevRuntimeSyncDepth, 2},
    {cudaLimitDevRuntimePendingLaunchCount, 2048},
    {cudaLimitMaxL2FetchGranularity, 128},
    {cudaLimitPersistingL2CacheSize, 0},
};

FP8_CUDA_API cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return onGpu([&](Gpu &) {
    if (!limits.count(limit))
      return cudaErrorUnsupportedLimit;
    limits[limit] = value;
    return cudaSuccess;
  });
}

FP8_CUDA_API cudaError_t cudaDeviceGetLimit(size_t *value, cudaLimit limit) {
  return onGpu([&](Gpu &) {
    if (!limits.count(limit))
      return cudaErrorUnsupportedLimit;
    *value = limits[limit];
    return cudaSuccess;
  });
}

FP8_CUDA_API cudaError_t cudaDeviceGetPCIBusId(char *id, int bytes,
                                               int device) {
  return onGpu([&](Gpu &) {
    if (device)
      return cudaErrorInvalidDevice;
    // As the attributes of the bus say.
    if (!id ||
        std::snprintf(id, size_t(std::max(bytes, 0)), "0000:00:00.0") >= bytes)
      return cudaErrorInvalidValue;
    return cudaSuccess;
  });
}

FP8_CUDA_API cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) {
  return onGpu([](Gpu &) { return cudaSuccess; });
}

FP8_CUDA_API cudaError_t cudaDeviceGetStreamPriorityRange(int *least,
                                                          int *greatest) {
  return onGpu([&](Gpu &) {
    *least = *greatest = 0;
    return cudaSuccess;
  });
}

FP8_CUDA_API cudaError_t cudaDriverGetVersion(int *version) {
  *version = CUDA_VERSION;
  return cudaSuccess;
}

FP8_CUDA_API cudaError_t cudaRuntimeGetVersion(int *version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

FP8_CUDA_API cudaError_t cudaGetLastError() {
  return Gpu::get().lastError(/*clear=*/true);
}

FP8_CUDA_API cudaError_t cudaPeekAtLastError() {
  return Gpu::get().lastError(/*clear=*/false);
}

FP8_CUDA_API cudaError_t cudaProfilerStart() { return cudaSuccess; }
FP8_CUDA_API cudaError_t cudaProfilerStop() { return cudaSuccess; }

namespace {
/// The statuses that the simulated GPU returns.
struct StatusText {
  cudaError_t status;
  const char *runtimeName, *driverName, *text;
};
constexpr StatusText kStatuses[] = {
    {cudaSuccess, "cudaSuccess", "CUDA_SUCCESS", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "CUDA_ERROR_INVALID_VALUE",
     "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation",
     "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction",
     "CUDA_ERROR_INVALID_HANDLE", "invalid device function"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice",
     "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {cudaErrorNoKernelImageForDevice, "cudaErrorNoKernelImageForDevice",
     "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {cudaErrorInvalidPtx, "cudaErrorInvalidPtx", "CUDA_ERROR_INVALID_PTX",
     "the PTX is invalid"},
    {cudaErrorInvalidPitchValue, "cudaErrorInvalidPitchValue",
     "CUDA_ERROR_INVALID_VALUE", "invalid pitch argument"},
    {cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection",
     "CUDA_ERROR_INVALID_VALUE", "invalid copy direction for memcpy"},
    {cudaErrorInvalidSymbol, "cudaErrorInvalidSymbol", "CUDA_ERROR_NOT_FOUND",
     "invalid device symbol"},
    {cudaErrorSymbolNotFound, "cudaErrorSymbolNotFound", "CUDA_ERROR_NOT_FOUND",
     "named symbol not found"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle",
     "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {cudaErrorIllegalState, "cudaErrorIllegalState", "CUDA_ERROR_ILLEGAL_STATE",
     "the operation cannot be performed in the present state"},
    {cudaErrorNotReady, "cudaErrorNotReady", "CUDA_ERROR_NOT_READY",
     "device not ready"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure",
     "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress",
     "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {cudaErrorMisalignedAddress, "cudaErrorMisalignedAddress",
     "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {cudaErrorAssert, "cudaErrorAssert", "CUDA_ERROR_ASSERT",
     "device-side assert triggered"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration",
     "CUDA_ERROR_INVALID_VALUE", "invalid configuration argument"},
    {cudaErrorCooperativeLaunchTooLarge, "cudaErrorCooperativeLaunchTooLarge",
     "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
     "too many blocks in cooperative launch"},
    {cudaErrorInvalidClusterSize, "cudaErrorInvalidClusterSize",
     "CUDA_ERROR_INVALID_CLUSTER_SIZE",
     "a kernel launch error has occurred due to cluster misconfiguration"},
    {cudaErrorHostMemoryAlreadyRegistered,
     "cudaErrorHostMemoryAlreadyRegistered",
     "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
     "part or all of the requested memory range is already mapped"},
    {cudaErrorHostMemoryNotRegistered, "cudaErrorHostMemoryNotRegistered",
     "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
     "pointer does not correspond to a registered memory region"},
    {cudaErrorUnsupportedLimit, "cudaErrorUnsupportedLimit",
     "CUDA_ERROR_UNSUPPORTED_LIMIT", "limit is not supported on this device"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "CUDA_ERROR_NOT_SUPPORTED",
     "operation not supported"},
};

const StatusText *lookup(int status) {
  for (const StatusText &row : kStatuses)
    if (row.status == status)
      return &row;
  return nullptr;
}
} // namespace

FP8_CUDA_API const char *cudaGetErrorName(cudaError_t status) {
  const StatusText *row = lookup(status);
  return row ? row->runtimeName : "unrecognized error code";
}

FP8_CUDA_API const char *cudaGetErrorString(cudaError_t status) {
  const StatusText *row = lookup(status);
  return row ? row->text : "unrecognized error code";
}

FP8_CUDA_API CUresult cuGetErrorName(CUresult status, const char **name) {
  const StatusText *row = lookup(status);
  *name = row ? row->driverName : nullptr;
  return row ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

FP8_CUDA_API CUresult cuGetErrorString(CUresult status, const char **text) {
  const StatusText *row = lookup(status);
  *text = row ? row->text : nullptr;
  return row ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
