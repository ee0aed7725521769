// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The record of a run as JSON.

#include "ExpressionWriter.h"
#include "JSONArray.h"
#include "Witness.h"

using namespace fp8::proof;
namespace json = llvm::json;

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
  bool isBelow(NodeId id, NodeId ancestor) const;
  void writeNode(NodeId id);
  json::Object writeLoop(const Node &node);
  /// The number of an expression that is worth the sum.
  int64_t write(const Linear &sum);
  int64_t write(AtomId id);

  const std::vector<Witness::Node> &nodes;
  const std::vector<Witness::Loop> &loops;
  const AtomTable &atoms;
  /// Of the nodes that are written. That of a loop is behind the fork that
  /// says whether there is a turn.
  std::map<NodeId, int64_t> numbers, firstNumbers;
  std::map<AtomId, int64_t> counts; ///< the loops that they are of
  ExpressionWriter expressions;
  json::Array written;
};

} // namespace fp8::proof

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

int64_t WitnessWriter::write(AtomId id) {
  const Atom &atom = atoms[id];
  llvm::SmallVector<int64_t> operands;
  for (AtomId factor : atom.factors)
    operands.push_back(write(factor));
  for (const Linear &operand : atom.operands)
    operands.push_back(write(operand));
  switch (atom.kind) {
  case AtomKind::Parameter:
    return expressions.getParameter(atom.number);
  case AtomKind::Count:
    return expressions.getVariable(counts.at(id));
  case AtomKind::Product: {
    int64_t product = operands.pop_back_val();
    for (int64_t factor : operands)
      product = expressions.multiply(factor, product);
    return product;
  }
  case AtomKind::FloorDivide:
    return expressions.divide(operands[0],
                              expressions.getConstant(atom.number));
  case AtomKind::Quotient:
    return expressions.divide(operands[0], operands[1]);
  case AtomKind::Remainder:
    return expressions.remainder(operands[0], operands[1]);
  case AtomKind::Minimum:
    return expressions.minimum(operands[0], operands[1]);
  case AtomKind::Maximum:
    return expressions.maximum(operands[0], operands[1]);
  case AtomKind::Opaque:
  case AtomKind::Answer: // not in a proof of progress
    return expressions.getOpaque(atom.number, operands);
  }
  llvm_unreachable("all kinds are handled");
}

int64_t WitnessWriter::write(const Linear &sum) {
  std::optional<int64_t> written;
  auto add = [&](int64_t term) {
    written = written ? expressions.add(*written, term) : term;
  };
  for (auto [atom, factor] : sum.terms)
    add(factor == 1 ? write(atom)
                    : expressions.multiply(write(atom),
                                           expressions.getConstant(factor)));
  if (sum.constant || !written)
    add(expressions.getConstant(sum.constant));
  return *written;
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

llvm::SmallVector<Witness::NodeId, 3>
WitnessWriter::getNext(const Node &node) const {
  llvm::SmallVector<NodeId, 3> next;
  if (node.kind == Kind::Fork || node.kind == Kind::Ask)
    next = {node.yes, node.no};
  if (node.kind == Kind::Loop)
    next = {loops[node.loop].turn, node.no, loops[node.loop].after};
  llvm::erase(next, 0);
  return next;
}

bool WitnessWriter::isBelow(NodeId id, NodeId ancestor) const {
  while (id > ancestor)
    id = nodes[id].parent;
  return id == ancestor;
}

json::Object WitnessWriter::writeLoop(const Node &node) {
  const Witness::Loop &loop = loops[node.loop];
  json::Object object{{"kind", "loop"},
                      {"turn", firstNumbers[loop.turn]},
                      {"rank", write(loop.rank)},
                      {"keeps", toArray(loop.kept, [&](const auto &its) {
                         auto [process, variable, by] = its;
                         return json::Array{process, variable, write(by)};
                       })}};
  if (!loop.invariants.empty())
    object["invariants"] =
        toArray(loop.invariants, [&](const Linear &sum) { return write(sum); });
  if (loop.after) {
    object["after"] = firstNumbers[loop.after];
    if (loop.last)
      object["last"] = write(*loop.last);
  }
  return object;
}

void WitnessWriter::writeNode(NodeId id) {
  const Node &node = nodes[id];
  auto toPair = [](auto its) { return json::Array{its.first, its.second}; };
  json::Object object;
  bool isLoop = node.kind == Kind::Loop;
  if (node.kind == Kind::Fork || node.kind == Kind::Ask ||
      (isLoop && node.no)) {
    object["kind"] = "fork";
    object["yes"] = isLoop ? numbers[id] : firstNumbers[node.yes];
    object["no"] = firstNumbers[node.no];
    if (node.kind == Kind::Ask)
      object["process"] = node.process;
    else
      object["sum"] = write(node.sum);
  } else if (isLoop) {
    object = writeLoop(node);
  } else if (node.kind == Kind::End) {
    object["kind"] = "end";
  } else {
    object["kind"] = "back";
    object["to"] = numbers[node.target];
  }
  if (!node.moves.empty())
    object["moves"] = toArray(node.moves, toPair);
  if (!node.forgotten.empty())
    object["forget"] = toArray(node.forgotten, toPair);
  written.push_back(std::move(object));
  if (isLoop && node.no)
    written.push_back(writeLoop(node));
}

std::optional<json::Object> WitnessWriter::write() {
  std::set<NodeId> reached = {0};
  // What follows a node has larger numbers.
  for (NodeId id : reached)
    for (NodeId next : getNext(nodes[id]))
      reached.insert(next);
  int64_t number = 0;
  for (NodeId id : reached) {
    bool isLoop = nodes[id].kind == Kind::Loop;
    firstNumbers[id] = number++;
    numbers[id] = isLoop && nodes[id].no ? number++ : firstNumbers[id];
    if (isLoop)
      counts[loops[nodes[id].loop].count.terms[0].first] = numbers[id];
  }
  for (NodeId id : reached) {
    if (nodes[id].kind == Kind::Cover && !isBelow(id, nodes[id].target))
      return std::nullopt;
    writeNode(id);
  }
  return json::Object{{"expressions", expressions.take()},
                      {"nodes", std::move(written)}};
}

std::optional<json::Object> Witness::toJSON(const AtomTable &atoms) const {
  if (isLost)
    return std::nullopt;
  return WitnessWriter(*this, atoms).write();
}
