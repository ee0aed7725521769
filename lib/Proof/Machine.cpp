// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Execution of statements.

#include "Machine.h"

#include "llvm/ADT/STLExtras.h"

using namespace fp8::proof;

State Machine::getInitial() const {
  State state{{}, {}, {}, Facts(atoms), {}, {}, {}};
  for (const Process &process : skeleton.processes) {
    ProcessState &its = state.processes.emplace_back();
    its.values.resize(process.numVariables);
    its.stack.push_back({&process.body});
  }
  state.ends.resize(skeleton.ends.size());
  return state;
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

Truth Machine::decideSign(const State &state, const Linear &sum) {
  if (state.facts.implies(sum))
    return {true, {}};
  if (state.facts.implies(Linear(-1) - sum))
    return {false, {}};
  return {std::nullopt, sum};
}

Truth Machine::decide(const State &state, unsigned process, ExprId id) {
  const Expr &expr = skeleton.expressions[id];
  auto operand = [&](unsigned i) {
    return evaluate(state, process, expr.operands[i]);
  };
  switch (expr.kind) {
  case ExprKind::Less:
  case ExprKind::Equal: {
    Value left = operand(0), right = operand(1);
    for (Value *value : {&left, &right})
      if (!value->sum)
        return {std::nullopt, value->pivot};
    Linear distance = *right.sum - *left.sum;
    if (expr.kind == ExprKind::Less)
      return decideSign(state, distance - Linear(1));
    Truth least = decideSign(state, distance);
    if (!least.known || !*least.known)
      return least;
    Truth more = decideSign(state, distance - Linear(1));
    if (more.known)
      more.known = !*more.known;
    return more;
  }
  case ExprKind::And:
  case ExprKind::Or: {
    bool decisive = expr.kind == ExprKind::Or;
    Truth left = decide(state, process, expr.operands[0]),
          right = decide(state, process, expr.operands[1]);
    for (Truth *truth : {&left, &right})
      if (truth->known == decisive)
        return *truth;
    return left.known ? right : left;
  }
  case ExprKind::Not: {
    Truth truth = decide(state, process, expr.operands[0]);
    if (truth.known)
      truth.known = !*truth.known;
    return truth;
  }
  default: {
    Value value = evaluate(state, process, id);
    if (!value.sum)
      return {std::nullopt, value.pivot};
    return decideSign(state, *value.sum - Linear(1));
  }
  }
}

Value Machine::evaluate(const State &state, unsigned process, ExprId id) {
  const Expr &expr = skeleton.expressions[id];
  switch (expr.kind) {
  case ExprKind::Constant:
    return {Linear(expr.value), {}};
  case ExprKind::Parameter:
    if (auto it = parameters.find(expr.value); it != parameters.end())
      return {Linear(it->second), {}};
    return {atoms.getParameter(expr.value), {}};
  case ExprKind::Variable: {
    const std::optional<Linear> &value =
        state.processes[process].values[expr.value];
    if (!value)
      failure = "a value is used that was not followed";
    return {value.value_or(Linear()), {}};
  }
  case ExprKind::Equal:
  case ExprKind::Less:
  case ExprKind::And:
  case ExprKind::Or:
  case ExprKind::Not: {
    Truth truth = decide(state, process, id);
    if (!truth.known)
      return {std::nullopt, truth.pivot};
    return {Linear(*truth.known), {}};
  }
  case ExprKind::Select: {
    Truth truth = decide(state, process, expr.operands[0]);
    if (!truth.known)
      return {std::nullopt, truth.pivot};
    return evaluate(state, process, expr.operands[*truth.known ? 1 : 2]);
  }
  default:
    break;
  }
  std::vector<Linear> operands;
  for (ExprId operand : expr.operands) {
    Value value = evaluate(state, process, operand);
    if (!value.sum)
      return value;
    operands.push_back(std::move(*value.sum));
  }
  switch (expr.kind) {
  case ExprKind::Add:
    return {operands[0] + operands[1], {}};
  case ExprKind::Multiply:
    return {atoms.multiply(operands[0], operands[1]), {}};
  case ExprKind::FloorDivide:
  case ExprKind::Remainder: {
    if (!operands[1].isConstant() || operands[1].constant <= 0)
      return {atoms.getAtom({expr.kind == ExprKind::FloorDivide
                                 ? AtomKind::Quotient
                                 : AtomKind::Remainder,
                             0,
                             {},
                             operands}),
              {}};
    int64_t divisor = operands[1].constant;
    Linear quotient = atoms.floorDivide(operands[0], divisor);
    return {expr.kind == ExprKind::FloorDivide
                ? quotient
                : operands[0] - quotient * divisor,
            {}};
  }
  case ExprKind::Minimum:
  case ExprKind::Maximum: {
    bool isMinimum = expr.kind == ExprKind::Minimum;
    Truth truth = decideSign(state, operands[1] - operands[0]);
    if (!truth.known)
      return {std::nullopt, truth.pivot};
    return {operands[*truth.known == isMinimum ? 0 : 1], {}};
  }
  default:
    return {atoms.getAtom({AtomKind::Opaque, expr.value, {}, operands}), {}};
  }
}

//===----------------------------------------------------------------------===//
// Channels
//===----------------------------------------------------------------------===//

bool Machine::isFree(const State &state, unsigned end, int64_t slot) const {
  const Channel &channel = skeleton.channels[skeleton.ends[end].channel];
  bool fills = skeleton.ends[end].isProducer;
  int64_t needed = fills ? slot - channel.slots : slot;
  return llvm::all_of(
      fills ? channel.consumers : channel.producers,
      [&](unsigned other) { return state.ends[other].signals > needed; });
}

unsigned Machine::getEnd(const State &state, unsigned process,
                         const Statement &statement) {
  Value value = evaluate(state, process, statement.end);
  return value.sum && value.sum->isConstant() ? value.sum->constant : ~0u;
}

void Machine::answer(State &state, unsigned process, bool more) {
  const Statement &statement = state.processes[process].stack.back().get();
  unsigned end = getEnd(state, process, statement);
  state.answers[{skeleton.ends[end].channel, state.ends[end].waits - 1}] = more;
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

Step Machine::fail(const Statement &statement, llvm::StringRef reason,
                   bool goesWrong) {
  isWrong = goesWrong;
  failure = reason.str();
  failureSite = statement.site;
  return {StepKind::Failed, {}};
}

Step Machine::undecided(const Statement &statement, const Linear &pivot) {
  Scope scope = atoms.getScope(pivot, clusterSize);
  if (scope == Scope::Thread)
    return fail(statement,
                "whether its steps take place depends on " +
                    atoms.print(pivot) +
                    ", which differs among the threads of its role",
                atoms.isOfParameters(pivot));
  if (scope == Scope::Cta && clusterSize > 1 &&
      (skeleton.coupled || statement.meets)) {
    auto meetsIn = [](const Block &block) {
      return llvm::any_of(block,
                          [](const Statement &inner) { return inner.meets; });
    };
    bool isOneSided = statement.kind != Statement::Kind::Branch ||
                      !meetsIn(statement.first) || !meetsIn(statement.second);
    return fail(statement,
                "whether its steps take place depends on " +
                    atoms.print(pivot) +
                    ", which differs among the CTAs of a cluster",
                statement.meets && isOneSided && atoms.isOfParameters(pivot));
  }
  return {StepKind::Undecided, pivot};
}

void Machine::leave(State &state, unsigned process) {
  auto &stack = state.processes[process].stack;
  while (!stack.empty() && stack.back().isDone()) {
    const Block *done = stack.pop_back_val().block;
    if (stack.empty())
      return;
    Frame &frame = stack.back();
    const Statement &owner = frame.get();
    if (owner.kind == Statement::Kind::Branch) {
      ++frame.next;
      continue;
    }
    if (owner.kind == Statement::Kind::For) {
      auto &values = state.processes[process].values;
      values[owner.variable] = *values[owner.variable] + *values[owner.stride];
    }
    // The guard of a While stands between its blocks.
    frame.atGuard = owner.kind == Statement::Kind::For || done == &owner.first;
    return;
  }
}

Step Machine::branch(State &state, unsigned process, Frame &frame,
                     const Statement &statement) {
  Truth truth = decide(state, process, statement.condition);
  if (!truth.known)
    return undecided(statement, truth.pivot);
  const Block &block = *truth.known ? statement.first : statement.second;
  if (block.empty())
    ++frame.next;
  else
    state.processes[process].stack.push_back({&block});
  return {StepKind::Moved, {}};
}

Step Machine::loop(State &state, unsigned process, Frame &frame,
                   const Statement &statement) {
  auto &values = state.processes[process].values;
  if (!frame.atGuard) {
    for (auto [variable, id] : {std::pair(statement.variable, statement.lower),
                                std::pair(statement.bound, statement.upper),
                                std::pair(statement.stride, statement.step)}) {
      Value value = evaluate(state, process, id);
      if (!value.sum)
        return undecided(statement, value.pivot);
      values[variable] = std::move(*value.sum);
    }
    frame.atGuard = frame.isFresh = true;
    ++state.entries[{process, &statement}];
    // Whoever explores its turns may hold the process back here.
    return {StepKind::Moved, {}};
  }
  Linear distance =
      *values[statement.bound] - *values[statement.variable] - Linear(1);
  Truth truth = decideSign(state, distance);
  if (!truth.known)
    return undecided(statement, truth.pivot);
  frame.isFresh = false;
  if (!*truth.known) {
    frame.atGuard = false;
    ++frame.next;
    return {StepKind::Moved, {}};
  }
  if (statement.first.empty())
    values[statement.variable] =
        *values[statement.variable] + *values[statement.stride];
  else
    state.processes[process].stack.push_back({&statement.first});
  return {StepKind::Moved, {}};
}

Step Machine::repeat(State &state, unsigned process, Frame &frame,
                     const Statement &statement) {
  auto &stack = state.processes[process].stack;
  if (!frame.atGuard && !statement.first.empty()) {
    stack.push_back({&statement.first});
    return {StepKind::Moved, {}};
  }
  frame.atGuard = true;
  Truth truth = decide(state, process, statement.condition);
  if (!truth.known)
    return undecided(statement, truth.pivot);
  frame.atGuard = false;
  if (!*truth.known)
    ++frame.next;
  else if (!statement.second.empty())
    stack.push_back({&statement.second});
  return {StepKind::Moved, {}};
}

Step Machine::assign(State &state, unsigned process, Frame &frame,
                     const Statement &statement) {
  llvm::SmallVector<Linear, 4> sums;
  for (auto [variable, id] : statement.assigned) {
    Value value = evaluate(state, process, id);
    if (!value.sum)
      return undecided(statement, value.pivot);
    sums.push_back(std::move(*value.sum));
  }
  for (auto [assigned, sum] : llvm::zip(statement.assigned, sums))
    state.processes[process].values[assigned.first] = sum;
  ++frame.next;
  return {StepKind::Moved, {}};
}

Step Machine::step(State &state, unsigned process) {
  ProcessState &its = state.processes[process];
  if (its.isFinished())
    return {StepKind::Finished, {}};
  if (its.stack.back().isDone()) {
    leave(state, process);
    return {its.isFinished() ? StepKind::Finished : StepKind::Moved, {}};
  }
  Frame &frame = its.stack.back();
  const Statement &statement = frame.get();
  ++steps;
  switch (statement.kind) {
  case Statement::Kind::Branch:
    return branch(state, process, frame, statement);
  case Statement::Kind::For:
    return loop(state, process, frame, statement);
  case Statement::Kind::While:
    return repeat(state, process, frame, statement);
  case Statement::Kind::Assign:
    return assign(state, process, frame, statement);
  default:
    break;
  }
  unsigned number = getEnd(state, process, statement);
  if (number >= state.ends.size())
    return fail(statement, "works on an end that is not known here");
  EndState &end = state.ends[number];
  unsigned channel = skeleton.ends[number].channel;
  switch (statement.kind) {
  case Statement::Kind::Wait:
    if (!isFree(state, number, end.waits))
      return {StepKind::Blocked, {}};
    ++end.waits;
    break;
  case Statement::Kind::Signal:
    ++end.signals;
    break;
  case Statement::Kind::Drain:
    // Threads hand empty slots back by themselves.
    if (skeleton.channels[channel].holdsData && end.signals &&
        !isFree(state, number,
                end.signals - 1 + skeleton.channels[channel].slots))
      return {StepKind::Blocked, {}};
    break;
  default: {
    auto it = state.answers.find({channel, end.waits - 1});
    if (it == state.answers.end())
      return {StepKind::Undecided, {}};
    its.values[statement.assigned[0].first] = Linear(it->second);
    break;
  }
  }
  ++frame.next;
  return {StepKind::Moved, {}};
}

std::optional<Linear> Machine::getGuard(const State &state, unsigned process) {
  const ProcessState &its = state.processes[process];
  const Statement &statement = its.stack.back().get();
  if (statement.kind == Statement::Kind::For)
    return *its.values[statement.bound] - *its.values[statement.variable] -
           Linear(1);
  Truth truth = decide(state, process, statement.condition);
  if (truth.known)
    return std::nullopt;
  return truth.pivot;
}

bool Machine::run(State &state, llvm::function_ref<bool(unsigned)> isHeldBack) {
  for (bool moved = true; moved;) {
    moved = false;
    for (unsigned process = 0; process < state.processes.size(); ++process)
      while (!isHeldBack(process)) {
        Step done = step(state, process);
        if (done.kind == StepKind::Failed || !failure.empty())
          return false;
        if (steps > limit || atoms.isTired()) {
          failure = "it takes too many steps";
          return false;
        }
        if (done.kind != StepKind::Moved)
          break;
        moved = true;
      }
  }
  return true;
}
