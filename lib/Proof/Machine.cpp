// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Execution of statements.

#include "Machine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace fp8::proof;

State Machine::getInitial() const {
  State state{{}, {}, {}, {}, Facts(atoms), {}, {}, {}, {}};
  if (watches)
    state.log.emplace(skeleton);
  for (const Process &process : skeleton.processes) {
    ProcessState &its = state.processes.emplace_back();
    its.values.resize(process.numVariables);
    its.stack.push_back({&process.body});
  }
  state.ends.resize(skeleton.ends.size());
  return state;
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

bool Machine::mayAsk(const State &state, const Skeleton &skeleton,
                     unsigned end) {
  int64_t slot = state.ends[end].signals;
  auto it = state.answers.find({skeleton.ends[end].channel, slot - 1});
  return slot == 0 || (it != state.answers.end() && it->second);
}

Awaited Machine::getAwaited(const State &state, unsigned end,
                            const Statement &statement) const {
  const Channel &channel = skeleton.channels[skeleton.ends[end].channel];
  const EndState &its = state.ends[end];
  bool fills = skeleton.ends[end].isProducer,
       drains = statement.kind == Statement::Kind::Drain;
  Awaited awaited{drains  ? its.signals - 1
                  : fills ? its.waits - channel.slots
                          : its.waits,
                  {}};
  for (unsigned other : fills ? channel.consumers : channel.producers)
    if (state.ends[other].signals <= awaited.slot)
      awaited.late.push_back(other);
  return awaited;
}

std::optional<Leftover> Machine::findLeftover(const State &state) const {
  for (const Channel &channel : skeleton.channels) {
    if (!channel.holdsData)
      continue;
    for (unsigned producer : channel.producers)
      for (unsigned consumer : channel.consumers)
        if (state.ends[producer].signals != state.ends[consumer].signals)
          return Leftover{&channel, producer, consumer};
  }
  return std::nullopt;
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
  std::string what = assumesProgress
                         ? "what it computes depends on "
                         : "whether its steps take place depends on ";
  if (scope == Scope::Thread) {
    bool differs = atoms.isOfParameters(pivot);
    return fail(statement,
                what + atoms.print(pivot) +
                    (differs ? ", which differs among the threads of its role"
                             : ", of which each thread may have another value"),
                !assumesProgress && differs);
  }
  if (scope == Scope::Cta && clusterSize > 1 &&
      ((skeleton.coupled && !assumesProgress) || statement.meets)) {
    auto meetsIn = [](const Block &block) {
      return llvm::any_of(block,
                          [](const Statement &inner) { return inner.meets; });
    };
    bool isOneSided = statement.kind != Statement::Kind::Branch ||
                      !meetsIn(statement.first) || !meetsIn(statement.second);
    return fail(statement,
                what + atoms.print(pivot) +
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

Step Machine::decideAlike(State &state, unsigned process, Frame &frame,
                          const Statement &statement) {
  Step done = statement.kind == Statement::Kind::Branch
                  ? branch(state, process, frame, statement)
              : statement.kind == Statement::Kind::For
                  ? loop(state, process, frame, statement)
                  : repeat(state, process, frame, statement);
  // What decides here may be what was decided of these CTAs before.
  if (done.kind == StepKind::Moved && statement.mayPart && isOfSomeCtas(state))
    return fail(statement, "whether its steps take place may differ among the "
                           "CTAs of a cluster");
  return done;
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
      // How often a loop runs is a decision to take.
      llvm::SaveAndRestore decides(keepsMinima, false);
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

void Machine::getFields(State &state, unsigned process,
                        const Statement &statement, unsigned end) {
  unsigned number = skeleton.ends[end].channel;
  int64_t slot = state.ends[end].waits - 1;
  for (auto [variable, field] : statement.assigned) {
    if (field == kSlotNumber) {
      state.processes[process].values[variable] = Linear(slot);
      continue;
    }
    auto it = state.fields.find({number, slot, field});
    state.processes[process].values[variable] = it == state.fields.end()
                                                    ? std::optional<Linear>()
                                                    : std::optional(it->second);
  }
  // The last one that gets them leaves nothing behind.
  if (llvm::all_of(skeleton.channels[number].consumers, [&](unsigned other) {
        return state.ends[other].waits > slot;
      }))
    state.fields.erase(state.fields.lower_bound({number, slot, 0}),
                       state.fields.lower_bound({number, slot + 1, 0}));
}

void Machine::learn(State &state, unsigned process, unsigned end,
                    int64_t slot) {
  if (!state.log)
    return;
  const Channel &channel = skeleton.channels[skeleton.ends[end].channel];
  bool fills = skeleton.ends[end].isProducer;
  for (unsigned other : fills ? channel.consumers : channel.producers)
    state.log->wait(process, other, fills ? slot - channel.slots : slot);
  state.log->take(process, end, slot);
}

Step Machine::exchange(State &state, unsigned process, Frame &frame,
                       const Statement &statement) {
  // A choice between ends is a decision to take.
  Value which = evaluate(state, process, statement.end);
  if (!which.sum)
    return undecided(statement, which.pivot);
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
    learn(state, process, number, end.waits - 1);
    getFields(state, process, statement, number);
    break;
  case Statement::Kind::Signal:
    // A run that is to go wrong on a GPU goes on.
    if (skeleton.channels[channel].isOfQuestions && !isConcrete &&
        skeleton.ends[number].isProducer && !mayAsk(state, skeleton, number))
      return fail(statement,
                  "requests work where no role has read that there is more; "
                  "read each answer before the next request");
    for (auto [field, id] : statement.assigned) {
      Value value = evaluate(state, process, id);
      if (!value.sum)
        return undecided(statement, value.pivot);
      Linear &its = state.fields[{channel, end.signals, field}];
      its = statement.addsUp ? its + *value.sum : std::move(*value.sum);
    }
    if (state.log)
      state.log->signal(process, number, end.signals, statement.isByCopies);
    ++end.signals;
    break;
  case Statement::Kind::Drain:
    // Threads hand empty slots back by themselves.
    if (skeleton.channels[channel].holdsData && end.signals &&
        !isFree(state, number,
                end.signals - 1 + skeleton.channels[channel].slots))
      return {StepKind::Blocked, {}};
    learn(state, process, number,
          end.signals - 1 + skeleton.channels[channel].slots);
    break;
  default: {
    auto it = state.answers.find({channel, end.waits - 1});
    if (it == state.answers.end())
      return {StepKind::Undecided, {}};
    auto &values = state.processes[process].values;
    values[statement.assigned[0].first] = Linear(it->second);
    if (statement.assigned.size() > 1)
      values[statement.assigned[1].first] = getAnswer(it->first);
    break;
  }
  }
  ++frame.next;
  return {StepKind::Moved, {}};
}

bool Machine::isOfSomeCtas(const State &state) const {
  return clusterSize > 1 && llvm::any_of(state.facts.get(), [&](auto &fact) {
           return atoms.getScope(fact, clusterSize) != Scope::Launch;
         });
}

Step Machine::execute(State &state, unsigned process) {
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
  case Statement::Kind::For:
  case Statement::Kind::While:
    return decideAlike(state, process, frame, statement);
  case Statement::Kind::Assign:
    return assign(state, process, frame, statement);
  case Statement::Kind::Require:
    return requireAll(state, process, frame);
  case Statement::Kind::Access:
    return access(state, process, frame, statement);
  default:
    return exchange(state, process, frame, statement);
  }
}

Step Machine::step(State &state, unsigned process) {
  uint64_t before = steps;
  Step done = execute(state, process);
  // To leave a block is no step.
  if (recordsMoves && done.kind == StepKind::Moved && steps > before) {
    Moves &moves = state.trail.moves;
    if (moves.empty() || moves.back().first != process)
      moves.push_back({process, 0});
    ++moves.back().second;
  }
  return done;
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
