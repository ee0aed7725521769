// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --launch: any kernel, as a launch description says.
#include "Files.h"
#include "Run.h"
#include "Simulation.h"
#include "fp8/SimulatedLaunch/DescribedLaunch.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>

namespace fp8::run {
namespace {
constexpr const char *prefix = "fp8-run: ";

using Bytes = std::vector<uint8_t>;

/// What is launched, as the first line of a trace.
std::string traceOf(const sim::LaunchConfig &config) {
  return nlohmann::ordered_json{{"grid", config.grid},
                                {"block", config.block},
                                {"cluster", config.cluster}}
             .dump() +
         "\n";
}

class DescribedRuns {
public:
  DescribedRuns(const Options &options,
                const simulated::DescribedLaunch &launch, std::string trace,
                Summary &summary, std::ostream &log)
      : options(options), launch(launch), trace(std::move(trace)),
        summary(summary), log(log) {}

  void runAll() {
    bool ok = true;
    for (unsigned i = 0; ok && i < options.schedules; ++i)
      ok = runOne(i);
    summary.ok = ok;
    summary.distinctSchedules = unsigned(hashes.size());
  }

private:
  bool runOne(unsigned schedule) {
    simulated::DescribedOutcome described;
    Outcome outcome =
        simulate(options, schedule, trace,
                 [&](const sim::Options &simulation)
                     -> launch::Expected<simulated::Outcome> {
                   auto ran = launch.run(simulation);
                   if (!ran)
                     return ran.takeError();
                   described = std::move(*ran);
                   return static_cast<const simulated::Outcome &>(described);
                 });
    summary.launched = true;
    summary.microseconds =
        summary.schedules ? std::min(summary.microseconds, outcome.microseconds)
                          : outcome.microseconds;
    ++summary.schedules;
    hashes.insert(outcome.scheduleHash);
    summary.barriers = outcome.barriers;
    summary.account(outcome, log);
    log << prefix << "schedule " << schedule + 1 << "/" << options.schedules
        << ": " << outcome.summary << "\n";
    if (!outcome.failure.empty()) {
      summary.error = outcome.failure;
      log << prefix << "error: " << outcome.failure << "\n";
      return false;
    }
    compareWithFirst(described, schedule);
    return outcome.errors.empty() & judge(described);
  }

  /// Sums by atomics differ, too, and no rule is broken then: a warning.
  void compareWithFirst(const simulated::DescribedOutcome &described,
                        unsigned schedule) {
    if (schedule == 0)
      first = described.written;
    for (size_t i = 0; i < std::min(first.size(), described.written.size());
         ++i) {
      const auto &[name, bytes] = described.written[i];
      auto differing =
          std::mismatch(bytes.begin(), bytes.end(), first[i].second.begin(),
                        first[i].second.end());
      if (differing.first == bytes.end())
        continue;
      log << prefix << "warning: the result depends on the schedule: schedules "
          << "1 and " << schedule + 1 << " differ in buffer '" << name
          << "' at offset " << differing.first - bytes.begin() << "\n";
      ++summary.backendWarnings;
    }
  }

  bool judge(simulated::DescribedOutcome &described) {
    bool ok = true;
    for (const simulated::Comparison &comparison : described.comparisons) {
      log << prefix << (comparison.ok ? "" : "error: wrong result: ")
          << comparison.str() << "\n";
      ok &= comparison.ok;
    }
    if (summary.comparisons.empty() || !ok)
      summary.comparisons = std::move(described.comparisons);
    if (options.dumpPath.empty() || described.written.empty())
      return ok;
    summary.output.emplace();
    for (const auto &[name, bytes] : described.written)
      summary.output->insert(summary.output->end(), bytes.begin(), bytes.end());
    return ok;
  }

  const Options &options;
  const simulated::DescribedLaunch &launch;
  const std::string trace;
  Summary &summary;
  std::ostream &log;
  std::set<uint64_t> hashes;
  decltype(simulated::DescribedOutcome::written) first; ///< of the schedules
};
} // namespace

Summary runDescription(const Options &options, const std::string &ptx,
                       std::ostream &log) {
  Summary summary;
  summary.backend = "sim";
  auto fail = [&](const std::string &error) {
    log << prefix << "error: " << error << "\n";
    summary.error = error;
    return summary;
  };
  if (options.backend == BackendKind::CUDA)
    return fail("--launch runs on the simulator only; drop --backend=cuda");
  auto text = readTextFile(options.launchPath);
  if (!text)
    return fail(text.error());
  auto description = simulated::parseDescription(*text);
  if (!description)
    return fail(options.launchPath + ": " + description.error());
  auto kernel = simulated::Kernel::parse(ptx, options.ptxPath);
  if (!kernel)
    return fail(kernel.error());
  std::string trace = traceOf(description->config);
  auto launch = simulated::DescribedLaunch::make(
      *kernel, std::move(*description),
      std::filesystem::path(options.launchPath).parent_path().string(), {},
      options.memoryLimit);
  if (!launch)
    return fail(options.launchPath + ": " + launch.error());
  summary.kernel = launch->entry();
  log << prefix << options.ptxPath << ": kernel '" << summary.kernel
      << "', launched as " << options.launchPath << " says\n";
  DescribedRuns(options, *launch, trace, summary, log).runAll();
  return summary;
}

} // namespace fp8::run
