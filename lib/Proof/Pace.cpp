// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which process goes on, and which ones are held back.

#include "SymbolicRun.h"

#include "llvm/ADT/STLExtras.h"

using namespace fp8::proof;

void SymbolicRun::findOwners(unsigned process, const Block &block) {
  for (const Statement &statement : block) {
    const Expr &end = skeleton.expressions[statement.end];
    if (statement.kind <= Statement::Kind::Drain &&
        end.kind == ExprKind::Constant)
      owners[end.value] = process;
    findOwners(process, statement.first);
    findOwners(process, statement.second);
  }
}

const Head *SymbolicRun::getHead(const State &state) const {
  for (const Context &context : llvm::reverse(contexts))
    if (context.head.loop && context.head.isAround(state))
      return &context.head;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Who is held back
//===----------------------------------------------------------------------===//

/// Collects the statements with which the block may begin to wait or to signal.
static void collectFirst(const Block &block,
                         llvm::SmallVectorImpl<const Statement *> &first) {
  for (const Statement &statement : block) {
    bool isBranch = statement.kind == Statement::Kind::Branch;
    if (statement.kind == Statement::Kind::Assign ||
        statement.kind == Statement::Kind::Require ||
        statement.kind == Statement::Kind::Access)
      continue;
    if (!isBranch && !isLoop(statement)) {
      first.push_back(&statement);
      return;
    }
    collectFirst(statement.first, first);
    collectFirst(statement.second, first);
    // What stands behind a branch may come first.
    if (!isBranch || (!statement.first.empty() && !statement.second.empty()))
      return;
  }
}

bool SymbolicRun::isServed(const State &state, unsigned process) {
  const Statement &loop = state.processes[process].stack.back().get();
  llvm::SmallVector<const Statement *> first;
  collectFirst(loop.first, first);
  collectFirst(loop.second, first);
  return llvm::any_of(first, [&](const Statement *statement) {
    if (statement->kind != Statement::Kind::Wait)
      return false;
    unsigned end = machine.getEnd(state, process, *statement);
    return end < state.ends.size() && !skeleton.ends[end].isProducer &&
           machine.getAwaited(state, end, *statement).late.empty();
  });
}

bool SymbolicRun::begins(const State &state, unsigned process) {
  const ProcessState &its = state.processes[process];
  const Head *head = getHead(state);
  return its.stack.back().isFresh &&
         (!head || getLoopDepth(its) + 1 > head->loops);
}

bool SymbolicRun::isExplored(const State &state, unsigned process) {
  return getContext(state, process) ||
         state.runaways.count(
             {process, &state.processes[process].stack.back().get()});
}

bool SymbolicRun::mayPass(const State &state, unsigned process) {
  const ProcessState &its = state.processes[process];
  if (its.isFinished() || !its.stack.back().atGuard)
    return true;
  std::optional<Linear> guard = machine.getGuard(state, process);
  if (!guard || state.facts.implies(Linear(-1) - *guard))
    return true;
  if (pace == Pace::Demand) {
    if (guard->isConstant())
      return true;
    const Head *head = getHead(state);
    return head && head->process != process && !isExplored(state, process) &&
           !begins(state, process) && isServed(state, process) &&
           state.facts.implies(*guard);
  }
  return !isExplored(state, process) &&
         (pace == Pace::Guards || guard->isConstant() ||
          !begins(state, process));
}

bool SymbolicRun::passesNext(const State &state, unsigned process) {
  const ProcessState &its = state.processes[process];
  if (pace != Pace::Demand || !its.stack.back().atGuard ||
      isExplored(state, process) || begins(state, process))
    return false;
  std::optional<Linear> guard = machine.getGuard(state, process);
  return guard && state.facts.implies(*guard);
}

//===----------------------------------------------------------------------===//
// Who goes on
//===----------------------------------------------------------------------===//

/// How deep loops are nested in the statement, itself included.
static unsigned getHeight(const Statement &statement) {
  unsigned height = 0;
  for (const Block *block : {&statement.first, &statement.second})
    for (const Statement &inner : *block)
      height = std::max(height, getHeight(inner));
  return height + isLoop(statement);
}

std::optional<SymbolicRun::Choice> SymbolicRun::chooseByLoops(State &state) {
  std::optional<Choice> best;
  std::tuple<bool, unsigned, unsigned> rank;
  for (unsigned process = 0; process < state.processes.size(); ++process) {
    // A turn is over when its process is back: what others have still to
    // decide waits until somebody needs them.
    bool isHeld = !mayPass(state, process);
    if (isHeld && pace != Pace::Demand &&
        !state.processes[process].stack.back().isFresh)
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

std::optional<SymbolicRun::Choice> SymbolicRun::choose(State &state) {
  const Head *head = getHead(state);
  if (pace != Pace::Demand || !head)
    return chooseByLoops(state);
  std::set<unsigned> asked;
  for (unsigned process = head->process; asked.insert(process).second;) {
    const ProcessState &its = state.processes[process];
    if (its.isFinished())
      return std::nullopt;
    if (!mayPass(state, process))
      return {{process, Linear()}};
    Step step = machine.step(state, process);
    if (step.kind == StepKind::Undecided)
      return {{process, step.pivot}};
    const Statement &statement = its.stack.back().get();
    unsigned end = machine.getEnd(state, process, statement);
    auto owner =
        owners.find(machine.getAwaited(state, end, statement).late.front());
    if (owner == owners.end())
      return chooseByLoops(state);
    process = owner->second;
  }
  // They wait for one another.
  return std::nullopt;
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
