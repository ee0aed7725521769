// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A module on a device. Its variables lie in the device's memory, and keep
// their values from one launch to the next, as on a GPU.

#ifndef FP8_SIMULATOR_LOADEDMODULE_H
#define FP8_SIMULATOR_LOADEDMODULE_H

#include "fp8/Simulator/Simulator.h"
#include "fp8/Simulator/Variables.h"

#include <memory>

namespace fp8::sim {

class LoadedModule {
public:
  /// A `.global` or `.const` variable.
  struct Variable {
    std::string_view name;
    uint64_t address; ///< of its first byte on the device
    uint64_t bytes;
    bool isConstant; ///< `.const`
  };

  /// Places the variables of `module`; `initial` replaces their initialisers.
  /// Null where that fails; `errors` then says why. `device` must outlive it.
  static std::unique_ptr<LoadedModule>
  load(Device &device, PTXModule module, const Variables &initial,
       std::vector<SimulationError> &errors);
  /// Releases the memory of the variables.
  ~LoadedModule();
  LoadedModule(const LoadedModule &) = delete;
  LoadedModule &operator=(const LoadedModule &) = delete;

  const PTXModule &module() const { return ptx; }
  Device &device() const { return memory; }
  const std::vector<Variable> &variables() const { return placed; }
  /// The variable called `name`, or null.
  const Variable *find(std::string_view name) const;

private:
  LoadedModule(Device &device, PTXModule module)
      : memory(device), ptx(std::move(module)) {}
  Device &memory;
  PTXModule ptx;
  std::vector<Variable> placed;

  /// The rule that is broken, or nothing.
  std::optional<SimulationError> place(const Variables &initial);
  std::optional<SimulationError> relocate();
};

/// Runs `entry` of `module`, as the other `launch` does.
Report launch(LoadedModule &module, std::string_view entry,
              const std::vector<KernelArgument> &arguments,
              const LaunchConfig &config, const Options &options = {});

} // namespace fp8::sim

#endif // FP8_SIMULATOR_LOADEDMODULE_H
