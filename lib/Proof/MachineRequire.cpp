// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a state must satisfy.

#include "Machine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace fp8::proof;

bool Machine::asksOfCtas(ExprId condition) const {
  return llvm::any_of(
      skeleton.expressions[condition].operands, [&](ExprId operand) {
        return skeleton.expressions[operand].kind == ExprKind::Where;
      });
}

/// Collects the variables that the expression reads.
static std::vector<unsigned> collectVariables(const ExprTable &expressions,
                                              ExprId id) {
  std::vector<unsigned> variables;
  llvm::SetVector<ExprId> parts;
  parts.insert(id);
  for (size_t next = 0; next < parts.size(); ++next) {
    const Expr &expr = expressions[parts[next]];
    if (expr.kind == ExprKind::Variable)
      variables.push_back(expr.value);
    parts.insert(expr.operands.begin(), expr.operands.end());
  }
  return variables;
}

Step Machine::requireAll(State &state, unsigned process, Frame &frame) {
  Evaluation all(*this);
  while (true) {
    Step done = require(state, process, frame, frame.get());
    if (done.kind != StepKind::Moved || !failure.empty() || frame.isDone() ||
        frame.get().kind != Statement::Kind::Require)
      return done;
    ++steps;
  }
}

Step Machine::require(State &state, unsigned process, Frame &frame,
                      const Statement &statement) {
  // Values that are given are not part of what was shown.
  if (!parameters.empty())
    return requireNew(state, process, frame, statement);
  auto [its, isNew] = variables.try_emplace(&statement);
  if (isNew)
    its->second = collectVariables(skeleton.expressions, statement.condition);
  Shown now{&statement, state.facts.getKey(), {}};
  for (unsigned variable : its->second)
    now.values.push_back(state.processes[process].values[variable]);
  bool isShown = asksNothing || shown.count(now);
  Step done = isShown ? Step{StepKind::Moved, {}}
                      : requireNew(state, process, frame, statement);
  if (isShown)
    ++frame.next;
  else if (done.kind == StepKind::Moved && failure.empty())
    shown.insert(std::move(now));
  return done;
}

Step Machine::requireNew(State &state, unsigned process, Frame &frame,
                         const Statement &statement) {
  // On this path, values of CTAs that take others are not what they have.
  if (asksOfCtas(statement.condition) && isOfSomeCtas(state))
    return fail(statement, skeleton.rules[statement.rule] +
                               ", which was shown of some CTAs only");
  Truth truth = decide(state, process, statement.condition);
  if (truth.known && *truth.known) {
    ++frame.next;
    return {StepKind::Moved, {}};
  }
  const std::string &rule = skeleton.rules[statement.rule];
  if (std::optional<Linear> choice =
          truth.known ? std::nullopt
                      : findChoice(state, process, statement.condition))
    return requireOfBoth(state, process, frame, statement, *choice);
  if (!truth.known)
    return fail(statement, rule + ", which could not be shown");
  const Expr &condition = skeleton.expressions[statement.condition];
  std::string got;
  if (condition.kind == ExprKind::Equal)
    for (ExprId operand : condition.operands)
      got += (got.empty() ? ", but it has " : " and ") +
             atoms.print(*evaluate(state, process, operand).sum);
  return fail(statement, rule + got, isConcrete);
}

Step Machine::requireOfBoth(State &state, unsigned process, Frame &frame,
                            const Statement &statement, const Linear &choice) {
  Step its = undecided(statement, choice);
  if (its.kind == StepKind::Failed)
    return its;
  // A requirement changes nothing, so that the run need not be made twice.
  const Facts facts = state.facts;
  llvm::SaveAndRestore<uint64_t> before(evaluation);
  for (const Linear &fact : {choice, Linear(-1) - choice}) {
    unsigned here = frame.next;
    state.facts.add(fact);
    evaluation = ++lastEvaluation;
    its = requireNew(state, process, frame, statement);
    state.facts = facts;
    if (its.kind != StepKind::Moved)
      return its;
    frame.next = here;
  }
  ++frame.next;
  return its;
}
