// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one simulated GPU of a process.
#ifndef FP8_LIB_SIMULATEDCUDA_GPU_H
#define FP8_LIB_SIMULATEDCUDA_GPU_H

#include "Memory.h"
#include "Modules.h"
#include "Streams.h"
#include "fp8/Chip/Chip.h"
#include "fp8/SimulatedCuda/Settings.h"

#include <map>
#include <mutex>

namespace fp8::cuda {

/// A launch, with copies of its arguments.
struct KernelLaunch {
  Kernel *kernel = nullptr;
  cudaStream_t stream = nullptr;
  sim::LaunchConfig config;
  bool cooperative = false; ///< all CTAs run at the same time
  std::vector<sim::KernelArgument> arguments;
};

class Gpu {
public:
  /// The GPU, which the first call makes.
  static Gpu &get();

  const Settings settings;
  const chip::Chip &chip;
  Memory memory;
  Modules modules;
  Streams streams;
  Findings findings;
  std::recursive_mutex mutex; ///< of all of the above

  /// The number in `sm_100a`; also the compute capability, times ten.
  unsigned architecture() const;

  /// Simulates a launch, and says what the simulator found. After an error
  /// every later call fails, as behind a fault of a GPU.
  cudaError_t run(const KernelLaunch &launch);

  /// Says what went wrong, and returns `status`.
  cudaError_t fail(cudaError_t status, const std::string &message);
  void warn(const std::string &message);
  /// Of a function that is not there.
  cudaError_t refuse(const char *function);
  /// Keeps a status for cudaGetLastError, and returns it.
  cudaError_t keep(cudaError_t status);
  /// The kept status; `clear` forgets it, unless it is a fault.
  cudaError_t lastError(bool clear);
  cudaError_t fault() const { return faultStatus; }

  /// Writes the findings to this process's file in the folder that the settings
  /// name.
  void writeFindings() const;

private:
  explicit Gpu(Settings settings);
  void beginFindings();
  std::string reportPath;
  cudaError_t faultStatus = cudaSuccess;
  /// By stream: whether its last kernel may let the next one start early.
  std::map<cudaStream_t, bool> startsDependents;

  sim::Report simulate(const KernelLaunch &launch, uint64_t seed);
  cudaError_t judge(const KernelLaunch &launch, const sim::Report &report);
  bool repeat(const KernelLaunch &launch, const Memory::Snapshot &before);
};

/// Runs `body` on the GPU, one thread at a time, and keeps its status.
template <typename Body>
cudaError_t onGpu(Body body) {
  Gpu &gpu = Gpu::get();
  std::lock_guard<std::recursive_mutex> lock(gpu.mutex);
  if (gpu.fault() != cudaSuccess)
    return gpu.keep(gpu.fault());
  return gpu.keep(body(gpu));
}

} // namespace fp8::cuda

#endif // FP8_LIB_SIMULATEDCUDA_GPU_H
