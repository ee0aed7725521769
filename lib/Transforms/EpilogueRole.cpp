// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The epilogue role of a GEMM: adds each accumulator, scaled, to the tile that
// it keeps in registers, and stores the tile after the last K block.
//
// Ends: the output ring's, that of the ring with scales, the store queue,
// those that the epilogue load role fills, the work queue's if there is one.

#include "KernelBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <numeric>

using namespace mlir;
using namespace mlir::fp8;

namespace {

class EpilogueRole : public KernelBuilder {
public:
  explicit EpilogueRole(const KernelBuilder &base) : KernelBuilder(base) {}

  void build(ValueRange ends);

private:
  static constexpr int64_t kLanes = 32;

  /// The K loop of the epilogue over its warp, its end of the ring of A's
  /// scales, and the sums.
  Carried promoteBlocks(ValueRange inits, Value firstColumn, Value split);
  /// `count` K blocks whose scales are in one slot. The state is that of the
  /// loop and the B scales, those of a block in each lane.
  Carried promoteGroup(ValueRange state, Value count, Value split);
  /// One K block, the `block`th of the stage with scales, over the warp and the
  /// sums.
  Carried promote(ValueRange state, Value input, Value block,
                  ValueRange bScales);
  /// The B scales of a block as scales of equal parts of the columns.
  SmallVector<Value> spread(ValueRange scales, Value split);
  /// The B scales of K block `block` that the tile can meet.
  SmallVector<Value> loadBScales(Value firstColumn, Value block);
  /// The column at which the second of them begins.
  Value getSplit(Value firstColumn);
  /// What `load` loads if there are K blocks, else zeros.
  SmallVector<Value> loadFirst(function_ref<SmallVector<Value>()> load);
  /// The value that another lane of the warp has.
  Value shuffle(Value value, Value lane);
};

} // namespace

void EpilogueRole::build(ValueRange inits) {
  FragmentType fragmentType = plan.getFragment();
  role("epilogue", plan.getEpilogueWarps(), inits, [&](ValueRange ends) {
    Type warpType =
        EpilogueWarpType::get(builder.getContext(), plan.getAccumulatorRing());
    return scope<EpilogueWarpOp>(
        ends[0], warpType, SmallVector<Type>(ends.drop_front().getTypes()),
        [&](ValueRange warp) {
          SmallVector<Value> handles(ends);
          handles[0] = warp[0];
          return forEachTile(
              handles,
              [&](Value row, Value column, ValueRange carried) -> Carried {
                Value m = scaled(row, plan.getCtaRows()),
                      n = scaled(column, plan.tileN);
                Value split = getSplit(n);
                Value zero = ZeroOp::create(builder, loc, fragmentType);
                Carried inner =
                    promoteBlocks({carried[0], carried[1], zero}, n, split);
                SmallVector<Value> addends(carried.drop_front(3));
                Value result = buildEpilogueTail(*this, inner[2], addends);
                Value next = StoreOp::create(
                    builder, loc, carried[2].getType(), result,
                    argument(GemmParameter::DMap), carried[2], place(m, n));
                Carried ends{inner[0], inner[1], next};
                llvm::append_range(ends, addends);
                return ends;
              });
        });
  });
}

KernelBuilder::Carried
EpilogueRole::promoteBlocks(ValueRange inits, Value firstColumn, Value split) {
  if (plan.hasColumnScales())
    return forEachGroup(inits, [&](Value, Value count, ValueRange state) {
      return promoteGroup(state, count, split);
    });
  // A lane loads the B scales of one K block, a group ahead; each block's are
  // then a shuffle away, where a load would take four instructions of
  // addressing.
  Value lane = gpu::LaneIdOp::create(builder, loc, nullptr);
  Value last = arith::SubIOp::create(
      builder, loc, argument(GemmParameter::Blocks), constant(1));
  auto loadGroup = [&](Value first) {
    Value block = arith::AddIOp::create(builder, loc, first, lane);
    return loadBScales(firstColumn,
                       arith::MinUIOp::create(builder, loc, block, last));
  };
  SmallVector<Value> carried(inits);
  llvm::append_range(carried,
                     loadFirst([&] { return loadGroup(constant(0)); }));
  Carried results =
      forEachGroup(carried, [&](Value first, Value count, ValueRange state) {
        SmallVector<Value> next =
            loadGroup(arith::AddIOp::create(builder, loc, first, count));
        Carried sums = promoteGroup(state, count, split);
        llvm::append_range(sums, next);
        return sums;
      });
  results.truncate(inits.size());
  return results;
}

KernelBuilder::Carried EpilogueRole::promoteGroup(ValueRange state, Value count,
                                                  Value split) {
  // Scales come first: they are there long before the accumulators are, so that
  // the waits for those hide their loads.
  Type warp = state[0].getType(), fragment = state[2].getType();
  Carried results = stageScope<ConsumeOp>(
      state[1], {warp, fragment}, [&](ValueRange input) -> Carried {
        return forEach(constant(0), count, 1, {state[0], state[2]},
                       [&](Value block, ValueRange sums) {
                         SmallVector<Value> scales;
                         for (Value scale : state.drop_front(3))
                           scales.push_back(shuffle(scale, block));
                         return promote(sums, input[0], block,
                                        spread(scales, split));
                       });
      });
  return {results[1], results[0], results[2]};
}

Value EpilogueRole::shuffle(Value value, Value lane) {
  Type i32 = builder.getI32Type();
  Value from = arith::IndexCastUIOp::create(builder, loc, i32, lane);
  Value width = arith::ConstantOp::create(builder, loc,
                                          builder.getI32IntegerAttr(kLanes));
  return gpu::ShuffleOp::create(builder, loc, value, from, width,
                                gpu::ShuffleMode::IDX)
      .getShuffleResult();
}

SmallVector<Value>
EpilogueRole::loadFirst(function_ref<SmallVector<Value>()> load) {
  Value hasBlocks =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                            argument(GemmParameter::Blocks), constant(0));
  auto branch = [&](auto values) {
    return [=, this](OpBuilder &inner, Location) {
      OpBuilder::InsertionGuard guard(builder);
      builder.restoreInsertionPoint(inner.saveInsertionPoint());
      scf::YieldOp::create(builder, loc, values());
    };
  };
  return SmallVector<Value>(
      scf::IfOp::create(builder, loc, hasBlocks, branch(load), branch([&] {
                          Value none = arith::ConstantOp::create(
                              builder, loc, builder.getF32FloatAttr(0));
                          return SmallVector<Value>(plan.getNumBScales(), none);
                        }))
          .getResults());
}

SmallVector<Value> EpilogueRole::spread(ValueRange scales, Value split) {
  if (scales.size() < 2)
    return scales;
  // A part lies between two places where a block can end, in one of two blocks.
  int64_t part = std::gcd(plan.tileN, plan.bBlock);
  SmallVector<Value> result;
  for (int64_t column = 0; column < plan.tileN; column += part) {
    int64_t block = column / plan.bBlock, within = column % plan.bBlock;
    Value scale = scales[block];
    if (within) {
      Value isFirst = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::ult, constant(within), split);
      scale = arith::SelectOp::create(builder, loc, isFirst, scale,
                                      scales[block + 1]);
    }
    result.push_back(scale);
  }
  return result;
}

KernelBuilder::Carried EpilogueRole::promote(ValueRange state, Value input,
                                             Value block, ValueRange bScales) {
  Type fragment = state[1].getType();
  Value aScales = TileOp::create(builder, loc, input, "a_scale"), bRow;
  if (plan.hasColumnScales())
    bRow = TileOp::create(builder, loc, input, "b_scale");
  return stageScope<PerKStageOp>(
      state[0], fragment, [&](ValueRange stages) -> Carried {
        Value partial = AccumulatorOp::create(builder, loc, stages[0]);
        return {PromoteOp::create(builder, loc, fragment, state[1], partial,
                                  aScales, block, bScales, bRow)};
      });
}

Value EpilogueRole::getSplit(Value firstColumn) {
  if (plan.hasColumnScales() || plan.getNumBScales() == 1)
    return {};
  Value within =
      arith::RemUIOp::create(builder, loc, firstColumn, constant(plan.bBlock));
  return arith::SubIOp::create(builder, loc, constant(plan.bBlock), within);
}

SmallVector<Value> EpilogueRole::loadBScales(Value firstColumn, Value block) {
  Value row =
      arith::DivUIOp::create(builder, loc, firstColumn, constant(plan.bBlock));
  // Blocks past the last row belong to columns that are not stored, all but the
  // first of a tile or all of a tile that fills a cluster up: read the last row
  // instead.
  auto load = [&](Value at, bool mayExceed) -> Value {
    if (mayExceed) {
      Value rows =
          memref::DimOp::create(builder, loc, argument(GemmParameter::BScale),
                                constant(plan.getMatrixAxis()));
      Value last = arith::SubIOp::create(builder, loc, rows, constant(1));
      at = arith::MinUIOp::create(builder, loc, at, last);
    }
    Value scale = memref::LoadOp::create(
        builder, loc, argument(GemmParameter::BScale), place(at, block));
    if (scale.getType().isF32())
      return scale;
    return arith::ExtFOp::create(builder, loc, builder.getF32Type(), scale);
  };
  SmallVector<Value> scales{load(row, plan.cluster.n > 1)};
  for (int64_t i = 1; i < plan.getNumBScales(); ++i)
    scales.push_back(
        load(arith::AddIOp::create(builder, loc, row, constant(i)), true));
  return scales;
}

void fp8::buildEpilogueRole(const KernelBuilder &base, ValueRange ends) {
  EpilogueRole(base).build(ends);
}
