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

/// mma: one lane starts an instruction for each 32 bytes of K.
struct LowerMma : public KernelPattern<MmaOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(MmaOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    TmemType accumulator = op.getAccumulator().getType();
    // K of one instruction, in bytes (PTX ISA, tcgen05.mma shapes).
    constexpr int64_t kStep = 32;
    int64_t steps = op.getA().getType().getRowBytes() / kStep;
    bool isFloat8 =
        op.getA().getType().getElementType().getIntOrFloatBitWidth() == 8;
    Instructions(rewriter, loc)
        .ifThen(getRole(op).leader, [&](Instructions &leader) {
          Value a = getDescriptor(operands.getA()[0], loc, rewriter);
          Value b = getDescriptor(operands.getB()[0], loc, rewriter);
          for (int64_t step = 0; step < steps; ++step) {
            Value accumulate = arith::ConstantOp::create(
                rewriter, loc, rewriter.getBoolAttr(step > 0));
            if (step == 0 && !operands.getAccumulate().empty())
              accumulate = operands.getAccumulate()[0];
            // A step is 32 bytes further in the row; the address field counts
            // 16 bytes.
            leader.mma(operands.getAccumulator()[0],
                       advance(a, step * kStep / 16, loc, rewriter),
                       advance(b, step * kStep / 16, loc, rewriter),
                       getInstruction(op), accumulate, isFloat8,
                       accumulator.getCtaGroup());
          }
        });
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// The code of an operand's type (PTX ISA, tcgen05 instruction descriptor):
  /// e4m3 0 and e5m2 1 in kind f8f6f4, f16 0 and bf16 1 in kind f16.
  static int64_t getFormat(TileType tile) {
    return isa<Float8E5M2Type, BFloat16Type>(tile.getElementType());
  }

  /// The instruction descriptor (PTX ISA, tcgen05 instruction descriptor): D
  /// f32 (bits 4-5 = 1), the formats of A (bits 7-9) and B (10-12), both
  /// K-major (0), N/8 in bits 17-22, M/16 in bits 24-28.
  static int64_t getInstruction(MmaOp op) {
    ArrayRef<int64_t> shape = op.getAccumulator().getType().getShape();
    return (1 << 4) | getFormat(op.getA().getType()) << 7 |
           getFormat(op.getB().getType()) << 10 | (shape[1] / 8) << 17 |
           (shape[0] / 16) << 24;
  }

  /// The shared-memory descriptor (PTX ISA, tcgen05 shared memory descriptor)
  /// of a K-major tile under the 128-byte swizzle: address/16 in bits 0-13,
  /// stride between groups of eight rows (1024 bytes) /16 in bits 32-45,
  /// version 1 in bits 46-48, swizzle 128B = 2 in bits 61-63. The leading
  /// dimension offset (bits 16-29) is not used by swizzled K-major tiles.
  static Value getDescriptor(Value address, Location loc, OpBuilder &builder) {
    Instructions instructions(builder, loc);
    Value field =
        instructions.bitAnd(instructions.shiftRight(address, 4), 0x3FFF);
    Value wide =
        arith::ExtUIOp::create(builder, loc, builder.getI64Type(), field);
    constexpr int64_t kFixed =
        int64_t(1024 / 16) << 32 | int64_t(1) << 46 | int64_t(2) << 61;
    Value fixed = arith::ConstantOp::create(builder, loc,
                                            builder.getI64IntegerAttr(kFixed));
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
