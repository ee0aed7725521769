// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Spells the ops of the barrier family: each as its instructions.

#include "Lowering.h"

using namespace mlir;
using namespace mlir::fp8;

namespace {

/// The patterns of ops that are spelt by one function each: `spell(op,
/// operands, instructions)` returns nothing, or what the results become.
struct Table {
  template <typename OpT, typename Fn>
  void add(Fn spell) {
    auto lower = [spell](OpT op, Operands<OpT> operands,
                         ConversionPatternRewriter &rewriter) -> Results {
      Instructions to(rewriter, op.getLoc());
      if constexpr (OpT::template hasTrait<::mlir::OpTrait::ZeroResults>()) {
        spell(op, operands, to);
        return {};
      } else {
        return toResults(spell(op, operands, to));
      }
    };
    patterns.add<FunctionPattern<OpT, decltype(lower)>>(
        converter, patterns.getContext(), lower);
  }

  static Results toResults(Value value) { return {{value}}; }
  static Results toResults(std::pair<Value, Value> values) {
    return {{values.first}, {values.second}};
  }

  const TypeConverter &converter;
  RewritePatternSet &patterns;
};

} // namespace

//===----------------------------------------------------------------------===//
// Threads and addresses
//===----------------------------------------------------------------------===//

static void addThreads(Table &table) {
  table.add<IdOp>([](IdOp op, auto, Instructions &to) {
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
  table.add<SyncOp>([](SyncOp op, auto, Instructions &to) {
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
  table.add<NamedBarrierOp>([](NamedBarrierOp op, auto operands,
                               Instructions &to) {
    if (op.getArrive())
      to.arriveNamedBarrier(operands.getId()[0], op.getThreads());
    else
      to.syncNamedBarrier(operands.getId()[0], op.getThreads());
  });
  table.add<GridDependencyOp>([](GridDependencyOp op, auto, Instructions &to) {
    if (op.getKind() == GridDependency::Wait)
      to.waitForEarlierKernels();
    else
      to.startNextKernel();
  });
  table.add<KeepInLoopOp>([](KeepInLoopOp, auto operands, Instructions &to) {
    return to.keepInLoop(operands.getValue()[0]);
  });
}

/// The next slot: the parity flips where the ring wraps.
static std::pair<Value, Value> advance(Value number, Value parity, int64_t stages,
                                  Instructions &to) {
  if (stages == 1)
    return {number, to.bitXor(parity, to.i32(1))};
  Value next = to.add(number, 1);
  if (AdvanceOp::countsSlots(stages))
    return {next, parity};
  Value wraps = to.equal(next, stages);
  Value flipped = to.bitXor(parity, to.i32(1));
  return {to.select(wraps, to.i32(0), next), to.select(wraps, flipped, parity)};
}

static void addAddresses(Table &table) {
  table.add<SharedMemoryOp>([](SharedMemoryOp, auto, Instructions &to) {
    return to.sharedMemory();
  });
  table.add<MapToCtaOp>([](MapToCtaOp, auto operands, Instructions &to) {
    return to.mapToCta(operands.getAddress()[0], operands.getRank()[0]);
  });
  table.add<ViewAtOp>([](ViewAtOp, auto operands, Instructions &) {
    return Value(operands.getAddress()[0]);
  });
  table.add<AdvanceOp>([](AdvanceOp op, auto operands, Instructions &to) {
    return advance(operands.getNumber()[0], operands.getParity()[0],
                   op.getStages(), to);
  });
}

//===----------------------------------------------------------------------===//
// Barriers and fences
//===----------------------------------------------------------------------===//

static void addBarriers(Table &table) {
  table.add<MbarrierInitOp>([](MbarrierInitOp op, auto operands,
                               Instructions &to) {
    to.initBarrier(operands.getBarrier()[0], op.getArrivals());
  });
  table.add<MbarrierWaitOp>([](MbarrierWaitOp op, auto operands,
                               Instructions &to) {
    to.waitBarrier(operands.getBarrier()[0], operands.getParity()[0],
                   op.getLimit(), op.getCluster());
  });
  table.add<MbarrierTestOp>([](MbarrierTestOp, auto operands,
                               Instructions &to) {
    return to.allLanes(
        to.testBarrier(operands.getBarrier()[0], operands.getParity()[0]));
  });
  table.add<MbarrierArriveOp>([](MbarrierArriveOp op, auto operands,
                                 Instructions &to) {
    Value barrier = operands.getBarrier()[0];
    if (op.getAfterCopies())
      to.arriveAfterCopies(barrier);
    else if (op.getRemote())
      to.arriveRemote(barrier);
    else
      to.arrive(barrier);
  });
  table.add<MbarrierExpectOp>([](MbarrierExpectOp op, auto operands,
                                 Instructions &to) {
    Value barrier = operands.getBarrier()[0];
    if (op.getRemote())
      to.arriveExpectBytesRemote(barrier, op.getBytes());
    else if (op.getArrive())
      to.arriveExpectBytes(barrier, op.getBytes());
    else
      to.expectBytes(barrier, op.getBytes());
  });
  table.add<MbarrierCommitOp>([](MbarrierCommitOp op, auto operands,
                                 Instructions &to) {
    to.commitMmas(operands.getBarrier()[0], getOptional(operands.getMask()),
                  op.getCtaGroup());
  });
}

static void addFences(Table &table) {
  table.add<FenceMbarrierInitOp>(
      [](auto, auto, Instructions &to) { to.fenceBarrierInit(); });
  table.add<FenceAsyncProxyOp>(
      [](auto, auto, Instructions &to) { to.fenceAsyncProxy(); });
  table.add<FenceTmemOp>([](FenceTmemOp op, auto, Instructions &to) {
    if (op.getSide() == FenceSide::Before)
      to.fenceBeforeThreadSync();
    else
      to.fenceAfterThreadSync();
  });
}

//===----------------------------------------------------------------------===//
// Copies, answers, tensor memory
//===----------------------------------------------------------------------===//

static void addCopies(Table &table) {
  table.add<CopyTileOp>([](CopyTileOp op, auto operands, Instructions &to) {
    to.loadTile(operands.getTile()[0], operands.getMap()[0],
                getSingles(operands.getCoordinates()),
                operands.getBarrier()[0], getOptional(operands.getMask()),
                op.getCtaGroup());
  });
  table.add<CopyElementOp>([](CopyElementOp, auto operands, Instructions &to) {
    to.copyElement(operands.getDestination()[0], operands.getSource()[0],
                   getSingles(operands.getIndices()),
                   getOptional(operands.getExists()));
  });
  table.add<PrefetchMapOp>([](PrefetchMapOp, auto operands, Instructions &to) {
    to.prefetchMap(operands.getMap()[0]);
  });
  table.add<WaitStoresOp>([](auto, auto, Instructions &to) {
    to.waitStores(/*pending=*/0, /*readOnly=*/false);
  });
}

static void addAnswers(Table &table) {
  table.add<RequestAnswerOp>([](RequestAnswerOp op, auto operands,
                                Instructions &to) {
    to.requestWork(operands.getSlot()[0], operands.getBarrier()[0],
                   op.getMulticast());
  });
  table.add<ReadAnswerOp>([](ReadAnswerOp, auto operands, Instructions &to) {
    return to.readAnswer(operands.getSlot()[0]);
  });
}

static void addTensorMemory(Table &table) {
  table.add<TmemAllocOp>([](TmemAllocOp op, auto operands, Instructions &to) {
    Value slot = operands.getSlot()[0];
    to.allocateColumns(slot, op.getColumns(), op.getCtaGroup());
    if (op.getLast())
      to.relinquishAllocation(op.getCtaGroup());
    // The whole warp allocates, so each lane reads behind its own write.
    return to.loadShared(slot, op.getAddress().getType());
  });
  table.add<TmemAddressOp>([](TmemAddressOp op, auto operands,
                              Instructions &to) {
    return to.loadShared(operands.getSlot()[0], op.getAddress().getType());
  });
  table.add<TmemFreeOp>([](TmemFreeOp op, auto operands, Instructions &to) {
    to.freeColumns(operands.getAddress()[0], op.getColumns(),
                   op.getCtaGroup());
  });
}

void mlir::fp8::populateBarrierPatterns(const TypeConverter &converter,
                                        RewritePatternSet &patterns) {
  Table table{converter, patterns};
  addThreads(table);
  addAddresses(table);
  addBarriers(table);
  addFences(table);
  addCopies(table);
  addAnswers(table);
  addTensorMemory(table);
}
