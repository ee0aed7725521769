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
  void addFamily(std::string_view name, void (*addOpcodes)(OpcodeTable &));

  /// Adds an opcode of the current family. One that the table has stays as it
  /// is, and `conflicts` names it. `opcode` must outlive the table.
  void add(std::string_view opcode, DecodeFn decode);

  /// Null when no family has the opcode.
  DecodeFn find(std::string_view opcode) const;

  size_t size() const { return entries.size(); }

  /// A message for each opcode that was added again.
  const std::vector<std::string> &conflicts() const { return refused; }

private:
  struct Entry {
    std::string_view family;
    DecodeFn decode;
  };
  std::unordered_map<std::string_view, Entry> entries;
  std::string_view family;
  std::vector<std::string> refused;
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_PROGRAM_OPCODETABLE_H
