// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs on arrays in the host's memory: there and back.
#include "fp8/SimulatedLaunch/Kernel.h"

#include <cstring>

namespace fp8::simulated {
namespace {
using launch::ArgumentValue;
using launch::Error;

/// An argument's elements from the first to the last, and what lies between.
launch::Expected<uint64_t> spanBytes(const std::string &name,
                                     const ArgumentValue &argument) {
  uint64_t elements = 1;
  for (size_t axis = 0; axis < argument.shape.size(); ++axis) {
    if (argument.shape[axis] == 0)
      return uint64_t(0);
    if (argument.strides[axis] < 0)
      return Error{"argument '" + name + "' has a stride of " +
                   std::to_string(argument.strides[axis]) + " in dimension " +
                   std::to_string(axis) +
                   "; copy it so that no stride is negative"};
    uint64_t step;
    if (__builtin_mul_overflow(uint64_t(argument.shape[axis] - 1),
                               uint64_t(argument.strides[axis]), &step) ||
        __builtin_add_overflow(elements, step, &elements))
      return Error{"argument '" + name +
                   "' reaches over more bytes than there "
                   "are"};
  }
  uint64_t bytes;
  if (__builtin_mul_overflow(elements, uint64_t(byteSize(argument.dtype)),
                             &bytes))
    return Error{"argument '" + name +
                 "' reaches over more bytes than there "
                 "are"};
  return bytes;
}

/// Calls `copy(offset, count)`, in bytes, for each run of elements that lie
/// side by side, from dimension `axis` on.
template <typename Copy>
void forEachRun(const ArgumentValue &argument, size_t axis, uint64_t offset,
                const Copy &copy) {
  uint64_t size = byteSize(argument.dtype);
  if (axis == argument.shape.size())
    return copy(offset, size);
  uint64_t extent = argument.shape[axis], stride = argument.strides[axis];
  if (axis + 1 == argument.shape.size() && stride == 1)
    return copy(offset, extent * size);
  for (uint64_t i = 0; i < extent; ++i)
    forEachRun(argument, axis + 1, offset + i * stride * size, copy);
}

uint8_t *hostBytes(const ArgumentValue &argument) {
  return reinterpret_cast<uint8_t *>(argument.address);
}

/// Makes the argument's buffer; its address there.
launch::Expected<uint64_t> upload(sim::Device &device,
                                  const launch::ArgumentSpec &spec,
                                  const ArgumentValue &argument,
                                  uint64_t bytes) {
  sim::BufferOptions options;
  options.readOnly = spec.access == launch::Access::Read;
  options.uninitialised = spec.access == launch::Access::Write;
  auto address = device.allocate(spec.name, bytes, options);
  if (!address)
    return Error{"no memory on the simulated device for '" + spec.name + "' (" +
                 std::to_string(bytes) + " bytes)"};
  // Not by Device::write, which would make a write-only buffer readable.
  if (bytes)
    forEachRun(argument, 0, 0, [&](uint64_t offset, uint64_t count) {
      std::memcpy(device.data(*address) + offset, hostBytes(argument) + offset,
                  count);
    });
  return *address;
}
} // namespace

launch::Expected<Outcome>
Kernel::runOnHost(const launch::Manifest &manifest,
                  const std::vector<ArgumentValue> &arguments,
                  const sim::Options &options, uint64_t memoryLimit) const {
  if (auto error = check(manifest))
    return *error;
  if (auto error = checkArguments(manifest, arguments))
    return *error;
  sim::Device device(memoryLimit);
  std::vector<ArgumentValue> onDevice = arguments;
  std::vector<uint64_t> sizes;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const launch::ArgumentSpec &spec = manifest.arguments[i];
    auto bytes = spanBytes(spec.name, arguments[i]);
    if (!bytes)
      return bytes.takeError();
    auto address = upload(device, spec, arguments[i], *bytes);
    if (!address)
      return address.takeError();
    onDevice[i].address = *address;
    sizes.push_back(*bytes);
  }
  launch::DeviceProperties properties;
  properties.multiprocessorCount = options.multiprocessorCount;
  auto plan = bindLaunch(manifest, onDevice, properties);
  if (!plan)
    return plan.takeError();
  if (plan->nothingToLaunch())
    return Outcome();
  auto outcome = run(device, manifest, *plan, options);
  if (!outcome || !outcome->ok())
    return outcome;
  for (size_t i = 0; i < arguments.size(); ++i)
    if (manifest.arguments[i].access != launch::Access::Read && sizes[i])
      forEachRun(arguments[i], 0, 0, [&](uint64_t offset, uint64_t count) {
        std::memcpy(hostBytes(arguments[i]) + offset,
                    device.data(onDevice[i].address) + offset, count);
      });
  return outcome;
}

} // namespace fp8::simulated
