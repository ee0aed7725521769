// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The multiply role of a GEMM without tensor memory: its warpgroups multiply
// into registers, add each K block's product, scaled, to the tile that they
// keep there, and store the tile after the last.
//
// Ends: the input ring's, the store queue, those that the epilogue load role
// fills.

#include "BScales.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fp8;

namespace {

class MultiplyRole : public KernelBuilder {
public:
  explicit MultiplyRole(const KernelBuilder &base) : KernelBuilder(base) {}

  void build(ValueRange ends);

private:
  /// The K blocks of a slot, from the `first`th of their group on, over the end
  /// and the sums.
  Carried multiplyBlocks(ValueRange state, Value first,
                         BScales::ScalesOf bScalesOf);
};

} // namespace

void MultiplyRole::build(ValueRange inits) {
  role("multiply", plan.getEpilogueWarps(), inits, [&](ValueRange ends) {
    return forEachTile(
        ends, [&](Value row, Value column, ValueRange carried) -> Carried {
          Value m = scaled(row, plan.getCtaRows()),
                n = scaled(column, plan.tileN);
          Value zero = ZeroOp::create(builder, loc, plan.getFragment());
          Carried results = BScales(*this, n).forEachGroup(
              {carried[0], zero},
              [&](Value count, ValueRange state, BScales::ScalesOf bScalesOf) {
                return forEach(constant(0), count, plan.kGroup, state,
                               [&](Value first, ValueRange inner) {
                                 return multiplyBlocks(inner, first, bScalesOf);
                               });
              });
          Value sums = results.pop_back_val();
          llvm::append_range(results, carried.drop_front());
          buildEpilogueTail(*this, sums, place(m, n),
                            MutableArrayRef(results).drop_front());
          return results;
        });
  });
}

KernelBuilder::Carried
MultiplyRole::multiplyBlocks(ValueRange state, Value first,
                             BScales::ScalesOf bScalesOf) {
  FragmentType fragment = plan.getFragment();
  Type pendingType = PendingType::get(builder.getContext(), plan.getProduct());
  int64_t parts = fragment.getNumParts(), count = parts * plan.kGroup;
  SmallVector<SmallVector<Value>> bScales;
  for (int64_t i = 0; i < plan.kGroup; ++i)
    bScales.push_back(bScalesOf(
        i ? arith::AddIOp::create(builder, loc, first, constant(i)).getResult()
          : first));
  return stageScope<ConsumeOp>(
      state[0], fragment, [&](ValueRange stages) -> Carried {
        auto tile = [&](StringRef operand, int64_t product) -> Value {
          return TileOp::create(builder, loc, stages[0],
                                plan.getTileName(operand, product / parts));
        };
        // Parts of a block, one block after another.
        SmallVector<Value> aScales, bRows;
        auto start = [&](int64_t product) -> Value {
          Value a = tile("a", product), b = tile("b", product);
          aScales.push_back(tile("a_scale", product));
          bRows.push_back(plan.hasColumnScales() ? tile("b_scale", product)
                                                 : Value());
          return WarpgroupMmaOp::create(builder, loc, pendingType, a, b,
                                        /*accumulator=*/Value(),
                                        product % parts);
        };
        Value sums = state[1], pending = start(0), next;
        for (int64_t product = 0; product < count; ++product) {
          bool hasNext = product + 1 < count;
          if (hasNext && plan.holdsTwoProducts())
            next = start(product + 1);
          Value computed = WaitMmaOp::create(builder, loc, pending);
          sums = PromoteOp::create(builder, loc, fragment, sums, computed,
                                   aScales[product], /*block=*/Value(),
                                   bScales[product / parts], bRows[product],
                                   product % parts);
          if (hasNext && !plan.holdsTwoProducts())
            next = start(product + 1);
          pending = next;
        }
        return {sums};
      });
}

void fp8::buildMultiplyRole(const KernelBuilder &base, ValueRange ends) {
  MultiplyRole(base).build(ends);
}
