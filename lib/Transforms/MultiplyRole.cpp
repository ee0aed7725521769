// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The multiply role of a GEMM without tensor memory: its warpgroups multiply
// into registers, add each K block's product, scaled, to the tile that they
// keep there, and store the tile after the last.
//
// Ends: the input ring's, the store queue, those that the epilogue load role
// fills.

#include "BScales.h"

using namespace mlir;
using namespace mlir::fp8;

namespace {

class MultiplyRole : public KernelBuilder {
public:
  explicit MultiplyRole(const KernelBuilder &base) : KernelBuilder(base) {}

  void build(ValueRange ends);

private:
  /// One K block, over the end and the sums.
  Carried multiplyBlock(ValueRange state, ValueRange bScales);
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
                return forEach(constant(0), count, 1, state,
                               [&](Value block, ValueRange inner) {
                                 return multiplyBlock(inner, bScalesOf(block));
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

KernelBuilder::Carried MultiplyRole::multiplyBlock(ValueRange state,
                                                   ValueRange bScales) {
  FragmentType fragment = plan.getFragment();
  return stageScope<ConsumeOp>(
      state[0], fragment, [&](ValueRange stages) -> Carried {
        auto tile = [&](StringRef name) -> Value {
          return TileOp::create(builder, loc, stages[0], name);
        };
        Value a = tile("a"), b = tile("b"), aScales = tile("a_scale"), bRow;
        if (plan.hasColumnScales())
          bRow = tile("b_scale");
        Value sums = state[1];
        for (int64_t part = 0; part < fragment.getNumParts(); ++part) {
          Value pending = WarpgroupMmaOp::create(
              builder, loc,
              PendingType::get(builder.getContext(), plan.getProduct()), a, b,
              /*accumulator=*/Value(), part);
          Value product = WaitMmaOp::create(builder, loc, pending);
          sums =
              PromoteOp::create(builder, loc, fragment, sums, product, aScales,
                                /*block=*/Value(), bScales, bRow, part);
        }
        return {sums};
      });
}

void fp8::buildMultiplyRole(const KernelBuilder &base, ValueRange ends) {
  MultiplyRole(base).build(ends);
}
