// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the runtime API and the driver API both do. Statuses are those of the
// runtime; the driver's have the same numbers.
#ifndef FP8_LIB_SIMULATEDCUDA_OPERATIONS_H
#define FP8_LIB_SIMULATEDCUDA_OPERATIONS_H

#include "Gpu.h"

#include <cuda.h>

namespace fp8::cuda {

/// A function of CUDA that programs find in the shared library.
#define FP8_CUDA_API extern "C" __attribute__((visibility("default")))

/// The driver's name of a status.
inline CUresult toDriver(cudaError_t status) {
  switch (status) {
  case cudaErrorInvalidConfiguration: // it has none of its own
  case cudaErrorInvalidPitchValue:
  case cudaErrorInvalidMemcpyDirection:
    return CUDA_ERROR_INVALID_VALUE;
  default:
    return CUresult(status);
  }
}

template <typename T>
uint64_t addressOf(T *pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

cudaError_t allocate(Gpu &gpu, void **result, size_t bytes, Reach reach,
                     const char *maker);
cudaError_t release(Gpu &gpu, uint64_t address);

/// Fails where a side that `kind` puts on the device is not there.
cudaError_t copy(Gpu &gpu, uint64_t target, uint64_t source, size_t bytes,
                 cudaMemcpyKind kind, cudaStream_t stream);
/// Where rows begin: the first at `address`, the others `pitch` bytes apart.
struct Rows {
  uint64_t address;
  size_t pitch;
};
/// `rows` rows of `width` bytes.
cudaError_t copyRows(Gpu &gpu, Rows target, Rows source, size_t width,
                     size_t rows, cudaMemcpyKind kind, cudaStream_t stream);
/// Fails on the host's memory.
cudaError_t fill(Gpu &gpu, uint64_t target, uint32_t pattern,
                 unsigned patternBytes, size_t count, cudaStream_t stream);

/// A launch as CUDA describes it. `arguments` points to the values of the
/// parameters, `packed` to all of them in one buffer; one of the two is null.
struct LaunchRequest {
  Kernel *kernel = nullptr;
  dim3 grid, block;
  size_t dynamicShared = 0;
  void **arguments = nullptr;
  const void *packed = nullptr;
  cudaStream_t stream = nullptr;
  const cudaLaunchAttribute *attributes = nullptr;
  unsigned attributeCount = 0;
  bool cooperative = false;
};
cudaError_t launchKernel(Gpu &gpu, const LaunchRequest &request);

/// The value of a device attribute; nothing for those that the table lacks.
/// Attributes of runtime and driver have the same numbers.
std::optional<int> deviceAttribute(const Gpu &gpu, int attribute);
/// CTAs of `threads` threads that a multiprocessor holds.
int ctasPerMultiprocessor(const Gpu &gpu, const Kernel &kernel, int threads,
                          size_t dynamicShared);

/// The function called `name` in this library, or null: its newest version.
void *entryPoint(const char *name);

} // namespace fp8::cuda

#endif // FP8_LIB_SIMULATEDCUDA_OPERATIONS_H
