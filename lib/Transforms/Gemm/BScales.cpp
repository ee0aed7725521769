// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The B scales of the columns of an output tile, by K block.

#include "BScales.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fp8;

BScales::BScales(const KernelBuilder &base, Value firstColumn)
    : KernelBuilder(base), firstColumn(firstColumn) {
  if (schedule.problem.hasColumnScales())
    return;
  lane = gpu::LaneIdOp::create(builder, loc, nullptr);
  std::tie(firstBlock, last) = getBlocks();
  if (schedule.cluster.k > 1)
    last = arith::AddIOp::create(builder, loc, last, firstBlock);
  last = arith::SubIOp::create(builder, loc, last, constant(1));
  if (schedule.getNumBScales() == 1)
    return;
  Value within = arith::RemUIOp::create(
      builder, loc, firstColumn, constant(schedule.problem.scaling.bBlock));
  split = arith::SubIOp::create(
      builder, loc, constant(schedule.problem.scaling.bBlock), within);
}

KernelBuilder::Carried BScales::forEachGroup(ValueRange inits, GroupBody body) {
  if (schedule.problem.hasColumnScales())
    return KernelBuilder::forEachGroup(
        inits, [&](Value, Value count, ValueRange state) {
          return body(count, state, [](Value) { return SmallVector<Value>(); });
        });
  // A lane loads the scales of one K block, a group ahead; each block's are
  // then a shuffle away, where a load would take four instructions of
  // addressing.
  SmallVector<Value> carried(inits);
  llvm::append_range(carried, loadFirstGroup());
  Carried results = KernelBuilder::forEachGroup(
      carried, [&](Value first, Value count, ValueRange state) {
        SmallVector<Value> next =
            loadGroup(arith::AddIOp::create(builder, loc, first, count));
        ValueRange ofLanes = state.drop_front(inits.size());
        Carried results =
            body(count, state.take_front(inits.size()),
                 [&](Value block) { return get(ofLanes, block); });
        llvm::append_range(results, next);
        return results;
      });
  results.truncate(inits.size());
  return results;
}

SmallVector<Value> BScales::get(ValueRange ofLanes, Value block) {
  SmallVector<Value> scales;
  for (Value scale : ofLanes)
    scales.push_back(shuffle(scale, block));
  return spread(scales);
}

SmallVector<Value> BScales::loadGroup(Value first) {
  if (schedule.cluster.k > 1)
    first = arith::AddIOp::create(builder, loc, first, firstBlock);
  Value block = arith::AddIOp::create(builder, loc, first, lane);
  SmallVector<Value> scales =
      load(arith::MinUIOp::create(builder, loc, block, last));
  if (schedule.getStep() == 1)
    return scales;
  // Blocks past the last are computed, of zeros: an infinite scale would make
  // them NaN.
  Value exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule,
                                       block, last);
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
  for (Value &scale : scales)
    scale = arith::SelectOp::create(builder, loc, exists, scale, zero);
  return scales;
}

SmallVector<Value> BScales::loadFirstGroup() {
  Value hasBlocks = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::ne, getNumBlocks(), constant(0));
  auto branch = [&](auto values) {
    return [=, this](OpBuilder &inner, Location) {
      OpBuilder::InsertionGuard guard(builder);
      builder.restoreInsertionPoint(inner.saveInsertionPoint());
      scf::YieldOp::create(builder, loc, values());
    };
  };
  return SmallVector<Value>(
      scf::IfOp::create(
          builder, loc, hasBlocks,
          branch([&] { return loadGroup(constant(0)); }), branch([&] {
            Value none = arith::ConstantOp::create(builder, loc,
                                                   builder.getF32FloatAttr(0));
            return SmallVector<Value>(schedule.getNumBScales(), none);
          }))
          .getResults());
}

SmallVector<Value> BScales::getRows() {
  Value row = arith::DivUIOp::create(builder, loc, firstColumn,
                                     constant(schedule.problem.scaling.bBlock));
  // Blocks past the last row belong to columns that are not stored, all but the
  // first of a tile or all of a tile that fills a cluster up: read the last row
  // instead.
  auto clamp = [&](Value at) -> Value {
    Value rows =
        memref::DimOp::create(builder, loc, argument(gemm::Operand::BScale),
                              constant(schedule.problem.getMatrixAxis()));
    Value last = arith::SubIOp::create(builder, loc, rows, constant(1));
    return arith::MinUIOp::create(builder, loc, at, last);
  };
  SmallVector<Value> rows{schedule.cluster.n > 1 ? clamp(row) : row};
  for (int64_t i = 1; i < schedule.getNumBScales(); ++i)
    rows.push_back(
        clamp(arith::AddIOp::create(builder, loc, row, constant(i))));
  return rows;
}

SmallVector<Value> BScales::load(Value block) {
  SmallVector<Value> scales;
  for (Value row : getRows()) {
    Value scale = memref::LoadOp::create(
        builder, loc, argument(gemm::Operand::BScale), place(row, block));
    if (!scale.getType().isF32())
      scale = arith::ExtFOp::create(builder, loc, builder.getF32Type(), scale);
    scales.push_back(scale);
  }
  return scales;
}

SmallVector<Value> BScales::spread(ValueRange scales) {
  if (scales.size() < 2)
    return scales;
  // A part lies between two places where a block can end, in one of two blocks.
  int64_t part = schedule.getScalePart();
  SmallVector<Value> result;
  for (int64_t column = 0; column < schedule.tileN; column += part) {
    int64_t block = column / schedule.problem.scaling.bBlock,
            within = column % schedule.problem.scaling.bBlock;
    Value scale = scales[block];
    if (within) {
      Value isFirst = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::ugt, split, constant(within));
      scale = arith::SelectOp::create(builder, loc, isFirst, scale,
                                      scales[block + 1]);
    }
    result.push_back(scale);
  }
  return result;
}

Value BScales::shuffle(Value value, Value lane) {
  Type i32 = builder.getI32Type();
  Value from = arith::IndexCastUIOp::create(builder, loc, i32, lane);
  Value width = arith::ConstantOp::create(builder, loc,
                                          builder.getI32IntegerAttr(kLanes));
  return gpu::ShuffleOp::create(builder, loc, value, from, width,
                                gpu::ShuffleMode::IDX)
      .getShuffleResult();
}
