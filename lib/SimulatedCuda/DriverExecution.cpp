// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CUDA driver: modules, libraries, kernels.
#include "Operations.h"

#include <algorithm>
#include <fstream>
#include <iterator>

using namespace fp8::cuda;

namespace {
/// The text of files that modules were loaded from.
std::vector<std::unique_ptr<std::string>> texts;

/// How a program wants its text to be compiled; all of it is ignored but the
/// buffer for messages.
struct JitOptions {
  unsigned count = 0;
  const CUjit_option *names = nullptr;
  void **values = nullptr;

  void **find(CUjit_option name) const {
    for (unsigned i = 0; i < count; ++i)
      if (names[i] == name)
        return &values[i];
    return nullptr;
  }
  /// The size becomes that of the message, with its end.
  void log(const std::string &message) const {
    void **buffer = find(CU_JIT_ERROR_LOG_BUFFER),
         **size = find(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
    const size_t room = buffer && *buffer && size ? addressOf(*size) : 0;
    if (!room)
      return;
    char *text = static_cast<char *>(*buffer);
    text[message.copy(text, room - 1)] = '\0';
    *size = reinterpret_cast<void *>(std::min(message.size() + 1, room));
  }
};

cudaError_t loadModule(Gpu &gpu, const void *image, const JitOptions &options,
                       Module *&module) {
  module = gpu.modules.add(image);
  auto error = gpu.modules.load(*module);
  if (!error)
    return cudaSuccess;
  gpu.modules.remove(module);
  module = nullptr;
  options.log(error->message);
  return gpu.fail(cudaErrorInvalidPtx, error->message);
}

cudaError_t unloadModule(Gpu &gpu, Module *module) {
  return gpu.modules.remove(module) ? cudaSuccess
                                    : cudaErrorInvalidResourceHandle;
}

cudaError_t findKernel(Gpu &gpu, Module *module, const char *name,
                       Kernel *&kernel) {
  if (!gpu.modules.contains(module))
    return cudaErrorInvalidResourceHandle;
  kernel = module->findKernel(name);
  return kernel ? cudaSuccess : cudaErrorSymbolNotFound;
}

cudaError_t findVariable(Gpu &gpu, Module *module, const char *name,
                         CUdeviceptr *address, size_t *bytes) {
  if (!gpu.modules.contains(module))
    return cudaErrorInvalidResourceHandle;
  const auto *variable = module->loaded()->find(name);
  if (!variable)
    return cudaErrorSymbolNotFound;
  if (address)
    *address = variable->address;
  if (bytes)
    *bytes = variable->bytes;
  return cudaSuccess;
}

Module *moduleOf(void *handle) { return static_cast<Module *>(handle); }

/// Loads what `image` points to, as a module or a library.
template <typename Handle>
CUresult loadImage(Handle *handle, const void *image,
                   const JitOptions &options = {}) {
  return toDriver(onGpu([&](Gpu &gpu) {
    Module *module = nullptr;
    cudaError_t status = loadModule(gpu, image, options, module);
    *handle = reinterpret_cast<Handle>(module);
    return status;
  }));
}

template <typename Handle>
CUresult loadFile(Handle *handle, const char *path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return CUDA_ERROR_FILE_NOT_FOUND;
  texts.push_back(std::make_unique<std::string>(
      std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()));
  return loadImage(handle, texts.back()->c_str());
}
} // namespace

FP8_CUDA_API CUresult cuModuleLoadData(CUmodule *module, const void *image) {
  return loadImage(module, image);
}
FP8_CUDA_API CUresult cuModuleLoadDataEx(CUmodule *module, const void *image,
                                         unsigned count, CUjit_option *options,
                                         void **values) {
  return loadImage(module, image, {count, options, values});
}
FP8_CUDA_API CUresult cuModuleLoadFatBinary(CUmodule *module,
                                            const void *image) {
  return loadImage(module, image);
}
FP8_CUDA_API CUresult cuModuleLoad(CUmodule *module, const char *path) {
  return loadFile(module, path);
}
FP8_CUDA_API CUresult cuModuleUnload(CUmodule module) {
  return toDriver(
      onGpu([&](Gpu &gpu) { return unloadModule(gpu, moduleOf(module)); }));
}

FP8_CUDA_API CUresult cuModuleGetFunction(CUfunction *function, CUmodule module,
                                          const char *name) {
  return toDriver(onGpu([&](Gpu &gpu) {
    Kernel *kernel = nullptr;
    cudaError_t status = findKernel(gpu, moduleOf(module), name, kernel);
    *function = reinterpret_cast<CUfunction>(kernel);
    return status;
  }));
}
FP8_CUDA_API CUresult cuModuleGetGlobal(CUdeviceptr *address, size_t *bytes,
                                        CUmodule module, const char *name) {
  return toDriver(onGpu([&](Gpu &gpu) {
    return findVariable(gpu, moduleOf(module), name, address, bytes);
  }));
}

FP8_CUDA_API CUresult cuLibraryLoadData(CUlibrary *library, const void *image,
                                        CUjit_option *options, void **values,
                                        unsigned count, CUlibraryOption *,
                                        void **, unsigned) {
  return loadImage(library, image, {count, options, values});
}
FP8_CUDA_API CUresult cuLibraryLoadFromFile(CUlibrary *library,
                                            const char *path, CUjit_option *,
                                            void **, unsigned,
                                            CUlibraryOption *, void **,
                                            unsigned) {
  return loadFile(library, path);
}
FP8_CUDA_API CUresult cuLibraryUnload(CUlibrary library) {
  return cuModuleUnload(reinterpret_cast<CUmodule>(library));
}
FP8_CUDA_API CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library,
                                         const char *name) {
  return cuModuleGetFunction(reinterpret_cast<CUfunction *>(kernel),
                             reinterpret_cast<CUmodule>(library), name);
}
FP8_CUDA_API CUresult cuLibraryGetModule(CUmodule *module, CUlibrary library) {
  *module = reinterpret_cast<CUmodule>(library);
  return CUDA_SUCCESS;
}
FP8_CUDA_API CUresult cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes,
                                         CUlibrary library, const char *name) {
  return cuModuleGetGlobal(address, bytes, reinterpret_cast<CUmodule>(library),
                           name);
}
FP8_CUDA_API CUresult cuKernelGetFunction(CUfunction *function,
                                          CUkernel kernel) {
  *function = reinterpret_cast<CUfunction>(kernel);
  return CUDA_SUCCESS;
}
FP8_CUDA_API CUresult cuKernelGetAttribute(int *value,
                                           CUfunction_attribute attribute,
                                           CUkernel kernel, CUdevice) {
  return cuFuncGetAttribute(value, attribute,
                            reinterpret_cast<CUfunction>(kernel));
}
FP8_CUDA_API CUresult cuKernelSetAttribute(CUfunction_attribute attribute,
                                           int value, CUkernel kernel,
                                           CUdevice) {
  return cuFuncSetAttribute(reinterpret_cast<CUfunction>(kernel), attribute,
                            value);
}

FP8_CUDA_API CUresult cuFuncSetAttribute(CUfunction function,
                                         CUfunction_attribute attribute,
                                         int value) {
  return toDriver(
      cudaFuncSetAttribute(function, cudaFuncAttribute(attribute), value));
}
FP8_CUDA_API CUresult cuFuncSetCacheConfig(CUfunction, CUfunc_cache) {
  return CUDA_SUCCESS;
}

FP8_CUDA_API CUresult cuFuncGetAttribute(int *value,
                                         CUfunction_attribute attribute,
                                         CUfunction function) {
  cudaFuncAttributes all;
  if (cudaError_t status = cudaFuncGetAttributes(&all, function))
    return toDriver(status);
  switch (attribute) {
  case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    *value = all.maxThreadsPerBlock;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
    *value = int(all.sharedSizeBytes);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
  case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
  case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    *value = 0;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_NUM_REGS:
    *value = all.numRegs;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_PTX_VERSION:
  case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
    *value = all.ptxVersion;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
    *value = all.maxDynamicSharedSizeBytes;
    return CUDA_SUCCESS;
  default:
    return toDriver(onGpu([&](Gpu &gpu) {
      return gpu.fail(cudaErrorNotSupported, "function attribute " +
                                                 std::to_string(attribute) +
                                                 " is not simulated");
    }));
  }
}

FP8_CUDA_API CUresult cuFuncGetParamInfo(CUfunction function, size_t index,
                                         size_t *offset, size_t *bytes) {
  return toDriver(onGpu([&](Gpu &gpu) {
    auto kernel = gpu.modules.findKernel(function);
    if (!kernel)
      return cudaErrorInvalidResourceHandle;
    const auto &parameters = (*kernel)->entry->parameters;
    if (index >= parameters.size())
      return cudaErrorInvalidValue;
    size_t at = 0;
    for (size_t i = 0; i <= index; ++i) {
      size_t alignment =
          parameters[i].alignBytes ? parameters[i].alignBytes : 1;
      at = (at + alignment - 1) / alignment * alignment;
      *offset = at;
      at += parameters[i].sizeBytes;
    }
    if (bytes)
      *bytes = parameters[index].sizeBytes;
    return cudaSuccess;
  }));
}

/// A launch whose arguments may lie in one buffer, which `extra` names.
static CUresult launchWith(CUfunction function, LaunchRequest request,
                           void **arguments, void **extra) {
  return toDriver(onGpu([&](Gpu &gpu) {
    auto kernel = gpu.modules.findKernel(function);
    if (!kernel)
      return gpu.fail(cudaErrorInvalidResourceHandle, kernel.error());
    request.kernel = *kernel;
    request.arguments = arguments;
    for (size_t i = 0; extra && extra[i] != CU_LAUNCH_PARAM_END; i += 2)
      if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER)
        request.packed = extra[i + 1];
    return launchKernel(gpu, request);
  }));
}

FP8_CUDA_API CUresult cuLaunchKernel(CUfunction function, unsigned gridX,
                                     unsigned gridY, unsigned gridZ,
                                     unsigned blockX, unsigned blockY,
                                     unsigned blockZ, unsigned shared,
                                     CUstream stream, void **arguments,
                                     void **extra) {
  LaunchRequest request;
  request.grid = {gridX, gridY, gridZ};
  request.block = {blockX, blockY, blockZ};
  request.dynamicShared = shared;
  request.stream = stream;
  return launchWith(function, request, arguments, extra);
}

FP8_CUDA_API CUresult cuLaunchKernelEx(const CUlaunchConfig *config,
                                       CUfunction function, void **arguments,
                                       void **extra) {
  LaunchRequest request;
  request.grid = {config->gridDimX, config->gridDimY, config->gridDimZ};
  request.block = {config->blockDimX, config->blockDimY, config->blockDimZ};
  request.dynamicShared = config->sharedMemBytes;
  request.stream = config->hStream;
  // The two structures are one, by two names.
  static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute));
  request.attributes =
      reinterpret_cast<const cudaLaunchAttribute *>(config->attrs);
  request.attributeCount = config->numAttrs;
  return launchWith(function, request, arguments, extra);
}

FP8_CUDA_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(
    int *ctas, CUfunction function, int threads, size_t shared) {
  return toDriver(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      ctas, function, threads, shared));
}
