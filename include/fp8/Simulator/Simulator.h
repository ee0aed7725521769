// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Executes a PTX kernel functionally, for sm_90a and sm_100a. Computes the
// numbers and reports every broken rule of the asynchronous machinery
// (mbarriers, TMA, tensor memory, wgmma, fences). Asynchronous work completes
// late, in an order that a seed chooses; until then its data is poison. Runs
// with the same seed are identical.

#ifndef FP8_SIMULATOR_SIMULATOR_H
#define FP8_SIMULATOR_SIMULATOR_H

#include "fp8/Chip/Chip.h"
#include "fp8/Simulator/Device.h"
#include "fp8/Simulator/PTXModule.h"
#include "fp8/Simulator/Report.h"
#include "fp8/Simulator/TensorMap.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

namespace fp8::sim {

/// The value of one `.param`: bytes, and where tensor maps lie in them.
class KernelArgument {
public:
  struct Field;

  static KernelArgument bytes(std::vector<uint8_t> value) {
    return KernelArgument(std::move(value), {});
  }
  /// The 128 bytes of a map, which are checked at the launch.
  static KernelArgument tensorMap(const TensorMap &map) {
    return KernelArgument(map.encode(), {0});
  }
  /// A scalar or an address.
  template <typename T>
  static KernelArgument value(T scalar) {
    static_assert(std::is_trivially_copyable<T>::value,
                  "an argument is plain bytes");
    std::vector<uint8_t> bytes(sizeof(T));
    std::memcpy(bytes.data(), &scalar, sizeof(T));
    return KernelArgument(std::move(bytes), {});
  }
  /// A struct passed by value: the fields, over `background`. Every field must
  /// lie in it. A tensor map must be aligned to 64 bytes in the parameter
  /// space, as for TMA.
  static KernelArgument structure(std::vector<uint8_t> background,
                                  const std::vector<Field> &fields);

  const std::vector<uint8_t> &content() const { return data; }
  /// The offsets of the tensor maps.
  const std::vector<size_t> &tensorMaps() const { return maps; }

private:
  KernelArgument(std::vector<uint8_t> data, std::vector<size_t> maps)
      : data(std::move(data)), maps(std::move(maps)) {}
  std::vector<uint8_t> data;
  std::vector<size_t> maps;
};

struct KernelArgument::Field {
  size_t offset; ///< bytes
  KernelArgument value;
};

struct LaunchConfig {
  std::array<uint32_t, 3> grid{1, 1, 1};  ///< CTAs
  std::array<uint32_t, 3> block{1, 1, 1}; ///< threads
  std::array<uint32_t, 3> cluster{1, 1, 1};
  uint64_t dynamicSharedBytes = 0;
  /// The kernel may start before the preceding kernel ends.
  bool programmatic = false;
  /// It may read what is constant before that kernel has ended, and reads are
  /// not told apart.
  bool readsConstants = false;
  /// %envreg0 to %envreg31 (PTX ISA 10.33), which the driver defines. For a
  /// cooperative launch of CUDA, 1 and 2 are the high and the low half of the
  /// address of 8 zero bytes, with which the grid synchronises.
  std::array<uint32_t, 32> environment{};
};

/// When asynchronous work takes effect. Comparison with AtIssue shows which
/// faults only late completion reveals.
enum class Completion : uint8_t { Late, AtIssue };

/// What the user of a program calls an option, in messages that name it as a
/// cure or a cause.
struct OptionNames {
  std::string multiprocessors = "Options::multiprocessorCount";
  std::string residentClusters = "Options::residentClusters";
  std::string timing = "Options::timing";
};

struct Options {
  uint64_t scheduleSeed = 0;
  Completion completion = Completion::Late;
  uint64_t stepLimit = uint64_t(1)
                       << 33; ///< warp instructions in the whole launch
  uint64_t gridLimit = uint64_t(1) << 20; ///< CTAs
  unsigned maxErrors = 8; ///< the run stops after that many; warnings are none
  bool strict = false;    ///< warnings are errors
  /// Bytes of shared memory that a CTA may use.
  uint64_t sharedMemoryLimit = chip::getMostSharedMemory();
  /// %nsmid; 0: those of the GPU that stands for the kernel's chip
  /// (chip::getMultiprocessors).
  unsigned multiprocessorCount = 0;
  /// CTAs of the kernel that a multiprocessor holds at the same time; at
  /// least 1. The simulator does not know how many registers a thread takes.
  unsigned ctasPerMultiprocessor = 1;
  /// Clusters that run at the same time; 0: the seed chooses. A kernel whose
  /// clusters wait for each other needs all clusters of its grid.
  unsigned residentClusters = 0;
  /// Adds up products exactly and rounds to nearest, as no chip does
  /// (docs/Numerics.md).
  bool exactAccumulation = false;
  /// Predicts the time of the launch (Report::time). Runs two
  /// clusters, on one thread, and computes no matrix products, so the results
  /// are meaningless. An error for chips without constants (fp8/Chip/Timing.h).
  bool timing = false;
  std::string timedGpu; ///< "h100"; empty: the first that has the chip
  OptionNames names;
  /// Threads of the host that run clusters; 0: one for each of its cores. They
  /// change the time that a launch takes, and nothing else.
  unsigned threads = 0;
  /// Called after some ten thousand warp instructions of each cluster that
  /// runs, and at least once for each cluster, with the number of CTAs that
  /// have ended and of all CTAs. If it returns false, the run ends with an
  /// error. It has no other effect. May be empty.
  std::function<bool(uint64_t ended, uint64_t ctas)> progress;
  /// Called for each access to an mbarrier, in the order of the schedule, and
  /// so of each lane in the order of its program. May be empty; else one thread
  /// runs all clusters.
  std::function<void(const BarrierAccess &access)> onBarrierAccess;
  /// Called for what a thread has printed, also with what Report::printed
  /// drops, by the thread that called launch(). May be empty.
  std::function<void(const PrintedText &printed)> onPrint;
};

/// Runs `entry` of `module`. Every instruction of the kernel is decoded before
/// anything runs. The numbers are valid only if the report is ok.
Report launch(Device &device, const PTXModule &module, std::string_view entry,
              const std::vector<KernelArgument> &arguments,
              const LaunchConfig &config, const Options &options = {});

} // namespace fp8::sim

#endif // FP8_SIMULATOR_SIMULATOR_H
