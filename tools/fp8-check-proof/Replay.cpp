// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes the run of a certificate again, and decides whether it proves that all
// launches end.

#include "Machine.h"

namespace fp8::check {

using Pairs = std::vector<std::pair<size_t, int64_t>>;

/// A set of states of the run, and what follows. Numbers are of nodes that
/// follow, but for `process`, and sums of the witness: `sum`, `rank` and
/// `last`. -1: there is none.
struct Node {
  std::string kind;
  Pairs moves, forget; ///< processes, with numbers of steps or variables
  int64_t process = -1, sum = -1, yes = -1, no = -1, to = -1;
  int64_t rank = -1, last = -1, turn = -1, after = -1;
  std::vector<std::tuple<size_t, int64_t, int64_t>> keeps;
  std::vector<int64_t> invariants;
  // What the replay finds.
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
    nodes.at(0).state = machine.getInitial();
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

  /// Lets a node follow from a state.
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
      isEntered |= machine.atoms.areEqual(none, last, 0);
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
