// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel's text as the walk follows it: instructions that are events, that
// branch, or on whose results these depend.

#ifndef FP8_LIB_PROOFTEXT_CODE_H
#define FP8_LIB_PROOFTEXT_CODE_H

#include "Forms.h"
#include "Number.h"

#include <string>
#include <vector>

namespace fp8::prooftext {

/// What an instruction reads.
struct Source {
  enum class Kind : uint8_t {
    Unknown,
    Register, ///< `number`
    Constant, ///< `value`
    Shared,   ///< `value` bytes into dynamic shared memory
    Tid,
    Lane,
    Cta,       ///< %ctaid.x
    Rank,      ///< %cluster_ctarank
    Parameter, ///< the kernel's, of number `number`
  };
  Kind kind = Kind::Unknown;
  uint32_t number = 0;
  uint64_t value = 0;   ///< of an address: what is added
  bool negated = false; ///< of a predicate
};

/// What the walk does at an instruction.
struct CodeStep {
  enum class Op : uint8_t {
    Other, ///< its results are unknown
    Move,
    Add,
    Subtract,
    Multiply,
    MultiplyHigh, ///< only as part of a remainder
    MultiplyAdd,
    Divide,
    Remainder,
    ShiftLeft,
    ShiftRight,
    And,
    Or,
    Xor,
    Not,
    Extract, ///< bfe.u32
    Minimum,
    Maximum,
    Select,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Elect,
    Vote,
    Broadcast, ///< shfl.sync.idx of a value that is the warp's
    MapToCta,
    LoadShared,
    Event,
    Branch,
    Return,
    Trap,
  };
  Op op = Op::Other;
  bool isSigned = false;
  unsigned width = 32;        ///< of the result
  unsigned operandWidth = 32; ///< of what is compared
  int32_t destination = -1;
  int32_t guard = -1;
  bool guardNegated = false;
  std::vector<Source> sources;
  /// Tracked registers that it writes, too: nothing is known of them behind it.
  std::vector<uint32_t> unknowns = {};
  uint32_t target = 0; ///< of a branch: a step
  /// Of a branch by a table: the targets in front of the last one, by the
  /// number that its one source has.
  std::vector<uint32_t> others = {};
  /// Of a branch: two registers that are equal if it is taken, or if it is not.
  int32_t equals[2] = {-1, -1};
  /// Or one register that is equal to a number then.
  int32_t isNumber = -1;
  uint64_t number = 0;
  bool equalIfTaken = false;
  /// There are branches between the comparison and this one: what it says is
  /// learnt of registers that are followed anyway.
  bool isFar = false;
  const Form *form = nullptr; ///< of an event
  /// Of an event: what the mnemonic has where the form has `*`.
  std::string variant = {};
  /// Of an event without a form: what is wrong with it.
  const char *fault = "";
  /// All lanes of a warp have a part in it, and it is no event.
  bool isOfLanes = false;
  uint32_t instruction = 0;
  /// Of a comparison: both sides may be known otherwise than by a branch that
  /// says they are equal. Others are open in each turn of a loop.
  bool decides = true;
  /// Of a comparison: both sides may be whole numbers. Others are compared by
  /// their bounds.
  bool isOfWholes = false;
  /// The result is compared for equality, or another step repeats it: it is
  /// followed as a symbol.
  bool isSymbol = false;
  /// Of a comparison: another one repeats it, so that what a branch says about
  /// the result of either is remembered of both.
  bool isRepeated = false;
  /// Somebody looks at the results.
  bool matters = false;

  bool compares() const { return op >= Op::Equal && op <= Op::GreaterEqual; }
};

struct Code {
  const sim::ast::Function *function = nullptr;
  std::vector<CodeStep> steps; ///< one for each instruction
  /// By register: the bits that somebody looks at, and those that may ever be
  /// known.
  std::vector<uint64_t> demanded, mayBeKnown;
  /// The registers that a state consists of.
  std::vector<uint32_t> tracked;
  /// By register: its place among these, or -1.
  std::vector<int32_t> places;
  /// By step: control flow joins here; the block that it is in.
  std::vector<bool> isJoin;
  std::vector<uint32_t> blockOf;
  std::vector<uint32_t> leaders; ///< the first step of each block
  /// By block, then by tracked register: the bits that matter from its start
  /// on.
  std::vector<std::vector<uint64_t>> live;
  /// By block: the places of registers of which some bits matter.
  std::vector<std::vector<uint32_t>> livePlaces;
  /// Lanes are told apart by their numbers, besides at the start.
  bool readsLane = false;
  /// What keeps the walk from following the text; empty if nothing does.
  std::string obstacle;

  /// The step behind a block.
  uint32_t getEnd(size_t block) const {
    return block + 1 < leaders.size() ? leaders[block + 1]
                                      : uint32_t(steps.size());
  }
  /// The steps that may follow.
  std::vector<uint32_t> getSuccessors(uint32_t at) const;
};

/// Reads the entry's instructions. `ctas` are the CTAs of a cluster. `reached`:
/// by instruction, whether those who are followed come there; empty if all may
/// be reached.
Code readCode(const sim::ast::Module &module,
              const sim::ast::Function &function, unsigned ctas,
              const std::vector<bool> &reached = {});

} // namespace fp8::prooftext

#endif // FP8_LIB_PROOFTEXT_CODE_H
