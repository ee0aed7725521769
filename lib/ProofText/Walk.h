// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Follows the text for one thread, together with the events that are expected
// of it.

#ifndef FP8_LIB_PROOFTEXT_WALK_H
#define FP8_LIB_PROOFTEXT_WALK_H

#include "Match.h"

#include "fp8/ProofText/Compare.h"

#include <unordered_map>

namespace fp8::prooftext {

/// States of one kind of thread beyond which a walk is given up: kernels have a
/// few thousand.
constexpr size_t kMostStates = 200'000;

/// What threads that do the same have in common: the states that one of them
/// has been in, in the order in which it came there first.
using States = std::unordered_map<StateKey, uint32_t, HashOfKey>;

class Walk {
public:
  /// `seen` are the states of threads that do the same as this one, and with
  /// the same focus.
  Walk(const Code &code, const KernelScript &kernel, const Script &script,
       Matcher &matcher, const Thread &thread, const Focus &focus, States &seen)
      : code(code), script(script), matcher(matcher), thread(thread),
        focus(focus), execution(code, kernel, thread, focus.open),
        successors(script, thread, focus.cursor), seen(seen),
        numSeen(seen.size()) {}

  /// The first mismatch, if there is one.
  std::optional<Mismatch> run();

  uint64_t getNumEvents() const { return numEvents; }
  /// The walk was given up: there are too many states.
  bool isTooLong() const { return seen.size() > kMostStates; }
  /// The event of which the walk does not know an operand; null if there is
  /// none.
  const sim::ast::Instruction *getUnknown() const { return unknown; }
  unsigned getOpenTable() const { return execution.getOpenTable(); }

private:
  /// Goes on until the path ends or comes to where another has been.
  void follow(State state);
  /// False if the path ends.
  bool take(State &state);
  bool takeEvent(State &state, const CodeStep &step);
  bool isNew(State &state);
  bool isOver() const { return mismatch || unknown || isTooLong(); }
  void report(const State &state, const CodeStep *step, std::string message);
  /// Reports a state from which no way leads to an end.
  void requireEnds();

  const Code &code;
  const Script &script;
  Matcher &matcher;
  const Thread &thread;
  const Focus &focus;
  Execution execution;
  Successors successors;
  std::vector<State> left;
  States &seen;
  size_t numSeen; ///< when the walk began: of those it is known that they end
  /// A state of this walk: its place in the text, and those in front of it.
  struct Node {
    uint32_t at;
    std::vector<uint32_t> before;
  };
  std::vector<Node> nodes{{0, {}}}; ///< the first is the start
  std::vector<uint32_t> ending;     ///< nodes from which a path ends
  uint64_t numEvents = 0;
  std::optional<Mismatch> mismatch;
  const sim::ast::Instruction *unknown = nullptr;
};

} // namespace fp8::prooftext

#endif // FP8_LIB_PROOFTEXT_WALK_H
