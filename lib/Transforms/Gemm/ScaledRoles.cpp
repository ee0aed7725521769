// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The roles between the rings where tensor cores apply the scales: the MMA role
// adds up all K blocks of a tile in one accumulator, and the epilogue role
// reads it and stores the tile.
//
// Ends of the MMA role: the output ring's, the input ring's, the work queue's
// if there is one. Of the epilogue role: the output ring's, the store queue,
// those that the epilogue load role fills, the exchange if CTAs divide K, the
// work queue's if there is one.

#include "KernelBuilder.h"
#include "ScaledSchedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fp8;

namespace {

class ScaledRoles : public KernelBuilder {
public:
  explicit ScaledRoles(const KernelBuilder &base) : KernelBuilder(base) {}

  void buildMma(ValueRange ends);
  void buildEpilogue(ValueRange ends);

private:
  /// All K blocks of the tile in a row and a column of the grid, over the ends.
  Carried multiplyTile(Value row, Value column, ValueRange ends);
  /// A K block, added to the accumulator unless it is the first. In row `from`
  /// of their first tile begin the scales of the MMA's columns.
  void multiplyBlock(Value accumulator, Value stage, Value block, Value from);
  /// The sums of a tile: zeros of an empty K.
  Value readSums(Value stage);
  Value isNot(Value value, int64_t other) {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, value,
                                 constant(other));
  }
};

} // namespace

void ScaledRoles::buildMma(ValueRange inits) {
  mmaRole(inits, [&](Value row, Value column, ValueRange carried) {
    return multiplyTile(row, column, carried);
  });
}

KernelBuilder::Carried ScaledRoles::multiplyTile(Value row, Value column,
                                                 ValueRange ends) {
  Value from = schedule.swapsOperands()
                   ? getFirstScales(gemm::Operand::AScale, row).second
                   : getFirstScales(gemm::Operand::BScale, column).second;
  Type input = ends[1].getType();
  Carried results =
      stageScope<ProduceOp>(ends[0], input, [&](ValueRange stages) -> Carried {
        Value accumulator = AccumulatorOp::create(builder, loc, stages[0]);
        return forEachBlock(ends[1], [&](Value block, ValueRange inner) {
          return stageScope<ConsumeOp>(
              inner, {}, [&](ValueRange slot) -> Carried {
                multiplyBlock(accumulator, slot[0], block, from);
                return {};
              });
        });
      });
  return results;
}

void ScaledRoles::multiplyBlock(Value accumulator, Value stage, Value block,
                                Value from) {
  auto tile = [&](StringRef name) -> Value {
    return TileOp::create(builder, loc, stage, name);
  };
  Value a = tile(schedule.getTileName(gemm::Operand::A)),
        b = tile(schedule.getTileName(gemm::Operand::B));
  // Those of the MMA's rows come first.
  gemm::Operand operands[] = {gemm::Operand::AScale, gemm::Operand::BScale};
  if (schedule.swapsOperands())
    std::swap(operands[0], operands[1]);
  SmallVector<Value> scales;
  for (gemm::Operand operand : operands)
    for (int64_t i = 0; i < schedule.countScaleTiles(operand); ++i)
      scales.push_back(tile(schedule.getNameOfScales(operand, i)));
  MmaOp::create(builder, loc, accumulator, a, b, scales, from,
                /*slot=*/Value(), isNot(block, 0));
}

Value ScaledRoles::readSums(Value stage) {
  FragmentType fragment = schedule.getFragment();
  Value accumulator = AccumulatorOp::create(builder, loc, stage);
  return ifThenElse(
      isNot(getNumBlocks(), 0),
      [&]() -> Carried {
        return {ReadOp::create(builder, loc, fragment, accumulator)};
      },
      [&]() -> Carried { return {ZeroOp::create(builder, loc, fragment)}; })[0];
}

void ScaledRoles::buildEpilogue(ValueRange inits) {
  role("epilogue", schedule.getEpilogueWarps(), inits, [&](ValueRange ends) {
    Type warpType =
        EpilogueWarpType::get(builder.getContext(), getOutputRing(ends[0]));
    auto forTile = [&](Value row, Value column, ValueRange carried) -> Carried {
      Carried results = stageScope<ConsumeOp>(
          carried[0], schedule.getFragment(),
          [&](ValueRange stages) -> Carried { return {readSums(stages[0])}; });
      Value sums = results.pop_back_val();
      llvm::append_range(results, carried.drop_front());
      buildEpilogueTail(*this, sums, row, column,
                        MutableArrayRef(results).drop_front());
      return results;
    };
    return scope<EpilogueWarpOp>(
        ends[0], warpType, SmallVector<Type>(ends.drop_front().getTypes()),
        [&](ValueRange warp) {
          SmallVector<Value> handles(ends);
          handles[0] = warp[0];
          return forEachTile(handles, forTile);
        });
  });
}

void ScaledSchedule::buildMma(const KernelBuilder &base,
                              ValueRange ends) const {
  ScaledRoles(base).buildMma(ends);
}

void ScaledSchedule::buildEpilogue(const KernelBuilder &base,
                                   ValueRange ends) const {
  ScaledRoles(base).buildEpilogue(ends);
}
