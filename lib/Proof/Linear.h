// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values of a symbolic run: sums of atoms, and what is known about them.

#ifndef FP8_LIB_PROOF_LINEAR_H
#define FP8_LIB_PROOF_LINEAR_H

#include "fp8/Proof/Expression.h"

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>

namespace fp8::proof {

using AtomId = uint32_t;

/// A sum of atoms with whole coefficients, and a constant.
struct Linear {
  int64_t constant = 0;
  /// By atom; no coefficient is 0.
  llvm::SmallVector<std::pair<AtomId, int64_t>, 3> terms;

  Linear(int64_t constant = 0) : constant(constant) {}
  static Linear of(AtomId atom) {
    Linear result;
    result.terms.push_back({atom, 1});
    return result;
  }
  bool isConstant() const { return terms.empty(); }
  /// Numbers of this size, or its negative, and beyond may stand for others
  /// that do not fit: nothing follows from such a sum.
  static constexpr int64_t kMost = int64_t(1) << 62;
  bool isTooLarge() const;
  bool operator==(const Linear &other) const {
    return constant == other.constant && terms == other.terms;
  }
  bool operator<(const Linear &other) const {
    return std::tie(terms, constant) < std::tie(other.terms, other.constant);
  }
};

inline llvm::hash_code hash_value(const Linear &sum) {
  // Most sums are short, and each is hashed often.
  constexpr size_t kMix = 0x9e3779b97f4a7c15;
  size_t hash = sum.constant * kMix;
  for (auto [atom, factor] : sum.terms)
    hash = (hash ^ (hash >> 32) ^ atom) * kMix + factor;
  return hash * kMix;
}

/// Of what has a `hash_value`, or is a list of it.
struct Hash {
  template <typename T>
  size_t operator()(const T &value) const {
    return hash_value(value);
  }
  template <typename T>
  size_t operator()(const std::vector<T> &list) const {
    return llvm::hash_combine_range(list.begin(), list.end());
  }
};

Linear operator+(const Linear &a, const Linear &b);
Linear operator*(const Linear &a, int64_t factor);
inline Linear operator-(const Linear &a, const Linear &b) { return a + b * -1; }

enum class AtomKind : uint8_t {
  Parameter,   ///< `number`
  Count,       ///< how often a loop has run: the `number`-th such value, >= 0
  Product,     ///< of `factors`
  FloorDivide, ///< of operand 0 by `number`, which is positive
  Quotient,    ///< of two operands, as floor division has it
  Remainder,   ///< of two operands
  Minimum,     ///< of two operands
  Maximum,     ///< of two operands
  Opaque,      ///< `number` is that of its name
  /// What a work queue answers: any number that is at least 0, one for each
  /// `number`.
  Answer,
};

/// A value that sums are made of.
struct Atom {
  AtomKind kind;
  int64_t number = 0;
  llvm::SmallVector<AtomId, 2> factors;
  std::vector<Linear> operands;

  bool operator==(const Atom &other) const {
    return std::tie(kind, number, factors, operands) ==
           std::tie(other.kind, other.number, other.factors, other.operands);
  }
};

inline llvm::hash_code hash_value(const Atom &atom) {
  return llvm::hash_combine(
      atom.kind, atom.number,
      llvm::hash_combine_range(atom.factors.begin(), atom.factors.end()),
      Hash()(atom.operands));
}

/// Sums that are known to be at least 0, in the order in which they were
/// learnt. Equal lists are one object, so that all states share what follows
/// from them.
struct FactList {
  std::vector<Linear> facts;
  std::unordered_map<Linear, bool, Hash> answers;
  /// The lists with one fact more.
  std::unordered_map<Linear, std::unique_ptr<FactList>, Hash> longer;
};

/// The atoms of a proof.
class AtomTable {
public:
  explicit AtomTable(const ExprTable &expressions) : expressions(expressions) {}

  Linear getParameter(int64_t number) {
    return getAtom({AtomKind::Parameter, number, {}, {}});
  }
  Linear getCount() { return getAtom({AtomKind::Count, numCounts++, {}, {}}); }
  Linear multiply(const Linear &a, const Linear &b);
  /// `divisor` is positive.
  Linear floorDivide(const Linear &dividend, int64_t divisor);
  Linear getAnswer(int64_t number) {
    return getAtom({AtomKind::Answer, number, {}, {}});
  }
  /// Appends the answers in the sum, each once, in the order in which they
  /// stand there first.
  void collectAnswers(const Linear &sum,
                      llvm::SmallVectorImpl<AtomId> &answers) const;
  bool hasAnswers(const Linear &sum) const;
  /// The sum with other values in place of some atoms.
  Linear substitute(const Linear &sum, const std::map<AtomId, Linear> &values);
  /// The smaller of the two, or the larger.
  Linear getExtremum(const Linear &a, const Linear &b, bool isMinimum);
  Linear getAtom(Atom atom);

  const Atom &operator[](AtomId id) const { return *atoms[id]; }
  /// Sums that are at least 0 by what the atom is.
  llvm::ArrayRef<Linear> getDefinition(AtomId id) const {
    return definitions[id];
  }
  bool isNonNegative(AtomId id) const;
  /// Who may see different values of the sum. `clusterSize` CTAs, whose numbers
  /// follow one another, are a cluster.
  Scope getScope(const Linear &sum, int64_t clusterSize) const;
  /// True if no function of the kernel's says what the sum is, but data do.
  bool isOfData(const Linear &sum) const;
  /// True if the parameters alone say what the sum is.
  bool isOfParameters(const Linear &sum) const;
  /// The sum as text; what is nested deeply is left out.
  std::string print(const Linear &sum) const;
  /// Counts a question about so many facts, which are of so many atoms. False
  /// if there were too many.
  bool ask(uint64_t facts, uint64_t atoms) {
    constexpr uint64_t kFewAtoms = 8;
    effort += facts * facts * std::max(atoms, kFewAtoms) / kFewAtoms;
    return !isTired();
  }
  uint64_t getEffort() const { return effort; }
  /// The place of the answer to the question whether no atoms make all these
  /// sums at least 0, and whether nobody has asked it before.
  std::pair<bool *, bool> findAnswer(const std::vector<Linear> &sums) {
    auto [it, isNew] = answers.try_emplace(sums, false);
    return {&it->second, isNew};
  }
  FactList &getNoFacts() { return noFacts; }
  bool isTired() const { return effort > mostEffort; }
  /// Limits the squares of facts in all questions. A question about few atoms
  /// takes about a microsecond for each pair of facts.
  void setMostEffort(uint64_t most) { mostEffort = most; }
  /// From now on, remainders are less than their divisors. What checks a
  /// certificate does not know this.
  void boundRemainders() { boundsRemainders = true; }
  const ExprTable &getExpressions() const { return expressions; }

private:
  /// The least and the largest value, if parameters with bounds say them.
  std::optional<std::pair<int64_t, int64_t>> getRange(const Linear &sum) const;
  std::vector<Linear> define(AtomId id, const Atom &atom);
  Scope getScope(AtomId id, int64_t clusterSize) const;
  Scope findScope(const Atom &atom, int64_t clusterSize) const;
  bool isParameter(const Linear &sum) const;
  void collectAnswers(const Linear &sum, llvm::SmallVectorImpl<AtomId> &answers,
                      std::set<AtomId> &seen) const;
  using Substitution = std::map<AtomId, Linear>;
  /// `values` grows by the sums of the atoms that it has replaced.
  Linear substituteInto(const Linear &sum, Substitution &values);
  void print(const Linear &sum, llvm::raw_ostream &stream,
             unsigned depth) const;
  void printAtom(const Atom &atom, llvm::raw_ostream &stream,
                 unsigned depth) const;

  /// What is known of an atom when it is made. Atoms share what they are made
  /// of, so that to look through all of it could take exponential time.
  struct Traits {
    bool isOfData, isOfParameters, hasAnswers;
    /// Its scope in clusters of so many CTAs; 0: nobody has asked.
    int64_t clusterSize = 0;
    Scope scope = Scope::Launch;
  };
  Traits getTraits(const Atom &atom) const;

  const ExprTable &expressions;
  std::unordered_map<Atom, AtomId, Hash> ids;
  std::vector<const Atom *> atoms;
  std::vector<std::vector<Linear>> definitions;
  mutable std::vector<Traits> traits;
  int64_t numCounts = 0;
  bool boundsRemainders = false;
  std::unordered_map<std::vector<Linear>, bool, Hash> answers;
  FactList noFacts;
  uint64_t mostEffort = 3'000'000, effort = 0;
};

/// What is known on a path: sums that are at least 0.
class Facts {
public:
  explicit Facts(AtomTable &atoms) : atoms(&atoms), list(&atoms.getNoFacts()) {}

  /// Adds that the sum is at least 0.
  void add(const Linear &sum);
  /// True if the sum is at least 0 whenever all facts hold. May be false
  /// although it is.
  bool implies(const Linear &sum) const;
  bool isKnownZero(const Linear &sum) const {
    return implies(sum) && implies(sum * -1);
  }
  /// Forgets what is known of answers.
  void forgetAnswers();
  llvm::ArrayRef<Linear> get() const { return list->facts; }
  /// Equal for equal facts, learnt in the same order.
  const void *getKey() const { return list; }

private:
  bool isRefuted(const Linear &sum) const;

  AtomTable *atoms;
  FactList *list;
};

} // namespace fp8::proof

#endif // FP8_LIB_PROOF_LINEAR_H
