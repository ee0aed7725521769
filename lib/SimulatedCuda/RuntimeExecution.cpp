// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CUDA runtime: device code, kernels, occupancy.
#include "Operations.h"

#include <algorithm>

using namespace fp8::cuda;

namespace {
/// What `<<<...>>>` keeps until the launch behind it.
struct CallConfiguration {
  dim3 grid, block;
  size_t shared;
  cudaStream_t stream;
};
thread_local std::vector<CallConfiguration> configurations;

cudaError_t findKernel(Gpu &gpu, const void *handle, Kernel *&kernel) {
  auto found = gpu.modules.findKernel(handle);
  if (!found)
    return gpu.fail(cudaErrorNoKernelImageForDevice, found.error());
  kernel = *found;
  return cudaSuccess;
}

/// Runs `body` on the kernel that `handle` stands for.
template <typename Body>
cudaError_t onKernel(const void *handle, Body body) {
  return onGpu([&](Gpu &gpu) {
    Kernel *kernel = nullptr;
    cudaError_t status = findKernel(gpu, handle, kernel);
    return status ? status : body(gpu, *kernel);
  });
}

LaunchRequest requestOf(dim3 grid, dim3 block, void **arguments, size_t shared,
                        cudaStream_t stream) {
  LaunchRequest request;
  request.grid = grid;
  request.block = block;
  request.dynamicShared = shared;
  request.arguments = arguments;
  request.stream = stream;
  return request;
}

cudaError_t launch(const void *handle, LaunchRequest request) {
  return onKernel(handle, [&](Gpu &gpu, Kernel &kernel) {
    request.kernel = &kernel;
    return launchKernel(gpu, request);
  });
}
} // namespace

// What nvcc's start-up code and `<<<...>>>` call.

FP8_CUDA_API void **__cudaRegisterFatBinary(void *fatBinary) {
  Gpu &gpu = Gpu::get();
  std::lock_guard<std::recursive_mutex> lock(gpu.mutex);
  return reinterpret_cast<void **>(gpu.modules.add(fatBinary));
}

FP8_CUDA_API void __cudaRegisterFatBinaryEnd(void **) {}

FP8_CUDA_API void __cudaUnregisterFatBinary(void **) {
  // The process ends.
}

/// Programs call it before they use a `__managed__` variable.
FP8_CUDA_API char __cudaInitModule(void **handle) {
  return onGpu([&](Gpu &gpu) {
           auto error = gpu.modules.load(*reinterpret_cast<Module *>(handle));
           return error ? gpu.fail(cudaErrorInvalidPtx, error->message)
                        : cudaSuccess;
         }) == cudaSuccess;
}

FP8_CUDA_API void __cudaRegisterFunction(void **handle, const char *host,
                                         char *, const char *name, int, void *,
                                         void *, void *, void *, int *) {
  Gpu &gpu = Gpu::get();
  std::lock_guard<std::recursive_mutex> lock(gpu.mutex);
  gpu.modules.addFunction(host, reinterpret_cast<Module *>(handle), name);
}

FP8_CUDA_API void __cudaRegisterVar(void **handle, char *host, char *,
                                    const char *name, int, size_t, int, int) {
  Gpu &gpu = Gpu::get();
  std::lock_guard<std::recursive_mutex> lock(gpu.mutex);
  gpu.modules.addVariable(host, reinterpret_cast<Module *>(handle), name);
}

FP8_CUDA_API void __cudaRegisterManagedVar(void **handle, void **host, char *,
                                           const char *name, int, size_t, int,
                                           int) {
  Gpu &gpu = Gpu::get();
  std::lock_guard<std::recursive_mutex> lock(gpu.mutex);
  gpu.modules.addManaged(host, reinterpret_cast<Module *>(handle), name);
}

FP8_CUDA_API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block,
                                                  size_t shared, void *stream) {
  configurations.push_back(
      {grid, block, shared, static_cast<cudaStream_t>(stream)});
  return 0;
}

FP8_CUDA_API cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block,
                                                    size_t *shared,
                                                    void *stream) {
  if (configurations.empty())
    return cudaErrorMissingConfiguration;
  CallConfiguration last = configurations.back();
  configurations.pop_back();
  *grid = last.grid;
  *block = last.block;
  *shared = last.shared;
  *static_cast<cudaStream_t *>(stream) = last.stream;
  return cudaSuccess;
}

FP8_CUDA_API cudaError_t __cudaGetKernel(cudaKernel_t *handle,
                                         const void *function) {
  // A kernel that is not there is reported when it is launched.
  *handle = reinterpret_cast<cudaKernel_t>(const_cast<void *>(function));
  return cudaSuccess;
}

FP8_CUDA_API cudaError_t cudaGetKernel(cudaKernel_t *handle,
                                       const void *function) {
  return onKernel(function, [&](Gpu &, Kernel &kernel) {
    *handle = reinterpret_cast<cudaKernel_t>(&kernel);
    return cudaSuccess;
  });
}

FP8_CUDA_API cudaError_t cudaGetFuncBySymbol(cudaFunction_t *handle,
                                             const void *function) {
  return cudaGetKernel(reinterpret_cast<cudaKernel_t *>(handle), function);
}

FP8_CUDA_API cudaError_t cudaLaunchKernel(const void *function, dim3 grid,
                                          dim3 block, void **arguments,
                                          size_t shared, cudaStream_t stream) {
  return launch(function, requestOf(grid, block, arguments, shared, stream));
}

FP8_CUDA_API cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid,
                                            dim3 block, void **arguments,
                                            size_t shared,
                                            cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

FP8_CUDA_API cudaError_t cudaLaunchCooperativeKernel(const void *function,
                                                     dim3 grid, dim3 block,
                                                     void **arguments,
                                                     size_t shared,
                                                     cudaStream_t stream) {
  LaunchRequest request = requestOf(grid, block, arguments, shared, stream);
  request.cooperative = true;
  return launch(function, request);
}

FP8_CUDA_API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config,
                                             const void *function,
                                             void **arguments) {
  LaunchRequest request;
  request.grid = config->gridDim;
  request.block = config->blockDim;
  request.dynamicShared = config->dynamicSmemBytes;
  request.arguments = arguments;
  request.stream = config->stream;
  request.attributes = config->attrs;
  request.attributeCount = config->numAttrs;
  return launch(function, request);
}

/// Calls a function of the host when it is the stream's turn.
template <typename Call>
static cudaError_t enqueueCall(cudaStream_t stream, Call call) {
  return onGpu([&](Gpu &gpu) {
    Stream *found = gpu.streams.find(stream);
    if (!found)
      return cudaErrorInvalidResourceHandle;
    return gpu.streams.enqueue(*found, [call] {
      call();
      return cudaSuccess;
    });
  });
}

FP8_CUDA_API cudaError_t cudaLaunchHostFunc(cudaStream_t stream,
                                            cudaHostFn_t function, void *data) {
  return enqueueCall(stream, [=] { function(data); });
}

FP8_CUDA_API cudaError_t cudaStreamAddCallback(cudaStream_t stream,
                                               cudaStreamCallback_t function,
                                               void *data, unsigned) {
  return enqueueCall(stream, [=] { function(stream, cudaSuccess, data); });
}

FP8_CUDA_API cudaError_t cudaFuncSetAttribute(const void *function,
                                              cudaFuncAttribute attribute,
                                              int value) {
  return onKernel(function, [&](Gpu &gpu, Kernel &kernel) {
    if (attribute == cudaFuncAttributeNonPortableClusterSizeAllowed) {
      kernel.allowsLargeClusters = value != 0;
      return cudaSuccess;
    }
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize)
      return cudaSuccess; // a preference
    if (value < 0 || value > gpu.chip.sharedMemoryPerCta)
      return cudaErrorInvalidValue;
    kernel.dynamicSharedLimit = uint64_t(value);
    return cudaSuccess;
  });
}

FP8_CUDA_API cudaError_t cudaFuncSetCacheConfig(const void *, cudaFuncCache) {
  return onGpu([](Gpu &) { return cudaSuccess; });
}

FP8_CUDA_API cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes,
                                               const void *function) {
  return onKernel(function, [&](Gpu &gpu, Kernel &kernel) {
    constexpr int registersOfMultiprocessor = 65536, most = 255;
    *attributes = {};
    attributes->sharedSizeBytes = kernel.staticSharedBytes();
    attributes->maxThreadsPerBlock = int(kernel.maxThreads());
    // ptxas chooses; as many as fit.
    attributes->numRegs =
        std::min(most, registersOfMultiprocessor / int(kernel.maxThreads()));
    attributes->ptxVersion = attributes->binaryVersion =
        int(gpu.architecture());
    attributes->maxDynamicSharedSizeBytes = int(kernel.dynamicSharedLimit);
    const auto &cluster = kernel.entry->requiredClusterDim;
    attributes->clusterDimMustBeSet = cluster[0] != 0;
    attributes->requiredClusterWidth = int(cluster[0]);
    attributes->requiredClusterHeight = int(cluster[1]);
    attributes->requiredClusterDepth = int(cluster[2]);
    return cudaSuccess;
  });
}

FP8_CUDA_API cudaError_t cudaFuncGetName(const char **name,
                                         const void *function) {
  return onKernel(function, [&](Gpu &, Kernel &kernel) {
    *name = kernel.name.c_str();
    return cudaSuccess;
  });
}

FP8_CUDA_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *ctas, const void *function, int threads, size_t shared, unsigned) {
  return onKernel(function, [&](Gpu &gpu, Kernel &kernel) {
    *ctas = ctasPerMultiprocessor(gpu, kernel, threads, shared);
    return cudaSuccess;
  });
}

FP8_CUDA_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    int *ctas, const void *function, int threads, size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      ctas, function, threads, shared, 0);
}

static unsigned clusterSize(const cudaLaunchConfig_t &config) {
  for (unsigned i = 0; i < config.numAttrs; ++i)
    if (config.attrs[i].id == cudaLaunchAttributeClusterDimension) {
      const auto &cluster = config.attrs[i].val.clusterDim;
      return cluster.x * cluster.y * cluster.z;
    }
  return 1;
}

FP8_CUDA_API cudaError_t cudaOccupancyMaxActiveClusters(
    int *clusters, const void *function, const cudaLaunchConfig_t *config) {
  return onKernel(function, [&](Gpu &gpu, Kernel &kernel) {
    const dim3 &block = config->blockDim;
    int ctas =
        ctasPerMultiprocessor(gpu, kernel, int(block.x * block.y * block.z),
                              config->dynamicSmemBytes);
    *clusters = ctas * int(gpu.settings.multiprocessors) /
                int(std::max(clusterSize(*config), 1u));
    return cudaSuccess;
  });
}

FP8_CUDA_API cudaError_t cudaOccupancyMaxPotentialClusterSize(
    int *size, const void *function, const cudaLaunchConfig_t *) {
  return onKernel(function, [&](Gpu &, Kernel &) {
    *size = 16;
    return cudaSuccess;
  });
}
