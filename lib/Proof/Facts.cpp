// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What follows from the facts of a path, decided by MLIR's Presburger library.

#include "Linear.h"

#include "mlir/Analysis/Presburger/IntegerRelation.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace fp8::proof;
using mlir::presburger::IntegerPolyhedron;
using mlir::presburger::PresburgerSpace;

void Facts::add(const Linear &sum) {
  if (sum.isConstant() || sum.isTooLarge() ||
      llvm::is_contained(list->facts, sum))
    return;
  std::unique_ptr<FactList> &longer = list->longer[sum];
  if (!longer) {
    longer = std::make_unique<FactList>();
    longer->facts = list->facts;
    longer->facts.push_back(sum);
  }
  list = longer.get();
}

void Facts::forgetAnswers() {
  llvm::ArrayRef<Linear> facts = get();
  list = &atoms->getNoFacts();
  for (const Linear &fact : facts)
    if (!atoms->hasAnswers(fact))
      add(fact);
}

bool Facts::implies(const Linear &sum) const {
  if (sum.isTooLarge())
    return false;
  if (sum.isConstant())
    return sum.constant >= 0;
  // Most are known as such, or with another constant.
  for (const Linear &fact : get())
    if (fact.terms == sum.terms && fact.constant <= sum.constant)
      return true;
  auto [it, isNew] = list->answers.try_emplace(sum, false);
  if (isNew && !atoms->isTired())
    it->second = isRefuted(Linear(-1) - sum);
  return it->second;
}

/// True if the sum is at least 0 in no case in which all facts hold.
bool Facts::isRefuted(const Linear &sum) const {
  llvm::ArrayRef<Linear> known = get();
  llvm::MapVector<AtomId, unsigned> columns;
  std::vector<Linear> rows = {sum};
  auto addAtoms = [&](const Linear &row) {
    for (auto [atom, factor] : row.terms)
      columns.insert({atom, columns.size()});
  };
  addAtoms(sum);
  // What says something about an atom that takes part.
  std::vector<bool> isTaken(known.size());
  for (unsigned next = 0, changed = true; changed;) {
    changed = false;
    for (; next < columns.size(); ++next, changed = true) {
      AtomId atom = std::next(columns.begin(), next)->first;
      for (const Linear &row : atoms->getDefinition(atom)) {
        if (row.isTooLarge())
          continue;
        rows.push_back(row);
        addAtoms(row);
      }
    }
    for (size_t i = 0; i < known.size(); ++i) {
      const Linear &fact = known[i];
      std::vector<bool>::reference taken = isTaken[i];
      // A quotient may be all that a fact mentions of an atom.
      auto isInvolved = [&](AtomId atom) {
        return columns.contains(atom) ||
               llvm::any_of(atoms->getDefinition(atom), [&](const Linear &row) {
                 return llvm::any_of(row.terms, [&](auto term) {
                   return columns.contains(term.first);
                 });
               });
      };
      if (taken || llvm::none_of(fact.terms, [&](auto term) {
            return isInvolved(term.first);
          }))
        continue;
      taken = true;
      changed = true;
      rows.push_back(fact);
      addAtoms(fact);
    }
  }
  // Other states have asked the same.
  auto [answer, isNew] = atoms->findAnswer(rows);
  if (!isNew)
    return *answer;
  if (!atoms->ask(rows.size(), columns.size()))
    return false;
  IntegerPolyhedron set(PresburgerSpace::getSetSpace(columns.size()));
  llvm::SmallVector<int64_t> coefficients;
  for (const Linear &row : rows) {
    coefficients.assign(columns.size() + 1, 0);
    for (auto [atom, factor] : row.terms)
      coefficients[columns.lookup(atom)] = factor;
    coefficients.back() = row.constant;
    set.addInequality(coefficients);
  }
  return *answer = set.isIntegerEmpty();
}
