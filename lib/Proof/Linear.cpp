// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of atoms.

#include "Linear.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace fp8::proof;

static bool isLarge(int64_t value) {
  return value >= Linear::kMost || value <= -Linear::kMost;
}

/// What does not fit stays at the end of the range, and so does all that is
/// made of it (Linear::isTooLarge).
static int64_t getSum(int64_t a, int64_t b) {
  int64_t sum;
  if (!isLarge(a) && !isLarge(b) && !llvm::AddOverflow(a, b, sum))
    return sum;
  return (isLarge(a) ? a : b) < 0 ? -Linear::kMost : Linear::kMost;
}
static int64_t getProduct(int64_t a, int64_t b) {
  int64_t product = 0;
  if (!a || !b || !llvm::MulOverflow(a, b, product))
    return isLarge(product) ? (product < 0 ? -Linear::kMost : Linear::kMost)
                            : product;
  return (a < 0) != (b < 0) ? -Linear::kMost : Linear::kMost;
}

Linear fp8::proof::operator+(const Linear &a, const Linear &b) {
  Linear result(getSum(a.constant, b.constant));
  auto i = a.terms.begin(), j = b.terms.begin();
  while (i != a.terms.end() || j != b.terms.end()) {
    if (j == b.terms.end() || (i != a.terms.end() && i->first < j->first)) {
      result.terms.push_back(*i++);
    } else if (i == a.terms.end() || j->first < i->first) {
      result.terms.push_back(*j++);
    } else {
      if (int64_t sum = getSum(i->second, j->second))
        result.terms.push_back({i->first, sum});
      ++i, ++j;
    }
  }
  return result;
}

Linear fp8::proof::operator*(const Linear &a, int64_t factor) {
  if (!factor)
    return Linear();
  Linear result = a;
  result.constant = getProduct(result.constant, factor);
  for (auto &[atom, coefficient] : result.terms)
    coefficient = getProduct(coefficient, factor);
  return result;
}

bool Linear::isTooLarge() const {
  return isLarge(constant) ||
         llvm::any_of(terms, [&](auto term) { return isLarge(term.second); });
}

Linear AtomTable::getAtom(Atom atom) {
  auto [it, isNew] = ids.try_emplace(std::move(atom), atoms.size());
  auto &[its, id] = *it;
  if (isNew) {
    atoms.push_back(&its);
    traits.push_back(getTraits(its));
    definitions.emplace_back();
    // It may be defined by atoms that are new, too.
    std::vector<Linear> definition = define(id, its);
    definitions[id] = std::move(definition);
  }
  return Linear::of(id);
}

Linear AtomTable::multiply(const Linear &a, const Linear &b) {
  Linear result = b * a.constant + Linear(0);
  for (auto [left, factor] : a.terms) {
    result = result + Linear::of(left) * getProduct(factor, b.constant);
    for (auto [right, other] : b.terms) {
      Atom product{AtomKind::Product, 0, {}, {}};
      for (AtomId id : {left, right})
        if (atoms[id]->kind == AtomKind::Product)
          llvm::append_range(product.factors, atoms[id]->factors);
        else
          product.factors.push_back(id);
      llvm::sort(product.factors);
      result = result + getAtom(std::move(product)) * getProduct(factor, other);
    }
  }
  return result;
}

std::optional<std::pair<int64_t, int64_t>>
AtomTable::getRange(const Linear &sum) const {
  std::pair<int64_t, int64_t> range{sum.constant, sum.constant};
  for (auto [id, factor] : sum.terms) {
    const Atom &atom = *atoms[id];
    if (atom.kind != AtomKind::Parameter)
      return std::nullopt;
    const Parameter &parameter = expressions.getParameters()[atom.number];
    if (!parameter.most)
      return std::nullopt;
    auto [least, most] = std::minmax({getProduct(parameter.least, factor),
                                      getProduct(*parameter.most, factor)});
    range = {getSum(range.first, least), getSum(range.second, most)};
  }
  return range;
}

Linear AtomTable::floorDivide(const Linear &dividend, int64_t divisor) {
  if (dividend.isTooLarge())
    return Linear(Linear::kMost);
  // What the divisor divides leaves the division.
  Linear whole, rest;
  rest.constant = dividend.constant;
  for (auto [atom, factor] : dividend.terms)
    if (factor % divisor == 0)
      whole.terms.push_back({atom, factor / divisor});
    else
      rest.terms.push_back({atom, factor});
  int64_t least = rest.constant % divisor;
  least += least < 0 ? divisor : 0;
  whole.constant = (rest.constant - least) / divisor;
  rest.constant = least;
  // As the number of a CTA in its cluster, divided by the cluster's size.
  auto range = getRange(rest);
  if (range && range->first >= 0 && range->second < divisor)
    return whole;
  // A quotient's quotient is one by the product.
  if (rest.terms.size() == 1 && rest.terms[0].second == 1)
    if (const Atom &inner = *atoms[rest.terms[0].first];
        inner.kind == AtomKind::FloorDivide)
      if (int64_t product = getProduct(inner.number, divisor);
          product < Linear::kMost)
        return whole + floorDivide(inner.operands[0] +
                                       Linear(rest.constant * inner.number),
                                   product);
  // The quotient of what is negative is that of its opposite, rounded up, so
  // that both ways to round up are one atom.
  bool isNegative = !rest.terms.empty() && rest.terms[0].second < 0;
  if (isNegative)
    rest = Linear(divisor - 1) - rest;
  Linear quotient = getAtom({AtomKind::FloorDivide, divisor, {}, {rest}});
  return isNegative ? whole - quotient : whole + quotient;
}

void AtomTable::collectAnswers(const Linear &sum,
                               llvm::SmallVectorImpl<AtomId> &answers,
                               std::set<AtomId> &seen) const {
  for (auto [id, factor] : sum.terms) {
    if (!traits[id].hasAnswers || !seen.insert(id).second)
      continue;
    const Atom &atom = *atoms[id];
    if (atom.kind == AtomKind::Answer)
      answers.push_back(id);
    for (AtomId its : atom.factors)
      collectAnswers(Linear::of(its), answers, seen);
    for (const Linear &operand : atom.operands)
      collectAnswers(operand, answers, seen);
  }
}

void AtomTable::collectAnswers(const Linear &sum,
                               llvm::SmallVectorImpl<AtomId> &answers) const {
  std::set<AtomId> seen;
  collectAnswers(sum, answers, seen);
}

bool AtomTable::hasAnswers(const Linear &sum) const {
  return llvm::any_of(sum.terms,
                      [&](auto term) { return traits[term.first].hasAnswers; });
}

Linear AtomTable::substitute(const Linear &sum, const Substitution &values) {
  Substitution replaced = values;
  return substituteInto(sum, replaced);
}

Linear AtomTable::substituteInto(const Linear &sum, Substitution &values) {
  Linear result(sum.constant);
  auto replaced = [&](Atom atom) {
    for (Linear &operand : atom.operands)
      operand = substituteInto(operand, values);
    if (atom.kind == AtomKind::FloorDivide)
      return floorDivide(atom.operands[0], atom.number);
    if (atom.kind == AtomKind::Minimum || atom.kind == AtomKind::Maximum)
      return getExtremum(atom.operands[0], atom.operands[1],
                         atom.kind == AtomKind::Minimum);
    if (atom.kind != AtomKind::Product)
      return getAtom(std::move(atom));
    Linear product(1);
    for (AtomId its : atom.factors)
      product = multiply(product, substituteInto(Linear::of(its), values));
    return product;
  };
  for (auto [id, factor] : sum.terms) {
    auto it = values.find(id);
    if (it == values.end()) {
      const Atom &atom = *atoms[id];
      bool isLeaf = atom.factors.empty() && atom.operands.empty();
      it = values.emplace(id, isLeaf ? Linear::of(id) : replaced(atom)).first;
    }
    result = result + it->second * factor;
  }
  return result;
}

Linear AtomTable::getExtremum(const Linear &a, const Linear &b,
                              bool isMinimum) {
  if (Linear distance = b - a; distance.isConstant())
    return (distance.constant >= 0) == isMinimum ? a : b;
  return getAtom({isMinimum ? AtomKind::Minimum : AtomKind::Maximum,
                  0,
                  {},
                  {std::min(a, b), std::max(a, b)}});
}

bool AtomTable::isNonNegative(AtomId id) const {
  const Atom &atom = *atoms[id];
  switch (atom.kind) {
  case AtomKind::Parameter:
    return expressions.getParameters()[atom.number].least >= 0;
  case AtomKind::Count:
  case AtomKind::Answer:
    return true;
  case AtomKind::Product:
    return llvm::all_of(atom.factors,
                        [&](AtomId factor) { return isNonNegative(factor); });
  case AtomKind::FloorDivide:
  case AtomKind::Quotient:
  case AtomKind::Remainder:
  case AtomKind::Minimum:
  case AtomKind::Maximum:
    return llvm::all_of(atom.operands, [&](const Linear &operand) {
      return operand.constant >= 0 &&
             llvm::all_of(operand.terms, [&](auto term) {
               return term.second >= 0 && isNonNegative(term.first);
             });
    });
  case AtomKind::Opaque:
    return false;
  }
  llvm_unreachable("all kinds are handled");
}

std::vector<Linear> AtomTable::define(AtomId id, const Atom &atom) {
  Linear self = Linear::of(id);
  switch (atom.kind) {
  case AtomKind::Parameter: {
    const Parameter &parameter = expressions.getParameters()[atom.number];
    std::vector<Linear> bounds = {self - Linear(parameter.least)};
    if (parameter.most)
      bounds.push_back(Linear(*parameter.most) - self);
    if (parameter.below)
      bounds.push_back(getParameter(*parameter.below) -
                       self * parameter.weight - Linear(1));
    return bounds;
  }
  case AtomKind::Count:
  case AtomKind::Answer:
    return {self};
  case AtomKind::FloorDivide: {
    Linear rest = atom.operands[0] - self * atom.number;
    return {rest, Linear(atom.number - 1) - rest};
  }
  case AtomKind::Minimum:
    return {atom.operands[0] - self, atom.operands[1] - self};
  case AtomKind::Maximum:
    return {self - atom.operands[0], self - atom.operands[1]};
  case AtomKind::Remainder:
    // No launch is about a kernel that divides by 0.
    if (boundsRemainders && isNonNegative(id))
      return {self, atom.operands[1] - self - Linear(1)};
    break;
  case AtomKind::Product:
  case AtomKind::Quotient:
  case AtomKind::Opaque:
    break;
  }
  return isNonNegative(id) ? std::vector<Linear>{self} : std::vector<Linear>();
}

bool AtomTable::isParameter(const Linear &sum) const {
  return sum.terms.size() == 1 && sum == Linear::of(sum.terms[0].first) &&
         atoms[sum.terms[0].first]->kind == AtomKind::Parameter;
}

Scope AtomTable::getScope(AtomId id, int64_t clusterSize) const {
  if (traits[id].clusterSize != clusterSize) {
    Scope scope = findScope(*atoms[id], clusterSize);
    traits[id].clusterSize = clusterSize;
    traits[id].scope = scope;
  }
  return traits[id].scope;
}

Scope AtomTable::findScope(const Atom &atom, int64_t clusterSize) const {
  Scope scope = Scope::Launch;
  if (atom.kind == AtomKind::Parameter)
    return expressions.getParameters()[atom.number].scope;
  if (atom.kind == AtomKind::Opaque)
    scope = expressions.getName(atom.number).scope;
  for (AtomId factor : atom.factors)
    scope = std::max(scope, getScope(factor, clusterSize));
  for (const Linear &operand : atom.operands) {
    // The number of a CTA, divided by the cluster's size, is the cluster's.
    bool isOfCluster = atom.kind == AtomKind::FloorDivide &&
                       atom.number % clusterSize == 0 && isParameter(operand);
    Scope its = getScope(operand, clusterSize);
    if (isOfCluster && its == Scope::Cta)
      its = Scope::Launch;
    scope = std::max(scope, its);
  }
  return scope;
}

Scope AtomTable::getScope(const Linear &sum, int64_t clusterSize) const {
  Scope scope = Scope::Launch;
  for (auto [atom, factor] : sum.terms)
    scope = std::max(scope, getScope(atom, clusterSize));
  return scope;
}

AtomTable::Traits AtomTable::getTraits(const Atom &atom) const {
  std::vector<Linear> parts = atom.operands;
  for (AtomId factor : atom.factors)
    parts.push_back(Linear::of(factor));
  auto ofAny = [&](bool (AtomTable::*has)(const Linear &) const) {
    return llvm::any_of(parts,
                        [&](const Linear &its) { return (this->*has)(its); });
  };
  bool isAnswer = atom.kind == AtomKind::Answer,
       isOpaque = atom.kind == AtomKind::Opaque;
  Traits its;
  its.isOfData = isAnswer ||
                 (isOpaque && expressions.getName(atom.number).isData) ||
                 ofAny(&AtomTable::isOfData);
  its.isOfParameters =
      !isOpaque && llvm::all_of(parts, [&](const Linear &part) {
        return isOfParameters(part);
      });
  its.hasAnswers = isAnswer || ofAny(&AtomTable::hasAnswers);
  return its;
}

bool AtomTable::isOfData(const Linear &sum) const {
  return llvm::any_of(sum.terms,
                      [&](auto term) { return traits[term.first].isOfData; });
}

bool AtomTable::isOfParameters(const Linear &sum) const {
  return llvm::all_of(
      sum.terms, [&](auto term) { return traits[term.first].isOfParameters; });
}

void AtomTable::printAtom(const Atom &atom, llvm::raw_ostream &stream,
                          unsigned depth) const {
  auto list = [&](llvm::StringRef name) {
    stream << name << '(';
    llvm::interleaveComma(atom.operands, stream, [&](const Linear &operand) {
      print(operand, stream, depth - 1);
    });
    if (atom.kind == AtomKind::FloorDivide)
      stream << ", " << atom.number;
    stream << ')';
  };
  switch (atom.kind) {
  case AtomKind::Parameter:
    stream << expressions.getParameters()[atom.number].name;
    break;
  case AtomKind::Count:
    stream << 'n' << atom.number;
    break;
  case AtomKind::Answer:
    stream << "an answer of the queue";
    break;
  case AtomKind::Product:
    llvm::interleave(
        atom.factors, stream,
        [&](AtomId its) { print(Linear::of(its), stream, depth - 1); }, " * ");
    break;
  case AtomKind::Minimum:
    list("min");
    break;
  case AtomKind::Maximum:
    list("max");
    break;
  case AtomKind::FloorDivide:
  case AtomKind::Quotient:
    list("floordiv");
    break;
  case AtomKind::Remainder:
    list("mod");
    break;
  case AtomKind::Opaque:
    list(expressions.getName(atom.number).text);
    break;
  }
}

std::string AtomTable::print(const Linear &sum) const {
  constexpr unsigned kDepth = 6;
  std::string text;
  llvm::raw_string_ostream stream(text);
  print(sum, stream, kDepth);
  return text;
}

void AtomTable::print(const Linear &sum, llvm::raw_ostream &stream,
                      unsigned depth) const {
  if (!depth) {
    stream << "...";
    return;
  }
  bool isFirst = true;
  for (auto [id, factor] : sum.terms) {
    stream << (factor < 0 ? (isFirst ? "-" : " - ") : (isFirst ? "" : " + "));
    if (std::abs(factor) != 1)
      stream << std::abs(factor) << ' ';
    printAtom(*atoms[id], stream, depth);
    isFirst = false;
  }
  if (isFirst)
    stream << sum.constant;
  else if (sum.constant)
    stream << (sum.constant < 0 ? " - " : " + ") << std::abs(sum.constant);
}
