// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launch plans on the simulated device.
#include "fp8/SimulatedLaunch/Kernel.h"

#include "KernelArguments.h"
#include "fp8/Launch/KernelCheck.h"
#include "fp8/SimulatedLaunch/ErrorText.h"
#include "fp8/Simulator/LoadedModule.h"

#include <algorithm>
#include <cstring>

namespace fp8::simulated {
namespace {
/// A place for the records of waits that give up, which the module's variable
/// gets to know.
launch::Expected<uint64_t> placeRecords(const launch::WaitTable &table,
                                        sim::Device &device,
                                        sim::Variables &variables) {
  auto address = device.allocate(
      "records of " + table.variable,
      launch::kWaitRecords * sizeof(launch::WaitRecord), sim::BufferOptions());
  if (!address)
    return launch::Error{"the simulated device has no memory for the records "
                         "of waits that time out"};
  std::vector<uint8_t> bytes(sizeof(*address));
  std::memcpy(bytes.data(), &*address, bytes.size());
  variables[table.variable] = std::move(bytes);
  return *address;
}

/// What the variable of the stamps holds.
std::vector<uint8_t> readStamps(const launch::ProfileTable &table,
                                const sim::LoadedModule &module) {
  const sim::LoadedModule::Variable *variable = module.find(table.variable);
  std::vector<uint8_t> bytes(variable ? variable->bytes : 0);
  if (variable)
    module.device().read(variable->address, bytes.data(), bytes.size());
  return bytes;
}

/// Which waits gave up, as notes; a line each.
std::string describeRecords(const launch::WaitTable &table,
                            const sim::Device &device, uint64_t records,
                            const std::string &ptxName) {
  launch::WaitRecord left[launch::kWaitRecords];
  device.read(records, left, sizeof(left));
  std::string text;
  for (const std::string &line : launch::describe(table, left))
    text += "\n" + ptxName + ": note: the kernel hangs: " + line;
  return text;
}
} // namespace

launch::Expected<Kernel> Kernel::parse(std::string_view ptx, std::string name) {
  sim::PTXModule::ParseResult parsed = sim::PTXModule::parse(ptx);
  if (!parsed)
    return launch::Error{
        name + " is not valid PTX: " + parsed.diagnostics.front().str(name)};
  return Kernel(std::move(parsed.module), std::move(name));
}

launch::Expected<const sim::Entry *>
Kernel::findEntry(const std::string &wanted,
                  const std::string &launcher) const {
  const std::vector<sim::Entry> &entries = ptx.entries();
  if (wanted.empty() && entries.size() == 1)
    return &entries.front();
  if (const sim::Entry *entry = ptx.findEntry(wanted))
    return entry;
  std::string names;
  for (const sim::Entry &entry : entries)
    names += (names.empty() ? "" : ", ") + entry.name;
  std::string there = "; it has " + (names.empty() ? "none" : names);
  if (wanted.empty())
    return launch::Error{name + " has " + std::to_string(entries.size()) +
                         " kernels; name one as entry" + there};
  return launch::Error{name + " has no .entry named '" + wanted + "', which " +
                       launcher + " launches" + there};
}

std::optional<launch::Error>
Kernel::check(const launch::Manifest &manifest) const {
  auto entry = findEntry(manifest.kernel, "the manifest");
  if (!entry)
    return entry.takeError();
  if (auto error = checkTarget(name, ptx.target(), manifest))
    return error;
  std::vector<uint64_t> bytes;
  for (const auto &parameter : (*entry)->parameters)
    bytes.push_back(parameter.sizeBytes);
  return checkParameters(name, bytes, manifest);
}

Outcome Kernel::launch(sim::Device &device, const std::string &entry,
                       const std::vector<sim::KernelArgument> &arguments,
                       const sim::LaunchConfig &config,
                       const sim::Options &options,
                       const sim::Variables &variables,
                       const launch::ProfileTable *profile) const {
  Outcome outcome;
  auto loaded =
      sim::LoadedModule::load(device, ptx, variables, outcome.report.errors);
  if (loaded)
    outcome.report = sim::launch(*loaded, entry, arguments, config, options);
  if (loaded && profile)
    outcome.stamps = readStamps(*profile, *loaded);
  for (const sim::SimulationError &warning : outcome.report.warnings)
    outcome.warnings.push_back(render(warning, name));
  for (const sim::SimulationError &error : outcome.report.errors)
    outcome.errors.push_back(render(error, name));
  return outcome;
}

/// True if the kernel is told that arguments are constant. Without the access
/// "constant" only --timing tells so.
static bool tellsOfConstants(const launch::Manifest &manifest,
                             const launch::LaunchPlan &plan) {
  for (size_t i = 0; i < plan.parameters.size(); ++i)
    if (std::holds_alternative<launch::ConstancySpec>(manifest.parameters[i]) &&
        std::get<launch::BoundScalar>(plan.parameters[i]).value)
      return true;
  return false;
}

launch::Expected<Outcome> Kernel::run(sim::Device &device,
                                      const launch::Manifest &manifest,
                                      const launch::LaunchPlan &plan,
                                      const sim::Options &options) const {
  sim::LaunchConfig config;
  config.grid = plan.grid;
  config.block = plan.block;
  config.cluster = plan.cluster;
  config.dynamicSharedBytes = plan.sharedMemoryBytes;
  config.programmatic = plan.programmatic;
  config.readsConstants =
      std::any_of(manifest.arguments.begin(), manifest.arguments.end(),
                  [](const launch::ArgumentSpec &argument) {
                    return argument.access == launch::Access::Constant;
                  }) ||
      tellsOfConstants(manifest, plan);
  std::optional<uint64_t> records;
  sim::Variables variables;
  if (manifest.debugWaits) {
    auto placed = placeRecords(*manifest.debugWaits, device, variables);
    if (!placed)
      return placed.takeError();
    records = *placed;
  }
  Outcome outcome = launch(
      device, manifest.kernel, kernelArguments(plan.parameters), config,
      options, variables, manifest.profile ? &*manifest.profile : nullptr);
  // Another cluster may be stuck for good before the first to give up traps.
  for (size_t i = 0; records && i < outcome.errors.size(); ++i) {
    sim::ErrorKind kind = outcome.report.errors[i].kind;
    if (kind == sim::ErrorKind::Trap || kind == sim::ErrorKind::Deadlock)
      outcome.errors[i] +=
          describeRecords(*manifest.debugWaits, device, *records, name);
  }
  return outcome;
}

} // namespace fp8::simulated
