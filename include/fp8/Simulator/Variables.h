// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches with initial values for a module's variables, as if the host had
// written them before the launch.

#ifndef FP8_SIMULATOR_VARIABLES_H
#define FP8_SIMULATOR_VARIABLES_H

#include "fp8/Simulator/Simulator.h"

#include <map>

namespace fp8::sim {

/// The initial bytes of variables, by name, which replace their initialisers.
using Variables = std::map<std::string, std::vector<uint8_t>>;

Report launch(Device &device, const PTXModule &module, std::string_view entry,
              const std::vector<KernelArgument> &arguments,
              const LaunchConfig &config, const Options &options,
              const Variables &variables);

} // namespace fp8::sim

#endif // FP8_SIMULATOR_VARIABLES_H
