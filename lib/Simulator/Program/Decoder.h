// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns parsed instructions into a Program. An opcode's decode function
// consumes the qualifiers and operands; what it leaves is an error, so nothing
// is ever skipped.

#ifndef FP8_LIB_SIMULATOR_PROGRAM_DECODER_H
#define FP8_LIB_SIMULATOR_PROGRAM_DECODER_H

#include "Program/Linker.h"
#include "Program/OpcodeTable.h"
#include "Program/Program.h"
#include "Program/Types.h"
#include "fp8/Simulator/Report.h"

#include <initializer_list>
#include <map>
#include <string_view>
#include <unordered_map>

namespace fp8::sim {

class Decoder {
public:
  Decoder(const OpcodeTable &opcodes, const ast::Module &module,
          const LinkedKernel &kernel, Program &program);

  /// Decodes all instructions. Everything that is unknown goes to `errors`,
  /// once each, at its first place.
  bool run(std::vector<SimulationError> &errors);

  // The current instruction.
  const ast::Instruction &text() const { return *current; }
  bool fail(std::string message);
  /// Fails where the module's target is an older chip than sm_`number`.
  bool requiresChip(unsigned number);

  // Qualifiers, consumed in any order.
  bool take(std::string_view qualifier);
  /// The index of the qualifier found, or -1.
  int takeOneOf(std::initializer_list<std::string_view> qualifiers);
  bool hasQualifier(std::string_view qualifier) const;
  /// Whether the scope is stated: of `inst`.
  bool takeScope(Inst &inst);
  /// The next unconsumed qualifier that names a type.
  Type takeType();
  /// Drops qualifiers that do not change what a functional simulator computes:
  /// cache operators and hints.
  void dropCacheHints();
  bool cacheHint =
      false; ///< .L2::cache_hint was seen: one more operand follows

  // Operands, consumed from the left.
  size_t operandsLeft() const { return current->operands.size() - nextOperand; }
  const ast::Operand *peekOperand() const;
  const ast::Operand *takeOperand();
  bool destination(Inst &inst, Type type);
  bool source(Inst &inst, Type type);
  bool predicateDestination(Inst &inst);
  bool predicateSource(Inst &inst);
  /// A vector, or a single register, of `count` rows of `type`, as destination
  /// or source list.
  bool list(Inst &inst, unsigned count, Type type, bool isDestination);
  /// As `list`, of rows that are only read; several of them follow each other.
  bool sourceList(Inst &inst, unsigned count, Type type);
  /// `[base+offset]`: the base becomes a source. Coordinates are left for the
  /// caller.
  bool address(Inst &inst, const ast::Operand **whole = nullptr);
  /// A further address, whose offset goes to `offset`.
  bool address(Inst &inst, uint64_t &offset);
  bool immediate(uint64_t &value);

  /// The row of an operand read as `type`.
  bool row(const ast::Operand &operand, Type type, uint32_t &row);
  bool destinationRow(const ast::Operand &operand, Type type, uint32_t &row);
  uint32_t constant(uint64_t value);
  uint32_t scratchRow() const { return sinkRow; }
  unsigned registerBytes(const ast::Operand &operand) const;
  bool label(const std::string &name, uint32_t &target);
  const std::vector<std::string> *branchTargets(const std::string &name) const;
  const ast::Prototype *prototype(const std::string &name) const;
  /// The variable or parameter in a frame that a symbol names, else null.
  const CallValue *frameValue(const std::string &symbol) const;
  /// The index of the function that the current instruction is of; 0: of the
  /// entry.
  uint32_t functionIndex() const;
  Program &program;
  const ast::Module &module;
  const LinkedKernel &kernel;
  const ast::Function &function;

private:
  const OpcodeTable &opcodes;
  const ast::Instruction *current = nullptr;
  std::vector<bool> qualifierUsed;
  size_t nextOperand = 0;
  bool failed = false;
  std::string failure;
  uint32_t sinkRow = 0;
  std::map<std::pair<int, std::pair<uint64_t, std::string>>, uint32_t>
      constantRows;
  struct Symbol {
    ConstantRow constant;
    CallValue frame; ///< of local variables and parameters of calls
  };
  /// By scope (-1: the module) and name.
  std::map<std::pair<int32_t, std::string>, Symbol> symbols;

  template <typename Map>
  const typename Map::mapped_type *findInScopes(const Map &map,
                                                const std::string &name) const;
  const Symbol *symbol(const std::string &name) const;
  // Symbols.cpp
  void placeSymbols();
  void placeParameters();
  void placeShared();
  void placeFrames();
  void listFrameRows();
  void listRows();
  void findFragments();
  bool decodeOne(Inst &inst);
  uint32_t constantRow(ConstantRow constant);
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_PROGRAM_DECODER_H
