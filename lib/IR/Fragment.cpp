// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The fragment family: reading accumulators and tiles, and computing on what
// was read.

#include "BindingRegion.h"
#include "fp8/IR/RegisterLayout.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fp8;

SmallVector<Value> mlir::fp8::getViewOperands(Operation *op) {
  return llvm::filter_to_vector(op->getOperands(), [](Value operand) {
    return isa<TileType, TmemType>(operand.getType());
  });
}

//===----------------------------------------------------------------------===//
// Reading accumulators
//===----------------------------------------------------------------------===//

static LogicalResult verifyShape(Operation *op, TmemType accumulator,
                                 FragmentType fragment) {
  if (fragment.getShape()[0] == accumulator.getRowsPerCta() &&
      fragment.getShape()[1] == accumulator.getShape()[1] &&
      fragment.getLayout() == accumulator.getFragmentLayout())
    return success();
  return op->emitOpError()
         << "a CTA's rows of the accumulator must have the fragment's shape "
            "and layout (S1), but got "
         << accumulator << " and " << fragment;
}

/// Checks that the rows are those of one part of the fragment.
static LogicalResult verifyPart(PromoteOp op, FragmentType rows,
                                FragmentType fragment) {
  RegisterLayout layout(fragment);
  int64_t parts = layout.getExtent(RegisterLayout::Unit::Part);
  std::optional<RegisterLayout::Axis> axis = layout.getPartAxis();
  if (!axis ||
      rows != fragment.withExtent(*axis, fragment.getShape()[*axis] / parts))
    return op.emitOpError() << "a product in registers must be a part of the "
                               "fragment, in the layout warpgroups or "
                               "warpgroup_columns (S1), but got "
                            << rows << " and " << fragment;
  if (int64_t(op.getPart()) < parts)
    return success();
  return op.emitOpError() << "the fragment has " << parts << " parts of 64 "
                          << (axis == RegisterLayout::Row ? "rows" : "columns")
                          << " for each warpgroup (S1), but got part "
                          << op.getPart();
}

/// A thread that holds one row reads it, of such elements, in chunks of 16
/// bytes; another reads a pair, or an element, at a time.
static LogicalResult verifyChunks(Operation *op, const RegisterLayout &layout,
                                  Type element) {
  int64_t bits = layout.getNumRegisters() * element.getIntOrFloatBitWidth();
  if (!layout.isOneRow() || bits % (16 * 8) == 0)
    return success();
  return op->emitOpError() << "a thread's part of a row must be a multiple of "
                              "16 bytes (F5), but is "
                           << bits / 8;
}

LogicalResult ReadOp::verify() {
  return verifyShape(*this, getAccumulator().getType(),
                     getFragment().getType());
}

/// True for unswizzled rows of that many elements of f32 or bf16, or with
/// `orF16` f16.
static bool areRows(TileType tile, int64_t columns, bool orF16 = false) {
  Type element = tile.getElementType();
  return tile.getColumns() == columns && tile.getSwizzle() == Swizzle::None &&
         (element.isF32() || element.isBF16() || (orF16 && element.isF16()));
}

/// True for one of them.
static bool isRow(TileType tile, int64_t columns, bool orF16 = false) {
  return tile.getRows() == 1 && areRows(tile, columns, orF16);
}

LogicalResult PromoteOp::verify() {
  FragmentType fragment = getFragment().getType();
  if (auto product = dyn_cast<FragmentType>(getPartial().getType())) {
    if (failed(verifyPart(*this, product, fragment)))
      return failure();
  } else if (failed(verifyShape(*this, cast<TmemType>(getPartial().getType()),
                                fragment))) {
    return failure();
  } else if (getPart()) {
    return emitOpError() << "takes a part of what warpgroups hold alone (S1), "
                            "but got "
                         << getPartial().getType();
  }
  RegisterLayout layout(fragment);
  int64_t rows = fragment.getShape()[0], columns = fragment.getShape()[1];
  TileType aScale = getAScale().getType();
  if (!(getARow() ? areRows(aScale, rows) : isRow(aScale, rows)))
    return emitOpError() << "the A scales must be an unswizzled tile of "
                         << (getARow() ? "rows of " : "1x") << rows
                         << " f32 or bf16 (S2), but got " << aScale;
  APInt aRow;
  if (getARow() && matchPattern(getARow(), m_ConstantInt(&aRow)) &&
      aRow.uge(aScale.getRows()))
    return emitOpError() << "the tile of A scales has no row "
                         << aRow.getZExtValue() << " (S2); it has "
                         << aScale.getRows();
  if (TypedValue<TileType> row = getBRow()) {
    if (!getBScales().empty())
      return emitOpError() << "the B scales are values (S3) or a row (S4), but "
                              "got both";
    if (!isRow(row.getType(), columns))
      return emitOpError() << "the row of B scales must be an unswizzled tile "
                              "of 1x"
                           << columns << " f32 or bf16 (S4), but got "
                           << row.getType();
    return verifyChunks(*this, layout, row.getType().getElementType());
  }
  int64_t scales = getBScales().size(), step = layout.getScaleStep();
  if (scales == 0 || columns % (step * scales))
    return emitOpError() << "the B scales must divide the " << columns
                         << " columns into equal parts of a multiple of "
                         << step << " columns (S3), but there are " << scales;
  return success();
}

//===----------------------------------------------------------------------===//
// Reading tiles
//===----------------------------------------------------------------------===//

LogicalResult AddTileOp::verify() {
  FragmentType fragment = getFragment().getType();
  TileType tile = getTile().getType();
  Type element = tile.getElementType();
  if (tile.getRows() != fragment.getShape()[0] ||
      !(element.isF32() || element.isBF16() || element.isF16()))
    return emitOpError() << "the tile must have the fragment's "
                         << fragment.getShape()[0]
                         << " rows and f32, bf16 or f16 elements (F1), but got "
                         << tile;
  int64_t first = getColumn(), end = first + tile.getColumns();
  if (end > fragment.getShape()[1])
    return emitOpError() << "the tile's columns are " << first << " to "
                         << end - 1 << " of the fragment, which has "
                         << fragment.getShape()[1] << " (F2)";
  RegisterLayout layout(fragment);
  int64_t step = layout.getColumnStep(), block = layout.getColumnBlock();
  bool isOfOneThread =
      layout.isOneRow() && first % 2 == 0 && first / block == (end - 1) / block;
  if (isOfOneThread)
    return success();
  if (first % step == 0 && end % step == 0)
    return verifyChunks(*this, layout, element);
  InFlightDiagnostic error = emitOpError()
                             << "the tile's columns, " << first << " to "
                             << end - 1 << ", must begin ";
  if (layout.isOneRow())
    return error << "at an even one and lie within the " << block
                 << " that a thread owns, or be a multiple of them (F3)";
  return error << "and end at multiples of " << step << " (F3)";
}

LogicalResult AddRowOp::verify() {
  FragmentType fragment = getFragment().getType();
  int64_t columns = fragment.getShape()[1];
  if (isRow(getRow().getType(), columns, /*orF16=*/true))
    return verifyChunks(*this, RegisterLayout(fragment),
                        getRow().getType().getElementType());
  return emitOpError() << "the row must be an unswizzled tile of 1x" << columns
                       << " f32, bf16 or f16 (F4), but got "
                       << getRow().getType();
}

LogicalResult ReadElementOp::verify() {
  TileType row = getRow().getType();
  if (row.getRows() != 1 || row.getSwizzle() != Swizzle::None ||
      !row.getElementType().isF32())
    return emitOpError()
           << "the row must be an unswizzled tile of one row of f32 (F6), but "
              "got "
           << row;
  if (int64_t(getColumn()) >= row.getColumns())
    return emitOpError() << "column " << getColumn() << " lies outside the "
                         << row.getColumns() << " columns of the row (F7)";
  return success();
}

//===----------------------------------------------------------------------===//
// MapOp
//===----------------------------------------------------------------------===//

static Type getElementArgument(Type type) {
  auto fragment = dyn_cast<FragmentType>(type);
  return fragment ? fragment.getElementType() : Type();
}

ParseResult MapOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseBindingRegion(parser, result, getElementArgument, "a fragment");
}

void MapOp::print(OpAsmPrinter &printer) {
  printBindingRegion(printer, *this, getInits(), getBody());
  printBody(printer, *this, getBody());
}

/// The ops of the math dialect that have instructions. By name, for this
/// library does not need the dialect.
static bool isMathInstruction(Operation *op) {
  static constexpr StringLiteral names[] = {
      "math.absf", "math.ceil",  "math.exp",  "math.exp2", "math.floor",
      "math.fma",  "math.rsqrt", "math.sqrt", "math.tanh"};
  return llvm::is_contained(names, op->getName().getStringRef());
}

/// Types whose arithmetic and casts have instructions.
static bool isComputedWith(Type type) {
  if (type.isIndex())
    return true;
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.getWidth() <= 64;
  return type.isF16() || type.isBF16() || type.isF32() || type.isF64();
}

/// That a GPU has instructions for an op of the arith or the math dialect.
static LogicalResult verifyInstruction(Operation &op) {
  StringRef dialect = op.getName().getDialectNamespace();
  bool isMath = dialect == "math";
  // What is lowered already; intrinsics and calls may have no instruction.
  StringRef lowered = op.getName().getStringRef();
  bool isLowered = dialect == "index" ||
                   (dialect == "llvm" && !lowered.contains(".intr.") &&
                    !lowered.contains(".call") && lowered != "llvm.frem");
  if (!isMath && !isLowered && dialect != "arith")
    return op.emitOpError()
           << "has no place in an elementwise body (E4); use ops "
              "of arith and math, or compute it outside";
  if (isMath && !isMathInstruction(&op))
    return op.emitOpError()
           << "has no instruction, which an elementwise body needs (E4); use "
              "absf, "
              "ceil, exp, exp2, floor, fma, rsqrt, sqrt or tanh";
  StringRef name = op.getName().getStringRef();
  if (name == "arith.addui_extended" && op.getOperand(0).getType().isIndex())
    return op.emitOpError() << "has no instruction for index, which an "
                               "elementwise body needs (E4); use i32 or i64";
  if (name == "arith.remf")
    return op.emitOpError()
           << "has no instruction, which an elementwise body needs "
              "(E4); use divf, math.floor, mulf and subf";
  if (name == "arith.scaling_extf" || name == "arith.scaling_truncf")
    return op.emitOpError()
           << "has no instruction, which an elementwise body needs "
              "(E4); use extf or truncf, and mulf";
  for (Type type :
       llvm::concat<const Type>(SmallVector<Type>(op.getOperandTypes()),
                                SmallVector<Type>(op.getResultTypes()))) {
    if (isMath && !type.isF32())
      return op.emitOpError()
             << "computes in f32 in an elementwise body, but has a value of "
                "type "
             << type << " (E4); convert it by arith.extf or arith.truncf";
    if (!isComputedWith(type))
      return op.emitOpError()
             << "has a value of type " << type
             << ", for which an elementwise body has no instructions (E4); use "
                "f16, bf16, f32, f64, index, or integers of at most 64 bits";
  }
  auto rounding = op.getAttrOfType<IntegerAttr>("roundingmode");
  if (rounding && !rounding.getValue().isZero())
    return op.emitOpError()
           << "has a rounding mode, which an elementwise body "
              "does not follow (E4); leave it out, which rounds to the "
              "nearest";
  return success();
}

LogicalResult mlir::fp8::verifyElementwiseBody(Operation *op, Block &body) {
  if (failed(verifyYieldedValues(op, *body.getParent())))
    return failure();
  auto yield = dyn_cast<YieldOp>(body.back());
  if (!yield || yield.getNumOperands() != 1 ||
      !yield.getOperand(0).getType().isF32())
    return op->emitOpError() << "the body must yield one f32 (E2)";
  for (Operation &inner : body.without_terminator()) {
    if (!isPure(&inner) || inner.getNumRegions())
      return inner.emitOpError()
             << "may not be in an elementwise body, whose ops are "
                "pure and have no regions (E3)";
    if (failed(verifyInstruction(inner)))
      return failure();
  }
  return success();
}

LogicalResult MapOp::verifyRegions() {
  if (getInits().empty() || llvm::any_of(getInits().getTypes(), [&](Type type) {
        return type != getResult().getType();
      }))
    return emitOpError() << "expected at least one fragment, of the type "
                         << getResult().getType() << " of the result (E1)";
  if (failed(verifyBindingRegion(*this, getInits(), getBody(),
                                 getElementArgument, "a fragment")))
    return failure();
  return verifyElementwiseBody(*this, getBody().front());
}
