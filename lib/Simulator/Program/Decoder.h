// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns parsed instructions into a Program. Each family of instructions
// registers decode functions by opcode; what a function does not consume of
// qualifiers and operands is an error, so nothing is ever skipped.

#ifndef FP8_LIB_SIMULATOR_PROGRAM_DECODER_H
#define FP8_LIB_SIMULATOR_PROGRAM_DECODER_H

#include "Program/Program.h"
#include "fp8/Simulator/Report.h"

#include <functional>
#include <initializer_list>
#include <map>
#include <string_view>
#include <unordered_map>

namespace fp8::sim {

enum class Type : uint8_t {
  None,
  B8,
  U8,
  S8,
  B16,
  U16,
  S16,
  F16,
  BF16,
  B32,
  U32,
  S32,
  F32,
  TF32,
  B64,
  U64,
  S64,
  F64,
  B128,
  Pred,
  F16x2,
  BF16x2,
  F32x2,
  U16x2,
  S16x2,
  E4M3x2,
  E5M2x2,
  E4M3x4,
  E5M2x4
};
Type typeByName(std::string_view name);
unsigned typeSize(Type type);
bool isSignedType(Type type);
bool isFloatType(Type type);

class Decoder;
/// Decodes the current instruction into `inst`. False after `Decoder::fail`.
using DecodeFn = bool (*)(Decoder &decoder, Inst &inst);
using DecodeTable = std::unordered_map<std::string_view, DecodeFn>;

// One a family; each adds its opcodes.
void addMoveDecoders(DecodeTable &table);
void addIntegerDecoders(DecodeTable &table);
void addBitDecoders(DecodeTable &table);
void addFloatDecoders(DecodeTable &table);
void addPackedDecoders(DecodeTable &table);
void addConvertDecoders(DecodeTable &table);
void addCompareDecoders(DecodeTable &table);
void addControlDecoders(DecodeTable &table);
void addWarpDecoders(DecodeTable &table);
void addMemoryDecoders(DecodeTable &table);
void addAtomicDecoders(DecodeTable &table);
void addBarrierDecoders(DecodeTable &table);
void addMbarrierDecoders(DecodeTable &table);
void addCopyDecoders(DecodeTable &table);
void addTmaDecoders(DecodeTable &table);
void addMatrixDecoders(DecodeTable &table);
void addTcgen05Decoders(DecodeTable &table);
void addClusterControlDecoders(DecodeTable &table);
void addProgrammaticDecoders(DecodeTable &table);
void addWgmmaDecoders(DecodeTable &table);
void addRegisterPoolDecoders(DecodeTable &table);

class Decoder {
public:
  Decoder(const ast::Module &module, const ast::Function &function,
          Program &program);

  /// Decodes all instructions. Errors (Unsupported or InvalidLaunch) go to
  /// `errors`.
  bool run(std::vector<SimulationError> &errors, unsigned maxErrors);

  // The current instruction.
  const ast::Instruction &text() const { return *current; }
  bool fail(std::string message);

  // Qualifiers, consumed in any order.
  bool take(std::string_view qualifier);
  /// The index of the qualifier found, or -1.
  int takeOneOf(std::initializer_list<std::string_view> qualifiers);
  bool hasQualifier(std::string_view qualifier) const;
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
  Program &program;
  const ast::Module &module;
  const ast::Function &function;

private:
  const ast::Instruction *current = nullptr;
  std::vector<bool> qualifierUsed;
  size_t nextOperand = 0;
  bool failed = false;
  std::string failure;
  uint32_t sinkRow = 0;
  std::map<std::pair<int, std::pair<uint64_t, std::string>>, uint32_t>
      constantRows;
  struct Symbol {
    ConstantRow::Kind kind;
    uint64_t value;
  };
  std::unordered_map<std::string, Symbol> symbols;

  void placeSymbols();
  void findFragments();
  bool decodeOne(Inst &inst);
  uint32_t constantRow(ConstantRow constant);
};

const DecodeTable &decodeTable();

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_PROGRAM_DECODER_H
