// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What instructions do to the registers of one thread, as far as that is known.

#ifndef FP8_LIB_PROOFTEXT_EXECUTION_H
#define FP8_LIB_PROOFTEXT_EXECUTION_H

#include "Code.h"
#include "Script.h"

#include <functional>
#include <optional>

namespace fp8::prooftext {

/// Where dynamic shared memory begins: behind what the system takes, in the
/// CTA's window of the cluster's memory. Any place would do.
constexpr unsigned kRankShift = 24;
constexpr uint64_t kFirstByte = 1024;

/// A state is kept as a key of 128 bits: that two have the same is left out of
/// account.
using StateKey = std::pair<uint64_t, uint64_t>;
struct HashOfKey {
  size_t operator()(const StateKey &key) const { return key.first; }
};

/// Mixes a word into both halves of a key.
void mix(StateKey &key, uint64_t word);

/// Where a thread is in the text, and what is known of its registers.
struct State {
  uint32_t at = 0;           ///< the next step
  std::vector<Value> values; ///< of the tracked registers
  Positions positions = {};  ///< where it may be in the expected events
  /// Of an outline: the node from which it comes, and whether the event there
  /// has taken place.
  uint32_t node = 0;
  bool isBehind = false;
};

class Execution {
public:
  enum class Outcome : uint8_t {
    GoesOn,
    Event, ///< the step is an event, which takes place
    Returns,
    Traps,
    Never, ///< what is known of the registers excludes the state
  };

  /// `open`: by step, whether its result is taken to be unknown; empty if none
  /// is.
  Execution(const Code &code, const KernelScript &kernel, const Thread &thread,
            const std::vector<bool> &open)
      : code(code), kernel(kernel), thread(thread), open(open) {}

  State getStart() const;
  /// Takes the next step, if it is no event. `left` gets the state's other ways
  /// to go on, where it is open which one the thread takes.
  Outcome take(State &state, std::vector<State> &left);
  /// The event takes place. For a test of a barrier, `left` gets another state:
  /// the one behind a test that fails.
  void takeEvent(State &state, std::vector<State> &left) const;
  /// The key of a state at the start of a block, by what matters from there
  /// on. Forgets the rest.
  StateKey getKey(State &state) const;
  /// Takes all ways through the text. `onStep` is told of each state before its
  /// step is taken, and once more, with `isEvent`, if that is an event that
  /// takes place. False if there are more states than that.
  bool
  explore(size_t mostStates,
          const std::function<void(const State &state, bool isEvent)> &onStep);

  Number getValue(const State &state, const Source &source) const;
  uint64_t getSharedMemory(unsigned rank) const {
    return (uint64_t(rank) << kRankShift) + kFirstByte;
  }
  const Thread &getThread() const { return thread; }
  /// The line of a branch by a table that was taken all ways; 0 if there was
  /// none.
  unsigned getOpenTable() const { return openTable; }

private:
  /// The number of the thread's lane, which is more by that.
  Number getLane(uint64_t first) const;
  /// False if what is known excludes both ways.
  bool takeBranch(State &state, const CodeStep &step, std::vector<State> &left);
  void takeTable(State &state, const CodeStep &step, std::vector<State> &left);
  void takeVote(State &state, const CodeStep &step,
                std::vector<State> &left) const;
  /// The value of a predicate; none if it is open.
  std::optional<bool> getGuard(const State &state, const CodeStep &step) const;
  /// The guard holds, or does not. False if what is known excludes that.
  bool decide(State &state, const CodeStep &step, bool holds) const;
  Number compute(const State &state, const CodeStep &step) const;
  /// What the result is besides its bits.
  Value getSymbol(const State &state, const CodeStep &step) const;
  void set(State &state, const CodeStep &step, Number value) const;
  /// This is known of a register, and of those that are a constant more.
  void learn(State &state, int32_t place, Number number) const;
  /// A register is equal to a number, or is not. False if what is known
  /// excludes that.
  bool relate(State &state, int32_t place, const Number &other,
              bool areEqual) const;

  const Code &code;
  const KernelScript &kernel;
  const Thread &thread;
  const std::vector<bool> &open;
  unsigned openTable = 0;
};

} // namespace fp8::prooftext

#endif // FP8_LIB_PROOFTEXT_EXECUTION_H
