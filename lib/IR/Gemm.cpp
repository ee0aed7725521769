// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The GEMM family (phase 0).

#include "BindingRegion.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fp8;

static int64_t ceilDiv(int64_t extent, int64_t block) {
  return ShapedType::isDynamic(extent) ? extent : (extent + block - 1) / block;
}

namespace {

/// Checks one operand after the other against the extents that the earlier ones
/// fixed.
struct OperandChecker {
  BlockwiseGemmOp op;

  /// Checks rank, element type and layout. What a batch has in common is a
  /// matrix.
  LogicalResult checkForm(Value operand, StringRef name,
                          bool (*isElement)(Type), StringRef elements,
                          StringRef label, bool isCommon = false) {
    auto type = dyn_cast<MemRefType>(operand.getType());
    int64_t rank = type && type.getRank() == 3 && !isCommon ? 3 : 2;
    if (!type || type.getRank() != rank || !isElement(type.getElementType()))
      return op.emitOpError()
             << "'" << name << "' must be a " << rank << "-D memref of "
             << elements << " (" << label << "), but got " << operand.getType();
    if (!isCommon && type.getRank() != 2 + op.getBatchAxes())
      return op.emitOpError()
             << "'a' is " << op.getA().getType() << ", but '" << name << "' is "
             << type
             << "; all operands have a leading batch extent, or none (G6)";
    SmallVector<int64_t> strides;
    int64_t offset;
    if (failed(type.getStridesAndOffset(strides, offset)) ||
        strides.back() != 1)
      return op.emitOpError()
             << "the rows of '" << name << "' must be contiguous (" << label
             << "), but got " << type;
    if (type.getMemorySpace())
      return op.emitOpError() << "'" << name
                              << "' must be in global memory, without a memory "
                                 "space ("
                              << label << "), but got " << type;
    for (auto [axis, stride] : llvm::enumerate(ArrayRef(strides).drop_back()))
      if (!ShapedType::isDynamic(stride) && stride <= 0 &&
          type.getDimSize(axis) > 1)
        return op.emitOpError()
               << "the " << getPartName(type, axis) << " of '" << name
               << "' must lie one after the other (" << label << "), but are "
               << stride << " elements apart";
    return success();
  }

  /// What lies along an axis.
  static StringRef getPartName(MemRefType type, int64_t axis) {
    return axis < type.getRank() - 2 ? "matrices" : "rows";
  }

  /// Checks that a static extent of the operand's matrices is the expected one.
  LogicalResult checkExtent(Value operand, StringRef name, unsigned axis,
                            int64_t expected, StringRef formula,
                            StringRef label) {
    return checkAxis(operand, name, op.getBatchAxes() + axis, expected, formula,
                     label);
  }

  LogicalResult checkAxis(Value operand, StringRef name, unsigned axis,
                          int64_t expected, StringRef formula,
                          StringRef label) {
    int64_t extent = cast<MemRefType>(operand.getType()).getDimSize(axis);
    if (ShapedType::isDynamic(extent) || ShapedType::isDynamic(expected) ||
        extent == expected)
      return success();
    return op.emitOpError()
           << "extent " << axis << " of '" << name << "' must be " << formula
           << " = " << expected << " (" << label << "), but got " << extent;
  }

  /// Checks that rows which TMA copies, and the matrices of a batch, are a
  /// multiple of 16 bytes apart.
  LogicalResult checkRowBytes(Value operand, StringRef name) {
    auto type = cast<MemRefType>(operand.getType());
    SmallVector<int64_t> strides;
    int64_t offset;
    (void)type.getStridesAndOffset(strides, offset);
    int64_t bytes = type.getElementType().getIntOrFloatBitWidth() / 8;
    for (auto [axis, stride] : llvm::enumerate(ArrayRef(strides).drop_back())) {
      if (ShapedType::isDynamic(stride))
        continue;
      if (stride < 0 || stride >= kMaxTmaStride / bytes)
        return op.emitOpError()
               << "the " << getPartName(type, axis) << " of '" << name
               << "' must be less than 2^40 bytes apart, and none before the "
               << "other, because TMA copies them (G4), but are " << stride
               << " elements apart";
      if (stride * bytes % 16)
        return op.emitOpError()
               << "the " << getPartName(type, axis) << " of '" << name
               << "' must be a multiple of 16 bytes apart, because TMA copies "
               << "them (G4), but are " << stride * bytes
               << "; pad them by a strided layout";
    }
    return success();
  }

  /// Checks that the operands have as many matrices as `a`.
  LogicalResult checkBatch() {
    auto getBatch = [](Value operand) {
      return cast<MemRefType>(operand.getType()).getDimSize(0);
    };
    for (Value operand :
         {op.getA(), op.getAScale(), op.getB(), op.getBScale(), op.getD()})
      if (getBatch(operand) >= int64_t(1) << 31)
        return op.emitOpError() << "the batch extent must be below 2^31, the "
                                   "range of TMA coordinates (G6), but got "
                                << getBatch(operand);
    int64_t batch = getBatch(op.getA());
    return success(
        succeeded(checkAxis(op.getB(), "b", 0, batch, "L", "G6")) &&
        succeeded(checkAxis(op.getAScale(), "a_scale", 0, batch, "L", "G6")) &&
        succeeded(checkAxis(op.getBScale(), "b_scale", 0, batch, "L", "G6")) &&
        succeeded(checkAxis(op.getD(), "d", 0, batch, "L", "G6")));
  }

  /// Checks the extents of `b_scale`, for each block or each column.
  LogicalResult checkBScale(int64_t n, int64_t k) {
    Value scale = op.getBScale();
    if (op.hasColumnScales())
      return success(succeeded(checkExtent(scale, "b_scale", 0, ceilDiv(k, 128),
                                           "ceil(K/128)", "G2")) &&
                     succeeded(checkExtent(scale, "b_scale", 1, n, "N", "G2")));
    std::string rows = "ceil(N/" + std::to_string(op.getBBlock()) + ")";
    return success(
        succeeded(checkExtent(scale, "b_scale", 0, ceilDiv(n, op.getBBlock()),
                              rows, "G2")) &&
        succeeded(checkExtent(scale, "b_scale", 1, ceilDiv(k, 128),
                              "ceil(K/128)", "G2")));
  }
};

} // namespace

int64_t BlockwiseGemmOp::getBatchAxes() {
  return cast<MemRefType>(getA().getType()).getRank() - 2;
}

static LogicalResult checkEpilogue(OperandChecker &checker, int64_t m,
                                   int64_t n);

LogicalResult BlockwiseGemmOp::verify() {
  OperandChecker checker{*this};
  if (int64_t block = getBBlock(); block != 128 && block != 64 && block != 1)
    return emitOpError() << "b_block, the rows of B that share a scale, must "
                            "be 128, 64 or 1 (G5), but got "
                         << block;
  auto isE4M3 = [](Type type) { return isa<Float8E4M3FNType>(type); };
  auto isScale = [](Type type) { return type.isF32() || type.isBF16(); };
  auto isOutput = [](Type type) {
    return type.isF32() || type.isBF16() || type.isF16() ||
           isa<Float8E4M3FNType>(type);
  };
  if (failed(checker.checkForm(getA(), "a", isE4M3, "f8E4M3FN", "G1")) ||
      failed(checker.checkForm(getB(), "b", isE4M3, "f8E4M3FN", "G1")) ||
      failed(checker.checkForm(getAScale(), "a_scale", isScale, "f32 or bf16",
                               "G2")) ||
      failed(checker.checkForm(getBScale(), "b_scale", isScale, "f32 or bf16",
                               "G2")) ||
      failed(checker.checkForm(getD(), "d", isOutput,
                               "bf16, f16, f32 or f8E4M3FN", "G3")))
    return failure();

  auto getMatrix = [](Value operand) {
    return cast<MemRefType>(operand.getType()).getShape().take_back(2);
  };
  for (Value operand : {getA(), getAScale(), getB(), getBScale(), getD()})
    for (int64_t extent : getMatrix(operand))
      if (extent >= int64_t(1) << 31)
        return emitOpError() << "M, N and K must be below 2^31, the range of "
                                "TMA coordinates (G4), but got "
                             << extent;
  ArrayRef<int64_t> a = getMatrix(getA()), b = getMatrix(getB());
  int64_t m = a[0], n = b[0], k = ShapedType::isDynamic(a[1]) ? b[1] : a[1];
  if (!ShapedType::isDynamic(k) && k % 16)
    return emitOpError() << "K must be a multiple of 16 (G4), but got " << k;
  if (getBatchAxes() && failed(checker.checkBatch()))
    return failure();
  return success(
      succeeded(checker.checkExtent(getB(), "b", 1, k, "K", "G1")) &&
      succeeded(checker.checkExtent(getAScale(), "a_scale", 0, ceilDiv(k, 128),
                                    "ceil(K/128)", "G2")) &&
      succeeded(checker.checkExtent(getAScale(), "a_scale", 1, m, "M", "G2")) &&
      succeeded(checker.checkBScale(n, k)) &&
      succeeded(checker.checkExtent(getD(), "d", 0, m, "M", "G3")) &&
      succeeded(checker.checkExtent(getD(), "d", 1, n, "N", "G3")) &&
      succeeded(checker.checkRowBytes(getA(), "a")) &&
      succeeded(checker.checkRowBytes(getB(), "b")) &&
      succeeded(checker.checkRowBytes(getAScale(), "a_scale")) &&
      (!hasColumnScales() ||
       succeeded(checker.checkRowBytes(getBScale(), "b_scale"))) &&
      succeeded(checker.checkRowBytes(getD(), "d")) &&
      succeeded(checkEpilogue(checker, m, n)));
}

//===----------------------------------------------------------------------===//
// What follows the sum
//===----------------------------------------------------------------------===//

/// A number that the kernel reads: 1 x 1 f32.
static LogicalResult checkNumber(OperandChecker &checker, Value operand,
                                 StringRef name) {
  if (!operand)
    return success();
  auto isF32 = [](Type type) { return type.isF32(); };
  if (failed(checker.checkForm(operand, name, isF32, "f32", "G9",
                               /*isCommon=*/true)))
    return failure();
  auto type = cast<MemRefType>(operand.getType());
  if (type.hasStaticShape() && type.getNumElements() == 1)
    return success();
  return checker.op.emitOpError()
         << "'" << name << "' must be one number, 1x1 (G9), but got " << type;
}

static LogicalResult checkEpilogue(OperandChecker &checker, int64_t m,
                                   int64_t n) {
  BlockwiseGemmOp op = checker.op;
  auto isAddend = [](Type type) {
    return type.isF32() || type.isBF16() || type.isF16();
  };
  StringRef addends = "bf16, f16 or f32";
  if (Value c = op.getC()) {
    int64_t batch = cast<MemRefType>(op.getA().getType()).getDimSize(0);
    if (failed(checker.checkForm(c, "c", isAddend, addends, "G7")) ||
        (op.getBatchAxes() &&
         failed(checker.checkAxis(c, "c", 0, batch, "L", "G6"))) ||
        failed(checker.checkExtent(c, "c", 0, m, "M", "G7")) ||
        failed(checker.checkExtent(c, "c", 1, n, "N", "G7")) ||
        failed(checker.checkRowBytes(c, "c")))
      return failure();
  }
  if (Value bias = op.getBias()) {
    if (failed(checker.checkForm(bias, "bias", isAddend, addends, "G8",
                                 /*isCommon=*/true)))
      return failure();
    int64_t rows = cast<MemRefType>(bias.getType()).getDimSize(0);
    if (rows != 1 && !ShapedType::isDynamic(rows))
      return op.emitOpError()
             << "'bias' must have one row (G8), but got " << rows;
    if (failed(checker.checkAxis(bias, "bias", 1, n, "N", "G8")) ||
        failed(checker.checkRowBytes(bias, "bias")))
      return failure();
  }
  if (op.getBeta() && !op.getC())
    return op.emitOpError() << "has 'beta', but no 'c' for it to multiply (G9)";
  return success(succeeded(checkNumber(checker, op.getBeta(), "beta")) &&
                 succeeded(checkNumber(checker, op.getDScale(), "d_scale")));
}

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
