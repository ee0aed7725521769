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
  InFlightDiagnostic diagnostic = ring->emitOpError()
                                  << "states " << *stated << ' ' << what
                                  << ", but its roles make " << derived
                                  << "; remove the attribute, or fix the roles";
  for (RoleOp role : contributors) {
    Diagnostic &note = diagnostic.attachNote(role.getLoc());
    note << "role \"" << role.getName() << "\" arrives once for each of its "
         << role.getWarps() << " warps";
    if (hasElements)
      note << ", and again for the elements that it copies";
    if (ctas > 1)
      note << ", in each of " << ctas << " CTAs that use the slot";
  }
  return diagnostic;
}

/// Notes along which axes of the cluster other CTAs copy into the ring's slots,
/// and whether threads copy elements into them.
LogicalResult KernelPlan::planSharing() {
  for (auto &[stage, use] : flow->getStageUses()) {
    for (TileCopyOpInterface copy : use.copies)
      if (auto load = dyn_cast<TmaLoadOp>(copy.getOperation());
          load && load.getMulticast()) {
        bool alongN = *load.getMulticast() == ClusterAxis::N;
        for (Operation *op : flow->getRings(load.getStage()))
          (alongN ? rings[op].sharedAlongN : rings[op].sharedAlongM) = true;
      }
    for (LoadElementOp load : use.elementLoads)
      for (Operation *op : flow->getRings(load.getStage()))
        rings[op].hasElements = true;
  }
  for (auto &[number, use] : flow->getStageUses()) {
    StagePlan &stage = stages[number];
    Operation *first = nullptr;
    for (AcquireOp acquire : use.acquires)
      for (Operation *op : flow->getRings(acquire.getEnd())) {
        if (!first)
          first = op;
        const PlannedRing &ring = rings[op];
        if (failed(checkExchanged(acquire, first, op)))
          return failure();
        stage.sharedAlongM = ring.sharedAlongM;
        stage.sharedAlongN = ring.sharedAlongN;
        stage.hasElements = ring.hasElements;
      }
  }
  return success();
}

/// (C6) Where the slots of two rings are handed over by one op, the same CTAs
/// fill and empty both, in the same way.
LogicalResult KernelPlan::checkExchanged(AcquireOp acquire, Operation *first,
                                         Operation *other) const {
  const PlannedRing &one = getRing(first), &two = getRing(other);
  StringRef difference;
  if (one.sharedAlongM != two.sharedAlongM ||
      one.sharedAlongN != two.sharedAlongN)
    difference = "multicast copies fill one of them and not the other";
  else if (isa<ProducerType>(getEndOf(acquire.getEnd().getType())) &&
           one.hasElements != two.hasElements)
    difference = "elements are copied into one of them and not the other";
  else
    return success();
  InFlightDiagnostic diagnostic =
      acquire.emitOpError()
      << "takes slots of two rings that are handed over differently (C6): "
      << difference
      << "; fill both alike, or give each ring an acquire of its own";
  diagnostic.attachNote(first->getLoc()) << "one ring";
  diagnostic.attachNote(other->getLoc()) << "the other ring";
  return diagnostic;
}

int64_t PlannedRing::getNumReleasers(ClusterShape cluster) const {
  // The consumers of this CTA's row of the cluster and of its column; its own,
  // or those of its pair, are in both.
  int64_t alongM = sharedAlongM ? cluster.m / ctaGroup : 1;
  int64_t alongN = sharedAlongN ? cluster.n : 1;
  return alongM + alongN - 1;
}

int64_t mlir::fp8::getCtaGroup(Type ring) {
  if (auto output = dyn_cast<OutputPipelineType>(ring))
    return output.getCtaGroup();
  auto pipeline = dyn_cast<PipelineType>(ring);
  return pipeline ? pipeline.getCtaGroup() : 1;
}

LogicalResult KernelPlan::planRings(FunctionOpInterface kernel) {
  for (auto ring : kernel.getFunctionBody().front().getOps<RingOpInterface>())
    rings[ring].ctaGroup = getCtaGroup(ring.getRing());
  if (failed(planSharing()))
    return failure();
  for (auto &[op, ring] : rings)
    if (failed(planRing(op, ring)))
      return failure();
  return failure(failed(checkHandoffThreads(kernel)) ||
                 failed(planQueues(kernel)));
}

static LogicalResult checkNamedBarrier(Operation *op, int64_t barrier) {
  if (barrier < 16)
    return success();
  return op->emitOpError()
         << "needs a named barrier, but a CTA has 16 (PTX ISA, barrier) and "
            "all are in use; use fewer output pipelines or store queues";
}

LogicalResult KernelPlan::planQueues(FunctionOpInterface kernel) {
  int64_t next = 1 + outputs.size();
  for (auto queue : kernel.getFunctionBody().front().getOps<StoreQueueOp>()) {
    StoreQueueType type = queue.getQueue().getType();
    queueMakers[flow->getEnd(queue.getQueue())] = queue;
    if (getNumStagers(type) == type.getWarps())
      continue; // warps stage by themselves
    queues[queue].namedBarrier = next;
    next += getNumStagers(type);
    if (failed(checkNamedBarrier(queue, next - 1)))
      return failure();
  }
  return success();
}

LogicalResult KernelPlan::planRing(Operation *op, PlannedRing &ring) {
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
/// a handle of their end, or its hand-off waits forever.
LogicalResult KernelPlan::checkHandoff(OutputPipelineOp output, RoleOp mma,
                                       RoleOp epilogue) {
  auto makes = [&](RoleOp role, auto kind) {
    using CreateOp = decltype(kind);
    return role
        ->walk([&](CreateOp op) {
          return llvm::is_contained(flow->getRings(op.getEnd()), output)
                     ? WalkResult::interrupt()
                     : WalkResult::advance();
        })
        .wasInterrupted();
  };
  bool allocates = makes(mma, CreateMmaWarpOp());
  bool reads = makes(epilogue, CreateEpilogueWarpOp());
  if (allocates == reads)
    return success();
  InFlightDiagnostic diagnostic =
      output.emitOpError() << "has "
                           << (allocates ? "an mma warp but no epilogue warps"
                                         : "epilogue warps but no mma warp")
                           << ", so that one side waits forever; make both";
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
  PlannedRing &ring = rings[output];
  ring.deallocArrivals = ring.ctaGroup * epilogue->getWarps();
  ring.handoffThreads = 32 * (mma->getWarps() + epilogue->getWarps());
  ring.namedBarrier = 1 + outputs.size(); // 0 is that of the whole CTA
  outputs.push_back(output);
  return checkNamedBarrier(output, ring.namedBarrier);
}

/// An end that may be of several output pipelines meets the same number of
/// threads, whichever it is.
LogicalResult
KernelPlan::checkHandoffThreads(FunctionOpInterface kernel) const {
  WalkResult result = kernel->walk([&](Operation *op) {
    if (!isa<CreateMmaWarpOp, WaitTmemOp>(op))
      return WalkResult::advance();
    ArrayRef<Operation *> made = flow->getRings(op->getOperand(0));
    for (Operation *ring : made)
      if (int64_t threads = getRing(ring).handoffThreads,
          expected = getRing(made.front()).handoffThreads;
          threads != expected) {
        InFlightDiagnostic diagnostic =
            op->emitOpError()
            << "hands over the tensor memory of one of two output pipelines, "
               "whose roles have "
            << expected << " and " << threads
            << " threads (C6); hand it over before control flow exchanges "
               "their ends";
        diagnostic.attachNote(made.front()->getLoc()) << "one pipeline";
        diagnostic.attachNote(ring->getLoc()) << "the other pipeline";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
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
      // Bytes that the launch decides are told beside their copy.
      auto isOfLaunch = [](TileCopyOpInterface copy) {
        return copy.getLaunchBytes() != nullptr;
      };
      plan.bytesAtAcquire = llvm::all_of(use.copies, isInBlock) &&
                            llvm::all_of(use.handOvers, isInBlock) &&
                            llvm::none_of(use.copies, isOfLaunch);
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
  int64_t total = 0;
  for (Value end : ring->getResults()) {
    int64_t bytes = 0;
    for (Operation *op : flow->getAcquires(flow->getEnd(end)))
      if (auto acquire = dyn_cast<AcquireOp>(op);
          acquire &&
          llvm::is_contained(flow->getRings(op->getOperand(0)), ring))
        bytes = std::max(bytes, getStage(acquire.getStage()).bytes);
    total += bytes;
  }
  return total;
}
