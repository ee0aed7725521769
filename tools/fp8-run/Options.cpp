// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line, by CLI11.
#include "Options.h"

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
                 "Products, of a kernel whose operands have three dimensions")
      ->check(size);
  app.add_option("--seed", options.seed, "Chooses the operands");
  using reference::DataKind;
  addChoice<DataKind>(app, "--data", options.data,
                      {{"normal", DataKind::Normal},
                       {"specials", DataKind::Specials},
                       {"ones", DataKind::Ones}},
                      "normal: quantised near-normal values; specials: with "
                      "NaN, infinities and zeros; ones: all 1");
  app.add_option("--beta", options.beta,
                 "The factor of C; with 0, C is all NaN, since it is not read");
  using reference::Elementwise;
  addChoice<Elementwise>(app, "--elementwise", options.elementwise,
                         {{"none", Elementwise::None},
                          {"relu", Elementwise::Relu},
                          {"abs", Elementwise::Abs},
                          {"silu", Elementwise::Silu}},
                         "The function that the kernel computes of each "
                         "element, before the output scale");
  app.add_option("--memory-limit", options.memoryLimit,
                 "Bytes that all buffers together may take");
}

void addDeviceOptions(CLI::App &app, Options &options) {
  const std::string group = "GPU";
  app.add_option("--device", options.device, "The GPU's number")
      ->check(CLI::Range(0, 1023))
      ->group(group);
  app.add_flag("--list-devices", options.listDevices,
               "Print a line of JSON for each GPU and end")
      ->group(group);
  app.add_option("--watchdog", options.watchdogSeconds,
                 "Seconds after which a kernel that has not ended counts as "
                 "one that hangs")
      ->check(CLI::Range(0.001, 86400.0))
      ->group(group);
  app.add_flag("--time{20}", options.replays,
               "Measure the kernel's time: the median of that many replays")
      ->check(CLI::Range(1u, 1000000u))
      ->group(group);
  addChoice<bool>(app, "--clock", options.flushClock,
                  {{"graph", false}, {"flush", true}},
                  "What --time measures. graph: a CUDA graph of launches over "
                  "several sets of operands; flush: single launches, the L2 "
                  "cache flushed before each")
      ->group(group);
  app.add_flag("--programmatic-launch", options.programmaticLaunch,
               "Launch with programmatic stream serialization: the kernel "
               "waits by itself for the one before (griddepcontrol)")
      ->group(group);
}

void addSimulatorOptions(CLI::App &app, Options &options) {
  const std::string group = "Simulator";
  app.add_option("--schedule-seed", options.scheduleSeed,
                 "Chooses the order of warps and of asynchronous work")
      ->group(group);
  app.add_option("--schedules", options.schedules,
                 "Runs that many schedule seeds, counting up; on a GPU that "
                 "many times")
      ->check(CLI::Range(1u, 1000000u))
      ->group(group);
  addChoice<bool>(app, "--completion", options.completeAtIssue,
                  {{"late", false}, {"at-issue", true}},
                  "late: asynchronous work completes late; at-issue: at once, "
                  "which hides faults")
      ->group(group);
  app.add_option("--multiprocessors", options.multiprocessors,
                 "Multiprocessors the device has")
      ->check(CLI::Range(1u, 65535u))
      ->group(group);
  app.add_option("--resident-clusters", options.residentClusters,
                 "Clusters that run at the same time (0: some, as the schedule "
                 "seed chooses)")
      ->check(CLI::Range(0u, 1024u))
      ->group(group);
  app.add_option("--step-limit", options.stepLimit,
                 "Warp instructions a run may take")
      ->group(group);
  app.add_flag("--barriers", options.barriers,
               "Add to the JSON what every mbarrier saw: its count, phases, "
               "arrivals and bytes")
      ->group(group);
  app.add_option("--grid-limit", options.gridLimit, "Blocks a run may have")
      ->group(group);
  app.add_option("--max-errors", options.maxErrors,
                 "Errors after which a run stops")
      ->check(CLI::Range(1u, 1000000u))
      ->group(group);
}
} // namespace

std::optional<Options> parseCommandLine(int argc, const char *const *argv,
                                        int &exitCode) {
  Options options;
  CLI::App app{"Runs a kernel that fp8-opt made, checks every element of its "
               "result, and prints one line of JSON last."};
  app.set_version_flag("--version", "fp8-run " FP8_VERSION);
  app.option_defaults()->always_capture_default(true);
  app.add_option("ptx", options.ptxPath,
                 "The kernel: OUT.ptx of fp8-opt, or on a GPU OUT.cubin")
      ->type_name("OUT.ptx");
  app.add_option("--manifest", options.manifestPath,
                 "The launch manifest (default: OUT.ptx.json, or OUT.json)")
      ->type_name("FILE");
  addChoice<BackendKind>(app, "--backend", options.backend,
                         {{"sim", BackendKind::Simulator},
                          {"cuda", BackendKind::CUDA},
                          {"auto", BackendKind::Auto}},
                         "Where it runs: a GPU, the simulator, or whichever "
                         "there is");
  app.add_option("--dump", options.dumpPath,
                 "Write what the kernel wrote, one argument after the other, "
                 "to a file; a kernel whose manifest names no problem then "
                 "runs on bytes that tell where they are from")
      ->type_name("FILE");
  app.add_flag("-v,--verbose", options.verbose,
               "List the arguments and the launch");
  addProblemOptions(app, options);
  addDeviceOptions(app, options);
  addSimulatorOptions(app, options);
  try {
    app.parse(argc, argv);
    if (options.ptxPath.empty() && !options.listDevices)
      throw CLI::RequiredError("ptx");
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
