// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Takes fp8.for_each_tile to scf.for over the CTA's tiles.

#include "fp8/IR/Fp8.h"
#include "fp8/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::fp8 {
#define GEN_PASS_DEF_FP8LOWERTILELOOPS
#include "fp8/Transforms/Passes.h.inc"
} // namespace mlir::fp8

using namespace mlir;
using namespace mlir::fp8;

namespace {

/// True if the two are one value, or one number.
static bool isSame(Value lhs, Value rhs) {
  APInt left, right;
  return lhs == rhs ||
         (matchPattern(lhs, m_ConstantInt(&left)) &&
          matchPattern(rhs, m_ConstantInt(&right)) && left == right);
}

/// (W4) The loops of a kernel's roles see the same tiles in the same order.
static LogicalResult checkAgreement(FunctionOpInterface function) {
  ForEachTileOp first;
  WalkResult result =
      function->walk([&](ForEachTileOp loop) {
        if (!first)
          first = loop;
        StringRef differs =
            loop.getScheduler() != first.getScheduler() ? "scheduler"
            : loop.getBand() != first.getBand() ||
                    loop.getBandOfColumns() != first.getBandOfColumns()
                ? "band"
            : !isSame(loop.getTilesM(), first.getTilesM()) ||
                    !isSame(loop.getTilesN(), first.getTilesN())
                ? "tile grid"
                : "";
        if (differs.empty())
          return WalkResult::advance();
        InFlightDiagnostic diagnostic =
            loop.emitOpError()
            << "has a different " << differs
            << " than another loop of its kernel (W4), so that the roles work "
               "on different tiles; make the loops agree";
        diagnostic.attachNote(first.getLoc()) << "the other loop";
        return WalkResult::interrupt();
      });
  return failure(result.wasInterrupted());
}

/// Loops in functions that are called must be inlined before: the clusters, and
/// the other loops, are those of the kernel.
static LogicalResult checkInlined(FunctionOpInterface function,
                                  Operation *module) {
  ForEachTileOp loop;
  function->walk([&](ForEachTileOp op) { loop = op; });
  if (!loop)
    return success();
  for (const SymbolTable::SymbolUse &use :
       SymbolTable::getSymbolUses(function, module)
           .value_or(SymbolTable::UseRange({}))) {
    if (!isa<CallOpInterface>(use.getUser()))
      continue;
    InFlightDiagnostic diagnostic =
        loop.emitOpError()
        << "is in a function that is called, but clusters and the other loops "
           "are those of the kernel (W4); run --inline before";
    diagnostic.attachNote(use.getUser()->getLoc()) << "the call";
    return diagnostic;
  }
  return success();
}

/// The tiles of a kernel as its clusters take them: a cluster computes as many
/// tiles at a time as it has CTAs, one each.
class TileGrid {
public:
  TileGrid(ForEachTileOp op, OpBuilder &builder)
      : shape(getClusterShape(op)), band(op.getBand()),
        ofColumns(op.getBandOfColumns()) {
    Location loc = op.getLoc();
    first = gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x);
    step = gpu::GridDimOp::create(builder, loc, gpu::Dimension::x);
    rows = op.getTilesM();
    columns = op.getTilesN();
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
    auto [row, column] = getBlock(tile, loc, builder);
    // CTAs that divide K have a tile in common.
    if (shape.m * shape.n == 1)
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
  /// The row and column of a cluster's tile in the grid of clusters.
  std::pair<Value, Value> getBlock(Value tile, Location loc,
                                   OpBuilder &builder) const {
    if (!band)
      return {arith::RemUIOp::create(builder, loc, tile, rows),
              arith::DivUIOp::create(builder, loc, tile, rows)};
    if (!ofColumns)
      return getBlockOfBand(tile, rows, columns, loc, builder);
    auto [column, row] = getBlockOfBand(tile, columns, rows, loc, builder);
    return {row, column};
  }

  /// The same where bands divide `across`, and blocks are numbered across a
  /// band first.
  std::pair<Value, Value> getBlockOfBand(Value tile, Value across, Value along,
                                         Location loc,
                                         OpBuilder &builder) const {
    // Band by band; the last one may be narrower.
    Value width = constant(*band, loc, builder);
    Value perBand = arith::MulIOp::create(builder, loc, width, along);
    Value first = arith::MulIOp::create(
        builder, loc, arith::DivUIOp::create(builder, loc, tile, perBand),
        width);
    Value within = arith::RemUIOp::create(builder, loc, tile, perBand);
    Value left = arith::SubIOp::create(builder, loc, across, first);
    width = arith::MinUIOp::create(builder, loc, width, left);
    Value position = arith::AddIOp::create(
        builder, loc, first,
        arith::RemUIOp::create(builder, loc, within, width));
    return {position, arith::DivUIOp::create(builder, loc, within, width)};
  }

  static Value constant(int64_t value, Location loc, OpBuilder &builder) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }

  ClusterShape shape;
  std::optional<int64_t> band;
  bool ofColumns;
  Value rows, columns; ///< of clusters
  Value rank;          ///< the CTA's in its cluster
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
    if (op.getScheduler() == SchedulerKind::ClusterLaunchControl) {
      rewriter.replaceOp(op, lowerDynamic(op, grid, rewriter));
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
  /// clc: the cluster's own tile, then what the work queue gives, until it says
  /// that there is no more.
  static SmallVector<Value> lowerDynamic(ForEachTileOp op, const TileGrid &grid,
                                         PatternRewriter &rewriter) {
    Location loc = op.getLoc();
    Value more =
        arith::ConstantOp::create(rewriter, loc, rewriter.getBoolAttr(true));
    SmallVector<Value> inits{more, grid.first, op.getWork()};
    llvm::append_range(inits, op.getInits());
    SmallVector<Type> types(ValueRange(inits).getTypes());
    SmallVector<Location> locations(types.size(), loc);
    auto loop = scf::WhileOp::create(rewriter, loc, types, inits);
    Block *before =
        rewriter.createBlock(&loop.getBefore(), {}, types, locations);
    scf::ConditionOp::create(rewriter, loc, before->getArgument(0),
                             before->getArguments());
    Block *after = rewriter.createBlock(&loop.getAfter(), {}, types, locations);
    auto end = scf::YieldOp::create(rewriter, loc);
    rewriter.setInsertionPoint(end);
    SmallVector<Value> yielded =
        inlineBody(op, end, grid, after->getArgument(1),
                   after->getArguments().drop_front(3), rewriter);
    rewriter.setInsertionPoint(end);
    Value stage = AcquireOp::create(rewriter, loc, after->getArgument(2));
    auto answer = NextWorkOp::create(rewriter, loc, stage);
    Value work = ReleaseOp::create(rewriter, loc, stage);
    SmallVector<Value> next{answer.getMore(), answer.getCluster(), work};
    llvm::append_range(next, yielded);
    rewriter.modifyOpInPlace(end, [&] { end->setOperands(next); });
    rewriter.setInsertionPointAfter(loop);
    return SmallVector<Value>(loop.getResults().drop_front(2));
  }

  /// Moves the body in front of `before`, as the computation of the cluster's
  /// tile `tile`. Returns what it yields.
  static SmallVector<Value> inlineBody(ForEachTileOp op, Operation *before,
                                       const TileGrid &grid, Value tile,
                                       ValueRange carried,
                                       PatternRewriter &rewriter) {
    Operation *last = before->getPrevNode();
    SmallVector<Value> arguments = grid.getTile(tile, op.getLoc(), rewriter);
    llvm::append_range(arguments, carried);
    Block *body = &op.getBody().front();
    Operation *yield = body->getTerminator(), *begin = &body->front();
    rewriter.inlineBlockBefore(body, before, arguments);
    SmallVector<Value> yielded(yield->getOperands());
    rewriter.eraseOp(yield);
    sinkPlace(last, begin == yield ? before : begin, rewriter);
    return yielded;
  }

  /// Moves what stands between the two down to where it is first used, in
  /// order, if a role begins with an op whose work is the same for all tiles.
  static void sinkPlace(Operation *last, Operation *begin,
                        PatternRewriter &rewriter) {
    Operation *work = begin;
    while (work && isMemoryEffectFree(work))
      work = work->getNextNode();
    if (!work || work->getNumRegions())
      return;
    Operation *op = begin->getPrevNode(), *first = nullptr;
    while (op != last) {
      Operation *previous = op->getPrevNode();
      for (Operation *user : op->getUsers()) {
        Operation *inBlock = op->getBlock()->findAncestorOpInBlock(*user);
        if (!first || inBlock->isBeforeInBlock(first))
          first = inBlock;
      }
      if (first && work->isBeforeInBlock(first))
        rewriter.moveOpBefore(op, first);
      first = op;
      op = previous;
    }
  }
};

struct LowerTileLoopsPass
    : public mlir::fp8::impl::Fp8LowerTileLoopsBase<LowerTileLoopsPass> {
  void runOnOperation() override {
    WalkResult valid = getOperation()->walk([&](FunctionOpInterface function) {
      return failed(checkInlined(function, getOperation())) ||
                     failed(checkAgreement(function))
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (valid.wasInterrupted())
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    patterns.add<LowerForEachTile>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

} // namespace
