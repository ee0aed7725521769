// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes one function of a kernel and all functions that it may call, so that
// the decoder and the warps know one sequence of instructions and one set of
// registers.

#ifndef FP8_LIB_SIMULATOR_PROGRAM_LINKER_H
#define FP8_LIB_SIMULATOR_PROGRAM_LINKER_H

#include "fp8/Simulator/PTXAst.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace fp8::sim {

/// A function of the module, and where it lies among the others.
struct LinkedFunction {
  const ast::Function *source = nullptr;
  size_t index = 0;         ///< in the module
  uint32_t instruction = 0; ///< its first
  uint32_t reg = 0;         ///< its first register
  uint32_t scope = 0;       ///< its outermost
  bool recursive = false;   ///< may be called while it runs
};

class LinkedKernel {
public:
  /// The module must outlive the kernel.
  LinkedKernel(const ast::Module &module, const ast::Function &entry);

  /// The entry's instructions, then those of the functions.
  const ast::Function &code() const { return merged ? *merged : *entry; }
  /// The entry comes first.
  const std::vector<LinkedFunction> &functions() const { return parts; }
  /// The index of the function that the instruction is of.
  uint32_t functionOf(uint32_t instruction) const;
  /// The index of a function with a body, or nothing.
  std::optional<uint32_t> find(std::string_view name) const;

private:
  const ast::Function *entry;
  std::vector<LinkedFunction> parts;
  std::optional<ast::Function> merged; ///< if there are several

  void collect(const ast::Module &module);
  void merge();
};

/// How a call instruction is written (PTX ISA 9.7.12.5); null: not given.
struct CallOperands {
  const ast::Operand *results = nullptr, *callee = nullptr,
                     *arguments = nullptr, *prototype = nullptr;
  explicit CallOperands(const ast::Instruction &call);
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_PROGRAM_LINKER_H
