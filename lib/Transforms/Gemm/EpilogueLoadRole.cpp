// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The epilogue load role of a GEMM: fetches what the epilogue adds to a tile's
// sums, the bias and the residual, while the tile is computed.
//
// Ends: the ring's of the bias, that of the residual, as far as there are such;
// the work queue's, if there is one.

#include "KernelBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fp8;

namespace {

class EpilogueLoadRole : public KernelBuilder {
public:
  explicit EpilogueLoadRole(const KernelBuilder &base) : KernelBuilder(base) {}

  void build(ValueRange ends);

private:
  /// Fills a slot with the box at `coordinates` of the operand's map. Returns
  /// the end.
  Value load(Value end, gemm::Operand operand, Value map,
             ValueRange coordinates);
};

} // namespace

Value EpilogueLoadRole::load(Value end, gemm::Operand operand, Value map,
                             ValueRange coordinates) {
  Carried next =
      stageScope<ProduceOp>(end, {}, [&](ValueRange stages) -> Carried {
        TmaLoadOp::create(builder, loc, map, coordinates, stages[0],
                          builder.getStringAttr(schedule.getTileName(operand)),
                          ClusterAxisAttr());
        return {};
      });
  return next[0];
}

void EpilogueLoadRole::build(ValueRange inits) {
  role("epilogue_load", 1, inits, [&](ValueRange ends) {
    Value beta = loadNumber(gemm::Operand::Beta);
    return forEachTile(ends, [&](Value row, Value column, ValueRange carried) {
      Value first = getTileRow(row), m, n;
      std::tie(m, n) = getStoredPlace(first, column);
      // In the order in which the epilogue takes them.
      Carried next;
      if (schedule.problem.has(gemm::Operand::Bias))
        next.push_back(load(carried[0], gemm::Operand::Bias,
                            argument(gemm::Operand::Bias), {constant(0), n}));
      if (!schedule.problem.has(gemm::Operand::C))
        return next;
      Value map = getMapOfTile(gemm::Operand::C, first);
      next.append(
          unlessZero(beta, carried.back(), [&](ValueRange inner) -> Carried {
            Value end = inner[0];
            int64_t width = schedule.getResidualTile().getColumns();
            for (int64_t offset = 0; offset < schedule.getStoredColumns();
                 offset += width) {
              Value at = offset ? arith::AddIOp::create(builder, loc, n,
                                                        constant(offset))
                                      .getResult()
                                : n;
              end = load(end, gemm::Operand::C, map, place(m, at));
            }
            return {end};
          }));
      return next;
    });
  });
}

void mlir::fp8::buildEpilogueLoadRole(const KernelBuilder &base,
                                      ValueRange ends) {
  EpilogueLoadRole(base).build(ends);
}
