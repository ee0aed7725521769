// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The syntax tree of a PTX module. Registers are resolved to indices while
// parsing (they are declared before use); labels and symbols by the decoder.

#ifndef FP8_SIMULATOR_PTXAST_H
#define FP8_SIMULATOR_PTXAST_H

#include "fp8/Simulator/PTXModule.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fp8::sim::ast {

enum class Space : uint8_t { Generic, Global, Shared, Local, Const, Param };

struct Operand {
  enum class Kind : uint8_t {
    Register, ///< index
    Special,  ///< name, e.g. "%tid.x"
    Integer,  ///< value
    Float,    ///< real; `bits` 0 for a decimal literal, 32 or 64 for 0f and 0d
              ///< forms (then value holds the bits)
    Symbol,   ///< name: a variable, parameter, label or function; + offset
    Vector,   ///< elements
    Address,  ///< elements[0] is the base (register, symbol, integer); offset;
              ///< elements[1] tensor coordinates
    Pair,     ///< elements: `%p|%q`
    Sink,     ///< `_`
    List,     ///< elements: the parenthesised lists of a call
  };
  Kind kind = Kind::Sink;
  bool negated = false; ///< `!%p`
  uint8_t bits = 0;
  uint32_t index = 0;
  uint64_t value = 0;
  double real = 0;
  int64_t offset = 0;
  std::string name;
  std::vector<Operand> elements;
  unsigned column = 0;
};

struct Instruction {
  std::string opcode;
  std::vector<std::string>
      qualifiers; ///< without the dot, as written: "shared::cta", "v4", "f32"
  std::vector<Operand> operands;
  int32_t guard = -1; ///< predicate register, or -1
  bool guardNegated = false;
  unsigned line = 0;
  unsigned column = 0;
  uint32_t location = 0; ///< index into Function::locations
  uint32_t scope = 0;    ///< index into Function::scopeParents

  /// "opcode.q1.q2".
  std::string mnemonic() const;
};

struct Location {
  unsigned file = 0;
  unsigned line = 0;
};

struct Register {
  std::string name;
  unsigned bits = 32; ///< 1 for predicates
};

struct Variable {
  std::string name;
  Space space = Space::Global;
  bool isExtern = false;
  uint64_t align = 1;
  uint64_t elementBytes = 1;
  uint64_t size = 0; ///< bytes; 0 for an unsized array
  bool unsized = false;
  unsigned line = 0;
  uint32_t scope = 0; ///< of a function's: index into Function::scopeParents
  std::vector<uint8_t> initialiser;
  /// Addresses of symbols within the initialiser.
  struct Relocation {
    uint64_t offset;
    std::string symbol;
    int64_t addend;
    /// Of the bits of the address that it holds, from its lowest bit on.
    uint64_t mask = ~uint64_t(0);
  };
  std::vector<Relocation> relocations;
};

/// `.callprototype` or `.calltargets`.
struct Prototype {
  std::vector<EntryParameter> returns, parameters; ///< of `.callprototype`
  std::vector<std::string> targets;                ///< of `.calltargets`
};

struct Function {
  bool isEntry = false;
  bool hasBody = false;
  Entry signature;
  std::vector<EntryParameter> returns;
  std::vector<Register> registers;
  std::vector<Variable> variables;
  std::vector<Instruction> instructions;
  std::vector<Location> locations{Location{}};
  std::vector<int32_t> scopeParents{-1};
  /// (scope, label) to the index of the instruction that follows.
  std::map<std::pair<uint32_t, std::string>, uint32_t> labels;
  /// `.branchtargets` lists by label.
  std::map<std::pair<uint32_t, std::string>, std::vector<std::string>>
      branchTargets;
  std::map<std::pair<uint32_t, std::string>, Prototype>
      prototypes; ///< by label
  unsigned line = 0;
};

struct Module {
  unsigned version = 0;
  std::string target;
  std::vector<Variable> variables;
  std::vector<Function> functions;
  std::vector<Entry> entries;
  std::map<unsigned, std::string> files;
  /// `.alias`: the function that a name stands for. The parser has put that
  /// function's name in the place of the other.
  std::map<std::string, std::string> aliases;

  const Function *findEntry(std::string_view name) const;
  /// The index of the function of this name: with a body, or else declared.
  std::optional<size_t> findFunction(std::string_view name) const;
};

} // namespace fp8::sim::ast

#endif // FP8_SIMULATOR_PTXAST_H
