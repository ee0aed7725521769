// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers the exchange: what CTAs that divide K send one another, and add up.

#include "RingLowering.h"

using namespace mlir;
using namespace mlir::fp8;

namespace {

/// exchange: where its slots begin, and the parity of the first lap.
struct LowerExchange : public RingPattern<ExchangeOp> {
  using RingPattern::RingPattern;

  LogicalResult lower(ExchangeOp op, Adaptor,
                      ConversionPatternRewriter &rewriter) const override {
    BarrierBuilder builder(rewriter, op.getLoc());
    Value base = builder.add(start.sharedMemory,
                                  getPlan<RingPlanAttr>(op).payloadOffset);
    rewriter.replaceOpWithMultiple(op, {{base, builder.i32(0)}});
    return success();
  }
};

/// reduce_scatter: send, wait, add, hand back.
struct LowerReduceScatter : public RingPattern<ReduceScatterOp> {
  using RingPattern::RingPattern;

  LogicalResult lower(ReduceScatterOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    BarrierBuilder builder(rewriter, op.getLoc());
    RoleThreadOp thread = getThread(op);
    ExchangeType exchange = op.getExchange().getType();
    int64_t ctas = exchange.getCtas(),
            slotBytes = KernelPlan::getShareBytes(exchange);
    ExchangeHandle handle(operands.getExchange());
    Value full = handle.getFullBarrier(builder, exchange);
    // What comes counts on this barrier, whichever is first.
    builder.ifThen(
        builder.bitAnd(thread.getLeader(), builder.equal(thread.getWarp(), 0)),
        [&](BarrierBuilder &leader) {
          leader.make<MbarrierExpectOp>(full, ctas * slotBytes,
                                        /*arrive=*/true);
        });
    handle.waitUntilRead(builder, exchange, start.waitLimit);
    Value slot =
        builder.add(handle.base, builder.mul(start.cluster.rank, slotBytes));
    builder.make<SendSharesOp>(operands.getFragment()[0], slot, full,
                               TypeAttr::get(exchange));
    builder.make<MbarrierWaitOp>(full, handle.parity, /*cluster=*/true,
                                 start.waitLimit);
    Value share = builder.make<AddSharesOp>(op.getShare().getType(),
                                            handle.base, TypeAttr::get(exchange));
    // A lane of each warp for each CTA tells it. The other lanes have none:
    // LLVM must not compute its address for them.
    builder.syncWarp();
    Value empty = handle.getEmptyBarrier(builder, exchange);
    builder.ifThen(
        builder.below(thread.getLane(), ctas), [&](BarrierBuilder &one) {
          one.make<MbarrierArriveOp>(
              one.make<MapToCtaOp>(empty,
                                   one.make<KeepInLoopOp>(thread.getLane())),
              /*remote=*/true);
        });
    Value next = builder.bitXor(handle.parity, builder.i32(1));
    SmallVector<SmallVector<Value>> results{{share}, {handle.base, next}};
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};

} // namespace

Value ExchangeHandle::getFullBarrier(BarrierBuilder &builder,
                                     ExchangeType type) const {
  return builder.add(base, KernelPlan::getExchangeFullBarrier(type));
}

Value ExchangeHandle::getEmptyBarrier(BarrierBuilder &builder,
                                      ExchangeType type) const {
  return builder.add(base, KernelPlan::getExchangeEmptyBarrier(type));
}

void ExchangeHandle::waitUntilRead(BarrierBuilder &builder,
                                   ExchangeType type, int64_t limit) const {
  Value last = builder.bitXor(parity, builder.i32(1));
  builder.make<MbarrierWaitOp>(getEmptyBarrier(builder, type), last,
                               /*cluster=*/true, limit);
}

void mlir::fp8::populateExchangePatterns(const TypeConverter &converter,
                                         RewritePatternSet &patterns,
                                         const KernelStart &start) {
  patterns.add<LowerExchange, LowerReduceScatter>(
      converter, patterns.getContext(), start);
}
