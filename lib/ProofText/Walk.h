// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Follows the text for one thread, together with the events that are expected
// of it.

#ifndef FP8_LIB_PROOFTEXT_WALK_H
#define FP8_LIB_PROOFTEXT_WALK_H

#include "Code.h"
#include "Script.h"

#include "fp8/ProofText/Compare.h"

#include <map>
#include <optional>
#include <unordered_set>

namespace fp8::prooftext {

/// Where the expected events may be: one of several, since conditions are open.
struct Position {
  uint32_t step = 0;
  Cursors cursors{};

  bool operator<(const Position &other) const {
    return std::tie(step, cursors) < std::tie(other.step, other.cursors);
  }
  bool operator==(const Position &other) const {
    return step == other.step && cursors == other.cursors;
  }
};
using Positions = std::vector<Position>;

class Walk {
public:
  Walk(const Code &code, const KernelScript &kernel, const Script &script,
       Thread thread, uint64_t mostStates)
      : code(code), kernel(kernel), script(script), thread(thread),
        mostStates(mostStates) {}

  /// The first mismatch, if there is one.
  std::optional<Mismatch> run();

  uint64_t getNumStates() const { return seen.size(); }
  uint64_t getNumEvents() const { return numEvents; }
  /// The walk was given up.
  bool isTooLong() const { return seen.size() > mostStates; }

private:
  struct State {
    uint32_t at = 0;
    std::vector<Bits> values; ///< of the tracked registers
    Positions positions;
  };

  /// Goes on until the path ends or comes to where another has been.
  void follow(State state);
  /// False if the path ends.
  bool take(State &state);
  bool takeEvent(State &state, const CodeStep &step);
  bool takeBranch(State &state, const CodeStep &step);
  bool isNew(State &state);

  /// The value of a predicate; none if it is open.
  std::optional<bool> getGuard(const State &state, const CodeStep &step) const;
  void decide(State &state, const CodeStep &step, bool holds) const;
  Bits getValue(const State &state, const Source &source) const;
  Bits compute(const State &state, const CodeStep &step) const;
  void set(State &state, const CodeStep &step, Bits value) const;
  uint64_t getSharedMemory(unsigned rank) const;

  /// The events that may be next from there, or the end.
  const Positions &getNext(const Position &position);
  void close(const Position &position, Positions &out, Positions &visited);
  bool matches(const State &state, const CodeStep &step,
               const Position &position) const;
  /// The value that the field must have, as the text has it.
  uint64_t getExpected(const FormOperand &operand, const ScriptEvent &event,
                       const Position &position) const;
  void report(const State &state, const CodeStep *step, std::string message);
  std::string describe(const State &state, const CodeStep &step) const;
  std::string describe(const Position &position) const;

  const Code &code;
  const KernelScript &kernel;
  const Script &script;
  Thread thread;
  uint64_t mostStates;
  std::vector<State> left;
  std::unordered_set<std::string> seen;
  std::map<Position, Positions> next;
  uint64_t numEvents = 0;
  std::optional<Mismatch> mismatch;
};

} // namespace fp8::prooftext

#endif // FP8_LIB_PROOFTEXT_WALK_H
