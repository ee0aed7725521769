// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of unknowns, and what follows from facts about them.

#include "Checker.h"

#include <numeric>

namespace fp8::check {

static int64_t fit(__int128 number) {
  require(number <= INT64_MAX && number > INT64_MIN, "a number is too large");
  return number;
}

Sum operator+(const Sum &a, const Sum &b) {
  Sum result = a;
  result.constant = fit(__int128(a.constant) + b.constant);
  for (auto [atom, factor] : b.terms)
    if (int64_t &its = result.terms[atom]; !(its = fit(__int128(its) + factor)))
      result.terms.erase(atom);
  return result;
}

Sum operator*(const Sum &a, int64_t factor) {
  Sum result(fit(__int128(a.constant) * factor));
  if (factor)
    for (auto [atom, its] : a.terms)
      result.terms[atom] = fit(__int128(its) * factor);
  return result;
}

static int64_t floorDivide(int64_t a, int64_t b) { // b > 0
  return a / b - (a % b < 0);
}

//===--- Atoms ------------------------------------------------------------===//

Sum Atoms::get(Atom atom) {
  work();
  auto [it, isNew] = numbers.try_emplace(atom, atoms.size());
  Sum self;
  self.terms[it->second] = 1;
  if (isNew) {
    int number = it->second;
    atoms.push_back(atom);
    define(atom, self);
    atoms[number] = std::move(atom);
  }
  return self;
}

/// What follows from the kind of an atom.
void Atoms::define(Atom &atom, const Sum &self) {
  bool isParameter = atom.kind == "parameter", isOpaque = atom.kind == "opaque";
  const Sum *by = atom.operands.size() > 1 ? &atom.operands[1] : nullptr;
  for (const Sum &operand : atom.operands) {
    atom.scope = std::max(atom.scope, getScope(operand));
    atom.isNonNegative &= isNonNegative(operand);
  }
  if (isParameter || isOpaque) {
    const Value &its = check::get(
        check::get(skeleton, isOpaque ? "names" : "parameters"), atom.number);
    StringRef scope = getText(check::get(its, "scope"));
    atom.scope = std::max(atom.scope, scope == "launch" ? Scope::Launch
                                      : scope == "cta"  ? Scope::Cta
                                                        : Scope::Thread);
    atom.isNonNegative =
        isParameter && getNumber(check::get(its, "least")) >= 0;
    if (isOpaque)
      return;
    atom.rows.push_back(self - getNumber(check::get(its, "least")));
    if (has(its, "most"))
      atom.rows.push_back(Sum(getNumber(check::get(its, "most"))) - self);
    if (has(its, "below"))
      atom.rows.push_back(
          get({"parameter", getNumber(check::get(its, "below")), {}}) - self -
          1);
  } else if (atom.kind == "divide" && by->isConstant() && by->constant > 0) {
    // The number of a CTA, divided by the cluster's size, is the cluster's.
    const auto &[constant, terms] = atom.operands[0];
    if (atom.scope == Scope::Cta && by->constant % clusterSize == 0 &&
        !constant && terms.size() == 1 && terms.begin()->second == 1 &&
        atoms[terms.begin()->first].kind == "parameter")
      atom.scope = Scope::Launch;
    Sum rest = atom.operands[0] - self * by->constant;
    atom.rows = {rest, *by - 1 - rest};
  } else if (atom.isNonNegative) {
    atom.rows = {self};
  }
}

Scope Atoms::getScope(const Sum &sum) const {
  Scope scope = Scope::Launch;
  for (auto [atom, factor] : sum.terms)
    scope = std::max(scope, atoms[atom].scope);
  return scope;
}

bool Atoms::isNonNegative(const Sum &sum) const {
  return sum.constant >= 0 && llvm::all_of(sum.terms, [&](auto term) {
           return term.second > 0 && atoms[term.first].isNonNegative;
         });
}

Sum Atoms::multiply(const Sum &a, const Sum &b) {
  Sum result = b * a.constant + (a - a.constant) * b.constant;
  for (auto [left, factor] : a.terms)
    for (auto [right, other] : b.terms) {
      Atom product{"product", 0, {}};
      for (int number : {left, right}) {
        Sum self;
        self.terms[number] = 1;
        if (atoms[number].kind == "product")
          llvm::append_range(product.operands, atoms[number].operands);
        else
          product.operands.push_back(self);
      }
      llvm::sort(product.operands);
      result = result + get(product) * factor * other;
    }
  return result;
}

Sum Atoms::divide(StringRef kind, const Sum &dividend, const Sum &divisor) {
  int64_t by = divisor.constant;
  if (!divisor.isConstant() || by <= 0)
    return get({kind.str(), 0, {dividend, divisor}});
  // What the divisor divides leaves the division.
  Sum whole(floorDivide(dividend.constant, by));
  for (auto [atom, factor] : dividend.terms)
    if (factor % by == 0)
      whole.terms[atom] = factor / by;
  Sum rest = dividend - whole * by;
  if (!rest.isConstant())
    whole = whole + get({"divide", 0, {rest, divisor}});
  return kind == "divide" ? whole : dividend - whole * by;
}

//===--- Facts ------------------------------------------------------------===//

/// Sums that are at least 0, all of whole numbers. Fourier and Motzkin
/// eliminate one atom after the other.
class Inequalities {
public:
  /// False if there is a contradiction now.
  bool insert(const Sum &sum);
  bool areContradictory();

private:
  int choose() const;

  std::map<std::map<int, int64_t>, int64_t> rows; ///< constants by terms
};

bool Inequalities::insert(const Sum &sum) {
  int64_t common = 0;
  for (auto [atom, factor] : sum.terms)
    common = std::gcd(common, factor);
  if (!common)
    return sum.constant >= 0;
  Sum row(floorDivide(sum.constant, common));
  for (auto [atom, factor] : sum.terms)
    row.terms[atom] = factor / common;
  auto [it, isNew] = rows.try_emplace(row.terms, row.constant);
  it->second = std::min(it->second, row.constant);
  auto opposite = rows.find((row * -1).terms);
  return opposite == rows.end() ||
         fit(__int128(opposite->second) + it->second) >= 0;
}

/// The cheapest atom to eliminate, or -1. Those come first whose factors are 1,
/// for which nothing is lost.
int Inequalities::choose() const {
  struct Cost {
    int64_t up = 0, down = 0, large = 0;
  };
  std::map<int, Cost> costs;
  for (const auto &[terms, constant] : rows)
    for (auto [atom, factor] : terms) {
      ++(factor > 0 ? costs[atom].up : costs[atom].down);
      costs[atom].large += factor > 1 || factor < -1;
    }
  std::tuple<bool, int64_t, int> best = {true, INT64_MAX, -1};
  for (auto &[atom, its] : costs)
    best = std::min(best, {its.large && its.up && its.down,
                           its.up * its.down - its.up - its.down, atom});
  return std::get<2>(best);
}

bool Inequalities::areContradictory() {
  for (int atom; rows.size() < 1000 && (atom = choose()) >= 0;) {
    std::vector<Sum> up, down;
    for (auto it = rows.begin(); it != rows.end();) {
      Sum row(it->second);
      row.terms = it->first;
      bool isOfAtom = row.terms.count(atom);
      if (isOfAtom)
        (row.terms[atom] > 0 ? up : down).push_back(row);
      it = isOfAtom ? rows.erase(it) : std::next(it);
    }
    for (const Sum &a : up)
      for (const Sum &b : down) {
        work();
        int64_t left = a.terms.at(atom), right = -b.terms.at(atom),
                common = std::gcd(left, right);
        if (!insert(a * (right / common) + b * (left / common)))
          return true;
      }
  }
  return false;
}

bool Atoms::follows(const std::vector<Sum> &facts, const Sum &sum) const {
  if (sum.isConstant())
    return sum.constant >= 0;
  for (const Sum &fact : facts)
    if (fact.terms == sum.terms && fact.constant <= sum.constant)
      return true;
  // That the sum is less than 0 must contradict the facts and what atoms are.
  Inequalities all;
  std::set<int> known;
  llvm::SmallVector<int> worklist;
  bool holds = true;
  auto insert = [&](const Sum &row) {
    holds &= all.insert(row);
    for (auto [atom, factor] : row.terms)
      if (known.insert(atom).second)
        worklist.push_back(atom);
  };
  try {
    insert(Sum(-1) - sum);
    llvm::for_each(facts, insert);
    while (!worklist.empty())
      llvm::for_each(atoms[worklist.pop_back_val()].rows, insert);
    return !holds || all.areContradictory();
  } catch (const Rejected &) {
    work(); // it was too much work, or a number was too large
    return false;
  }
}

} // namespace fp8::check
