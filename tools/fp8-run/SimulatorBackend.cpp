// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launch plans on the simulated device.
#include "SimulatorBackend.h"

#include "Files.h"

#include "fp8/SimulatedLaunch/Kernel.h"

#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>

namespace fp8::run {
namespace {
std::string barriersJson(const std::vector<sim::BarrierUse> &barriers) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const sim::BarrierUse &use : barriers) {
    nlohmann::ordered_json entry;
    entry["rank"] = use.rank;
    entry["offset"] = use.offset;
    entry["symbol"] = use.symbol;
    entry["symbol_offset"] = use.symbolOffset;
    entry["count"] = use.count;
    entry["inits"] = use.inits;
    entry["phases"] = use.phases;
    entry["unfinished"] = use.unfinished;
    entry["sources"] = nlohmann::ordered_json::array();
    for (const sim::BarrierSource &source : use.sources)
      entry["sources"].push_back({{"kind", sim::barrierSourceName(source.kind)},
                                  {"rank", source.rank},
                                  {"warp", source.warp},
                                  {"phases", source.phases},
                                  {"least", source.least},
                                  {"most", source.most},
                                  {"total", source.total}});
    list.push_back(std::move(entry));
  }
  return list.dump();
}

/// What is launched, as the first line of a trace. Arguments that are no
/// integers are null.
std::string traceOf(const launch::LaunchPlan &plan) {
  nlohmann::ordered_json line{
      {"grid", plan.grid}, {"block", plan.block}, {"cluster", plan.cluster}};
  line["arguments"] = nlohmann::ordered_json::array();
  for (const launch::BoundParameter &parameter : plan.parameters) {
    const auto *scalar = std::get_if<launch::BoundScalar>(&parameter);
    line["arguments"].push_back(
        scalar ? nlohmann::ordered_json(scalar->value) : nullptr);
  }
  return line.dump() + "\n";
}

std::string traceOf(const sim::BarrierAccess &access) {
  return nlohmann::ordered_json{{"block", access.block},
                                {"warp", access.warp},
                                {"lane", access.lane},
                                {"waits", access.waits},
                                {"rank", access.rank},
                                {"symbol", access.symbol},
                                {"offset", access.offset},
                                {"line", access.ptxLine}}
             .dump() +
         "\n";
}

class SimulatorBackend : public Backend {
public:
  SimulatorBackend(const Options &options, simulated::Kernel kernel)
      : options(options), kernel(std::move(kernel)),
        device(options.memoryLimit) {}

  std::string name() const override { return "sim"; }

  launch::DeviceProperties properties() const override {
    launch::DeviceProperties properties;
    properties.multiprocessorCount = options.multiprocessors;
    return properties;
  }

  std::optional<launch::Error>
  checkKernel(const launch::Manifest &manifest) const override {
    return kernel.check(manifest);
  }

  unsigned schedules() const override { return options.schedules; }

  void reset() override { device = sim::Device(options.memoryLimit); }

  launch::Expected<uint64_t> upload(const std::string &name,
                                    const std::vector<uint8_t> &bytes,
                                    launch::Access access) override {
    sim::BufferOptions bufferOptions;
    bufferOptions.readOnly = access == launch::Access::Read;
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
  sim::Options simulation;
  simulation.scheduleSeed = options.scheduleSeed + schedule;
  simulation.completion = options.completeAtIssue ? sim::Completion::AtIssue
                                                  : sim::Completion::Late;
  simulation.stepLimit = options.stepLimit;
  simulation.gridLimit = options.gridLimit;
  simulation.maxErrors = options.maxErrors;
  simulation.strict = options.strict;
  simulation.multiprocessorCount = options.multiprocessors;
  simulation.residentClusters = options.residentClusters;

  std::string trace;
  if (!options.tracePath.empty()) {
    trace = traceOf(plan);
    simulation.onBarrierAccess = [&](const sim::BarrierAccess &access) {
      trace += traceOf(access);
    };
  }

  Outcome outcome;
  auto start = std::chrono::steady_clock::now();
  auto run = kernel.run(device, manifest, plan, simulation);
  std::chrono::duration<double, std::micro> time =
      std::chrono::steady_clock::now() - start;

  outcome.microseconds = time.count();
  if (!run) {
    outcome.failure = run.error();
    return outcome;
  }
  const sim::Report &report = run->report;
  outcome.errors = std::move(run->errors);
  outcome.warnings = std::move(run->warnings);
  outcome.scheduleHash = report.barrierEventHash;
  if (!options.tracePath.empty())
    if (auto error = writeFile(options.tracePath, {trace.begin(), trace.end()}))
      outcome.failure = error->message;
  if (options.barriers)
    outcome.barriers = barriersJson(report.barriers);
  const sim::Statistics &statistics = report.statistics;
  outcome.summary =
      std::to_string(statistics.warpInstructions) + " warp instructions, " +
      std::to_string(statistics.mmas) + " MMAs, " +
      std::to_string(report.barrierEventCount) + " barrier events, " +
      std::to_string(static_cast<int64_t>(time.count() / 1000)) + " ms (seed " +
      std::to_string(simulation.scheduleSeed) + ")";
  return outcome;
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
