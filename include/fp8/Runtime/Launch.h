// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels, and launches of them by a launch plan.
#ifndef FP8_RUNTIME_LAUNCH_H
#define FP8_RUNTIME_LAUNCH_H

#include "fp8/Launch/LaunchPlan.h"
#include "fp8/Runtime/Stream.h"

namespace fp8::runtime {

/// A kernel of a loaded module.
class Kernel {
public:
  /// `image` is PTX text or a cubin, which `imageName` names in errors.
  static Expected<Kernel> load(std::shared_ptr<Device> device,
                               const std::string &image,
                               const std::string &imageName,
                               const std::string &kernelName);

  const std::string &name() const { return kernelName; }
  const std::shared_ptr<Device> &device() const { return kernelDevice; }
  cu::Function handle() const { return function; }
  cu::Module module() const { return loadedModule; }

  int registers = 0;  ///< of a thread
  int localBytes = 0; ///< of a thread: stack and spilled registers
  int staticSharedBytes = 0;
  int maxThreadsPerBlock = 0;

  /// The bytes of each parameter; nothing if the driver is too old to know.
  std::optional<std::vector<uint64_t>> parameterBytes() const;

  /// Allows this much dynamic shared memory, and clusters of more than 8
  /// blocks. The driver rejects launches that need them otherwise
  /// (CU_FUNC_ATTRIBUTE_...).
  std::optional<Error> allow(uint32_t dynamicSharedBytes,
                             bool nonPortableCluster);

private:
  Kernel() = default;

  std::shared_ptr<Device> kernelDevice;
  std::string kernelName;
  cu::Module loadedModule = nullptr;
  cu::Function function = nullptr;
};

/// Checks by its target whether the device can run the image; the target of a
/// cubin is the manifest's chip.
std::optional<Error> checkRunnable(const Device &device,
                                   const std::string &image,
                                   const launch::Manifest &manifest);

struct LaunchOptions {
  /// Programmatic dependent launch: blocks may start before the preceding
  /// kernel in the stream ends, if that kernel allows it (griddepcontrol). It
  /// is also set if the manifest says so and the driver is of CUDA 12.3 or
  /// later.
  bool programmaticSerialization = false;
};

/// A launch with its parameters encoded, ready to be enqueued any number of
/// times. The buffers that it uses must outlive it.
class PreparedLaunch {
public:
  /// The plan must be one of this manifest and launch something.
  static Expected<PreparedLaunch> make(Kernel kernel,
                                       const launch::Manifest &manifest,
                                       const launch::LaunchPlan &plan,
                                       LaunchOptions options = {});

  const Kernel &kernel() const { return launchedKernel; }
  std::optional<Error> enqueue(const Stream &stream) const {
    return enqueue(stream.handle());
  }
  std::optional<Error> enqueue(cu::Stream stream) const {
    return enqueueAt(stream, ownAddresses.data());
  }
  /// The same on other arrays with the same types, shapes and strides;
  /// `addresses` has one address for each argument of the manifest; 0 is an
  /// error where the argument has elements. Several threads may use the launch
  /// at the same time. If the stream captures a graph, the kernel is told which
  /// arguments are constant in it (CapturedLaunches).
  std::optional<Error> enqueueAt(cu::Stream stream,
                                 const uint64_t *addresses) const;
  /// Enqueues to a separate stream, and waits for the end.
  std::optional<Error> run() const;
  /// "kernel 'gemm' (grid 6x1x1, block 384x1x1, cluster 2x1x1, 229376 bytes of
  /// dynamic shared memory)"
  std::string str() const;

private:
  explicit PreparedLaunch(Kernel kernel) : launchedKernel(std::move(kernel)) {}

  /// A parameter's bytes; as large and aligned as the largest.
  using Parameter = cu::TensorMap;
  /// The source of a parameter's address.
  struct AddressOf {
    std::optional<unsigned> argument; ///< none: the parameter is a scalar
    uint64_t address = 0;             ///< that the parameter has already
    std::string name;                 ///< of the argument, for errors
    bool inTensorMap = false;
  };

  /// A parameter that says whether arguments are constant, where the caller
  /// does not promise it.
  struct Constancy {
    size_t parameter;
    std::vector<unsigned> arguments;
  };

  /// The bytes of these arguments, at `addresses`.
  std::vector<launch::BoundBytes> locate(const std::vector<unsigned> &which,
                                         const uint64_t *addresses) const;
  std::optional<Error>
  enqueueValues(cu::Stream stream, const std::vector<Parameter> &values) const;

  Kernel launchedKernel;
  std::array<uint32_t, 3> grid{}, block{}, cluster{};
  uint32_t sharedMemoryBytes = 0;
  LaunchOptions options;
  std::vector<Parameter> parameters;
  std::vector<AddressOf> addressesOf; ///< of each parameter
  std::vector<Constancy> constancies;
  std::vector<uint64_t> ownAddresses;  ///< of each argument of the manifest
  std::vector<uint64_t> argumentBytes; ///< likewise, as BoundBytes has them
  std::vector<std::string> names;      ///< likewise
  std::vector<unsigned> written;       ///< arguments that the kernel writes
  /// False if the following kernel may start before all in front of this one
  /// has ended.
  bool isOrdered = true;
};

} // namespace fp8::runtime

#endif // FP8_RUNTIME_LAUNCH_H
