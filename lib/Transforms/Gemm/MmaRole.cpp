// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The MMA role of a GEMM: turns each input stage into a fresh accumulator.
//
// Ends: the output ring's, the input ring's, the work queue's if there is one.

#include "KernelBuilder.h"

using namespace mlir;
using namespace mlir::fp8;

namespace {

class MmaRole : public KernelBuilder {
public:
  explicit MmaRole(const KernelBuilder &base) : KernelBuilder(base) {}

  void build(ValueRange ends);

private:
  Carried buildLoop(ValueRange inits);
};

} // namespace

void MmaRole::build(ValueRange inits) {
  Type warpType =
      MmaWarpType::get(builder.getContext(), getOutputRing(inits[0]));
  auto forTile = [&](Value, Value, ValueRange carried) {
    if (schedule.ctaGroup == 1)
      return buildLoop(carried);
    return inLeadingCta(CtaGrouping::Pair, carried,
                        [&](ValueRange inner) { return buildLoop(inner); });
  };
  role("mma", 1, inits, [&](ValueRange ends) {
    SmallVector<Type> others(ends.drop_front().getTypes());
    return scope<MmaWarpOp>(ends[0], warpType, others, [&](ValueRange warp) {
      SmallVector<Value> handles(ends);
      handles[0] = warp[0];
      return forEachTile(handles, forTile);
    });
  });
}

KernelBuilder::Carried MmaRole::buildLoop(ValueRange inits) {
  return forEachBlock(inits, [&](Value, ValueRange inner) {
    return stageScope<PerKStageOp>(
        inner, {}, [&](ValueRange stages) -> Carried {
          Value accumulator = AccumulatorOp::create(builder, loc, stages[0]);
          auto tile = [&](gemm::Operand operand) -> Value {
            return TileOp::create(builder, loc, stages[1],
                                  schedule.getTileName(operand));
          };
          Value a = tile(gemm::Operand::A), b = tile(gemm::Operand::B);
          MmaOp::create(builder, loc, accumulator, a, b,
                        /*accumulate=*/Value());
          return {};
        });
  });
}

void mlir::fp8::buildMmaRole(const KernelBuilder &base, ValueRange ends) {
  MmaRole(base).build(ends);
}
