// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of fp8-run.
#ifndef FP8_TOOLS_FP8RUN_OPTIONS_H
#define FP8_TOOLS_FP8RUN_OPTIONS_H

#include "fp8/Reference/BlockwiseData.h"
#include "fp8/Reference/Epilogue.h"
#include "fp8/Simulator/Simulator.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fp8::run {

enum class BackendKind { Simulator, CUDA, Auto };

struct Options {
  std::string ptxPath;
  std::string manifestPath; ///< empty: beside the PTX
  std::string launchPath;   ///< a launch description; empty: the manifest
  BackendKind backend = BackendKind::Auto;
  std::optional<int64_t> m, n, k, batch; ///< absent: as the manifest says
  uint64_t seed = 0;
  reference::DataKind data = reference::DataKind::Normal;
  std::optional<float> beta; ///< absent: some number that is not 0
  reference::Elementwise elementwise = reference::Elementwise::None;
  uint64_t memoryLimit = uint64_t(8) << 30; ///< bytes of all buffers
  std::string timelinePath; ///< for a trace of the stamps; empty: none
  std::string dumpPath;     ///< for what the kernel wrote; empty: not kept
  bool verbose = false;

  // A GPU's.
  int device = 0;
  bool listDevices = false; ///< instead of a run
  double watchdogSeconds = 30;
  unsigned replays = 0; ///< to measure; 0: no measurement
  bool flushClock = false;
  bool programmaticLaunch = false;

  // The simulator's.
  /// Of the first schedule; the seeds of the next are + 1, ... Strict unless
  /// somebody asks, for what a manifest launches, the compiler has written, and
  /// that keeps the letter of the ISA.
  sim::Options simulation;
  unsigned schedules = 1;
  bool barriers = false; ///< tell what every mbarrier saw
  std::string tracePath; ///< for the accesses to mbarriers; empty: not kept
  /// Arguments that the preceding kernel writes, where a time is predicted. All
  /// others are constant in the launch.
  std::vector<std::string> written;
};

/// Parses the command line. Nothing when the program should end at once, with
/// `exitCode`: after --help or --version (0), or after an error that has been
/// printed (2).
std::optional<Options> parseCommandLine(int argc, const char *const *argv,
                                        int &exitCode);

} // namespace fp8::run

#endif // FP8_TOOLS_FP8RUN_OPTIONS_H
