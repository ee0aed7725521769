// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds the registers that have the value of a kernel's parameter or its
// address, wherever they are read.

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

/// False if the instruction only reads it, as in an address.
static bool mayWrite(const Instruction &instruction, uint32_t reg) {
  std::vector<uint32_t> registers;
  if (!instruction.operands.empty() &&
      instruction.operands[0].kind != Operand::Kind::Address)
    collectRegisters(instruction.operands[0], registers);
  return std::find(registers.begin(), registers.end(), reg) != registers.end();
}

/// The parameter that the instruction sets its register to, or to whose
/// address; null if it does neither.
static const Operand *findNamed(const Instruction &instruction,
                                bool byAddress) {
  const Operand &from = instruction.operands.back();
  std::string mnemonic = instruction.mnemonic();
  if (byAddress)
    return from.kind == Operand::Kind::Symbol &&
                   (mnemonic == "mov.b64" || mnemonic == "mov.u64" ||
                    mnemonic == "cvta.param.u64")
               ? &from
               : nullptr;
  return (mnemonic == "ld.param.b32" || mnemonic == "ld.param.u32") &&
                 from.kind == Operand::Kind::Address &&
                 from.elements.size() == 1 && !from.offset
             ? &from.elements[0]
             : nullptr;
}

std::optional<uint32_t> CodeReader::findParameter(uint32_t reg,
                                                  bool byAddress) const {
  const auto &parameters = function.signature.parameters;
  std::optional<uint32_t> found;
  std::set<uint32_t> seen{reg};
  std::vector<uint32_t> open{reg};
  // A register is set to it, or to another register that is.
  auto follow = [&](const Instruction &instruction) {
    const Operand &from = instruction.operands.back();
    bool passesOn = instruction.opcode == "mov" ||
                    (byAddress && instruction.mnemonic() == "cvta.param.u64");
    if (passesOn && instruction.operands.size() == 2 &&
        from.kind == Operand::Kind::Register && !from.negated) {
      if (seen.insert(from.index).second)
        open.push_back(from.index);
      return true;
    }
    const Operand *named = findNamed(instruction, byAddress);
    if (!named || named->offset)
      return false;
    for (uint32_t number = 0; number < parameters.size(); ++number)
      if (parameters[number].name == named->name &&
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
