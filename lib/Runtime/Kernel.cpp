// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of loaded modules.
#include "fp8/Runtime/Launch.h"

namespace fp8::runtime {

Expected<Kernel> Kernel::load(std::shared_ptr<Device> device,
                              const std::string &image,
                              const std::string &imageName,
                              const std::string &kernelName) {
  auto module = device->loadModule(image, imageName);
  if (!module)
    return module.takeError();
  const Driver &driver = device->driver();
  Kernel kernel;
  kernel.loadedModule = *module;
  kernel.kernelName = kernelName;
  std::string what = "cannot find kernel '" + kernelName + "' in " + imageName;
  if (auto error = driver.call(driver.moduleGetFunction, what, &kernel.function,
                               *module, kernelName.c_str()))
    return *error;
  using Attribute = cu::FunctionAttribute;
  const std::pair<Attribute, int *> attributes[] = {
      {Attribute::NumRegs, &kernel.registers},
      {Attribute::LocalSizeBytes, &kernel.localBytes},
      {Attribute::SharedSizeBytes, &kernel.staticSharedBytes},
      {Attribute::MaxThreadsPerBlock, &kernel.maxThreadsPerBlock}};
  for (const auto &[attribute, value] : attributes)
    if (auto error = driver.call(driver.funcGetAttribute,
                                 "cannot query the resources of kernel '" +
                                     kernelName + "'",
                                 value, attribute, kernel.function))
      return *error;
  kernel.kernelDevice = std::move(device);
  return kernel;
}

std::optional<Error> checkRunnable(const Device &device,
                                   const std::string &image,
                                   const launch::Manifest &manifest) {
  bool cubin = isCubin(image);
  if (auto reason = whyNotRunnable(cubin ? manifest.chip : ptxTarget(image),
                                   device.info().capability, cubin))
    return Error{device.str() + " cannot run kernel '" + manifest.kernel +
                 "': " + *reason};
  return std::nullopt;
}

std::optional<std::vector<uint64_t>> Kernel::parameterBytes() const {
  const Driver &driver = kernelDevice->driver();
  if (!driver.funcGetParamInfo.function)
    return std::nullopt;
  std::vector<uint64_t> sizes;
  size_t offset = 0, size = 0;
  // An index behind the last is an invalid value. PTX has fewer than 4096.
  while (sizes.size() < 4096 &&
         driver.funcGetParamInfo.function(function, sizes.size(), &offset,
                                          &size) == cu::success)
    sizes.push_back(size);
  return sizes;
}

std::optional<Error> Kernel::allow(uint32_t dynamicSharedBytes,
                                   bool nonPortableCluster) {
  const Driver &driver = kernelDevice->driver();
  // 48 KiB are allowed unasked (CUDA C++ Programming Guide, "Shared Memory").
  constexpr uint32_t unasked = 48 << 10;
  if (dynamicSharedBytes + staticSharedBytes > unasked)
    if (auto error = kernelDevice->allowDynamicShared(
            function, dynamicSharedBytes,
            "cannot give kernel '" + kernelName + "' " +
                std::to_string(dynamicSharedBytes) +
                " bytes of dynamic shared memory besides " +
                std::to_string(staticSharedBytes) + " static bytes (" +
                kernelDevice->str() + " has " +
                std::to_string(kernelDevice->info().maxSharedMemoryPerBlock) +
                " per block)"))
      return error;
  if (!nonPortableCluster)
    return std::nullopt;
  return driver.call(
      driver.funcSetAttribute,
      "cannot allow kernel '" + kernelName + "' clusters of more than 8 blocks",
      function, cu::FunctionAttribute::NonPortableClusterSizeAllowed, 1);
}

} // namespace fp8::runtime
