// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads a kernel's text into code: instructions in Code.cpp, what several of
// them mean together in Comparisons.cpp and Remainders.cpp, what lanes of a
// warp have in common in Divergence.cpp, what follows from them in Flow.cpp.

#ifndef FP8_LIB_PROOFTEXT_CODEREADER_H
#define FP8_LIB_PROOFTEXT_CODEREADER_H

#include "Code.h"

namespace fp8::prooftext {

class CodeReader {
public:
  CodeReader(const sim::ast::Module &module, const sim::ast::Function &function,
             unsigned ctas)
      : module(module), function(function), ctas(ctas) {
    code.function = &function;
  }

  Code read(const std::vector<bool> &reached);

private:
  Source getSource(const sim::ast::Operand &operand) const;
  Source getSpecial(const std::string &name) const;
  void readInstruction(uint32_t number);
  void readArithmetic(const sim::ast::Instruction &instruction, CodeStep &step);
  bool readOther(const sim::ast::Instruction &instruction, CodeStep &step);
  void readEvent(const sim::ast::Instruction &instruction, const Form &form,
                 CodeStep &step);
  /// Makes the step an event that nobody expects.
  static void refuse(CodeStep &step, const char *fault);
  /// An instruction in which all lanes of a warp have a part names all of them.
  void readMask(const sim::ast::Instruction &instruction, const Form &form,
                CodeStep &step);
  /// Refuses such instructions where some lanes may be elsewhere.
  void findDivergence();
  /// The step's result may differ among the lanes of a warp by their numbers.
  bool readsLane(uint32_t at) const;
  void readBranch(const sim::ast::Instruction &instruction, CodeStep &step);
  /// Finds what a branch says about registers that were compared before.
  void findEquality(uint32_t branch);
  void setDestination(const sim::ast::Operand &operand, CodeStep &step);
  void readCast(const sim::ast::Instruction &instruction, CodeStep &step);
  /// The one step that writes the register, in each run; null if there is none.
  const CodeStep *getDefinition(const Source &source) const;
  /// What was moved to the register.
  Source getOrigin(Source source) const;
  /// The value is that of the warp: its number.
  bool isOfWarp(const Source &source) const;
  /// Broadcasts of other values than the warp's are not followed.
  void checkBroadcasts();
  /// The register is only ever set to constants.
  bool isConstant(const sim::ast::Operand &operand) const;
  /// The number of the i32 parameter of the kernel to which alone the register
  /// is ever set; or of the parameter to whose address it is.
  std::optional<uint32_t> findParameter(uint32_t reg, bool byAddress) const;

  /// The parameter at whose address the operand is.
  Source findAddressed(const sim::ast::Operand &operand) const;

  uint64_t getMayBeKnownOf(const Source &source) const;
  void findMayBeKnown(bool withEqualities);
  void findDemanded();
  bool demand(const Source &source, uint64_t bits);
  /// The result is asked for, and what is compared by its bounds needs them.
  bool needsSources(const CodeStep &step) const;
  uint64_t getDemandOfEvent(const FormOperand &operand) const;
  void findTracked();
  void findBlocks();
  /// Finds the registers that are a constant more than a compared one.
  void findDerived();
  /// Finds the comparisons that may be decided.
  void findDeciding();
  void findLive();
  void listLive();
  /// The bits of each tracked register that matter behind the last step of a
  /// block.
  std::vector<uint64_t> getDemandedBehind(uint32_t at) const;
  /// Takes the bits that matter behind a step to those in front of it.
  void addDemanded(uint32_t at, std::vector<uint64_t> &bits) const;
  /// Takes comparisons and masks that repeat an earlier one to be computed from
  /// its result.
  void findRepeated();
  void findRepeated(uint32_t second, const std::vector<uint32_t> &earlier);
  /// Takes what subtracts a multiple of a quotient to be a remainder.
  void findRemainders();
  void findRemainder(uint32_t at);
  /// The one step whose result the register has there, computed from what is
  /// still the same; -1 if it is not known.
  int32_t findAvailable(uint32_t reg, uint32_t at) const;
  void findPredecessors();
  /// True if, on each way to the second step, the first one comes last of those
  /// that write its result or what it is computed from.
  bool isAvailable(uint32_t first, uint32_t second) const;
  /// Writes the register, as far as its value is followed.
  bool isWritten(uint32_t at, int32_t reg) const;
  const sim::ast::Module &module;
  const sim::ast::Function &function;
  unsigned ctas;
  Code code;
  /// Steps that write a register besides their destination.
  std::vector<std::vector<uint32_t>> alsoWritten;
  std::vector<std::vector<uint32_t>> derived; ///< by register
  /// By register: a branch compares it with another one.
  std::vector<bool> isCompared;
  /// By step: those that may be in front of it.
  std::vector<std::vector<uint32_t>> predecessors;
};

/// Collects the registers that an operand names.
void collectRegisters(const sim::ast::Operand &operand,
                      std::vector<uint32_t> &registers);

} // namespace fp8::prooftext

#endif // FP8_LIB_PROOFTEXT_CODEREADER_H
