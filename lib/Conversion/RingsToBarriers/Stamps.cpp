// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stamps: around waits and arrivals, and around what each role does.

#include "Stamps.h"
#include "RingLowering.h"
#include "fp8/IR/Profile.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fp8;

/// What these values need of the block moves in front of `before`. False, and
/// nothing moves, if that would move an effect.
static bool moveValues(ValueRange values, Block *block, Operation *before) {
  SetVector<Operation *> needed;
  auto add = [&](ValueRange some) {
    for (Value value : some)
      if (Operation *definition = value.getDefiningOp();
          definition && definition->getBlock() == block)
        needed.insert(definition);
  };
  add(values);
  for (size_t i = 0; i < needed.size(); ++i)
    add(needed[i]->getOperands());
  // Those in front of it already stay.
  if (before->getBlock() == block)
    needed.remove_if([&](Operation *inner) {
      return inner == before || inner->isBeforeInBlock(before);
    });
  if (!llvm::all_of(needed, isMemoryEffectFree))
    return false;
  for (Operation &inner : llvm::make_early_inc_range(*block))
    if (needed.contains(&inner))
      inner.moveBefore(before);
  return true;
}

/// Makes the wait one that tells since when, and returns that and the op behind
/// which the role has waited: the wait; or the branch that does nothing else,
/// if a test in front of it has failed. Where the test has not failed there was
/// nothing to wait for.
static std::pair<Value, Operation *> tellSince(MbarrierWaitOp wait,
                                               Value leader) {
  auto branch = dyn_cast<scf::IfOp>(wait->getParentOp());
  if (branch && (branch.elseBlock() || branch.getNumResults() ||
                 !moveValues(wait->getOperands(), branch.thenBlock(), branch) ||
                 !llvm::hasNItems(*branch.thenBlock(), 2)))
    branch = {};
  OpBuilder builder(wait);
  Location loc = wait.getLoc();
  Value since =
      StampWaitOp::create(builder, loc, wait.getBarrier(), wait.getParity(),
                          leader, wait.getCluster(), wait.getLimit());
  wait.erase();
  if (!branch)
    return {since, since.getDefiningOp()};
  builder.setInsertionPoint(branch);
  auto telling =
      scf::IfOp::create(builder, loc, TypeRange(builder.getI32Type()),
                        branch.getCondition(), /*withElseRegion=*/true);
  since.getDefiningOp()->moveBefore(telling.thenBlock(),
                                    telling.thenBlock()->begin());
  builder.setInsertionPointToEnd(telling.thenBlock());
  scf::YieldOp::create(builder, loc, since);
  builder.setInsertionPointToEnd(telling.elseBlock());
  Value none = arith::ConstantIntOp::create(builder, loc, 0, 32);
  scf::YieldOp::create(builder, loc, none);
  branch.erase();
  return {telling.getResult(0), telling};
}

/// The barrier in this CTA's shared memory at which the op arrives; null if
/// that is not known.
static Value getArrivedAt(Operation *op) {
  if (auto commit = dyn_cast<MbarrierCommitOp>(op))
    return commit.getBarrier();
  Value barrier;
  bool isRemote = false;
  if (auto arrive = dyn_cast<MbarrierArriveOp>(op))
    barrier = arrive.getBarrier(), isRemote = arrive.getRemote();
  else if (auto expect = dyn_cast<MbarrierExpectOp>(op);
           expect && expect.getArrive())
    barrier = expect.getBarrier(), isRemote = expect.getRemote();
  if (!isRemote)
    return barrier;
  // The same place in another CTA, by its number or by what to add: this CTA's
  // stands for it.
  if (auto there = barrier.getDefiningOp<MapToCtaOp>())
    return there.getAddress();
  auto there = barrier.getDefiningOp<arith::AddIOp>();
  return there ? there.getLhs() : Value();
}

/// Computes what the block's next wait needs in front of the arrival: ptxas
/// moves nothing from behind a clock into the shadow of products.
static void prepareWait(Operation *arrival) {
  for (Operation *op = arrival->getNextNode(); op; op = op->getNextNode())
    if (isa<StampWaitOp>(op)) {
      moveValues(op->getOperands(), op->getBlock(), arrival);
      return;
    }
}

/// True if the condition only says which threads of a warp act for it.
static bool choosesThreads(Value condition, RoleThreadOp thread) {
  auto compared = condition.getDefiningOp<arith::CmpIOp>();
  return condition == thread.getLeader() ||
         (compared && compared.getLhs() == thread.getLane());
}

/// The branch around the arrival that only chooses the threads that arrive for
/// the warp, of which the leader writes the stamps; else the arrival. The stamp
/// goes around it: where all threads are together it needs no branch.
static Operation *findWholeArrival(Operation *arrival, RoleThreadOp thread) {
  auto branch = dyn_cast<scf::IfOp>(arrival->getParentOp());
  return branch && choosesThreads(branch.getCondition(), thread) &&
                 !branch.elseBlock() &&
                 moveValues(getArrivedAt(arrival), branch.thenBlock(), branch)
             ? branch
             : arrival;
}

static bool waitsOrStamps(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return isa<StampWaitOp, StampClockOp, StampHandOverOp>(inner)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Has the stamp of each hand-over written where the role has time. With
/// products that is while the next ones are under way, else where the role
/// waits next, behind what it issues.
static void insertWrites(RoleOp role, Value cursor) {
  SmallVector<Operation *> places;
  if (role.walk([&](WaitMmaOp) { return WalkResult::interrupt(); })
          .wasInterrupted()) {
    role.walk([&](Block *block) {
      // One write is enough until the block hands over again.
      bool hasWritten = false;
      for (Operation &op : *block) {
        if (isa<WaitMmaOp>(op) && !std::exchange(hasWritten, true))
          places.push_back(&op);
        hasWritten &= !isa<StampHandOverOp>(op);
      }
    });
  } else {
    role.walk([&](StampHandOverOp op) {
      Operation *place = op->getNextNode();
      while (place != op->getBlock()->getTerminator() && !waitsOrStamps(place))
        place = place->getNextNode();
      places.push_back(place);
    });
  }
  for (Operation *op : places) {
    OpBuilder builder(op);
    StampWriteOp::create(builder, op->getLoc(), cursor);
  }
}

static void insertStamps(RoleOp role, Value cursor) {
  SmallVector<MbarrierWaitOp> waits;
  SmallVector<Operation *> arrivals;
  role.walk([&](Operation *op) {
    if (auto wait = dyn_cast<MbarrierWaitOp>(op))
      waits.push_back(wait);
    else if (getArrivedAt(op))
      arrivals.push_back(op);
  });
  Value leader = role.getThread().getLeader();
  OpBuilder builder(role.getContext());
  for (MbarrierWaitOp wait : waits) {
    Location loc = wait.getLoc();
    Value barrier = wait.getBarrier();
    auto [since, behind] = tellSince(wait, leader);
    builder.setInsertionPointAfter(behind);
    Value until = StampClockOp::create(builder, loc, leader);
    StampWaitedOp::create(builder, loc, cursor, barrier, since, until);
  }
  for (Operation *arrival : arrivals) {
    Location loc = arrival->getLoc();
    Operation *whole = findWholeArrival(arrival, role.getThread());
    prepareWait(whole);
    builder.setInsertionPoint(whole);
    Value when = StampClockOp::create(builder, loc, leader);
    builder.setInsertionPointAfter(whole);
    StampHandOverOp::create(builder, loc, cursor, getArrivedAt(arrival), when);
  }
  insertWrites(role, cursor);
}

void mlir::fp8::insertStamps(FunctionOpInterface kernel) {
  Block &entry = kernel.getFunctionBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  Location loc = kernel.getLoc();
  // LLVM makes registers of it.
  Value cursor = memref::AllocaOp::create(
      builder, loc, MemRefType::get({10}, builder.getI32Type()));
  Value time = StampTimeOp::create(builder, loc);
  Value since = StampClockOp::create(builder, loc, Value());
  // Where threads wait for those that set up barriers anyway.
  builder.setInsertionPoint(*entry.getOps<SyncOp>().begin());
  Value place = StampPlaceOp::create(builder, loc);
  for (auto [index, role] : llvm::enumerate(entry.getOps<RoleOp>())) {
    ::insertStamps(role, cursor);
    RoleThreadOp thread = role.getThread();
    builder.setInsertionPointAfter(thread);
    StampBeginOp::create(builder, role.getLoc(), cursor, place, time, since,
                         thread.getLeader(), thread.getWarp(), index);
    builder.setInsertionPoint(role.getBody().front().getTerminator());
    StampEndOp::create(builder, role.getLoc(), cursor, thread.getLeader());
  }
}
