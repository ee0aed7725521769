// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CUDA driver: devices, contexts, entry points.
#include "Operations.h"

#include <cstring>
#include <dlfcn.h>
#include <string_view>

using namespace fp8::cuda;

namespace {
/// The one context; its address is the handle.
char contextOfDevice;
thread_local CUcontext currentContext = nullptr;

CUcontext context() { return reinterpret_cast<CUcontext>(&contextOfDevice); }
} // namespace

FP8_CUDA_API CUresult cuInit(unsigned) {
  Gpu::get();
  return CUDA_SUCCESS;
}

FP8_CUDA_API CUresult cuDriverGetVersion(int *version) {
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}

FP8_CUDA_API CUresult cuDeviceGetCount(int *count) {
  *count = 1;
  return CUDA_SUCCESS;
}

FP8_CUDA_API CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  *device = 0;
  return ordinal == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

FP8_CUDA_API CUresult cuDeviceGetName(char *name, int bytes, CUdevice) {
  std::string title = "simulated " + Gpu::get().settings.chip;
  if (bytes > 0) {
    std::strncpy(name, title.c_str(), size_t(bytes) - 1);
    name[bytes - 1] = '\0';
  }
  return CUDA_SUCCESS;
}

FP8_CUDA_API CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice) {
  std::memset(uuid, 0, sizeof(*uuid));
  return CUDA_SUCCESS;
}

FP8_CUDA_API CUresult cuDeviceGetPCIBusId(char *id, int bytes,
                                          CUdevice device) {
  return toDriver(cudaDeviceGetPCIBusId(id, bytes, device));
}

FP8_CUDA_API CUresult cuDeviceTotalMem(size_t *bytes, CUdevice) {
  *bytes = Gpu::get().memory.limit();
  return CUDA_SUCCESS;
}

FP8_CUDA_API CUresult cuDeviceGetAttribute(int *value,
                                           CUdevice_attribute attribute,
                                           CUdevice device) {
  return toDriver(
      cudaDeviceGetAttribute(value, cudaDeviceAttr(attribute), device));
}

FP8_CUDA_API CUresult cuDevicePrimaryCtxRetain(CUcontext *result, CUdevice) {
  *result = context();
  return CUDA_SUCCESS;
}

FP8_CUDA_API CUresult cuDevicePrimaryCtxRelease(CUdevice) {
  return CUDA_SUCCESS;
}

FP8_CUDA_API CUresult cuDevicePrimaryCtxSetFlags(CUdevice, unsigned) {
  return CUDA_SUCCESS;
}

FP8_CUDA_API CUresult cuCtxCreate(CUcontext *result, CUctxCreateParams *,
                                  unsigned, CUdevice) {
  *result = currentContext = context();
  return CUDA_SUCCESS;
}

FP8_CUDA_API CUresult cuCtxDestroy(CUcontext) {
  currentContext = nullptr;
  return CUDA_SUCCESS;
}

FP8_CUDA_API CUresult cuCtxGetCurrent(CUcontext *result) {
  *result = currentContext;
  return CUDA_SUCCESS;
}

FP8_CUDA_API CUresult cuCtxSetCurrent(CUcontext given) {
  currentContext = given;
  return CUDA_SUCCESS;
}

FP8_CUDA_API CUresult cuCtxPushCurrent(CUcontext given) {
  return cuCtxSetCurrent(given);
}

FP8_CUDA_API CUresult cuCtxPopCurrent(CUcontext *result) {
  if (result)
    *result = currentContext;
  return CUDA_SUCCESS;
}

FP8_CUDA_API CUresult cuCtxGetDevice(CUdevice *device) {
  *device = 0;
  return CUDA_SUCCESS;
}

FP8_CUDA_API CUresult cuCtxGetDevice_v2(CUdevice *device, CUcontext) {
  return cuCtxGetDevice(device);
}

FP8_CUDA_API CUresult cuCtxSynchronize() {
  return toDriver(cudaDeviceSynchronize());
}

FP8_CUDA_API CUresult cuGetExportTable(const void **table, const CUuuid *) {
  *table = nullptr;
  // NVRTC asks for one, and does without it.
  constexpr std::string_view goesOn = "/libnvrtc";
  Dl_info caller;
  if (dladdr(__builtin_return_address(0), &caller) &&
      std::string_view(caller.dli_fname).find(goesOn) != std::string_view::npos)
    return CUDA_ERROR_NOT_SUPPORTED;
  return toDriver(
      onGpu([](Gpu &gpu) { return gpu.refuse("cuGetExportTable"); }));
}

FP8_CUDA_API CUresult cuGetProcAddress(const char *symbol, void **function, int,
                                       cuuint64_t,
                                       CUdriverProcAddressQueryResult *result) {
  *function = entryPoint(symbol);
  if (result)
    *result = *function ? CU_GET_PROC_ADDRESS_SUCCESS
                        : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return *function || result ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
