// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the barriers of a kernel's rings wait for: arrivals and bytes.

#include "fp8/Analysis/KernelPlan.h"

using namespace mlir;
using namespace mlir::fp8;

/// Compares a stated count with the derived one.
static LogicalResult checkStated(Operation *ring, std::optional<int64_t> stated,
                                 int64_t derived, StringRef what,
                                 ArrayRef<RoleOp> contributors, int64_t ctas,
                                 bool hasElements = false) {
  if (!stated || *stated == derived)
    return success();
  InFlightDiagnostic diagnostic =
      ring->emitOpError() << "states " << *stated << ' ' << what
                          << ", but its roles make " << derived
                          << "; leave the number out, or mend the roles";
  for (RoleOp role : contributors) {
    Diagnostic &note = diagnostic.attachNote(role.getLoc());
    note << "role \"" << role.getName() << "\" arrives once for each of its "
         << role.getWarps() << " warps";
    if (hasElements)
      note << ", and once more for the elements that it copies";
    if (ctas > 1)
      note << ", in each of " << ctas << " CTAs that use the slot";
  }
  return diagnostic;
}

Operation *KernelPlan::getRingOf(Value handle) const {
  for (const auto &[op, plan] : rings)
    for (Value end : op->getResults())
      if (flow->getEnd(end) == flow->getEnd(handle))
        return op;
  return nullptr;
}

/// Notes along which axes of the cluster other CTAs copy into the ring's slots,
/// and whether threads copy elements into them.
void KernelPlan::planSharing() {
  for (auto &[stage, use] : flow->getStageUses())
    for (TileCopyOpInterface copy : use.copies) {
      auto load = dyn_cast<TmaLoadOp>(copy.getOperation());
      Operation *op =
          load && load.getMulticast() ? getRingOf(load.getStage()) : nullptr;
      if (!op)
        continue;
      RingPlan &ring = rings[op];
      bool alongN = *load.getMulticast() == ClusterAxis::N;
      (alongN ? ring.sharedAlongN : ring.sharedAlongM) = true;
    }
  for (auto &[stage, use] : flow->getStageUses())
    for (LoadElementOp load : use.elementLoads)
      if (Operation *op = getRingOf(load.getStage()))
        rings[op].hasElements = true;
  for (auto &[stage, use] : flow->getStageUses())
    for (AcquireOp acquire : use.acquires)
      if (Operation *op = getRingOf(acquire.getEnd())) {
        stages[stage].sharedAlongM = rings[op].sharedAlongM;
        stages[stage].sharedAlongN = rings[op].sharedAlongN;
        stages[stage].hasElements = rings[op].hasElements;
      }
}

int64_t RingPlan::getNumReleasers(ClusterShape cluster) const {
  // The consumers of this CTA's row of the cluster and of its column; its own,
  // or those of its pair, are in both.
  int64_t alongM = sharedAlongM ? cluster.m / ctaGroup : 1;
  int64_t alongN = sharedAlongN ? cluster.n : 1;
  return alongM + alongN - 1;
}

int64_t fp8::getCtaGroup(Type ring) {
  if (auto output = dyn_cast<OutputPipelineType>(ring))
    return output.getCtaGroup();
  auto pipeline = dyn_cast<PipelineType>(ring);
  return pipeline ? pipeline.getCtaGroup() : 1;
}

LogicalResult KernelPlan::planRings(FunctionOpInterface kernel) {
  for (Operation &op : kernel.getFunctionBody().front())
    if (isa<PipelineOp, OutputPipelineOp, WorkQueueOp>(op))
      rings[&op].ctaGroup = getCtaGroup(
          cast<EndTypeInterface>(op.getResult(0).getType()).getRing());
  planSharing();
  for (auto &[op, ring] : rings)
    if (failed(planRing(op, ring)))
      return failure();
  return planQueues(kernel);
}

static LogicalResult checkNamedBarrier(Operation *op, int64_t barrier) {
  if (barrier < 16)
    return success();
  return op->emitOpError() << "needs a named barrier, but a CTA has 16 (PTX "
                              "ISA, barrier) and all are taken";
}

LogicalResult KernelPlan::planQueues(FunctionOpInterface kernel) {
  int64_t next = 1 + getNumOutputs();
  for (auto queue : kernel.getFunctionBody().front().getOps<StoreQueueOp>()) {
    StoreQueueType type = queue.getQueue().getType();
    if (getNumStagers(type) == type.getWarps())
      continue; // warps stage by themselves
    queueBarriers[flow->getEnd(queue.getQueue())] = next;
    next += getNumStagers(type);
    if (failed(checkNamedBarrier(queue, next - 1)))
      return failure();
  }
  return success();
}

LogicalResult KernelPlan::planRing(Operation *op, RingPlan &ring) {
  SmallVector<RoleOp> producers, consumers;
  for (Value end : op->getResults()) {
    FailureOr<RoleOp> role = getRoleOf(end);
    if (failed(role))
      return failure();
    bool isProducer = cast<EndTypeInterface>(end.getType()).isProducer();
    // One lane of each warp arrives, or the one thread that issues the copies
    // or the MMAs of a role of one warp.
    // Elements that were copied are another arrival of whoever copied them.
    (isProducer ? ring.fullArrivals : ring.emptyArrivals) +=
        role->getWarps() * (isProducer && ring.hasElements ? 2 : 1);
    (isProducer ? producers : consumers).push_back(*role);
  }
  // Who else empties a slot, or a part of it: the MMA warps of the CTAs that
  // get the same copies; the epilogue warps of the pair's other CTA.
  int64_t releasers = isa<OutputPipelineOp>(op) ? ring.ctaGroup
                      : isa<WorkQueueOp>(op)    ? cluster.getSize()
                                                : ring.getNumReleasers(cluster);
  ring.emptyArrivals *= releasers;
  auto getStated = [&](StringRef name) -> std::optional<int64_t> {
    auto attribute = op->getAttrOfType<IntegerAttr>(name);
    return attribute ? std::optional<int64_t>(attribute.getInt())
                     : std::nullopt;
  };
  if (failed(checkStated(op, getStated("producer_arrivals"), ring.fullArrivals,
                         "producer arrivals", producers, 1,
                         ring.hasElements)) ||
      failed(checkStated(op, getStated("consumer_arrivals"), ring.emptyArrivals,
                         "consumer arrivals", consumers, releasers)))
    return failure();
  if (auto output = dyn_cast<OutputPipelineOp>(op))
    return planOutput(output);
  return success();
}

/// Tensor memory is allocated by the one side and read by the other: both make
/// a handle of their end, or its hand-off waits for ever.
LogicalResult KernelPlan::checkHandoff(OutputPipelineOp output, RoleOp mma,
                                       RoleOp epilogue) {
  auto makes = [&](RoleOp role, Value end, auto kind) {
    using CreateOp = decltype(kind);
    return role
        ->walk([&](CreateOp op) {
          return flow->getEnd(op.getEnd()) == flow->getEnd(end)
                     ? WalkResult::interrupt()
                     : WalkResult::advance();
        })
        .wasInterrupted();
  };
  bool allocates = makes(mma, output.getProducer(), CreateMmaWarpOp());
  bool reads = makes(epilogue, output.getConsumer(), CreateEpilogueWarpOp());
  if (allocates == reads)
    return success();
  InFlightDiagnostic diagnostic =
      output.emitOpError() << "is made "
                           << (allocates ? "an mma warp" : "epilogue warps")
                           << " of, but not "
                           << (allocates ? "epilogue warps" : "an mma warp")
                           << "; one waits for the other";
  diagnostic.attachNote(allocates ? epilogue.getLoc() : mma.getLoc())
      << "this role closes its end unused";
  return diagnostic;
}

LogicalResult KernelPlan::planOutput(OutputPipelineOp output) {
  FailureOr<RoleOp> mma = getRoleOf(output.getProducer()),
                    epilogue = getRoleOf(output.getConsumer());
  if (failed(mma) || failed(epilogue))
    return failure();
  if (failed(checkHandoff(output, *mma, *epilogue)))
    return failure();
  OutputPlan plan;
  plan.deallocArrivals = rings[output].ctaGroup * epilogue->getWarps();
  plan.handoffThreads = 32 * (mma->getWarps() + epilogue->getWarps());
  plan.namedBarrier =
      1 + outputs.size() / 2; // 0 is the barrier of the whole CTA
  if (failed(checkNamedBarrier(output, plan.namedBarrier)))
    return failure();
  outputs[flow->getEnd(output.getProducer())] = plan;
  outputs[flow->getEnd(output.getConsumer())] = plan;
  return success();
}

void KernelPlan::planStages() {
  for (auto &[stage, use] : flow->getStageUses()) {
    StagePlan plan;
    for (TileCopyOpInterface copy : use.copies)
      plan.bytes += copy.getBytes();
    plan.usedByMma = !use.mmas.empty();
    plan.usedByThreads = !use.readers.empty();
    plan.loadedByThreads = llvm::any_of(
        use.readers, [](Operation *op) { return !isa<WarpgroupMmaOp>(op); });
    if (!use.copies.empty() && use.acquires.size() == 1) {
      Block *block = use.acquires.front()->getBlock();
      auto isInBlock = [&](Operation *op) { return op->getBlock() == block; };
      plan.bytesAtAcquire = llvm::all_of(use.copies, isInBlock) &&
                            llvm::all_of(use.handOvers, isInBlock);
    }
    stages[stage] = plan;
  }
}

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

bool KernelPlan::isConsumedByMma(Value end) const {
  for (const auto &[number, use] : flow->getStageUses())
    for (AcquireOp acquire : use.acquires)
      if (!use.mmas.empty() &&
          flow->getEnd(acquire.getEnd()) == flow->getEnd(end))
        return true;
  return false;
}

int64_t KernelPlan::getFullBytes(Operation *ring) const {
  // Each producer fills its part of a slot, the same way every time.
  llvm::DenseMap<unsigned, int64_t> bytesOf;
  for (const auto &[number, use] : flow->getStageUses())
    for (AcquireOp acquire : use.acquires)
      if (getRingOf(acquire.getEnd()) == ring) {
        int64_t &bytes = bytesOf[flow->getEnd(acquire.getEnd())];
        bytes = std::max(bytes, stages.lookup(number).bytes);
      }
  int64_t total = 0;
  for (auto [end, bytes] : bytesOf)
    total += bytes;
  return total;
}
