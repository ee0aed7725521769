// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The GEMM family (phase 0).

#include "BindingRegion.h"
#include "TmaRules.h"
#include "fp8/IR/GemmOperands.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fp8;

Value mlir::fp8::getOperand(BlockwiseGemmOp op, gemm::Operand operand) {
  OperandRange values = op.getODSOperands(static_cast<unsigned>(operand));
  return values.empty() ? Value() : values.front();
}

gemm::Scaling mlir::fp8::getScaling(BlockwiseGemmOp op) {
  auto isMx = [](Value scales) {
    auto type = dyn_cast<MemRefType>(scales.getType());
    return type && isa<Float8E8M0FNUType>(type.getElementType());
  };
  if (isMx(op.getAScale()) || isMx(op.getBScale()))
    return gemm::Scaling::mx();
  return {static_cast<int64_t>(op.getBBlock())};
}

std::optional<::fp8::tensor::ElementType> mlir::fp8::getElementType(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return ::fp8::tensor::parseElementType(text);
}

bool mlir::fp8::takes(const gemm::OperandInfo &operand, Type elementType) {
  auto type = mlir::fp8::getElementType(elementType);
  return type && operand.types.contains(*type);
}

int64_t BlockwiseGemmOp::getBatchAxes() {
  return cast<MemRefType>(getA().getType()).getRank() - 2;
}

namespace {

/// Checks the operands by their table, against the extents that A and B have.
class OperandChecker {
public:
  explicit OperandChecker(BlockwiseGemmOp op) : op(op) {
    for (const gemm::OperandInfo &info : gemm::getOperands(getScaling(op)))
      if (mlir::fp8::getOperand(op, info.operand))
        operands.push_back(info);
  }

  LogicalResult check();

private:
  using Info = gemm::OperandInfo;
  using Check = LogicalResult (OperandChecker::*)(const Info &);

  /// Checks each operand in turn.
  LogicalResult each(Check check) {
    for (const Info &info : operands)
      if (failed((this->*check)(info)))
        return failure();
    return success();
  }
  MemRefType getType(const Info &info) {
    return cast<MemRefType>(mlir::fp8::getOperand(op, info.operand).getType());
  }
  /// Where the rows and the columns of a matrix are in the operand's shape.
  unsigned getFirstAxis(const Info &info) {
    return getType(info).getRank() - info.getRank();
  }
  ArrayRef<int64_t> getMatrix(const Info &info) {
    return getType(info).getShape().slice(getFirstAxis(info), 2);
  }
  int64_t getBatch(const Info &info) { return getType(info).getDimSize(0); }

  LogicalResult checkForm(const Info &info);
  LogicalResult checkLayout(const Info &info);
  LogicalResult checkTiles(const Info &info);
  LogicalResult checkLimits(const Info &info);
  LogicalResult checkBatch(const Info &info);
  LogicalResult checkExtents(const Info &info);
  LogicalResult checkExtent(const Info &info, unsigned axis, int64_t expected,
                            StringRef formula, StringRef label);
  LogicalResult checkRowBytes(const Info &info);

  /// Takes M, N and K from A and B, whose forms are right.
  void readExtents();
  /// The extent in this op; dynamic where M, N or K is.
  int64_t evaluate(gemm::Extent extent) const;

  BlockwiseGemmOp op;
  SmallVector<Info, gemm::kOperands> operands;
  int64_t m = 0, n = 0, k = 0;
};

} // namespace

void OperandChecker::readExtents() {
  auto getShape = [&](Value operand) {
    return cast<MemRefType>(operand.getType()).getShape().take_back(2);
  };
  ArrayRef<int64_t> a = getShape(op.getA()), b = getShape(op.getB());
  m = a[0];
  n = b[0];
  k = ShapedType::isDynamic(a[1]) ? b[1] : a[1];
}

int64_t OperandChecker::evaluate(gemm::Extent extent) const {
  const int64_t lengths[] = {1, m, n, k};
  int64_t length = lengths[static_cast<size_t>(extent.axis)];
  return ShapedType::isDynamic(length) ? length
                                       : llvm::divideCeil(length, extent.block);
}

/// Checks rank and element type. What a batch has in common is a matrix.
LogicalResult OperandChecker::checkForm(const Info &info) {
  Type given = mlir::fp8::getOperand(op, info.operand).getType();
  auto type = dyn_cast<MemRefType>(given);
  int64_t rank = info.getRank();
  if (type && type.getRank() == rank + 1 && info.batched)
    ++rank;
  if (!type || type.getRank() != rank || !takes(info, type.getElementType())) {
    InFlightDiagnostic error = op.emitOpError()
                               << "'" << info.name << "' must be a " << rank
                               << "-D memref of " << info.types.str("or")
                               << " (" << info.rule << "), but got " << given;
    if (info.tiled && type && !takes(info, type.getElementType()))
      error << "; both operands have scales of f8E8M0FNU, or neither";
    return error;
  }
  if (info.batched && type.getRank() != info.getRank() + op.getBatchAxes())
    return op.emitOpError()
           << "'a' is " << op.getA().getType() << ", but '" << info.name
           << "' is " << type
           << "; all operands have a leading batch extent, or none (G6)";
  return checkLayout(info);
}

LogicalResult OperandChecker::checkLayout(const Info &info) {
  MemRefType type = getType(info);
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) || strides.back() != 1)
    return op.emitOpError()
           << "the rows of '" << info.name << "' must be contiguous ("
           << info.rule << "), but got " << type;
  if (type.getMemorySpace())
    return op.emitOpError()
           << "'" << info.name
           << "' must be in global memory, without a memory space ("
           << info.rule << "), but got " << type;
  if (info.tiled && failed(checkTiles(info)))
    return failure();
  for (auto [axis, stride] : llvm::enumerate(ArrayRef(strides).drop_back()))
    if (!ShapedType::isDynamic(stride) && stride <= 0 &&
        type.getDimSize(axis) > 1)
      return op.emitOpError()
             << "the " << getPartName(type, axis) << " of '" << info.name
             << "' must lie one after the other (" << info.rule << "), but are "
             << stride << " elements apart";
  return success();
}

/// Checks that tiles of scales are of their size, each in one piece.
LogicalResult OperandChecker::checkTiles(const Info &info) {
  MemRefType type = getType(info);
  auto [strides, offset] = type.getStridesAndOffset();
  if (type.getShape().take_back(2) == ArrayRef(gemm::kMxTile) &&
      strides[type.getRank() - 2] == gemm::kMxTile[1])
    return success();
  return op.emitOpError() << "'" << info.name << "' must end in tiles of "
                          << gemm::kMxTile[0] << " x " << gemm::kMxTile[1]
                          << " scales without gaps (" << info.rule
                          << "), but got " << type;
}

LogicalResult OperandChecker::checkLimits(const Info &info) {
  for (int64_t extent : getMatrix(info))
    if (extent >= gemm::kExtentLimit)
      return op.emitOpError() << "M, N and K must be below 2^31, the range of "
                                 "TMA coordinates (G4), but got "
                              << extent;
  if (info.batched && op.getBatchAxes() && getBatch(info) >= gemm::kExtentLimit)
    return op.emitOpError() << "the batch extent must be below 2^31, the "
                               "range of TMA coordinates (G6), but got "
                            << getBatch(info);
  return success();
}

LogicalResult OperandChecker::checkBatch(const Info &info) {
  if (!info.batched || !op.getBatchAxes())
    return success();
  int64_t batch = cast<MemRefType>(op.getA().getType()).getDimSize(0);
  return checkExtent(info, 0, batch, "L", "G6");
}

/// Checks that a static extent is the expected one. `axis` counts a batch's.
LogicalResult OperandChecker::checkExtent(const Info &info, unsigned axis,
                                          int64_t expected, StringRef formula,
                                          StringRef label) {
  int64_t extent = getType(info).getDimSize(axis);
  if (ShapedType::isDynamic(extent) || ShapedType::isDynamic(expected) ||
      extent == expected)
    return success();
  return op.emitOpError() << "extent " << axis << " of '" << info.name
                          << "' must be " << formula << " = " << expected
                          << " (" << label << "), but got " << extent;
}

LogicalResult OperandChecker::checkExtents(const Info &info) {
  MemRefType type = getType(info);
  int64_t rows = getMatrix(info)[0];
  if (info.isNumber() && (!type.hasStaticShape() || type.getNumElements() != 1))
    return op.emitOpError() << "'" << info.name << "' must be one number, 1x1 ("
                            << info.rule << "), but got " << type;
  if (info.rows.axis == gemm::Axis::One && !ShapedType::isDynamic(rows) &&
      rows != 1)
    return op.emitOpError() << "'" << info.name << "' must have one row ("
                            << info.rule << "), but got " << rows;
  unsigned first = getFirstAxis(info);
  auto check = [&](unsigned axis, gemm::Extent extent) {
    return checkExtent(info, first + axis, evaluate(extent), extent.str(),
                       info.rule);
  };
  return success(succeeded(check(0, info.rows)) &&
                 succeeded(check(1, info.columns)));
}

LogicalResult OperandChecker::checkRowBytes(const Info &info) {
  if (!info.byTma)
    return success();
  return verifyTmaStrides(op, getType(info), Twine("'") + info.name + "'",
                          "G4");
}

LogicalResult OperandChecker::check() {
  if (failed(each(&OperandChecker::checkForm)) ||
      failed(each(&OperandChecker::checkLimits)))
    return failure();
  readExtents();
  if (!ShapedType::isDynamic(k) && k % gemm::kStepOfK)
    return op.emitOpError() << "K must be a multiple of " << gemm::kStepOfK
                            << " (G4), but got " << k;
  return success(succeeded(each(&OperandChecker::checkBatch)) &&
                 succeeded(each(&OperandChecker::checkExtents)) &&
                 succeeded(each(&OperandChecker::checkRowBytes)));
}

LogicalResult BlockwiseGemmOp::verify() {
  if (getScaling(*this).isMx() && getBBlock() != gemm::kDefaultBBlock)
    return emitOpError() << "has scales of f8E8M0FNU, which each row of B has "
                            "of its own; remove b_block (G11)";
  if (!llvm::is_contained(gemm::kBBlocks, getBBlock()))
    return emitOpError() << "b_block, the rows of B that share a scale, must "
                            "be 128, 64 or 1 (G5), but got "
                         << getBBlock();
  if (getBeta() && !getC())
    return emitOpError() << "has 'beta', but no 'c' for it to multiply (G9)";
  return OperandChecker(*this).check();
}

//===----------------------------------------------------------------------===//
// The function of what follows the sum
//===----------------------------------------------------------------------===//

ParseResult mlir::fp8::parseElementwise(OpAsmParser &parser, Region &body) {
  OpAsmParser::Argument argument;
  argument.type = parser.getBuilder().getF32Type();
  return failure(parser.parseLParen() || parser.parseArgument(argument) ||
                 parser.parseRParen() || parser.parseRegion(body, argument));
}

void mlir::fp8::printElementwise(OpAsmPrinter &printer, Operation *,
                                 Region &body) {
  printer << '(' << body.getArgument(0) << ") ";
  printer.printRegion(body, /*printEntryBlockArgs=*/false);
}

/// (G10) A kernel has its operands and constants, and nothing else of its
/// launcher's values.
static LogicalResult checkCaptures(BlockwiseGemmOp op) {
  Region &body = op.getBody();
  for (Operation &inner : body.front())
    for (Value operand : inner.getOperands()) {
      if (body.isAncestor(operand.getParentRegion()) ||
          matchPattern(operand, m_Constant()))
        continue;
      InFlightDiagnostic diagnostic =
          inner.emitOpError()
          << "uses a value from around its function that is no constant (G10); "
             "pass it to the GEMM as an operand, such as 'scale' or 'bias'";
      diagnostic.attachNote(operand.getLoc()) << "the value";
      return diagnostic;
    }
  return success();
}

LogicalResult BlockwiseGemmOp::verifyRegions() {
  if (getBody().empty())
    return success();
  Block &body = getBody().front();
  if (body.getNumArguments() != 1 || !body.getArgument(0).getType().isF32())
    return emitOpError() << "its function must take one f32 (G10)";
  if (body.empty() || failed(verifyElementwiseBody(*this, body)))
    return failure();
  return checkCaptures(*this);
}
