// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which values are one handle.

#include "fp8/Analysis/HandleFlow.h"

using namespace mlir;
using namespace mlir::fp8;

//===----------------------------------------------------------------------===//
// Union-find
//===----------------------------------------------------------------------===//

unsigned HandleFlow::Groups::idOf(Value value) {
  auto [it, inserted] = ids.insert({value, parents.size()});
  if (inserted)
    parents.push_back(it->second);
  return it->second;
}

unsigned HandleFlow::Groups::find(Value value) {
  unsigned id = idOf(value);
  while (parents[id] != id)
    id = parents[id] = parents[parents[id]];
  return id;
}

void HandleFlow::Groups::join(Value a, Value b) {
  unsigned first = find(a), second = find(b);
  parents[std::max(first, second)] = std::min(first, second);
}

//===----------------------------------------------------------------------===//
// HandleFlow
//===----------------------------------------------------------------------===//

void HandleFlow::joinPair(Value from, Value to) {
  if (!isLinear(from.getType()) || !isLinear(to.getType()))
    return;
  stages.join(from, to);
  joinEnds(from, to);
}

void HandleFlow::joinEnds(Value from, Value to) {
  ends.join(from, to);
  successors[from].push_back(to);
}

void mlir::fp8::forEachForwarded(
    Operation *op, function_ref<void(Value from, Value to)> forward) {
  SmallVector<RegionSuccessor> successors;
  auto forwardAll = [&](ValueRange from, ValueRange to) {
    for (auto [source, target] : llvm::zip(from, to))
      if (isLinear(source.getType()) && isLinear(target.getType()))
        forward(source, target);
  };
  if (auto branch = dyn_cast<RegionBranchOpInterface>(op)) {
    branch.getSuccessorRegions(RegionBranchPoint::parent(), successors);
    for (RegionSuccessor &successor : successors)
      forwardAll(branch.getEntrySuccessorOperands(successor),
                 successor.getSuccessorInputs());
  }
  auto terminator = dyn_cast<RegionBranchTerminatorOpInterface>(op);
  auto parent = dyn_cast_or_null<RegionBranchOpInterface>(op->getParentOp());
  if (!terminator || !parent)
    return;
  successors.clear();
  parent.getSuccessorRegions(RegionBranchPoint(terminator), successors);
  for (RegionSuccessor &successor : successors)
    forwardAll(terminator.getSuccessorOperands(successor),
               successor.getSuccessorInputs());
}

/// Joins what the op hands on along control flow.
void HandleFlow::joinForwarded(Operation *op) {
  auto joinAll = [&](ValueRange from, ValueRange to) {
    for (auto [source, target] : llvm::zip(from, to))
      joinPair(source, target);
  };
  if (auto branch = dyn_cast<BranchOpInterface>(op))
    for (auto [index, successor] : llvm::enumerate(op->getSuccessors())) {
      SuccessorOperands operands = branch.getSuccessorOperands(index);
      joinAll(operands.getForwardedOperands(),
              successor->getArguments().drop_front(
                  operands.getProducedOperandCount()));
    }
  if (auto select = dyn_cast<SelectLikeOpInterface>(op))
    joinAll({select.getTrueValue(), select.getFalseValue()},
            {op->getResult(0), op->getResult(0)});
  llvm::DenseMap<Value, Value> targets;
  forEachForwarded(op, [&](Value from, Value to) {
    joinPair(from, to);
    variables.join(targets.try_emplace(from, to).first->second, to);
  });
}

/// Joins what goes on as the same handle although it changes its type.
void HandleFlow::joinContinued(Operation *op) {
  auto handler = dyn_cast<HandleOpInterface>(op);
  if (!handler)
    return;
  for (OpOperand &handle : op->getOpOperands()) {
    OpResult next = handler.getContinuation(handle);
    if (!next)
      continue;
    joinEnds(handle.get(), next);
    variables.join(handle.get(), next);
    if (isa<SignalledType>(next.getType()))
      stages.join(handle.get(), next);
  }
}

HandleFlow::HandleFlow(Operation *kernel) {
  kernel->walk([&](Operation *op) {
    joinForwarded(op);
    joinContinued(op);
  });
  traceRings(kernel);
  collectUses(kernel);
}

/// Follows each ring's ends from the op that makes them. Unlike the groups,
/// this keeps apart what flows together later.
void HandleFlow::traceRings(Operation *kernel) {
  kernel->walk([&](Operation *op) {
    if (!isa<RingOpInterface>(op))
      return;
    SmallVector<Value> worklist(op->getResults());
    while (!worklist.empty()) {
      Value value = worklist.pop_back_val();
      SmallVector<Operation *, 1> &known = rings[value];
      if (llvm::is_contained(known, op))
        continue;
      known.push_back(op);
      if (auto it = successors.find(value); it != successors.end())
        llvm::append_range(worklist, it->second);
    }
  });
}

/// The stage that a tile or an accumulator was lent from, null if it comes from
/// elsewhere.
static Value getLender(Value view) {
  if (auto tile = view.getDefiningOp<TileOp>())
    return tile.getStage();
  if (auto accumulator = view.getDefiningOp<AccumulatorOp>())
    return accumulator.getStage();
  return {};
}

void HandleFlow::collectUses(Operation *kernel) {
  auto addReader = [&](Value view, auto record) {
    if (Value stage = getLender(view))
      record(stageUses[stages.find(stage)]);
  };
  kernel->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto acquire = dyn_cast<AcquireOp>(op)) {
      stageUses[stages.find(acquire.getStage())].acquires.push_back(acquire);
      acquires[ends.find(acquire.getEnd())].push_back(acquire);
    } else if (isa<TryWaitOp, WaitOp>(op)) {
      acquires[ends.find(op->getOperand(0))].push_back(op);
    } else if (Value stage = getHandedOver(op)) {
      stageUses[stages.find(stage)].handOvers.push_back(op);
    } else if (auto copy = dyn_cast<TileCopyOpInterface>(op)) {
      stageUses[stages.find(copy.getFilledStage())].copies.push_back(copy);
    } else if (auto load = dyn_cast<LoadElementOp>(op)) {
      stageUses[stages.find(load.getStage())].elementLoads.push_back(load);
    } else if (auto request = dyn_cast<RequestWorkOp>(op)) {
      stageUses[stages.find(request.getStage())].requests.push_back(request);
    } else if (auto mma = dyn_cast<MmaOp>(op)) {
      SmallVector<Value> views = mma.getTilesRead();
      views.push_back(mma.getAccumulator());
      for (Value view : views)
        addReader(view, [&](StageUse &use) { use.mmas.push_back(mma); });
    } else if (auto reader = dyn_cast<ViewReaderOpInterface>(op)) {
      for (Value view : reader.getViewsRead())
        addReader(view, [&](StageUse &use) { use.readers.push_back(op); });
    }
  });
}

Value mlir::fp8::getHandedOver(Operation *op) {
  auto handler = dyn_cast<HandleOpInterface>(op);
  return handler ? handler.getHandedOver() : Value();
}

unsigned HandleFlow::getEnd(Value value) const { return ends.find(value); }

ArrayRef<Operation *> HandleFlow::getRings(Value handle) const {
  auto it = rings.find(handle);
  return it == rings.end() ? ArrayRef<Operation *>()
                           : ArrayRef<Operation *>(it->second);
}

ArrayRef<Operation *> HandleFlow::getAcquires(unsigned end) const {
  auto it = acquires.find(end);
  return it == acquires.end() ? ArrayRef<Operation *>()
                              : ArrayRef<Operation *>(it->second);
}
