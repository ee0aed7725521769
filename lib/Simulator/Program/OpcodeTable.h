// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which function decodes which opcode.

#ifndef FP8_LIB_SIMULATOR_PROGRAM_OPCODETABLE_H
#define FP8_LIB_SIMULATOR_PROGRAM_OPCODETABLE_H

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fp8::sim {

class Decoder;
struct Inst;

/// Decodes the current instruction into `inst`. False after `Decoder::fail`.
using DecodeFn = bool (*)(Decoder &decoder, Inst &inst);

/// Families of instructions add their opcodes. An opcode belongs to one family.
class OpcodeTable {
public:
  /// Lets a family add its opcodes by `add`. `name` must outlive the table.
  /// `computes`: its instructions are functions of their operands
  /// (Inst::computes).
  void addFamily(std::string_view name, void (*addOpcodes)(OpcodeTable &),
                 bool computes = false);

  /// Adds an opcode of the current family. One that the table has stays as it
  /// is, and `conflicts` names it. `opcode` must outlive the table.
  void add(std::string_view opcode, DecodeFn decode);

  /// Null when no family has the opcode.
  DecodeFn find(std::string_view opcode) const;
  /// Whether the opcode's family computes.
  bool computes(std::string_view opcode) const;
  std::vector<std::string_view> opcodes() const;

  size_t size() const { return entries.size(); }

  /// A message for each opcode that was added again.
  const std::vector<std::string> &conflicts() const { return refused; }

private:
  struct Entry {
    std::string_view family;
    DecodeFn decode;
    bool computes;
  };
  std::unordered_map<std::string_view, Entry> entries;
  std::string_view family;
  bool familyComputes = false;
  std::vector<std::string> refused;
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_PROGRAM_OPCODETABLE_H
