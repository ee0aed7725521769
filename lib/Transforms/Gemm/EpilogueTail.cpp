// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the epilogue of a GEMM stores of a tile's sums, once CTAs that divide K
// have added theirs up:
// d_scale * f(sum + bias + beta * C), as far as the op has it.

#include "KernelBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::fp8;

namespace {

class EpilogueTail : public KernelBuilder {
public:
  explicit EpilogueTail(const KernelBuilder &base) : KernelBuilder(base) {}

  void build(Value sums, Value row, Value column, MutableArrayRef<Value> ends);

private:
  Value addBias(Value sums, Value &end);
  Value addResidual(Value sums, Value beta, Value &end);
  /// The function and the output scale, in one pass over the elements.
  Value apply(Value sums, Value scale);
};

} // namespace

void EpilogueTail::build(Value sums, Value row, Value column,
                         MutableArrayRef<Value> ends) {
  if (schedule.cluster.k > 1) {
    auto reduce = ReduceScatterOp::create(builder, loc, sums, ends.back());
    sums = reduce.getShare();
    ends.back() = reduce.getNext();
    ends = ends.drop_back();
  }
  Value first = getTileRow(row);
  auto [m, n] = getStoredPlace(first, column);
  Value map = getMapOfTile(gemm::Operand::D, first);
  // Loaded here, for each tile, rather than kept in registers beside the sums
  // through the loop over K.
  Value beta = loadNumber(gemm::Operand::Beta),
        scale = loadNumber(gemm::Operand::DScale);
  if (schedule.problem.has(gemm::Operand::Bias))
    sums = addBias(sums, ends[1]);
  if (schedule.problem.has(gemm::Operand::C))
    sums = addResidual(sums, beta, ends.back());
  if (schedule.problem.function || scale)
    sums = apply(sums, scale);
  Value &queue = ends.front();
  queue = StoreOp::create(
      builder, loc, queue.getType(), sums, map, queue, place(m, n),
      schedule.problem.getRestType() ? argument(GemmExtra::DRest) : Value());
}

Value EpilogueTail::addBias(Value sums, Value &end) {
  Carried results = stageScope<ConsumeOp>(
      end, sums.getType(), [&](ValueRange stages) -> Carried {
        Value row = TileOp::create(builder, loc, stages[0],
                                   schedule.getTileName(gemm::Operand::Bias));
        return {AddRowOp::create(builder, loc, sums.getType(), sums, row)};
      });
  end = results[0];
  return results[1];
}

Value EpilogueTail::addResidual(Value sums, Value beta, Value &end) {
  Carried results =
      unlessZero(beta, {end, sums}, [&](ValueRange inits) -> Carried {
        Carried state(inits);
        int64_t width = schedule.getResidualTile().getColumns();
        for (int64_t first = 0; first < schedule.getStoredColumns();
             first += width)
          state = stageScope<ConsumeOp>(
              state[0], sums.getType(), [&](ValueRange stages) -> Carried {
                Value tile =
                    TileOp::create(builder, loc, stages[0],
                                   schedule.getTileName(gemm::Operand::C));
                return {AddTileOp::create(builder, loc, sums.getType(),
                                          state[1], tile, beta, first)};
              });
        return state;
      });
  end = results[0];
  return results[1];
}

Value EpilogueTail::apply(Value sums, Value scale) {
  IRMapping mapping;
  Block *function = schedule.problem.function;
  // The constants that the function uses from around it.
  if (function)
    for (Operation &op : *function)
      for (Value operand : op.getOperands())
        if (operand.getParentBlock() != function && !mapping.contains(operand))
          builder.clone(*operand.getDefiningOp(), mapping);
  auto op = MapOp::create(builder, loc, sums.getType(), sums);
  return fillBody(op, builder.getF32Type(), [&](ValueRange element) -> Carried {
    Value value = element[0];
    if (function) {
      mapping.map(function->getArgument(0), value);
      for (Operation &inner : function->without_terminator())
        builder.clone(inner, mapping);
      value = mapping.lookup(function->getTerminator()->getOperand(0));
    }
    if (scale)
      value = arith::MulFOp::create(builder, loc, value, scale);
    return {value};
  })[0];
}

void mlir::fp8::buildEpilogueTail(const KernelBuilder &base, Value sums,
                                  Value row, Value column,
                                  MutableArrayRef<Value> ends) {
  EpilogueTail(base).build(sums, row, column, ends);
}
