// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launch plans on the simulated device.
#include "SimulatorBackend.h"

#include "Simulation.h"
#include "fp8/Chip/Chip.h"
#include "fp8/Chip/Timing.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

namespace fp8::run {
namespace {
/// What is launched, as the first line of a trace. Arguments that are no
/// integers are null.
std::string traceOf(const launch::LaunchPlan &plan) {
  nlohmann::ordered_json line{
      {"grid", plan.grid}, {"block", plan.block}, {"cluster", plan.cluster}};
  line["arguments"] = nlohmann::ordered_json::array();
  for (const launch::BoundParameter &parameter : plan.parameters) {
    const auto *scalar = std::get_if<launch::BoundScalar>(&parameter);
    line["arguments"].push_back(scalar ? nlohmann::ordered_json(scalar->value)
                                       : nullptr);
  }
  return line.dump() + "\n";
}

bool isNamed(const std::vector<std::string> &names, const std::string &name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The plan of a launch behind a kernel that writes the arguments with these
/// names alone: the kernel is told that others are constant.
launch::LaunchPlan behindWriterOf(const std::vector<std::string> &written,
                                  const launch::Manifest &manifest,
                                  launch::LaunchPlan plan) {
  for (size_t i = 0; i < plan.parameters.size(); ++i)
    if (const auto *constancy =
            std::get_if<launch::ConstancySpec>(&manifest.parameters[i]))
      std::get<launch::BoundScalar>(plan.parameters[i]).value = std::none_of(
          constancy->arguments.begin(), constancy->arguments.end(),
          [&](unsigned argument) {
            return isNamed(written, manifest.arguments[argument].name);
          });
  return plan;
}

class SimulatorBackend : public Backend {
public:
  SimulatorBackend(const Options &options, simulated::Kernel kernel)
      : options(options), kernel(std::move(kernel)),
        device(options.memoryLimit) {
    const std::string &target = this->kernel.module().target();
    unsigned &count = this->options.simulation.multiprocessorCount;
    if (!count)
      count = unsigned(chip::getMultiprocessors(target));
    if (const chip::Timing *timing =
            chip::lookupTiming(target, options.simulation.timedGpu);
        timing && options.simulation.timing)
      count = static_cast<unsigned>(timing->multiprocessors);
  }

  std::string name() const override { return "sim"; }

  launch::DeviceProperties properties() const override {
    launch::DeviceProperties properties;
    properties.multiprocessorCount = options.simulation.multiprocessorCount;
    return properties;
  }

  std::optional<launch::Error>
  checkKernel(const launch::Manifest &manifest) const override {
    for (const std::string &name : options.written)
      if (std::none_of(manifest.arguments.begin(), manifest.arguments.end(),
                       [&](const launch::ArgumentSpec &argument) {
                         return argument.name == name;
                       }))
        return launch::Error{"the kernel has no argument '" + name +
                             "', which --written names"};
    return kernel.check(manifest);
  }

  unsigned schedules() const override { return options.schedules; }

  void reset() override { device = sim::Device(options.memoryLimit); }

  launch::Expected<uint64_t> upload(const std::string &name,
                                    const std::vector<uint8_t> &bytes,
                                    launch::Access access) override {
    sim::BufferOptions bufferOptions;
    bufferOptions.readOnly = !launch::writes(access);
    bufferOptions.uninitialised = access == launch::Access::Write;
    auto address = device.allocate(name, bytes.size(), bufferOptions);
    if (!address)
      return launch::Error{"the simulated device has no memory for '" + name +
                           "' (" + std::to_string(bytes.size()) + " bytes)"};
    // Not by Device::write, which would make a write-only buffer readable.
    if (!bytes.empty())
      std::memcpy(device.data(*address), bytes.data(), bytes.size());
    return *address;
  }

  Outcome launch(const launch::Manifest &manifest,
                 const launch::LaunchPlan &plan, unsigned schedule) override;

  launch::Expected<std::vector<uint8_t>> download(uint64_t address,
                                                  uint64_t size) override {
    std::vector<uint8_t> bytes(size);
    if (size)
      device.read(address, bytes.data(), size);
    return bytes;
  }

private:
  Options options;
  simulated::Kernel kernel;
  sim::Device device;
};

Outcome SimulatorBackend::launch(const launch::Manifest &manifest,
                                 const launch::LaunchPlan &plan,
                                 unsigned schedule) {
  const launch::LaunchPlan told =
      options.simulation.timing
          ? behindWriterOf(options.written, manifest, plan)
          : plan;
  return simulate(options, schedule, traceOf(told),
                  [&](const sim::Options &simulation) {
                    return kernel.run(device, manifest, told, simulation);
                  });
}
} // namespace

launch::Expected<std::unique_ptr<Backend>>
makeSimulatorBackend(const Options &options, const std::string &ptx) {
  auto kernel = simulated::Kernel::parse(ptx, options.ptxPath);
  if (!kernel)
    return kernel.takeError();
  return std::unique_ptr<Backend>(
      std::make_unique<SimulatorBackend>(options, std::move(*kernel)));
}

} // namespace fp8::run
