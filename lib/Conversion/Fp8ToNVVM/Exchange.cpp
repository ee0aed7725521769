// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers the shares that CTAs that divide K send one another, and add up.
//
// A slot holds what one CTA sends, its rows' 16 bytes of each thread side by
// side: the thread that reads them is the one of that number.

#include "Lowering.h"
#include "fp8/Analysis/KernelPlan.h"
#include "fp8/IR/RegisterLayout.h"

using namespace mlir;
using namespace mlir::fp8;

/// What a thread sends at once, in bytes.
static constexpr int64_t kChunk = 16;

/// The pairs of a fragment that lie in columns [first, first + count), swapped
/// in such rows, two at a time: those of one row, or column, and the eighth
/// after it.
static SmallVector<std::pair<Value, Value>>
getPairs(FragmentType type, ValueRange pairs, int64_t first, int64_t count) {
  SmallVector<std::pair<Value, Value>> result;
  RegisterLayout layout(type);
  for (size_t i = 0; i < pairs.size(); i += 2) {
    RegisterLayout::Place place = layout.getOffset(2 * i);
    int64_t at = type.isSwapped() ? place.row : place.column;
    if (at >= first && at < first + count)
      result.push_back({pairs[i], pairs[i + 1]});
  }
  return result;
}

/// The offset of this thread's chunks from those of the first thread.
static Value getThreadOffset(Operation *op, Instructions &instructions) {
  RoleValues role = getRole(op);
  return instructions.mul(
      instructions.add(instructions.mul(role.warp, 32), role.lane), kChunk);
}

namespace {

/// send_shares: to each CTA, by stores whose bytes count there.
struct LowerSendShares : public KernelPattern<SendSharesOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(SendSharesOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    Instructions instructions(rewriter, op.getLoc());
    auto exchange = cast<ExchangeType>(op.getExchange());
    FragmentType fragment = exchange.getFragment();
    int64_t threads = 32 * fragment.getWarps(),
            extent = exchange.getShare().getShape()[exchange.getAxis()];
    Value slot = instructions.add(operands.getSlot()[0],
                                  getThreadOffset(op, instructions));
    for (int64_t cta = 0; cta < exchange.getCtas(); ++cta) {
      Value rank = instructions.i32(cta),
            remote = instructions.mapToCta(slot, rank),
            barrier = instructions.mapToCta(operands.getBarrier()[0], rank);
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
    rewriter.eraseOp(op);
    return success();
  }
};

/// add_shares: load, add.
struct LowerAddShares : public KernelPattern<AddSharesOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(AddSharesOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    Instructions instructions(rewriter, op.getLoc());
    auto exchange = cast<ExchangeType>(op.getExchange());
    int64_t threads = 32 * exchange.getFragment().getWarps(),
            slotBytes = KernelPlan::getShareBytes(exchange);
    Value mine = getThreadOffset(op, instructions);
    SmallVector<Value> sums;
    for (int64_t cta = 0; cta < exchange.getCtas(); ++cta) {
      Value address = instructions.add(
          operands.getSlots()[0], instructions.add(mine, cta * slotBytes));
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
    rewriter.replaceOpWithMultiple(op, {sums});
    return success();
  }
};

} // namespace

void mlir::fp8::populateExchangePatterns(const TypeConverter &converter,
                                         RewritePatternSet &patterns) {
  patterns.add<LowerSendShares, LowerAddShares>(converter,
                                                patterns.getContext());
}
