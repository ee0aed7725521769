// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launch plans on the simulated device.
#include "SimulatorBackend.h"

#include "KernelCheck.h"
#include "SimulatorArguments.h"
#include "fp8/Simulator/Variables.h"

#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>

namespace fp8::run {
namespace {
/// "gemm.mlir:12: error: ...", with the place in the PTX as a note where the
/// source is known.
std::string place(const sim::SourcePoint &where, const std::string &ptxPath) {
  if (!where.file.empty())
    return where.file + ":" + std::to_string(where.line);
  return ptxPath + (where.ptxLine ? ":" + std::to_string(where.ptxLine) : "");
}

std::string threadOf(const sim::SimulationError &error) {
  if (!error.inThread)
    return {};
  std::string text = "block (" + std::to_string(error.block[0]) + ", " +
                     std::to_string(error.block[1]) + ", " +
                     std::to_string(error.block[2]) + ")";
  if (error.warp >= 0)
    text += ", warp " + std::to_string(error.warp);
  if (error.lane >= 0)
    text += ", lane " + std::to_string(error.lane);
  return text;
}

std::string render(const sim::SimulationError &error,
                   const std::string &ptxPath) {
  std::string text = place(error.where, ptxPath) + ": error: " + error.message +
                     " [" + std::string(sim::errorKindName(error.kind)) + "]";
  std::string thread = threadOf(error);
  bool hasSource = !error.where.file.empty() && error.where.ptxLine;
  if (hasSource || !thread.empty())
    text += "\n" +
            (error.where.ptxLine
                 ? ptxPath + ":" + std::to_string(error.where.ptxLine)
                 : ptxPath) +
            ": note: by this instruction" +
            (thread.empty() ? "" : ", in " + thread);
  for (const sim::SimulationNote &note : error.notes) {
    text += "\n" + place(note.where, ptxPath) + ": note: " + note.message;
    if (!note.where.file.empty() && note.where.ptxLine)
      text += " (" + ptxPath + ":" + std::to_string(note.where.ptxLine) + ")";
  }
  return text;
}

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

/// A place for the records of waits that give up, which the module's variable
/// gets to know.
launch::Expected<uint64_t> placeRecords(const launch::WaitTable &table,
                                        sim::Device &device,
                                        sim::Variables &variables) {
  auto address = device.allocate(
      "records of " + table.variable,
      launch::kWaitRecords * sizeof(launch::WaitRecord), sim::BufferOptions());
  if (!address)
    return launch::Error{"no memory on the simulated device for the records of "
                         "waits that give up"};
  std::vector<uint8_t> bytes(sizeof(*address));
  std::memcpy(bytes.data(), &*address, bytes.size());
  variables[table.variable] = std::move(bytes);
  return *address;
}

class SimulatorBackend : public Backend {
public:
  SimulatorBackend(const Options &options, sim::PTXModule module)
      : options(options), module(std::move(module)),
        device(options.memoryLimit) {}

  std::string name() const override { return "sim"; }

  launch::DeviceProperties properties() const override {
    launch::DeviceProperties properties;
    properties.multiprocessorCount = options.multiprocessors;
    return properties;
  }

  std::optional<launch::Error>
  checkKernel(const launch::Manifest &manifest) const override;

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
      return launch::Error{"no memory on the simulated device for '" + name +
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
  sim::PTXModule module;
  sim::Device device;
};

std::optional<launch::Error>
SimulatorBackend::checkKernel(const launch::Manifest &manifest) const {
  const std::string &ptx = options.ptxPath;
  const sim::Entry *entry = module.findEntry(manifest.kernel);
  if (!entry) {
    std::string names;
    for (const sim::Entry &candidate : module.entries())
      names += (names.empty() ? "" : ", ") + candidate.name;
    return launch::Error{ptx + " has no .entry named '" + manifest.kernel +
                         "', which the manifest launches; it has " +
                         (names.empty() ? "none" : names)};
  }
  if (auto error = checkTarget(ptx, module.target(), manifest))
    return error;
  std::vector<uint64_t> bytes;
  for (const auto &parameter : entry->parameters)
    bytes.push_back(parameter.sizeBytes);
  return checkParameters(ptx, bytes, manifest);
}

Outcome SimulatorBackend::launch(const launch::Manifest &manifest,
                                 const launch::LaunchPlan &plan,
                                 unsigned schedule) {
  sim::LaunchConfig config;
  config.grid = plan.grid;
  config.block = plan.block;
  config.cluster = plan.cluster;
  config.dynamicSharedBytes = plan.sharedMemoryBytes;
  sim::Options simulation;
  simulation.scheduleSeed = options.scheduleSeed + schedule;
  simulation.completion = options.completeAtIssue ? sim::Completion::AtIssue
                                                  : sim::Completion::Late;
  simulation.stepLimit = options.stepLimit;
  simulation.gridLimit = options.gridLimit;
  simulation.maxErrors = options.maxErrors;
  simulation.multiprocessorCount = options.multiprocessors;
  simulation.residentClusters = options.residentClusters;

  Outcome outcome;
  uint64_t records = 0;
  sim::Variables variables;
  if (manifest.debugWaits) {
    auto placed = placeRecords(*manifest.debugWaits, device, variables);
    if (!placed) {
      outcome.failure = placed.error();
      return outcome;
    }
    records = *placed;
  }
  auto start = std::chrono::steady_clock::now();
  sim::Report report = sim::launch(device, module, manifest.kernel,
                                   simulatorArguments(plan.parameters), config,
                                   simulation, variables);
  std::chrono::duration<double, std::micro> time =
      std::chrono::steady_clock::now() - start;

  outcome.microseconds = time.count();
  outcome.scheduleHash = report.barrierEventHash;
  for (const sim::SimulationError &error : report.errors) {
    outcome.errors.push_back(render(error, options.ptxPath));
    // Another cluster may be stuck for good before the first to give up traps.
    if (!records || (error.kind != sim::ErrorKind::Trap &&
                     error.kind != sim::ErrorKind::Deadlock))
      continue;
    launch::WaitRecord left[launch::kWaitRecords];
    device.read(records, left, sizeof(left));
    for (const std::string &line : launch::describe(*manifest.debugWaits, left))
      outcome.errors.back() +=
          "\n" + options.ptxPath + ": note: the kernel hangs: " + line;
  }
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
  sim::PTXModule::ParseResult parsed = sim::PTXModule::parse(ptx);
  if (!parsed) {
    const sim::Diagnostic &first = parsed.diagnostics.front();
    return launch::Error{options.ptxPath + " is not PTX that can be read: " +
                         first.str(options.ptxPath)};
  }
  return std::unique_ptr<Backend>(
      std::make_unique<SimulatorBackend>(options, std::move(parsed.module)));
}

} // namespace fp8::run
