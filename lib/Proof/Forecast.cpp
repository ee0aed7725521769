// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A guess at what a turn does, from one way through it. Whoever has it need not
// explore the turn, with all loops in it, to know what to show by induction.

#include "SymbolicRun.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/SaveAndRestore.h"

#define DEBUG_TYPE "fp8-prove"

using namespace fp8::proof;

bool SymbolicRun::decideAhead(State &state, unsigned process,
                              const Linear &pivot) {
  const Frame &frame = state.processes[process].stack.back();
  if (frame.atGuard)
    return passAhead(state, Head::of(state, process));
  if (frame.get().kind == Statement::Kind::Answer)
    machine.answer(state, process, true);
  else
    state.facts.add(pivot);
  return machine.step(state, process).kind != StepKind::Failed;
}

bool SymbolicRun::passAhead(State &state, const Head &head) {
  std::optional<Shift> shift = lookAhead(state, head);
  if (!shift)
    return false;
  Linear turns = atoms.getCount();
  State any = state;
  move(any, *shift, turns);
  if (!machine.getGuard(any, head.process))
    return false;
  std::optional<Linear> number;
  state = afterLast(state, any, head, turns, *shift, /*mayBeOver=*/true,
                    /*growths=*/{}, number);
  return true;
}

std::optional<SymbolicRun::Shift> SymbolicRun::lookAhead(State state,
                                                         const Head &head) {
  // Roles that run ahead may come to the loop again and again.
  bool isInItself = llvm::any_of(contexts, [&](const Context &context) {
    return context.head.process == head.process &&
           context.head.loop == head.loop;
  });
  std::optional<Linear> guard = machine.getGuard(state, head.process);
  if (!guard || isInItself)
    return std::nullopt;
  const State before = state;
  contexts.push_back({head, {}, {}});
  auto leaves = llvm::scope_exit([&] { contexts.pop_back(); });
  state.facts.add(*guard);
  state.runaways.clear();
  machine.step(state, head.process);
  while (decisionsAhead++ < kMostDecisionsAhead) {
    std::optional<Choice> chosen;
    if (!advance(state, chosen) || !chosen)
      return std::nullopt;
    auto [process, pivot] = *chosen;
    if (Context *context = getContext(state, process)) {
      std::optional<Shift> shift;
      if (context == &contexts.back())
        shift = getShift(before, state);
      if (shift)
        forecasts.try_emplace({process, head.loop}, shift);
      return shift;
    }
    if (!decideAhead(state, process, pivot))
      return std::nullopt;
  }
  return std::nullopt;
}

bool SymbolicRun::holdsAsForecast(const State &state, const Head &head,
                                  bool mayBeOver) {
  if (!forecastsTurns)
    return false;
  auto [it, isNew] = forecasts.try_emplace({head.process, head.loop});
  std::optional<Shift> &shift = it->second;
  if (isNew) {
    llvm::SaveAndRestore looks(machine.asksNothing, true);
    decisionsAhead = 0;
    shift = lookAhead(state, head);
    machine.failure.clear();
    machine.isWrong = false;
  }
  if (!shift)
    return false;
  State next = state;
  next.facts.add(*machine.getGuard(state, head.process));
  move(next, *shift, Linear(1));
  if (mayBeOver && !endsAlike(state, next, head))
    return false;
  LDBG() << std::string(depth, ' ') << "the turns of a loop of "
         << skeleton.processes[head.process].name << " are forecast";
  if (induct({state}, next, 1, head, mayBeOver))
    return true;
  shift.reset();
  return false;
}
