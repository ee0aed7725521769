// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ends that control flow may exchange, and the variables that hold them.

#include "EventWalker.h"

using namespace mlir;
using namespace mlir::fp8;

void EventWalker::findExchanged() {
  llvm::DenseMap<unsigned, unsigned> counts;
  forEachForwarded(role, [&](Value end, Value) {
    if (end.getDefiningOp<RingOpInterface>() && ++counts[flow.getEnd(end)] > 1)
      exchanged.insert(flow.getEnd(end));
  });
  auto rings = llvm::to_vector(role->getBlock()->getOps<RingOpInterface>());
  forEachForwarded(role, [&](Value end, Value argument) {
    std::optional<unsigned> variable = getVariable(argument);
    if (variable)
      result.variables[*variable].ring =
          llvm::find(rings, end.getDefiningOp<RingOpInterface>()) -
          rings.begin();
  });
}

std::optional<unsigned> EventWalker::getVariable(Value handle) {
  unsigned end = flow.getEnd(handle);
  if (!exchanged.contains(end))
    return std::nullopt;
  auto [entry, isNew] =
      variables.try_emplace(flow.getVariable(handle), result.variables.size());
  if (isNew)
    result.variables.push_back({getCursor(end, handle)});
  return entry->second;
}

void EventWalker::addMoves(Operation *op, ValueRange from, ValueRange to,
                           Block &out) {
  Node node{Node::Kind::Move};
  for (auto [source, target] : llvm::zip(from, to)) {
    if (!isLinear(source.getType()))
      continue;
    std::optional<unsigned> first = getVariable(source),
                            second = getVariable(target);
    if (first && second && first != second &&
        !llvm::is_contained(node.moves, std::pair(*first, *second)))
      node.moves.push_back({*first, *second});
  }
  if (node.moves.empty())
    return;
  node.site = getSite(kernel, op);
  out.push_back(std::move(node));
}

void EventWalker::addSelects(SelectLikeOpInterface first, Block &out) {
  // Each value is taken by one select if the condition holds, and by another
  // one if it does not (L4).
  SmallVector<SelectLikeOpInterface> selects = {first};
  for (size_t at = 0; at < selects.size(); ++at)
    for (Value value :
         {selects[at].getTrueValue(), selects[at].getFalseValue()})
      for (Operation *user : value.getUsers())
        if (auto other = dyn_cast<SelectLikeOpInterface>(user);
            other && !llvm::is_contained(selects, other))
          selects.push_back(other);
  if (!getVariable(first->getResult(0)) ||
      llvm::any_of(selects, [&](SelectLikeOpInterface other) {
        return other->isBeforeInBlock(first);
      }))
    return;
  SmallVector<Value> ifTrue, ifFalse, to;
  for (SelectLikeOpInterface select : selects) {
    ifTrue.push_back(select.getTrueValue());
    ifFalse.push_back(select.getFalseValue());
    to.push_back(select->getResult(0));
  }
  Node node{Node::Kind::Choice, getSite(kernel, first)};
  node.arms.resize(2);
  addMoves(first, ifTrue, to, node.arms[0]);
  addMoves(first, ifFalse, to, node.arms[1]);
  out.push_back(std::move(node));
}

void EventWalker::forward(Operation *op, Block &out) {
  if (auto select = dyn_cast<SelectLikeOpInterface>(op);
      select && isLinear(op->getResult(0).getType()))
    return addSelects(select, out);
  SmallVector<Value> from, to;
  forEachForwarded(op, [&](Value source, Value target) {
    from.push_back(source);
    to.push_back(target);
  });
  addMoves(op, from, to, out);
}
