// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers prefetches and MMAs of tensor memory.

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fp8;

/// tma_prefetch: one lane starts the copy.
static void prefetchTile(TmaPrefetchOp op, Operands<TmaPrefetchOp> operands,
                         Instructions &to) {
  to.ifThen(getRole(op).leader, [&](Instructions &leader) {
    leader.prefetchTile(operands.getMap()[0],
                        getSingles(operands.getCoordinates()));
  });
}

namespace {

/// The shared-memory descriptor of a tile, but for its address in bits 0-13
/// (PTX ISA, tcgen05 shared memory descriptor). All addresses and strides
/// count 16 bytes. The stride between groups of eight rows is in bits 32-45,
/// version 1 in 46-48, the swizzle in 61-63: 128B is 2. The leading
/// dimension offset (16-29) is used neither by swizzled K-major tiles nor by
/// rows of 16 bytes.
constexpr int64_t getFixedFields(int64_t stride, int64_t swizzle) {
  return stride / 16 << 32 | int64_t(1) << 46 | swizzle << 61;
}
/// A K-major tile of rows of 128 bytes; a tile of rows of 16 bytes.
constexpr int64_t kSwizzled = getFixedFields(8 * 128, 2),
                  kUnswizzled = getFixedFields(8 * 16, 0);

/// mma: one lane starts an instruction for each 32 bytes of K, behind the
/// copies of its scales, which precede them (PTX ISA, pipelined tcgen05
/// instructions).
struct LowerMma : public KernelPattern<MmaOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(MmaOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    // K of one instruction, in bytes (PTX ISA, tcgen05.mma shapes).
    constexpr int64_t kStep = 32;
    int64_t steps = op.getA().getType().getRowBytes() / kStep;
    Instructions(rewriter, loc)
        .ifThen(getRole(op).leader, [&](Instructions &leader) {
          TensorMemoryProduct product{getKind(op),
                                      operands.getAccumulator()[0]};
          product.ctaGroup = op.getAccumulator().getType().getCtaGroup();
          copyScales(op, operands, product, leader, rewriter);
          Value a = getDescriptor(operands.getA()[0], kSwizzled, loc, rewriter);
          Value b = getDescriptor(operands.getB()[0], kSwizzled, loc, rewriter);
          // What the instruction takes for A.
          if (op.getAccumulator().getType().getSwapped())
            std::swap(a, b);
          for (int64_t step = 0; step < steps; ++step) {
            product.accumulate = arith::ConstantOp::create(
                rewriter, loc, rewriter.getBoolAttr(step > 0));
            if (step == 0 && !operands.getAccumulate().empty())
              product.accumulate = operands.getAccumulate()[0];
            // A step is 32 bytes further in the row; the address field counts
            // 16 bytes.
            product.a = advance(a, step * kStep / 16, loc, rewriter);
            product.b = advance(b, step * kStep / 16, loc, rewriter);
            product.instruction = getInstruction(op, step);
            leader.mma(product);
          }
        });
    rewriter.eraseOp(op);
    return success();
  }

private:
  static ProductKind getKind(MmaOp op) {
    Type element = op.getA().getType().getElementType();
    return !op.getScales().empty()                ? ProductKind::MXF8F6F4
           : element.getIntOrFloatBitWidth() == 8 ? ProductKind::F8F6F4
                                                  : ProductKind::F16;
  }

  /// Copies the scales to their slot's columns behind the sums: those of the
  /// MMA's rows, then those of its columns.
  static void copyScales(MmaOp op, Adaptor operands,
                         TensorMemoryProduct &product, Instructions &leader,
                         OpBuilder &builder) {
    if (operands.getScales().empty())
      return;
    TmemType accumulator = op.getAccumulator().getType();
    Value first =
        leader.add(product.accumulator, accumulator.getMmaShape().second);
    if (!operands.getSlot().empty())
      first = leader.add(first, leader.mul(leader.toI32(operands.getSlot()[0]),
                                           accumulator.getColumnsOfScales()));
    product.aScales = first;
    product.bScales = leader.add(first, TmemType::kScaleColumns);
    // A column has the scales of 32 rows.
    if (!operands.getBRow().empty())
      product.bScales =
          leader.add(product.bScales,
                     leader.shiftRight(leader.toI32(operands.getBRow()[0]), 5));
    for (auto [index, tile] : llvm::enumerate(operands.getScales()))
      leader.copyToTensorMemory(
          leader.add(first, index * TmemType::kScaleColumns),
          getDescriptor(tile[0], kUnswizzled, op.getLoc(), builder),
          product.ctaGroup);
  }

  /// The code of an operand's type (PTX ISA, tcgen05 instruction descriptor):
  /// e4m3 0 and e5m2 1 in kind f8f6f4, f16 0 and bf16 1 in kind f16.
  static int64_t getFormat(TileType tile) {
    return isa<Float8E5M2Type, BFloat16Type>(tile.getElementType());
  }

  /// The instruction descriptor (PTX ISA, tcgen05 instruction descriptor): D
  /// f32 (bits 4-5 = 1), the formats of A (bits 7-9) and B (10-12), both
  /// K-major (0), N/8 in bits 17-22, M/16 in bits 24-28. With scales, D is f32
  /// always, bit 23 says UE8M0, and the scales of this step are byte `step` of
  /// a word of A's (bits 29-30) and of B's (4-5).
  static int64_t getInstruction(MmaOp op, int64_t step) {
    TmemType accumulator = op.getAccumulator().getType();
    auto [rows, columns] = accumulator.getMmaShape();
    TileType a = op.getA().getType(), b = op.getB().getType();
    if (accumulator.getSwapped())
      std::swap(a, b);
    int64_t common = getFormat(a) << 7 | getFormat(b) << 10 |
                     (columns / 8) << 17 | (rows / 16) << 24;
    return op.getScales().empty() ? common | 1 << 4
                                  : common | step << 4 | 1 << 23 | step << 29;
  }

  static Value getDescriptor(Value address, int64_t fixedFields, Location loc,
                             OpBuilder &builder) {
    Instructions instructions(builder, loc);
    Value field =
        instructions.bitAnd(instructions.shiftRight(address, 4), 0x3FFF);
    Value wide =
        arith::ExtUIOp::create(builder, loc, builder.getI64Type(), field);
    Value fixed = arith::ConstantOp::create(
        builder, loc, builder.getI64IntegerAttr(fixedFields));
    return arith::OrIOp::create(builder, loc, wide, fixed);
  }

  static Value advance(Value descriptor, int64_t units, Location loc,
                       OpBuilder &builder) {
    if (units == 0)
      return descriptor;
    Value step = arith::ConstantOp::create(builder, loc,
                                           builder.getI64IntegerAttr(units));
    return arith::AddIOp::create(builder, loc, descriptor, step);
  }
};

} // namespace

void mlir::fp8::populateTilePatterns(const TypeConverter &converter,
                                     RewritePatternSet &patterns) {
  SpellingPatterns{converter, patterns}.add<TmaPrefetchOp>(prefetchTile);
  patterns.add<LowerMma>(converter, patterns.getContext());
}
