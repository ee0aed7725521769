// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The record of a run.

#include "Witness.h"

#include "llvm/ADT/STLExtras.h"

using namespace fp8::proof;

Witness::NodeId Witness::add(NodeId parent) {
  nodes.emplace_back();
  nodes.back().parent = parent;
  return nodes.size() - 1;
}

Witness::Node *Witness::close(const State &state, Kind kind) {
  if (!isOn())
    return nullptr;
  Node &node = nodes[state.trail.node];
  node.kind = kind;
  node.moves = state.trail.moves;
  return &node;
}

Witness::Node *Witness::part(const State &state, Kind kind, State &yes,
                             State &no) {
  if (!close(state, kind))
    return nullptr;
  NodeId parent = state.trail.node;
  yes.trail = {add(parent), {}};
  no.trail = {add(parent), {}};
  nodes[parent].yes = yes.trail.node;
  nodes[parent].no = no.trail.node;
  return &nodes[parent];
}

void Witness::fork(const State &state, const Linear &sum, State &yes,
                   State &no) {
  if (Node *node = part(state, Kind::Fork, yes, no))
    node->sum = sum;
}

void Witness::ask(const State &state, unsigned process, State &yes, State &no) {
  if (Node *node = part(state, Kind::Ask, yes, no))
    node->process = process;
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

void Witness::leaveBehind(const State &head, bool mayExit, Loop loop) {
  Node *node = close(head, Kind::Loop);
  if (!mayExit)
    node->no = 0;
  node->loop = loops.size();
  loops.push_back(std::move(loop));
}
