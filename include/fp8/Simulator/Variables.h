// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches that give a module's variables their values, as a host does that
// writes to them before.

#ifndef FP8_SIMULATOR_VARIABLES_H
#define FP8_SIMULATOR_VARIABLES_H

#include "fp8/Simulator/Simulator.h"

#include <map>

namespace fp8::sim {

/// What variables begin with, by name, instead of their initialisers.
using Variables = std::map<std::string, std::vector<uint8_t>>;

Report launch(Device &device, const PTXModule &module, std::string_view entry,
              const std::vector<KernelArgument> &arguments,
              const LaunchConfig &config, const Options &options,
              const Variables &variables);

} // namespace fp8::sim

#endif // FP8_SIMULATOR_VARIABLES_H
