// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lifetimes of variables.

#include "Lifetimes.h"

#include "llvm/ADT/STLExtras.h"

using namespace fp8::proof;

Lifetimes::Owners Lifetimes::collect(const Block &block) {
  Owners all;
  std::map<unsigned, unsigned> first; // the statement of the block, by variable
  for (unsigned index = 0; index < block.size(); ++index) {
    const Statement &statement = block[index];
    auto give = [&](unsigned variable, Owner owner) {
      // Two places: the block that contains both, from the first on.
      first.try_emplace(variable, index);
      if (!all.try_emplace(variable, owner).second)
        all[variable] = {&block, first[variable]};
    };
    if (statement.kind == Statement::Kind::For)
      for (unsigned variable :
           {statement.variable, statement.bound, statement.stride})
        give(variable, {&block, index});
    if (statement.kind != Statement::Kind::Signal &&
        statement.kind != Statement::Kind::Access)
      for (auto [variable, value] : statement.assigned)
        give(variable, {&block, index});
    Owners inner = collect(statement.first);
    for (auto [variable, owner] : collect(statement.second))
      if (!inner.try_emplace(variable, owner).second)
        inner[variable] = {&block, index};
    for (auto [variable, owner] : inner)
      give(variable, owner);
  }
  return all;
}

Lifetimes::Lifetimes(const Skeleton &skeleton) {
  for (const Process &process : skeleton.processes)
    owners.push_back(collect(process.body));
}

bool Lifetimes::isAlive(unsigned process, unsigned variable,
                        llvm::ArrayRef<Frame> stack) const {
  auto it = owners[process].find(variable);
  if (it == owners[process].end())
    return true;
  const Owner &owner = it->second;
  const auto *frame = llvm::find_if(
      stack, [&](const Frame &its) { return its.block == owner.block; });
  if (frame == stack.end() || frame->next < owner.index)
    return false;
  // What runs has values if it is a loop that has begun.
  return frame->next > owner.index ||
         ((*owner.block)[owner.index].kind == Statement::Kind::For &&
          (frame->atGuard || frame != &stack.back()));
}
