// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The start of a lowered kernel: addresses, the warp's number, barrier
// initialisation, and the thread of each role; and its end.

#include "RingLowering.h"
#include "fp8/Analysis/GridWait.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace mlir::fp8;

/// Initialises the barriers of one ring.
static void initRing(Operation *ring, Value sharedMemory, OpBuilder &builder) {
  BarrierBuilder barriers(builder, ring->getLoc());
  auto plan = getPlan<RingPlanAttr>(ring);
  Type type = cast<RingOpInterface>(ring).getRing();
  int64_t stages = cast<RingTypeInterface>(type).getNumStages();
  for (int64_t i = 0; i < 2 * stages; ++i)
    barriers.make<MbarrierInitOp>(
        barriers.add(sharedMemory, plan.barrierOffset + kBarrierBytes * i),
        i < stages ? plan.fullArrivals : plan.emptyArrivals);
  if (auto output = dyn_cast<OutputPipelineType>(type)) {
    int64_t offset =
        plan.barrierOffset + KernelPlan::getDeallocBarrierOffset(output);
    barriers.make<MbarrierInitOp>(barriers.add(sharedMemory, offset),
                                  plan.deallocArrivals);
  }
}

/// Initialises the barriers of an exchange: that of what has come, and that of
/// what has been read.
static void initExchange(ExchangeOp op, Value sharedMemory,
                         OpBuilder &builder) {
  BarrierBuilder barriers(builder, op.getLoc());
  ExchangeType type = op.getExchange().getType();
  int64_t offset = getPlan<RingPlanAttr>(op).payloadOffset;
  auto init = [&](int64_t barrier, int64_t arrivals) {
    barriers.make<MbarrierInitOp>(barriers.add(sharedMemory, offset + barrier),
                                  arrivals);
  };
  // The bytes, beside the arrival that announces them; each warp of each CTA.
  init(KernelPlan::getExchangeFullBarrier(type), 1);
  init(KernelPlan::getExchangeEmptyBarrier(type),
       type.getCtas() * type.getFragment().getWarps());
}

/// Lets the role wait for preceding kernels at that place.
static void waitInRole(GridWait::Place place, RoleOp role, OpBuilder builder) {
  builder.setInsertionPoint(place.before);
  BarrierBuilder barriers(builder, role.getLoc());
  auto waitForGrid = [](BarrierBuilder &at) {
    at.make<GridDependencyOp>(GridDependency::Wait);
  };
  if (place.unless)
    barriers.ifThen(barriers.equal(place.unless, 0), waitForGrid);
  else
    waitForGrid(barriers);
}

/// Lets the kernel behind this one start where the role says.
static void startNextInRole(GridWait wait, OpBuilder builder) {
  builder.setInsertionPoint(wait.startsNext);
  BarrierBuilder barriers(builder, wait.startsNext->getLoc());
  if (!wait.tiles) {
    barriers.make<GridDependencyOp>(GridDependency::StartNext);
    return;
  }
  Value next = barriers.make<arith::AddIOp>(wait.tiles.getInductionVar(),
                                            wait.tiles.getStep());
  Value isLast = barriers.make<arith::CmpIOp>(arith::CmpIPredicate::sge, next,
                                              wait.tiles.getUpperBound());
  barriers.ifThen(isLast, [](BarrierBuilder &last) {
    last.make<GridDependencyOp>(GridDependency::StartNext);
  });
}

KernelStart mlir::fp8::buildPrologue(FunctionOpInterface kernel) {
  Block &entry = kernel.getFunctionBody().front();
  Location loc = kernel.getLoc();
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  BarrierBuilder barriers(builder, loc);
  ClusterShape cluster = getClusterShape(kernel);
  bool isCluster = cluster.getSize() > 1,
       startsEarly = kernel->hasAttr(Fp8Dialect::kProgrammaticAttrName);
  // Asked of the kernel as it was written: what follows prefetches maps.
  bool waits = startsEarly && waitsBeforeRoles(kernel);
  SmallVector<GridWait> waitsOfRoles = getGridWaits(kernel);
  KernelStart start;
  start.sharedMemory = barriers.make<SharedMemoryOp>();
  start.warpId = barriers.make<IdOp>(IdKind::Warp);
  start.cluster = ClusterValues::build(cluster, start.sharedMemory, barriers);

  Value isFirst = barriers.equal(barriers.make<IdOp>(IdKind::Thread), 0);
  barriers.ifThen(isFirst, [&](BarrierBuilder &first) {
    for (Operation &op : entry)
      if (isa<RingOpInterface>(op))
        initRing(&op, start.sharedMemory, builder);
    for (auto exchange : entry.getOps<ExchangeOp>())
      initExchange(exchange, start.sharedMemory, builder);
    first.make<FenceMbarrierInitOp>();
    // What else a kernel that starts early can do before it waits.
    if (startsEarly)
      for (BlockArgument argument : kernel.getArguments())
        if (isa<TensorMapType>(argument.getType()))
          first.make<PrefetchMapOp>(argument);
  });
  barriers.make<SyncOp>(isCluster ? SyncScope::ClusterStart : SyncScope::Cta);
  // All that went before touched this CTA's own memory alone.
  if (waits)
    barriers.make<GridDependencyOp>(GridDependency::Wait);

  for (auto [role, wait] :
       llvm::zip_equal(entry.getOps<RoleOp>(), waitsOfRoles)) {
    bool promotes =
        role->walk([](PromoteOp) { return WalkResult::interrupt(); })
            .wasInterrupted();
    builder.setInsertionPointToStart(&role.getBody().front());
    RoleThreadOp::create(builder, role.getLoc(), start.warpId, promotes);
    for (GridWait::Place place : wait.places)
      waitInRole(place, role, builder);
    if (wait.startsNext)
      startNextInRole(wait, builder);
  }
  // Those that divide K wait for one another where they close the exchange.
  if (isCluster && cluster.k == 1)
    kernel->walk([](gpu::ReturnOp end) {
      OpBuilder atEnd(end);
      SyncOp::create(atEnd, end.getLoc(), SyncScope::ClusterEnd);
    });
  return start;
}

RoleThreadOp mlir::fp8::getThread(Operation *op) {
  return op->getParentOfType<RoleOp>().getThread();
}
