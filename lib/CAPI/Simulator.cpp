// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C API of the simulator, over the C++ one.
#include "fp8-c/Simulator.h"

#include "Guarded.h"
#include "fp8/SimulatedLaunch/DescribedLaunch.h"

#include <chrono>
#include <nlohmann/json.hpp>

using namespace fp8;
using namespace fp8::capi;

static constexpr uint64_t kDefaultMemory = uint64_t(8) << 30;
/// Between two calls of a caller's `progress`, which may have to wait for an
/// interpreter's lock.
static constexpr std::chrono::milliseconds kProgressInterval(20);

void fp8SimulatorOptionsInit(Fp8SimulatorOptions *options) {
  sim::Options defaults;
  *options = Fp8SimulatorOptions();
  options->scheduleSeed = defaults.scheduleSeed;
  options->completeAtIssue = defaults.completion == sim::Completion::AtIssue;
  options->stepLimit = defaults.stepLimit;
  options->gridLimit = defaults.gridLimit;
  options->maxErrors = defaults.maxErrors;
  options->multiprocessors = defaults.multiprocessorCount;
  options->residentClusters = defaults.residentClusters;
  options->threads = defaults.threads;
  options->strict = true;
  options->memoryLimit = kDefaultMemory;
}

/// An error for options that leave nothing to report.
static launch::Expected<sim::Options>
optionsOf(const Fp8SimulatorOptions &from) {
  if (!from.maxErrors)
    return launch::Error{"maxErrors of the options is 0, but must be at least "
                         "1"};
  sim::Options options;
  options.scheduleSeed = from.scheduleSeed;
  options.completion =
      from.completeAtIssue ? sim::Completion::AtIssue : sim::Completion::Late;
  options.stepLimit = from.stepLimit;
  options.gridLimit = from.gridLimit;
  options.maxErrors = from.maxErrors;
  options.multiprocessorCount = from.multiprocessors;
  options.residentClusters = from.residentClusters;
  options.threads = from.threads;
  options.strict = from.strict;
  options.names = {"the option multiprocessors", "the option residentClusters",
                   "timing"};
  using Clock = std::chrono::steady_clock;
  if (from.progress)
    options.progress = [&from, next = Clock::time_point()](
                           uint64_t ended, uint64_t ctas) mutable {
      Clock::time_point now = Clock::now();
      if (now < next && ended < ctas)
        return true;
      next = now + kProgressInterval;
      return from.progress(ended, ctas, from.progressData) == 0;
    };
  return options;
}

static void copy(const sim::Report &report, Fp8SimulatorStatistics &to) {
  const sim::Statistics &from = report.statistics;
  to.warpInstructions = from.warpInstructions;
  to.mmas = from.mmas;
  to.tmaLoads = from.tmaLoads;
  to.tmaLoadBytes = from.tmaLoadBytes;
  to.tmaStores = from.tmaStores;
  to.tmaStoreBytes = from.tmaStoreBytes;
  to.barrierPhases = from.barrierPhases;
  to.ctas = from.blocks;
  to.scheduleHash = report.barrierEventHash;
  to.warnings = report.warnings.size();
}

static std::string join(const std::vector<std::string> &lines) {
  std::string text;
  for (const std::string &line : lines)
    text += (text.empty() ? "" : "\n") + line;
  return text;
}

/// With a `timeline`, if that is not null.
static Fp8Status simulate(const char *ptx, size_t bytes, const char *name,
                          const char *manifest, const Fp8Argument *arguments,
                          size_t count, const Fp8SimulatorOptions *options,
                          Fp8SimulatorStatistics *statistics,
                          Fp8Timeline *timeline) {
  return guarded([&] {
    Fp8SimulatorOptions chosen;
    fp8SimulatorOptionsInit(&chosen);
    if (options)
      chosen = *options;
    auto parsed = launch::parseManifest(textOf(manifest));
    if (!parsed)
      return fail("launch manifest: " + parsed.error());
    if (timeline && !parsed->profile)
      return fail(noStamps(parsed->kernel).message);
    auto text = bytesOf(ptx, bytes, "the PTX");
    if (!text)
      return fail(text.error());
    auto kernel =
        simulated::Kernel::parse(*text, name ? name : parsed->kernel + ".ptx");
    if (!kernel)
      return fail(kernel.error());
    auto values = argumentsOf(arguments, count);
    if (!values)
      return fail(values.error());
    auto simulation = optionsOf(chosen);
    if (!simulation)
      return fail(simulation.error());
    auto outcome =
        kernel->runOnHost(*parsed, *values, *simulation, chosen.memoryLimit);
    if (!outcome)
      return fail(outcome.error());
    if (statistics)
      copy(outcome->report, *statistics);
    if (!outcome->ok())
      return fail(join(outcome->errors));
    if (!timeline)
      return FP8_OK;
    auto made = timelineOf(*parsed->profile, outcome->stamps, parsed->kernel);
    if (!made)
      return fail(made.error());
    *timeline = *made;
    return FP8_OK;
  });
}

Fp8Status fp8Simulate(const char *ptx, size_t bytes, const char *name,
                      const char *manifest, const Fp8Argument *arguments,
                      size_t count, const Fp8SimulatorOptions *options,
                      Fp8SimulatorStatistics *statistics) {
  return simulate(ptx, bytes, name, manifest, arguments, count, options,
                  statistics, nullptr);
}

Fp8Status fp8SimulateProfile(const char *ptx, size_t bytes, const char *name,
                             const char *manifest, const Fp8Argument *arguments,
                             size_t count, const Fp8SimulatorOptions *options,
                             Fp8SimulatorStatistics *statistics,
                             Fp8Timeline *timeline) {
  *timeline = {};
  return simulate(ptx, bytes, name, manifest, arguments, count, options,
                  statistics, timeline);
}

static nlohmann::ordered_json
jsonOf(const std::vector<simulated::Comparison> &comparisons) {
  auto list = nlohmann::ordered_json::array();
  for (const simulated::Comparison &comparison : comparisons)
    list.push_back({{"buffer", comparison.buffer},
                    {"ok", comparison.ok},
                    {"elements", comparison.elements},
                    {"wrong", comparison.wrong},
                    {"unwritten", comparison.unwritten},
                    {"frobenius", comparison.frobenius},
                    {"max", comparison.most}});
  return list;
}

static std::string reportOf(const simulated::DescribedOutcome &outcome) {
  nlohmann::ordered_json report;
  report["warnings"] = outcome.warnings;
  report["errors"] = outcome.errors;
  report["expected"] = jsonOf(outcome.comparisons);
  return report.dump(-1, ' ', false,
                     nlohmann::ordered_json::error_handler_t::replace);
}

/// The verdict on a run that came to its end.
static Fp8Status verdictOf(const simulated::DescribedOutcome &outcome) {
  if (!outcome.ok())
    return fail(join(outcome.errors));
  for (const simulated::Comparison &comparison : outcome.comparisons)
    if (!comparison.ok)
      return fail("wrong result: " + comparison.str());
  return FP8_OK;
}

static launch::Expected<std::vector<simulated::GivenArray>>
givenArrays(const Fp8GivenArray *arrays, size_t count) {
  std::vector<simulated::GivenArray> given;
  if (count && !arrays)
    return launch::Error{"the arrays are null, but their number is " +
                         std::to_string(count)};
  for (size_t i = 0; i < count; ++i) {
    const Fp8GivenArray &array = arrays[i];
    std::string name(textOf(array.name));
    auto bytes = bytesOf(array.data, array.bytes, "array '" + name + "'");
    if (!bytes)
      return bytes.takeError();
    given.push_back({name, array.data, array.bytes, array.readOnly != 0});
  }
  return given;
}

Fp8Status fp8SimulateLaunch(const char *ptx, size_t bytes, const char *name,
                            const char *description,
                            const Fp8GivenArray *arrays, size_t count,
                            const Fp8SimulatorOptions *options,
                            Fp8SimulatorStatistics *statistics,
                            Fp8Text **report) {
  if (report)
    *report = nullptr;
  return guarded([&] {
    Fp8SimulatorOptions chosen;
    fp8SimulatorOptionsInit(&chosen);
    chosen.strict = false;
    if (options)
      chosen = *options;
    auto parsed = simulated::parseDescription(textOf(description));
    if (!parsed)
      return fail("launch description: " + parsed.error());
    auto text = bytesOf(ptx, bytes, "the PTX");
    if (!text)
      return fail(text.error());
    auto kernel = simulated::Kernel::parse(*text, name ? name : "kernel.ptx");
    if (!kernel)
      return fail(kernel.error());
    auto given = givenArrays(arrays, count);
    if (!given)
      return fail(given.error());
    auto launch = simulated::DescribedLaunch::make(
        *kernel, std::move(*parsed), "", *given, chosen.memoryLimit);
    if (!launch)
      return fail(launch.error());
    auto simulation = optionsOf(chosen);
    if (!simulation)
      return fail(simulation.error());
    auto outcome = launch->run(*simulation);
    if (!outcome)
      return fail(outcome.error());
    if (statistics)
      copy(outcome->report, *statistics);
    if (report)
      *report = new Fp8Text{reportOf(*outcome)};
    return verdictOf(*outcome);
  });
}
