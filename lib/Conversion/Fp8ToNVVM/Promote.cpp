// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers promotion: accumulators and products are scaled, and added up in
// registers.

#include "Fragment.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Dominance.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::fp8;

namespace {

/// The scales of what a thread promotes. The two elements of a pair share their
/// row or their column: of that the scale is an f32, of the other axis a pair.
class PartScales {
public:
  PartScales(PromoteOp op, KernelPattern<PromoteOp>::Adaptor operands,
             const FragmentPart &part, ConversionPatternRewriter &rewriter);

  /// The product of both scales for a register and its neighbour.
  Value getPair(int64_t reg);

private:
  /// Loads the A scale of a row, of pairs those of all rows, behind the view,
  /// which separateScaleViews has placed.
  void loadA(int64_t offset);
  /// The row of B scales.
  void loadB();
  /// The one of the B scales that are values which the thread's column has.
  Value selectB(int64_t column);
  /// The product of an A scale and a B scale, each an f32 or a pair.
  Value multiply(Value aScale, Value bScale);
  Value multiplyPair(Value aScale, Value bScale);

  PromoteOp op;
  KernelPattern<PromoteOp>::Adaptor operands;
  const FragmentPart &part;
  ConversionPatternRewriter &rewriter;
  Instructions instructions;
  /// The part's registers.
  int64_t firstRegister, numRegisters;
  /// The scales by the rows' and columns' offsets from the thread's first.
  llvm::SmallDenseMap<int64_t, Value> aScales, bScales;
  /// The B scales that were selected, by those to select from.
  llvm::DenseMap<SmallVector<Value, 4>, Value> selected;
  llvm::DenseMap<std::pair<Value, Value>, Value> products, pairs;
};

/// promote: load, wait, multiply-add.
struct LowerPromote : public KernelPattern<PromoteOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(PromoteOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override;
};

} // namespace

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

PartScales::PartScales(PromoteOp op, KernelPattern<PromoteOp>::Adaptor operands,
                       const FragmentPart &part,
                       ConversionPatternRewriter &rewriter)
    : op(op), operands(operands), part(part), rewriter(rewriter),
      instructions(rewriter, op.getLoc()),
      numRegisters(part.layout.getExtent(Unit::Register)) {
  firstRegister = op.getPart() * numRegisters;
  if (op.getBRow())
    loadB();
}

void PartScales::loadA(int64_t offset) {
  OpBuilder::InsertionGuard guard(rewriter);
  Value address = operands.getAScale()[0], row;
  if (op.getAScale().getDefiningOp<ViewAtOp>())
    rewriter.setInsertionPointAfterValue(op.getAScale());
  if (!operands.getARow().empty())
    row = instructions.toI32(operands.getARow()[0]);
  int64_t width = part.layout.getRun(RegisterLayout::Row, Unit::Register);
  TileAddresses addresses = TileAddresses::beside(
      op.getAScale().getType(), address, row,
      FragmentPart(op.getFragment().getType(), part.role, instructions),
      RegisterLayout::Row, width, instructions);
  if (width == 1) {
    aScales[offset] = addresses.load(0, offset);
    return;
  }
  // One address serves all pairs.
  for (int64_t i = 0; i < numRegisters; i += 2) {
    int64_t pair = part.layout.getOffset(firstRegister + i).row;
    if (!aScales.contains(pair))
      aScales[pair] = addresses.loadPairs({0, pair}, {0, pair + 1}, width)[0];
  }
}

void PartScales::loadB() {
  const RegisterLayout &layout = part.layout;
  TileType row = op.getBRow().getType();
  int64_t width = layout.getAccessColumns(getBytes(row.getElementType()));
  TileAddresses addresses =
      TileAddresses::beside(row, operands.getBRow()[0], /*row=*/Value(), part,
                            RegisterLayout::Column, width, instructions);
  for (int64_t i = 0; i < numRegisters; i += 2) {
    int64_t offset = layout.getOffset(firstRegister + i).column;
    if (bScales.contains(offset))
      continue;
    if (width == 1) {
      bScales[offset] = addresses.load(0, offset);
      continue;
    }
    for (Value pair :
         addresses.loadPairs({0, offset}, {0, offset + 1}, width)) {
      bScales[offset] = pair;
      offset += 2;
    }
  }
}

Value PartScales::selectB(int64_t column) {
  constexpr Axis kColumn = RegisterLayout::Column;
  int64_t columns = op.getFragment().getType().getShape()[kColumn],
          perScale = columns / op.getBScales().size(),
          step = part.layout.getScaleStep();
  // Threads that differ in the outermost digits of the columns may have columns
  // of different scales.
  int64_t distance = columns, groups = 1;
  for (const RegisterLayout::Digit &digit : part.layout.getDigits())
    if (digit.axis == kColumn && digit.stride >= step &&
        llvm::is_contained(kThreadUnits, digit.unit)) {
      distance = digit.stride;
      groups = digit.extent;
    }
  SmallVector<Value, 4> scales;
  for (int64_t group = 0; group < groups; ++group)
    scales.push_back(
        operands.getBScales()[(group * distance + column) / perScale][0]);
  // Many columns choose among the same ones.
  auto [entry, isNew] = selected.try_emplace(scales, scales[0]);
  Value &scale = entry->second;
  for (int64_t group = 1; isNew && group < groups; ++group)
    if (scales[group] != scale)
      scale = instructions.select(
          instructions.equal(
              part.getPlace(kColumn, kThreadUnits, instructions, distance),
              group * distance),
          scales[group], scale);
  return scale;
}

Value PartScales::multiply(Value aScale, Value bScale) {
  // Parts select among a few scales. With one A scale multiply those, and
  // select among products.
  if (auto select = bScale.getDefiningOp<arith::SelectOp>();
      select && part.layout.isOneRow())
    return instructions.select(select.getCondition(),
                               multiply(aScale, select.getTrueValue()),
                               multiply(aScale, select.getFalseValue()));
  Value &product = products[{aScale, bScale}];
  if (!product)
    product = arith::MulFOp::create(rewriter, op.getLoc(), aScale, bScale);
  return product;
}

Value PartScales::multiplyPair(Value aScale, Value bScale) {
  Value &pair = pairs[{aScale, bScale}];
  if (pair)
    return pair;
  bool isPairOfA = isa<VectorType>(aScale.getType()),
       isPairOfB = isa<VectorType>(bScale.getType());
  if (!isPairOfA && !isPairOfB)
    return pair = instructions.splatPair(multiply(aScale, bScale));
  if (isPairOfB)
    std::swap(aScale, bScale);
  return pair = arith::MulFOp::create(rewriter, op.getLoc(), aScale,
                                      instructions.splatPair(bScale));
}

Value PartScales::getPair(int64_t reg) {
  RegisterLayout::Place offset = part.layout.getOffset(reg);
  if (!aScales.contains(offset.row))
    loadA(offset.row);
  Value &bScale = bScales[offset.column];
  if (!bScale)
    bScale = selectB(offset.column);
  return multiplyPair(aScales[offset.row], bScale);
}

//===----------------------------------------------------------------------===//
// promote
//===----------------------------------------------------------------------===//

LogicalResult LowerPromote::lower(PromoteOp op, Adaptor operands,
                                  ConversionPatternRewriter &rewriter) const {
  Instructions instructions(rewriter, op.getLoc());
  FragmentPart part(op.getFragment().getType(), getRole(op), instructions);
  PartScales scales(op, operands, part, rewriter);
  SmallVector<Value> partial(operands.getPartial());
  int64_t count = part.layout.getExtent(Unit::Register),
          first = op.getPart() * count;
  if (isa<TmemType>(op.getPartial().getType())) {
    // Scales are ready when the accumulator is.
    for (int64_t reg = 0; reg < count; reg += 2)
      (void)scales.getPair(reg);
    partial = readAccumulator(partial[0], part, instructions);
  }
  SmallVector<Value> sums(operands.getFragment());
  // Row by row, since the rows have scales of their own.
  llvm::MapVector<int64_t, SmallVector<int64_t>> rows;
  for (int64_t reg = 0; reg < count; reg += 2)
    rows[part.layout.getOffset(reg).row].push_back(reg);
  for (auto &[row, registers] : rows)
    for (int64_t reg : registers) {
      Value &sum = sums[(first + reg) / 2];
      sum =
          instructions.fma(partial[reg / 2], scales.getPair(first + reg), sum);
    }
  // Else LLVM sinks the additions past a later product, which takes these
  // registers, and has to keep what is in them.
  if (getPlanOrNone<SumPlanAttr>(op).beforeProduct)
    instructions.pinProduct(MutableArrayRef(sums).slice(first / 2, count / 2));
  rewriter.replaceOpWithMultiple(op, {sums});
  return success();
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

void mlir::fp8::separateScaleViews(FunctionOpInterface kernel) {
  kernel->walk([](PromoteOp op) {
    auto view = op.getAScale().getDefiningOp<ViewAtOp>();
    if (!view)
      return;
    Value later = op.getARow() ? getLater(view, op.getARow()) : Value(view);
    OpBuilder builder(op);
    builder.setInsertionPointAfterValue(later);
    op.getAScaleMutable().assign(
        cast<TypedValue<TileType>>(builder.clone(*view)->getResult(0)));
    if (view->use_empty())
      view->erase();
  });
}

void mlir::fp8::populatePromotePatterns(const TypeConverter &converter,
                                        RewritePatternSet &patterns) {
  patterns.add<LowerPromote>(converter, patterns.getContext());
}
