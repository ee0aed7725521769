// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ways that a run takes.

#include "SymbolicRun.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "fp8-prove"

using namespace fp8::proof;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

bool fp8::proof::isLoop(const Statement &statement) {
  return statement.kind == Statement::Kind::For ||
         statement.kind == Statement::Kind::While;
}

unsigned fp8::proof::getLoopDepth(const ProcessState &process) {
  return llvm::count_if(llvm::drop_end(process.stack),
                        [](const Frame &frame) { return isLoop(frame.get()); });
}

static unsigned getEntries(const State &state, unsigned process,
                           const Statement *loop) {
  auto it = state.entries.find({process, loop});
  return it == state.entries.end() ? 0 : it->second;
}

Head Head::of(const State &state, unsigned process) {
  const auto &stack = state.processes[process].stack;
  const Statement *loop = &stack.back().get();
  return {process, stack.size(), loop, getEntries(state, process, loop),
          getLoopDepth(state.processes[process]) + 1};
}

bool Head::isAround(const State &state) const {
  return getEntries(state, process, loop) == entry &&
         llvm::any_of(state.processes[process].stack, [&](const Frame &frame) {
           return !frame.isDone() && &frame.get() == loop;
         });
}

//===----------------------------------------------------------------------===//
// Ways
//===----------------------------------------------------------------------===//

bool SymbolicRun::fail(std::string reason, unsigned site) {
  if (!trials) {
    outcome.verdict = machine.isWrong ? Verdict::Refuted : Verdict::Unknown;
    outcome.reason = std::move(reason);
    outcome.site = site;
  }
  machine.failure.clear();
  machine.isWrong = false;
  return false;
}

bool SymbolicRun::checkEnd(State &state) {
  if (std::optional<Leftover> left = machine.findLeftover(state)) {
    if (!trials)
      stuck = state;
    return fail("leaves slots of " + left->channel->name + " behind",
                left->channel->site);
  }
  witness.end(state);
  return true;
}

bool SymbolicRun::fork(const State &state, unsigned process,
                       const Linear &pivot) {
  State yes = state, no = state;
  yes.facts.add(pivot);
  no.facts.add(Linear(-1) - pivot);
  witness.fork(state, pivot, yes, no);
  for (State &next : {std::ref(yes), std::ref(no)}) {
    // A branch may take several decisions.
    Step step = machine.step(next, process);
    if (step.kind == StepKind::Failed)
      return fail(machine.failure, machine.failureSite);
    bool holds = step.kind == StepKind::Undecided
                     ? fork(next, process, step.pivot)
                     : explore(std::move(next));
    if (!holds)
      return false;
  }
  return true;
}

Context *SymbolicRun::getContext(const State &state, unsigned process) {
  const auto &stack = state.processes[process].stack;
  if (stack.empty() || !stack.back().atGuard)
    return nullptr;
  for (Context &context : llvm::reverse(contexts))
    if (context.head.process == process &&
        context.head.loop == &stack.back().get() &&
        context.head.depth == stack.size() && context.head.isAround(state))
      return &context;
  return nullptr;
}

/// True if what follows the state was explored, or is being explored, where it
/// leads to the same guards.
bool SymbolicRun::wasSeen(const State &state) {
  for (const Context &context : llvm::reverse(contexts)) {
    if (llvm::any_of(context.seen, [&](const State &before) {
          return isCovered(state, before);
        }))
      return true;
    if (context.head.loop && context.head.isAround(state))
      return false;
  }
  return false;
}

bool SymbolicRun::isCovered(const State &state, const State &by) {
  auto isAlive = [&](unsigned process, unsigned variable) {
    return lifetimes.isAlive(process, variable, by.processes[process].stack);
  };
  return covers(by, state) && witness.cover(state, by, isAlive);
}

bool SymbolicRun::advance(State &state, std::optional<Choice> &chosen) {
  do {
    if (chosen)
      machine.step(state, chosen->first);
    if (!machine.run(
            state, [&](unsigned process) { return !mayPass(state, process); }))
      return false;
    chosen = choose(state);
  } while (chosen && passesNext(state, chosen->first));
  return true;
}

bool SymbolicRun::explore(State state) {
  std::optional<Choice> chosen;
  if (!advance(state, chosen))
    return fail(machine.failure, machine.failureSite);
  if (!chosen) {
    if (llvm::all_of(state.processes, [](const ProcessState &process) {
          return process.isFinished();
        }))
      return checkEnd(state);
    if (!trials)
      stuck = state;
    return fail("some roles wait for one another", ~0u);
  }
  auto [process, pivot] = *chosen;
  const Frame &frame = state.processes[process].stack.back();
  LDBG() << (trials ? "tries: " : "") << skeleton.processes[process].name
         << " decides whether " << atoms.print(pivot) << " >= 0";
  if (Context *context = getContext(state, process)) {
    if (llvm::none_of(context->arrived, [&](const State &other) {
          return isCovered(state, other);
        }))
      context->arrived.push_back(std::move(state));
    return true;
  }
  if (frame.atGuard)
    return leaveBehind(std::move(state), process);
  if (wasSeen(state))
    return true;
  contexts.back().seen.push_back(state);
  noteDecision(state, process);
  if (frame.get().kind != Statement::Kind::Answer)
    return fork(state, process, pivot);
  State more = state, none = state;
  machine.answer(more, process, true);
  machine.answer(none, process, false);
  machine.step(more, process);
  machine.step(none, process);
  witness.ask(state, process, more, none);
  return explore(std::move(more)) && explore(std::move(none));
}

Outcome SymbolicRun::prove() {
  contexts.push_back({});
  explore(machine.getInitial());
  outcome.steps = machine.steps;
  return outcome;
}
