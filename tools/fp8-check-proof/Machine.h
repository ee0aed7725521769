// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the processes of a skeleton, one step at a time.

#ifndef FP8_TOOLS_CHECKPROOF_MACHINE_H
#define FP8_TOOLS_CHECKPROOF_MACHINE_H

#include "Checker.h"

namespace fp8::check {

struct Channel {
  int32_t slots;
  bool data; ///< it must be empty at the end
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Channel, slots, data)

struct End {
  size_t channel;
  bool fills;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(End, channel, fills)

/// A step of a process. Numbers are of expressions, but for `to`, a step; and
/// the first ones of `assign`, variables.
struct Step {
  std::string kind;
  size_t end = -1, condition = -1, to = -1;
  std::vector<std::pair<int64_t, size_t>> assign;
  bool meets = false; ///< whether CTAs of a cluster meet behind it
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Step, kind, end, condition, to,
                                                assign, meets)

/// By the numbers of variables, or of loops, whose turns are counted.
using Values = std::map<int64_t, Sum>;

struct State {
  std::vector<size_t> steps;  ///< the next one of each process
  std::vector<Values> values; ///< of its variables; others are unknown
  /// How many slots each end has waited for, and how many it has signalled.
  std::vector<std::pair<int64_t, int64_t>> ends;
  std::map<std::pair<size_t, int64_t>, bool> answers; ///< by channel and slot
  Facts facts;
};

class Machine {
public:
  explicit Machine(const Json &certificate)
      : atoms(certificate), isCoupled(atoms.skeleton.at("coupled")),
        expressions(atoms.skeleton.at("expressions")),
        channels(atoms.skeleton.at("channels").get<std::vector<Channel>>()),
        ends(atoms.skeleton.at("ends").get<std::vector<End>>()) {
    for (const Json &process : atoms.skeleton.at("processes"))
      programs.push_back(process.at("program"));
  }

  State getInitial() const {
    size_t size = programs.size();
    return {std::vector<size_t>(size),
            std::vector<Values>(size),
            std::vector<std::pair<int64_t, int64_t>>(ends.size()),
            {},
            {}};
  }

  /// Takes the next step of a process, and the jumps behind it. False if it
  /// waits for a slot. `answer`: what it reads there, that nobody has read yet.
  bool step(State &state, size_t process, std::optional<bool> answer = {}) {
    const std::vector<Step> &program = programs.at(process);
    size_t &next = state.steps[process];
    if (next == program.size())
      return false;
    const Step &step = program.at(next);
    require(!answer || step.kind == "answer", "a process reads no answer");
    bool holds = true;
    if (step.kind == "branch")
      holds = branches(state, process, step);
    else if (step.kind == "assign")
      assign(state, process, step);
    else if (!access(state, process, step, answer))
      return false;
    next = holds ? next + 1 : step.to;
    // A jump is no step of its own.
    for (; next != program.size() && program.at(next).kind == "jump";
         next = program[next].to)
      assign(state, process, program[next]);
    return true;
  }

  void checkEnd(const State &state) const {
    for (size_t process = 0; process < programs.size(); ++process)
      require(state.steps[process] == programs[process].size(),
              "a process has not ended");
    for (size_t a = 0; a < ends.size(); ++a)
      for (size_t b = 0; b < ends.size(); ++b)
        require(!areOpposite(a, b) || !channels.at(ends[a].channel).data ||
                    state.ends[a].second == state.ends[b].second,
                "a channel is not empty at the end");
  }

  /// Rejects unless the states of `special` are among those of `general`.
  void checkCovers(const State &general, const State &special) const {
    require(general.steps == special.steps, "a process stands elsewhere");
    for (size_t process = 0; process < programs.size(); ++process)
      for (const auto &[variable, value] : general.values[process])
        require(atoms.areEqual(special.facts, value,
                               special.values[process].at(variable)),
                "a variable is not what is expected");
    for (size_t channel = 0; channel < channels.size(); ++channel)
      require(getPlace(general, channel) == getPlace(special, channel),
              "a channel is not as full as expected, or has other answers");
    for (const Sum &fact : general.facts)
      require(atoms.follows(special.facts, fact), "a fact is missing");
  }

  /// What an expression of the table is worth. Conditions are 0 or 1.
  Sum evaluate(const Json &table, const Facts &facts, const Values &variables,
               const Json &id, int depth = 0) {
    work();
    require(depth < 500, "an expression is too deep");
    const Json &expr = table.at(id.get<size_t>());
    std::string kind = expr.at(0);
    auto operand = [&](int i) {
      return evaluate(table, facts, variables, expr.at(i), depth + 1);
    };
    auto truth = [&](int i) { return decide(facts, operand(i) - 1); };
    if (kind == "constant")
      return expr.at(1).get<int64_t>();
    if (kind == "variable")
      return variables.at(expr.at(1));
    if (kind == "select")
      return operand(truth(1) ? 2 : 3);
    if (kind == "and") {
      // What is false decides alone.
      bool isKnown = true;
      for (int i : {1, 2})
        try {
          if (!truth(i))
            return 0;
        } catch (const std::exception &) {
          isKnown = false;
        }
      require(isKnown, "the facts do not decide what happens");
      return 1;
    }
    if (kind == "parameter" || kind == "opaque") {
      Atom atom{kind, expr.at(1)};
      for (size_t i = 2; i < expr.size(); ++i)
        atom.operands.push_back(operand(i));
      return atoms.get(std::move(atom));
    }
    Sum left = operand(1), right = operand(2);
    if (kind == "add")
      return left + right;
    if (kind == "multiply")
      return atoms.multiply(left, right);
    if (kind == "divide")
      return atoms.divide(left, right);
    if (kind == "less")
      return decide(facts, right - left - 1);
    require(kind == "minimum", "an expression is of no kind");
    bool isLess = atoms.follows(facts, right - left);
    require(isLess || atoms.follows(facts, left - right),
            "the facts do not decide which value is less");
    return isLess ? left : right;
  }

  /// Adds the fact that the sum is at least 0, or less.
  void split(Facts &facts, const Sum &sum, bool holds) const {
    int scope = atoms.getScope(sum);
    require(scope < kThread, "threads of a role part ways");
    require(scope < kCta || atoms.clusterSize == 1 || !isCoupled,
            "CTAs that wait for one another part ways");
    facts.push_back(holds ? sum : Sum(-1) - sum);
  }

  Atoms atoms;

private:
  bool decide(const Facts &facts, const Sum &sum) const {
    bool holds = atoms.follows(facts, sum);
    require(holds || atoms.follows(facts, Sum(-1) - sum),
            "the facts do not decide what happens");
    return holds;
  }

  Sum get(const State &state, size_t process, size_t id) {
    return evaluate(expressions, state.facts, state.values[process], id);
  }

  void assign(State &state, size_t process, const Step &step) {
    work();
    Values values = state.values[process];
    for (auto [variable, id] : step.assign)
      values[variable] = get(state, process, id);
    state.values[process] = std::move(values);
  }

  bool branches(State state, size_t process, const Step &step) {
    // CTAs that meet behind it decide by what is the same for all.
    if (step.meets && atoms.clusterSize > 1)
      for (const Sum &fact : std::exchange(state.facts, {}))
        if (atoms.getScope(fact) < kCta)
          state.facts.push_back(fact);
    return decide(state.facts, get(state, process, step.condition) - 1);
  }

  /// A step that is about a channel.
  bool access(State &state, size_t process, const Step &step,
              std::optional<bool> answer) {
    work();
    size_t end = getEnd(state, process, step), channel = ends[end].channel;
    auto &[waits, signals] = state.ends[end];
    if (step.kind == "signal")
      return ++signals;
    if (step.kind == "drain")
      return !channels[channel].data ||
             isFree(state, end, signals - 1 + channels[channel].slots);
    // What a slot brings is not followed.
    for (auto [variable, field] : step.assign)
      state.values[process].erase(variable);
    if (step.kind == "wait" && isFree(state, end, waits))
      return ++waits;
    if (step.kind == "wait")
      return false;
    require(step.kind == "answer", "there is no such step");
    require(!ends[end].fills && waits > signals,
            "a process reads the answer of a slot that it does not hold");
    auto [its, isNew] =
        state.answers.try_emplace({channel, waits - 1}, answer == true);
    require(isNew == answer.has_value(), "an answer is not known, or two are");
    state.values[process][step.assign.at(0).first] = its->second;
    return true;
  }

  size_t getEnd(const State &state, size_t process, const Step &step) {
    Sum sum = get(state, process, step.end);
    size_t end = sum.terms.empty() ? int64_t(sum.constant) : -1;
    require(end < ends.size() && ends[end].channel < channels.size(),
            "a process works on no end");
    require(owners.try_emplace(end, process).first->second == process,
            "two processes work on one end");
    return end;
  }

  bool areOpposite(size_t end, size_t other) const {
    return ends[other].channel == ends[end].channel &&
           ends[other].fills != ends[end].fills;
  }

  bool isFree(const State &state, size_t end, int64_t slot) const {
    slot -= ends[end].fills ? channels[ends[end].channel].slots : 0;
    for (size_t other = 0; other < ends.size(); ++other)
      if (areOpposite(end, other) && state.ends[other].second <= slot)
        return false;
    return true;
  }

  /// What matters of a channel: differences of counters, and answers that may
  /// still be read.
  std::vector<int64_t> getPlace(const State &state, size_t channel) const {
    std::vector<int64_t> place;
    int64_t first = INT64_MAX;
    for (size_t end = 0; end < ends.size(); ++end)
      if (ends[end].channel == channel) {
        auto [waits, signals] = state.ends[end];
        place.insert(place.end(), {waits, signals});
        first = std::min({first, waits, signals});
      }
    for (int64_t &count : place)
      count -= first;
    for (auto [slot, answer] : state.answers)
      if (slot.first == channel && slot.second >= first)
        place.insert(place.end(), {slot.second - first, answer});
    return place;
  }

  const bool isCoupled;
  const Json &expressions;
  const std::vector<Channel> channels;
  const std::vector<End> ends;
  std::vector<std::vector<Step>> programs;
  std::map<size_t, size_t> owners; ///< the process that works on an end
};

} // namespace fp8::check

#endif // FP8_TOOLS_CHECKPROOF_MACHINE_H
