// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches, and what is said of them on standard error.
#include "Operations.h"
#include "Recorder.h"
#include "fp8/SimulatedLaunch/ErrorText.h"
#include "fp8/Simulator/PTXAst.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <pthread.h>
#include <unistd.h>

namespace fp8::cuda {
namespace {
constexpr const char *kPrefix = "fp8-simulate: ";

[[noreturn]] void giveUp(const std::string &message) {
  std::cerr << kPrefix << "error: " << message << std::endl;
  std::exit(1);
}

Settings settingsOfProcess() {
  const char *text = std::getenv(kSettingsVariable);
  if (!text)
    return {};
  auto settings = parseSettings(text);
  if (!settings)
    giveUp(std::string(kSettingsVariable) + " holds no settings: '" + text +
           "'; start the program with fp8-simulate, or unset it");
  return *settings;
}

const chip::Chip &chipOf(const Settings &settings) {
  if (const chip::Chip *chip = chip::lookup(settings.chip))
    return *chip;
  giveUp("chip '" + settings.chip + "' is unknown; choose one of " +
         chip::getNames());
}

unsigned numberIn(const std::string &chip) {
  size_t digit = chip.find_first_of("0123456789");
  return unsigned(std::strtoul(chip.c_str() + digit, nullptr, 10));
}

std::string listed(const std::array<uint32_t, 3> &extents) {
  return std::to_string(extents[0]) + "x" + std::to_string(extents[1]) + "x" +
         std::to_string(extents[2]);
}

/// As much of a kernel's name as fits a line.
std::string shortTitle(const Kernel &kernel) {
  constexpr size_t limit = 72;
  std::string title = kernel.title();
  return title.size() <= limit ? title : title.substr(0, limit - 3) + "...";
}

thread_local cudaError_t keptStatus = cudaSuccess;

/// Whether the kernel, or a function that it may call, has
/// griddepcontrol.launch_dependents.
bool mayStartDependents(const Kernel &kernel) {
  for (const sim::ast::Function &function :
       kernel.module->loaded()->module().ast().functions)
    if (!function.isEntry || function.signature.name == kernel.name)
      for (const sim::ast::Instruction &inst : function.instructions)
        if (inst.opcode == "griddepcontrol" && !inst.qualifiers.empty() &&
            inst.qualifiers.front() == "launch_dependents")
          return true;
  return false;
}

} // namespace

Gpu &Gpu::get() {
  // It is never destroyed: a program may call CUDA from its last destructors.
  static Gpu *gpu = new Gpu(settingsOfProcess());
  return *gpu;
}

Gpu::Gpu(Settings given)
    : settings(std::move(given)), chip(chipOf(settings)),
      memory(settings.memoryLimit, settings.initcheck),
      modules(memory, numberIn(chip.name), this->settings.ptx) {
  beginFindings();
  // A process that is forked counts for itself.
  pthread_atfork(nullptr, nullptr, [] { get().beginFindings(); });
}

void Gpu::beginFindings() {
  findings = Findings();
  // A program may run others, and become one (exec).
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  reportPath = settings.report + "/" + std::to_string(getpid()) + "-" +
               std::to_string(now.count()) + ".json";
  writeFindings();
}

unsigned Gpu::architecture() const { return numberIn(chip.name); }

cudaError_t Gpu::fail(cudaError_t status, const std::string &message) {
  std::cerr << kPrefix << "error: " << message << std::endl;
  ++findings.errors;
  writeFindings();
  return status;
}

void Gpu::warn(const std::string &message) {
  std::cerr << kPrefix << "warning: " << message << std::endl;
  ++findings.warnings;
}

cudaError_t Gpu::refuse(const char *function) {
  // The static runtime begins so.
  constexpr std::string_view kOfStaticRuntime = "cuGetExportTable";
  std::cerr << kPrefix << "error: the program calls " << function
            << ", which the simulated GPU lacks"
            << (function == kOfStaticRuntime
                    ? "; link it with the shared CUDA runtime (nvcc -cudart "
                      "shared)"
                    : "")
            << std::endl;
  ++findings.unsupportedCalls;
  writeFindings();
  return cudaErrorNotSupported;
}

cudaError_t Gpu::keep(cudaError_t status) {
  if (status != cudaSuccess && status != cudaErrorNotReady)
    keptStatus = status;
  return status;
}

cudaError_t Gpu::lastError(bool clear) {
  if (faultStatus != cudaSuccess)
    return faultStatus;
  cudaError_t status = keptStatus;
  if (clear)
    keptStatus = cudaSuccess;
  return status;
}

void Gpu::writeFindings() const {
  if (!settings.report.empty())
    std::ofstream(reportPath) << toJson(findings);
}

sim::Report Gpu::simulate(const KernelLaunch &launch, uint64_t seed) {
  sim::Options options;
  options.scheduleSeed = seed;
  options.completion = settings.completeAtIssue ? sim::Completion::AtIssue
                                                : sim::Completion::Late;
  options.maxErrors = settings.maxErrors;
  options.strict = settings.strict;
  options.sharedMemoryLimit = uint64_t(chip.sharedMemoryPerCta);
  options.multiprocessorCount = settings.multiprocessors;
  // As many as the program is told.
  options.ctasPerMultiprocessor = unsigned(
      std::max(1, ctasPerMultiprocessor(
                      *this, *launch.kernel,
                      int(launch.config.block[0] * launch.config.block[1] *
                          launch.config.block[2]),
                      launch.config.dynamicSharedBytes)));
  options.residentClusters = settings.residentClusters;
  options.threads = settings.threads;
  // Of fp8-simulate, which has no timing.
  options.names = {"--multiprocessors", "--resident-clusters", ""};
  sim::LaunchConfig config = launch.config;
  std::optional<uint64_t> barrier;
  if (launch.cooperative) {
    options.residentClusters = ~0u;
    constexpr uint64_t barrierBytes = 8;
    barrier = memory.device.allocate("barrier of the grid", barrierBytes);
    if (barrier)
      config.environment = {0, uint32_t(*barrier >> 32), uint32_t(*barrier)};
  }
  sim::Report report =
      sim::launch(*launch.kernel->module->loaded(), launch.kernel->name,
                  launch.arguments, config, options);
  if (barrier)
    memory.device.release(*barrier);
  return report;
}

/// What the runtime of a GPU returns for what it notices.
static cudaError_t statusOf(const sim::SimulationError &error) {
  switch (error.kind) {
  case sim::ErrorKind::OutOfBounds:
    return cudaErrorIllegalAddress;
  case sim::ErrorKind::Misaligned:
    return cudaErrorMisalignedAddress;
  case sim::ErrorKind::Trap:
    return error.isAssertion ? cudaErrorAssert : cudaErrorLaunchFailure;
  default:
    return cudaErrorLaunchFailure;
  }
}

cudaError_t Gpu::judge(const KernelLaunch &launch, const sim::Report &report) {
  const std::string &file = launch.kernel->module->fileName();
  for (const auto *list : {&report.errors, &report.warnings})
    for (const sim::SimulationError &error : *list)
      std::cerr << simulated::render(error, file) << "\n";
  findings.errors += report.errors.size();
  findings.warnings += report.warnings.size();
  findings.warpInstructions += report.statistics.warpInstructions;
  if (report.ok())
    return cudaSuccess;
  const sim::SimulationError &first = report.errors.front();
  if (first.kind == sim::ErrorKind::InvalidLaunch)
    return cudaErrorInvalidConfiguration;
  if (settings.keepGoing)
    return cudaSuccess;
  return faultStatus = statusOf(first);
}

bool Gpu::repeat(const KernelLaunch &launch, const Memory::Snapshot &before) {
  Memory::Snapshot first = memory.save();
  bool ok = true;
  for (unsigned i = 1; ok && i < settings.schedules; ++i) {
    memory.restore(before);
    sim::Report report = simulate(launch, settings.scheduleSeed + i);
    ok = judge(launch, report) == cudaSuccess;
    auto difference = ok ? memory.compare(first) : std::nullopt;
    // Sums by atomics do so, too, whose order is nobody's fault.
    if (difference)
      warn("the result depends on the schedule: seeds " +
           std::to_string(settings.scheduleSeed) + " and " +
           std::to_string(settings.scheduleSeed + i) + " differ in " +
           *difference);
  }
  memory.restore(first);
  return ok;
}

cudaError_t Gpu::run(const KernelLaunch &request) {
  KernelLaunch launch = request;
  const sim::LaunchConfig &config = launch.config;
  // PTX ISA, griddepcontrol: without launch_dependents in the preceding kernel
  // nothing asks for a wait.
  bool &early = startsDependents[launch.stream];
  launch.config.programmatic &= early;
  early = mayStartDependents(*launch.kernel);
  uint64_t number = findings.launches++;
  if (!settings.quiet)
    std::cerr << kPrefix << "launch " << number << ": "
              << shortTitle(*launch.kernel) << ", grid " << listed(config.grid)
              << ", block " << listed(config.block) << ", cluster "
              << listed(config.cluster) << ", " << config.dynamicSharedBytes
              << " bytes of shared memory" << std::endl;
  memory.publish();
  if (!settings.capture.empty())
    if (auto error =
            record(settings.capture, "launch-" + std::to_string(number),
                   {*launch.kernel->module, launch.kernel->name, config,
                    launch.arguments, launch.cooperative},
                   memory))
      return fail(cudaErrorUnknown, error->message);
  Memory::Snapshot before;
  if (settings.schedules > 1)
    before = memory.save();
  auto start = std::chrono::steady_clock::now();
  sim::Report report = simulate(launch, settings.scheduleSeed);
  // As on a GPU, the program's own output.
  for (const sim::PrintedText &printed : report.printed)
    std::fwrite(printed.text.data(), 1, printed.text.size(), stdout);
  cudaError_t status = judge(launch, report);
  if (status == cudaSuccess && settings.schedules > 1 &&
      !repeat(launch, before))
    status = faultStatus = cudaErrorLaunchFailure;
  std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  findings.seconds += time.count();
  memory.collect();
  if (!settings.quiet)
    std::fprintf(stderr, "%slaunch %llu: %s, %llu warnings, %.2f s\n", kPrefix,
                 (unsigned long long)number,
                 status == cudaSuccess ? "ok" : "failed",
                 (unsigned long long)report.warnings.size(), time.count());
  writeFindings();
  return status;
}

} // namespace fp8::cuda
