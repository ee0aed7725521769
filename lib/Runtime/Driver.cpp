// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finding the driver's library and its functions, and wording its errors.
#include "fp8/Runtime/Driver.h"

#include <cstdlib>
#include <dlfcn.h>
#include <vector>

namespace fp8::runtime {
namespace {
/// What helps against an error, where something general can be said.
const char *cureFor(cu::Result result) {
  switch (result) {
  case cu::outOfMemory:
    return "choose smaller sizes, or end other programs that use the GPU";
  case cu::noDevice:
    return "use a machine with a GPU that nvidia-smi lists, and check "
           "CUDA_VISIBLE_DEVICES";
  case cu::noBinaryForGpu:
  case cu::invalidImage:
    return "compile for the chip of this GPU";
  case cu::unsupportedPtxVersion:
    return "the driver is older than this PTX: update it, or assemble to a "
           "cubin with ptxas";
  case cu::illegalAddress:
  case cu::misalignedAddress:
  case cu::illegalInstruction:
  case cu::launchFailed:
    return "run compute-sanitizer to find the instruction, and the simulator "
           "(fp8-run --backend=sim) to find the broken rule";
  case cu::launchOutOfResources:
    return "the block needs more registers or shared memory than a "
           "multiprocessor has";
  case cu::invalidClusterSize:
    return "a cluster has at most 8 blocks, or 16 if the manifest allows "
           "non-portable clusters";
  default:
    return nullptr;
  }
}

/// What dlopen is asked for when nobody names a library: the loader's path
/// first, then where NVIDIA's container tools mount the driver.
const char *const defaultLibraries[] = {"libcuda.so.1",
                                        "/usr/local/nvidia/lib64/libcuda.so.1"};
} // namespace

Expected<std::shared_ptr<const Driver>> Driver::load(std::string path) {
  std::vector<std::string> candidates;
  if (const char *named = std::getenv("FP8_CUDA_LIBRARY");
      path.empty() && named)
    path = named;
  if (!path.empty())
    candidates.push_back(path);
  else
    candidates.assign(std::begin(defaultLibraries), std::end(defaultLibraries));

  std::string reason;
  for (const std::string &candidate : candidates) {
    void *library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      if (reason.empty())
        reason = dlerror();
      continue;
    }
    std::shared_ptr<Driver> driver(new Driver);
    driver->libraryPath = candidate;
    if (auto error = driver->findEntries(library))
      return *error;
    return std::shared_ptr<const Driver>(driver);
  }
  return Error{"no CUDA driver: cannot load " + candidates.front() + " (" +
               reason +
               "); install NVIDIA's driver, or name its library in "
               "FP8_CUDA_LIBRARY"};
}

std::optional<Error> Driver::findEntries(void *library) {
  std::optional<Error> error;
  auto find = [&](auto &entry, bool needed = true) {
    using Function = decltype(entry.function);
    entry.function = reinterpret_cast<Function>(dlsym(library, entry.name));
    if (!entry.function && needed && !error)
      error = Error{"the CUDA driver " + libraryPath + " has no function '" +
                    entry.name + "'; update it to CUDA 12.0 or later"};
  };
  auto findAll = [&](auto &...entries) { (find(entries), ...); };
  findAll(init, driverGetVersion, getErrorName, getErrorString, deviceGetCount,
          deviceGet, deviceGetName, deviceTotalMem, deviceGetAttribute,
          devicePrimaryCtxRetain, devicePrimaryCtxRelease, ctxGetCurrent,
          ctxSetCurrent, memAlloc, memFree, memcpyHtoD, memcpyDtoH, memsetD8,
          memsetD8Async, memHostAlloc, memHostGetDevicePointer, memFreeHost,
          pointerGetAttribute, moduleLoadDataEx, moduleUnload,
          moduleGetFunction, moduleGetGlobal, funcGetAttribute,
          funcSetAttribute, tensorMapEncodeTiled, tensorMapReplaceAddress,
          launchKernelEx, streamCreate, streamDestroy, streamBeginCapture,
          streamEndCapture, eventCreate, eventDestroy, eventRecord, eventQuery,
          eventElapsedTime, graphInstantiate, graphLaunch, graphExecDestroy,
          graphDestroy);
  find(funcGetParamInfo, /*needed=*/false);
  find(streamGetCaptureInfo, /*needed=*/false);
  return error;
}

Error Driver::failure(const char *function, cu::Result result,
                      const std::string &what) const {
  const char *name = nullptr, *meaning = nullptr;
  if (getErrorName.function(result, &name) != cu::success || !name)
    name = "an unnamed error";
  if (getErrorString.function(result, &meaning) != cu::success)
    meaning = nullptr;
  std::string text = what + ": " + function + " fails with " + name + " (" +
                     std::to_string(result) +
                     (meaning ? std::string(", ") + meaning : "") + ")";
  if (const char *cure = cureFor(result))
    text += std::string("; ") + cure;
  return Error{text};
}

} // namespace fp8::runtime
