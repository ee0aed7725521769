// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers promotion: accumulators are scaled, and added up in registers.

#include "Fragment.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Dominance.h"

using namespace mlir;
using namespace mlir::fp8;

namespace {

/// The scales of a thread's part of a fragment.
class PartScales {
public:
  PartScales(PromoteOp op, KernelPattern<PromoteOp>::Adaptor operands,
             const FragmentPart &part, const RoleValues &role,
             ConversionPatternRewriter &rewriter);

  /// The scales of the thread's columns `column` and `column + 1`.
  Value getPair(int64_t column);

private:
  /// A's scale times this one.
  Value multiply(Value bScale);
  /// For each column pair of a row of B scales.
  void multiplyRow(TileType tile, Value address);

  Location loc;
  ConversionPatternRewriter &rewriter;
  Instructions instructions;
  const FragmentPart &part;
  int64_t columnsPerScale;
  int64_t groups; ///< threads that share a row
  /// Either one for each value of the B scales, or one for each of the thread's
  /// pairs of columns.
  SmallVector<Value> products;
  bool isRow;
  Value aScale;
  llvm::SmallDenseMap<Value, Value> multiplied; ///< of B scales, by aScale
};

/// promote: load, wait, multiply-add.
struct LowerPromote : public KernelPattern<PromoteOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(PromoteOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    Instructions instructions(rewriter, op.getLoc());
    const RoleValues &role = lowering.getRole(op);
    FragmentPart part(op.getFragment().getType(), role, instructions);
    PartScales scales(op, operands, part, role, rewriter);
    SmallVector<Value> sums =
        readAccumulator(operands.getPartial()[0], part, instructions);
    for (auto [i, sum] : llvm::enumerate(sums))
      sum = instructions.fma(sum, scales.getPair(2 * i),
                             operands.getFragment()[i]);
    rewriter.replaceOpWithMultiple(op, {sums});
    return success();
  }
};

} // namespace

PartScales::PartScales(PromoteOp op, KernelPattern<PromoteOp>::Adaptor operands,
                       const FragmentPart &part, const RoleValues &role,
                       ConversionPatternRewriter &rewriter)
    : loc(op.getLoc()), rewriter(rewriter), instructions(rewriter, loc),
      part(part), columnsPerScale(0),
      groups(op.getFragment().getType().getShape()[1] / part.columns),
      isRow(op.getBRow()) {
  aScale = loadAScale(op, operands, role, /*rowOffset=*/0, rewriter);
  if (isRow) {
    multiplyRow(op.getBRow().getType(), operands.getBRow()[0]);
    return;
  }
  int64_t columns = op.getFragment().getType().getShape()[1];
  columnsPerScale = columns / op.getBScales().size();
  for (ValueRange bScale : operands.getBScales())
    products.push_back(instructions.splatPair(multiply(bScale[0])));
}

Value PartScales::multiply(Value bScale) {
  // Parts select among a few scales: multiply those, and select among products.
  if (auto select = bScale.getDefiningOp<arith::SelectOp>())
    return instructions.select(select.getCondition(),
                               multiply(select.getTrueValue()),
                               multiply(select.getFalseValue()));
  Value &product = multiplied[bScale];
  if (!product)
    product = arith::MulFOp::create(rewriter, loc, aScale, bScale);
  return product;
}

/// The later of two values that one op uses: where it is made, the other is
/// there.
static Value getLater(Value lhs, Value rhs) {
  Block *left = lhs.getParentBlock(), *right = rhs.getParentBlock();
  if (left != right)
    return DominanceInfo().properlyDominates(left, right) ? rhs : lhs;
  Operation *first = lhs.getDefiningOp(), *second = rhs.getDefiningOp();
  return first && (!second || second->isBeforeInBlock(first)) ? lhs : rhs;
}

Value mlir::fp8::getAScaleAddress(PromoteOp op,
                                  KernelPattern<PromoteOp>::Adaptor operands,
                                  const RoleValues &role, int64_t rowOffset,
                                  OpBuilder &builder) {
  Value address = operands.getAScale()[0], ready = address;
  TileType tile = op.getAScale().getType();
  bool isOneOfSeveral = !operands.getARow().empty();
  if (isOneOfSeveral)
    ready = getLater(address, operands.getARow()[0]);
  builder.setInsertionPointAfterValue(ready);
  Instructions early(builder, op.getLoc());
  Value row = FragmentPart(op.getFragment().getType(), role, early).row;
  Value offset =
      early.mul(early.add(row, rowOffset), getBytes(tile.getElementType()));
  if (isOneOfSeveral)
    offset = early.add(offset, early.mul(early.toI32(operands.getARow()[0]),
                                         tile.getRowBytes()));
  return early.add(address, offset);
}

Value mlir::fp8::loadAScale(PromoteOp op,
                            KernelPattern<PromoteOp>::Adaptor operands,
                            const RoleValues &role, int64_t rowOffset,
                            ConversionPatternRewriter &rewriter) {
  OpBuilder::InsertionGuard guard(rewriter);
  Value address = getAScaleAddress(op, operands, role, rowOffset, rewriter);
  return Instructions(rewriter, op.getLoc())
      .loadSharedFloat(address, op.getAScale().getType().getElementType());
}

void PartScales::multiplyRow(TileType tile, Value address) {
  Value byteColumn =
      instructions.mul(part.firstColumn, getBytes(tile.getElementType()));
  products = readTileRow(tile, address, instructions.i32(0), byteColumn,
                         part.columns, instructions);
  Value scale = instructions.splatPair(aScale);
  for (Value &product : products)
    product = arith::MulFOp::create(rewriter, loc, product, scale);
}

Value PartScales::getPair(int64_t column) {
  if (isRow)
    return products[column / 2];
  // Which scale it is differs between the threads that share a row.
  auto getIndex = [&](int64_t group) {
    return (group * part.columns + column) / columnsPerScale;
  };
  Value pair = products[getIndex(0)];
  for (int64_t group = 1; group < groups; ++group)
    if (Value other = products[getIndex(group)]; other != pair)
      pair = instructions.select(
          instructions.equal(part.firstColumn, group * part.columns), other,
          pair);
  return pair;
}

void mlir::fp8::populatePromotePatterns(const TypeConverter &converter,
                                        RewritePatternSet &patterns,
                                        const KernelLowering &lowering) {
  patterns.add<LowerPromote>(converter, patterns.getContext(), lowering);
}
