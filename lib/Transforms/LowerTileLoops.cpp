// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Takes fp8.for_each_tile to scf.for over the CTA's tiles.

#include "fp8/IR/Fp8.h"
#include "fp8/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::fp8 {
#define GEN_PASS_DEF_FP8LOWERTILELOOPS
#include "fp8/Transforms/Passes.h.inc"
} // namespace mlir::fp8

using namespace mlir;
using namespace mlir::fp8;

namespace {

/// The tiles of a kernel as its clusters take them: a cluster computes as many
/// tiles at a time as it has CTAs, one each.
class TileGrid {
public:
  TileGrid(ForEachTileOp op, OpBuilder &builder) : shape(getClusterShape(op)) {
    Location loc = op.getLoc();
    first = gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x);
    step = gpu::GridDimOp::create(builder, loc, gpu::Dimension::x);
    rows = op.getTilesM();
    Value columns = op.getTilesN();
    if (int64_t size = shape.getSize(); size > 1) {
      Value ctas = constant(size, loc, builder);
      rank = arith::RemUIOp::create(builder, loc, first, ctas);
      first = arith::DivUIOp::create(builder, loc, first, ctas);
      step = arith::DivUIOp::create(builder, loc, step, ctas);
      rows = arith::CeilDivUIOp::create(builder, loc, rows,
                                        constant(shape.m, loc, builder));
      columns = arith::CeilDivUIOp::create(builder, loc, columns,
                                           constant(shape.n, loc, builder));
    }
    tiles = arith::MulIOp::create(builder, loc, rows, columns);
  }

  /// The row and column of this CTA's tile of the cluster's tile `tile`.
  SmallVector<Value> getTile(Value tile, Location loc,
                             OpBuilder &builder) const {
    Value row = arith::RemUIOp::create(builder, loc, tile, rows),
          column = arith::DivUIOp::create(builder, loc, tile, rows);
    if (shape.getSize() == 1)
      return {row, column};
    Value m = constant(shape.m, loc, builder);
    auto place = [&](Value cluster, int64_t extent, Value cta) -> Value {
      Value start = arith::MulIOp::create(builder, loc, cluster,
                                          constant(extent, loc, builder));
      return arith::AddIOp::create(builder, loc, start, cta);
    };
    return {
        place(row, shape.m, arith::RemUIOp::create(builder, loc, rank, m)),
        place(column, shape.n, arith::DivUIOp::create(builder, loc, rank, m))};
  }

  Value first; ///< the cluster's number
  Value step;  ///< the clusters of the launch
  Value tiles; ///< the tiles of clusters

private:
  static Value constant(int64_t value, Location loc, OpBuilder &builder) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }

  ClusterShape shape;
  Value rows; ///< of clusters
  Value rank; ///< the CTA's in its cluster
};

/// for_each_tile: a strided loop, or the body once.
struct LowerForEachTile : public OpRewritePattern<ForEachTileOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ForEachTileOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    TileGrid grid(op, rewriter);
    if (op.getScheduler() == SchedulerKind::OneTile) {
      rewriter.replaceOp(
          op, inlineBody(op, op, grid, grid.first, op.getInits(), rewriter));
      return success();
    }
    auto loop = scf::ForOp::create(rewriter, loc, grid.first, grid.tiles,
                                   grid.step, op.getInits());
    Block *target = loop.getBody();
    if (!target->empty())
      rewriter.eraseOp(target->getTerminator());
    rewriter.setInsertionPointToEnd(target);
    auto end = scf::YieldOp::create(rewriter, loc);
    rewriter.setInsertionPoint(end);
    SmallVector<Value> yielded =
        inlineBody(op, end, grid, loop.getInductionVar(),
                   loop.getRegionIterArgs(), rewriter);
    rewriter.modifyOpInPlace(end, [&] { end->setOperands(yielded); });
    rewriter.replaceOp(op, loop.getResults());
    return success();
  }

private:
  /// Moves the body in front of `before`, as the computation of the cluster's
  /// tile `tile`. Returns what it yields.
  static SmallVector<Value> inlineBody(ForEachTileOp op, Operation *before,
                                       const TileGrid &grid, Value tile,
                                       ValueRange carried,
                                       PatternRewriter &rewriter) {
    SmallVector<Value> arguments = grid.getTile(tile, op.getLoc(), rewriter);
    llvm::append_range(arguments, carried);
    Block *body = &op.getBody().front();
    Operation *yield = body->getTerminator();
    rewriter.inlineBlockBefore(body, before, arguments);
    SmallVector<Value> yielded(yield->getOperands());
    rewriter.eraseOp(yield);
    return yielded;
  }
};

struct LowerTileLoopsPass
    : public fp8::impl::Fp8LowerTileLoopsBase<LowerTileLoopsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<LowerForEachTile>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

} // namespace
