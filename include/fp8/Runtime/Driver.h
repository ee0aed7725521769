// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CUDA driver, loaded at run time. Nothing links against it, so that a
// machine without a driver builds and runs everything else.
#ifndef FP8_RUNTIME_DRIVER_H
#define FP8_RUNTIME_DRIVER_H

#include "fp8/Launch/Expected.h"
#include "fp8/Runtime/DriverTypes.h"
#include "fp8/Tensor/TensorMap.h"

#include <memory>
#include <optional>
#include <type_traits>

namespace fp8::runtime {

using launch::Error;
using launch::Expected;

/// One function of the driver, with its name for error messages.
template <typename... Parameters>
struct Entry {
  const char *name;
  cu::Result (*function)(Parameters...) = nullptr;
};

class Driver {
public:
  /// Loads the library at `path`; if `path` is empty, the library that the
  /// environment variable FP8_CUDA_LIBRARY names; otherwise libcuda.so.1. The
  /// library stays loaded. It is an error if there is no library, or if it
  /// lacks a function.
  static Expected<std::shared_ptr<const Driver>> load(std::string path = "");

  const std::string &path() const { return libraryPath; }

  /// Calls a function. `what` begins the message of an error: "cannot allocate
  /// ...".
  template <typename... Parameters, typename... Arguments>
  std::optional<Error> call(const Entry<Parameters...> &entry,
                            const std::string &what,
                            Arguments... arguments) const {
    cu::Result result = entry.function(arguments...);
    if (result == cu::success)
      return std::nullopt;
    return failure(entry.name, result, what);
  }
  /// The same with a function that makes `what`, for frequent calls, so that
  /// only a failure builds the text.
  template <typename What, typename... Parameters, typename... Arguments>
  auto call(const Entry<Parameters...> &entry, const What &what,
            Arguments... arguments) const
      -> std::enable_if_t<std::is_invocable_r_v<std::string, What>,
                          std::optional<Error>> {
    cu::Result result = entry.function(arguments...);
    if (result == cu::success)
      return std::nullopt;
    return failure(entry.name, result, what());
  }

  /// The message of a failed call: `what`, the function, the name and meaning
  /// of the error, and the cure.
  Error failure(const char *function, cu::Result result,
                const std::string &what) const;

  // The names are those that the library exports (CUDA Driver API reference;
  // the suffixes are the versions that cuda.h's plain names stand for).
  Entry<unsigned> init{"cuInit"};
  Entry<int *> driverGetVersion{"cuDriverGetVersion"};
  Entry<cu::Result, const char **> getErrorName{"cuGetErrorName"};
  Entry<cu::Result, const char **> getErrorString{"cuGetErrorString"};
  Entry<int *> deviceGetCount{"cuDeviceGetCount"};
  Entry<cu::Device *, int> deviceGet{"cuDeviceGet"};
  Entry<char *, int, cu::Device> deviceGetName{"cuDeviceGetName"};
  Entry<size_t *, cu::Device> deviceTotalMem{"cuDeviceTotalMem_v2"};
  Entry<int *, cu::DeviceAttribute, cu::Device> deviceGetAttribute{
      "cuDeviceGetAttribute"};
  Entry<cu::Context *, cu::Device> devicePrimaryCtxRetain{
      "cuDevicePrimaryCtxRetain"};
  Entry<cu::Device> devicePrimaryCtxRelease{"cuDevicePrimaryCtxRelease_v2"};
  Entry<cu::Context *> ctxGetCurrent{"cuCtxGetCurrent"};
  Entry<cu::Context> ctxSetCurrent{"cuCtxSetCurrent"};
  Entry<cu::DevicePointer *, size_t> memAlloc{"cuMemAlloc_v2"};
  Entry<cu::DevicePointer> memFree{"cuMemFree_v2"};
  Entry<cu::DevicePointer, const void *, size_t> memcpyHtoD{"cuMemcpyHtoD_v2"};
  Entry<void **, size_t, unsigned> memHostAlloc{"cuMemHostAlloc"};
  Entry<cu::DevicePointer *, void *, unsigned> memHostGetDevicePointer{
      "cuMemHostGetDevicePointer_v2"};
  Entry<void *> memFreeHost{"cuMemFreeHost"};
  Entry<void *, cu::DevicePointer, size_t> memcpyDtoH{"cuMemcpyDtoH_v2"};
  Entry<cu::DevicePointer, unsigned char, size_t> memsetD8{"cuMemsetD8_v2"};
  Entry<cu::DevicePointer, unsigned char, size_t, cu::Stream> memsetD8Async{
      "cuMemsetD8Async"};
  Entry<void *, cu::PointerAttribute, cu::DevicePointer> pointerGetAttribute{
      "cuPointerGetAttribute"};
  Entry<cu::Module *, const void *, unsigned, cu::JitOption *, void **>
      moduleLoadDataEx{"cuModuleLoadDataEx"};
  Entry<cu::Module> moduleUnload{"cuModuleUnload"};
  Entry<cu::Function *, cu::Module, const char *> moduleGetFunction{
      "cuModuleGetFunction"};
  Entry<cu::DevicePointer *, size_t *, cu::Module, const char *>
      moduleGetGlobal{"cuModuleGetGlobal_v2"};
  Entry<int *, cu::FunctionAttribute, cu::Function> funcGetAttribute{
      "cuFuncGetAttribute"};
  Entry<cu::Function, cu::FunctionAttribute, int> funcSetAttribute{
      "cuFuncSetAttribute"};
  /// Since CUDA 12.4; null in older drivers.
  Entry<cu::Function, size_t, size_t *, size_t *> funcGetParamInfo{
      "cuFuncGetParamInfo"};
  Entry<cu::TensorMap *, cu::TensorMapDataType, uint32_t, void *,
        const uint64_t *, const uint64_t *, const uint32_t *, const uint32_t *,
        tensor::Interleave, tensor::Swizzle, tensor::L2Promotion,
        tensor::OobFill>
      tensorMapEncodeTiled{"cuTensorMapEncodeTiled"};
  Entry<cu::TensorMap *, void *> tensorMapReplaceAddress{
      "cuTensorMapReplaceAddress"};
  Entry<const cu::LaunchConfig *, cu::Function, void **, void **>
      launchKernelEx{"cuLaunchKernelEx"};
  Entry<cu::Stream *, unsigned> streamCreate{"cuStreamCreate"};
  Entry<cu::Stream> streamDestroy{"cuStreamDestroy_v2"};
  Entry<cu::Stream, int> streamBeginCapture{"cuStreamBeginCapture_v2"};
  Entry<cu::Stream, cu::Graph *> streamEndCapture{"cuStreamEndCapture"};
  /// Since CUDA 12.3; null in older drivers.
  Entry<cu::Stream, cu::CaptureStatus *, unsigned long long *, cu::Graph *,
        const cu::GraphNode **, const cu::GraphEdge **, size_t *>
      streamGetCaptureInfo{"cuStreamGetCaptureInfo_v3"};
  Entry<cu::Event *, unsigned> eventCreate{"cuEventCreate"};
  Entry<cu::Event> eventDestroy{"cuEventDestroy_v2"};
  Entry<cu::Event, cu::Stream> eventRecord{"cuEventRecord"};
  Entry<cu::Event> eventQuery{"cuEventQuery"};
  Entry<float *, cu::Event, cu::Event> eventElapsedTime{"cuEventElapsedTime"};
  Entry<cu::GraphExec *, cu::Graph, unsigned long long> graphInstantiate{
      "cuGraphInstantiateWithFlags"};
  Entry<cu::GraphExec, cu::Stream> graphLaunch{"cuGraphLaunch"};
  Entry<cu::GraphExec> graphExecDestroy{"cuGraphExecDestroy"};
  Entry<cu::Graph> graphDestroy{"cuGraphDestroy"};

private:
  Driver() = default;
  std::optional<Error> findEntries(void *library);

  std::string libraryPath;
};

} // namespace fp8::runtime

#endif // FP8_RUNTIME_DRIVER_H
