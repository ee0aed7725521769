// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers products in the registers of warpgroups.

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fp8;

namespace {

/// warpgroup_mma: each warpgroup starts its rows' product.
struct LowerWarpgroupMma : public KernelPattern<WarpgroupMmaOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(WarpgroupMmaOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Instructions instructions(rewriter, loc);
    TileType a = op.getA().getType(), b = op.getB().getType();
    Value aAddress = getAddress(op.getA(), operands.getA()),
          bAddress = getAddress(op.getB(), operands.getB());
    FragmentType product = op.getPending().getType().getFragment();
    // What the instruction takes for A.
    if (product.isSwapped()) {
      std::swap(a, b);
      std::swap(aAddress, bAddress);
    }
    int64_t warpgroups = product.getWarps() / 4;
    // The warpgroup's rows of it, and the part of them.
    Value firstRow = instructions.add(
        instructions.mul(instructions.shiftRight(getRole(op).warp, 2),
                         a.getRows() / warpgroups),
        64 * op.getPart());
    aAddress =
        instructions.add(aAddress, instructions.mul(firstRow, a.getRowBytes()));
    // K of one instruction, in bytes (PTX ISA, wgmma shapes).
    constexpr int64_t kStep = 32;
    SmallVector<Value> aDescriptors, bDescriptors;
    Value aFirst = getDescriptor(aAddress, loc, rewriter),
          bFirst = getDescriptor(bAddress, loc, rewriter);
    for (int64_t byte = 0; byte < a.getRowBytes(); byte += kStep) {
      aDescriptors.push_back(advance(aFirst, byte, loc, rewriter));
      bDescriptors.push_back(advance(bFirst, byte, loc, rewriter));
    }
    SmallVector<Value> registers;
    for (Value pair : operands.getAccumulator())
      for (int64_t i : {0, 1})
        registers.push_back(instructions.extract(pair, i));
    rewriter.replaceOpWithMultiple(
        op, {instructions.startWarpgroupMma(
                {b.getRows(), getFormat(a), getFormat(b)}, aDescriptors,
                bDescriptors, registers, !op.getOverwrites())});
    return success();
  }

private:
  /// The address of a tile. Where the IR says what it is the sum of, that sum,
  /// whether the tile has been converted by now or not.
  static Value getAddress(Value tile, ValueRange converted) {
    auto view = tile.getDefiningOp<ViewAtOp>();
    return view ? Value(view.getAddress()) : converted[0];
  }

  static StringRef getFormat(TileType tile) {
    Type element = tile.getElementType();
    if (element.isBF16())
      return "bf16";
    if (element.isF16())
      return "f16";
    return isa<Float8E5M2Type>(element) ? "e5m2" : "e4m3";
  }

  /// What a tile's address is the sum of, in units of 16 bytes: places of its
  /// own, and what a slot's number adds.
  struct Terms {
    SmallVector<Value> places, slots;
    int64_t constant = 0;
  };
  static void collectTerms(Value address, Terms &terms,
                           Instructions &instructions) {
    constexpr int64_t kUnit = 16;
    APInt constant;
    auto isWhole = [&](Value value) {
      return matchPattern(value, m_ConstantInt(&constant)) &&
             constant.srem(kUnit) == 0;
    };
    if (isWhole(address)) {
      terms.constant += constant.getSExtValue() / kUnit;
    } else if (auto sum = address.getDefiningOp<arith::AddIOp>()) {
      collectTerms(sum.getLhs(), terms, instructions);
      collectTerms(sum.getRhs(), terms, instructions);
    } else if (auto product = address.getDefiningOp<arith::MulIOp>();
               product && isWhole(product.getRhs())) {
      terms.slots.push_back(
          instructions.mul(product.getLhs(), constant.getSExtValue() / kUnit));
    } else {
      terms.places.push_back(
          instructions.bitAnd(instructions.shiftRight(address, 4), 0x3FFF));
    }
  }

  /// The address field of a descriptor. Shared memory ends below its 2^18
  /// bytes, so each term can be shifted by itself, and what a loop does not
  /// change is computed in front of it: a product starts that much sooner after
  /// its slot's wait.
  static Value getAddressField(Value address, Instructions &instructions) {
    Terms terms;
    collectTerms(address, terms, instructions);
    Value sum = instructions.i32(terms.constant);
    for (Value term : terms.places)
      sum = instructions.add(sum, term);
    for (Value term : llvm::reverse(terms.slots))
      sum = instructions.add(sum, term);
    return sum;
  }

  /// The matrix descriptor of a K-major tile under the 128-byte swizzle (PTX
  /// ISA, wgmma matrix descriptor): address/16 in bits 0-13, stride between
  /// groups of eight rows (1024 bytes) /16 in bits 32-45, swizzle 128B = 1 in
  /// bits 62-63. The leading dimension offset is not used by such tiles.
  static Value getDescriptor(Value address, Location loc, OpBuilder &builder) {
    Instructions instructions(builder, loc);
    Value wide = arith::ExtUIOp::create(builder, loc, builder.getI64Type(),
                                        getAddressField(address, instructions));
    constexpr int64_t kFixed = int64_t(1024 / 16) << 32 | int64_t(1) << 62;
    return arith::OrIOp::create(
        builder, loc, wide,
        arith::ConstantOp::create(builder, loc,
                                  builder.getI64IntegerAttr(kFixed)));
  }

  static Value advance(Value descriptor, int64_t bytes, Location loc,
                       OpBuilder &builder) {
    if (bytes == 0)
      return descriptor;
    return arith::AddIOp::create(
        builder, loc, descriptor,
        arith::ConstantOp::create(builder, loc,
                                  builder.getI64IntegerAttr(bytes / 16)));
  }
};

/// wait_mma: the registers, as pairs.
struct LowerWaitMma : public KernelPattern<WaitMmaOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(WaitMmaOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    Instructions instructions(rewriter, op.getLoc());
    SmallVector<Value> registers = instructions.waitWarpgroupMma(
        operands.getPending(), getPlan<WaitPlanAttr>(op).behind);
    SmallVector<Value> pairs;
    for (size_t i = 0; i < registers.size(); i += 2)
      pairs.push_back(instructions.insert(
          instructions.insert(instructions.undefPair(), registers[i], 0),
          registers[i + 1], 1));
    rewriter.replaceOpWithMultiple(op, {pairs});
    return success();
  }
};

} // namespace

void mlir::fp8::populateWarpgroupPatterns(const TypeConverter &converter,
                                          RewritePatternSet &patterns) {
  patterns.add<LowerWarpgroupMma, LowerWaitMma>(converter,
                                                patterns.getContext());
}
