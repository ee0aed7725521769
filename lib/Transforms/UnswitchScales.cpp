// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies loops of products for each place where a block of B scales can end
// within a tile, so that no K block in a loop selects scales.

#include "Gemm/PtxasLimits.h"
#include "fp8/IR/Fp8.h"
#include "fp8/IR/Profile.h"
#include "fp8/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::fp8 {
#define GEN_PASS_DEF_FP8UNSWITCHSCALES
#include "fp8/Transforms/Passes.h.inc"
} // namespace mlir::fp8

#define DEBUG_TYPE "fp8-unswitch-scales"

using namespace mlir;
using namespace mlir::fp8;

namespace {

/// `split > column ? first : second`: the B scale of the columns of a product
/// from `column` on, where a block of scales ends at `split`.
struct ScaleSelect {
  arith::SelectOp op;
  uint64_t column;
  Value split;
};

/// The selects in a loop that differ in the column only: products of one tile
/// have one split.
struct ScaleSelects {
  Value split;
  /// In ascending order, each once.
  SmallVector<uint64_t> columns;
};

struct UnswitchScalesPass
    : public mlir::fp8::impl::Fp8UnswitchScalesBase<UnswitchScalesPass> {
  using Fp8UnswitchScalesBase::Fp8UnswitchScalesBase;

  void runOnOperation() override;
};

} // namespace

static std::optional<ScaleSelect> matchSelect(arith::SelectOp select) {
  auto compare = select.getCondition().getDefiningOp<arith::CmpIOp>();
  APInt column;
  if (!compare || !compare.getLhs().getType().isIndex() ||
      compare.getPredicate() != arith::CmpIPredicate::ugt ||
      !matchPattern(compare.getRhs(), m_ConstantInt(&column)))
    return std::nullopt;
  return ScaleSelect{select, column.getZExtValue(), compare.getLhs()};
}

/// What the loop selects for products that gain by copies. None if the loop
/// computes where a block ends: an outer loop is over tiles.
static std::optional<ScaleSelects> findSelects(scf::ForOp loop) {
  ScaleSelects found;
  WalkResult result = loop.walk([&](PromoteOp promote) {
    if (!ptxas::gainsByUnswitching(promote.getPartial().getType()))
      return WalkResult::interrupt();
    for (Value scale : promote.getBScales()) {
      auto select = scale.getDefiningOp<arith::SelectOp>();
      std::optional<ScaleSelect> match;
      if (!select || !loop->isProperAncestor(select) ||
          !(match = matchSelect(select)) ||
          !loop.isDefinedOutsideOfLoop(match->split) ||
          (found.split && found.split != match->split))
        continue;
      found.split = match->split;
      found.columns.push_back(match->column);
    }
    return WalkResult::advance();
  });
  llvm::sort(found.columns);
  found.columns.erase(llvm::unique(found.columns), found.columns.end());
  if (result.wasInterrupted() || found.columns.empty() ||
      found.columns.size() >= ptxas::kMostLoopCopies)
    return std::nullopt;
  return found;
}

/// Replaces the selects in `loop` by what they give if the first `count` of the
/// columns belong to the first block.
static void resolveSelects(scf::ForOp loop, const ScaleSelects &selects,
                           size_t count) {
  loop.walk([&](arith::SelectOp select) {
    std::optional<ScaleSelect> match = matchSelect(select);
    if (!match || match->split != selects.split ||
        !llvm::is_contained(selects.columns, match->column))
      return;
    bool isFirst = llvm::is_contained(
        ArrayRef(selects.columns).take_front(count), match->column);
    select.replaceAllUsesWith(isFirst ? select.getTrueValue()
                                      : select.getFalseValue());
    Operation *compare = select.getCondition().getDefiningOp();
    select.erase();
    if (compare->use_empty())
      compare->erase();
  });
}

/// Builds the copies of `loop` in which `count` columns at most belong to the
/// first block. Returns the results of the copy that runs.
static SmallVector<Value> buildCopies(scf::ForOp loop,
                                      const ScaleSelects &selects, size_t count,
                                      OpBuilder &builder) {
  Location loc = loop.getLoc();
  auto copy = [&]() -> SmallVector<Value> {
    auto clone = cast<scf::ForOp>(builder.clone(*loop));
    resolveSelects(clone, selects, count);
    return clone.getResults();
  };
  if (!count)
    return copy();
  Value column =
      arith::ConstantIndexOp::create(builder, loc, selects.columns[count - 1]);
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ugt,
                                        selects.split, column);
  auto branch = scf::IfOp::create(builder, loc, loop.getResultTypes(), isFirst,
                                  /*addThenBlock=*/true,
                                  /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(branch.thenBlock());
  scf::YieldOp::create(builder, loc, copy());
  builder.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(builder, loc,
                       buildCopies(loop, selects, count - 1, builder));
  return branch.getResults();
}

void UnswitchScalesPass::runOnOperation() {
  // With stamps in each copy of a body, ptxas spills.
  if (getOperation()->hasAttr(kProfileAttrName))
    return;
  SmallVector<std::pair<scf::ForOp, ScaleSelects>> loops;
  getOperation()->walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    std::optional<ScaleSelects> selects = findSelects(loop);
    if (!selects)
      return WalkResult::advance();
    loops.push_back({loop, std::move(*selects)});
    return WalkResult::skip();
  });
  for (auto &[loop, selects] : loops) {
    LDBG() << "copies the loop at " << loop.getLoc() << " "
           << selects.columns.size() + 1 << " times";
    OpBuilder builder(loop);
    loop.replaceAllUsesWith(
        buildCopies(loop, selects, selects.columns.size(), builder));
    loop.erase();
  }
}
