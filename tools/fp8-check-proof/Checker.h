// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks a certificate. docs/Proof.md, "The certificate", says what one is.

#ifndef FP8_TOOLS_CHECKPROOF_CHECKER_H
#define FP8_TOOLS_CHECKPROOF_CHECKER_H

#include "llvm/ADT/DynamicAPInt.h"

#include <nlohmann/json.hpp>

namespace fp8::check {

using Integer = llvm::DynamicAPInt; ///< of any size
/// What a certificate lacks is an exception, as what is wrong with it.
using Json = nlohmann::json;

/// Rejects the certificate unless it holds.
inline void require(bool holds, const char *reason) {
  if (!holds)
    throw std::runtime_error(reason);
}
/// Counts work; rejects a certificate that makes too much of it.
void work();

/// A constant, and factors of atoms by their numbers; no factor is 0.
struct Sum {
  Integer constant;
  std::map<int, Integer> terms;

  Sum(Integer constant = Integer(0), std::map<int, Integer> terms = {})
      : constant(constant), terms(std::move(terms)) {}
  Sum(int64_t constant) : constant(constant) {}
  static Sum of(int atom) { return {Integer(0), {{atom, Integer(1)}}}; }
  bool operator<(const Sum &other) const {
    return std::tie(constant, terms) < std::tie(other.constant, other.terms);
  }
};

Sum operator+(Sum a, const Sum &b);
Sum operator*(Sum a, const Integer &factor);
inline Sum operator-(const Sum &a, const Sum &b) { return a + b * Integer(-1); }

/// Sums that are at least 0.
using Facts = std::vector<Sum>;

/// Who may see different values: nobody, CTAs of a cluster, or threads.
enum Scope { kLaunch, kCta, kThread };

/// An unknown: a parameter or a count of turns, by its number; a product or a
/// quotient; or an opaque function, by its number.
struct Atom {
  std::string kind;
  int64_t number = 0;
  std::vector<Sum> operands = {};
  // What follows from these.
  int scope = kLaunch;
  bool isNonNegative = true;
  Facts facts = {};
};

/// The atoms of a certificate.
class Atoms {
public:
  explicit Atoms(const Json &certificate)
      : skeleton(certificate.at("skeleton")),
        clusterSize(
            std::max(certificate.at("cluster").get<int64_t>(), int64_t(1))) {}

  Sum get(Atom atom);
  Sum multiply(const Sum &a, const Sum &b);
  /// Rounds down.
  Sum divide(const Sum &dividend, const Sum &divisor);
  int getScope(const Sum &sum) const;
  /// True if the sum is at least 0 whenever all facts are. May be false then.
  bool follows(const Facts &facts, const Sum &sum) const;
  bool areEqual(const Facts &facts, const Sum &a, const Sum &b) const {
    return follows(facts, a - b) && follows(facts, b - a);
  }

  const Json &skeleton;
  const int64_t clusterSize; ///< CTAs whose numbers follow one another

private:
  void define(Atom &atom, int number);

  std::map<std::tuple<std::string, int64_t, std::vector<Sum>>, int> numbers;
  std::vector<Atom> atoms;
};

/// Rejects the certificate unless its witness proves that all launches end.
void replay(const Json &certificate);

} // namespace fp8::check

#endif // FP8_TOOLS_CHECKPROOF_CHECKER_H
