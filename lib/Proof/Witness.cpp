// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The record of a run, and its form as JSON.

#include "Witness.h"

#include "llvm/ADT/STLExtras.h"

using namespace fp8::proof;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// The record
//===----------------------------------------------------------------------===//

Witness::NodeId Witness::add(NodeId parent) {
  nodes.emplace_back();
  nodes.back().parent = parent;
  return nodes.size() - 1;
}

Witness::Node *Witness::close(const State &state, Kind kind, unsigned process) {
  if (!isOn())
    return nullptr;
  Node &node = nodes[state.trail.node];
  node.kind = kind;
  node.process = process;
  node.moves = state.trail.moves;
  return &node;
}

void Witness::fork(const State &state, unsigned process, State &yes,
                   State &no) {
  if (!close(state, Kind::Fork, process))
    return;
  NodeId parent = state.trail.node;
  yes.trail = {add(parent), {}};
  no.trail = {add(parent), {}};
  nodes[parent].yes = yes.trail.node;
  nodes[parent].no = no.trail.node;
}

bool Witness::cover(const State &state, const State &by,
                    llvm::function_ref<bool(unsigned, unsigned)> isAlive) {
  NodeId target = by.trail.node;
  if (recording == Recording::Tree) {
    NodeId above = state.trail.node;
    while (above > target)
      above = nodes[above].parent;
    if (above != target)
      return false;
  }
  Node *node = close(state, Kind::Cover);
  if (!node)
    return true;
  node->target = target;
  auto &forgotten = nodes[target].forgotten;
  if (!forgotten.empty())
    return true;
  for (const auto &[process, its] : llvm::enumerate(by.processes))
    for (unsigned variable = 0; variable < its.values.size(); ++variable)
      if (its.values[variable] && !isAlive(process, variable))
        forgotten.push_back({unsigned(process), variable});
  return true;
}

Witness::NodeId Witness::begin(State &state) {
  if (!isOn())
    return 0;
  state.trail = {add(state.trail.node), {}};
  return state.trail.node;
}

void Witness::back(const State &state, const State &head) {
  if (Node *node = close(state, Kind::Back))
    node->target = head.trail.node;
}

void Witness::leaveBehind(const State &head, unsigned process, bool mayExit,
                          Loop loop) {
  Node *node = close(head, Kind::Loop, process);
  if (!mayExit)
    node->no = 0;
  node->loop = loops.size();
  loops.push_back(std::move(loop));
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

namespace fp8::proof {

/// Writes the nodes of the tree, under new numbers.
class WitnessWriter {
public:
  WitnessWriter(const Witness &witness, const AtomTable &atoms)
      : nodes(witness.nodes), loops(witness.loops), atoms(atoms) {}

  std::optional<json::Object> write();

private:
  using Kind = Witness::Kind;
  using Node = Witness::Node;
  using NodeId = Witness::NodeId;

  llvm::SmallVector<NodeId, 3> getNext(const Node &node) const;
  json::Value writeNode(NodeId id);
  void writeLoop(const Node &node, json::Object &object);
  /// The number of an expression that is worth the sum.
  int64_t write(const Linear &sum);
  int64_t writeAtom(AtomId atom);
  int64_t add(json::Array expression);

  const std::vector<Witness::Node> &nodes;
  const std::vector<Witness::Loop> &loops;
  const AtomTable &atoms;
  std::map<NodeId, int64_t> numbers; ///< of the nodes that are written
  std::map<AtomId, int64_t> atomNumbers, counts;
  std::map<Linear, int64_t> sums;
  json::Array expressions; ///< that follow those of the skeleton
};

} // namespace fp8::proof

llvm::SmallVector<Witness::NodeId, 3>
WitnessWriter::getNext(const Node &node) const {
  llvm::SmallVector<NodeId, 3> next;
  if (node.kind == Kind::Fork)
    next = {node.yes, node.no};
  if (node.kind == Kind::Loop)
    next = {loops[node.loop].turn, node.no, loops[node.loop].after};
  llvm::erase(next, 0);
  return next;
}

int64_t WitnessWriter::add(json::Array expression) {
  expressions.push_back(std::move(expression));
  return atoms.getExpressions().get().size() + expressions.size() - 1;
}

int64_t WitnessWriter::writeAtom(AtomId id) {
  if (auto it = atomNumbers.find(id); it != atomNumbers.end())
    return it->second;
  static constexpr llvm::StringLiteral kKinds[] = {
      "parameter", "count",   "multiply", "divide", "divide",
      "remainder", "minimum", "maximum",  "opaque", "answer"};
  const Atom &atom = atoms[id];
  llvm::StringRef kind = kKinds[static_cast<int>(atom.kind)];
  llvm::SmallVector<int64_t> operands;
  for (AtomId factor : atom.factors)
    operands.push_back(writeAtom(factor));
  for (const Linear &operand : atom.operands)
    operands.push_back(write(operand));
  if (atom.kind == AtomKind::FloorDivide)
    operands.push_back(write(Linear(atom.number)));
  while (operands.size() > 2 && atom.kind == AtomKind::Product) {
    int64_t last = operands.pop_back_val();
    operands.back() = add(json::Array{kind, operands.back(), last});
  }
  json::Array expression{kind};
  if (atom.kind == AtomKind::Count)
    expression.push_back(counts.at(id));
  else if (operands.empty() || atom.kind == AtomKind::Opaque)
    expression.push_back(atom.number);
  for (int64_t operand : operands)
    expression.push_back(operand);
  return atomNumbers[id] = add(std::move(expression));
}

int64_t WitnessWriter::write(const Linear &sum) {
  if (auto it = sums.find(sum); it != sums.end())
    return it->second;
  std::optional<int64_t> written;
  auto addTerm = [&](int64_t term) {
    written = written ? add(json::Array{"add", *written, term}) : term;
  };
  for (auto [atom, factor] : sum.terms) {
    int64_t term = writeAtom(atom);
    addTerm(factor == 1
                ? term
                : add(json::Array{"multiply", term, write(Linear(factor))}));
  }
  if (sum.constant || !written)
    addTerm(add(json::Array{"constant", sum.constant}));
  return sums[sum] = *written;
}

void WitnessWriter::writeLoop(const Node &node, json::Object &object) {
  const Witness::Loop &loop = loops[node.loop];
  object["turn"] = numbers[loop.turn];
  if (node.no)
    object["exit"] = numbers[node.no];
  if (loop.after)
    object["after"] = numbers[loop.after];
  json::Array kept, invariants;
  for (const auto &[process, variable, by] : loop.kept)
    kept.push_back(json::Array{process, variable, write(by)});
  for (const auto &[sum, by] : loop.invariants)
    invariants.push_back(json::Array{write(sum), write(by)});
  object["keeps"] = std::move(kept);
  if (!invariants.empty())
    object["invariants"] = std::move(invariants);
}

json::Value WitnessWriter::writeNode(NodeId id) {
  static constexpr llvm::StringLiteral kKinds[] = {"fork", "loop", "back",
                                                   "cover", "end"};
  const Node &node = nodes[id];
  json::Object object{{"do", kKinds[static_cast<int>(node.kind)]}};
  json::Array moves, forgotten;
  for (auto [process, steps] : node.moves) {
    moves.push_back(process);
    moves.push_back(steps);
  }
  if (!moves.empty())
    object["moves"] = std::move(moves);
  for (auto [process, variable] : node.forgotten)
    forgotten.push_back(json::Array{process, variable});
  if (!forgotten.empty())
    object["forget"] = std::move(forgotten);
  if (node.kind == Kind::Fork || node.kind == Kind::Loop)
    object["process"] = node.process;
  if (node.kind == Kind::Fork) {
    object["yes"] = numbers[node.yes];
    object["no"] = numbers[node.no];
  }
  if (node.kind == Kind::Loop)
    writeLoop(node, object);
  if (node.kind == Kind::Back || node.kind == Kind::Cover)
    object["to"] = numbers[node.target];
  return object;
}

std::optional<json::Object> WitnessWriter::write() {
  std::set<NodeId> reached = {0};
  // What follows a node has larger numbers.
  for (NodeId id : reached)
    for (NodeId next : getNext(nodes[id]))
      reached.insert(next);
  for (NodeId id : reached) {
    int64_t number = numbers.size();
    numbers[id] = number;
    if (nodes[id].kind == Kind::Loop)
      counts[loops[nodes[id].loop].count.terms[0].first] = number;
  }
  json::Array written;
  for (NodeId id : reached) {
    if (nodes[id].kind == Kind::Cover) {
      NodeId above = id;
      while (above > nodes[id].target)
        above = nodes[above].parent;
      if (above != nodes[id].target)
        return std::nullopt;
    }
    written.push_back(writeNode(id));
  }
  return json::Object{{"expressions", std::move(expressions)},
                      {"nodes", std::move(written)}};
}

std::optional<json::Object> Witness::toJSON(const AtomTable &atoms) const {
  return WitnessWriter(*this, atoms).write();
}
