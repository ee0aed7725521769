// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line, by CLI11.
#include "Options.h"

#include "fp8/Chip/Timing.h"
#include "fp8/Runtime/Timer.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <iostream>
#include <limits>
#include <sstream>
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

template <typename T>
std::string spelled(T value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

/// Reads the whole text: decimal digits, or a number that is finite.
template <typename T>
bool readNumber(const std::string &text, T &value) {
  if constexpr (std::is_integral_v<T>) {
    size_t digits = text.find_first_not_of('-');
    if (digits != std::string::npos && digits + 1 < text.size() &&
        text[digits] == '0')
      return false; // others read it as octal, or as hexadecimal
    auto [end, code] =
        std::from_chars(text.data(), text.data() + text.size(), value);
    return code == std::errc() && end == text.data() + text.size();
  } else {
    char *end;
    double read = std::strtod(text.c_str(), &end);
    value = T(read);
    return !text.empty() && !*end && std::isfinite(read);
  }
}

/// A number in that range. CLI11's own check lets NaN, octal numbers and
/// numbers that wrap around pass.
template <typename T>
CLI::Validator inRange(T least, T most) {
  const std::string range = spelled(least) + " to " + spelled(most);
  const std::string kind =
      std::is_integral_v<T> ? "whole number, in decimal," : "number";
  return CLI::Validator(
      [=](std::string &text) -> std::string {
        T value;
        if (readNumber(text, value) && least <= value && value <= most)
          return "";
        return "'" + text + "' is no " + kind + " from " + range;
      },
      std::string(CLI::detail::type_name<T>()) + " in [" + spelled(least) +
          " - " + spelled(most) + "]");
}

const CLI::Validator anyUnsigned =
    inRange(uint64_t(0), std::numeric_limits<uint64_t>::max()).description("");
/// A factor may be NaN or infinite, as a kernel's caller may pass it.
const CLI::Validator anyFloat(
    [](std::string &text) -> std::string {
      char *end;
      double read = std::strtod(text.c_str(), &end);
      if (!text.empty() && !*end &&
          !(std::isfinite(read) &&
            std::abs(read) > std::numeric_limits<float>::max()))
        return "";
      return "'" + text + "' is no number that f32 can hold";
    },
    "");

void addProblemOptions(CLI::App &app, Options &options) {
  constexpr int64_t maxSize = int64_t(1) << 32;
  const CLI::Validator size = inRange(int64_t(0), maxSize);
  app.add_option("--m", options.m, "Rows of A and D")->check(size);
  app.add_option("--n", options.n, "Rows of B, columns of D")->check(size);
  app.add_option("--k", options.k, "Columns of A and B")->check(size);
  app.add_option("--batch", options.batch,
                 "Products in a batch, for kernels whose operands have three "
                 "dimensions")
      ->check(size);
  app.add_option("--seed", options.seed, "Seed of the operands")
      ->check(anyUnsigned);
  using reference::DataKind;
  addChoice<DataKind>(app, "--data", options.data,
                      {{"normal", DataKind::Normal},
                       {"specials", DataKind::Specials},
                       {"ones", DataKind::Ones}},
                      "normal: quantised near-normal values; specials: with "
                      "NaN, infinities and zeros; ones: all 1");
  app.add_option("--beta", options.beta,
                 "The factor of C; with 0, C is filled with NaN, since the "
                 "kernel must not read it")
      ->check(anyFloat);
  using reference::Elementwise;
  addChoice<Elementwise>(app, "--elementwise", options.elementwise,
                         {{"none", Elementwise::None},
                          {"relu", Elementwise::Relu},
                          {"abs", Elementwise::Abs},
                          {"silu", Elementwise::Silu}},
                         "The function that the kernel applies to each element "
                         "before the output scale");
  app.add_option("--memory-limit", options.memoryLimit,
                 "Limit for all buffers together, in bytes")
      ->check(anyUnsigned);
}

void addDeviceOptions(CLI::App &app, Options &options) {
  const std::string group = "GPU";
  app.add_option("--device", options.device, "The GPU's number")
      ->check(inRange(0, 1023))
      ->group(group);
  app.add_flag("--list-devices", options.listDevices,
               "Print a line of JSON for each GPU and exit")
      ->group(group);
  app.add_option("--watchdog", options.watchdogSeconds,
                 "Seconds after which a kernel that still runs counts as hung")
      ->check(inRange(0.001, 86400.0))
      ->group(group);
  app.add_flag("--time{20}", options.replays,
               "Measure the kernel's time: the median of this many replays")
      ->check(inRange(1u, runtime::kMostReplays))
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

void addTimingOptions(CLI::App &app, Options &options,
                      const std::string &group) {
  app.add_flag("--timing", options.simulation.timing,
               "Predict the kernel's time on the GPU of its chip instead of "
               "computing: three clusters run, without values, and nothing is "
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
  app.add_option("--written", options.written,
                 "With --timing, an argument that the preceding kernel writes, "
                 "so that a programmatic kernel waits for it (default: none)")
      ->type_name("NAME")
      ->delimiter(',')
      ->group(group)
      ->needs("--timing");
}

void addSimulatorOptions(CLI::App &app, Options &options) {
  const std::string group = "Simulator";
  options.simulation.names = {"--multiprocessors", "--resident-clusters",
                              "--timing"};
  app.add_option("--schedule-seed", options.simulation.scheduleSeed,
                 "Seed of the order of warps and of asynchronous work")
      ->check(anyUnsigned)
      ->group(group);
  app.add_option("--schedules", options.schedules,
                 "Run this many schedules, with consecutive seeds; on a GPU, "
                 "run this many times")
      ->check(inRange(1u, 1000000u))
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
      ->check(inRange(0u, 65535u))
      ->group(group);
  app.add_option(
         "--resident-clusters", options.simulation.residentClusters,
         "Clusters that run at the same time (0: the schedule seed chooses)")
      ->check(inRange(0u, 1024u))
      ->group(group);
  app.add_option("--threads", options.simulation.threads,
                 "Threads that simulate (0: one for each core); they change "
                 "nothing but the time")
      ->check(inRange(0u, 1024u))
      ->group(group);
  addTimingOptions(app, options, group);
  app.add_option("--step-limit", options.simulation.stepLimit,
                 "Limit for the warp instructions of a run")
      ->check(anyUnsigned)
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
      ->check(anyUnsigned)
      ->group(group);
  app.add_option("--max-errors", options.simulation.maxErrors,
                 "Stop a run after this many errors")
      ->check(inRange(1u, 1000000u))
      ->group(group);
  app.add_flag("--strict,!--no-strict", options.simulation.strict,
               "Warnings are errors, which is the default for kernels that "
               "fp8-opt wrote, and with --launch is not (docs/Warnings.md)")
      ->group(group);
}

/// What a launch description says, or what is of a GPU.
constexpr const char *kNotWithLaunch[] = {"--m",
                                          "--n",
                                          "--k",
                                          "--batch",
                                          "--seed",
                                          "--data",
                                          "--beta",
                                          "--device",
                                          "--watchdog",
                                          "--elementwise",
                                          "--time",
                                          "--clock",
                                          "--programmatic-launch"};

/// CLI11 would take the next argument for the value.
void refuseEmptyValues(int argc, const char *const *argv) {
  for (std::string argument : std::vector<std::string>(argv + 1, argv + argc))
    if (argument.rfind("--", 0) == 0 &&
        argument.find('=') == argument.size() - 1)
      throw CLI::ValidationError("'" + argument +
                                 "' has no value; write one behind it");
}

/// CLI11's error in our words.
std::string explain(const CLI::ParseError &error) {
  std::string text = error.what(), name = text.substr(0, text.find(':'));
  if (error.get_name() == "ArgumentMismatch")
    return text.find("At Most") != std::string::npos
               ? name + " is given more than once; give it once"
               : name + " has no value; write " + name + "=VALUE";
  if (text.find("not expected: ") != std::string::npos)
    return "unknown argument '" + text.substr(name.size() + 2) + "'";
  if (error.get_name() == "ExcludesError")
    return text + "; drop one of them";
  if (error.get_name() == "RequiresError")
    return text + "; add it";
  return text;
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
  for (const char *name : kNotWithLaunch)
    app.get_option("--launch")->excludes(app.get_option(name));
  try {
    refuseEmptyValues(argc, argv);
    app.parse(argc, argv);
    if (options.ptxPath.empty() && !options.listDevices)
      throw CLI::ValidationError("there is no kernel; name OUT.ptx");
    if (options.simulation.timing && options.backend != BackendKind::Simulator)
      throw CLI::ValidationError("--timing needs --backend=sim");
    if (!options.launchPath.empty() && !app.count("--strict"))
      options.simulation.strict = false;
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
      exitCode = app.exit(error);
      return std::nullopt;
    }
    std::cerr << "fp8-run: error: " << explain(error)
              << "; see fp8-run --help\n";
    exitCode = 2;
    return std::nullopt;
  }
  return options;
}

} // namespace fp8::run
