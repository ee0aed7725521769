// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The epilogue role of a GEMM: adds each accumulator, scaled, to the tile that
// it keeps in registers, and stores the tile after the last K block.
//
// Ends: the output ring's, that of the ring with scales, the store queue,
// those that the epilogue load role fills, the exchange if CTAs divide K, the
// work queue's if there is one.

#include "BScales.h"

using namespace mlir;
using namespace mlir::fp8;

namespace {

class EpilogueRole : public KernelBuilder {
public:
  explicit EpilogueRole(const KernelBuilder &base) : KernelBuilder(base) {}

  void build(ValueRange ends);

private:
  /// `count` K blocks whose A scales are in one slot, over the warp, the end of
  /// the ring of scales and the sums.
  Carried promoteGroup(ValueRange state, Value count,
                       BScales::ScalesOf bScalesOf);
  /// One K block, the `block`th of the stage with scales, over the warp and the
  /// sums.
  Carried promote(ValueRange state, Value input, Value block,
                  ValueRange bScales);
};

} // namespace

void EpilogueRole::build(ValueRange inits) {
  FragmentType fragmentType = schedule.getFragment();
  role("epilogue", schedule.getEpilogueWarps(), inits, [&](ValueRange ends) {
    Type warpType =
        EpilogueWarpType::get(builder.getContext(), getOutputRing(ends[0]));
    return scope<EpilogueWarpOp>(
        ends[0], warpType, SmallVector<Type>(ends.drop_front().getTypes()),
        [&](ValueRange warp) {
          SmallVector<Value> handles(ends);
          handles[0] = warp[0];
          return forEachTile(
              handles,
              [&](Value row, Value column, ValueRange carried) -> Carried {
                Value n = scaled(column, schedule.tileN);
                Value zero = ZeroOp::create(builder, loc, fragmentType);
                Carried results = BScales(*this, n).forEachGroup(
                    {carried[0], carried[1], zero},
                    [&](Value count, ValueRange state,
                        BScales::ScalesOf scalesOf) {
                      return promoteGroup(state, count, scalesOf);
                    });
                Value sums = results.pop_back_val();
                llvm::append_range(results, carried.drop_front(2));
                buildEpilogueTail(*this, sums, row, column,
                                  MutableArrayRef(results).drop_front(2));
                return results;
              });
        });
  });
}

KernelBuilder::Carried EpilogueRole::promoteGroup(ValueRange state, Value count,
                                                  BScales::ScalesOf bScalesOf) {
  // Scales come first: they are there long before the accumulators are, so that
  // the waits for those hide their loads.
  Type warp = state[0].getType(), fragment = state[2].getType();
  Carried results = stageScope<ConsumeOp>(
      state[1], {warp, fragment}, [&](ValueRange input) -> Carried {
        return forEach(constant(0), count, 1, {state[0], state[2]},
                       [&](Value block, ValueRange sums) {
                         return promote(sums, input[0], block,
                                        bScalesOf(block));
                       });
      });
  return {results[1], results[0], results[2]};
}

KernelBuilder::Carried EpilogueRole::promote(ValueRange state, Value input,
                                             Value block, ValueRange bScales) {
  Type fragment = state[1].getType();
  auto tile = [&](gemm::Operand operand) -> Value {
    return TileOp::create(builder, loc, input, schedule.getTileName(operand));
  };
  Value aScales = tile(gemm::Operand::AScale), bRow;
  if (schedule.problem.hasColumnScales())
    bRow = tile(gemm::Operand::BScale);
  return stageScope<PerKStageOp>(
      state[0], fragment, [&](ValueRange stages) -> Carried {
        Value partial = AccumulatorOp::create(builder, loc, stages[0]);
        return {PromoteOp::create(builder, loc, fragment, state[1], partial,
                                  aScales, block, bScales, bRow)};
      });
}

void mlir::fp8::buildEpilogueRole(const KernelBuilder &base, ValueRange ends) {
  EpilogueRole(base).build(ends);
}
