// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the device code behind host functions, variables and handles.
#include "Modules.h"

#include "FatBinary.h"
#include "fp8/Simulator/PTXAst.h"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>

namespace fp8::cuda {

std::string Kernel::title() const {
  int status = 0;
  std::unique_ptr<char, void (*)(void *)> plain(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 ? plain.get() : name;
}

uint64_t Kernel::staticSharedBytes() const {
  const sim::ast::Module &ast = module->loaded()->module().ast();
  uint64_t bytes = 0;
  auto add = [&](const std::vector<sim::ast::Variable> &variables) {
    for (const sim::ast::Variable &variable : variables)
      if (variable.space == sim::ast::Space::Shared && !variable.isExtern)
        bytes += variable.size;
  };
  add(ast.findEntry(name)->variables);
  return bytes;
}

unsigned Kernel::maxThreads() const {
  const auto &most = entry->maxThreads, &exact = entry->requiredThreads;
  unsigned threads =
      exact[0] ? exact[0] * exact[1] * exact[2] : most[0] * most[1] * most[2];
  return threads ? std::min(threads, 1024u) : 1024;
}

std::optional<launch::Error> Module::load(sim::Device &device,
                                          unsigned architecture,
                                          const std::string &folder) {
  auto found = findPTX(image, architecture, folder);
  if (!found)
    return found.takeError();
  ptx = std::move(*found);
  auto parsed = sim::PTXModule::parse(ptx);
  if (!parsed)
    return launch::Error{parsed.diagnostics.front().str(name)};
  std::vector<sim::SimulationError> errors;
  module =
      sim::LoadedModule::load(device, std::move(parsed.module), {}, errors);
  if (!module)
    return launch::Error{name + ": " + errors.front().message};
  for (const sim::Entry &entry : module->module().entries())
    kernels[entry.name] = {this, entry.name, &entry};
  return std::nullopt;
}

Kernel *Module::findKernel(const std::string &name) {
  auto found = kernels.find(name);
  return found == kernels.end() ? nullptr : &found->second;
}

Module *Modules::add(const void *image) {
  std::string name = "module-" + std::to_string(made++) + ".ptx";
  all.push_back(std::make_unique<Module>(image, std::move(name)));
  return all.back().get();
}

bool Modules::remove(Module *module) {
  auto found = std::find_if(all.begin(), all.end(), [&](const auto &candidate) {
    return candidate.get() == module;
  });
  if (found == all.end())
    return false;
  for (auto *symbols : {&functions, &variables})
    for (auto it = symbols->begin(); it != symbols->end();)
      it = it->second.module == module ? symbols->erase(it) : std::next(it);
  all.erase(found);
  return true;
}

bool Modules::contains(const Module *module) const {
  return std::any_of(all.begin(), all.end(), [&](const auto &candidate) {
    return candidate.get() == module;
  });
}

void Modules::addFunction(const void *host, Module *module, std::string name) {
  functions[host] = {module, std::move(name)};
}

void Modules::addVariable(const void *host, Module *module, std::string name) {
  variables[host] = {module, std::move(name)};
}

void Modules::addManaged(void **host, Module *module, std::string name) {
  addVariable(host, module, name);
  managed.push_back({host, {module, std::move(name)}});
}

std::optional<launch::Error> Modules::load(Module &module) {
  if (module.loaded())
    return std::nullopt;
  if (auto error = module.load(memory.device, architecture, folder))
    return error;
  for (const auto &[host, symbol] : managed) {
    if (symbol.module != &module)
      continue;
    const auto *variable = module.loaded()->find(symbol.name);
    if (!variable || !memory.share(variable->address, variable->bytes))
      return launch::Error{"the host cannot reach the managed variable '" +
                           symbol.name + "'"};
    *host = reinterpret_cast<void *>(variable->address);
  }
  return std::nullopt;
}

launch::Expected<Kernel *> Modules::findKernel(const void *handle) {
  auto found = functions.find(handle);
  if (found == functions.end()) {
    // A handle that findKernel or a module has given out.
    auto *kernel = static_cast<Kernel *>(const_cast<void *>(handle));
    for (const auto &module : all)
      if (module->loaded())
        for (const sim::Entry &entry : module->loaded()->module().entries())
          if (module->findKernel(entry.name) == kernel)
            return kernel;
    return launch::Error{"the program launches a function that is no kernel "
                         "of its device code"};
  }
  Symbol &symbol = found->second;
  if (auto error = load(*symbol.module))
    return *error;
  if (Kernel *kernel = symbol.module->findKernel(symbol.name))
    return kernel;
  return launch::Error{symbol.module->fileName() + " has no kernel '" +
                       symbol.name + "', which the program launches"};
}

launch::Expected<const sim::LoadedModule::Variable *>
Modules::findVariable(const void *host) {
  auto found = variables.find(host);
  if (found == variables.end())
    return launch::Error{"the program names a symbol that is no variable of "
                         "its device code"};
  Symbol &symbol = found->second;
  if (auto error = load(*symbol.module))
    return *error;
  if (const auto *variable = symbol.module->loaded()->find(symbol.name))
    return variable;
  return launch::Error{symbol.module->fileName() + " has no variable '" +
                       symbol.name + "', which the program names"};
}

} // namespace fp8::cuda
