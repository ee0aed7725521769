// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes launches as descriptions that fp8-run takes (docs/launch.schema.json).
#ifndef FP8_LIB_SIMULATEDCUDA_RECORDER_H
#define FP8_LIB_SIMULATEDCUDA_RECORDER_H

#include "fp8/Launch/Expected.h"
#include "fp8/Simulator/Simulator.h"

#include <string>

namespace fp8::cuda {

class Memory;
class Module;

/// What is recorded of a launch, before it runs.
struct RecordedLaunch {
  Module &module;
  const std::string &entry;
  const sim::LaunchConfig &config;
  const std::vector<sim::KernelArgument> &arguments;
  bool cooperative;
};

/// Writes `launch` to the folder `name` of `folder`: launch.json, the bytes of
/// every buffer, and the PTX in `folder`. Words that hold the address of a
/// buffer, and tensor maps, become fields, so that the buffers may lie
/// elsewhere. Returns why that fails, or nothing.
std::optional<launch::Error> record(const std::string &folder,
                                    const std::string &name,
                                    const RecordedLaunch &launch,
                                    Memory &memory);

} // namespace fp8::cuda

#endif // FP8_LIB_SIMULATEDCUDA_RECORDER_H
