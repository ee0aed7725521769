// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The start of a lowered kernel: addresses, the warp's number, barrier
// initialisation, and the values of each role; and its end.

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace mlir::fp8;

/// Initialises the barriers of one ring.
static void initRing(Operation *ring, const KernelPlan &plan,
                     Value sharedMemory, OpBuilder &builder) {
  Instructions instructions(builder, ring->getLoc());
  const RingPlan &ringPlan = plan.getRing(ring);
  Type type = cast<EndTypeInterface>(ring->getResult(0).getType()).getRing();
  int64_t stages = cast<RingTypeInterface>(type).getNumStages();
  for (int64_t i = 0; i < 2 * stages; ++i)
    instructions.initBarrier(
        instructions.add(sharedMemory, ringPlan.barrierOffset + 8 * i),
        i < stages ? ringPlan.fullArrivals : ringPlan.emptyArrivals);
  if (auto output = dyn_cast<OutputPipelineOp>(ring)) {
    int64_t offset =
        ringPlan.barrierOffset +
        KernelPlan::getDeallocBarrierOffset(cast<OutputPipelineType>(type));
    instructions.initBarrier(
        instructions.add(sharedMemory, offset),
        plan.getOutput(output.getProducer()).deallocArrivals);
  }
}

/// Initialises the barriers of an exchange: that of what has come, and that of
/// what has been read.
static void initExchange(ExchangeOp op, const KernelPlan &plan,
                         Value sharedMemory, OpBuilder &builder) {
  Instructions instructions(builder, op.getLoc());
  ExchangeType type = op.getExchange().getType();
  auto init = [&](int64_t barrier, int64_t arrivals) {
    instructions.initBarrier(
        instructions.add(sharedMemory, plan.getExchangeOffset(op) + barrier),
        arrivals);
  };
  // The bytes, beside the arrival that announces them; each warp of each CTA.
  init(KernelPlan::getExchangeFullBarrier(type), 1);
  init(KernelPlan::getExchangeEmptyBarrier(type),
       type.getCtas() * type.getFragment().getWarps());
}

/// Releases of slots that threads read, where the op before is a release of
/// that kind: its lanes meet. An accumulator's release is none of them, since
/// each lane orders its loads before they meet.
static llvm::DenseSet<Operation *> findSynchronised(FunctionOpInterface kernel,
                                                    const KernelPlan &plan) {
  auto isRead = [&](Value stage) {
    auto type = dyn_cast<ConsumerStageType>(stage.getType());
    return type && isa<PipelineType>(type.getRing()) &&
           !plan.getStage(stage).usedByMma;
  };
  llvm::DenseSet<Operation *> result;
  kernel->walk([&](ReleaseOp op) {
    auto previous = dyn_cast_or_null<ReleaseOp>(op->getPrevNode());
    if (previous && isRead(op.getStage()) &&
        (isRead(previous.getStage()) ||
         isa<EpilogueStageType>(previous.getStage().getType())))
      result.insert(op);
  });
  return result;
}

/// Whether a promotion behind `wait` has loaded the A scale in front of it, and
/// reads nothing else from shared memory (loadAScale).
static bool hasLoadedBefore(PromoteOp op, WaitMmaOp wait) {
  auto isBefore = [&](Value value) {
    Operation *def = value.getDefiningOp();
    return !def || def->getBlock() != wait->getBlock() ||
           def->isBeforeInBlock(wait);
  };
  return isBefore(op.getAScale()) && !op.getBRow() &&
         (!op.getARow() || isBefore(op.getARow()));
}

/// Where the fence goes that orders what threads have read from a slot before
/// what TMA writes there next: without it, loads may still be under way when
/// the copy lands, although their thread has arrived. It waits for them: in
/// front of a wait for a product, that takes no time.
static Operation *findFencePlace(Operation *handOver) {
  for (Operation *op = handOver->getPrevNode(); op; op = op->getPrevNode()) {
    auto wait = dyn_cast<WaitMmaOp>(op);
    if (!wait) {
      // Which stage it reads does not matter: few blocks read several.
      WalkResult reads = op->walk([](Operation *inner) {
        return isa<ViewReaderOpInterface>(inner) && !isa<WarpgroupMmaOp>(inner)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      });
      if (reads.wasInterrupted() && !isa<PromoteOp>(op))
        return handOver;
      continue;
    }
    for (Operation *late = wait->getNextNode(); late != handOver;
         late = late->getNextNode())
      if (auto promote = dyn_cast<PromoteOp>(late);
          promote && !hasLoadedBefore(promote, wait))
        return handOver;
    return wait;
  }
  return handOver;
}

/// What fences go in front of (KernelLowering::fenced).
static llvm::DenseSet<Operation *>
findFenced(FunctionOpInterface kernel, const KernelPlan &plan,
           const llvm::DenseSet<Operation *> &synchronised) {
  llvm::DenseSet<Operation *> result;
  kernel->walk([&](Operation *op) {
    if (!isa<ReleaseOp, ArriveOp>(op))
      return;
    Value stage = op->getOperand(0);
    if (!isa<ConsumerStageType>(stage.getType()) ||
        !plan.getStage(stage).loadedByThreads ||
        llvm::all_of(plan.getRings(stage), [&](Operation *ring) {
          return plan.getFullBytes(ring) == 0;
        }))
      return;
    // The lanes meet behind it.
    while (synchronised.contains(op))
      op = op->getPrevNode();
    result.insert(findFencePlace(op));
  });
  return result;
}

/// For each wait, the products that were started in its block since its own
/// was, and may still be running.
static llvm::DenseMap<Operation *, int64_t>
countProductsBehind(FunctionOpInterface kernel) {
  llvm::DenseMap<Operation *, int64_t> result;
  kernel->walk([&](WaitMmaOp wait) {
    Operation *start = wait.getPending().getDefiningOp();
    if (!start || start->getBlock() != wait->getBlock())
      return;
    // Products complete in order: where a later one was waited for, only those
    // behind that may be running.
    for (Operation *op = start->getNextNode(); op != wait;
         op = op->getNextNode())
      if (auto other = dyn_cast<WaitMmaOp>(op))
        if (Operation *later = other.getPending().getDefiningOp();
            later && later->getBlock() == start->getBlock() &&
            start->isBeforeInBlock(later))
          start = later;
    for (Operation *op = start->getNextNode(); op != wait;
         op = op->getNextNode())
      result[wait] += isa<WarpgroupMmaOp>(op);
  });
  return result;
}

/// Whether the warp is one of those that hand registers back.
static Value handsBack(const KernelLowering &lowering,
                       Instructions &instructions, OpBuilder &builder,
                       Location loc) {
  Value result;
  for (WarpRange takers : lowering.plan.getRegisters().takers) {
    Value number = lowering.warpId;
    if (takers.first) // else one comparison: it wraps below the first warp
      number = instructions.add(number, -takers.first);
    Value isOutside = instructions.atLeast(number, takers.count);
    result =
        result
            ? arith::AndIOp::create(builder, loc, result, isOutside).getResult()
            : isOutside;
  }
  return result;
}

/// Lets the warpgroups that hold fragments take registers that the others hand
/// back. All warps of a warpgroup must do so at one place (PTX ISA,
/// setmaxnreg), so that the roles of the others, and warps without a role,
/// begin with a branch of their own.
static void dealRegisters(Block &entry, const KernelLowering &lowering) {
  const RegisterPlan &registers = lowering.plan.getRegisters();
  if (!registers.isDealt())
    return;
  SmallVector<RoleOp> others;
  for (RoleOp role : entry.getOps<RoleOp>()) {
    if (!registers.takes(lowering.plan.getWarps(role))) {
      others.push_back(role);
      continue;
    }
    OpBuilder atStart = OpBuilder::atBlockBegin(&role.getBody().front());
    Instructions(atStart, role.getLoc())
        .setRegisters(registers.multiply, /*takes=*/true);
  }
  // Where the last one stands, all that they use has been made.
  OpBuilder builder(others.back());
  Instructions instructions(builder, others.back().getLoc());
  Value isOther =
      handsBack(lowering, instructions, builder, others.back().getLoc());
  instructions.ifThen(isOther, [&](Instructions &inner) {
    inner.setRegisters(registers.others, /*takes=*/false);
    for (RoleOp role : others)
      role->moveBefore(builder.getInsertionBlock(),
                       builder.getInsertionPoint());
  });
}

/// Lets the kernel behind this one start when this CTA needs nothing more that
/// another may hold. Tensor memory is such a thing: the CTA of another kernel
/// may take it and keep it while it waits for this kernel to end (PTX ISA,
/// tcgen05.alloc, griddepcontrol).
static void startNextKernel(FunctionOpInterface kernel, OpBuilder builder) {
  SmallVector<CreateMmaWarpOp> allocations;
  kernel->walk([&](CreateMmaWarpOp op) { allocations.push_back(op); });
  // The first of several signals would count: the end of the kernel is one.
  if (allocations.size() > 1)
    return;
  if (!allocations.empty())
    builder.setInsertionPointAfter(allocations.front());
  Instructions(builder, kernel.getLoc()).startNextKernel();
}

KernelLowering mlir::fp8::buildPrologue(FunctionOpInterface kernel,
                                        const KernelPlan &plan) {
  Block &entry = kernel.getFunctionBody().front();
  Location loc = kernel.getLoc();
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  Instructions instructions(builder, loc);
  Value sharedMemory = instructions.sharedMemory();
  llvm::DenseSet<Operation *> synchronised = findSynchronised(kernel, plan);
  KernelLowering lowering{
      plan,
      sharedMemory,
      instructions.warpId(),
      ClusterValues::build(plan.getCluster(), sharedMemory, instructions),
      llvm::DenseMap<Operation *, RoleValues>(),
      synchronised,
      findFenced(kernel, plan, synchronised),
      llvm::DenseMap<Value, CursorWay>(),
      countProductsBehind(kernel),
      llvm::DenseMap<Block *, SmallVector<SmallVector<Value>>>()};
  bool isCluster = plan.getCluster().getSize() > 1;

  auto isRing = [](Operation &op) {
    return isa<PipelineOp, OutputPipelineOp, WorkQueueOp>(op);
  };
  Value isFirst = instructions.equal(instructions.threadId(), 0);
  instructions.ifThen(isFirst, [&](Instructions &first) {
    for (Operation &op : entry)
      if (isRing(op))
        initRing(&op, plan, lowering.sharedMemory, builder);
    for (auto exchange : entry.getOps<ExchangeOp>())
      initExchange(exchange, plan, lowering.sharedMemory, builder);
    first.fenceBarrierInit();
    // What else a kernel that starts early can do before it waits.
    if (kernel->hasAttr(Fp8Dialect::kProgrammaticAttrName))
      for (BlockArgument argument : kernel.getArguments())
        if (isa<TensorMapType>(argument.getType()))
          first.prefetchMap(argument);
  });
  if (isCluster)
    instructions.meetCluster();
  else
    instructions.syncThreads();
  // All that went before touched this CTA's own memory alone. Every thread
  // waits, so that the kernel ends behind all that were in front of it.
  if (kernel->removeAttr(Fp8Dialect::kProgrammaticAttrName)) {
    instructions.waitForEarlierKernels();
    startNextKernel(kernel, builder);
  }

  for (RoleOp role : entry.getOps<RoleOp>()) {
    builder.setInsertionPointToStart(&role.getBody().front());
    Instructions atStart(builder, role.getLoc());
    // One election for the whole role: asynchronous groups and commits belong
    // to the thread that issued them.
    RoleValues values;
    values.leader = atStart.elect();
    values.warp = atStart.add(lowering.warpId, -plan.getWarps(role).first);
    values.lane = atStart.laneId();
    role->walk([&](PromoteOp) { values.promotes = true; });
    role->walk([&](Operation *op) { lowering.roleOf[op] = values; });
  }
  dealRegisters(entry, lowering);
  // Those that divide K wait for one another where they close the exchange.
  if (isCluster && plan.getCluster().k == 1)
    kernel->walk([](gpu::ReturnOp end) {
      OpBuilder atEnd(end);
      Instructions(atEnd, end.getLoc()).leaveCluster();
    });
  return lowering;
}
