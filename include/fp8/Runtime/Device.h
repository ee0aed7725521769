// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A GPU: its primary context, its properties, its memory, and the modules that
// are loaded on it.
#ifndef FP8_RUNTIME_DEVICE_H
#define FP8_RUNTIME_DEVICE_H

#include "fp8/Launch/Expression.h"
#include "fp8/Launch/WaitRecords.h"
#include "fp8/Runtime/Capture.h"
#include "fp8/Runtime/Driver.h"
#include "fp8/Runtime/Target.h"

#include <atomic>
#include <functional>
#include <mutex>
#include <unordered_map>

namespace fp8::runtime {

struct DeviceInfo {
  int ordinal = 0;
  std::string name;
  Capability capability;
  int multiprocessorCount = 0;
  int l2CacheBytes = 0;
  int maxSharedMemoryPerBlock = 0; ///< that a kernel can opt in to
  uint64_t memoryBytes = 0;
  int driverVersion = 0; ///< 1000 * major + 10 * minor of CUDA
};

/// The time limit for work, and the handler for work that exceeds it.
struct Watchdog {
  std::atomic<double> seconds{30}; ///< may change while threads wait
  /// Called once with the message. Only the end of the process ends a kernel
  /// that hangs, so a program ends itself here. If this returns, or is empty,
  /// the message is returned as an error. Set it before work begins.
  std::function<void(const std::string &)> onHang;
};

/// An open GPU. All functions except destructors need its context to be current
/// on the calling thread. `open` makes it current. Other threads, and threads
/// that have opened another device since, call makeCurrent or hold a
/// ContextScope.
class Device : public std::enable_shared_from_this<Device> {
public:
  /// Initialises the driver and makes the device's primary context current.
  static Expected<std::shared_ptr<Device>>
  open(std::shared_ptr<const Driver> driver, int ordinal = 0);
  ~Device();
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  const Driver &driver() const { return *driverTable; }
  const DeviceInfo &info() const { return deviceInfo; }
  /// The properties that the expressions of a manifest use.
  launch::DeviceProperties properties() const;
  /// "NVIDIA H200 (device 0)"
  std::string str() const;

  /// Makes the context current on the calling thread.
  std::optional<Error> makeCurrent() const;
  bool isContext(cu::Context other) const { return context == other; }

  Watchdog watchdog;
  /// Treats work as hung: calls the watchdog.
  void giveUp(const std::string &message) const;
  /// Whether work has been treated as hung. The driver waits for such work
  /// before it frees anything, so nothing of the device is freed from then on.
  bool isHung() const { return hung; }

  /// Loads the module of an image (PTX text or a cubin); errors call it `name`.
  /// The same bytes are loaded only once, from any thread.
  Expected<cu::Module> loadModule(const std::string &image,
                                  const std::string &name);
  size_t loadedModules() const;
  /// Allows launches of the function to use `bytes` of dynamic shared memory.
  std::optional<Error> allowDynamicShared(cu::Function function, uint32_t bytes,
                                          const std::string &what);
  /// Allocates memory, once, for the records of the module's waits that time
  /// out (fp8-debug-waits); `kernel` is its kernel.
  std::optional<Error> keepWaitRecords(cu::Module module,
                                       const std::string &kernel,
                                       const launch::WaitTable &table);
  /// Describes the records of such waits so far; empty if none timed out. Also
  /// works after a kernel has failed, when other calls do not.
  std::vector<std::string> waitsGivenUp() const;

  CapturedLaunches &captured() const { return capturedLaunches; }

private:
  struct KeptRecords {
    cu::Module module;
    std::string kernel;
    launch::WaitTable table;
    void *memory; ///< of the host, mapped
  };

  Device() = default;
  std::optional<Error> query();
  void forgetWaitRecords();

  std::shared_ptr<const Driver> driverTable;
  DeviceInfo deviceInfo;
  cu::Device handle = 0;
  cu::Context context = nullptr;
  mutable std::atomic<bool> hung{false};
  mutable std::mutex modulesMutex;                     ///< for what follows
  std::unordered_map<std::string, cu::Module> modules; ///< by their contents
  std::unordered_map<cu::Function, uint32_t> dynamicShared; ///< most allowed
  std::vector<KeptRecords> waitRecords;
  mutable CapturedLaunches capturedLaunches;
};

/// Saves this thread's current context and restores it at the end, since the
/// thread may belong to a program that uses CUDA itself.
class ContextScope {
public:
  explicit ContextScope(const Driver &driver);
  /// Makes the device's context current until the end of the scope.
  explicit ContextScope(const Device &device);
  ~ContextScope();
  ContextScope(const ContextScope &) = delete;
  ContextScope &operator=(const ContextScope &) = delete;

  const std::optional<Error> &error() const { return failed; }

private:
  const Driver &driver;
  cu::Context previous = nullptr;
  bool changesNothing = false; ///< the device's context was current
  std::optional<Error> failed;
};

/// Memory of a device.
class DeviceBuffer {
public:
  /// `name` is for errors. `bytes` may be 0.
  static Expected<DeviceBuffer> allocate(std::shared_ptr<const Device> device,
                                         const std::string &name,
                                         uint64_t bytes);
  DeviceBuffer(DeviceBuffer &&other) noexcept;
  DeviceBuffer &operator=(DeviceBuffer &&other) noexcept;
  ~DeviceBuffer();

  const std::string &name() const { return bufferName; }
  uint64_t size() const { return bytes; }
  uint64_t address() const { return pointer; }

  std::optional<Error> fill(uint8_t value);
  std::optional<Error> upload(const void *data, uint64_t size,
                              uint64_t offset = 0);
  std::optional<Error> download(void *data, uint64_t size,
                                uint64_t offset = 0) const;

private:
  DeviceBuffer() = default;

  std::shared_ptr<const Device> device;
  std::string bufferName;
  cu::DevicePointer pointer = 0;
  uint64_t bytes = 0;
};

} // namespace fp8::runtime

#endif // FP8_RUNTIME_DEVICE_H
