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
  /// Fills a slot with the box at `coordinates`. Returns the end.
  Value load(Value end, GemmParameter map, ValueRange coordinates,
             StringRef name);
};

} // namespace

Value EpilogueLoadRole::load(Value end, GemmParameter map,
                             ValueRange coordinates, StringRef name) {
  Carried next =
      stageScope<ProduceOp>(end, {}, [&](ValueRange stages) -> Carried {
        TmaLoadOp::create(builder, loc, argument(map), coordinates, stages[0],
                          builder.getStringAttr(name), ClusterAxisAttr());
        return {};
      });
  return next[0];
}

void EpilogueLoadRole::build(ValueRange inits) {
  role("epilogue_load", 1, inits, [&](ValueRange ends) {
    Value beta = loadNumber(GemmParameter::Beta);
    return forEachTile(ends, [&](Value row, Value column, ValueRange carried) {
      Value m, n;
      std::tie(m, n) = getStoredPlace(row, column);
      // In the order in which the epilogue takes them.
      Carried next;
      if (schedule.problem.epilogue.bias)
        next.push_back(
            load(carried[0], GemmParameter::BiasMap, {constant(0), n}, "bias"));
      if (!schedule.problem.epilogue.residual)
        return next;
      next.append(
          unlessZero(beta, carried.back(), [&](ValueRange inner) -> Carried {
            Value end = inner[0];
            int64_t width = schedule.getResidualTile().getColumns();
            for (int64_t first = 0; first < schedule.getStoredColumns();
                 first += width) {
              Value at = first ? arith::AddIOp::create(builder, loc, n,
                                                       constant(first))
                                     .getResult()
                               : n;
              end = load(end, GemmParameter::CMap, place(m, at), "c");
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
