// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Control flow around ops of kernels whose types are converted.

#include "ControlFlow.h"

#include "fp8/IR/Fp8.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/Transforms/StructuralTypeConversions.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"

using namespace mlir;
using namespace mlir::fp8;

namespace {

/// Gives an execute_region the parts of what it yields as results. Its blocks
/// and terminators have patterns of their own.
struct LowerExecuteRegion : public OpConversionPattern<scf::ExecuteRegionOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(scf::ExecuteRegionOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    SmallVector<size_t> counts;
    for (Type type : op.getResultTypes()) {
      size_t before = types.size();
      if (failed(getTypeConverter()->convertType(type, types)))
        return failure();
      counts.push_back(types.size() - before);
    }
    auto converted = scf::ExecuteRegionOp::create(rewriter, op.getLoc(), types,
                                                  op.getNoInline());
    rewriter.inlineRegionBefore(op.getRegion(), converted.getRegion(),
                                converted.getRegion().end());
    SmallVector<ValueRange> parts;
    ValueRange rest = converted.getResults();
    for (size_t count : counts) {
      parts.push_back(rest.take_front(count));
      rest = rest.drop_front(count);
    }
    rewriter.replaceOpWithMultiple(op, parts);
    return success();
  }
};

/// A select of handles, or of fragments, selects each of their parts. A select
/// of views stays, and fails: who reads which stage could not be told.
struct LowerSelect : public OpConversionPattern<arith::SelectOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(arith::SelectOp op, OneToNOpAdaptor operands,
                  ConversionPatternRewriter &rewriter) const override {
    if (isa<TileType, TmemType>(op.getType()))
      return rewriter.notifyMatchFailure(op, "selects a view");
    SmallVector<Value> parts;
    for (auto [whenTrue, whenFalse] :
         llvm::zip(operands.getTrueValue(), operands.getFalseValue()))
      parts.push_back(arith::SelectOp::create(
          rewriter, op.getLoc(), op.getCondition(), whenTrue, whenFalse));
    rewriter.replaceOpWithMultiple(op, {parts});
    return success();
  }
};

} // namespace

void mlir::fp8::populateControlFlowConversions(const TypeConverter &converter,
                                               RewritePatternSet &patterns,
                                               ConversionTarget &target) {
  scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                       target);
  cf::populateCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                     target);
  patterns.add<LowerExecuteRegion, LowerSelect>(converter,
                                                patterns.getContext());
  // MLIR's patterns leave the yields of other ops than theirs as they are.
  target.addDynamicallyLegalOp<scf::YieldOp>(
      [&](scf::YieldOp op) { return converter.isLegal(op.getOperandTypes()); });
  target.markUnknownOpDynamicallyLegal(
      [&](Operation *op) { return converter.isLegal(op); });
}
