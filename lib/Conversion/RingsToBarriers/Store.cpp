// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers the store queue: an address, and the number of a slot.

#include "RingLowering.h"

using namespace mlir;
using namespace mlir::fp8;

namespace {

/// store_queue: where its tiles begin, and the slot to use next.
struct LowerStoreQueue : public RingPattern<StoreQueueOp> {
  using RingPattern::RingPattern;

  LogicalResult lower(StoreQueueOp op, Adaptor,
                      ConversionPatternRewriter &rewriter) const override {
    BarrierBuilder builder(rewriter, op.getLoc());
    Value base = builder.add(start.sharedMemory,
                             getPlan<RingPlanAttr>(op).payloadOffset);
    rewriter.replaceOpWithMultiple(op, {{base, builder.i32(0)}});
    return success();
  }
};

/// store: the same through the slots of the queue.
struct LowerStore : public RingPattern<StoreOp> {
  using RingPattern::RingPattern;

  LogicalResult lower(StoreOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    ValueRange queue = operands.getQueue();
    auto store = StoreAtOp::create(
        rewriter, op.getLoc(), rewriter.getI32Type(),
        operands.getFragment()[0], operands.getMap()[0],
        getSingles(operands.getCoordinates()), queue[0], queue[1],
        op.getRest() ? operands.getRest()[0] : Value(),
        TypeAttr::get(op.getQueue().getType()));
    StringRef plan = Fp8Dialect::kPlanAttrName;
    store->setAttr(plan, op->getAttr(plan));
    rewriter.replaceOpWithMultiple(op, {{queue[0], store.getNext()}});
    return success();
  }
};

} // namespace

void mlir::fp8::populateStorePatterns(const TypeConverter &converter,
                                      RewritePatternSet &patterns,
                                      const KernelStart &start) {
  patterns.add<LowerStoreQueue, LowerStore>(converter, patterns.getContext(),
                                            start);
}
