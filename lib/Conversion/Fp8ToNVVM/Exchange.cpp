// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers the exchange: what CTAs that divide K send one another, and add up.
//
// A slot holds what one CTA sends, its rows' 16 bytes of each thread side by
// side: the thread that reads them is the one of that number.

#include "Lowering.h"

using namespace mlir;
using namespace mlir::fp8;

namespace {

/// exchange: where its slots begin, and the parity of the first lap.
struct LowerExchange : public KernelPattern<ExchangeOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(ExchangeOp op, Adaptor,
                      ConversionPatternRewriter &rewriter) const override {
    Instructions instructions(rewriter, op.getLoc());
    Value base = instructions.add(lowering.sharedMemory,
                                  getPlan<RingPlanAttr>(op).payloadOffset);
    rewriter.replaceOpWithMultiple(op, {{base, instructions.i32(0)}});
    return success();
  }
};

/// reduce_scatter: send, wait, add, hand back.
struct LowerReduceScatter : public KernelPattern<ReduceScatterOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(ReduceScatterOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override;
};

} // namespace

Value ExchangeHandle::getFullBarrier(Instructions &instructions,
                                     ExchangeType type) const {
  return instructions.add(base, KernelPlan::getExchangeFullBarrier(type));
}

Value ExchangeHandle::getEmptyBarrier(Instructions &instructions,
                                      ExchangeType type) const {
  return instructions.add(base, KernelPlan::getExchangeEmptyBarrier(type));
}

void ExchangeHandle::waitUntilRead(Instructions &instructions,
                                   ExchangeType type, int64_t limit) const {
  instructions.waitBarrier(getEmptyBarrier(instructions, type),
                           instructions.bitXor(parity, instructions.i32(1)),
                           limit, /*acquiresCluster=*/true);
}

/// The pairs of a fragment that lie in columns [first, first + count), swapped
/// in such rows, two at a time: those of one row, or column, and the eighth
/// after it.
static SmallVector<std::pair<Value, Value>>
getPairs(FragmentType type, ValueRange pairs, int64_t first, int64_t count) {
  SmallVector<std::pair<Value, Value>> result;
  SmallVector<PairOffset> offsets = getPairOffsets(type);
  for (size_t i = 0; i < offsets.size(); i += 2) {
    int64_t at = type.isSwapped() ? offsets[i].row : offsets[i].column;
    if (at >= first && at < first + count)
      result.push_back({pairs[i], pairs[i + 1]});
  }
  return result;
}

LogicalResult
LowerReduceScatter::lower(ReduceScatterOp op, Adaptor operands,
                          ConversionPatternRewriter &rewriter) const {
  Instructions instructions(rewriter, op.getLoc());
  const RoleValues &role = lowering.getRole(op);
  ExchangeType exchange = op.getExchange().getType();
  FragmentType fragment = exchange.getFragment();
  int64_t ctas = exchange.getCtas(), threads = 32 * fragment.getWarps(),
          slotBytes = KernelPlan::getShareBytes(exchange),
          extent = exchange.getShare().getShape()[exchange.getAxis()];
  constexpr int64_t kChunk = 16;
  ExchangeHandle handle(operands.getExchange());
  Value full = handle.getFullBarrier(instructions, exchange),
        empty = handle.getEmptyBarrier(instructions, exchange);
  Value mine = instructions.mul(
      instructions.add(instructions.mul(role.warp, 32), role.lane), kChunk);

  // What comes counts on this barrier, whichever is first.
  instructions.ifThen(
      instructions.bitAnd(role.leader, instructions.equal(role.warp, 0)),
      [&](Instructions &leader) {
        leader.arriveExpectBytes(full, ctas * slotBytes);
      });
  handle.waitUntilRead(instructions, exchange, lowering.waitLimit);
  Value slot = instructions.add(
      handle.base,
      instructions.add(instructions.mul(lowering.cluster.rank, slotBytes),
                       mine));
  for (int64_t cta = 0; cta < ctas; ++cta) {
    Value rank = instructions.i32(cta),
          remote = instructions.mapToCta(slot, rank),
          barrier = instructions.mapToCta(full, rank);
    for (auto [i, rows] : llvm::enumerate(getPairs(
             fragment, operands.getFragment(), cta * extent, extent))) {
      SmallVector<Value> values;
      for (Value pair : {rows.first, rows.second})
        for (int64_t element : {0, 1})
          values.push_back(instructions.extract(pair, element));
      instructions.storeRemote(
          instructions.add(remote, int64_t(i) * threads * kChunk), values,
          barrier);
    }
  }
  instructions.waitBarrier(full, handle.parity, lowering.waitLimit,
                           /*acquiresCluster=*/true);

  SmallVector<Value> sums;
  for (int64_t cta = 0; cta < ctas; ++cta) {
    Value address =
        instructions.add(handle.base, instructions.add(mine, cta * slotBytes));
    for (int64_t i = 0; i < slotBytes / (threads * kChunk); ++i) {
      SmallVector<Value> pairs = instructions.loadSharedPairs(
          instructions.add(address, i * threads * kChunk),
          rewriter.getF32Type(), /*count=*/4);
      for (int64_t j : {0, 1})
        if (cta == 0)
          sums.push_back(pairs[j]);
        else
          sums[2 * i + j] = instructions.addPair(sums[2 * i + j], pairs[j]);
    }
  }
  // A lane of each warp for each CTA tells it. The other lanes have none: LLVM
  // must not compute its address for them.
  instructions.syncWarp();
  instructions.ifThen(
      instructions.below(role.lane, ctas), [&](Instructions &one) {
        one.arriveRemote(one.mapToCta(empty, one.keepInLoop(role.lane)));
      });
  Value next = instructions.bitXor(handle.parity, instructions.i32(1));
  rewriter.replaceOpWithMultiple(op, {sums, {handle.base, next}});
  return success();
}

void mlir::fp8::populateExchangePatterns(const TypeConverter &converter,
                                         RewritePatternSet &patterns,
                                         const KernelLowering &lowering) {
  patterns.add<LowerExchange, LowerReduceScatter>(
      converter, patterns.getContext(), lowering);
}
