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

/// send_shares: to each CTA, by stores whose bytes count there.
static void sendShares(SendSharesOp op, Operands<SendSharesOp> operands,
                       Instructions &to) {
  auto exchange = cast<ExchangeType>(op.getExchange());
  FragmentType fragment = exchange.getFragment();
  int64_t threads = 32 * fragment.getWarps(),
          extent = exchange.getShare().getShape()[exchange.getAxis()];
  Value slot = to.add(operands.getSlot()[0], getThreadOffset(op, to));
  for (int64_t cta = 0; cta < exchange.getCtas(); ++cta) {
    Value rank = to.i32(cta), remote = to.mapToCta(slot, rank),
          barrier = to.mapToCta(operands.getBarrier()[0], rank);
    for (auto [i, rows] : llvm::enumerate(getPairs(
             fragment, operands.getFragment(), cta * extent, extent))) {
      SmallVector<Value> values;
      for (Value pair : {rows.first, rows.second})
        for (int64_t element : {0, 1})
          values.push_back(to.extract(pair, element));
      to.storeRemote(to.add(remote, int64_t(i) * threads * kChunk), values,
                     barrier);
    }
  }
}

/// add_shares: load, add.
static SmallVector<Value>
addShares(AddSharesOp op, Operands<AddSharesOp> operands, Instructions &to) {
  auto exchange = cast<ExchangeType>(op.getExchange());
  int64_t threads = 32 * exchange.getFragment().getWarps(),
          slotBytes = KernelPlan::getShareBytes(exchange);
  Type element = Float32Type::get(op.getContext());
  Value mine = getThreadOffset(op, to);
  SmallVector<Value> sums;
  for (int64_t cta = 0; cta < exchange.getCtas(); ++cta) {
    Value address =
        to.add(operands.getSlots()[0], to.add(mine, cta * slotBytes));
    for (int64_t i = 0; i < slotBytes / (threads * kChunk); ++i) {
      SmallVector<Value> pairs = to.loadSharedPairs(
          to.add(address, i * threads * kChunk), element, /*count=*/4);
      for (int64_t j : {0, 1})
        if (cta == 0)
          sums.push_back(pairs[j]);
        else
          sums[2 * i + j] = to.addPair(sums[2 * i + j], pairs[j]);
    }
  }
  return sums;
}

void mlir::fp8::populateExchangePatterns(const TypeConverter &converter,
                                         RewritePatternSet &all) {
  SpellingPatterns patterns{converter, all};
  patterns.add<SendSharesOp>(sendShares);
  patterns.add<AddSharesOp>(addShares);
}
