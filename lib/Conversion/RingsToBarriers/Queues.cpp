// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers the store queue and the exchange: an address and a number each. What
// CTAs that divide K send one another, and add up.

#include "RingLowering.h"

using namespace mlir;
using namespace mlir::fp8;

/// store_queue, exchange: where the slots begin, and the slot to use next, or
/// the parity of the first lap.
template <typename QueueOp>
static Results lowerQueue(QueueOp op, Operands<QueueOp>, RingBuilder &builder) {
  Value base = builder.add(builder.start.sharedMemory,
                           getPlan<RingPlanAttr>(op).payloadOffset);
  return {{base, builder.i32(0)}};
}

/// store: the same through the slots of the queue.
static Results lowerStore(StoreOp op, Operands<StoreOp> operands,
                          RingBuilder &builder) {
  ValueRange queue = operands.getQueue();
  auto store = builder.make<StoreAtOp>(
      builder.getBuilder().getI32Type(), operands.getFragment()[0],
      operands.getMap()[0], getSingles(operands.getCoordinates()), queue[0],
      queue[1], getOptional(operands.getRest()),
      TypeAttr::get(op.getQueue().getType()));
  StringRef plan = Fp8Dialect::kPlanAttrName;
  store->setAttr(plan, op->getAttr(plan));
  return {{queue[0], store.getNext()}};
}

//===----------------------------------------------------------------------===//
// Exchange
//===----------------------------------------------------------------------===//

Value ExchangeHandle::getFullBarrier(BarrierBuilder &builder,
                                     ExchangeType type) const {
  return builder.add(base, KernelPlan::getExchangeFullBarrier(type));
}

Value ExchangeHandle::getEmptyBarrier(BarrierBuilder &builder,
                                      ExchangeType type) const {
  return builder.add(base, KernelPlan::getExchangeEmptyBarrier(type));
}

void ExchangeHandle::waitUntilRead(RingBuilder &builder,
                                   ExchangeType type) const {
  Value last = builder.bitXor(parity, builder.i32(1));
  builder.make<MbarrierWaitOp>(getEmptyBarrier(builder, type), last,
                               /*cluster=*/true, builder.start.waitLimit);
}

/// reduce_scatter: send, wait, add, hand back.
static Results lowerReduceScatter(ReduceScatterOp op,
                                  Operands<ReduceScatterOp> operands,
                                  RingBuilder &builder) {
  RoleThreadOp thread = getThread(op);
  ExchangeType exchange = op.getExchange().getType();
  TypeAttr type = TypeAttr::get(exchange);
  int64_t ctas = exchange.getCtas(),
          slotBytes = KernelPlan::getShareBytes(exchange);
  ExchangeHandle handle(operands.getExchange());
  Value full = handle.getFullBarrier(builder, exchange);
  // What comes counts on this barrier, whichever is first.
  builder.ifThen(
      builder.bitAnd(thread.getLeader(), builder.equal(thread.getWarp(), 0)),
      [&](BarrierBuilder &leader) {
        leader.make<MbarrierExpectOp>(full, ctas * slotBytes, /*arrive=*/true);
      });
  handle.waitUntilRead(builder, exchange);
  Value slot = builder.add(handle.base,
                           builder.mul(builder.start.cluster.rank, slotBytes));
  builder.make<SendSharesOp>(operands.getFragment()[0], slot, full, type);
  builder.make<MbarrierWaitOp>(full, handle.parity, /*cluster=*/true,
                               builder.start.waitLimit);
  Value share =
      builder.make<AddSharesOp>(op.getShare().getType(), handle.base, type);
  // A lane of each warp for each CTA tells it. The other lanes have none: LLVM
  // must not compute its address for them.
  builder.syncWarp();
  Value empty = handle.getEmptyBarrier(builder, exchange);
  builder.ifThen(builder.below(thread.getLane(), ctas),
                 [&](BarrierBuilder &one) {
                   one.make<MbarrierArriveOp>(
                       one.make<MapToCtaOp>(
                           empty, one.make<KeepInLoopOp>(thread.getLane())),
                       /*remote=*/true);
                 });
  Value next = builder.bitXor(handle.parity, builder.i32(1));
  return {{share}, {handle.base, next}};
}

void mlir::fp8::addQueuePatterns(RingPatterns &patterns) {
  patterns.add(lowerQueue<StoreQueueOp>);
  patterns.add(lowerStore);
  patterns.add(lowerQueue<ExchangeOp>);
  patterns.add(lowerReduceScatter);
}
