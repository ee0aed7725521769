// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes the run of a certificate again, and decides whether it proves that all
// launches end.

#include "Checker.h"

namespace fp8::check {

/// A state of the run, in which something was decided.
struct Node {
  std::optional<State> state;
  int parent = -1;
  bool hasWork = false; ///< a queue has just given work
};

/// An induction over the turns of a loop.
struct Loop {
  State next; ///< the state one turn later
  Sum guard;  ///< there
  int turn = -1;
  bool mayEnd = false; ///< whether there is what follows the last turn
  bool falls = false;  ///< whether each turn brings the guard nearer to its end
};

class Replay {
public:
  explicit Replay(const Value &certificate)
      : witness(get(certificate, "witness")), list(get(witness, "nodes")),
        atoms(certificate), machine(atoms, witness),
        nodes(getList(list).size()) {}
  void check();

private:
  int getProcess(const Value &value) const;
  int follow(int number, StringRef key, const State &state);
  void replay(int number);
  void run(State &state, const Value &node);
  void fork(int number);
  State move(State head, const Value &loop, const Sum &turns);
  void induct(int number);
  void goBack(int number);
  void cover(int number);
  bool isWithin(int number, int ancestor, bool *hasWork) const;

  const Value &witness, &list;
  Atoms atoms;
  Machine machine;
  std::vector<Node> nodes;
  std::map<int, Loop> loops;
};

int Replay::getProcess(const Value &value) const {
  return getNumber(value, 0,
                   getList(get(atoms.skeleton, "processes")).size() - 1);
}

/// Lets the node that the key names follow from the state.
int Replay::follow(int number, StringRef key, const State &state) {
  int next =
      getNumber(get(get(list, number), key), number + 1, nodes.size() - 1);
  require(!nodes[next].state, "two nodes lead to one");
  nodes[next].parent = number;
  nodes[next].state = state;
  return next;
}

/// "moves" are processes and how many steps each takes.
void Replay::run(State &state, const Value &node) {
  const llvm::json::Array &moves = getList(node, "moves");
  for (size_t i = 0; i + 1 < moves.size(); i += 2)
    for (int64_t left = getNumber(moves[i + 1], 1); left > 0; --left)
      require(machine.step(state, getProcess(moves[i])) == Outcome::Moved,
              "process " + llvm::Twine(getProcess(moves[i])) +
                  " cannot take a step");
  for (const Value &pair : getList(node, "forget"))
    state.processes[getProcess(get(pair, 0))].values.erase(
        getNumber(get(pair, 1)));
}

/// A process decides in both ways, or reads both answers of a queue.
void Replay::fork(int number) {
  State state = *nodes[number].state, yes = state, no = state;
  int process = getProcess(get(get(list, number), "process"));
  bool asks = false;
  try {
    asks = machine.step(state, process) == Outcome::Asks;
    require(asks, "the process has nothing to decide");
    machine.answer(yes, process, true);
    machine.answer(no, process, false);
  } catch (const Undecided &decision) {
    machine.checkScope(yes, process, decision.sum);
    yes.facts.push_back(decision.sum);
    no.facts.push_back(Sum(-1) - decision.sum);
  }
  nodes[follow(number, "yes", yes)].hasWork = asks;
  follow(number, "no", no);
}

/// The state at the head of a loop after so many turns.
State Replay::move(State head, const Value &loop, const Sum &turns) {
  State state = head;
  for (Process &its : state.processes)
    its.values.clear();
  auto moved = [&](const Sum &sum, const Value &by) {
    return sum + atoms.multiply(machine.evaluate(head, 0, by), turns);
  };
  for (const Value &kept : getList(loop, "keeps")) {
    int process = getProcess(get(kept, 0));
    int64_t variable = getNumber(get(kept, 1));
    state.processes[process].values[variable] =
        moved(head.processes[process].getValue(variable), get(kept, 2));
  }
  for (const Value &invariant : getList(loop, "invariants"))
    state.facts.push_back(
        moved(machine.evaluate(head, 0, get(invariant, 0)), get(invariant, 1)));
  return state;
}

/// From the state after any number of turns, one more leads to the next such
/// state. From the state after the last turn the run goes on.
void Replay::induct(int number) {
  const Value &node = get(list, number);
  State &state = *nodes[number].state;
  int process = getProcess(get(node, "process"));
  Sum first = machine.getGuard(state, process);
  machine.checkCovers(move(state, node, 0), state);
  // The number of turns is a symbol that no sum has mentioned yet.
  size_t size = atoms.size();
  Sum count = atoms.get({"count", number, {}});
  require(atoms.size() > size, "the count of a loop is not new");
  State any = move(state, node, count), turn = any, exit = state, after = any;
  Loop &loop = loops[number];
  loop.next = move(state, node, count + 1);
  Sum guard = machine.getGuard(any, process), rest = guard;
  machine.checkScope(any, process, guard);

  // A guard that falls by a constant says how many turns there are.
  int64_t fall = -rest.terms[count.terms.begin()->first];
  rest.terms.erase(count.terms.begin()->first);
  bool isLinear = rest == first,
       isFor =
           getText(get(any.processes[process].getStatement(), "do")) == "for";
  loop.guard = isFor      ? machine.getGuard(loop.next, process)
               : isLinear ? guard - fall
                          : Sum(-1); // it is not known
  // No turn at all may be one of the numbers of turns.
  bool joins = isLinear && fall > 0 && !has(node, "exit") &&
               has(node, "after") && machine.follows(state, first + fall);
  turn.facts.push_back(guard);
  loop.falls =
      machine.follows(turn, guard - loop.guard - 1) && (isFor || isLinear);
  exit.facts.push_back(Sum(-1) - first);
  if (isLinear && fall > 0) {
    after = move(state, node, atoms.divide("divide", first, fall) + 1);
    after.facts = state.facts;
    if (!joins)
      after.facts.push_back(first);
  } else {
    after.facts.insert(after.facts.end(), {Sum(-1) - guard, count - 1});
    State before = move(state, node, count - 1);
    if (isFor)
      after.facts.push_back(machine.getGuard(before, process));
  }
  loop.turn = follow(number, "turn", turn);
  loop.mayEnd = has(node, "after");
  if (loop.mayEnd)
    follow(number, "after", after);
  if (has(node, "exit"))
    follow(number, "exit", exit);
  else
    require(joins || machine.follows(state, first),
            "the loop may not be entered, and nothing says what follows");
}

/// Whether one node follows from the other, and a queue gives work in between.
bool Replay::isWithin(int number, int ancestor, bool *hasWork) const {
  *hasWork = false;
  for (; number > ancestor; number = nodes[number].parent)
    *hasWork |= nodes[number].hasWork;
  return number == ancestor && number >= 0;
}

/// The state is that of a loop, one turn later.
void Replay::goBack(int number) {
  int target = getNumber(get(get(list, number), "to"), 0, nodes.size() - 1);
  bool hasWork = false;
  require(loops.count(target) && isWithin(number, loops[target].turn, &hasWork),
          "this is in no turn of that loop");
  const Loop &loop = loops[target];
  require(loop.falls || hasWork, "the run may go round for ever");
  machine.checkCovers(loop.next, *nodes[number].state);
  require(loop.mayEnd || machine.follows(*nodes[number].state, loop.guard),
          "the loop may end, and nothing says what follows");
}

/// The state is one from which the run comes, when a queue has given work.
void Replay::cover(int number) {
  int target = getNumber(get(get(list, number), "to"), 0, number - 1);
  bool hasWork = false;
  require(isWithin(number, target, &hasWork),
          "the run does not come from there");
  require(hasWork, "the run may go round for ever");
  machine.checkCovers(*nodes[target].state, *nodes[number].state);
}

void Replay::replay(int number) {
  const Value &node = get(list, number);
  require(nodes[number].state.has_value(), "nothing leads to it");
  run(*nodes[number].state, node);
  StringRef kind = getText(get(node, "do"));
  if (kind == "fork")
    return fork(number);
  if (kind == "loop")
    return induct(number);
  if (kind == "back")
    return goBack(number);
  if (kind == "cover")
    return cover(number);
  require(kind == "end", "there is no such decision");
  machine.checkEnd(*nodes[number].state);
}

void Replay::check() {
  require(!nodes.empty(), "there are no nodes");
  nodes[0].state = machine.getInitial();
  size_t number = 0;
  try {
    for (; number < nodes.size(); ++number)
      replay(number);
  } catch (const Rejected &its) {
    throw Rejected{"node " + std::to_string(number) + ": " + its.reason};
  } catch (const Undecided &) {
    throw Rejected{"node " + std::to_string(number) +
                   ": a process decides what the facts do not"};
  }
}

void replay(const Value &certificate) { Replay(certificate).check(); }

} // namespace fp8::check
