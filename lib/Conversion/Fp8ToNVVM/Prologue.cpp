// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The start of a lowered kernel: addresses, the warp's number, barrier
// initialisation, and the values of each role; and its end.

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace mlir::fp8;

/// Initialises the barriers of one ring.
static void initRing(Operation *ring, Value sharedMemory, OpBuilder &builder) {
  Instructions instructions(builder, ring->getLoc());
  auto plan = getPlan<RingPlanAttr>(ring);
  Type type = cast<RingOpInterface>(ring).getRing();
  int64_t stages = cast<RingTypeInterface>(type).getNumStages();
  for (int64_t i = 0; i < 2 * stages; ++i)
    instructions.initBarrier(
        instructions.add(sharedMemory, plan.barrierOffset + 8 * i),
        i < stages ? plan.fullArrivals : plan.emptyArrivals);
  if (auto output = dyn_cast<OutputPipelineType>(type)) {
    int64_t offset =
        plan.barrierOffset + KernelPlan::getDeallocBarrierOffset(output);
    instructions.initBarrier(instructions.add(sharedMemory, offset),
                             plan.deallocArrivals);
  }
}

/// Initialises the barriers of an exchange: that of what has come, and that of
/// what has been read.
static void initExchange(ExchangeOp op, Value sharedMemory,
                         OpBuilder &builder) {
  Instructions instructions(builder, op.getLoc());
  ExchangeType type = op.getExchange().getType();
  int64_t offset = getPlan<RingPlanAttr>(op).payloadOffset;
  auto init = [&](int64_t barrier, int64_t arrivals) {
    instructions.initBarrier(instructions.add(sharedMemory, offset + barrier),
                             arrivals);
  };
  // The bytes, beside the arrival that announces them; each warp of each CTA.
  init(KernelPlan::getExchangeFullBarrier(type), 1);
  init(KernelPlan::getExchangeEmptyBarrier(type),
       type.getCtas() * type.getFragment().getWarps());
}

/// Whether the warp is one of those that hand registers back.
static Value handsBack(ArrayRef<WarpRange> ranges, Value warpId,
                       Instructions &instructions, OpBuilder &builder,
                       Location loc) {
  Value result;
  for (WarpRange range : ranges) {
    Value number = warpId;
    if (range.first) // else one comparison: it wraps below the first warp
      number = instructions.add(number, -range.first);
    Value isOutside = instructions.atLeast(number, range.count);
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
static void dealRegisters(FunctionOpInterface kernel, Value warpId) {
  int64_t left = getPlan<CtaPlanAttr>(kernel).idleRegisters;
  if (!left)
    return;
  SmallVector<RoleOp> others;
  for (RoleOp role : kernel.getFunctionBody().front().getOps<RoleOp>()) {
    auto plan = getPlan<RolePlanAttr>(role);
    if (!plan.takes) {
      others.push_back(role);
      continue;
    }
    OpBuilder atStart = OpBuilder::atBlockBegin(&role.getBody().front());
    Instructions(atStart, role.getLoc())
        .setRegisters(plan.registers, /*takes=*/true);
  }
  // Where the last one stands, all that they use has been made.
  OpBuilder builder(others.back());
  Instructions instructions(builder, others.back().getLoc());
  Value isOther = handsBack(getGrowingWarps(kernel), warpId, instructions,
                            builder, others.back().getLoc());
  instructions.ifThen(isOther, [&](Instructions &inner) {
    inner.setRegisters(left, /*takes=*/false);
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

KernelLowering mlir::fp8::buildPrologue(FunctionOpInterface kernel) {
  Block &entry = kernel.getFunctionBody().front();
  Location loc = kernel.getLoc();
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  Instructions instructions(builder, loc);
  Value sharedMemory = instructions.sharedMemory();
  ClusterShape cluster = getClusterShape(kernel);
  KernelLowering lowering{
      sharedMemory, instructions.warpId(),
      ClusterValues::build(cluster, sharedMemory, instructions),
      llvm::DenseMap<Operation *, RoleValues>(),
      llvm::DenseMap<Value, CursorWay>()};
  bool isCluster = cluster.getSize() > 1;

  Value isFirst = instructions.equal(instructions.threadId(), 0);
  instructions.ifThen(isFirst, [&](Instructions &first) {
    for (Operation &op : entry)
      if (isa<RingOpInterface>(op))
        initRing(&op, sharedMemory, builder);
    for (auto exchange : entry.getOps<ExchangeOp>())
      initExchange(exchange, sharedMemory, builder);
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
    values.warp =
        atStart.add(lowering.warpId, -getPlan<RolePlanAttr>(role).firstWarp);
    values.lane = atStart.laneId();
    role->walk([&](PromoteOp) { values.promotes = true; });
    role->walk([&](Operation *op) { lowering.roleOf[op] = values; });
  }
  dealRegisters(kernel, lowering.warpId);
  // Those that divide K wait for one another where they close the exchange.
  if (isCluster && cluster.k == 1)
    kernel->walk([](gpu::ReturnOp end) {
      OpBuilder atEnd(end);
      Instructions(atEnd, end.getLoc()).leaveCluster();
    });
  return lowering;
}
