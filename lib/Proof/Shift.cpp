// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// By how much states differ.

#include "SymbolicRun.h"

#include "llvm/ADT/STLExtras.h"

using namespace fp8::proof;

/// True if both states have the same positions, and channels as full.
static bool haveSamePlaces(const State &a, const State &b,
                           const Skeleton &skeleton) {
  for (auto [left, right] : llvm::zip(a.processes, b.processes))
    if (left.stack != right.stack)
      return false;
  for (const auto &[number, channel] : llvm::enumerate(skeleton.channels)) {
    std::optional<int64_t> distance;
    auto isMoved = [&](unsigned end) {
      int64_t waits = b.ends[end].waits - a.ends[end].waits,
              signals = b.ends[end].signals - a.ends[end].signals;
      if (!distance)
        distance = waits;
      return waits == *distance && signals == *distance;
    };
    if (!llvm::all_of(channel.producers, isMoved) ||
        !llvm::all_of(channel.consumers, isMoved))
      return false;
    // Answers that somebody has still to read.
    auto lower = [&](const State &state) {
      int64_t least = INT64_MAX;
      for (unsigned end : channel.consumers)
        least = std::min(least, state.ends[end].signals);
      return least;
    };
    std::vector<bool> answers[2];
    for (auto [state, list] :
         {std::pair(&a, &answers[0]), std::pair(&b, &answers[1])})
      for (auto [slot, answer] : state->answers)
        if (slot.first == number && slot.second >= lower(*state))
          list->push_back(answer);
    if (answers[0] != answers[1])
      return false;
  }
  return true;
}

std::optional<SymbolicRun::Shift> SymbolicRun::getShift(const State &from,
                                                        const State &to) {
  if (!haveSamePlaces(from, to, skeleton))
    return std::nullopt;
  Shift shift(from.processes.size());
  for (unsigned process = 0; process < from.processes.size(); ++process) {
    const ProcessState &a = from.processes[process], &b = to.processes[process];
    shift[process].resize(a.values.size());
    for (unsigned variable = 0; variable < a.values.size(); ++variable) {
      if (!lifetimes.isAlive(process, variable, a.stack))
        continue;
      const auto &left = a.values[variable], &right = b.values[variable];
      if (left.has_value() != right.has_value())
        return std::nullopt;
      if (left)
        shift[process][variable] = *right - *left;
    }
  }
  return shift;
}

void SymbolicRun::move(State &state, const Shift &shift, const Linear &turns) {
  for (unsigned process = 0; process < state.processes.size(); ++process) {
    ProcessState &its = state.processes[process];
    for (unsigned variable = 0; variable < its.values.size(); ++variable) {
      auto &value = its.values[variable];
      if (!lifetimes.isAlive(process, variable, its.stack))
        value.reset();
      else if (value)
        value = *value + atoms.multiply(shift[process][variable], turns);
    }
  }
}

bool SymbolicRun::isSame(const State &a, const State &b) {
  std::optional<Shift> shift = getShift(a, b);
  return shift && llvm::all_of(*shift, [](const std::vector<Linear> &values) {
           return llvm::all_of(
               values, [](const Linear &value) { return value == Linear(); });
         });
}

bool SymbolicRun::covers(const State &before, const State &state) {
  return isSame(before, state) &&
         llvm::all_of(before.facts.get(), [&](const Linear &fact) {
           return state.facts.implies(fact);
         });
}
