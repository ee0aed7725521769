// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which process goes on, and the ways that a run takes.

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

/// How deep loops are nested in the statement, itself included.
static unsigned getHeight(const Statement &statement) {
  unsigned height = 0;
  for (const Block *block : {&statement.first, &statement.second})
    for (const Statement &inner : *block)
      height = std::max(height, getHeight(inner));
  return height + isLoop(statement);
}

std::optional<std::pair<unsigned, Linear>> SymbolicRun::choose(State &state) {
  std::optional<std::pair<unsigned, Linear>> best;
  std::tuple<bool, unsigned, unsigned> rank;
  for (unsigned process = 0; process < state.processes.size(); ++process) {
    // A turn is over when its process is back: what others have still to
    // decide waits until somebody needs them.
    bool isHeld = isHeldBack(state, process);
    if (isHeld && !state.processes[process].stack.back().isFresh)
      return {{process, Linear()}};
    Step step =
        isHeld ? Step{StepKind::Undecided, {}} : machine.step(state, process);
    if (step.kind != StepKind::Undecided)
      continue;
    const Frame &frame = state.processes[process].stack.back();
    // What is no loop first. Of loops the innermost, since a process that is
    // behind may still follow; of these the one with most loops inside, whose
    // turns are the longest.
    std::tuple<bool, unsigned, unsigned> its = {
        !frame.atGuard, getLoopDepth(state.processes[process]),
        getHeight(frame.get())};
    if (!best || rank < its) {
      best = {process, step.pivot};
      rank = its;
    }
  }
  return best;
}

bool SymbolicRun::checkEnd(State &state) {
  for (const Channel &channel : skeleton.channels)
    for (unsigned producer : channel.producers)
      for (unsigned consumer : channel.consumers)
        if (state.ends[producer].signals != state.ends[consumer].signals &&
            channel.holdsData) {
          if (!trials)
            stuck = state;
          return fail("leaves slots of " + channel.name + " behind",
                      channel.site);
        }
  witness.end(state);
  return true;
}

bool SymbolicRun::fork(const State &state, unsigned process,
                       const Linear &pivot) {
  State yes = state, no = state;
  yes.facts.add(pivot);
  no.facts.add(Linear(-1) - pivot);
  witness.fork(state, process, yes, no);
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

bool SymbolicRun::isHeldBack(const State &state, unsigned process) {
  const ProcessState &its = state.processes[process];
  if (its.isFinished() || !its.stack.back().atGuard ||
      (!getContext(state, process) && !isEntered(state, process) &&
       !state.runaways.count({process, &its.stack.back().get()})))
    return false;
  std::optional<Linear> guard = machine.getGuard(state, process);
  return guard && !state.facts.implies(Linear(-1) - *guard);
}

bool SymbolicRun::isEntered(const State &state, unsigned process) {
  const ProcessState &its = state.processes[process];
  const Frame &frame = its.stack.back();
  if (!stopsAtLoops || !frame.isFresh ||
      machine.getGuard(state, process).value_or(Linear()).isConstant())
    return false;
  for (const Context &context : llvm::reverse(contexts))
    if (context.head.loop && context.head.isAround(state))
      return getLoopDepth(its) + 1 > context.head.loops;
  return true;
}

void SymbolicRun::noteDecision(State &state, unsigned process) {
  const ProcessState &its = state.processes[process];
  if (++state.decisions[{process, &its.stack.back().get()}] < kMostDecisions)
    return;
  for (const Frame &frame : llvm::reverse(its.stack)) {
    const Statement &loop = frame.get();
    if (&frame == &its.stack.back() || loop.kind != Statement::Kind::For ||
        (*its.values[loop.bound] - *its.values[loop.variable]).isConstant())
      continue;
    state.runaways.insert({process, &loop});
    return;
  }
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

bool SymbolicRun::explore(State state) {
  if (!machine.run(
          state, [&](unsigned process) { return isHeldBack(state, process); }))
    return fail(machine.failure, machine.failureSite);
  auto chosen = choose(state);
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
  witness.fork(state, process, more, none);
  return explore(std::move(more)) && explore(std::move(none));
}

Outcome SymbolicRun::prove() {
  contexts.push_back({});
  explore(machine.getInitial());
  outcome.steps = machine.steps;
  return outcome;
}
