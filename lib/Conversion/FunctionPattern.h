// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Patterns that are functions: what an op becomes.

#ifndef FP8_LIB_CONVERSION_FUNCTIONPATTERN_H
#define FP8_LIB_CONVERSION_FUNCTIONPATTERN_H

#include "mlir/Transforms/DialectConversion.h"

namespace mlir::fp8 {

/// The operands of an op, each as the values that it became.
template <typename OpT>
using Operands = typename OpConversionPattern<OpT>::OneToNOpAdaptor;

/// The values that each result of an op becomes.
using Results = SmallVector<SmallVector<Value>>;

/// The values of operands that became one value each.
inline SmallVector<Value> getSingles(ArrayRef<ValueRange> operands) {
  return llvm::map_to_vector(operands,
                             [](ValueRange parts) { return parts[0]; });
}

/// The value of an operand that an op may lack; null if it does.
inline Value getOptional(ValueRange operand) {
  return operand.empty() ? Value() : operand[0];
}

/// Replaces an op by what `lower(op, operands, rewriter)` returns; an op
/// without results is erased.
template <typename OpT, typename Fn>
class FunctionPattern : public OpConversionPattern<OpT> {
public:
  FunctionPattern(const TypeConverter &converter, MLIRContext *context,
                  Fn lower)
      : OpConversionPattern<OpT>(converter, context), lower(std::move(lower)) {}

  LogicalResult
  matchAndRewrite(OpT op, Operands<OpT> operands,
                  ConversionPatternRewriter &rewriter) const override {
    Results results = lower(op, operands, rewriter);
    if (results.empty())
      rewriter.eraseOp(op);
    else
      rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }

private:
  Fn lower;
};

} // namespace mlir::fp8

#endif // FP8_LIB_CONVERSION_FUNCTIONPATTERN_H
