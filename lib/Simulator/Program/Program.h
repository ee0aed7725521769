// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A decoded kernel: instructions with a handler and resolved operands. A value
// row is one register of all 32 lanes; immediates, symbols and special
// registers are rows as well, filled when a warp starts, so that handlers read
// every operand the same way.

#ifndef FP8_LIB_SIMULATOR_PROGRAM_PROGRAM_H
#define FP8_LIB_SIMULATOR_PROGRAM_PROGRAM_H

#include "Program/Payload.h"
#include "Program/Scope.h"
#include "fp8/Simulator/PTXAst.h"

#include <cstdint>
#include <string>
#include <vector>

namespace fp8::sim {

class Warp;
struct Inst;

/// What an instruction did with the lanes that executed it.
enum class Flow : uint8_t {
  Next, ///< go on behind it
  Jump, ///< the handler moved them
  Wait, ///< they stay until the wait that the handler set is over, then execute
        ///< it again
};

using Handler = Flow (*)(Warp &warp, const Inst &inst, uint32_t mask);

enum class Convergence : uint8_t {
  None,
  Aligned, ///< all live lanes of the warp execute it together
  Whole,   ///< the same, and no lane may have exited
  Members, ///< the lanes that the last source operand names execute it together
};

/// What an instruction starts on the tensor core. PTX ISA 9.7.16.6.2 says which
/// pairs of them are pipelined.
enum class TensorOp : uint8_t {
  None,
  Mma,
  Copy,
  CopyOfRows, ///< tcgen05.cp.4x256b
  Shift,
};

/// Part of Program::lists.
struct RowRange {
  uint32_t first = 0, count = 0;
};

/// Of what computes each element of a packed result by itself: which elements
/// of the operands decide it.
struct Elements {
  /// The operand has elements of so many bits. The lowest one decides element
  /// `first` of the result, the next one the element above. 0 bits: the operand
  /// decides all elements.
  struct Source {
    uint8_t bits = 0, first = 0;
  };
  uint8_t count = 0; ///< of the result; 0: each operand decides all of it
  uint8_t bits = 0;  ///< of one in the result; each predicate is one element
  /// Operands behind these decide all elements. Those of a list decide one
  /// each, the first operand the highest element.
  Source sources[3];
};

struct Inst {
  Handler fn = nullptr;
  int32_t guard = -1;
  bool guardNegated = false;
  Convergence convergence = Convergence::None;
  /// Results are functions of the operands: an undefined operand makes an
  /// undefined result. Else it is an error.
  bool computes = false;
  /// It computes, and that is all: the handler reports nothing, and returns
  /// Flow::Next.
  bool plain = false;
  /// Of what computes: sources, a bit each, that must be defined all the same.
  uint8_t needed = 0;
  /// Of what computes: a bit of a result depends on one bit at most of each
  /// operand, as these choose: sources and predicate sources, a bit each.
  bool bitwise = false;
  uint8_t choosers = 0, choosingPredicates = 0;
  Elements elements;
  bool checksList = false; ///< the handler itself asks which registers of the
                           ///< list are undefined
  uint8_t addresses = 0;   ///< sources, a bit each
  bool keepsReady =
      false; ///< the handler itself says which destinations are defined
  bool listIsDestination = false;
  bool wgmma = false; ///< wgmma.mma_async: the handler checks the list's
                      ///< registers, which are the warpgroup's fragments
  bool touchesFragments = false; ///< no wgmma, but uses registers of one
  bool allocates = false;        ///< tcgen05.alloc, which writes an address
  bool writesLate = false; ///< tcgen05.ld: the list is written at any time up
                           ///< to an instruction that `endsLateWrites`
  bool endsLateWrites = false; ///< tcgen05.wait::ld
  bool leaves = false;         ///< lanes that execute it do not go on behind it
  bool exclusive = false;   ///< other clusters notice it, or it notices them:
                            ///< executes while no other cluster runs
  bool strong = false;      ///< accesses memory, and not weakly (PTX ISA 8.3)
  Scope scope = Scope::Gpu; ///< of what is strong, of a fence, and of what
                            ///< synchronises at an mbarrier
  bool combines = false;    ///< atom or red: reads what it writes
  TensorOp tensorOp = TensorOp::None;
  uint8_t destinations = 0;
  uint8_t sources = 0;
  uint8_t predicateSources = 0;
  uint8_t predicateDestinations = 0;
  uint8_t predicateNegations = 0; ///< one bit a predicate source
  uint32_t d[2] = {0, 0};
  uint32_t s[6] = {0, 0, 0, 0, 0, 0};
  uint32_t p[3] = {0, 0, 0};
  int32_t pd[2] = {-1, -1}; ///< -1: sink
  uint32_t list = 0; ///< further rows: Program::lists[list .. list + listCount)
  uint32_t listCount = 0;
  /// Rows that are only read, beside `list`: of Program::lists too. The handler
  /// asks which of them are undefined.
  uint32_t sourceList = 0;
  uint32_t sourceListCount = 0;
  bool needsSourceList = false; ///< instead, its rows must be defined
  /// The rows that it reads, and those that it writes, of all operands: of
  /// Program::lists.
  RowRange reads, writes;
  /// Where it may send lanes: instructions, of Program::lists too.
  RowRange targets;
  int64_t offset = 0; ///< of the address
  uint32_t index = 0; ///< its own place in the program
  const ast::Instruction *text = nullptr;

  /// Of the decoder: gives the handlers a `T`.
  template <typename T>
  T &make() {
    return payload.make<T>();
  }
  /// Of the handlers: the `T` that the decoder has made.
  template <typename T>
  const T &get() const {
    return payload.get<T>();
  }

private:
  Payload payload;
};

/// Executes a piece of code for each lane of a mask.
template <typename F>
inline void forLanes(uint32_t mask, F f) {
  while (mask) {
    int lane = __builtin_ctz(mask);
    mask &= mask - 1;
    f(lane);
  }
}

/// A row that does not change while a warp runs.
struct ConstantRow {
  enum class Kind : uint8_t {
    Value,
    Special,
    Shared,
    Frame ///< changes when the lane calls the function that `name` names
  } kind = Kind::Value;
  /// Shared: the offset in the CTA's shared memory. Frame: in the frame of a
  /// call, which is in local memory.
  uint64_t value = 0;
  std::string name; ///< Special, Frame
};

/// A parameter, argument or result of a function: a row, or bytes of a frame.
struct CallValue {
  bool inRow = false;
  uint32_t row = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

/// A function that instructions call.
struct Function {
  std::string name;
  uint64_t address = 0;
  uint32_t pc = 0;
  uint32_t firstRegister = 0, registers = 0; ///< of ast::Function::registers
  uint64_t frameBytes = 0, frameAlign = 16;
  bool recursive = false; ///< may be called while the lane executes it
  std::vector<CallValue> parameters, results;
  /// Constant rows that hold addresses in its frame, with their offsets.
  std::vector<std::pair<uint32_t, uint64_t>> frameRows;
};

/// What a call instruction calls, and with what.
struct CallSite {
  uint32_t callee = 0;   ///< index into Program::functions
  bool indirect = false; ///< the instruction's source is the address
  std::vector<CallValue> arguments, results;
};

struct SharedSymbol {
  std::string name;
  uint64_t offset;
  uint64_t size; ///< 0: dynamic, to the end
};

struct Program {
  const ast::Module *module = nullptr;
  const ast::Function *function = nullptr;
  std::vector<Inst> code;
  std::vector<uint32_t> lists; ///< rows; of branches, instructions
  uint32_t registers =
      0; ///< rows of registers; predicates have rows too, unused
  uint32_t predicates = 0;
  std::vector<std::string> predicateNames;
  std::vector<ConstantRow> constants; ///< rows from `registers` on
  /// By row: where a warp keeps its values (RowPlaces.h), and behind the last.
  std::vector<uint32_t> places;
  uint32_t placesEnd = 0;
  std::vector<std::string> rowNames; ///< of registers
  std::vector<SharedSymbol> sharedSymbols;
  uint64_t staticSharedEnd = 0; ///< offset where dynamic shared memory starts
  uint64_t localBytes = 0;      ///< per lane: the entry's frame
  std::vector<Function> functions; ///< the entry first
  std::vector<CallSite> calls;
  std::vector<uint64_t> parameterOffsets;
  uint64_t parameterBytes = 0;
  std::vector<bool> fragmentRows; ///< by register row; empty: there is no wgmma
  unsigned ctaGroup = 0; ///< of the tcgen05 instructions; 0: there are none
  /// A variable of the module, in the device's memory.
  struct Global {
    std::string_view name;
    uint64_t address, bytes;
    bool isConstant; ///< .const
  };
  std::vector<Global> globals;

  const uint32_t *begin(RowRange range) const {
    return lists.data() + range.first;
  }
  const uint32_t *end(RowRange range) const {
    return begin(range) + range.count;
  }

  /// The variable that a shared-memory offset lies in, or null.
  const SharedSymbol *symbolAt(uint64_t offset) const {
    const SharedSymbol *best = nullptr;
    for (const SharedSymbol &symbol : sharedSymbols)
      if (offset >= symbol.offset &&
          (!symbol.size || offset < symbol.offset + symbol.size) &&
          (!best || symbol.offset >= best->offset))
        best = &symbol;
    return best;
  }
};

// Address windows of the generic space, and the layout of addresses.
constexpr uint64_t kSharedWindow = uint64_t(0x7f) << 40;
constexpr uint64_t kLocalWindow = uint64_t(0x7e) << 40;
constexpr uint64_t kParamWindow = uint64_t(0x7d) << 40;
constexpr uint64_t kWindowSize = uint64_t(1) << 32;
/// The address of a function, by its index in the module. Nothing can be
/// accessed there.
constexpr uint64_t functionAddress(size_t function) {
  return (uint64_t(0x7c) << 40) + 16 * uint64_t(function);
}
/// A shared::cluster address is the CTA's rank in these bits and the offset
/// below; a CTA's own shared::cta addresses are the same numbers.
constexpr unsigned kSharedRankShift = 24;
constexpr uint32_t kSharedOffsetMask = (1u << kSharedRankShift) - 1;
/// The first bytes of shared memory belong to the system (sm_90 and later).
constexpr uint32_t kSharedReserved = 1024;

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_PROGRAM_PROGRAM_H
