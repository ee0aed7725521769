// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks a launch, decodes the kernel, prepares parameters, and runs the grid.

#include "ISA/Families.h"
#include "Machine/Machine.h"
#include "Program/Decoder.h"
#include "Timing/MemoryShares.h"
#include "Timing/Waves.h"
#include "fp8/Chip/Chip.h"
#include "fp8/Chip/LaunchLimits.h"
#include "fp8/Simulator/LoadedModule.h"

#include <algorithm>
#include <thread>

using namespace fp8::sim;
namespace chip = fp8::chip;

KernelArgument KernelArgument::structure(std::vector<uint8_t> background,
                                         const std::vector<Field> &fields) {
  KernelArgument whole(std::move(background), {});
  for (const auto &[offset, value] : fields) {
    std::copy(value.data.begin(), value.data.end(),
              whole.data.begin() + long(offset));
    for (size_t at : value.maps)
      whole.maps.push_back(offset + at);
  }
  return whole;
}

namespace {

class Launcher {
public:
  Launcher(LoadedModule &loaded, std::string_view name,
           const std::vector<KernelArgument> &arguments,
           const LaunchConfig &config, const Options &options)
      : loaded(loaded), module(loaded.module().ast()), name(name),
        arguments(arguments), config(config), options(options) {
    if (!this->options.multiprocessorCount)
      this->options.multiprocessorCount =
          unsigned(chip::getMultiprocessors(module.target));
  }

  Report run() {
    if (prepare() && !runGrid(threads()))
      runGrid(1);
    return std::move(report);
  }

private:
  LoadedModule &loaded;
  const ast::Module &module;
  std::string_view name;
  const std::vector<KernelArgument> &arguments;
  LaunchConfig config; ///< with the cluster that the kernel itself asks for
  Options options;
  Report report;
  Program program;
  const ast::Function *function = nullptr;
  std::optional<LinkedKernel> kernel; ///< with what it calls

  uint64_t printed = 0; ///< texts that Options::onPrint has seen

  /// Callers that follow each access follow one thread.
  unsigned threads() const {
    if (options.onBarrierAccess || options.timing ||
        options.completion == Completion::AtIssue)
      return 1;
    return options.threads ? options.threads
                           : std::max(1u, std::thread::hardware_concurrency());
  }

  /// False when the run counts for nothing, and one thread must repeat it.
  bool runGrid(unsigned count) {
    Grid grid(loaded.device(), program, config, options, report, count,
              printed);
    if (!passArguments(grid))
      return true;
    grid.run();
    if (!grid.isAbandoned()) {
      if (options.timing && report.ok())
        predict(grid.traces);
      return true;
    }
    grid.undo();
    printed = grid.printedTexts();
    report = {};
    return false;
  }

  const fp8::chip::Timing *timing() const {
    return fp8::chip::lookupTiming(module.target, options.timedGpu);
  }

  void predict(std::deque<Trace> &traces) {
    auto volume = [](const std::array<uint32_t, 3> &extents) {
      return uint64_t(extents[0]) * extents[1] * extents[2];
    };
    TracedLaunch launch;
    launch.ctas = volume(config.grid);
    launch.clusterCtas = volume(config.cluster);
    launch.programmatic = config.programmatic;
    countPasses(launch, traces);
    evenLoads(traces);
    const Costs costs(program, *timing());
    for (const Trace &trace : traces) {
      std::optional<KernelTime> time = replay(trace, costs, *timing(), launch);
      if (!time) {
        fail(options.names.timing +
                 ": a wait of a cluster never ends in the model, which "
                 "does not know what it waits for (docs/Timing.md)",
             ErrorKind::LimitExceeded);
        return;
      }
      // The slowest ends the kernel.
      if (!report.time || time->microseconds > report.time->microseconds)
        report.time = std::move(time);
    }
    if (!report.time)
      return;
    report.time->registers = costs.mostRegisters();
    report.time->spills = costs.spills();
  }

  bool checkTiming() {
    return !options.timing || timing() ||
           fail(options.names.timing + " has no constants for " +
                    (options.timedGpu.empty() ? ""
                                              : options.timedGpu + " with ") +
                    module.target + "; it supports " +
                    fp8::chip::getTimedGpus(),
                ErrorKind::LimitExceeded);
  }

  bool fail(std::string message, ErrorKind kind = ErrorKind::InvalidLaunch) {
    SimulationError error{kind};
    error.message = std::move(message);
    report.errors.push_back(std::move(error));
    return false;
  }

  bool prepare() {
    function = module.findEntry(name);
    if (!function)
      return fail("the module has no kernel '" + std::string(name) + "'");
    kernel.emplace(module, *function);
    // What the simulator does not know comes before all else.
    return checkTiming() && decode() && checkConfig() && checkMemory();
  }

  /// Whether the grid and the blocks are such as every GPU launches.
  bool checkExtents() {
    for (unsigned i = 0; i < 3; ++i) {
      const std::string dimension =
          std::string(" in dimension ") + "xyz"[i] + ", not ";
      if (!config.grid[i] || !config.block[i] || !config.cluster[i])
        return fail("a launch dimension is zero");
      if (config.block[i] > chip::kMostThreads[i])
        return fail("a block has at most " +
                    std::to_string(chip::kMostThreads[i]) + " threads" +
                    dimension + std::to_string(config.block[i]));
      if (config.grid[i] > chip::kMostCtas[i])
        return fail("a grid has at most " + std::to_string(chip::kMostCtas[i]) +
                    " CTAs" + dimension + std::to_string(config.grid[i]));
    }
    return true;
  }

  bool checkConfig() {
    const Entry &entry = function->signature;
    // A launch that names no cluster has that of .reqnctapercluster.
    if (entry.requiredClusterDim[0] && config.cluster == LaunchConfig().cluster)
      config.cluster = entry.requiredClusterDim;
    const auto &grid = config.grid, &block = config.block,
               &cluster = config.cluster;
    if (!checkExtents())
      return false;
    uint64_t threads = 1, blocks = 1, clusterSize = 1;
    for (unsigned i = 0; i < 3; ++i) {
      if (grid[i] % cluster[i])
        return fail("the grid is not a multiple of the cluster in dimension " +
                    std::to_string(i));
      threads *= block[i];
      clusterSize *= cluster[i];
      if (blocks > options.gridLimit / grid[i])
        return fail("the grid exceeds the limit of " +
                        std::to_string(options.gridLimit) + " CTAs",
                    ErrorKind::LimitExceeded);
      blocks *= grid[i];
      if (entry.requiredClusterDim[i] &&
          entry.requiredClusterDim[i] != cluster[i])
        return fail(
            "the cluster must have the dimensions of .reqnctapercluster");
    }
    if (threads > chip::kMostThreadsInAll)
      return fail("a block has at most " +
                  std::to_string(chip::kMostThreadsInAll) + " threads, not " +
                  std::to_string(threads));
    if (clusterSize > chip::kMostCtasOfCluster)
      return fail("a cluster has at most " +
                  std::to_string(chip::kMostCtasOfCluster) + " CTAs, not " +
                  std::to_string(clusterSize));
    uint64_t most = uint64_t(entry.maxThreads[0]) * entry.maxThreads[1] *
                    entry.maxThreads[2];
    if (most && threads > most)
      return fail("the block has " + std::to_string(threads) +
                  " threads, but .maxntid allows " + std::to_string(most));
    if (entry.requiredThreads[0] && entry.requiredThreads != block)
      return fail("the block must have the dimensions of .reqntid");
    if (arguments.size() != entry.parameters.size())
      return fail("kernel '" + entry.name + "' takes " +
                  std::to_string(entry.parameters.size()) +
                  " parameters, but the launch passes " +
                  std::to_string(arguments.size()));
    return true;
  }

  bool decode() {
    for (const LoadedModule::Variable &variable : loaded.variables())
      program.globals.push_back({variable.name, variable.address,
                                 variable.bytes, variable.isConstant});
    Decoder decoder(instructionSet(), module, *kernel, program);
    return decoder.run(report.errors);
  }

  bool checkMemory() {
    uint64_t used =
        program.staticSharedEnd - kSharedReserved + config.dynamicSharedBytes;
    if (config.dynamicSharedBytes > options.sharedMemoryLimit ||
        used > options.sharedMemoryLimit)
      return fail("a CTA would use " + std::to_string(used) +
                  " bytes of shared memory, but the limit is " +
                  std::to_string(options.sharedMemoryLimit));
    constexpr uint64_t localLimit =
        512 * 1024; // CUDA C++ Programming Guide, technical specifications
    if (program.localBytes > localLimit)
      return fail("a thread would use " + std::to_string(program.localBytes) +
                  " bytes of local memory, but the limit is " +
                  std::to_string(localLimit));
    return checkThreads();
  }

  /// What the threads of a cluster keep for themselves is in memory at once.
  bool checkThreads() {
    constexpr uint64_t limit = uint64_t(1) << 30;
    auto volume = [](const std::array<uint32_t, 3> &extents) {
      return uint64_t(extents[0]) * extents[1] * extents[2];
    };
    uint64_t rows = program.registers + program.constants.size();
    uint64_t threads = (volume(config.block) + 31) / 32 * 32;
    uint64_t bytes = volume(config.cluster) * threads *
                     (rows * sizeof(uint64_t) + program.localBytes);
    if (bytes <= limit)
      return true;
    return fail("the threads of a cluster would use " + std::to_string(bytes) +
                    " bytes of registers and local memory, but the simulator's "
                    "limit is " +
                    std::to_string(limit) +
                    "; declare fewer registers or less local memory",
                ErrorKind::LimitExceeded);
  }

  bool passArguments(Grid &grid) {
    grid.parameters.resize(program.parameterBytes);
    for (size_t i = 0; i < arguments.size(); ++i) {
      const EntryParameter &parameter = function->signature.parameters[i];
      const std::vector<uint8_t> &bytes = arguments[i].content();
      if (bytes.size() != parameter.sizeBytes)
        return fail("parameter '" + parameter.name + "' has " +
                    std::to_string(parameter.sizeBytes) +
                    " bytes, but the launch passes " +
                    std::to_string(bytes.size()));
      for (size_t at : arguments[i].tensorMaps())
        if (!checkTensorMap(parameter, bytes, at))
          return false;
      std::copy(bytes.begin(), bytes.end(),
                grid.parameters.begin() + long(program.parameterOffsets[i]));
    }
    return true;
  }

  bool checkTensorMap(const EntryParameter &parameter,
                      const std::vector<uint8_t> &bytes, size_t at) {
    std::string where = "parameter '" + parameter.name + "'";
    if (at)
      where += ", offset " + std::to_string(at);
    if (parameter.alignBytes % kTensorMapAlignment || at % kTensorMapAlignment)
      return fail(where +
                  ", takes a tensor map, so it must be aligned to at "
                  "least " +
                  std::to_string(kTensorMapAlignment) +
                  " bytes; the parameter is aligned to " +
                  std::to_string(parameter.alignBytes));
    TensorMap map;
    std::optional<std::string> broken =
        TensorMap::decode(bytes.data() + at, map);
    if (!broken)
      broken = map.validate();
    return !broken || fail(where + ": " + *broken, ErrorKind::TensorMap);
  }
};

} // namespace

Report fp8::sim::launch(LoadedModule &module, std::string_view entry,
                        const std::vector<KernelArgument> &arguments,
                        const LaunchConfig &config, const Options &options) {
  return Launcher(module, entry, arguments, config, options).run();
}

Report fp8::sim::launch(Device &device, const PTXModule &module,
                        std::string_view entry,
                        const std::vector<KernelArgument> &arguments,
                        const LaunchConfig &config, const Options &options,
                        const Variables &variables) {
  Report report;
  auto loaded = LoadedModule::load(device, module, variables, report.errors);
  return loaded ? launch(*loaded, entry, arguments, config, options) : report;
}

Report fp8::sim::launch(Device &device, const PTXModule &module,
                        std::string_view entry,
                        const std::vector<KernelArgument> &arguments,
                        const LaunchConfig &config, const Options &options) {
  return launch(device, module, entry, arguments, config, options, Variables());
}
