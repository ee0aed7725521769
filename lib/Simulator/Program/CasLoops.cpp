// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows the value of a load through the code behind it.

#include "Program/CasLoops.h"

#include <algorithm>
#include <set>
#include <string_view>

using namespace fp8::sim;
using ast::Operand;

namespace {

/// Instructions that make a value of values, and nothing else.
constexpr std::string_view kPure[] = {
    "mov", "cvt", "add", "sub", "mul", "mad",  "fma", "min", "max",
    "neg", "abs", "and", "or",  "xor", "selp", "not", "shl", "shr"};
constexpr std::string_view kLeaving[] = {"bra", "brx",  "call",
                                         "ret", "exit", "trap"};
/// How far a loop's body is followed, in instructions.
constexpr uint32_t kReach = 64;

template <size_t n>
bool isOneOf(const std::string_view (&names)[n], const std::string &opcode) {
  return std::find(names, names + n, opcode) != names + n;
}

bool isRegister(const Operand &o) { return o.kind == Operand::Kind::Register; }

/// The register that an address is in; null if it is in none.
const Operand *baseOf(const Operand &o) {
  return o.kind == Operand::Kind::Address && !o.elements.empty() &&
                 isRegister(o.elements[0])
             ? &o.elements[0]
             : nullptr;
}

bool mentions(const Operand &o, const std::set<uint32_t> &registers) {
  return (isRegister(o) && registers.count(o.index)) ||
         std::any_of(
             o.elements.begin(), o.elements.end(),
             [&](const Operand &part) { return mentions(part, registers); });
}

/// The registers that hold what was loaded, and those that depend on it.
struct Followed {
  std::set<uint32_t> copies, dependent;

  /// False where the value is used for something else.
  bool pass(const ast::Instruction &text) {
    const std::vector<Operand> &operands = text.operands;
    bool uses =
        std::any_of(operands.begin(), operands.end(), [&](const Operand &o) {
          return (&o != &operands[0] || !isRegister(o)) &&
                 mentions(o, dependent);
        });
    if (uses && (!isOneOf(kPure, text.opcode) || !isRegister(operands[0])))
      return false;
    if (operands.empty() || !isRegister(operands[0]))
      return true;
    uint32_t target = operands[0].index;
    bool isCopy = text.opcode == "mov" && mentions(operands[1], copies);
    if (text.guard < 0) {
      copies.erase(target);
      dependent.erase(target);
    }
    if (uses)
      dependent.insert(target);
    if (isCopy && isRegister(operands[1]))
      copies.insert(target);
    return true;
  }
};

} // namespace

bool fp8::sim::isCompareAndSwap(const Inst &inst) {
  const std::vector<std::string> &qualifiers = inst.text->qualifiers;
  return inst.text->opcode == "atom" &&
         std::find(qualifiers.begin(), qualifiers.end(), "cas") !=
             qualifiers.end();
}

bool fp8::sim::feedsCompareAndSwap(const Program &program, const Inst &load) {
  const std::vector<Operand> &from = load.text->operands;
  const Operand *address = from.size() == 2 ? baseOf(from[1]) : nullptr;
  if (load.text->opcode != "ld" || !address || !isRegister(from[0]) ||
      from[0].index == address->index)
    return false;
  Followed followed{{from[0].index}, {from[0].index}};
  size_t end = std::min<size_t>(program.code.size(), load.index + kReach);
  for (size_t n = load.index + 1; n < end; ++n) {
    const ast::Instruction *text = program.code[n].text;
    if (!text || isOneOf(kLeaving, text->opcode))
      return false;
    const std::vector<Operand> &to = text->operands;
    if (isCompareAndSwap(program.code[n])) {
      const Operand *base = to.size() > 3 ? baseOf(to[1]) : nullptr;
      return base && base->index == address->index &&
             to[1].offset == from[1].offset && isRegister(to[2]) &&
             followed.copies.count(to[2].index);
    }
    bool movesAddress =
        !to.empty() && isRegister(to[0]) && to[0].index == address->index;
    if (movesAddress || !followed.pass(*text))
      return false;
  }
  return false;
}
