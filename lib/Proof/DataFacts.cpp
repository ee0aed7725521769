// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a run says of data, where they decide which way it goes.

#include "DataFacts.h"

#include <set>

using namespace fp8::proof;

namespace {

/// Collects data, and functions of which nothing is known.
class Collector {
public:
  /// `stopsAtFunctions`: what functions are of is left out.
  Collector(const AtomTable &atoms, bool stopsAtFunctions)
      : atoms(atoms), stopsAtFunctions(stopsAtFunctions) {}

  void add(const Linear &sum) {
    for (auto [atom, factor] : sum.terms)
      add(atom);
  }
  void addOperands(AtomId id) {
    for (AtomId factor : atoms[id].factors)
      add(factor);
    for (const Linear &operand : atoms[id].operands)
      add(operand);
  }

  std::set<AtomId> data, functions;

private:
  void add(AtomId id) {
    if (!seen.insert(id).second)
      return;
    const Atom &atom = atoms[id];
    if (atom.kind == AtomKind::Opaque) {
      bool isData = atoms.getExpressions().getName(atom.number).isData;
      (isData ? data : functions).insert(id);
      // An element may be any number, wherever it lies.
      if (isData || stopsAtFunctions)
        return;
    }
    addOperands(id);
  }

  const AtomTable &atoms;
  bool stopsAtFunctions;
  std::set<AtomId> seen;
};

} // namespace

bool fp8::proof::areOfDifferentData(const AtomTable &atoms,
                                    llvm::ArrayRef<Linear> sums) {
  Collector outside(atoms, /*stopsAtFunctions=*/true);
  for (const Linear &sum : sums)
    outside.add(sum);
  std::set<AtomId> used = outside.data;
  for (AtomId function : outside.functions) {
    Collector inside(atoms, /*stopsAtFunctions=*/false);
    inside.addOperands(function);
    for (AtomId datum : inside.data)
      if (!used.insert(datum).second)
        return false;
  }
  return true;
}
