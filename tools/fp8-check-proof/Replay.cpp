// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes the run of a certificate again: it must prove that all launches end.

#include "Checker.h"

namespace fp8::check {

struct Channel {
  int64_t slots;
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
      : atoms(certificate), expressions(atoms.skeleton.at("expressions")),
        channels(atoms.skeleton.at("channels").get<std::vector<Channel>>()),
        ends(atoms.skeleton.at("ends").get<std::vector<End>>()) {
    for (const Json &process : atoms.skeleton.at("processes"))
      programs.push_back(process.at("program"));
    initial.steps.resize(programs.size());
    initial.values.resize(programs.size());
    initial.ends.resize(ends.size());
  }

  /// Takes the next step of a process, and the jumps behind it. False if it
  /// waits for a slot. `answer`: what it reads there, that nobody has read yet.
  bool step(State &state, size_t process, std::optional<bool> answer = {}) {
    const std::vector<Step> &program = programs.at(process);
    size_t &next = state.steps[process];
    const Step &step = program.at(next);
    require(!answer || step.kind == "answer", "a process reads no answer");
    if (step.kind == "assign")
      assign(state, process, step);
    else if (step.kind != "branch" && !access(state, process, step, answer))
      return false;
    bool skips = step.kind == "branch" && !branches(state, process, step);
    next = skips ? step.to : next + 1;
    // A jump is no step of its own.
    for (; next != program.size() && program.at(next).kind == "jump";
         next = program[next].to)
      assign(state, process, program[next]);
    return true;
  }

  void checkEnd(const State &state) const {
    for (size_t i = 0; i < programs.size(); ++i)
      require(state.steps[i] == programs[i].size(), "a process has not ended");
    for (size_t end = 0; end < ends.size(); ++end)
      require(isDrained(state, end), "a channel is not empty at the end");
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
    return !atoms.follows(facts, right - left) &&
                   (atoms.follows(facts, left - right) ||
                    decide(facts, left - right))
               ? right
               : left;
  }

  /// Adds the fact that the sum is at least 0, or less.
  void split(Facts &facts, const Sum &sum, bool holds) const {
    int scope = atoms.getScope(sum);
    require(scope < kThread, "threads of a role part ways");
    require(scope < kCta || atoms.clusterSize == 1 ||
                !atoms.skeleton.at("coupled"),
            "CTAs that wait for one another part ways");
    facts.push_back(holds ? sum : Sum(-1) - sum);
  }

  Atoms atoms;
  State initial;

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

  bool access(State &state, size_t process, const Step &step,
              std::optional<bool> answer) {
    work();
    Sum sum = get(state, process, step.end);
    require(sum.terms.empty() && sum.constant >= 0 &&
                sum.constant < int64_t(ends.size()),
            "a process works on no end");
    size_t end = int64_t(sum.constant);
    auto [channel, fills] = ends[end];
    auto &[waits, signals] = state.ends[end];
    require(owners.try_emplace(end, process).first->second == process,
            "two processes work on one end");
    if (step.kind == "signal")
      return ++signals;
    if (step.kind == "drain")
      return isDrained(state, end);
    // What a slot brings is not followed.
    for (auto [variable, field] : step.assign)
      state.values[process].erase(variable);
    if (step.kind == "wait") {
      int64_t slots = channels.at(channel).slots * fills;
      require(slots >= 0, "a channel has no slots");
      return isReached(state, end, waits + 1 - slots) && ++waits;
    }
    require(step.kind == "answer" && !fills && waits > signals,
            "a process reads the answer of a slot that it does not hold");
    auto [its, isNew] =
        state.answers.try_emplace({channel, waits - 1}, answer == true);
    require(isNew == answer.has_value(), "an answer is not known, or two are");
    state.values[process][step.assign.at(0).first] = its->second;
    return true;
  }

  /// Whether there are ends on the other side, and all have signalled so often.
  bool isReached(const State &state, size_t end, int64_t count) const {
    bool isThere = count <= 0;
    for (size_t other = 0; other < ends.size(); ++other)
      if (ends[other].channel == ends[end].channel &&
          ends[other].fills != ends[end].fills) {
        if (state.ends[other].second < count)
          return false;
        isThere = true;
      }
    return isThere;
  }

  bool isDrained(const State &state, size_t end) const {
    size_t channel = ends[end].channel;
    return channel >= channels.size() || !channels[channel].data ||
           isReached(state, end, state.ends[end].second);
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

  const Json &expressions;
  const std::vector<Channel> channels;
  const std::vector<End> ends;
  std::vector<std::vector<Step>> programs;
  std::map<size_t, size_t> owners; ///< the process that works on an end
};

/// A set of states of the run, and what follows. Numbers are of nodes, but for
/// `process` and the sums `sum`, `rank` and `last`. -1: there is none.
struct Node {
  std::string kind;
  std::vector<std::pair<size_t, int64_t>> moves, forget; ///< of processes
  int64_t process = -1, sum = -1, yes = -1, no = -1, to = -1;
  int64_t rank = -1, last = -1, turn = -1, after = -1;
  std::vector<std::tuple<size_t, int64_t, int64_t>> keeps;
  std::vector<int64_t> invariants;
  std::optional<State> state, next; ///< `next`: one turn later
  int64_t parent = -1;
  bool hasWork = false; ///< a queue has just given work
  bool falls = false;   ///< each turn brings the rank nearer to its end
  Sum nextRank;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Node, kind, moves, forget,
                                                process, sum, yes, no, to, rank,
                                                last, turn, after, keeps,
                                                invariants)

class Replay {
public:
  explicit Replay(const Json &certificate)
      : machine(certificate), sums(certificate.at("witness").at("expressions")),
        nodes(certificate.at("witness").at("nodes").get<std::vector<Node>>()) {}

  void check() {
    nodes.at(0).state = machine.initial;
    for (number = 0; number < nodes.size(); ++number)
      try {
        replay(nodes[number]);
      } catch (const std::exception &its) {
        throw std::runtime_error("node " + std::to_string(number) + ": " +
                                 its.what());
      }
  }

private:
  void replay(Node &node) {
    require(node.state.has_value(), "nothing leads to it");
    for (auto [process, steps] : node.moves)
      for (; steps > 0; --steps)
        require(machine.step(*node.state, process),
                "a process cannot take a step");
    for (auto [process, variable] : node.forget)
      node.state->values.at(process).erase(variable);
    if (node.kind == "fork")
      return fork(node);
    if (node.kind == "loop")
      return induct(node);
    if (node.kind == "back")
      return goBack(node);
    require(node.kind == "end", "there is no such decision");
    machine.checkEnd(*node.state);
  }

  Node &follow(int64_t next, const State &state) {
    require(next > int64_t(number) && !nodes.at(next).state,
            "two nodes lead to one");
    nodes[next].parent = number;
    nodes[next].state = state;
    return nodes[next];
  }

  /// A sum is at least 0, or less; or a process reads both answers of a queue.
  void fork(const Node &node) {
    State yes = *node.state, no = yes;
    if (node.process >= 0) {
      machine.step(yes, node.process, true);
      machine.step(no, node.process, false);
    } else {
      Sum sum = evaluate(yes, node.sum);
      machine.split(yes.facts, sum, true);
      machine.split(no.facts, sum, false);
    }
    follow(node.yes, yes).hasWork = node.process >= 0;
    follow(node.no, no);
  }

  /// From the state after any number of turns, one more leads to the next such
  /// state. From the state after the last turn the run goes on.
  void induct(Node &node) {
    const State &state = *node.state;
    const Sum count = machine.atoms.get({"count", int64_t(number)});
    auto getRank = [&](const Sum &turns) {
      counts[number] = turns;
      return evaluate(state, node.rank);
    };
    Sum first = getRank(0), rank = getRank(count);
    machine.checkCovers(move(node, 0), state);
    State turn = move(node, count), after = turn;
    machine.split(turn.facts, rank, true);
    node.next = move(node, count + 1);
    node.nextRank = getRank(count + 1);
    node.falls = machine.atoms.follows(turn.facts, rank - node.nextRank - 1);
    follow(node.turn, turn);

    // Behind the last turn, and without a turn if `last` says so.
    Facts none = state.facts;
    none.push_back(Sum(-1) - first);
    machine.split(after.facts, rank, false);
    after.facts.insert(after.facts.end(), {count - 1, getRank(count - 1)});
    bool isEntered = machine.atoms.follows(state.facts, first);
    if (node.last >= 0) {
      Sum last = evaluate(state, node.last);
      isEntered |= node.after >= 0 && machine.atoms.areEqual(none, last, 0);
      require(machine.atoms.areEqual(after.facts, last, count),
              "the loop may have another number of turns");
      after = move(node, last);
    }
    counts[number] = count;
    if (node.after >= 0)
      follow(node.after, after);
    require(isEntered, "nothing says what follows if the loop is not entered");
  }

  /// The state at the head of a loop after so many turns.
  State move(const Node &head, const Sum &turns) {
    State state = *head.state;
    counts[number] = turns;
    state.values.assign(state.values.size(), {});
    for (auto [process, variable, by] : head.keeps)
      state.values.at(process)[variable] =
          head.state->values.at(process).at(variable) +
          machine.atoms.multiply(evaluate(state, by), turns);
    for (int64_t fact : head.invariants)
      state.facts.push_back(evaluate(*head.state, fact));
    return state;
  }

  /// The state is that of a loop above, one turn later, or among those of
  /// another node above, from which the run comes.
  void goBack(const Node &node) {
    const Node &target = nodes.at(node.to);
    int64_t start = target.next ? target.turn : node.to, above = number;
    bool hasWork = false;
    for (; above > start; above = nodes[above].parent)
      hasWork |= nodes[above].hasWork;
    require(above == start, "the run does not come from there");
    require(hasWork || target.falls, "the run may go round for ever");
    machine.checkCovers(target.next ? *target.next : *target.state,
                        *node.state);
    require(!target.next || target.after >= 0 ||
                machine.atoms.follows(node.state->facts, target.nextRank),
            "nothing says what follows if the loop ends");
  }

  Sum evaluate(const State &state, int64_t id) {
    return machine.evaluate(sums, state.facts, counts, id);
  }

  Machine machine;
  const Json &sums;
  std::vector<Node> nodes;
  size_t number = 0; ///< of the node that is replayed
  Values counts;     ///< of turns
};

void replay(const Json &certificate) { Replay(certificate).check(); }

} // namespace fp8::check
