// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values that each turn of a loop multiplies. In any turn they are some number,
// the same one wherever a turn leaves them the same.

#include "SymbolicRun.h"

#include "llvm/ADT/STLExtras.h"

using namespace fp8::proof;

/// True if the second difference is the first one times a number of at least 2.
static bool isMultiple(const Linear &first, const Linear &second) {
  auto getFactor = [](const Linear &sum) {
    return sum.terms.empty() ? sum.constant : sum.terms.front().second;
  };
  int64_t divisor = getFactor(first);
  if (!divisor || second.isTooLarge() || first.isTooLarge())
    return false;
  int64_t times = getFactor(second) / divisor;
  return times >= 2 && second == first * times;
}

SymbolicRun::Growths SymbolicRun::findGrowths(const State &previous,
                                              const State &state,
                                              const State &next) {
  Growths growths;
  std::map<std::pair<Linear, Linear>, size_t> numbers;
  for (const auto &[process, its] : llvm::enumerate(state.processes)) {
    auto &before = previous.processes[process].values,
         &after = next.processes[process].values;
    for (unsigned variable = 0; variable < its.values.size(); ++variable) {
      const auto &value = its.values[variable];
      if (!lifetimes.isAlive(process, variable, its.stack) || !value ||
          !before[variable] || !after[variable] ||
          !isMultiple(*value - *before[variable], *after[variable] - *value))
        continue;
      auto [number, isNew] =
          numbers.try_emplace({*value, *after[variable]}, growths.size());
      if (isNew)
        growths.push_back({{}, {}, *value});
      growths[number->second].variables.push_back({process, variable});
    }
  }
  return growths;
}

bool SymbolicRun::inductGrowth(const States &past, const State &next,
                               const Head &head) {
  if (past.size() < 2)
    return false;
  const State &state = past.back();
  Growths growths = findGrowths(past[past.size() - 2], state, next);
  // A symbol is at least 0, and all threads of all CTAs see the same of it.
  auto isFollowed = [&](const Growth &growth) {
    return isOfAll(growth.first) && state.facts.implies(growth.first);
  };
  if (growths.empty() || !llvm::all_of(growths, isFollowed) ||
      !getShift(state, next))
    return false;
  for (Growth &growth : growths)
    growth.symbol = atoms.getCount();
  return induct(past, next, 1, head, /*mayBeOver=*/false, growths);
}

bool SymbolicRun::isOfAll(const Linear &sum) const {
  return machine.getScope(sum) == Scope::Launch && !atoms.hasAnswers(sum);
}

void SymbolicRun::generalise(State &state, const Growths &growths) {
  for (const Growth &growth : growths) {
    state.facts.add(growth.symbol - growth.first);
    for (auto [process, variable] : growth.variables)
      state.processes[process].values[variable] = growth.symbol;
  }
}

bool SymbolicRun::growsOn(const State &any, const State &expected,
                          const State &arrived, const Growths &growths,
                          const Head &head) {
  std::map<AtomId, Linear> grown;
  for (const Growth &growth : growths) {
    auto [process, variable] = growth.variables.front();
    const auto &value = arrived.processes[process].values[variable];
    if (!value || !isOfAll(*value) ||
        !arrived.facts.implies(*value - growth.first))
      return false;
    grown[growth.symbol.terms.front().first] = *value;
  }
  State state = expected;
  for (ProcessState &process : state.processes)
    for (std::optional<Linear> &value : process.values)
      if (value)
        value = atoms.substitute(*value, grown);
  for (auto &[place, value] : state.fields)
    value = atoms.substitute(value, grown);
  return isSame(state, arrived) && falls(any, arrived, head);
}
