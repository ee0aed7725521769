// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stamps: in front of waits and behind them, in front of arrivals, and around
// what each role does.

#include "Stamps.h"
#include "RingLowering.h"
#include "fp8/IR/Profile.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::fp8;

/// The branch that does nothing but this wait, if a test in front of it has
/// failed; what the wait computes beside moves in front of the branch. The role
/// waits at the branch then, for however short a time. Else the wait itself.
static Operation *findWholeWait(MbarrierWaitOp wait) {
  auto branch = dyn_cast<scf::IfOp>(wait->getParentOp());
  if (!branch || branch.elseBlock() || branch.getNumResults())
    return wait;
  SmallVector<Operation *> others;
  for (Operation &op : branch.thenBlock()->without_terminator())
    if (&op != wait)
      others.push_back(&op);
  if (!llvm::all_of(others, isMemoryEffectFree))
    return wait;
  for (Operation *op : others)
    op->moveBefore(branch);
  return branch;
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
  // The same place in another CTA: this CTA's stands for it.
  auto there = barrier.getDefiningOp<MapToCtaOp>();
  return there ? there.getAddress() : Value();
}

static void insertStamps(RoleOp role, Value cursor, Value place,
                         int64_t index) {
  SmallVector<MbarrierWaitOp> waits;
  SmallVector<Operation *> arrivals;
  role.walk([&](Operation *op) {
    if (auto wait = dyn_cast<MbarrierWaitOp>(op))
      waits.push_back(wait);
    else if (getArrivedAt(op))
      arrivals.push_back(op);
  });
  OpBuilder builder(role.getContext());
  auto stamp = [&](Operation *at, StampEvent event, Value barrier,
                   Value since = {}) {
    StampOp::create(builder, at->getLoc(), event, cursor, place, barrier, since,
                    index);
  };
  for (MbarrierWaitOp wait : waits) {
    Operation *whole = findWholeWait(wait);
    builder.setInsertionPoint(whole);
    Value since = StampClockOp::create(builder, wait.getLoc());
    builder.setInsertionPointAfter(whole);
    stamp(wait, StampEvent::Waited, wait.getBarrier(), since);
  }
  for (Operation *arrival : arrivals) {
    builder.setInsertionPoint(arrival);
    stamp(arrival, StampEvent::HandsOver, getArrivedAt(arrival));
  }
}

void mlir::fp8::insertStamps(FunctionOpInterface kernel) {
  Block &entry = kernel.getFunctionBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  Location loc = kernel.getLoc();
  // LLVM makes registers of it.
  Value cursor = memref::AllocaOp::create(
      builder, loc, MemRefType::get({4}, builder.getI32Type()));
  Value place = StampPlaceOp::create(builder, loc);
  Value time = StampTimeOp::create(builder, loc, place);
  Value since = StampClockOp::create(builder, loc);
  for (auto [index, role] : llvm::enumerate(entry.getOps<RoleOp>())) {
    ::insertStamps(role, cursor, place, index);
    RoleThreadOp thread = role.getThread();
    builder.setInsertionPointAfter(thread);
    StampBeginOp::create(builder, role.getLoc(), cursor, place, time, since,
                         thread.getLeader(), thread.getWarp(), index);
    builder.setInsertionPoint(role.getBody().front().getTerminator());
    StampEndOp::create(builder, role.getLoc(), cursor, place,
                       thread.getLeader(), thread.getWarp(), index);
  }
}
