// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs on arrays in the host's memory or the device's: there and back.
#include "fp8/Runtime/HostArguments.h"

#include "fp8/Launch/HostArray.h"

#include <algorithm>

namespace fp8::runtime {
namespace {
using launch::ArgumentValue;

/// A place on the device for an argument in the host's memory.
struct Copy {
  size_t index;
  DeviceBuffer buffer;
};

/// Where kernels reach what lies at the argument's address; nothing if it is
/// the host's memory, or another device's. The driver knows the memory that it
/// has allocated or registered and no other (CUDA driver API,
/// cuPointerGetAttribute).
Expected<std::optional<uint64_t>>
findOnDevice(const Device &device, const std::string &name, uint64_t address) {
  const Driver &driver = device.driver();
  const std::string what = "cannot find the memory of argument '" + name + "'";
  auto ask = [&](cu::PointerAttribute attribute, void *value) {
    return driver.pointerGetAttribute.function(value, attribute, address);
  };
  cu::DevicePointer reached = 0;
  cu::Result result = ask(cu::PointerAttribute::DevicePointer, &reached);
  if (result == cu::success)
    return std::optional<uint64_t>(reached);
  if (result != cu::invalidValue)
    return driver.failure(driver.pointerGetAttribute.name, result, what);
  unsigned type = 0;
  if (ask(cu::PointerAttribute::MemoryType, &type) == cu::success &&
      type == cu::memoryTypeDevice)
    return Error{"argument '" + name + "' is on a GPU that " + device.str() +
                 " cannot reach; launch on that GPU"};
  return std::optional<uint64_t>();
}

/// A copy of the argument on the device, without its elements if the kernel
/// writes them all.
Expected<DeviceBuffer> upload(const std::shared_ptr<const Device> &device,
                              const launch::ArgumentSpec &spec,
                              const ArgumentValue &argument, uint64_t bytes) {
  // A tensor map wants an address even where there are no elements.
  auto buffer =
      DeviceBuffer::allocate(device, spec.name, std::max(bytes, uint64_t(1)));
  if (buffer && spec.access != launch::Access::Write)
    if (auto error = buffer->upload(
            reinterpret_cast<const void *>(argument.address), bytes))
      return *error;
  return buffer;
}

std::optional<Error> download(const Copy &copy, const ArgumentValue &argument) {
  std::vector<uint8_t> bytes(copy.buffer.size());
  if (auto error = copy.buffer.download(bytes.data(), bytes.size()))
    return error;
  launch::copyElements(argument, reinterpret_cast<void *>(argument.address),
                       bytes.data());
  return std::nullopt;
}
} // namespace

std::optional<Error> runOnHost(const Kernel &kernel,
                               const launch::Manifest &manifest,
                               const std::vector<ArgumentValue> &arguments) {
  if (auto error = checkArguments(manifest, arguments))
    return error;
  const std::shared_ptr<Device> &device = kernel.device();
  if (auto error = checkLaunch(manifest, arguments, device->properties()))
    return error;
  std::vector<ArgumentValue> onDevice = arguments;
  std::vector<Copy> copies;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const launch::ArgumentSpec &spec = manifest.arguments[i];
    auto reached = findOnDevice(*device, spec.name, arguments[i].address);
    if (!reached)
      return reached.takeError();
    if (*reached) {
      onDevice[i].address = **reached;
      continue;
    }
    auto bytes = launch::arrayBytes(spec.name, arguments[i]);
    if (!bytes)
      return bytes.takeError();
    auto buffer = upload(device, spec, arguments[i], *bytes);
    if (!buffer)
      return buffer.takeError();
    onDevice[i].address = buffer->address();
    copies.push_back({i, std::move(*buffer)});
  }
  auto plan = bindLaunch(manifest, onDevice, device->properties());
  if (!plan)
    return plan.takeError();
  if (plan->nothingToLaunch())
    return std::nullopt;
  auto launch = PreparedLaunch::make(kernel, manifest, *plan);
  if (!launch)
    return launch.takeError();
  if (auto error = launch->run())
    return error;
  for (const Copy &copy : copies)
    if (writes(manifest.arguments[copy.index].access))
      if (auto error = download(copy, arguments[copy.index]))
        return error;
  return std::nullopt;
}

} // namespace fp8::runtime
