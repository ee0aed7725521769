// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The instructions that are events, and what their operands are.

#ifndef FP8_LIB_PROOFTEXT_FORMS_H
#define FP8_LIB_PROOFTEXT_FORMS_H

#include "fp8/Simulator/PTXAst.h"

#include <string>
#include <vector>

namespace fp8::prooftext {

/// One operand of an event.
struct FormOperand {
  enum class Kind : uint8_t {
    Ignored,
    Outcome, ///< the predicate that says whether the event took place
    Number,  ///< of the width of `mask`
    Shared,  ///< an address in shared memory
    /// A matrix descriptor: address / 16 in the bits of `mask`, and above them
    /// the layout, which is a field of its own, `field` + "_layout".
    Descriptor,
    Parameter, ///< the address of a parameter of the kernel
    Fixed,     ///< always `value`
  };
  Kind kind = Kind::Ignored;
  std::string field = {};
  uint64_t value = 0;
  uint64_t mask = 0xffffffff;
};

/// How one kind of event is spelled.
struct Form {
  std::string pattern; ///< the mnemonic; `*` stands for one or more characters
  std::string kind;
  std::vector<FormOperand> operands;
};

/// What the mnemonic has in place of the form's `*`; empty if it has none.
std::string getVariant(const Form &form,
                       const sim::ast::Instruction &instruction);

/// The form of an instruction; null if there is none.
const Form *findForm(const sim::ast::Instruction &instruction);

/// True if the instruction is of a family of which all instructions must have a
/// form.
bool isOfProtocol(const sim::ast::Instruction &instruction);

} // namespace fp8::prooftext

#endif // FP8_LIB_PROOFTEXT_FORMS_H
