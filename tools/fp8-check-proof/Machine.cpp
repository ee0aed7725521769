// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the processes of a skeleton, one step at a time.

#include "Checker.h"

namespace fp8::check {

//===--- Values -----------------------------------------------------------===//

bool Machine::decideSign(const State &state, const Sum &sum) const {
  if (follows(state, sum))
    return true;
  if (follows(state, Sum(-1) - sum))
    return false;
  throw Undecided{sum};
}

Sum Machine::evaluate(State &state, size_t process, const Value &id,
                      int depth) {
  work();
  require(depth < 500, "an expression is too deep");
  const Value &table = get(atoms.skeleton, "expressions");
  int64_t number = getNumber(id), size = getList(table).size();
  const Value &expr = number < size
                          ? get(table, number)
                          : get(get(witness, "expressions"), number - size);
  StringRef kind = getText(get(expr, 0));
  auto operand = [&](int i) {
    return evaluate(state, process, get(expr, i), depth + 1);
  };
  auto truth = [&](int i) {
    return decide(state, process, get(expr, i), depth + 1);
  };
  if (kind == "constant")
    return getNumber(get(expr, 1));
  if (kind == "parameter" || kind == "count")
    return atoms.get({kind.str(), getNumber(get(expr, 1)), {}});
  if (kind == "variable")
    return state.processes[process].getValue(getNumber(get(expr, 1)));
  if (kind == "not")
    return Sum(!truth(1));
  if (kind == "select")
    return operand(truth(1) ? 2 : 3);
  if (kind == "opaque") {
    Atom atom{"opaque", getNumber(get(expr, 1)), {}};
    for (size_t i = 2; i < getList(expr).size(); ++i)
      atom.operands.push_back(operand(i));
    return atoms.get(std::move(atom));
  }
  if (kind == "and" || kind == "or") {
    // Either one may decide alone. If none does, the first is to be decided.
    std::optional<Undecided> undecided;
    for (int i : {1, 2})
      try {
        if (truth(i) == (kind == "or"))
          return Sum(kind == "or");
      } catch (const Undecided &its) {
        undecided = undecided ? undecided : its;
      }
    if (undecided)
      throw *undecided;
    return Sum(kind == "and");
  }
  Sum left = operand(1), right = operand(2);
  if (kind == "add")
    return left + right;
  if (kind == "multiply")
    return atoms.multiply(left, right);
  if (kind == "divide" || kind == "remainder")
    return atoms.divide(kind, left, right);
  if (kind == "less")
    return Sum(decideSign(state, right - left - 1));
  if (kind == "equal")
    return Sum(decideSign(state, right - left) &&
               !decideSign(state, right - left - 1));
  require(kind == "minimum" || kind == "maximum",
          "no expression is of the kind '" + kind + "'");
  // Where they may be equal, either will do.
  bool leftIsLess = follows(state, right - left) ||
                    (!follows(state, left - right) &&
                     decideSign(state, right - left));
  return leftIsLess == (kind == "minimum") ? left : right;
}

//===--- Steps ------------------------------------------------------------===//

static bool isA(const Value &statement, StringRef kind) {
  return getText(get(statement, "do")) == kind;
}

const Value &Process::getStatement() const {
  return get(*stack.back().block, stack.back().next);
}

Sum &Process::getValue(int64_t variable) {
  require(values.count(variable),
          "nothing is known of variable " + llvm::Twine(variable));
  return values[variable];
}

/// The variable that runs in a For, its bound, or its step.
static Sum &getBound(Process &its, int i) {
  return its.getValue(getNumber(get(get(its.getStatement(), "variables"), i)));
}

static void push(Process &its, const char *block) {
  static const Value kEmpty = llvm::json::Array();
  const Value &statement = its.getStatement();
  its.stack.push_back(
      {has(statement, block) ? &get(statement, block) : &kEmpty});
}

/// Goes on behind blocks that are done.
static void leave(Process &its) {
  while (!its.stack.empty() &&
         its.stack.back().next == getList(*its.stack.back().block).size()) {
    const Value *done = its.stack.back().block;
    its.stack.pop_back();
    if (its.stack.empty())
      return;
    const Value &owner = its.getStatement();
    if (isA(owner, "if")) {
      ++its.stack.back().next;
      continue;
    }
    bool isFor = isA(owner, "for");
    if (isFor)
      getBound(its, 0) = getBound(its, 0) + getBound(its, 2);
    // The guard of a While stands between its blocks.
    its.stack.back().atGuard =
        isFor || (has(owner, "first") && done == &get(owner, "first"));
    return;
  }
}

/// Begins a loop, up to its guard or its first block.
void Machine::begin(State &state, size_t process) {
  Process &its = state.processes[process];
  const Value &loop = its.getStatement();
  if (isA(loop, "while") && !getList(loop, "first").empty())
    return push(its, "first");
  its.stack.back().atGuard = true;
  if (isA(loop, "while"))
    return;
  Sum values[3];
  for (int i = 0; i < 3; ++i)
    values[i] = evaluate(state, process, get(get(loop, "bounds"), i));
  for (int i = 0; i < 3; ++i)
    its.values[getNumber(get(get(loop, "variables"), i))] = values[i];
  require(!values[2].isConstant() || values[2].constant > 0,
          "the step of a loop is not positive");
  if (!values[2].isConstant())
    state.facts.push_back(values[2] - 1);
}

Outcome Machine::step(State &state, size_t process) {
  work();
  Process &its = state.processes[process];
  if (its.stack.empty())
    return Outcome::Waits;
  const Value &statement = its.getStatement();
  bool isLoop = isA(statement, "for") || isA(statement, "while");
  if (isLoop && !its.isAtGuard()) {
    begin(state, process);
    // What has no first block decides in the same step.
    if (isA(statement, "for") || !its.isAtGuard())
      return Outcome::Moved;
  }
  if (isLoop) {
    bool goesOn = isA(statement, "for")
                      ? decideSign(state, getGuard(state, process))
                      : decide(state, process, get(statement, "condition"));
    its.stack.back().atGuard = false;
    if (goesOn)
      push(its, isA(statement, "for") ? "first" : "second");
    else
      ++its.stack.back().next;
  } else if (isA(statement, "if")) {
    bool holds = decide(state, process, get(statement, "condition"));
    push(its, holds ? "first" : "second");
  } else if (isA(statement, "assign")) {
    std::map<int64_t, Sum> values;
    for (const Value &pair : getList(statement, "assign"))
      values[getNumber(get(pair, 0))] = evaluate(state, process, get(pair, 1));
    for (auto &[variable, value] : values)
      its.values[variable] = value;
    ++its.stack.back().next;
  } else if (Outcome outcome = access(state, process);
             outcome != Outcome::Moved) {
    return outcome;
  } else {
    ++its.stack.back().next;
  }
  leave(its);
  return Outcome::Moved;
}

Sum Machine::getGuard(State &state, size_t process) {
  Process &its = state.processes[process];
  require(its.isAtGuard(), "no process stands at the guard of a loop");
  if (isA(its.getStatement(), "for"))
    return getBound(its, 1) - getBound(its, 0) - 1;
  try {
    decide(state, process, get(its.getStatement(), "condition"));
  } catch (const Undecided &guard) {
    return guard.sum;
  }
  throw Rejected{"the facts decide the guard of the loop"};
}

void Machine::checkScope(const State &state, size_t process,
                         const Sum &sum) const {
  Scope scope = atoms.getScope(sum);
  const Value &statement = state.processes[process].getStatement();
  bool meets = isTrue(atoms.skeleton, "coupled") || isTrue(statement, "meets");
  require(scope != Scope::Thread, "threads of a role decide in different ways");
  require(scope == Scope::Launch || atoms.clusterSize == 1 || !meets,
          "CTAs of a cluster decide in different ways");
}

//===--- Channels ---------------------------------------------------------===//

Machine::Machine(Atoms &atoms, const Value &witness)
    : atoms(atoms), witness(witness), channels(get(atoms.skeleton, "channels")),
      ends(get(atoms.skeleton, "ends")) {
  for (const Value &channel : getList(channels))
    for (bool fills : {false, true}) {
      auto &side = sides[fills].emplace_back();
      for (const Value &end :
           getList(get(channel, fills ? "producers" : "consumers"))) {
        const Value &its = get(ends, getNumber(end));
        require(&get(channels, getNumber(get(its, "channel"))) == &channel &&
                    isTrue(its, "fills") == fills,
                "a channel lists an end that is not its own");
        side.insert(getNumber(end));
      }
    }
}

State Machine::getInitial() const {
  State state;
  for (const Value &process : getList(get(atoms.skeleton, "processes"))) {
    state.processes.emplace_back().stack.push_back({&get(process, "body")});
    leave(state.processes.back());
  }
  state.ends.resize(getList(ends).size());
  return state;
}

bool Machine::isFree(const State &state, int64_t end, int64_t slot) const {
  const Value &its = get(ends, end);
  int64_t channel = getNumber(get(its, "channel"));
  bool fills = isTrue(its, "fills");
  if (fills)
    slot -= getNumber(get(get(channels, channel), "slots"), 0, INT32_MAX);
  return llvm::all_of(sides[!fills][channel], [&](int64_t other) {
    return state.ends[other].second > slot;
  });
}

int64_t Machine::getEnd(State &state, size_t process) {
  const Value &statement = state.processes[process].getStatement();
  Sum its = evaluate(state, process, get(statement, "end"));
  const Value &end = get(ends, its.isConstant() ? its.constant : -1);
  int64_t channel = getNumber(get(end, "channel"), 0, sides[0].size() - 1);
  require(isA(statement, "drain") ||
              sides[isTrue(end, "fills")][channel].count(its.constant),
          "a process works on an end that its channel does not list");
  require(owners.try_emplace(its.constant, process).first->second == process,
          "two processes work on one end");
  return its.constant;
}

Outcome Machine::access(State &state, size_t process) {
  int64_t end = getEnd(state, process),
          channel = getNumber(get(get(ends, end), "channel"));
  Process &its = state.processes[process];
  const Value &statement = its.getStatement();
  auto &[waits, signals] = state.ends[end];
  if (isA(statement, "signal")) {
    ++signals;
    return Outcome::Moved;
  }
  if (isA(statement, "drain")) {
    const Value &ring = get(channels, channel);
    int64_t slots = getNumber(get(ring, "slots"), 0, INT32_MAX);
    bool waits =
        isTrue(ring, "data") && !isFree(state, end, signals - 1 + slots);
    return waits ? Outcome::Waits : Outcome::Moved;
  }
  // What a slot brings is not followed.
  for (const Value &pair : getList(statement, "assign"))
    its.values.erase(getNumber(get(pair, 0)));
  if (isA(statement, "wait")) {
    if (!isFree(state, end, waits))
      return Outcome::Waits;
    ++waits;
    return Outcome::Moved;
  }
  require(isA(statement, "answer"), "there is no such statement");
  require(!isTrue(get(ends, end), "fills") && waits > signals,
          "a process reads the answer of a slot that it does not hold");
  auto answer = state.answers.find({channel, waits - 1});
  if (answer == state.answers.end())
    return Outcome::Asks;
  its.values[getNumber(get(get(get(statement, "assign"), 0), 0))] =
      Sum(answer->second);
  return Outcome::Moved;
}

void Machine::answer(State &state, size_t process, bool more) {
  int64_t end = getEnd(state, process);
  state.answers[{getNumber(get(get(ends, end), "channel")),
                 state.ends[end].first - 1}] = more;
}

//===--- States -----------------------------------------------------------===//

void Machine::checkEnd(const State &state) const {
  for (const Process &process : state.processes)
    require(process.stack.empty(), "a process has not ended");
  for (size_t channel = 0; channel < sides[0].size(); ++channel)
    for (int64_t producer : sides[1][channel])
      for (int64_t consumer : sides[0][channel])
        require(!isTrue(get(channels, channel), "data") ||
                    state.ends[producer].second == state.ends[consumer].second,
                "a channel is not empty at the end");
}

/// What matters of a channel: differences of counters, and answers that may
/// still be read.
std::vector<int64_t> Machine::getPlace(const State &state,
                                       size_t channel) const {
  int64_t first = INT64_MAX;
  for (int64_t end : sides[sides[0][channel].empty()][channel])
    first = std::min(first, state.ends[end].second);
  std::vector<int64_t> place;
  for (bool fills : {false, true})
    for (int64_t end : sides[fills][channel])
      for (int64_t count : {state.ends[end].first, state.ends[end].second})
        place.push_back(count - first);
  for (auto [slot, answer] : state.answers)
    if (slot.first == int64_t(channel) && slot.second >= first)
      llvm::append_values(place, slot.second - first, int64_t(answer));
  return place;
}

void Machine::checkCovers(const State &general, const State &special) const {
  for (size_t number = 0; number < general.processes.size(); ++number) {
    Process a = general.processes[number], b = special.processes[number];
    require(a.stack == b.stack, "a process stands elsewhere than expected");
    for (const auto &[variable, value] : a.values)
      require(b.getValue(variable) == value,
              "variable " + llvm::Twine(variable) + " of process " +
                  llvm::Twine(number) + " is not what is expected");
  }
  for (size_t channel = 0; channel < sides[0].size(); ++channel)
    require(getPlace(general, channel) == getPlace(special, channel),
            "a channel is not as full as expected, or has other answers");
  for (const Sum &fact : general.facts)
    require(follows(special, fact), "less is known than expected");
}

} // namespace fp8::check
