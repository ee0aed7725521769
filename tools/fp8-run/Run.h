// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One run of fp8-run: files to verdict.
#ifndef FP8_TOOLS_FP8RUN_RUN_H
#define FP8_TOOLS_FP8RUN_RUN_H

#include "Backend.h"
#include "Options.h"
#include "Problem.h"
#include "fp8/SimulatedLaunch/DescribedLaunch.h"

#include <iosfwd>

namespace fp8::run {

/// What the last line of output says.
struct Summary {
  bool ok = false;
  std::string error; ///< why there is no result; empty when there is one
  std::string backend;
  std::string device; ///< empty for the simulator
  std::string kernel;
  std::optional<GemmSizes> sizes;
  uint64_t seed = 0;
  bool launched = false;
  unsigned schedules = 0; ///< runs made
  unsigned distinctSchedules = 0;
  uint64_t backendErrors = 0, backendWarnings = 0;
  double microseconds = 0; ///< of the fastest run, of the simulator the host's
  std::optional<runtime::Timing> timing; ///< if it was asked for
  unsigned operandSets = 0;              ///< that the timed launches ran over
  std::optional<sim::KernelTime> time;   ///< predicted, of the last run
  std::string barriers; ///< JSON, of the last run; empty unless asked for
  std::vector<uint8_t> stamps; ///< of the last run; empty without a profile
  /// Prints what the backend found in a run, and counts it.
  void account(const Outcome &outcome, std::ostream &log);
  /// Of the run with the largest error, over all schedules.
  std::optional<BlockwiseGemm::Verdict> verdict;
  /// Of a launch description: those of the first run, or of one that is wrong.
  std::vector<simulated::Comparison> comparisons;
  /// What the kernel wrote in the last run, if --dump asks for it and no rule
  /// was broken.
  std::optional<std::vector<uint8_t>> output;
  std::string dumpPath; ///< where that is; empty unless it was written

  std::string json() const; ///< one line, no line break
};

/// Prepares, launches under every schedule, and judges; progress and errors go
/// to `log`. Stops at the first schedule that fails.
Summary runProblem(const Options &options, const launch::Manifest &manifest,
                   Backend &backend, std::ostream &log);

/// The same for a kernel whose manifest names no problem: there is nothing to
/// judge, but every schedule must write the same bytes.
Summary runBytes(const Options &options, const launch::Manifest &manifest,
                 Backend &backend, std::ostream &log);

/// Runs PTX on the simulator as options.launchPath says, and compares what it
/// leaves with what is expected.
Summary runDescription(const Options &options, const std::string &ptx,
                       std::ostream &log);

/// The whole program after the command line. Returns the exit code: 0 only if
/// everything was right.
int runTool(const Options &options, std::ostream &out, std::ostream &log);

/// The whole program, on standard output and error. Returns the exit code.
int runProgram(int argc, const char *const *argv);

} // namespace fp8::run

#endif // FP8_TOOLS_FP8RUN_RUN_H
