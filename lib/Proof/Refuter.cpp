// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The search for the smallest launch that goes wrong.

#include "Refuter.h"

#include "DataFacts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SaveAndRestore.h"

#include <functional>
#include <set>

using namespace fp8::proof;

//===----------------------------------------------------------------------===//
// What to try
//===----------------------------------------------------------------------===//

namespace {

/// Collects the parameters of expressions, and by what they are divided.
struct Collector {
  const ExprTable &expressions;
  std::map<int64_t, std::set<int64_t>> divisors;
  std::set<std::pair<ExprId, int64_t>> seen;

  void add(ExprId id, int64_t divisor) {
    if (!seen.insert({id, divisor}).second)
      return;
    const Expr &expr = expressions[id];
    if (expr.kind == ExprKind::Parameter)
      divisors[expr.value].insert(divisor);
    if ((expr.kind == ExprKind::FloorDivide ||
         expr.kind == ExprKind::Remainder) &&
        expressions[expr.operands[1]].kind == ExprKind::Constant)
      divisor *= std::max<int64_t>(1, expressions[expr.operands[1]].value);
    for (ExprId operand : expr.operands)
      add(operand, divisor);
  }

  void add(const Block &block) {
    for (const Statement &statement : block) {
      for (ExprId id : {statement.condition, statement.lower, statement.upper,
                        statement.step})
        add(id, 1);
      // A Wait has fields there.
      if (statement.kind != Statement::Kind::Wait)
        for (auto [variable, id] : statement.assigned)
          add(id, 1);
      add(statement.first);
      add(statement.second);
    }
  }
};

} // namespace

std::vector<std::pair<int64_t, std::vector<int64_t>>>
Refuter::getCandidates() const {
  Collector collector{skeleton.expressions, {}, {}};
  for (const Process &process : skeleton.processes)
    collector.add(process.body);
  std::vector<std::pair<int64_t, std::vector<int64_t>>> candidates;
  // What is compared for several values keeps its name.
  for (const Expr &expr : skeleton.expressions.get())
    if (expr.kind == ExprKind::Where)
      collector.divisors.erase(skeleton.expressions[expr.operands[1]].value);
  // What bounds one that matters, matters.
  auto divisorsOf = collector.divisors;
  for (auto &[number, divisors] : divisorsOf)
    if (auto bound = skeleton.expressions.getParameters()[number].below)
      collector.divisors[*bound].insert(1);
  for (auto &[number, divisors] : collector.divisors) {
    const Parameter &parameter = skeleton.expressions.getParameters()[number];
    if (parameter.scope == Scope::Thread && !triesThreads)
      continue;
    std::set<int64_t> values = {parameter.least};
    for (int64_t divisor : divisors)
      for (int64_t value : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17})
        for (int64_t rest : {int64_t(0), int64_t(1), divisor - 1})
          if (int64_t tried = value * divisor + rest;
              tried >= parameter.least && (rest == 0 || divisor > 1))
            values.insert(tried);
    for (auto it = values.begin(); it != values.end();)
      it = *it % parameter.step || *it > parameter.most.value_or(*it)
               ? values.erase(it)
               : std::next(it);
    if (parameter.scope == Scope::Cta && !parameter.most)
      values = {0, clusterSize, 2 * clusterSize, 3 * clusterSize};
    candidates.push_back({number, {values.begin(), values.end()}});
  }
  return candidates;
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

std::optional<Waiting> Refuter::getWaiting(Machine &machine, const State &state,
                                           unsigned process) {
  const Statement &statement = state.processes[process].stack.back().get();
  if (statement.kind > Statement::Kind::Drain)
    return std::nullopt;
  unsigned number = machine.getEnd(state, process, statement);
  Awaited awaited = machine.getAwaited(state, number, statement);
  return Waiting{process,
                 number,
                 statement.kind == Statement::Kind::Drain,
                 awaited.slot,
                 {awaited.late.begin(), awaited.late.end()}};
}

std::string Refuter::describe(const Waiting &waiting) {
  const End &end = skeleton.ends[waiting.end];
  const Channel &channel = skeleton.channels[end.channel];
  std::string what = "slot " + std::to_string(waiting.slot % channel.slots) +
                     " of " + channel.name,
              lap = " in lap " + std::to_string(waiting.slot / channel.slots),
              who =
                  llvm::join(llvm::map_range(waiting.late,
                                             [&](unsigned other) {
                                               return skeleton.ends[other].name;
                                             }),
                             ", ");
  if (waiting.drains)
    return "waits until " + who + " has handed back " + what + lap;
  if (end.isProducer)
    return "needs " + what + " again, which " + who + " has not handed back" +
           lap;
  return "waits for " + what + ", which " + who + " has not filled" + lap;
}

void Refuter::describe(Machine &machine, const State &state, Outcome &outcome) {
  outcome.stops.clear();
  for (unsigned process = 0; process < state.processes.size(); ++process) {
    if (state.processes[process].isFinished())
      continue;
    std::optional<Waiting> waiting = getWaiting(machine, state, process);
    outcome.stops.push_back({process,
                             state.processes[process].stack.back().get().site,
                             waiting ? describe(*waiting) : "stands here"});
  }
}

void Refuter::cure(Machine &machine, const State &state, Outcome &outcome) {
  std::vector<Waiting> waiting;
  for (unsigned process = 0; process < state.processes.size(); ++process)
    if (!state.processes[process].isFinished())
      if (auto its = getWaiting(machine, state, process))
        waiting.push_back(std::move(*its));
  outcome.cure = findCure(skeleton, clusterSize, state, waiting);
}

bool Refuter::explore(Machine &machine, AtomTable &atoms, State state,
                      std::vector<std::string> &data, Outcome &outcome) {
  if (!machine.run(state)) {
    if (!machine.isWrong || !describeFailure(machine, outcome))
      return false;
    outcome.data = data;
    return true;
  }
  for (unsigned process = 0; process < state.processes.size(); ++process) {
    Step step = machine.step(state, process);
    if (step.kind != StepKind::Undecided)
      continue;
    const Statement &statement = state.processes[process].stack.back().get();
    bool isAnswer = statement.kind == Statement::Kind::Answer;
    // Few answers lead to a small launch. A function of known values has one
    // that is not known here.
    if (data.size() > 6 || (!isAnswer && !atoms.isOfData(step.pivot)))
      return false;
    // Functions of one datum may not have such values together.
    llvm::SaveAndRestore<std::vector<Linear>> outer(decided);
    if (!isAnswer)
      decided.push_back(step.pivot);
    if (!areOfDifferentData(atoms, decided))
      return false;
    for (bool truth : {false, true}) {
      State next = state;
      if (isAnswer)
        machine.answer(next, process, truth);
      else
        next.facts.add(truth ? step.pivot : Linear(-1) - step.pivot);
      data.push_back(
          isAnswer ? std::string("the queue answers ") +
                         (truth ? "with work" : "that there is none")
                   : atoms.print(truth ? step.pivot : Linear(-1) - step.pivot) +
                         " >= 0");
      if (explore(machine, atoms, std::move(next), data, outcome))
        return true;
      data.pop_back();
    }
    return false;
  }
  if (!judge(machine, state, data.empty(), outcome))
    return false;
  outcome.data = data;
  return true;
}

bool Refuter::describeFailure(const Machine &machine, Outcome &outcome) const {
  outcome.reason = machine.failure;
  outcome.site = machine.failureSite;
  return true;
}

bool Refuter::judge(Machine &machine, const State &state, bool isDecided,
                    Outcome &outcome) {
  if (llvm::any_of(state.processes, [](const ProcessState &process) {
        return !process.isFinished();
      })) {
    outcome.reason = "roles wait for one another";
    describe(machine, state, outcome);
    cure(machine, state, outcome);
  } else if (std::optional<Leftover> left = machine.findLeftover(state)) {
    describe(state, *left, outcome);
  } else {
    return false;
  }
  return true;
}

void Refuter::describe(const State &state, const Leftover &left,
                       Outcome &outcome) {
  const std::string &producer = skeleton.ends[left.producer].name,
                    &consumer = skeleton.ends[left.consumer].name;
  outcome.reason =
      producer + " fills " + std::to_string(state.ends[left.producer].signals) +
      " slots of " + left.channel->name + ", of which " + consumer +
      " empties " + std::to_string(state.ends[left.consumer].signals);
  outcome.site = left.channel->site;
  outcome.cure =
      Cure{left.channel->site, "let " + producer + " and " + consumer +
                                   " take this ring equally often"};
}

bool Refuter::run(const Arguments &arguments, Outcome &outcome) {
  for (auto [number, value] : arguments) {
    const Parameter &its = skeleton.expressions.getParameters()[number];
    auto it = its.below ? arguments.find(*its.below) : arguments.end();
    if (it != arguments.end() && value * its.weight >= it->second)
      return false;
  }
  return runLaunch(arguments, outcome);
}

bool Refuter::runLaunch(const Arguments &arguments, Outcome &outcome) {
  ++runs;
  AtomTable atoms(skeleton.expressions);
  Machine machine(skeleton, atoms, clusterSize);
  machine.parameters = arguments;
  machine.limit = longestRun;
  machine.isConcrete = true;
  prepare(machine);
  std::vector<std::string> data;
  bool goesWrong = explore(machine, atoms, machine.getInitial(), data, outcome);
  steps += machine.steps;
  if (!goesWrong)
    return false;
  outcome.verdict = Verdict::Refuted;
  for (auto [number, value] : arguments)
    outcome.arguments.push_back(
        {skeleton.expressions.getParameters()[number].name, value});
  return true;
}

bool Refuter::tryBySum(const Candidates &candidates, size_t least, size_t most,
                       Outcome &outcome) {
  std::map<int64_t, int64_t> arguments;
  std::function<bool(size_t, size_t)> tryAll = [&](size_t number, size_t left) {
    if (number == candidates.size())
      return left == 0 && run(arguments, outcome);
    auto &[parameter, values] = candidates[number];
    for (size_t place = 0; place <= left && place < values.size(); ++place) {
      if (isTired())
        return false;
      arguments[parameter] = values[place];
      if (tryAll(number + 1, left - place))
        return true;
    }
    return false;
  };
  for (size_t sum = least; sum <= most && !isTired(); ++sum)
    if (tryAll(0, sum))
      return true;
  return false;
}

bool Refuter::tryOneLarge(const Candidates &candidates, Outcome &outcome) {
  llvm::SaveAndRestore<uint64_t> shorter(longestRun, 4'000);
  auto getSmall = [&](int64_t parameter, llvm::ArrayRef<int64_t> values,
                      size_t place) {
    const Parameter &its = skeleton.expressions.getParameters()[parameter];
    // Numbers of CTAs begin at 0; extents of 0 leave little to run.
    bool begins = its.scope != Scope::Launch || its.below || values[0] > 0;
    return values[std::min(begins ? place - 1 : place, values.size() - 1)];
  };
  std::vector<int64_t> others = {-1};
  for (auto &[parameter, values] : candidates)
    if (values.size() > 1)
      others.push_back(parameter);
  std::map<int64_t, int64_t> arguments;
  for (int64_t second : others)
    for (auto &[large, values] : candidates)
      for (int64_t value : values) {
        if (isTired())
          return false;
        for (auto &[parameter, its] : candidates)
          arguments[parameter] =
              parameter == large
                  ? value
                  : getSmall(parameter, its, parameter == second ? 2 : 1);
        if (run(arguments, outcome))
          return true;
      }
  return false;
}

void Refuter::refute(Outcome &outcome) {
  Candidates candidates = getCandidates();
  size_t most = 0;
  for (auto &[parameter, values] : candidates)
    most += values.size();
  constexpr size_t kSmall = 6;
  if (!tryBySum(candidates, 0, std::min(most, kSmall), outcome) &&
      !tryOneLarge(candidates, outcome))
    tryBySum(candidates, kSmall + 1, most, outcome);
}
