// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers fragments and promotion: accumulators leave tensor memory, are scaled,
// and are added up in registers.
//
// A thread owns part of a row, as pairs of f32: Blackwell multiplies and adds
// two f32 in one instruction (PTX ISA, fma.rn.f32x2). The load of the next
// chunk of columns is started before the multiply-adds of the present one, so
// that they hide it.

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fp8;

namespace {

/// zero: pairs of zeros.
struct LowerZero : public KernelPattern<ZeroOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(ZeroOp op, Adaptor,
                      ConversionPatternRewriter &rewriter) const override {
    auto pairType = VectorType::get(2, rewriter.getF32Type());
    Value zero = arith::ConstantOp::create(rewriter, op.getLoc(),
                                           rewriter.getZeroAttr(pairType));
    SmallVector<Value> pairs(
        op.getFragment().getType().getColumnsPerThread() / 2, zero);
    rewriter.replaceOpWithMultiple(op, {pairs});
    return success();
  }
};

/// promote: load, wait, multiply-add, chunk by chunk.
struct LowerPromote : public KernelPattern<PromoteOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(PromoteOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override;

private:
  /// The widest load that divides the thread's columns; 32 registers a load
  /// leave room for the fragment.
  static int64_t getChunk(int64_t columns) {
    int64_t chunk = 32;
    while (columns % chunk)
      chunk /= 2;
    return chunk;
  }
};

/// The scales of a thread's row: one for each block of B scales, as pairs, and
/// the column at which the second begins.
class RowScales {
public:
  RowScales(PromoteOp op, Value aScaleTile, ArrayRef<Value> bScales,
            Value split, Value row, Value firstColumn,
            ConversionPatternRewriter &rewriter)
      : loc(op.getLoc()), rewriter(rewriter), split(split),
        firstColumn(firstColumn) {
    Instructions instructions(rewriter, loc);
    Value address = instructions.add(aScaleTile, instructions.mul(row, 4));
    Value aScale = instructions.loadShared(address, rewriter.getF32Type());
    for (Value bScale : bScales)
      scales.push_back(arith::MulFOp::create(rewriter, loc, aScale, bScale));
  }

  /// The scales of the thread's columns `column` and `column + 1`.
  Value getPair(int64_t column) {
    Value pair = arith::ConstantOp::create(
        rewriter, loc,
        rewriter.getZeroAttr(VectorType::get(2, rewriter.getF32Type())));
    if (scales.size() == 1 && splat)
      return splat;
    for (int64_t i : {0, 1})
      pair = Instructions(rewriter, loc).insert(pair, getScale(column + i), i);
    if (scales.size() == 1)
      splat = pair;
    return pair;
  }

private:
  Value getScale(int64_t column) {
    if (scales.size() == 1)
      return scales[0];
    Instructions instructions(rewriter, loc);
    Value isFirst =
        arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt,
                              instructions.add(firstColumn, column), split);
    return instructions.select(isFirst, scales[0], scales[1]);
  }

  Location loc;
  ConversionPatternRewriter &rewriter;
  SmallVector<Value, 2> scales;
  Value split, firstColumn, splat;
};

} // namespace

LogicalResult LowerPromote::lower(PromoteOp op, Adaptor operands,
                                  ConversionPatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  Instructions instructions(rewriter, loc);
  const RoleValues &role = lowering.getRole(op);
  int64_t columns = op.getFragment().getType().getColumnsPerThread();
  int64_t chunk = getChunk(columns);

  FragmentPart part(op.getFragment().getType(), role, instructions);
  Value address = instructions.add(operands.getPartial()[0], part.tmemOffset);
  SmallVector<Value> bScales;
  for (ValueRange scale : operands.getBScales())
    bScales.push_back(scale[0]);
  Value split =
      op.getSplit() ? instructions.toI32(operands.getSplit()[0]) : Value();
  RowScales scales(op, operands.getAScale()[0], bScales, split, part.row,
                   part.firstColumn, rewriter);

  // Each wait pins the multiply-adds of the chunk before it; LLVM would sink
  // them past the last wait, where no load is left for them to hide. Those of
  // the last chunk are free to follow the hand-over of the stage.
  ValueRange sums = operands.getFragment();
  SmallVector<Value> results, previous;
  Value loaded =
      instructions.startTmemLoad(address, chunk, part.laneHalfDistance);
  for (int64_t column = 0; column < columns; column += chunk) {
    SmallVector<Value> partials = instructions.finishTmemLoad(loaded, previous);
    llvm::append_range(results, previous);
    previous.clear();
    if (column + chunk < columns)
      loaded =
          instructions.startTmemLoad(instructions.add(address, column + chunk),
                                     chunk, part.laneHalfDistance);
    for (auto [i, partial] : llvm::enumerate(partials))
      previous.push_back(instructions.fma(
          partial, scales.getPair(column + 2 * i), sums[column / 2 + i]));
  }
  llvm::append_range(results, previous);
  rewriter.replaceOpWithMultiple(op, {results});
  return success();
}

void fp8::populatePromotePatterns(const TypeConverter &converter,
                                  RewritePatternSet &patterns,
                                  const KernelLowering &lowering) {
  patterns.add<LowerZero, LowerPromote>(converter, patterns.getContext(),
                                        lowering);
}
