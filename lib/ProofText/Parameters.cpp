// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds the registers that have the value of a kernel's parameter, wherever
// they are read.

#include "CodeReader.h"

#include <algorithm>
#include <set>

using namespace fp8::prooftext;
using fp8::sim::ast::Instruction;
using fp8::sim::ast::Operand;

void fp8::prooftext::collectRegisters(const Operand &operand,
                                      std::vector<uint32_t> &registers) {
  if (operand.kind == Operand::Kind::Register)
    registers.push_back(operand.index);
  for (const Operand &element : operand.elements)
    collectRegisters(element, registers);
}

/// False if the instruction only reads it. One that stores to its address
/// counts as one that writes it, too.
static bool mayWrite(const Instruction &instruction, uint32_t reg) {
  std::vector<uint32_t> registers;
  if (!instruction.operands.empty())
    collectRegisters(instruction.operands[0], registers);
  return std::find(registers.begin(), registers.end(), reg) != registers.end();
}

std::optional<uint32_t> CodeReader::findParameter(uint32_t reg) const {
  const auto &parameters = function.signature.parameters;
  std::optional<uint32_t> found;
  std::set<uint32_t> seen{reg};
  std::vector<uint32_t> open{reg};
  // A register is set to it, or to another register that is.
  auto follow = [&](const Instruction &instruction) {
    const Operand &from = instruction.operands.back();
    if (instruction.opcode == "mov" && instruction.operands.size() == 2 &&
        from.kind == Operand::Kind::Register && !from.negated) {
      if (seen.insert(from.index).second)
        open.push_back(from.index);
      return true;
    }
    std::string mnemonic = instruction.mnemonic();
    if ((mnemonic != "ld.param.b32" && mnemonic != "ld.param.u32") ||
        from.kind != Operand::Kind::Address || from.elements.size() != 1 ||
        from.offset || from.elements[0].offset)
      return false;
    for (uint32_t number = 0; number < parameters.size(); ++number)
      if (parameters[number].name == from.elements[0].name &&
          found.value_or(number) == number) {
        found = number;
        return true;
      }
    return false;
  };
  while (!open.empty()) {
    uint32_t next = open.back();
    open.pop_back();
    for (const Instruction &instruction : function.instructions)
      if (mayWrite(instruction, next) && !follow(instruction))
        return std::nullopt;
  }
  return found;
}
