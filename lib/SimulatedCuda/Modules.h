// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Device code that a program has registered or loaded.
#ifndef FP8_LIB_SIMULATEDCUDA_MODULES_H
#define FP8_LIB_SIMULATEDCUDA_MODULES_H

#include "Memory.h"
#include "fp8/Launch/Expected.h"
#include "fp8/Simulator/LoadedModule.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace fp8::cuda {

class Module;

/// A `__global__` function. Handles of CUDA point to one.
struct Kernel {
  Module *module = nullptr;
  std::string name; ///< in the PTX
  const sim::Entry *entry = nullptr;
  // cudaFuncSetAttribute
  uint64_t dynamicSharedLimit = 48 << 10; ///< bytes
  bool allowsLargeClusters = false;       ///< of more than 8 CTAs

  /// "gemm(float*, int)" for a mangled name.
  std::string title() const;
  uint64_t staticSharedBytes() const;
  unsigned maxThreads() const;
};

/// A module. Modules::load parses it and places its variables at its first use,
/// since most programs use few of theirs.
class Module {
public:
  /// `image`: PTX text or a fat binary, which must outlive the module unless
  /// `load` follows at once.
  Module(const void *image, std::string name)
      : image(image), name(std::move(name)) {}

  /// `folder`: with the PTX of machine code, or empty.
  std::optional<launch::Error> load(sim::Device &device, unsigned architecture,
                                    const std::string &folder);
  sim::LoadedModule *loaded() { return module.get(); }
  /// The text of the PTX; empty before `load`.
  const std::string &text() const { return ptx; }
  /// "module-0.ptx", for messages and files.
  const std::string &fileName() const { return name; }
  /// The kernel with this name, or null. Call `load` first.
  Kernel *findKernel(const std::string &name);

private:
  const void *image;
  std::string name;
  std::string ptx;
  std::unique_ptr<sim::LoadedModule> module;
  std::map<std::string, Kernel> kernels;
};

class Modules {
public:
  Modules(Memory &memory, unsigned architecture, std::string folder)
      : memory(memory), architecture(architecture), folder(std::move(folder)) {}

  Module *add(const void *image);
  /// False where `module` is none.
  bool remove(Module *module);
  bool contains(const Module *module) const;

  /// What nvcc's start-up code tells: `host` stands for a function or variable.
  void addFunction(const void *host, Module *module, std::string name);
  void addVariable(const void *host, Module *module, std::string name);
  /// Of a `__managed__` variable: `*host` becomes its address.
  void addManaged(void **host, Module *module, std::string name);

  /// The kernel that `handle`, a host function or a handle, stands for.
  launch::Expected<Kernel *> findKernel(const void *handle);
  launch::Expected<const sim::LoadedModule::Variable *>
  findVariable(const void *host);
  std::optional<launch::Error> load(Module &module);

private:
  struct Symbol {
    Module *module;
    std::string name;
  };
  Memory &memory;
  unsigned architecture;
  std::string folder; ///< with the PTX of machine code
  unsigned made = 0;
  std::vector<std::unique_ptr<Module>> all;
  std::map<const void *, Symbol> functions, variables;
  std::vector<std::pair<void **, Symbol>> managed; ///< of unloaded modules
};

} // namespace fp8::cuda

#endif // FP8_LIB_SIMULATEDCUDA_MODULES_H
