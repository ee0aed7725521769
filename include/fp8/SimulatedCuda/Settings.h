// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The settings of the simulated GPU that CUDA programs see, and what it found
// in a program. fp8-simulate passes the settings to the program's process, and
// gets the findings back, as JSON.
#ifndef FP8_SIMULATEDCUDA_SETTINGS_H
#define FP8_SIMULATEDCUDA_SETTINGS_H

#include <cstdint>
#include <optional>
#include <string>

namespace fp8::cuda {

/// The environment variable that has the settings.
constexpr const char *kSettingsVariable = "FP8_SIMULATE";

struct Settings {
  std::string chip = "sm_100a"; ///< a name of chip::getChips()
  unsigned multiprocessors = 16;
  uint64_t memoryLimit = uint64_t(16) << 30; ///< bytes of device memory
  uint64_t scheduleSeed = 0;
  /// Runs of each launch, with consecutive seeds; the results must agree.
  unsigned schedules = 1;
  unsigned residentClusters = 0; ///< 0: some, as the seed chooses
  unsigned threads = 0;          ///< of the host; 0: one for each core
  unsigned maxErrors = 8;        ///< after which a launch stops
  bool strict = false;           ///< warnings are errors
  bool keepGoing = false;        ///< a launch with errors does not fail
  bool completeAtIssue = false;  ///< asynchronous work completes at once
  /// Memory of cudaMalloc that nothing has written counts as uninitialised.
  bool initcheck = false;
  bool quiet = false;  ///< no line for each launch
  std::string ptx;     ///< the folder with the PTX of machine code; or empty
  std::string capture; ///< the folder for launch descriptions; empty: none
  std::string report;  ///< the folder for each process's findings; empty: none
};

/// One object of JSON.
std::string toJson(const Settings &settings);
/// Nothing where `text` is none; members that it lacks have their defaults.
std::optional<Settings> parseSettings(const std::string &text);

/// What became of a program's launches.
struct Findings {
  uint64_t launches = 0;
  uint64_t warpInstructions = 0;
  uint64_t errors = 0;
  uint64_t warnings = 0;
  /// CUDA functions that were called, but that the simulated GPU lacks.
  uint64_t unsupportedCalls = 0;
  double seconds = 0; ///< in which kernels ran

  /// Those of two processes.
  Findings operator+(const Findings &other) const;
};

std::string toJson(const Findings &findings);
std::optional<Findings> parseFindings(const std::string &text);

} // namespace fp8::cuda

#endif // FP8_SIMULATEDCUDA_SETTINGS_H
