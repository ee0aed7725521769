// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The load role of a GEMM: fills the input ring with A and B, and another with
// A's scales, those of several K blocks at a time, and with B's where each
// column has its own. Where warpgroups multiply, one ring has both; and where B
// is constant, a role of its own loads it, before kernels in front have ended.
//
// Ends: the input ring's; that of the ring of scales, the throttle's and the
// work queue's, if there are such.

#include "BScales.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fp8;

namespace {

class LoadRole : public KernelBuilder {
public:
  LoadRole(const KernelBuilder &base, Factors factors)
      : KernelBuilder(base), bringsA(factors != Factors::B),
        bringsB(factors != Factors::A) {}

  void build(ValueRange ends);

private:
  /// Copies the operand's box at `coordinates`, for the `index`th K block of a
  /// slot.
  void load(gemm::Operand operand, ValueRange coordinates, Value stage,
            int64_t index, std::optional<ClusterAxis> multicast = {});
  /// A slot of each ring, with K block `block` and those behind it, of A from
  /// row `m` on and of B from row `n` on; with their scales where these share
  /// the ring.
  Carried loadBlocks(ValueRange ends, Value block, Value m, Value n,
                     Value column);
  void loadBlock(Value stage, Value block, Value m, Value n, Value column,
                 int64_t index);
  /// The scales of K blocks from `first` on, for the `index`th of a slot.
  void loadScales(Value stage, Value first, Value m, Value column,
                  int64_t index);
  /// The tiles of scales of a K block.
  void loadTilesOfScales(Value stage, Value block, Value row, Value column);
  /// The B scales of a K block that columns share, for the `index`th of a slot.
  void loadBScales(Value stage, Value block, int64_t index);
  /// The first row of B that this CTA loads for the tile.
  Value getBRow(Value row, Value column);

  bool bringsA, bringsB; ///< with their scales
  Value row;             ///< of the grid
  /// The rows of the tile's B scales, where the ring brings these.
  SmallVector<Value> bScaleRows;
};

} // namespace

void LoadRole::load(gemm::Operand operand, ValueRange coordinates, Value stage,
                    int64_t index, std::optional<ClusterAxis> multicast) {
  auto axis = multicast ? ClusterAxisAttr::get(builder.getContext(), *multicast)
                        : ClusterAxisAttr();
  std::string name = schedule.getTileName(operand, index);
  TmaLoadOp::create(builder, loc, argument(operand), coordinates, stage,
                    builder.getStringAttr(name), axis);
}

KernelBuilder::Carried LoadRole::loadBlocks(ValueRange ends, Value block,
                                            Value m, Value n, Value column) {
  Carried next;
  for (Value end : ends) {
    auto fill = [&](ValueRange stages) -> Carried {
      for (int64_t i = 0; i < schedule.kGroup; ++i) {
        int64_t number = next.size() * schedule.kGroup + i;
        Value at = number ? arith::AddIOp::create(builder, loc, block,
                                                  constant(number))
                          : block;
        loadBlock(stages[0], at, m, n, column, i);
      }
      return {};
    };
    next.append(stageScope<ProduceOp>(end, {}, fill));
  }
  return next;
}

void LoadRole::loadBlock(Value stage, Value block, Value m, Value n,
                         Value column, int64_t index) {
  using Axis = std::optional<ClusterAxis>;
  Axis aAxis = schedule.multicastsA() ? Axis(ClusterAxis::N) : std::nullopt,
       bAxis = schedule.multicastsB() ? Axis(ClusterAxis::M) : std::nullopt;
  Value k = scaled(block, schedule.tileK);
  if (bringsB && schedule.bringsBScales())
    loadBScales(stage, block, index);
  if (bringsA)
    load(gemm::Operand::A, place(m, k), stage, index, aAxis);
  if (bringsB)
    load(gemm::Operand::B, place(n, k), stage, index, bAxis);
  if (schedule.problem.hasTilesOfScales())
    loadTilesOfScales(stage, block, row, column);
  else if (!schedule.hasScaleRing())
    loadScales(stage, block, m, column, index);
}

void LoadRole::loadScales(Value stage, Value first, Value m, Value column,
                          int64_t index) {
  if (bringsA)
    load(gemm::Operand::AScale, place(first, m), stage, index);
  if (bringsB && schedule.problem.hasColumnScales())
    load(gemm::Operand::BScale, place(first, scaled(column, schedule.tileN)),
         stage, index);
}

void LoadRole::loadTilesOfScales(Value stage, Value block, Value row,
                                 Value column) {
  // A CTA has the rows of its own tiles of A's scales, and takes those of all
  // columns.
  for (auto [scales, at] : {std::pair(gemm::Operand::AScale, row),
                            std::pair(gemm::Operand::BScale, column)}) {
    Value first = getFirstScales(scales, at).first;
    for (int64_t tile = 0; tile < schedule.countScaleTiles(scales); ++tile) {
      Value its =
          tile ? arith::AddIOp::create(builder, loc, first, constant(tile))
                     .getResult()
               : first;
      SmallVector<Value> coordinates = place(its, block);
      coordinates.append(2, constant(0));
      std::string name = schedule.getNameOfScales(scales, tile);
      TmaLoadOp::create(builder, loc, argument(scales), coordinates, stage,
                        builder.getStringAttr(name), ClusterAxisAttr());
    }
  }
}

void LoadRole::loadBScales(Value stage, Value block, int64_t index) {
  // Blocks past the last are computed, of zeros: an infinite scale would make
  // them NaN.
  Value exists;
  if (schedule.getBlockMultiple() > 1)
    exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                   block, argument(GemmExtra::Blocks));
  for (auto [column, row] : llvm::enumerate(bScaleRows))
    LoadElementOp::create(
        builder, loc, argument(gemm::Operand::BScale), place(row, block), stage,
        schedule.getTileName(gemm::Operand::BScale, index), column, exists);
}

Value LoadRole::getBRow(Value row, Value column) {
  Value first = scaled(column, schedule.tileN);
  if (schedule.ctaGroup == 1)
    return first;
  // The CTAs of a pair are neighbours along M and hold half of B's rows each.
  Value half = arith::RemUIOp::create(builder, loc, row, constant(2));
  return arith::AddIOp::create(builder, loc, first,
                               scaled(half, schedule.getCtaColumns()));
}

void LoadRole::build(ValueRange producers) {
  role(bringsA ? "load" : "load_b", 1, producers, [&](ValueRange ends) {
    return forEachTile(ends, [&](Value gridRow, Value column,
                                 ValueRange carried) {
      row = gridRow;
      Value m = getTileRow(row), n = getBRow(row, column);
      if (bringsB && schedule.bringsBScales())
        bScaleRows = BScales(*this, scaled(column, schedule.tileN)).getRows();
      Carried throttle;
      if (schedule.isDynamic()) {
        // Lets the scheduler ask for the next tile.
        throttle = inLeadingCta(
            CtaGrouping::Cluster, carried.back(), [&](ValueRange inner) {
              return stageScope<ProduceOp>(
                  inner, {}, [](ValueRange) { return Carried(); });
            });
        carried = carried.drop_back();
      }
      // That K block of this CTA's.
      auto getBlock = [&](Value block) -> Value {
        if (schedule.cluster.k == 1)
          return block;
        return arith::AddIOp::create(builder, loc, block, getBlocks().first);
      };
      if (!schedule.hasScaleRing()) {
        // Where steps are whole, TMA fills blocks past the last with zeros.
        Carried next = forEachStep(carried, [&](Value block, ValueRange ends) {
          return loadBlocks(ends, getBlock(block), m, n, column);
        });
        next.append(throttle);
        return next;
      }
      auto loadGroup = [&](Value group, Value count, ValueRange inner) {
        Value first = getBlock(group);
        Carried scales = stageScope<ProduceOp>(
            inner[1], {}, [&](ValueRange stages) -> Carried {
              loadScales(stages[0], first, m, column, 0);
              return {};
            });
        Carried input = forEach(
            constant(0), count, 1, inner[0], [&](Value i, ValueRange end) {
              Value block = arith::AddIOp::create(builder, loc, first, i);
              return loadBlocks(end[0], block, m, n, column);
            });
        return Carried{input[0], scales[0]};
      };
      Carried next = forEachGroup(carried, loadGroup);
      next.append(throttle);
      return next;
    });
  });
}

void mlir::fp8::buildLoadRole(const KernelBuilder &base, ValueRange ends,
                              Factors factors) {
  LoadRole(base, factors).build(ends);
}
