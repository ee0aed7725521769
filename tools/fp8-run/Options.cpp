// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line, by CLI11.
#include "Options.h"

#include "fp8/Chip/Timing.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <utility>
#include <vector>

namespace fp8::run {
namespace {
template <typename T>
using Names = std::vector<std::pair<std::string, T>>;

/// An option whose value is one of `names`.
template <typename T>
CLI::Option *addChoice(CLI::App &app, const std::string &flag, T &value,
                       const Names<T> &names, const std::string &text) {
  std::vector<std::string> choices;
  std::string initial;
  for (const auto &[name, meaning] : names) {
    choices.push_back(name);
    if (meaning == value)
      initial = name;
  }
  return app
      .add_option_function<std::string>(
          flag,
          [&value, names](const std::string &chosen) {
            for (const auto &[name, meaning] : names)
              if (name == chosen)
                value = meaning;
          },
          text)
      ->check(CLI::IsMember(choices))
      ->type_name("")
      ->default_str(initial);
}

void addProblemOptions(CLI::App &app, Options &options) {
  constexpr int64_t maxSize = int64_t(1) << 32;
  const CLI::Range size(int64_t(0), maxSize);
  app.add_option("--m", options.m, "Rows of A and D")->check(size);
  app.add_option("--n", options.n, "Rows of B, columns of D")->check(size);
  app.add_option("--k", options.k, "Columns of A and B")->check(size);
  app.add_option("--batch", options.batch,
                 "Products in a batch, for kernels whose operands have three "
                 "dimensions")
      ->check(size);
  app.add_option("--seed", options.seed, "Seed of the operands");
  using reference::DataKind;
  addChoice<DataKind>(app, "--data", options.data,
                      {{"normal", DataKind::Normal},
                       {"specials", DataKind::Specials},
                       {"ones", DataKind::Ones}},
                      "normal: quantised near-normal values; specials: with "
                      "NaN, infinities and zeros; ones: all 1");
  app.add_option("--beta", options.beta,
                 "The factor of C; with 0, C is filled with NaN, since the "
                 "kernel must not read it");
  using reference::Elementwise;
  addChoice<Elementwise>(app, "--elementwise", options.elementwise,
                         {{"none", Elementwise::None},
                          {"relu", Elementwise::Relu},
                          {"abs", Elementwise::Abs},
                          {"silu", Elementwise::Silu}},
                         "The function that the kernel applies to each element "
                         "before the output scale");
  app.add_option("--memory-limit", options.memoryLimit,
                 "Limit for all buffers together, in bytes");
}

void addDeviceOptions(CLI::App &app, Options &options) {
  const std::string group = "GPU";
  app.add_option("--device", options.device, "The GPU's number")
      ->check(CLI::Range(0, 1023))
      ->group(group);
  app.add_flag("--list-devices", options.listDevices,
               "Print a line of JSON for each GPU and exit")
      ->group(group);
  app.add_option("--watchdog", options.watchdogSeconds,
                 "Seconds after which a kernel that still runs counts as hung")
      ->check(CLI::Range(0.001, 86400.0))
      ->group(group);
  app.add_flag("--time{20}", options.replays,
               "Measure the kernel's time: the median of this many replays")
      ->check(CLI::Range(1u, 1000000u))
      ->group(group);
  addChoice<bool>(app, "--clock", options.flushClock,
                  {{"graph", false}, {"flush", true}},
                  "What --time measures. graph: a CUDA graph of launches over "
                  "several sets of operands; flush: single launches, with the "
                  "L2 cache flushed before each")
      ->group(group);
  app.add_flag("--programmatic-launch", options.programmaticLaunch,
               "Launch with programmatic stream serialization: the kernel "
               "itself waits for the preceding kernel (griddepcontrol)")
      ->group(group);
}

void addSimulatorOptions(CLI::App &app, Options &options) {
  const std::string group = "Simulator";
  app.add_option("--schedule-seed", options.simulation.scheduleSeed,
                 "Seed of the order of warps and of asynchronous work")
      ->group(group);
  app.add_option("--schedules", options.schedules,
                 "Run this many schedules, with consecutive seeds; on a GPU, "
                 "run this many times")
      ->check(CLI::Range(1u, 1000000u))
      ->group(group);
  addChoice<sim::Completion>(
      app, "--completion", options.simulation.completion,
      {{"late", sim::Completion::Late}, {"at-issue", sim::Completion::AtIssue}},
      "late: asynchronous work completes late; at-issue: it "
      "completes at once, which hides faults")
      ->group(group);
  app.add_option("--multiprocessors", options.simulation.multiprocessorCount,
                 "Multiprocessors of the simulated device (0: those of the GPU "
                 "that stands for the kernel's chip)")
      ->check(CLI::Range(0u, 65535u))
      ->group(group);
  app.add_option(
         "--resident-clusters", options.simulation.residentClusters,
         "Clusters that run at the same time (0: the schedule seed chooses)")
      ->check(CLI::Range(0u, 1024u))
      ->group(group);
  app.add_option("--threads", options.simulation.threads,
                 "Threads that simulate (0: one for each core); they change "
                 "nothing but the time")
      ->check(CLI::Range(0u, 1024u))
      ->group(group);
  app.add_flag("--timing", options.simulation.timing,
               "Predict the kernel's time on the GPU of its chip instead of "
               "computing: two clusters run, without values, and nothing is "
               "judged (docs/Timing.md)")
      ->group(group)
      ->excludes("--multiprocessors")
      ->excludes("--dump")
      ->excludes("--timeline")
      ->excludes("--launch");
  app.add_option("--gpu", options.simulation.timedGpu,
                 "With --timing, the GPU: " + chip::getTimedGpus() +
                     " (default: the first that has the kernel's chip)")
      ->group(group)
      ->needs("--timing");
  app.add_option("--step-limit", options.simulation.stepLimit,
                 "Limit for the warp instructions of a run")
      ->group(group);
  app.add_flag("--barriers", options.barriers,
               "Add every mbarrier to the JSON: its count, phases, arrivals "
               "and bytes")
      ->group(group);
  app.add_option("--trace", options.tracePath,
                 "Write each access to an mbarrier to a file, a line of JSON "
                 "each, in the order of each thread; of the last schedule")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--grid-limit", options.simulation.gridLimit,
                 "Limit for the blocks of a run")
      ->group(group);
  app.add_option("--max-errors", options.simulation.maxErrors,
                 "Stop a run after this many errors")
      ->check(CLI::Range(1u, 1000000u))
      ->group(group);
  app.add_flag("--strict,!--no-strict", options.simulation.strict,
               "Warnings are errors, which is the default for kernels that "
               "fp8-opt wrote, and with --launch is not (docs/Warnings.md)")
      ->group(group);
}
} // namespace

std::optional<Options> parseCommandLine(int argc, const char *const *argv,
                                        int &exitCode) {
  Options options;
  options.simulation.strict = true;
  CLI::App app{"Runs a kernel that fp8-opt wrote, checks every element of its "
               "result, and prints one line of JSON last."};
  app.set_version_flag("--version", "fp8-run " FP8_VERSION);
  app.option_defaults()->always_capture_default(true);
  app.add_option("ptx", options.ptxPath,
                 "The kernel: OUT.ptx of fp8-opt, or on a GPU OUT.cubin")
      ->type_name("OUT.ptx");
  app.add_option("--manifest", options.manifestPath,
                 "The launch manifest (default: OUT.ptx.json, or OUT.json)")
      ->type_name("FILE");
  app.add_option("--launch", options.launchPath,
                 "A launch description instead: how any kernel is launched, on "
                 "which buffers, and what is expected (docs/Foreign.md); on "
                 "the simulator")
      ->type_name("FILE")
      ->excludes("--manifest");
  addChoice<BackendKind>(
      app, "--backend", options.backend,
      {{"sim", BackendKind::Simulator},
       {"cuda", BackendKind::CUDA},
       {"auto", BackendKind::Auto}},
      "Where to run the kernel. cuda: a GPU; sim: the simulator; auto: a GPU "
      "if one can run it, else the simulator");
  app.add_option("--dump", options.dumpPath,
                 "Write the arguments that the kernel writes, one after the "
                 "other, to a file; if the manifest names no problem, the "
                 "inputs hold an address pattern")
      ->type_name("FILE");
  app.add_option("--timeline", options.timelinePath,
                 "Write what each role did and waited for in the last run to a "
                 "file, as a trace that Perfetto opens, and print a summary; "
                 "the kernel must have been compiled with --fp8-profile "
                 "(docs/Timeline.md)")
      ->type_name("FILE")
      ->excludes("--launch");
  app.add_flag("-v,--verbose", options.verbose,
               "List the arguments and the launch");
  addProblemOptions(app, options);
  addDeviceOptions(app, options);
  addSimulatorOptions(app, options);
  try {
    app.parse(argc, argv);
    if (options.ptxPath.empty() && !options.listDevices)
      throw CLI::RequiredError("ptx");
    if (options.simulation.timing && options.backend != BackendKind::Simulator)
      throw CLI::ValidationError("--timing needs --backend=sim");
    if (!options.launchPath.empty() && !app.count("--strict"))
      options.simulation.strict = false;
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
      exitCode = app.exit(error);
      return std::nullopt;
    }
    std::cerr << "fp8-run: error: " << error.what() << "; see fp8-run --help\n";
    exitCode = 2;
    return std::nullopt;
  }
  return options;
}

} // namespace fp8::run
