// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks a certificate. docs/Proof.md, "The certificate", says what one is.

#ifndef FP8_TOOLS_CHECKPROOF_CHECKER_H
#define FP8_TOOLS_CHECKPROOF_CHECKER_H

#include "llvm/Support/JSON.h"

#include <map>
#include <set>

namespace fp8::check {

using llvm::StringRef;
using llvm::json::Value;

/// What is wrong with a certificate: thrown, and printed by main.
struct Rejected {
  std::string reason;
};
void require(bool holds, const llvm::Twine &reason);
/// Counts work; rejects a certificate that makes too much of it.
void work();

// Parts of a JSON value. What is not as it should be is rejected.
const Value &get(const Value &object, StringRef key);
const Value &get(const Value &array, int64_t index);
const llvm::json::Array &getList(const Value &value);
/// Empty if there is no such key.
const llvm::json::Array &getList(const Value &object, StringRef key);
int64_t getNumber(const Value &value, int64_t least = INT64_MIN + 1,
                  int64_t most = INT64_MAX);
StringRef getText(const Value &value);
bool has(const Value &object, StringRef key);
bool isTrue(const Value &object, StringRef key); ///< false if there is none

/// A constant, and factors of atoms; no factor is 0.
struct Sum {
  int64_t constant = 0;
  std::map<int, int64_t> terms; ///< by the number of the atom

  Sum(int64_t constant = 0) : constant(constant) {}
  bool isConstant() const { return terms.empty(); }
  bool operator==(const Sum &other) const {
    return constant == other.constant && terms == other.terms;
  }
  bool operator<(const Sum &other) const {
    return std::tie(constant, terms) < std::tie(other.constant, other.terms);
  }
};

// Numbers that do not fit in 64 bits are rejected.
Sum operator+(const Sum &a, const Sum &b);
Sum operator*(const Sum &a, int64_t factor);
inline Sum operator-(const Sum &a, const Sum &b) { return a + b * -1; }

/// Who may see different values.
enum class Scope { Launch, Cta, Thread };

/// An unknown: a parameter or a count of turns, by its number; a product,
/// quotient or remainder; or an opaque function, by its number.
struct Atom {
  std::string kind;
  int64_t number = 0;
  std::vector<Sum> operands;
  // What follows from these.
  Scope scope = Scope::Launch;
  bool isNonNegative = true;
  std::vector<Sum> rows = {}; ///< at least 0

  bool operator<(const Atom &other) const {
    return std::tie(kind, number, operands) <
           std::tie(other.kind, other.number, other.operands);
  }
};

/// The atoms of a certificate.
class Atoms {
public:
  explicit Atoms(const Value &certificate)
      : skeleton(check::get(certificate, "skeleton")),
        clusterSize(getNumber(check::get(certificate, "cluster"), 1)) {}

  Sum get(Atom atom);
  Sum multiply(const Sum &a, const Sum &b);
  /// Rounds down. `kind` is "divide" or "remainder".
  Sum divide(StringRef kind, const Sum &dividend, const Sum &divisor);
  Scope getScope(const Sum &sum) const;
  /// True if the sum is at least 0 whenever all facts are. May be false then.
  bool follows(const std::vector<Sum> &facts, const Sum &sum) const;
  size_t size() const { return atoms.size(); }

  const Value &skeleton;
  const int64_t clusterSize; ///< CTAs whose numbers follow one another

private:
  void define(Atom &atom, const Sum &self);
  bool isNonNegative(const Sum &sum) const;

  std::map<Atom, int> numbers;
  std::vector<Atom> atoms;
};

/// A block of statements in execution.
struct Frame {
  const Value *block;
  size_t next = 0;
  bool atGuard = false; ///< of a loop: whether it goes on is decided next

  bool operator==(const Frame &other) const {
    return block == other.block && next == other.next &&
           atGuard == other.atGuard;
  }
};

struct Process {
  std::vector<Frame> stack;      ///< empty: the process has ended
  std::map<int64_t, Sum> values; ///< of variables; others are unknown

  const Value &getStatement() const;
  Sum &getValue(int64_t variable);
  bool isAtGuard() const { return !stack.empty() && stack.back().atGuard; }
};

struct State {
  std::vector<Process> processes;
  /// How many slots each end has waited for, and how many it has signalled.
  std::vector<std::pair<int64_t, int64_t>> ends;
  std::map<std::pair<int64_t, int64_t>, bool> answers; ///< by channel and slot
  std::vector<Sum> facts;                              ///< at least 0
};

/// The sum whose sign decides what a process does next: thrown.
struct Undecided {
  Sum sum;
};

enum class Outcome { Moved, Waits, Asks };

/// Runs the processes of a skeleton, one step at a time.
class Machine {
public:
  Machine(Atoms &atoms, const Value &witness);

  State getInitial() const;
  /// Executes the next statement of a process, or decides its guard.
  Outcome step(State &state, size_t process);
  /// The sum whose sign decides the guard at which a process stands.
  Sum getGuard(State &state, size_t process);
  /// Rejects a decision that threads, or CTAs that wait for one another, may
  /// take in different ways.
  void checkScope(const State &state, size_t process, const Sum &sum) const;
  void answer(State &state, size_t process, bool more);
  void checkEnd(const State &state) const;
  /// Rejects unless the states of `special` are among those of `general`.
  void checkCovers(const State &general, const State &special) const;
  bool follows(const State &state, const Sum &sum) const {
    return atoms.follows(state.facts, sum);
  }
  /// `id` is the number of an expression of the skeleton, or behind these of
  /// the witness. Conditions are 0 or 1.
  Sum evaluate(State &state, size_t process, const Value &id, int depth = 0);

private:
  bool decideSign(const State &state, const Sum &sum) const;
  bool decide(State &state, size_t process, const Value &id, int depth = 0) {
    return decideSign(state, evaluate(state, process, id, depth) - 1);
  }
  void begin(State &state, size_t process);
  Outcome access(State &state, size_t process);
  int64_t getEnd(State &state, size_t process);
  bool isFree(const State &state, int64_t end, int64_t slot) const;
  std::vector<int64_t> getPlace(const State &state, size_t channel) const;

  Atoms &atoms;
  const Value &witness, &channels, &ends;
  std::vector<std::set<int64_t>> sides[2]; ///< ends of channels: empty, fill
  std::map<int64_t, size_t> owners;        ///< the process that works on an end
};

/// Rejects the certificate unless its witness proves that all launches of its
/// skeleton end.
void replay(const Value &certificate);

} // namespace fp8::check

#endif // FP8_TOOLS_CHECKPROOF_CHECKER_H
