// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The GEMM family (phase 0).

#include "fp8/IR/Fp8.h"

using namespace mlir;
using namespace mlir::fp8;

namespace {

/// Checks one operand after the other against the extents that the earlier ones
/// fixed.
struct OperandChecker {
  BlockwiseGemmOp op;

  /// Checks rank, element type and layout.
  LogicalResult checkForm(Value operand, StringRef name,
                          bool (*isElement)(Type), StringRef elements,
                          StringRef label) {
    auto type = dyn_cast<MemRefType>(operand.getType());
    if (!type || type.getRank() != 2 || !isElement(type.getElementType()))
      return op.emitOpError()
             << "'" << name << "' must be a 2-D memref of " << elements << " ("
             << label << "), but got " << operand.getType();
    SmallVector<int64_t> strides;
    int64_t offset;
    if (failed(type.getStridesAndOffset(strides, offset)) || strides[1] != 1)
      return op.emitOpError()
             << "the rows of '" << name << "' must be contiguous (" << label
             << "), but got " << type;
    if (type.getMemorySpace())
      return op.emitOpError() << "'" << name
                              << "' must be in global memory, without a memory "
                                 "space ("
                              << label << "), but got " << type;
    if (!ShapedType::isDynamic(strides[0]) && strides[0] <= 0 &&
        type.getDimSize(0) > 1)
      return op.emitOpError()
             << "the rows of '" << name << "' must lie one after the other ("
             << label << "), but are " << strides[0] << " elements apart";
    return success();
  }

  /// Checks that a static extent is the expected one.
  LogicalResult checkExtent(Value operand, StringRef name, unsigned axis,
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

  /// Checks that rows which TMA copies are a multiple of 16 bytes apart.
  LogicalResult checkRowBytes(Value operand, StringRef name) {
    auto type = cast<MemRefType>(operand.getType());
    SmallVector<int64_t> strides;
    int64_t offset;
    (void)type.getStridesAndOffset(strides, offset);
    int64_t bytes = type.getElementType().getIntOrFloatBitWidth() / 8;
    if (ShapedType::isDynamic(strides[0]) || strides[0] * bytes % 16 == 0)
      return success();
    return op.emitOpError()
           << "the rows of '" << name
           << "' must be a multiple of 16 bytes apart, because TMA copies "
           << "them (G4), but are " << strides[0] * bytes
           << "; pad them by a strided layout";
  }
};

} // namespace

static int64_t ceilDiv(int64_t extent, int64_t block) {
  return ShapedType::isDynamic(extent) ? extent : (extent + block - 1) / block;
}

LogicalResult BlockwiseGemmOp::verify() {
  OperandChecker checker{*this};
  auto isE4M3 = [](Type type) { return isa<Float8E4M3FNType>(type); };
  auto isF32 = [](Type type) { return type.isF32(); };
  auto isOutput = [](Type type) {
    return type.isF32() || type.isBF16() || type.isF16();
  };
  if (failed(checker.checkForm(getA(), "a", isE4M3, "f8E4M3FN", "G1")) ||
      failed(checker.checkForm(getB(), "b", isE4M3, "f8E4M3FN", "G1")) ||
      failed(checker.checkForm(getAScale(), "a_scale", isF32, "f32", "G2")) ||
      failed(checker.checkForm(getBScale(), "b_scale", isF32, "f32", "G2")) ||
      failed(
          checker.checkForm(getD(), "d", isOutput, "bf16, f16 or f32", "G3")))
    return failure();

  ArrayRef<int64_t> a = cast<MemRefType>(getA().getType()).getShape();
  ArrayRef<int64_t> b = cast<MemRefType>(getB().getType()).getShape();
  int64_t m = a[0], n = b[0], k = ShapedType::isDynamic(a[1]) ? b[1] : a[1];
  for (int64_t extent : {m, n, k})
    if (extent >= int64_t(1) << 31)
      return emitOpError() << "M, N and K must be below 2^31, the range of TMA "
                              "coordinates (G4), but got "
                           << extent;
  if (!ShapedType::isDynamic(k) && k % 16)
    return emitOpError() << "K must be a multiple of 16 (G4), but got " << k;
  return success(
      succeeded(checker.checkExtent(getB(), "b", 1, k, "K", "G1")) &&
      succeeded(checker.checkExtent(getAScale(), "a_scale", 0, ceilDiv(k, 128),
                                    "ceil(K/128)", "G2")) &&
      succeeded(checker.checkExtent(getAScale(), "a_scale", 1, m, "M", "G2")) &&
      succeeded(checker.checkExtent(getBScale(), "b_scale", 0, ceilDiv(n, 128),
                                    "ceil(N/128)", "G2")) &&
      succeeded(checker.checkExtent(getBScale(), "b_scale", 1, ceilDiv(k, 128),
                                    "ceil(K/128)", "G2")) &&
      succeeded(checker.checkExtent(getD(), "d", 0, m, "M", "G3")) &&
      succeeded(checker.checkExtent(getD(), "d", 1, n, "N", "G3")) &&
      succeeded(checker.checkRowBytes(getA(), "a")) &&
      succeeded(checker.checkRowBytes(getB(), "b")) &&
      succeeded(checker.checkRowBytes(getAScale(), "a_scale")) &&
      succeeded(checker.checkRowBytes(getD(), "d")));
}
