// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opening a device, and loading modules on it.
#include "fp8/Runtime/Device.h"

#include <vector>

namespace fp8::runtime {

Expected<std::shared_ptr<Device>>
Device::open(std::shared_ptr<const Driver> driver, int ordinal) {
  std::shared_ptr<Device> device(new Device);
  device->driverTable = std::move(driver);
  device->deviceInfo.ordinal = ordinal;
  if (auto error = device->query())
    return *error;
  const Driver &table = device->driver();
  std::string what = "cannot create a context on " + device->str();
  if (auto error = table.call(table.devicePrimaryCtxRetain, what,
                              &device->context, device->handle))
    return *error;
  if (auto error = device->makeCurrent())
    return *error;
  return device;
}

std::optional<Error> Device::query() {
  const Driver &table = driver();
  const std::string start = "cannot start the CUDA driver " + table.path();
  if (auto error = table.call(table.init, start, 0u))
    return error;
  int count = 0;
  if (auto error = table.call(table.deviceGetCount, start, &count))
    return error;
  if (deviceInfo.ordinal < 0 || deviceInfo.ordinal >= count)
    return Error{"there is no GPU number " +
                 std::to_string(deviceInfo.ordinal) + ": the CUDA driver " +
                 table.path() + " lists " + std::to_string(count) +
                 (count == 1 ? " GPU" : " GPUs")};
  const std::string what =
      "cannot query GPU number " + std::to_string(deviceInfo.ordinal);
  char name[256] = {};
  size_t memory = 0;
  std::optional<Error> error;
  auto attribute = [&](cu::DeviceAttribute which, int &value) {
    if (!error)
      error = table.call(table.deviceGetAttribute, what, &value, which, handle);
  };
  error = table.call(table.deviceGet, what, &handle, deviceInfo.ordinal);
  if (!error)
    error = table.call(table.deviceGetName, what, &name[0],
                       int(sizeof(name) - 1), handle);
  if (!error)
    error = table.call(table.deviceTotalMem, what, &memory, handle);
  if (!error)
    error = table.call(table.driverGetVersion, what, &deviceInfo.driverVersion);
  using Attribute = cu::DeviceAttribute;
  attribute(Attribute::ComputeCapabilityMajor, deviceInfo.capability.major);
  attribute(Attribute::ComputeCapabilityMinor, deviceInfo.capability.minor);
  attribute(Attribute::MultiprocessorCount, deviceInfo.multiprocessorCount);
  attribute(Attribute::L2CacheSize, deviceInfo.l2CacheBytes);
  attribute(Attribute::MaxSharedMemoryPerBlockOptin,
            deviceInfo.maxSharedMemoryPerBlock);
  deviceInfo.name = name;
  deviceInfo.memoryBytes = memory;
  return error;
}

Device::~Device() {
  if (!context || isHung())
    return;
  // Nobody is left to hear of errors.
  ContextScope scope(*this);
  forgetWaitRecords();
  for (const auto &[image, module] : modules)
    driver().moduleUnload.function(module);
  driver().devicePrimaryCtxRelease.function(handle);
}

ContextScope::ContextScope(const Driver &driver) : driver(driver) {
  // A driver that nobody has started yet refuses, and there is none.
  if (driver.ctxGetCurrent.function(&previous) != cu::success)
    previous = nullptr;
}

ContextScope::ContextScope(const Device &device)
    : ContextScope(device.driver()) {
  changesNothing = device.isContext(previous);
  if (!changesNothing)
    failed = device.makeCurrent();
}

ContextScope::~ContextScope() {
  if (changesNothing)
    return;
  // What is current already is left alone: it may have been released.
  cu::Context now = nullptr;
  if (driver.ctxGetCurrent.function(&now) == cu::success && now != previous)
    driver.ctxSetCurrent.function(previous);
}

launch::DeviceProperties Device::properties() const {
  launch::DeviceProperties properties;
  properties.multiprocessorCount = deviceInfo.multiprocessorCount;
  properties.maxSharedMemoryPerBlock = deviceInfo.maxSharedMemoryPerBlock;
  return properties;
}

std::string Device::str() const {
  return deviceInfo.name + " (device " + std::to_string(deviceInfo.ordinal) +
         ")";
}

std::optional<Error> Device::makeCurrent() const {
  return driver().call(
      driver().ctxSetCurrent,
      [this] { return "cannot use the context of " + str(); }, context);
}

Expected<cu::Module> Device::loadModule(const std::string &image,
                                        const std::string &name) {
  // Held while the driver compiles, so that two threads do not compile twice.
  std::lock_guard<std::mutex> lock(modulesMutex);
  if (auto found = modules.find(image); found != modules.end())
    return found->second;
  using Option = cu::JitOption;
  constexpr size_t logBytes = 1 << 16;
  std::vector<char> info(logBytes), errors(logBytes);
  auto number = [](size_t value) { return reinterpret_cast<void *>(value); };
  Option options[] = {Option::InfoLogBuffer, Option::InfoLogBufferSizeBytes,
                      Option::ErrorLogBuffer, Option::ErrorLogBufferSizeBytes};
  void *values[] = {info.data(), number(logBytes), errors.data(),
                    number(logBytes)};
  cu::Module module = nullptr;
  // The text of a std::string ends in the zero that PTX must end in.
  const void *data = image.c_str();
  if (auto error = driver().call(driver().moduleLoadDataEx,
                                 "cannot load " + name + " on " + str(),
                                 &module, data, 4u, &options[0], &values[0])) {
    // The driver writes how much of each buffer it used over the values; the
    // text ends in a zero anyway.
    errors.back() = info.back() = 0;
    for (const char *log : {errors.data(), info.data()}) {
      std::string text = log;
      while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
        text.pop_back();
      if (!text.empty())
        error->message += "\nnote: the driver says: " + text;
    }
    return *error;
  }
  modules.emplace(image, module);
  return module;
}

std::optional<Error> Device::allowDynamicShared(cu::Function function,
                                                uint32_t bytes,
                                                const std::string &what) {
  // The limit is the function's, not the launch's: one that was prepared with
  // more must still be allowed to run.
  std::lock_guard<std::mutex> lock(modulesMutex);
  uint32_t &allowed = dynamicShared[function];
  if (bytes <= allowed)
    return std::nullopt;
  auto error = driver().call(driver().funcSetAttribute, what, function,
                             cu::FunctionAttribute::MaxDynamicSharedSizeBytes,
                             int(bytes));
  if (!error)
    allowed = bytes;
  return error;
}

void Device::giveUp(const std::string &message) const {
  hung = true;
  if (watchdog.onHang)
    watchdog.onHang(message);
}

size_t Device::loadedModules() const {
  std::lock_guard<std::mutex> lock(modulesMutex);
  return modules.size();
}

} // namespace fp8::runtime
