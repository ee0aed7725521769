// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CUDA runtime: memory.
#include "Operations.h"

using namespace fp8::cuda;

namespace {
/// The address of a `__device__` or `__constant__` variable.
cudaError_t findSymbol(Gpu &gpu, const void *symbol, size_t offset,
                       size_t bytes, uint64_t &address) {
  auto variable = gpu.modules.findVariable(symbol);
  if (!variable)
    return gpu.fail(cudaErrorInvalidSymbol, variable.error());
  if (offset > (*variable)->bytes || bytes > (*variable)->bytes - offset)
    return cudaErrorInvalidValue;
  address = (*variable)->address + offset;
  return cudaSuccess;
}
} // namespace

FP8_CUDA_API cudaError_t cudaMalloc(void **pointer, size_t bytes) {
  return onGpu([&](Gpu &gpu) {
    return allocate(gpu, pointer, bytes, Reach::Device, "cudaMalloc");
  });
}

FP8_CUDA_API cudaError_t cudaMallocAsync(void **pointer, size_t bytes,
                                         cudaStream_t) {
  return cudaMalloc(pointer, bytes);
}

FP8_CUDA_API cudaError_t cudaMallocManaged(void **pointer, size_t bytes,
                                           unsigned) {
  return onGpu([&](Gpu &gpu) {
    return allocate(gpu, pointer, bytes, Reach::Managed, "cudaMallocManaged");
  });
}

FP8_CUDA_API cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned) {
  return onGpu([&](Gpu &gpu) {
    return allocate(gpu, pointer, bytes, Reach::Pinned, "cudaHostAlloc");
  });
}

FP8_CUDA_API cudaError_t cudaMallocHost(void **pointer, size_t bytes) {
  return cudaHostAlloc(pointer, bytes, 0);
}

FP8_CUDA_API cudaError_t cudaHostGetDevicePointer(void **device, void *host,
                                                  unsigned) {
  return onGpu([&](Gpu &gpu) {
    auto found = gpu.memory.findOnDevice(addressOf(host));
    *device = reinterpret_cast<void *>(found.value_or(0));
    return found ? cudaSuccess : cudaErrorInvalidValue;
  });
}

FP8_CUDA_API cudaError_t cudaHostRegister(void *host, size_t bytes, unsigned) {
  return onGpu([&](Gpu &gpu) {
    if (!host || !bytes || addressOf(host) + bytes < addressOf(host))
      return cudaErrorInvalidValue;
    if (gpu.memory.meetsReached(addressOf(host), bytes))
      return cudaErrorHostMemoryAlreadyRegistered;
    return gpu.memory.registerHost(addressOf(host), bytes)
               ? cudaSuccess
               : cudaErrorMemoryAllocation;
  });
}

FP8_CUDA_API cudaError_t cudaHostUnregister(void *host) {
  return onGpu([&](Gpu &gpu) {
    return gpu.memory.unregisterHost(addressOf(host))
               ? cudaSuccess
               : cudaErrorHostMemoryNotRegistered;
  });
}

FP8_CUDA_API cudaError_t cudaFree(void *pointer) {
  return onGpu([&](Gpu &gpu) { return release(gpu, addressOf(pointer)); });
}

FP8_CUDA_API cudaError_t cudaFreeAsync(void *pointer, cudaStream_t) {
  return cudaFree(pointer);
}

FP8_CUDA_API cudaError_t cudaFreeHost(void *pointer) {
  return cudaFree(pointer);
}

FP8_CUDA_API cudaError_t cudaMemGetInfo(size_t *free, size_t *total) {
  return onGpu([&](Gpu &gpu) {
    *free = gpu.memory.freeBytes();
    *total = gpu.memory.limit();
    return cudaSuccess;
  });
}

FP8_CUDA_API cudaError_t cudaMemcpyAsync(void *target, const void *source,
                                         size_t bytes, cudaMemcpyKind kind,
                                         cudaStream_t stream) {
  return onGpu([&](Gpu &gpu) {
    return copy(gpu, addressOf(target), addressOf(source), bytes, kind, stream);
  });
}

FP8_CUDA_API cudaError_t cudaMemcpy(void *target, const void *source,
                                    size_t bytes, cudaMemcpyKind kind) {
  return cudaMemcpyAsync(target, source, bytes, kind, nullptr);
}

FP8_CUDA_API cudaError_t cudaMemcpyPeerAsync(void *target, int,
                                             const void *source, int,
                                             size_t bytes,
                                             cudaStream_t stream) {
  return cudaMemcpyAsync(target, source, bytes, cudaMemcpyDefault, stream);
}

FP8_CUDA_API cudaError_t cudaMemsetAsync(void *target, int value, size_t bytes,
                                         cudaStream_t stream) {
  return onGpu([&](Gpu &gpu) {
    return fill(gpu, addressOf(target), uint32_t(value), 1, bytes, stream);
  });
}

FP8_CUDA_API cudaError_t cudaMemset(void *target, int value, size_t bytes) {
  return cudaMemsetAsync(target, value, bytes, nullptr);
}

FP8_CUDA_API cudaError_t cudaMemcpyToSymbolAsync(const void *symbol,
                                                 const void *source,
                                                 size_t bytes, size_t offset,
                                                 cudaMemcpyKind kind,
                                                 cudaStream_t stream) {
  return onGpu([&](Gpu &gpu) {
    uint64_t address = 0;
    cudaError_t status = findSymbol(gpu, symbol, offset, bytes, address);
    return status ? status
                  : copy(gpu, address, addressOf(source), bytes, kind, stream);
  });
}

FP8_CUDA_API cudaError_t cudaMemcpyToSymbol(const void *symbol,
                                            const void *source, size_t bytes,
                                            size_t offset,
                                            cudaMemcpyKind kind) {
  return cudaMemcpyToSymbolAsync(symbol, source, bytes, offset, kind, nullptr);
}

FP8_CUDA_API cudaError_t cudaMemcpyFromSymbolAsync(void *target,
                                                   const void *symbol,
                                                   size_t bytes, size_t offset,
                                                   cudaMemcpyKind kind,
                                                   cudaStream_t stream) {
  return onGpu([&](Gpu &gpu) {
    uint64_t address = 0;
    cudaError_t status = findSymbol(gpu, symbol, offset, bytes, address);
    return status ? status
                  : copy(gpu, addressOf(target), address, bytes, kind, stream);
  });
}

FP8_CUDA_API cudaError_t cudaMemcpyFromSymbol(void *target, const void *symbol,
                                              size_t bytes, size_t offset,
                                              cudaMemcpyKind kind) {
  return cudaMemcpyFromSymbolAsync(target, symbol, bytes, offset, kind,
                                   nullptr);
}

FP8_CUDA_API cudaError_t cudaGetSymbolAddress(void **address,
                                              const void *symbol) {
  return onGpu([&](Gpu &gpu) {
    uint64_t found = 0;
    cudaError_t status = findSymbol(gpu, symbol, 0, 0, found);
    *address = reinterpret_cast<void *>(found);
    return status;
  });
}

FP8_CUDA_API cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol) {
  return onGpu([&](Gpu &gpu) {
    auto variable = gpu.modules.findVariable(symbol);
    if (!variable)
      return gpu.fail(cudaErrorInvalidSymbol, variable.error());
    *bytes = (*variable)->bytes;
    return cudaSuccess;
  });
}

FP8_CUDA_API cudaError_t cudaPointerGetAttributes(
    cudaPointerAttributes *attributes, const void *pointer) {
  return onGpu([&](Gpu &gpu) {
    *attributes = {};
    auto onDevice = gpu.memory.findOnDevice(addressOf(pointer));
    const Allocation *allocation =
        gpu.memory.find(onDevice.value_or(addressOf(pointer)));
    attributes->type =
        !allocation                           ? cudaMemoryTypeUnregistered
        : allocation->reach == Reach::Device  ? cudaMemoryTypeDevice
        : allocation->reach == Reach::Managed ? cudaMemoryTypeManaged
                                              : cudaMemoryTypeHost;
    void *place = const_cast<void *>(pointer);
    if (allocation)
      attributes->devicePointer =
          onDevice ? reinterpret_cast<void *>(*onDevice) : place;
    if (!allocation || allocation->reach != Reach::Device)
      attributes->hostPointer = place;
    return cudaSuccess;
  });
}

// The one pool of memory is that of cudaMalloc, which keeps nothing.

FP8_CUDA_API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool,
                                                     int device) {
  static char handle;
  return onGpu([&](Gpu &) {
    *pool = reinterpret_cast<cudaMemPool_t>(&handle);
    return device ? cudaErrorInvalidDevice : cudaSuccess;
  });
}

FP8_CUDA_API cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device) {
  return cudaDeviceGetDefaultMemPool(pool, device);
}

FP8_CUDA_API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr,
                                                 void *) {
  return onGpu([](Gpu &) { return cudaSuccess; });
}

FP8_CUDA_API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) {
  return onGpu([](Gpu &) { return cudaSuccess; });
}

FP8_CUDA_API cudaError_t cudaMallocFromPoolAsync(void **pointer, size_t bytes,
                                                 cudaMemPool_t,
                                                 cudaStream_t stream) {
  return cudaMallocAsync(pointer, bytes, stream);
}

FP8_CUDA_API cudaError_t cudaMemPrefetchAsync(const void *, size_t,
                                              cudaMemLocation, unsigned,
                                              cudaStream_t) {
  return onGpu([](Gpu &) { return cudaSuccess; });
}

FP8_CUDA_API cudaError_t cudaMemAdvise(const void *, size_t, cudaMemoryAdvise,
                                       cudaMemLocation) {
  return onGpu([](Gpu &) { return cudaSuccess; });
}
