// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C API of the runtime, over the C++ one.
#include "fp8-c/Runtime.h"

#include "Guarded.h"
#include "fp8/Runtime/Stamps.h"
#include "fp8/Runtime/Timer.h"

#include <cmath>

using namespace fp8;
using capi::textOf;

struct Fp8Device {
  std::shared_ptr<runtime::Device> device;
};
struct Fp8Buffer {
  std::shared_ptr<runtime::Device> device;
  runtime::DeviceBuffer buffer;
};
struct Fp8Kernel {
  runtime::Kernel kernel;
  launch::Manifest manifest;
};
struct Fp8Launch {
  std::shared_ptr<runtime::Device> device;
  size_t argumentCount = 0;
  std::optional<runtime::PreparedLaunch> prepared; ///< none: an empty grid
  std::optional<launch::ProfileTable> profile;
};

namespace {
/// Set by the watchdog of whatever device this call waited for.
thread_local bool hung = false;

Fp8Status fail(std::string message) {
  return capi::fail(std::move(message),
                    std::exchange(hung, false) ? FP8_HANG : FP8_ERROR);
}

Fp8Status statusOf(const std::optional<launch::Error> &error) {
  return error ? fail(error->message) : FP8_OK;
}

/// `guarded` with the device's context current.
template <typename Body>
Fp8Status guarded(const runtime::Device &device, const Body &body) {
  hung = false;
  return capi::guarded([&] {
    runtime::ContextScope scope(device);
    return scope.error() ? fail(scope.error()->message) : body();
  });
}

} // namespace

Fp8Status fp8DeviceOpen(const char *library, int ordinal, Fp8Device **device) {
  *device = nullptr;
  return capi::guarded([&] {
    auto driver = runtime::Driver::load(std::string(textOf(library)));
    if (!driver)
      return fail(driver.error());
    runtime::ContextScope scope(**driver);
    auto opened = runtime::Device::open(*driver, ordinal);
    if (!opened)
      return fail(opened.error());
    (*opened)->watchdog.onHang = [](const std::string &) { hung = true; };
    *device = new Fp8Device{*opened};
    return FP8_OK;
  });
}

void fp8DeviceClose(Fp8Device *device) { delete device; }

void fp8DeviceGetInfo(const Fp8Device *device, Fp8DeviceInfo *info) {
  const runtime::DeviceInfo &from = device->device->info();
  info->name = from.name.c_str();
  info->ordinal = from.ordinal;
  info->major = from.capability.major;
  info->minor = from.capability.minor;
  info->multiprocessorCount = from.multiprocessorCount;
  info->l2CacheBytes = from.l2CacheBytes;
  info->maxSharedMemoryPerBlock = from.maxSharedMemoryPerBlock;
  info->driverVersion = from.driverVersion;
  info->memoryBytes = from.memoryBytes;
}

Fp8Status fp8DeviceCanRun(const Fp8Device *device, const char *target) {
  return capi::guarded([&] {
    auto reason = runtime::whyNotRunnable(textOf(target),
                                          device->device->info().capability);
    return reason ? fail(*reason) : FP8_OK;
  });
}

Fp8Status fp8AddressOrdinal(const char *library, uint64_t address,
                            int32_t *ordinal) {
  return capi::guarded([&] {
    auto driver = runtime::Driver::load(std::string(textOf(library)));
    if (!driver)
      return fail(driver.error());
    const runtime::Driver &found = **driver;
    return statusOf(found.call(
        found.pointerGetAttribute, "cannot tell which GPU an address is on",
        ordinal, runtime::cu::PointerAttribute::DeviceOrdinal, address));
  });
}

Fp8Status fp8DeviceAwait(Fp8Device *device, void *stream) {
  return guarded(*device->device, [&] {
    return statusOf(runtime::awaitStream(
        device->device, static_cast<runtime::cu::Stream>(stream),
        "the work of a stream"));
  });
}

Fp8Status fp8DeviceSetWatchdog(Fp8Device *device, double seconds) {
  if (std::isnan(seconds))
    return fail("the watchdog's limit is no number; give it in seconds");
  device->device->watchdog.seconds = seconds;
  return FP8_OK;
}

Fp8Status fp8BufferAllocate(Fp8Device *device, const char *name, uint64_t bytes,
                            Fp8Buffer **buffer) {
  *buffer = nullptr;
  return guarded(*device->device, [&] {
    auto made = runtime::DeviceBuffer::allocate(device->device,
                                                name ? name : "buffer", bytes);
    if (!made)
      return fail(made.error());
    *buffer = new Fp8Buffer{device->device, std::move(*made)};
    return FP8_OK;
  });
}

void fp8BufferFree(Fp8Buffer *buffer) { delete buffer; }

uint64_t fp8BufferAddress(const Fp8Buffer *buffer) {
  return buffer->buffer.address();
}

Fp8Status fp8BufferUpload(Fp8Buffer *buffer, const void *data, uint64_t bytes) {
  return guarded(*buffer->device, [&] {
    auto given = capi::bytesOf(data, bytes, "what is to be uploaded");
    if (!given)
      return fail(given.error());
    if (auto error = buffer->buffer.upload(data, bytes))
      return fail(error->message);
    // The copy may still go on, and streams of the caller's that do not block
    // would not wait for it (CUDA Driver API, "API synchronization behavior").
    return statusOf(
        runtime::awaitStream(buffer->device, nullptr, "a copy to the device"));
  });
}

Fp8Status fp8BufferDownload(const Fp8Buffer *buffer, void *data,
                            uint64_t bytes) {
  return guarded(*buffer->device, [&] {
    auto given = capi::bytesOf(data, bytes, "the place to download to");
    return given ? statusOf(buffer->buffer.download(data, bytes))
                 : fail(given.error());
  });
}

Fp8Status fp8KernelLoad(Fp8Device *device, const void *image, size_t bytes,
                        const char *manifest, Fp8Kernel **kernel) {
  *kernel = nullptr;
  return guarded(*device->device, [&] {
    auto parsed = launch::parseManifest(textOf(manifest));
    if (!parsed)
      return fail("launch manifest: " + parsed.error());
    auto given = capi::bytesOf(image, bytes, "the image");
    if (!given)
      return fail(given.error());
    std::string text(*given);
    if (auto error = runtime::checkRunnable(*device->device, text, *parsed))
      return fail(error->message);
    auto loaded = runtime::Kernel::load(
        device->device, text, "the image of kernel '" + parsed->kernel + "'",
        parsed->kernel);
    if (!loaded)
      return fail(loaded.error());
    *kernel = new Fp8Kernel{std::move(*loaded), std::move(*parsed)};
    return FP8_OK;
  });
}

void fp8KernelFree(Fp8Kernel *kernel) { delete kernel; }

Fp8Status fp8LaunchPrepare(const Fp8Kernel *kernel,
                           const Fp8Argument *arguments, size_t count,
                           int programmatic, Fp8Launch **launch) {
  *launch = nullptr;
  return guarded(*kernel->kernel.device(), [&] {
    auto values = capi::argumentsOf(arguments, count);
    if (!values)
      return fail(values.error());
    const auto &device = kernel->kernel.device();
    auto plan =
        launch::bindLaunch(kernel->manifest, *values, device->properties());
    if (!plan)
      return fail(plan.error());
    auto made = std::make_unique<Fp8Launch>();
    made->device = device;
    made->argumentCount = count;
    made->profile = kernel->manifest.profile;
    if (!plan->nothingToLaunch()) {
      runtime::LaunchOptions options;
      options.programmaticSerialization = programmatic != 0;
      auto prepared = runtime::PreparedLaunch::make(
          kernel->kernel, kernel->manifest, *plan, options);
      if (!prepared)
        return fail(prepared.error());
      made->prepared.emplace(std::move(*prepared));
    }
    *launch = made.release();
    return FP8_OK;
  });
}

void fp8LaunchFree(Fp8Launch *launch) { delete launch; }

Fp8Status fp8LaunchRun(const Fp8Launch *launch) {
  return guarded(*launch->device, [&] {
    return launch->prepared ? statusOf(launch->prepared->run()) : FP8_OK;
  });
}

Fp8Status fp8LaunchEnqueue(const Fp8Launch *launch, void *stream) {
  return guarded(*launch->device, [&] {
    return launch->prepared ? statusOf(launch->prepared->enqueue(
                                  static_cast<runtime::cu::Stream>(stream)))
                            : FP8_OK;
  });
}

Fp8Status fp8LaunchEnqueueAt(const Fp8Launch *launch, const uint64_t *addresses,
                             size_t count, void *stream) {
  return guarded(*launch->device, [&] {
    if (count != launch->argumentCount)
      return fail("the launch was prepared with " +
                  std::to_string(launch->argumentCount) +
                  " arguments and is given " + std::to_string(count) +
                  " addresses");
    if (!addresses && count)
      return fail("there are " + std::to_string(count) +
                  " addresses, and their array is NULL");
    return launch->prepared
               ? statusOf(launch->prepared->enqueueAt(
                     static_cast<runtime::cu::Stream>(stream), addresses))
               : FP8_OK;
  });
}

Fp8Status fp8LaunchProfile(const Fp8Launch *launch, Fp8Timeline *timeline) {
  *timeline = {};
  return guarded(*launch->device, [&] {
    if (!launch->prepared)
      return fail("the grid is empty: there is nothing to profile");
    const runtime::Kernel &kernel = launch->prepared->kernel();
    if (!launch->profile)
      return fail(capi::noStamps(kernel.name()).message);
    std::optional<launch::Error> error;
    for (int i = 0; !error && i < runtime::kLaunchesBeforeProfile; ++i)
      error = launch->prepared->run();
    if (!error)
      error = runtime::clearStamps(kernel, *launch->profile);
    if (!error)
      error = launch->prepared->run();
    if (error)
      return statusOf(error);
    auto stamps = runtime::readStamps(kernel, *launch->profile);
    if (!stamps)
      return fail(stamps.error());
    auto made = capi::timelineOf(*launch->profile, *stamps, kernel.name());
    if (!made)
      return fail(made.error());
    *timeline = *made;
    return FP8_OK;
  });
}

Fp8Status fp8LaunchTime(const Fp8Launch *const *launches, size_t count,
                        uint32_t replays, int flush, Fp8Timing *timing) {
  if (!launches || !count)
    return fail("there is nothing to time: name launches");
  return guarded(*launches[0]->device, [&] {
    std::vector<runtime::PreparedLaunch> prepared;
    for (size_t i = 0; i < count; ++i) {
      if (launches[i]->device != launches[0]->device)
        return fail("launch " + std::to_string(i) +
                    " is on another device handle than launch 0; only "
                    "launches on the same one are timed together");
      if (launches[i]->prepared)
        prepared.push_back(*launches[i]->prepared);
    }
    runtime::TimerOptions options;
    options.clock = flush ? runtime::Clock::Flush : runtime::Clock::Graph;
    options.replays = replays;
    auto taken = runtime::timeLaunches(launches[0]->device, prepared, options);
    if (!taken)
      return fail(taken.error());
    *timing = {taken->medianMicroseconds, taken->fastestMicroseconds,
               taken->slowestMicroseconds, taken->replays,
               taken->launchesPerReplay};
    return FP8_OK;
  });
}
