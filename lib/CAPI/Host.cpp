// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that are part of a program: loaded once, launched on a GPU or on the
// simulator.
#include "fp8-c/Host.h"

#include "Common.h"
#include "fp8/Runtime/HostArguments.h"
#include "fp8/SimulatedLaunch/Kernel.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>

using namespace fp8;
using launch::Error;
using launch::Expected;
using Arguments = std::vector<launch::ArgumentValue>;

namespace {
enum class Backend { Cuda, Sim, Auto };

/// What a program's kernel has become. The launches of it run beside one
/// another; loading waits.
struct LoadedKernel {
  launch::Manifest manifest;
  std::string image;

  std::mutex mutex;                            ///< for what follows
  std::optional<simulated::Kernel> simulation; ///< once there, it stays
  std::map<int, runtime::Kernel> onDevices;    ///< by number
  bool toldOfSimulator = false;
};

Expected<Backend> getBackend() {
  const char *named = std::getenv("FP8_BACKEND");
  std::string name = named ? named : "cuda";
  if (name == "cuda")
    return Backend::Cuda;
  if (name == "sim")
    return Backend::Sim;
  if (name == "auto")
    return Backend::Auto;
  return Error{"FP8_BACKEND is '" + name + "'; it must be cuda, sim or auto"};
}

Expected<int> getOrdinal() {
  const char *named = std::getenv("FP8_DEVICE");
  if (!named)
    return 0;
  char *end;
  long ordinal = std::strtol(named, &end, 10);
  if (*named < '0' || *named > '9' || *end || ordinal > 1 << 16)
    return Error{"FP8_DEVICE is '" + std::string(named) +
                 "'; it must be the number of a GPU, as in FP8_DEVICE=0"};
  return int(ordinal);
}

Expected<double> getWatchdogSeconds() {
  const char *named = std::getenv("FP8_WATCHDOG");
  if (!named)
    return 30.0;
  char *end;
  double seconds = std::strtod(named, &end);
  if (!*named || *end || !std::isfinite(seconds) || seconds <= 0)
    return Error{"FP8_WATCHDOG is '" + std::string(named) +
                 "'; it must be seconds, as in FP8_WATCHDOG=30"};
  return seconds;
}

/// The GPU of that number, opened once. It is never closed: at the program's
/// end the driver may be gone first.
Expected<std::shared_ptr<runtime::Device>> getDevice(int ordinal) {
  static std::mutex mutex;
  static auto &devices = *new std::map<int, std::shared_ptr<runtime::Device>>;
  std::lock_guard<std::mutex> lock(mutex);
  if (auto found = devices.find(ordinal); found != devices.end())
    return found->second;
  auto driver = runtime::Driver::load();
  if (!driver)
    return driver.takeError();
  runtime::ContextScope scope(**driver);
  auto device = runtime::Device::open(*driver, ordinal);
  if (device)
    devices[ordinal] = *device;
  return device;
}

Expected<LoadedKernel *> getLoaded(Fp8HostKernel &kernel) {
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  if (!kernel.loaded) {
    auto manifest =
        launch::parseManifest(kernel.manifest ? kernel.manifest : "");
    if (!manifest)
      return Error{"launch manifest: " + manifest.error()};
    auto image = capi::bytesOf(kernel.image, kernel.bytes, "the image");
    if (!image)
      return image.takeError();
    auto loaded = std::make_unique<LoadedKernel>();
    loaded->manifest = std::move(*manifest);
    loaded->image = *image;
    kernel.loaded = loaded.release();
  }
  return static_cast<LoadedKernel *>(kernel.loaded);
}

Expected<const simulated::Kernel *> getSimulation(LoadedKernel &kernel) {
  std::lock_guard<std::mutex> lock(kernel.mutex);
  if (!kernel.simulation) {
    if (runtime::isCubin(kernel.image))
      return Error{"the simulator reads PTX, and the program holds a cubin; "
                   "make it by --fp8-lower-launches=emit=ptx, or run it on a "
                   "GPU"};
    auto parsed =
        simulated::Kernel::parse(kernel.image, kernel.manifest.kernel + ".ptx");
    if (!parsed)
      return parsed.takeError();
    kernel.simulation.emplace(std::move(*parsed));
  }
  return &*kernel.simulation;
}

std::optional<Error> simulate(LoadedKernel &kernel,
                              const Arguments &arguments) {
  auto simulation = getSimulation(kernel);
  if (!simulation)
    return simulation.takeError();
  auto outcome = (*simulation)->runOnHost(kernel.manifest, arguments, {});
  if (!outcome)
    return outcome.takeError();
  if (outcome->ok())
    return std::nullopt;
  std::string text = "it breaks rules on the simulator";
  for (const std::string &error : outcome->errors)
    text += "\n" + error;
  return Error{text};
}

/// The device, if there is one and it can run the kernel.
Expected<std::shared_ptr<runtime::Device>>
getDeviceFor(const LoadedKernel &kernel, int ordinal) {
  auto device = getDevice(ordinal);
  if (device)
    if (auto error =
            runtime::checkRunnable(**device, kernel.image, kernel.manifest))
      return *error;
  return device;
}

std::optional<Error> runOnDevice(LoadedKernel &kernel,
                                 std::shared_ptr<runtime::Device> device,
                                 const Arguments &arguments) {
  runtime::ContextScope scope(*device);
  if (scope.error())
    return scope.error();
  const runtime::Kernel *loaded = nullptr;
  {
    std::lock_guard<std::mutex> lock(kernel.mutex);
    auto found = kernel.onDevices.find(device->info().ordinal);
    if (found == kernel.onDevices.end()) {
      auto made = runtime::Kernel::load(device, kernel.image,
                                        "the image of kernel '" +
                                            kernel.manifest.kernel + "'",
                                        kernel.manifest.kernel);
      if (!made)
        return made.takeError();
      found = kernel.onDevices.emplace(device->info().ordinal, *made).first;
    }
    loaded = &found->second;
  }
  return runtime::runOnHost(*loaded, kernel.manifest, arguments);
}

/// Says once for each kernel that a simulator takes a GPU's place.
void tellOfSimulator(LoadedKernel &kernel, const std::string &reason) {
  std::lock_guard<std::mutex> lock(kernel.mutex);
  if (!std::exchange(kernel.toldOfSimulator, true))
    std::fprintf(stderr, "fp8: kernel '%s' runs on the simulator: %s\n",
                 kernel.manifest.kernel.c_str(), reason.c_str());
}

std::optional<Error> run(LoadedKernel &kernel, const Fp8Argument *arguments,
                         size_t count) {
  auto values = capi::argumentsOf(arguments, count);
  if (!values)
    return values.takeError();
  auto backend = getBackend();
  if (!backend)
    return backend.takeError();
  if (*backend == Backend::Sim)
    return simulate(kernel, *values);
  auto ordinal = getOrdinal();
  if (!ordinal)
    return ordinal.takeError();
  auto seconds = getWatchdogSeconds();
  if (!seconds)
    return seconds.takeError();
  auto device = getDeviceFor(kernel, *ordinal);
  if (device) {
    (*device)->watchdog.seconds = *seconds;
    return runOnDevice(kernel, *device, *values);
  }
  if (*backend == Backend::Cuda)
    return Error{device.error() +
                 "\nnote: with FP8_BACKEND=sim it runs on the simulator"};
  tellOfSimulator(kernel, device.error());
  return simulate(kernel, *values);
}

[[noreturn]] void end(const std::string &message) {
  std::fprintf(stderr, "fp8: error: %s\n", message.c_str());
  std::abort();
}
} // namespace

void fp8HostLaunch(Fp8HostKernel *kernel, const Fp8Argument *arguments,
                   size_t count) {
  try {
    if (!kernel)
      end("fp8HostLaunch has no kernel: it is NULL");
    auto loaded = getLoaded(*kernel);
    if (!loaded)
      end(loaded.error());
    if (auto error = run(**loaded, arguments, count))
      end("kernel '" + (*loaded)->manifest.kernel + "': " + error->message);
  } catch (const std::exception &error) { // of the C++ library: no memory
    end(error.what());
  }
}
