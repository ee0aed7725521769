// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CUDA runtime: libraries that a program loads, as the driver has them.
#include "Operations.h"

using namespace fp8::cuda;

namespace {
/// The runtime's errors have the numbers of the driver's.
cudaError_t toRuntime(CUresult status) {
  return static_cast<cudaError_t>(status);
}
template <typename To, typename From>
To as(From handle) {
  return reinterpret_cast<To>(handle);
}
} // namespace

FP8_CUDA_API cudaError_t cudaLibraryLoadData(cudaLibrary_t *library,
                                             const void *code, cudaJitOption *,
                                             void **, unsigned,
                                             cudaLibraryOption *, void **,
                                             unsigned) {
  return toRuntime(cuLibraryLoadData(as<CUlibrary *>(library), code, nullptr,
                                     nullptr, 0, nullptr, nullptr, 0));
}

FP8_CUDA_API cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *library,
                                                 const char *path,
                                                 cudaJitOption *, void **,
                                                 unsigned, cudaLibraryOption *,
                                                 void **, unsigned) {
  return toRuntime(cuLibraryLoadFromFile(as<CUlibrary *>(library), path,
                                         nullptr, nullptr, 0, nullptr, nullptr,
                                         0));
}

FP8_CUDA_API cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  return toRuntime(cuLibraryUnload(as<CUlibrary>(library)));
}

FP8_CUDA_API cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel,
                                              cudaLibrary_t library,
                                              const char *name) {
  return toRuntime(
      cuLibraryGetKernel(as<CUkernel *>(kernel), as<CUlibrary>(library), name));
}

FP8_CUDA_API cudaError_t cudaLibraryGetGlobal(void **address, size_t *bytes,
                                              cudaLibrary_t library,
                                              const char *name) {
  return toRuntime(cuLibraryGetGlobal(as<CUdeviceptr *>(address), bytes,
                                      as<CUlibrary>(library), name));
}

FP8_CUDA_API cudaError_t cudaKernelSetAttributeForDevice(
    cudaKernel_t kernel, cudaFuncAttribute attribute, int value, int) {
  return cudaFuncSetAttribute(kernel, attribute, value);
}
