// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel's plan as attributes of its ops.

#include "Meetings.h"

#include "fp8/Analysis/KernelPlan.h"

using namespace mlir;
using namespace mlir::fp8;

/// The products that were started in the block of the wait since its own was,
/// and may still be running.
static int64_t countProductsBehind(WaitMmaOp wait) {
  Operation *start = wait.getPending().getDefiningOp();
  if (!start || start->getBlock() != wait->getBlock())
    return 0;
  // Products complete in order: where a later one was waited for, only those
  // behind that may be running.
  for (Operation *op = start->getNextNode(); op != wait; op = op->getNextNode())
    if (auto other = dyn_cast<WaitMmaOp>(op))
      if (Operation *later = other.getPending().getDefiningOp();
          later && later->getBlock() == start->getBlock() &&
          start->isBeforeInBlock(later))
        start = later;
  int64_t behind = 0;
  for (Operation *op = start->getNextNode(); op != wait; op = op->getNextNode())
    behind += isa<WarpgroupMmaOp>(op);
  return behind;
}

/// The stage that the op acquires, fills or hands over; null if it does none of
/// these.
static Value getPlannedStage(Operation *op) {
  if (auto acquire = dyn_cast<AcquireOp>(op))
    return acquire.getStage();
  if (auto copy = dyn_cast<TileCopyOpInterface>(op))
    return copy.getFilledStage();
  return getHandedOver(op);
}

/// The handle whose ring's plan the op uses; null if it uses none.
static Value getPlannedHandle(Operation *op) {
  if (auto store = dyn_cast<StoreOp>(op))
    return store.getQueue();
  return isa<CreateMmaWarpOp, ReleaseMmaWarpOp, WaitTmemOp>(op)
             ? op->getOperand(0)
             : Value();
}

/// True if the queue is as store_queue made it, so that no copy reads a slot.
/// It is linear: no loop takes it again.
static bool isUnusedQueue(Value queue) {
  if (auto argument = dyn_cast<BlockArgument>(queue))
    return isa<StoreQueueType>(queue.getType()) &&
           argument.getOwner()->isEntryBlock() &&
           isa<RoleOp>(argument.getOwner()->getParentOp());
  return queue.getDefiningOp<StoreQueueOp>() != nullptr;
}

/// True if a later product stands in the block of the op.
static bool isBeforeProduct(Operation *op) {
  return llvm::any_of(
      llvm::make_range(std::next(op->getIterator()), op->getBlock()->end()),
      llvm::IsaPred<WarpgroupMmaOp>);
}

StagePlan KernelPlan::getStagePlan(Operation *op, Value stage) const {
  StagePlan plan = getStage(stage);
  plan.overwrittenByTma = llvm::any_of(
      getRings(stage), [&](Operation *ring) { return getFullBytes(ring) > 0; });
  plan.converged =
      isConverged(op, [&](Value other) { return getStage(other); });
  return plan;
}

RingPlan KernelPlan::getRingPlan(Operation *maker) const {
  if (auto queue = queues.find(maker); queue != queues.end())
    return queue->second;
  RingPlan plan = getRing(maker);
  plan.bytes = getFullBytes(maker);
  for (OpResult end : maker->getResults())
    if (!cast<EndTypeInterface>(end.getType()).isProducer() &&
        isConsumedByMma(end))
      plan.mmaEnds |= int64_t(1) << end.getResultNumber();
  plan.allocatesAlone = outputs.size() == 1 && outputs.front() == maker;
  return plan;
}

Attribute KernelPlan::getAttribute(Operation *op) const {
  MLIRContext *context = op->getContext();
  if (isa<FunctionOpInterface>(op)) {
    CtaPlan plan;
    plan.warps = numWarps;
    plan.idleWarps = numIdleWarps;
    plan.sharedMemory = sharedMemoryBytes;
    plan.registers = registers.atEntry;
    plan.idleRegisters = registers.isDealt() ? registers.others : 0;
    return CtaPlanAttr::get(context, plan);
  }
  if (auto role = dyn_cast<RoleOp>(op)) {
    WarpRange warps = getWarps(role);
    RolePlan plan;
    plan.firstWarp = warps.first;
    plan.takes = registers.takes(warps);
    if (registers.isDealt())
      plan.registers = plan.takes ? registers.multiply : registers.others;
    return RolePlanAttr::get(context, plan);
  }
  if (rings.contains(op) || queues.contains(op))
    return RingPlanAttr::get(context, getRingPlan(op));
  if (Value stage = getPlannedStage(op))
    return StagePlanAttr::get(context, getStagePlan(op, stage));
  if (Value handle = getPlannedHandle(op)) {
    Operation *maker = isa<StoreOp>(op)
                           ? queueMakers.lookup(flow->getEnd(handle))
                           : getRings(handle).front();
    RingPlan plan = getRingPlan(maker);
    plan.unused = isUnusedQueue(handle);
    return RingPlanAttr::get(context, plan);
  }
  if (isa<PromoteOp>(op) && isBeforeProduct(op))
    return SumPlanAttr::get(context, {{}, /*beforeProduct=*/true});
  if (auto wait = dyn_cast<WaitMmaOp>(op))
    return WaitPlanAttr::get(context, {{}, countProductsBehind(wait)});
  return {};
}

void KernelPlan::write(FunctionOpInterface kernel) const {
  kernel->walk([&](Operation *op) {
    if (Attribute plan = getAttribute(op))
      op->setAttr(Fp8Dialect::kPlanAttrName, plan);
    else
      op->removeAttr(Fp8Dialect::kPlanAttrName);
  });
}

LogicalResult KernelPlan::check(FunctionOpInterface kernel) const {
  WalkResult result = kernel->walk([&](Operation *op) {
    Attribute derived = getAttribute(op),
              written = op->getAttr(Fp8Dialect::kPlanAttrName);
    if (derived == written)
      return WalkResult::advance();
    InFlightDiagnostic diagnostic = op->emitOpError() << "has ";
    if (written)
      diagnostic << "the plan " << written;
    else
      diagnostic << "no plan";
    if (derived)
      diagnostic << ", but the kernel as it is now needs " << derived;
    else
      diagnostic << ", but needs none";
    diagnostic << "; run --fp8-plan-kernels behind all that changes the kernel";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

bool mlir::fp8::hasRings(FunctionOpInterface kernel) {
  return kernel->hasAttr(Fp8Dialect::kLinearAttrName) &&
         !kernel->hasAttr(Fp8Dialect::kBarriersAttrName);
}

bool mlir::fp8::isPlanned(FunctionOpInterface kernel) {
  return kernel->hasAttrOfType<CtaPlanAttr>(Fp8Dialect::kPlanAttrName);
}

SmallVector<WarpRange> mlir::fp8::getGrowingWarps(FunctionOpInterface kernel) {
  SmallVector<WarpRange> ranges;
  for (RoleOp role : kernel.getFunctionBody().front().getOps<RoleOp>()) {
    auto plan = getPlan<RolePlanAttr>(role);
    int64_t warps = role.getWarps();
    if (!plan.takes)
      continue;
    if (!ranges.empty() &&
        ranges.back().first + ranges.back().count == plan.firstWarp)
      ranges.back().count += warps;
    else
      ranges.push_back({plan.firstWarp, warps});
  }
  return ranges;
}
