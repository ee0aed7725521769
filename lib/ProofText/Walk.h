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

/// States of one kind of thread beyond which a walk is given up: kernels have a
/// few thousand.
constexpr size_t kMostStates = 200'000;

/// Where dynamic shared memory begins: behind what the system takes, in the
/// CTA's window of the cluster's memory. Any place would do.
constexpr unsigned kRankShift = 24;
constexpr uint64_t kFirstByte = 1024;

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

/// What threads that do the same have in common: the states that one of them
/// has been in.
/// A state is kept as a key of 128 bits: that two have the same is left out of
/// account.
using StateKey = std::pair<uint64_t, uint64_t>;
struct HashOfKey {
  size_t operator()(const StateKey &key) const { return key.first; }
};
using States = std::unordered_set<StateKey, HashOfKey>;

/// Which operands of a form an expected event compares.
class Matcher {
public:
  struct Field {
    size_t operand;
    const Quantity *quantity;
  };
  struct Fields {
    bool canMatch = false;
    std::vector<Field> fields;
    const Quantity *cta = nullptr; ///< where `at` lies; null: here
  };

  explicit Matcher(const Script &script)
      : script(script), found(script.events.size()) {}
  const Fields &get(uint32_t event, const Form &form);

private:
  const Script &script;
  std::vector<std::map<const Form *, Fields>> found;
};

class Walk {
public:
  /// `seen` are the states of threads that do the same as this one.
  Walk(const Code &code, const KernelScript &kernel, const Script &script,
       Matcher &matcher, Thread thread, States &seen)
      : code(code), kernel(kernel), script(script), matcher(matcher),
        thread(thread), seen(seen) {}

  /// The first mismatch, if there is one.
  std::optional<Mismatch> run();

  uint64_t getNumEvents() const { return numEvents; }
  /// The walk was given up: there are too many states.
  bool isTooLong() const { return seen.size() > kMostStates; }
  /// The event of which the walk does not know an operand; null if there is
  /// none.
  const sim::ast::Instruction *getUnknown() const { return unknown; }

private:
  struct State {
    uint32_t at = 0;
    std::vector<Value> values; ///< of the tracked registers
    Positions positions;
  };

  /// Goes on until the path ends or comes to where another has been.
  void follow(State state);
  /// False if the path ends.
  bool take(State &state);
  bool takeEvent(State &state, const CodeStep &step);
  bool takeBranch(State &state, const CodeStep &step);
  bool isNew(State &state);
  /// The event may be one of those that are expected: an operand that is not
  /// known decides.
  bool mayMatch(const State &state, const CodeStep &step);

  /// The value of a predicate; none if it is open.
  std::optional<bool> getGuard(const State &state, const CodeStep &step) const;
  void decide(State &state, const CodeStep &step, bool holds) const;
  Bits getValue(const State &state, const Source &source) const;
  Bits compute(const State &state, const CodeStep &step) const;
  /// What the result is besides its bits.
  Value getSymbol(const State &state, const CodeStep &step) const;
  void set(State &state, const CodeStep &step, Bits value) const;
  /// Two registers are equal: what is known of one is known of the other.
  void equate(State &state, int32_t first, int32_t second) const;
  uint64_t getSharedMemory(unsigned rank) const;

  /// The events that may be next from there, or the end.
  const Positions &getNext(const Position &position);
  void close(const Position &position, Positions &out, Positions &visited);
  bool matches(const State &state, const CodeStep &step,
               const Position &position);
  /// The value that the field must have, as the text has it.
  uint64_t getExpected(const FormOperand &operand,
                       const Matcher::Fields &fields, const Quantity &quantity,
                       const Position &position) const;
  void report(const State &state, const CodeStep *step, std::string message);
  std::string describe(const State &state, const CodeStep &step) const;
  std::string describe(const Position &position) const;

  const Code &code;
  const KernelScript &kernel;
  const Script &script;
  Matcher &matcher;
  Thread thread;
  std::vector<State> left;
  States &seen;
  std::map<Position, Positions> next;
  uint64_t numEvents = 0;
  std::optional<Mismatch> mismatch;
  const sim::ast::Instruction *unknown = nullptr;
};

} // namespace fp8::prooftext

#endif // FP8_LIB_PROOFTEXT_WALK_H
