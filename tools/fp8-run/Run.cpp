// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launching a problem under every schedule, and judging what comes back.
#include "Run.h"

#include <algorithm>
#include <ostream>
#include <set>

namespace fp8::run {
namespace {
constexpr const char *prefix = "fp8-run: ";

std::string shortNumber(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g", value);
  return text;
}

std::string microseconds(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f", value);
  return text;
}

std::string list(const std::vector<int64_t> &values) {
  std::string text;
  for (int64_t value : values)
    text += (text.empty() ? "" : "x") + std::to_string(value);
  return text;
}

void describe(const BlockwiseGemm &problem, const launch::LaunchPlan &plan,
              std::ostream &log) {
  for (const PreparedArgument &argument : problem.arguments())
    log << prefix << "  " << argument.name << ": "
        << tensor::spelling(argument.value.dtype) << " "
        << list(argument.value.shape) << ", row stride " << argument.rowStride()
        << "\n";
  log << prefix << "  blocks of " << plan.block[0] << "x" << plan.block[1]
      << "x" << plan.block[2] << " threads, clusters of " << plan.cluster[0]
      << "x" << plan.cluster[1] << "x" << plan.cluster[2] << ", "
      << plan.sharedMemoryBytes << " bytes of shared memory, "
      << plan.parameters.size() << " parameters\n";
}

class ScheduleRuns {
public:
  ScheduleRuns(const launch::Manifest &manifest, const BlockwiseGemm &problem,
               Backend &backend, bool keepOutput, Summary &summary,
               std::ostream &log)
      : manifest(manifest), problem(problem), backend(backend),
        keepOutput(keepOutput), summary(summary), log(log) {}

  void runAll() {
    bool ok = true;
    for (unsigned i = 0; ok && i < backend.schedules(); ++i)
      ok = runOne(i);
    summary.ok = ok;
    summary.distinctSchedules = hashes.size();
  }

  /// Measures, after a run that was right, and judges what the last set of
  /// operands gave: a kernel can be right alone and wrong in a crowd.
  bool measure() {
    backend.reset();
    uint64_t bytes = 0;
    for (const PreparedArgument &argument : problem.arguments())
      bytes += argument.bytes.size();
    unsigned sets = backend.operandSets(bytes);
    std::vector<launch::LaunchPlan> plans;
    std::vector<launch::ArgumentValue> values;
    for (unsigned i = 0; i < sets; ++i) {
      auto plan = uploadAndBind(manifest, problem.arguments(), backend, values);
      if (!plan)
        return refuse(plan.error());
      if (plan->nothingToLaunch())
        return refuse("--time: there is nothing to launch");
      plans.push_back(std::move(*plan));
    }
    auto timing = backend.time(manifest, plans);
    if (!timing)
      return refuse(timing.error());
    summary.timing = *timing;
    summary.operandSets = sets;
    log << prefix << microseconds(timing->medianMicroseconds)
        << " us, the median of " << timing->replays << " replays ("
        << microseconds(timing->fastestMicroseconds) << " to "
        << microseconds(timing->slowestMicroseconds) << "), over " << sets
        << " set" << (sets > 1 ? "s" : "") << " of operands\n";
    unsigned output = problem.outputIndex();
    auto result = backend.download(values[output].address,
                                   problem.arguments()[output].bytes.size());
    if (!result)
      return refuse(result.error());
    auto verdict = problem.judge(*result);
    if (verdict.ok())
      return true;
    summary.verdict = verdict;
    return refuse("wrong result after the measurement: " +
                  verdict.result.str());
  }

private:
  bool refuse(const std::string &error) {
    summary.error = error;
    log << prefix << "error: " << error << "\n";
    return false;
  }

  bool runOne(unsigned schedule) {
    backend.reset();
    std::vector<launch::ArgumentValue> values;
    auto plan = uploadAndBind(manifest, problem.arguments(), backend, values);
    if (!plan)
      return refuse(plan.error());
    Outcome outcome;
    if (!plan->nothingToLaunch()) {
      outcome = backend.launch(manifest, *plan, schedule);
      summary.launched = true;
      hashes.insert(outcome.scheduleHash);
      summary.barriers = outcome.barriers;
    } else {
      outcome.summary = "nothing to launch";
    }
    summary.microseconds =
        summary.schedules ? std::min(summary.microseconds, outcome.microseconds)
                          : outcome.microseconds;
    ++summary.schedules;
    summary.account(outcome, log);
    if (!outcome.failure.empty())
      return refuse(outcome.failure);
    if (outcome.time)
      describe(*outcome.time);
    if (!problem.hasReference())
      return outcome.errors.empty();

    unsigned output = problem.outputIndex();
    uint64_t size = problem.arguments()[output].bytes.size();
    auto bytes = backend.download(values[output].address, size);
    if (!bytes)
      return refuse(bytes.error());
    auto verdict = problem.judge(*bytes);
    if (keepOutput && outcome.errors.empty())
      summary.output = *bytes;
    report(schedule, outcome, verdict);
    if (!summary.verdict ||
        verdict.result.maxBoundRatio >= summary.verdict->result.maxBoundRatio)
      summary.verdict = verdict;
    return verdict.ok() && outcome.errors.empty();
  }

  /// The prediction, and the engine that works most.
  void describe(const sim::KernelTime &time) {
    auto most = std::max_element(
        time.engines.begin(), time.engines.end(),
        [](const auto &a, const auto &b) { return a.second < b.second; });
    log << prefix << "timing: " << microseconds(time.microseconds)
        << " us predicted, " << microseconds(time.launchUs)
        << " of them the launch; " << static_cast<int64_t>(time.cycles)
        << " cycles at " << microseconds(time.gigahertz) << " GHz";
    if (time.aheadUs > 0)
      log << ", " << microseconds(time.aheadUs)
          << " us of them before the preceding kernel has ended";
    if (time.aheadUs < 0)
      log << ", " << microseconds(-time.aheadUs)
          << " us more since CTAs do not run in step";
    log << "; engine '" << most->first << "' works for "
        << static_cast<int>(100 * most->second) << " % of them\n";
    if (time.spills)
      log << prefix << "timing: ptxas is expected to spill: line "
          << time.registers.ptxLine << " of the PTX needs "
          << time.registers.needed << " registers a thread, which has "
          << time.registers.available << " at most\n";
  }

  void report(unsigned schedule, const Outcome &outcome,
              const BlockwiseGemm::Verdict &verdict) {
    log << prefix << "schedule " << schedule + 1 << "/" << backend.schedules()
        << ": " << outcome.summary;
    if (!outcome.errors.empty()) {
      log << "; " << outcome.errors.size() << " broken rule"
          << (outcome.errors.size() > 1 ? "s" : "")
          << ", so the numbers are meaningless\n";
      return;
    }
    log << "; largest error " << shortNumber(verdict.result.maxBoundRatio)
        << " of the bound, frobenius " << shortNumber(verdict.result.frobenius)
        << "\n";
    if (!verdict.result.ok())
      log << prefix << "error: wrong result: " << verdict.result.str() << "\n";
    if (verdict.paddingChanged)
      log << prefix
          << "error: the kernel wrote to the padding of d, past column "
          << problem.sizes().n - 1 << "\n";
  }

  const launch::Manifest &manifest;
  const BlockwiseGemm &problem;
  Backend &backend;
  bool keepOutput;
  Summary &summary;
  std::ostream &log;
  std::set<uint64_t> hashes;
};

} // namespace

Summary runProblem(const Options &options, const launch::Manifest &manifest,
                   Backend &backend, std::ostream &log) {
  Summary summary;
  summary.backend = backend.name();
  summary.device = backend.device();
  summary.kernel = manifest.kernel;
  summary.seed = options.seed;
  auto problem = BlockwiseGemm::make(manifest, options);
  if (!problem) {
    summary.error = problem.error();
    log << prefix << "error: " << problem.error() << "\n";
    return summary;
  }
  summary.sizes = problem->sizes();
  // Constraints need no data: find out before making it.
  std::vector<launch::ArgumentValue> values;
  for (const PreparedArgument &argument : problem->arguments())
    values.push_back(argument.value);
  auto plan = launch::bindAnywhere(manifest, values, backend.properties());
  if (!plan) {
    summary.error = plan.error();
    log << prefix << "error: " << plan.error() << "\n";
    return summary;
  }
  const GemmSizes &sizes = problem->sizes();
  log << prefix
      << (sizes.batch ? "batch=" + std::to_string(*sizes.batch) + " " : "")
      << "m=" << sizes.m << " n=" << sizes.n << " k=" << sizes.k << ", grid "
      << plan->grid[0] << "x" << plan->grid[1] << "x" << plan->grid[2]
      << (options.simulation.timing
              ? ", operands of zeros"
              : ", operands of seed " + std::to_string(options.seed) +
                    " and their reference")
      << "\n";
  if (options.verbose)
    describe(*problem, *plan, log);
  if (options.simulation.timing)
    problem->prepareZeros();
  else
    problem->prepare();
  problem->setHardware(!summary.device.empty());
  ScheduleRuns runs(manifest, *problem, backend, !options.dumpPath.empty(),
                    summary, log);
  runs.runAll();
  if (options.replays && summary.ok)
    summary.ok = runs.measure();
  return summary;
}

} // namespace fp8::run
