// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The acme dialect, and the passes that take it to fp8.

#include "Acme.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
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

LogicalResult acme::ReleaseLateOp::inferReturnTypes(
    MLIRContext *, std::optional<Location>, ValueRange operands, DictionaryAttr,
    OpaqueProperties, RegionRange, SmallVectorImpl<Type> &types) {
  auto stage = dyn_cast<mlir::fp8::StageTypeInterface>(operands[0].getType());
  if (!stage)
    return failure();
  types.push_back(stage.getEndType());
  return success();
}

LogicalResult acme::SkipOp::inferReturnTypes(
    MLIRContext *, std::optional<Location>, ValueRange operands, DictionaryAttr,
    OpaqueProperties, RegionRange, SmallVectorImpl<Type> &types) {
  Type end = operands[0].getType();
  auto ready = dyn_cast<mlir::fp8::ReadyType>(end);
  types.push_back(ready ? ready.getEnd() : end);
  return success();
}

// What the plan of a kernel asks of an op: the stage goes on as the end (the
// default), and its slot is handed over.
Value acme::ReleaseLateOp::getHandedOver() { return getStage(); }

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

struct LowerSkip : public OpRewritePattern<acme::SkipOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(acme::SkipOp op,
                                PatternRewriter &rewriter) const override {
    Value stage =
        mlir::fp8::AcquireOp::create(rewriter, op.getLoc(), op.getEnd());
    rewriter.replaceOpWithNewOp<mlir::fp8::ReleaseOp>(op, stage);
    return success();
  }
};

struct LowerReleaseLate : public OpRewritePattern<acme::ReleaseLateOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(acme::ReleaseLateOp op,
                                PatternRewriter &rewriter) const override {
    Value ns = arith::ConstantOp::create(rewriter, op.getLoc(), op.getNsAttr());
    NVVM::NanosleepOp::create(rewriter, op.getLoc(), ns);
    auto release =
        rewriter.replaceOpWithNewOp<mlir::fp8::ReleaseOp>(op, op.getStage());
    // What fp8 has derived for the hand-over holds for the op that makes it.
    StringRef plan = mlir::fp8::Fp8Dialect::kPlanAttrName;
    release->setAttr(plan, op->getAttr(plan));
    return success();
  }
};

struct LowerPass : public PassWrapper<LowerPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerPass)

  StringRef getArgument() const override { return "acme-lower"; }
  StringRef getDescription() const override { return "takes acme ops to fp8"; }
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<LowerAccumulate, LowerSkip>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

struct LowerPlannedPass
    : public PassWrapper<LowerPlannedPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerPlannedPass)

  StringRef getArgument() const override { return "acme-lower-planned"; }
  StringRef getDescription() const override {
    return "takes acme ops of planned kernels to fp8";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, NVVM::NVVMDialect>();
  }
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<LowerReleaseLate>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

} // namespace

std::unique_ptr<Pass> acme::createLowerPlannedPass() {
  return std::make_unique<LowerPlannedPass>();
}

std::unique_ptr<Pass> acme::createLowerPass() {
  return std::make_unique<LowerPass>();
}
