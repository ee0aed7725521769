// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places the variables of a module in the memory of a device.

#include "fp8/Simulator/LoadedModule.h"

#include "Program/Program.h"
#include "fp8/Simulator/PTXAst.h"

using namespace fp8::sim;

static SimulationError failure(std::string message,
                               ErrorKind kind = ErrorKind::InvalidLaunch) {
  SimulationError error{kind};
  error.message = std::move(message);
  return error;
}

static bool liesOnDevice(const ast::Variable &variable) {
  return variable.space == ast::Space::Global ||
         variable.space == ast::Space::Const;
}

std::unique_ptr<LoadedModule>
LoadedModule::load(Device &device, PTXModule module, const Variables &initial,
                   std::vector<SimulationError> &errors) {
  std::unique_ptr<LoadedModule> loaded(
      new LoadedModule(device, std::move(module)));
  auto broken = loaded->place(initial);
  if (!broken)
    broken = loaded->relocate();
  if (!broken)
    return loaded;
  errors.push_back(std::move(*broken));
  return nullptr;
}

LoadedModule::~LoadedModule() {
  for (const Variable &variable : placed)
    memory.release(variable.address);
}

const LoadedModule::Variable *LoadedModule::find(std::string_view name) const {
  for (const Variable &variable : placed)
    if (variable.name == name)
      return &variable;
  return nullptr;
}

std::optional<SimulationError> LoadedModule::place(const Variables &initial) {
  for (const auto &[name, bytes] : initial)
    if (std::none_of(ptx.ast().variables.begin(), ptx.ast().variables.end(),
                     [&](const ast::Variable &variable) {
                       return variable.name == name;
                     }))
      return failure("the PTX has no variable '" + name +
                     "', for which there are initial values");
  for (const ast::Variable &variable : ptx.ast().variables) {
    if (!liesOnDevice(variable))
      continue;
    if (variable.isExtern)
      return failure("variable '" + variable.name +
                     "' is extern, but nothing defines it");
    const bool isConstant = variable.space == ast::Space::Const;
    auto address =
        memory.allocate(variable.name, variable.size, {isConstant, false});
    if (!address)
      return failure("no memory for variable '" + variable.name + "'",
                     ErrorKind::LimitExceeded);
    placed.push_back({variable.name, *address, variable.size, isConstant});
    memory.write(*address, variable.initialiser.data(),
                 variable.initialiser.size());
    auto given = initial.find(variable.name);
    if (given != initial.end() &&
        !memory.write(*address, given->second.data(), given->second.size()))
      return failure("variable '" + variable.name + "' has " +
                     std::to_string(variable.size) +
                     " bytes, but the launch gives it " +
                     std::to_string(given->second.size()));
  }
  return std::nullopt;
}

/// Writes the addresses of variables and functions that initialisers name.
std::optional<SimulationError> LoadedModule::relocate() {
  for (const ast::Variable &variable : ptx.ast().variables) {
    if (!liesOnDevice(variable))
      continue;
    for (const ast::Variable::Relocation &relocation : variable.relocations) {
      const Variable *symbol = find(relocation.symbol);
      std::optional<size_t> function =
          ptx.ast().findFunction(relocation.symbol);
      if (!symbol && !function)
        return failure("the initialiser of '" + variable.name + "' names '" +
                       relocation.symbol + "', which is not in the module");
      uint64_t target =
          (symbol ? symbol->address : functionAddress(*function)) +
          uint64_t(relocation.addend);
      target = (target & relocation.mask) >> __builtin_ctzll(relocation.mask);
      memory.write(find(variable.name)->address + relocation.offset, &target,
                   variable.elementBytes);
    }
  }
  return std::nullopt;
}
