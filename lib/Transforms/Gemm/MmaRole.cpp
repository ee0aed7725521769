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
  mmaRole(inits,
          [&](Value, Value, ValueRange carried) { return buildLoop(carried); });
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
