// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The acme dialect, and the pass that takes it to fp8.

#include "Acme.h"

#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;

#include "AcmeDialect.cpp.inc"

#define GET_OP_CLASSES
#include "AcmeOps.cpp.inc"

void acme::AcmeDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "AcmeOps.cpp.inc"
      >();
}

// What the linearity rules ask of an op: fp8's analysis then knows that the
// stage is still there behind it, and that it must be there in front of it.
mlir::fp8::LinearUse acme::AccumulateOp::getLinearUse(OpOperand &) {
  return mlir::fp8::LinearUse::Borrow;
}

namespace {

struct LowerAccumulate : public OpRewritePattern<acme::AccumulateOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(acme::AccumulateOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto tile = [&](StringRef name) -> Value {
      return mlir::fp8::TileOp::create(rewriter, loc, op.getStage(), name);
    };
    Value a = tile("a"), b = tile("b"), aScale = tile("s");
    auto pending = mlir::fp8::WarpgroupMmaOp::create(
        rewriter, loc,
        mlir::fp8::PendingType::get(op.getContext(), op.getSum().getType()), a,
        b,
        /*accumulator=*/Value(), /*part=*/0);
    Value product = mlir::fp8::WaitMmaOp::create(rewriter, loc, pending);
    rewriter.replaceOpWithNewOp<mlir::fp8::PromoteOp>(
        op, op.getSum().getType(), op.getSum(), product, aScale,
        /*a_row=*/Value(), ValueRange{op.getBScale()}, /*b_row=*/Value(),
        /*part=*/0);
    return success();
  }
};

struct LowerPass : public PassWrapper<LowerPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerPass)

  StringRef getArgument() const override { return "acme-lower"; }
  StringRef getDescription() const override { return "takes acme ops to fp8"; }
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<LowerAccumulate>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

} // namespace

std::unique_ptr<Pass> acme::createLowerPass() {
  return std::make_unique<LowerPass>();
}
