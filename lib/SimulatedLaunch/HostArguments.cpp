// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs on arrays in the host's memory: there and back.
#include "fp8/SimulatedLaunch/Kernel.h"

#include "fp8/Chip/Chip.h"
#include "fp8/Launch/HostArray.h"

namespace fp8::simulated {
namespace {
using launch::ArgumentValue;
using launch::Error;

uint8_t *hostBytes(const ArgumentValue &argument) {
  return reinterpret_cast<uint8_t *>(argument.address);
}

/// Makes the argument's buffer; its address there.
launch::Expected<uint64_t> upload(sim::Device &device,
                                  const launch::ArgumentSpec &spec,
                                  const ArgumentValue &argument,
                                  uint64_t bytes) {
  sim::BufferOptions options;
  options.readOnly = !writes(spec.access);
  options.uninitialised = spec.access == launch::Access::Write;
  auto address = device.allocate(spec.name, bytes, options);
  if (!address)
    return Error{"the simulated device has no memory for '" + spec.name +
                 "' (" + std::to_string(bytes) + " bytes)"};
  // Not by Device::write, which would make a write-only buffer readable.
  if (bytes)
    copyElements(argument, device.data(*address), hostBytes(argument));
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
  launch::DeviceProperties properties;
  properties.multiprocessorCount =
      options.multiprocessorCount ? options.multiprocessorCount
                                  : chip::getMultiprocessors(module().target());
  if (auto error = checkLaunch(manifest, arguments, properties))
    return *error;
  sim::Device device(memoryLimit);
  std::vector<ArgumentValue> onDevice = arguments;
  std::vector<uint64_t> sizes;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const launch::ArgumentSpec &spec = manifest.arguments[i];
    auto bytes = arrayBytes(spec.name, arguments[i]);
    if (!bytes)
      return bytes.takeError();
    auto address = upload(device, spec, arguments[i], *bytes);
    if (!address)
      return address.takeError();
    onDevice[i].address = *address;
    sizes.push_back(*bytes);
  }
  auto plan = bindLaunch(manifest, onDevice, properties);
  if (!plan)
    return plan.takeError();
  if (plan->nothingToLaunch())
    return Outcome();
  auto outcome = run(device, manifest, *plan, options);
  if (!outcome || !outcome->ok())
    return outcome;
  for (size_t i = 0; i < arguments.size(); ++i)
    if (writes(manifest.arguments[i].access) && sizes[i])
      copyElements(arguments[i], hostBytes(arguments[i]),
                   device.data(onDevice[i].address));
  return outcome;
}

} // namespace fp8::simulated
