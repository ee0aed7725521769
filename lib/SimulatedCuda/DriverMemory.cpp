// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CUDA driver: memory.
#include "Operations.h"

using namespace fp8::cuda;

namespace {
void *pointer(CUdeviceptr address) { return reinterpret_cast<void *>(address); }

CUresult fillWith(CUdeviceptr target, uint32_t pattern, unsigned patternBytes,
                  size_t count, CUstream stream) {
  return toDriver(onGpu([&](Gpu &gpu) {
    return fill(gpu, target, pattern, patternBytes, count, stream);
  }));
}

CUresult copyBytes(uint64_t target, uint64_t source, size_t bytes,
                   cudaMemcpyKind kind, CUstream stream) {
  return toDriver(onGpu([&](Gpu &gpu) {
    return copy(gpu, target, source, bytes, kind, stream);
  }));
}
} // namespace

FP8_CUDA_API CUresult cuMemAlloc(CUdeviceptr *address, size_t bytes) {
  return toDriver(cudaMalloc(reinterpret_cast<void **>(address), bytes));
}
FP8_CUDA_API CUresult cuMemAllocAsync(CUdeviceptr *address, size_t bytes,
                                      CUstream) {
  return cuMemAlloc(address, bytes);
}
FP8_CUDA_API CUresult cuMemAllocManaged(CUdeviceptr *address, size_t bytes,
                                        unsigned flags) {
  return toDriver(
      cudaMallocManaged(reinterpret_cast<void **>(address), bytes, flags));
}
FP8_CUDA_API CUresult cuMemAllocPitch(CUdeviceptr *address, size_t *pitch,
                                      size_t width, size_t rows, unsigned) {
  return toDriver(
      cudaMallocPitch(reinterpret_cast<void **>(address), pitch, width, rows));
}
FP8_CUDA_API CUresult cuMemAllocFromPoolAsync(CUdeviceptr *address,
                                              size_t bytes, CUmemoryPool,
                                              CUstream) {
  return cuMemAlloc(address, bytes);
}
FP8_CUDA_API CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool,
                                                CUdevice device) {
  return toDriver(cudaDeviceGetDefaultMemPool(pool, device));
}
FP8_CUDA_API CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device) {
  return toDriver(cudaDeviceGetDefaultMemPool(pool, device));
}
FP8_CUDA_API CUresult cuMemPoolSetAttribute(CUmemoryPool pool,
                                            CUmemPool_attribute attribute,
                                            void *value) {
  return toDriver(
      cudaMemPoolSetAttribute(pool, cudaMemPoolAttr(attribute), value));
}
FP8_CUDA_API CUresult cuMemHostRegister(void *host, size_t bytes,
                                        unsigned flags) {
  return toDriver(cudaHostRegister(host, bytes, flags));
}
FP8_CUDA_API CUresult cuMemHostUnregister(void *host) {
  return toDriver(cudaHostUnregister(host));
}
FP8_CUDA_API CUresult cuMemFree(CUdeviceptr address) {
  return toDriver(cudaFree(pointer(address)));
}
FP8_CUDA_API CUresult cuMemFreeAsync(CUdeviceptr address, CUstream) {
  return cuMemFree(address);
}
FP8_CUDA_API CUresult cuMemHostAlloc(void **result, size_t bytes,
                                     unsigned flags) {
  return toDriver(cudaHostAlloc(result, bytes, flags));
}
FP8_CUDA_API CUresult cuMemAllocHost(void **result, size_t bytes) {
  return cuMemHostAlloc(result, bytes, 0);
}
FP8_CUDA_API CUresult cuMemFreeHost(void *host) {
  return toDriver(cudaFree(host));
}
FP8_CUDA_API CUresult cuMemHostGetDevicePointer(CUdeviceptr *device, void *host,
                                                unsigned flags) {
  return toDriver(
      cudaHostGetDevicePointer(reinterpret_cast<void **>(device), host, flags));
}
FP8_CUDA_API CUresult cuMemGetInfo(size_t *free, size_t *total) {
  return toDriver(cudaMemGetInfo(free, total));
}

FP8_CUDA_API CUresult cuMemGetAddressRange(CUdeviceptr *base, size_t *bytes,
                                           CUdeviceptr address) {
  return toDriver(onGpu([&](Gpu &gpu) {
    const Allocation *allocation = gpu.memory.find(address);
    if (!allocation)
      return cudaErrorInvalidValue;
    if (base)
      *base = allocation->address;
    if (bytes)
      *bytes = allocation->bytes;
    return cudaSuccess;
  }));
}

FP8_CUDA_API CUresult cuPointerGetAttribute(void *data,
                                            CUpointer_attribute attribute,
                                            CUdeviceptr address) {
  return toDriver(onGpu([&](Gpu &gpu) {
    const Allocation *allocation = gpu.memory.find(address);
    if (!allocation)
      return cudaErrorInvalidValue;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *static_cast<unsigned *>(data) = allocation->reach == Reach::Pinned
                                           ? CU_MEMORYTYPE_HOST
                                           : CU_MEMORYTYPE_DEVICE;
      return cudaSuccess;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      *static_cast<CUdeviceptr *>(data) = address;
      return cudaSuccess;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      *static_cast<unsigned *>(data) = allocation->reach == Reach::Managed;
      return cudaSuccess;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      *static_cast<int *>(data) = 0;
      return cudaSuccess;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      *static_cast<CUdeviceptr *>(data) = allocation->address;
      return cudaSuccess;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      *static_cast<size_t *>(data) = allocation->bytes;
      return cudaSuccess;
    default:
      return gpu.fail(cudaErrorNotSupported, "pointer attribute " +
                                                 std::to_string(attribute) +
                                                 " is not simulated");
    }
  }));
}

FP8_CUDA_API CUresult cuMemcpyAsync(CUdeviceptr target, CUdeviceptr source,
                                    size_t bytes, CUstream stream) {
  return copyBytes(target, source, bytes, cudaMemcpyDefault, stream);
}
FP8_CUDA_API CUresult cuMemcpy(CUdeviceptr target, CUdeviceptr source,
                               size_t bytes) {
  return copyBytes(target, source, bytes, cudaMemcpyDefault, nullptr);
}
FP8_CUDA_API CUresult cuMemcpyHtoDAsync(CUdeviceptr target, const void *source,
                                        size_t bytes, CUstream stream) {
  return copyBytes(target, addressOf(source), bytes, cudaMemcpyHostToDevice,
                   stream);
}
FP8_CUDA_API CUresult cuMemcpyHtoD(CUdeviceptr target, const void *source,
                                   size_t bytes) {
  return copyBytes(target, addressOf(source), bytes, cudaMemcpyHostToDevice,
                   nullptr);
}
FP8_CUDA_API CUresult cuMemcpyDtoHAsync(void *target, CUdeviceptr source,
                                        size_t bytes, CUstream stream) {
  return copyBytes(addressOf(target), source, bytes, cudaMemcpyDeviceToHost,
                   stream);
}
FP8_CUDA_API CUresult cuMemcpyDtoH(void *target, CUdeviceptr source,
                                   size_t bytes) {
  return copyBytes(addressOf(target), source, bytes, cudaMemcpyDeviceToHost,
                   nullptr);
}
FP8_CUDA_API CUresult cuMemcpyDtoDAsync(CUdeviceptr target, CUdeviceptr source,
                                        size_t bytes, CUstream stream) {
  return copyBytes(target, source, bytes, cudaMemcpyDeviceToDevice, stream);
}
FP8_CUDA_API CUresult cuMemcpyDtoD(CUdeviceptr target, CUdeviceptr source,
                                   size_t bytes) {
  return copyBytes(target, source, bytes, cudaMemcpyDeviceToDevice, nullptr);
}

FP8_CUDA_API CUresult cuMemsetD8Async(CUdeviceptr target, unsigned char value,
                                      size_t count, CUstream stream) {
  return fillWith(target, value, 1, count, stream);
}
FP8_CUDA_API CUresult cuMemsetD8(CUdeviceptr target, unsigned char value,
                                 size_t count) {
  return fillWith(target, value, 1, count, nullptr);
}
FP8_CUDA_API CUresult cuMemsetD16Async(CUdeviceptr target, unsigned short value,
                                       size_t count, CUstream stream) {
  return fillWith(target, value, 2, count, stream);
}
FP8_CUDA_API CUresult cuMemsetD16(CUdeviceptr target, unsigned short value,
                                  size_t count) {
  return fillWith(target, value, 2, count, nullptr);
}
FP8_CUDA_API CUresult cuMemsetD32Async(CUdeviceptr target, unsigned value,
                                       size_t count, CUstream stream) {
  return fillWith(target, value, 4, count, stream);
}
FP8_CUDA_API CUresult cuMemsetD32(CUdeviceptr target, unsigned value,
                                  size_t count) {
  return fillWith(target, value, 4, count, nullptr);
}
