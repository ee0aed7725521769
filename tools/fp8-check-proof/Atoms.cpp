// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of unknowns, and what follows from facts about them.

#include "Checker.h"

#include <set>

namespace fp8::check {

Sum operator+(Sum a, const Sum &b) {
  a.constant += b.constant;
  for (const auto &[atom, factor] : b.terms)
    if ((a.terms[atom] += factor) == 0)
      a.terms.erase(atom);
  return a;
}

Sum operator*(Sum a, const Integer &factor) {
  require(abs(factor) <= INT64_MAX, "a number is too large");
  if (factor == 0)
    return 0;
  a.constant *= factor;
  for (auto &its : a.terms)
    its.second *= factor;
  return a;
}

Sum Atoms::get(Atom atom) {
  work();
  auto [it, isNew] = numbers.try_emplace(
      {atom.kind, atom.number, atom.operands}, atoms.size());
  int number = it->second;
  if (isNew) {
    atoms.push_back(atom);
    define(atom, number);
    atoms[number] = std::move(atom);
  }
  return Sum::of(number);
}

static int readScope(const Json &its) {
  return std::min<uint64_t>(its.at("scope").get<uint64_t>(), kThread);
}

/// What follows from the kind of an atom.
void Atoms::define(Atom &atom, int number) {
  for (const Sum &operand : atom.operands) {
    atom.scope = std::max(atom.scope, getScope(operand));
    atom.isNonNegative &= operand.constant >= 0;
    for (const auto &[inner, factor] : operand.terms)
      atom.isNonNegative &= factor > 0 && atoms[inner].isNonNegative;
  }
  Sum self = Sum::of(number);
  if (atom.kind == "parameter") {
    require(atom.number < 1000, "there are too many parameters");
    const Json &its = skeleton.at("parameters").at(atom.number);
    atom.scope = readScope(its);
    atom.isNonNegative = its.at("least") >= 0;
    atom.facts = {self - its.at("least").get<int64_t>()};
    if (its.contains("most"))
      atom.facts.push_back(Sum(its.at("most").get<int64_t>()) - self);
    if (its.contains("below"))
      atom.facts.push_back(get({"parameter", its.at("below")}) - self - 1);
  } else if (atom.kind == "opaque") {
    const Json &its = skeleton.at("names").at(atom.number);
    atom.scope = std::max(atom.scope, readScope(its));
    atom.isNonNegative = false;
  } else if (atom.kind == "divide" && atom.operands[1].terms.empty() &&
             atom.operands[1].constant > 0) {
    const auto &[constant, terms] = atom.operands[0];
    Integer by = atom.operands[1].constant;
    // The number of a CTA, divided by the cluster's size, is the cluster's.
    if (atom.scope == kCta && by % Integer(clusterSize) == 0 && constant == 0 &&
        terms.size() == 1 && terms.begin()->second == 1 &&
        atoms[terms.begin()->first].kind == "parameter")
      atom.scope = kLaunch;
    atom.facts = {atom.operands[0] - self * by};
    atom.facts.push_back(Sum(by - 1) - atom.facts[0]);
  } else if (atom.isNonNegative) {
    atom.facts = {self};
  }
}

int Atoms::getScope(const Sum &sum) const {
  int scope = kLaunch;
  for (const auto &[atom, factor] : sum.terms)
    scope = std::max(scope, atoms[atom].scope);
  return scope;
}

Sum Atoms::multiply(const Sum &a, const Sum &b) {
  Sum result = b * a.constant + (a - a.constant) * b.constant;
  for (const auto &[left, factor] : a.terms)
    for (const auto &[right, other] : b.terms) {
      Atom product{"product"};
      for (int number : {left, right}) {
        std::vector<Sum> its = {Sum::of(number)};
        if (atoms[number].kind == "product")
          its = atoms[number].operands;
        product.operands.insert(product.operands.end(), its.begin(), its.end());
      }
      std::sort(product.operands.begin(), product.operands.end());
      result = result + get(std::move(product)) * (factor * other);
    }
  return result;
}

Sum Atoms::divide(const Sum &dividend, const Sum &divisor) {
  Integer by = divisor.constant;
  // What the divisor divides leaves the division.
  if (!divisor.terms.empty()) {
    auto [atom, factor] = *divisor.terms.begin();
    auto term = dividend.terms.find(atom);
    bool has = term != dividend.terms.end();
    Integer times = has ? term->second / factor : Integer(0);
    Sum rest = dividend - divisor * times;
    bool isZero = rest.terms.empty() && rest.constant == 0;
    if (rest.terms.size() + divisor.terms.size() == dividend.terms.size())
      return (isZero ? rest : divide(rest, divisor)) + Sum(times);
  }
  if (!divisor.terms.empty() || by <= 0)
    return get({"divide", 0, {dividend, divisor}});
  Sum whole(floorDiv(dividend.constant, by));
  for (const auto &[atom, factor] : dividend.terms)
    if (factor % by == 0)
      whole.terms[atom] = factor / by;
  Sum rest = dividend - whole * by;
  if (rest.terms.empty())
    return whole;
  // Values that are equal in all cases should be equal sums.
  auto [first, factor] = *rest.terms.begin();
  if (factor < 0)
    return whole - get({"divide", 0, {Sum(by - 1) - rest, divisor}});
  const Atom inner = atoms[first];
  if (rest.terms.size() > 1 || factor != 1 || inner.kind != "divide" ||
      !inner.operands[1].terms.empty() || inner.operands[1].constant <= 0)
    return whole + get({"divide", 0, {rest, divisor}});
  Integer times = inner.operands[1].constant;
  return whole + divide(inner.operands[0] + rest.constant * times, times * by);
}

/// Sums of whole numbers that are at least 0: constants by terms.
using Rows = std::map<std::map<int, Integer>, Integer>;

/// False if there is a contradiction now.
static bool insert(Rows &rows, Sum sum) {
  Integer common(0);
  for (const auto &[atom, factor] : sum.terms)
    common = gcd(common, abs(factor));
  if (common == 0)
    return sum.constant >= 0;
  for (auto &its : sum.terms)
    its.second /= common;
  sum.constant = floorDiv(sum.constant, common);
  Integer &constant = rows.try_emplace(sum.terms, sum.constant).first->second;
  constant = std::min(constant, sum.constant);
  return true;
}

/// Fourier and Motzkin eliminate one atom after the other.
static bool areContradictory(Rows rows) {
  while (!rows.empty() && rows.size() < 1000) {
    // Cheap atoms come first, and those whose factors are 1 lose nothing.
    std::map<int, int64_t> costs;
    for (const auto &[terms, constant] : rows)
      for (const auto &[atom, factor] : terms)
        costs[atom] += abs(factor) > 1 ? 1000 : 1;
    int atom = costs.begin()->first;
    for (auto [other, cost] : costs)
      atom = cost < costs[atom] ? other : atom;
    std::vector<Sum> up, down;
    for (const auto &[terms, constant] : std::exchange(rows, {}))
      if (auto it = terms.find(atom); it == terms.end())
        rows.emplace(terms, constant);
      else
        (it->second > 0 ? up : down).push_back({constant, terms});
    for (const Sum &a : up)
      for (const Sum &b : down) {
        work();
        if (!insert(rows, a * -b.terms.at(atom) + b * a.terms.at(atom)))
          return true;
      }
  }
  return false;
}

bool Atoms::follows(const Facts &facts, const Sum &sum) const {
  if (sum.terms.empty())
    return sum.constant >= 0;
  // That the sum is less than 0 must contradict the facts and what atoms are.
  Facts all = facts;
  all.push_back(Sum(-1) - sum);
  Rows rows;
  std::set<int> known;
  for (size_t i = 0; i < all.size(); ++i) {
    const Sum fact = all[i];
    if (!insert(rows, fact))
      return true;
    for (const auto &[atom, factor] : fact.terms)
      if (known.insert(atom).second)
        all.insert(all.end(), atoms[atom].facts.begin(),
                   atoms[atom].facts.end());
  }
  return areContradictory(std::move(rows));
}

} // namespace fp8::check
