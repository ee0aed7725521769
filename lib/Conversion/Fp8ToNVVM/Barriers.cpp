// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Spells the ops of the barrier family: each as its instructions.

#include "Lowering.h"

using namespace mlir;
using namespace mlir::fp8;

//===----------------------------------------------------------------------===//
// Threads and addresses
//===----------------------------------------------------------------------===//

static void addThreads(SpellingPatterns &patterns) {
  patterns.add<IdOp>([](IdOp op, auto, Instructions &to) {
    switch (op.getKind()) {
    case IdKind::Thread:
      return to.threadId();
    case IdKind::Warp:
      return to.warpId();
    case IdKind::Cta:
      return to.ctaId();
    }
    llvm_unreachable("there are three kinds");
  });
  patterns.add<SyncOp>([](SyncOp op, auto, Instructions &to) {
    switch (op.getScope()) {
    case SyncScope::Warp:
      return to.syncWarp();
    case SyncScope::Cta:
      return to.syncThreads();
    case SyncScope::ClusterStart:
      return to.meetCluster();
    case SyncScope::ClusterEnd:
      return to.leaveCluster();
    }
  });
  patterns.add<NamedBarrierOp>(
      [](NamedBarrierOp op, auto operands, Instructions &to) {
        if (op.getArrive())
          to.arriveNamedBarrier(operands.getId()[0], op.getThreads());
        else
          to.syncNamedBarrier(operands.getId()[0], op.getThreads());
      });
  patterns.add<GridDependencyOp>(
      [](GridDependencyOp op, auto, Instructions &to) {
        if (op.getKind() == GridDependency::Wait)
          to.waitForEarlierKernels();
        else
          to.startNextKernel();
      });
  patterns.add<KeepInLoopOp>([](KeepInLoopOp, auto operands, Instructions &to) {
    return to.keepInLoop(operands.getValue()[0]);
  });
}

/// The next slot: the parity flips where the ring wraps.
static std::pair<Value, Value> advance(Value number, Value parity,
                                       int64_t stages, Instructions &to) {
  if (stages == 1)
    return {number, to.bitXor(parity, to.i32(1))};
  Value next = to.add(number, 1);
  if (AdvanceOp::countsSlots(stages))
    return {next, parity};
  Value wraps = to.equal(next, stages);
  Value flipped = to.bitXor(parity, to.i32(1));
  return {to.select(wraps, to.i32(0), next), to.select(wraps, flipped, parity)};
}

static void addAddresses(SpellingPatterns &patterns) {
  patterns.add<SharedMemoryOp>(
      [](SharedMemoryOp, auto, Instructions &to) { return to.sharedMemory(); });
  patterns.add<MapToCtaOp>([](MapToCtaOp, auto operands, Instructions &to) {
    return to.mapToCta(operands.getAddress()[0], operands.getRank()[0]);
  });
  patterns.add<ViewAtOp>([](ViewAtOp, auto operands, Instructions &) {
    return Value(operands.getAddress()[0]);
  });
  patterns.add<AdvanceOp>([](AdvanceOp op, auto operands, Instructions &to) {
    return advance(operands.getNumber()[0], operands.getParity()[0],
                   op.getStages(), to);
  });
}

//===----------------------------------------------------------------------===//
// Barriers and fences
//===----------------------------------------------------------------------===//

static void addBarriers(SpellingPatterns &patterns) {
  patterns.add<MbarrierInitOp>(
      [](MbarrierInitOp op, auto operands, Instructions &to) {
        to.initBarrier(operands.getBarrier()[0], op.getArrivals());
      });
  patterns.add<MbarrierWaitOp>(
      [](MbarrierWaitOp op, auto operands, Instructions &to) {
        to.waitBarrier(operands.getBarrier()[0], operands.getParity()[0],
                       op.getLimit(), op.getCluster());
      });
  patterns.add<MbarrierTestOp>(
      [](MbarrierTestOp, auto operands, Instructions &to) {
        return to.allLanes(
            to.testBarrier(operands.getBarrier()[0], operands.getParity()[0]));
      });
  patterns.add<MbarrierArriveOp>(
      [](MbarrierArriveOp op, auto operands, Instructions &to) {
        Value barrier = operands.getBarrier()[0];
        if (op.getAfterCopies())
          to.arriveAfterCopies(barrier);
        else if (op.getRemote())
          to.arriveRemote(barrier);
        else
          to.arrive(barrier);
      });
  patterns.add<MbarrierExpectOp>(
      [](MbarrierExpectOp op, auto operands, Instructions &to) {
        Value barrier = operands.getBarrier()[0];
        if (op.getRemote())
          to.arriveExpectBytesRemote(barrier, op.getBytes());
        else if (op.getArrive())
          to.arriveExpectBytes(barrier, op.getBytes());
        else if (op.getLaunched())
          to.expectBytes(barrier, operands.getLaunched()[0]);
        else
          to.expectBytes(barrier, to.i32(op.getBytes()));
      });
  patterns.add<MbarrierCommitOp>(
      [](MbarrierCommitOp op, auto operands, Instructions &to) {
        to.commitMmas(operands.getBarrier()[0], getOptional(operands.getMask()),
                      op.getCtaGroup());
      });
}

static void addFences(SpellingPatterns &patterns) {
  patterns.add<FenceMbarrierInitOp>(
      [](auto, auto, Instructions &to) { to.fenceBarrierInit(); });
  patterns.add<FenceAsyncProxyOp>(
      [](auto, auto, Instructions &to) { to.fenceAsyncProxy(); });
  patterns.add<FenceTmemOp>([](FenceTmemOp op, auto, Instructions &to) {
    if (op.getSide() == FenceSide::Before)
      to.fenceBeforeThreadSync();
    else
      to.fenceAfterThreadSync();
  });
}

//===----------------------------------------------------------------------===//
// Copies, answers, tensor memory
//===----------------------------------------------------------------------===//

static void addCopies(SpellingPatterns &patterns) {
  patterns.add<CopyTileOp>([](CopyTileOp op, auto operands, Instructions &to) {
    to.loadTile(operands.getTile()[0], operands.getMap()[0],
                getSingles(operands.getCoordinates()), operands.getBarrier()[0],
                getOptional(operands.getMask()), op.getCtaGroup());
  });
  patterns.add<CopyElementOp>(
      [](CopyElementOp, auto operands, Instructions &to) {
        to.copyElement(operands.getDestination()[0], operands.getSource()[0],
                       getSingles(operands.getIndices()),
                       getOptional(operands.getExists()));
      });
  patterns.add<PrefetchMapOp>(
      [](PrefetchMapOp, auto operands, Instructions &to) {
        to.prefetchMap(operands.getMap()[0]);
      });
  patterns.add<WaitStoresOp>([](auto, auto, Instructions &to) {
    to.waitStores(/*pending=*/0, /*readOnly=*/false);
  });
}

static void addAnswers(SpellingPatterns &patterns) {
  patterns.add<RequestAnswerOp>(
      [](RequestAnswerOp op, auto operands, Instructions &to) {
        to.requestWork(operands.getSlot()[0], operands.getBarrier()[0],
                       op.getMulticast());
      });
  patterns.add<ReadAnswerOp>([](ReadAnswerOp, auto operands, Instructions &to) {
    return to.readAnswer(operands.getSlot()[0]);
  });
}

static void addTensorMemory(SpellingPatterns &patterns) {
  patterns.add<TmemAllocOp>(
      [](TmemAllocOp op, auto operands, Instructions &to) {
        Value slot = operands.getSlot()[0];
        to.allocateColumns(slot, op.getColumns(), op.getCtaGroup());
        if (op.getLast())
          to.relinquishAllocation(op.getCtaGroup());
        // The whole warp allocates, so each lane reads behind its own write.
        return to.loadShared(slot, op.getAddress().getType());
      });
  patterns.add<TmemAddressOp>(
      [](TmemAddressOp op, auto operands, Instructions &to) {
        return to.loadShared(operands.getSlot()[0], op.getAddress().getType());
      });
  patterns.add<TmemFreeOp>([](TmemFreeOp op, auto operands, Instructions &to) {
    to.freeColumns(operands.getAddress()[0], op.getColumns(), op.getCtaGroup());
  });
}

void mlir::fp8::populateBarrierPatterns(const TypeConverter &converter,
                                        RewritePatternSet &all) {
  SpellingPatterns patterns{converter, all};
  addThreads(patterns);
  addAddresses(patterns);
  addBarriers(patterns);
  addFences(patterns);
  addCopies(patterns);
  addAnswers(patterns);
  addTensorMemory(patterns);
}
