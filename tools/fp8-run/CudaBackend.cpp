// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launch plans on a GPU. Nothing watches a kernel's accesses there, so every
// buffer lies between guard bytes, and what a kernel only reads is compared
// with what it was.
#include "CudaBackend.h"

#include "fp8/Chip/Chip.h"
#include "fp8/Launch/KernelCheck.h"
#include "fp8/Runtime/Stamps.h"
#include "fp8/Runtime/Timer.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace fp8::run {
namespace {
constexpr uint64_t guardBytes = 4096;
constexpr uint8_t guardByte = 0xa5;

/// FNV-1a: tells changed contents without keeping them.
uint64_t hashOf(const std::vector<uint8_t> &bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (uint8_t byte : bytes)
    hash = (hash ^ byte) * 0x100000001b3;
  return hash;
}

struct Slot {
  runtime::DeviceBuffer memory; ///< the guards included
  uint64_t size = 0;
  launch::Access access = launch::Access::Read;
  uint64_t hash = 0;

  uint64_t address() const { return memory.address() + guardBytes; }
};

class CudaBackend : public Backend {
public:
  CudaBackend(const Options &options, std::shared_ptr<runtime::Device> device,
              runtime::Kernel kernel)
      : options(options), gpu(std::move(device)), kernel(std::move(kernel)) {}

  std::string name() const override { return "cuda"; }
  std::string device() const override { return gpu->info().name; }
  launch::DeviceProperties properties() const override {
    return gpu->properties();
  }
  unsigned schedules() const override { return options.schedules; }
  void reset() override { slots.clear(); }

  std::optional<launch::Error>
  checkKernel(const launch::Manifest &manifest) const override;
  launch::Expected<uint64_t> upload(const std::string &name,
                                    const std::vector<uint8_t> &bytes,
                                    launch::Access access) override;
  Outcome launch(const launch::Manifest &manifest,
                 const launch::LaunchPlan &plan, unsigned schedule) override;
  launch::Expected<std::vector<uint8_t>> download(uint64_t address,
                                                  uint64_t size) override;
  unsigned operandSets(uint64_t bytes) const override;
  launch::Expected<runtime::Timing>
  time(const launch::Manifest &manifest,
       const std::vector<launch::LaunchPlan> &plans) override;

private:
  launch::Expected<double> runOnce(const launch::Manifest &manifest,
                                   const launch::LaunchPlan &plan);
  std::optional<std::string> changedGuard(const Slot &slot) const;
  std::optional<std::string> changedContents(const Slot &slot) const;
  runtime::LaunchOptions launchOptions() const {
    runtime::LaunchOptions chosen;
    chosen.programmaticSerialization = options.programmaticLaunch;
    return chosen;
  }

  Options options;
  std::shared_ptr<runtime::Device> gpu;
  runtime::Kernel kernel;
  std::vector<Slot> slots;
};

std::optional<launch::Error>
CudaBackend::checkKernel(const launch::Manifest &manifest) const {
  auto bytes = kernel.parameterBytes();
  return bytes ? checkParameters(options.ptxPath, *bytes, manifest)
               : std::nullopt;
}

launch::Expected<uint64_t>
CudaBackend::upload(const std::string &name, const std::vector<uint8_t> &bytes,
                    launch::Access access) {
  auto memory =
      runtime::DeviceBuffer::allocate(gpu, name, bytes.size() + 2 * guardBytes);
  if (!memory)
    return memory.takeError();
  if (auto error = memory->fill(guardByte))
    return *error;
  if (auto error = memory->upload(bytes.data(), bytes.size(), guardBytes))
    return *error;
  uint64_t hash = launch::writes(access) ? 0 : hashOf(bytes);
  slots.push_back({std::move(*memory), bytes.size(), access, hash});
  return slots.back().address();
}

launch::Expected<double> CudaBackend::runOnce(const launch::Manifest &manifest,
                                              const launch::LaunchPlan &plan) {
  auto prepared =
      runtime::PreparedLaunch::make(kernel, manifest, plan, launchOptions());
  if (!prepared)
    return prepared.takeError();
  auto stream = runtime::Stream::create(gpu);
  if (!stream)
    return stream.takeError();
  auto start = runtime::Event::create(gpu), end = runtime::Event::create(gpu);
  for (auto *event : {&start, &end})
    if (!*event)
      return event->takeError();
  auto error = start->record(stream->handle());
  if (!error)
    error = prepared->enqueue(*stream);
  if (!error)
    error = end->record(stream->handle());
  if (!error)
    error = end->await(prepared->str());
  if (error)
    return *error;
  return end->microsecondsSince(*start);
}

Outcome CudaBackend::launch(const launch::Manifest &manifest,
                            const launch::LaunchPlan &plan, unsigned) {
  Outcome outcome;
  auto time = runOnce(manifest, plan);
  if (!options.timelinePath.empty())
    for (int i = 0; time && i < runtime::kLaunchesBeforeProfile; ++i)
      time = runOnce(manifest, plan);
  if (!time) {
    outcome.failure = time.error();
    return outcome;
  }
  outcome.microseconds = *time;
  if (manifest.profile && !options.timelinePath.empty()) {
    auto stamps = runtime::readStamps(kernel, *manifest.profile);
    if (!stamps) {
      outcome.failure = stamps.error();
      return outcome;
    }
    outcome.stamps = std::move(*stamps);
  }
  char text[160];
  std::snprintf(text, sizeof(text),
                "%.1f us on %s, %d registers and %d bytes of stack a thread",
                *time, gpu->info().name.c_str(), kernel.registers,
                kernel.localBytes);
  outcome.summary = text;
  for (const Slot &slot : slots)
    for (auto changed : {changedGuard(slot), changedContents(slot)})
      if (changed)
        outcome.errors.push_back(options.ptxPath + ": error: " + *changed);
  return outcome;
}

std::optional<std::string> CudaBackend::changedGuard(const Slot &slot) const {
  for (bool after : {false, true}) {
    std::vector<uint8_t> guard(guardBytes);
    if (auto error = slot.memory.download(guard.data(), guardBytes,
                                          after ? guardBytes + slot.size : 0))
      return error->message;
    for (uint64_t i = 0; i < guardBytes; ++i) {
      uint64_t at = after ? i : guardBytes - 1 - i;
      if (guard[at] != guardByte)
        return "the kernel wrote outside of '" + slot.memory.name() + "', " +
               std::to_string(after ? i : i + 1) + " bytes " +
               (after ? "after its end" : "before its beginning");
    }
  }
  return std::nullopt;
}

std::optional<std::string>
CudaBackend::changedContents(const Slot &slot) const {
  if (launch::writes(slot.access))
    return std::nullopt;
  std::vector<uint8_t> bytes(slot.size);
  if (auto error = slot.memory.download(bytes.data(), slot.size, guardBytes))
    return error->message;
  if (hashOf(bytes) == slot.hash)
    return std::nullopt;
  return "the kernel changed '" + slot.memory.name() +
         "', which the manifest says it only reads";
}

launch::Expected<std::vector<uint8_t>> CudaBackend::download(uint64_t address,
                                                             uint64_t size) {
  std::vector<uint8_t> bytes(size);
  for (const Slot &slot : slots)
    if (slot.address() == address) {
      if (auto error = slot.memory.download(bytes.data(), size, guardBytes))
        return *error;
      return bytes;
    }
  return launch::Error{"there is no buffer at the address to read back"};
}

unsigned CudaBackend::operandSets(uint64_t bytes) const {
  if (options.flushClock)
    return 1;
  constexpr uint64_t mostSets = 512;
  uint64_t fit = bytes ? options.memoryLimit / bytes : 1;
  return runtime::operandSetsFor(gpu->info(), bytes, std::min(fit, mostSets));
}

launch::Expected<runtime::Timing>
CudaBackend::time(const launch::Manifest &manifest,
                  const std::vector<launch::LaunchPlan> &plans) {
  std::vector<runtime::PreparedLaunch> launches;
  for (const launch::LaunchPlan &plan : plans) {
    auto prepared =
        runtime::PreparedLaunch::make(kernel, manifest, plan, launchOptions());
    if (!prepared)
      return prepared.takeError();
    launches.push_back(std::move(*prepared));
  }
  runtime::TimerOptions timer;
  timer.clock =
      options.flushClock ? runtime::Clock::Flush : runtime::Clock::Graph;
  timer.replays = options.replays;
  return runtime::timeLaunches(gpu, launches, timer);
}
} // namespace

launch::Expected<std::shared_ptr<runtime::Device>>
openDevice(const Options &options) {
  auto driver = runtime::Driver::load();
  if (!driver)
    return driver.takeError();
  auto device = runtime::Device::open(*driver, options.device);
  if (device)
    (*device)->watchdog.seconds = options.watchdogSeconds;
  return device;
}

std::optional<std::string> whyNotOn(const runtime::Device &device,
                                    const std::string &image,
                                    const launch::Manifest &manifest) {
  bool cubin = runtime::isCubin(image);
  std::string target = cubin ? manifest.chip : runtime::ptxTarget(image);
  if (target.empty())
    return "the file has no .target";
  return runtime::whyNotRunnable(target, device.info().capability, cubin);
}

launch::Expected<std::unique_ptr<Backend>>
makeCudaBackend(const Options &options, std::shared_ptr<runtime::Device> device,
                const std::string &image, const launch::Manifest &manifest) {
  if (!runtime::isCubin(image))
    if (auto error =
            checkTarget(options.ptxPath, runtime::ptxTarget(image), manifest))
      return *error;
  auto kernel =
      runtime::Kernel::load(device, image, options.ptxPath, manifest.kernel);
  if (!kernel)
    return kernel.takeError();
  return std::unique_ptr<Backend>(
      std::make_unique<CudaBackend>(options, device, std::move(*kernel)));
}

launch::Expected<std::string> listDevices() {
  auto driver = runtime::Driver::load();
  if (!driver)
    return driver.takeError();
  std::string lines;
  for (int ordinal = 0;; ++ordinal) {
    auto device = runtime::Device::open(*driver, ordinal);
    if (!device && ordinal)
      return lines;
    if (!device)
      return device.takeError();
    const runtime::DeviceInfo &info = (*device)->info();
    nlohmann::ordered_json line;
    line["device"] = info.name;
    line["ordinal"] = ordinal;
    line["capability"] = info.capability.str();
    line["multiprocessors"] = info.multiprocessorCount;
    line["l2_bytes"] = info.l2CacheBytes;
    line["memory_bytes"] = info.memoryBytes;
    line["shared_memory_per_block"] = info.maxSharedMemoryPerBlock;
    line["driver"] = info.driverVersion;
    line["runs"] = nlohmann::ordered_json::array();
    for (const chip::Chip &chip : chip::getChips())
      if (!runtime::whyNotRunnable(chip.name, info.capability))
        line["runs"].push_back(chip.name);
    lines += line.dump() + "\n";
  }
}

} // namespace fp8::run
