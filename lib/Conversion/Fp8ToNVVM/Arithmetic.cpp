// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arithmetic of a lowered kernel: pairs of f32, roundings and functions.

#include "Instructions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::fp8;

Value Instructions::i64(int64_t value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getI64IntegerAttr(value));
}
Value Instructions::insert(Value vector, Value element, int64_t position) {
  return LLVM::InsertElementOp::create(builder, loc, vector, element,
                                       i32(position));
}
Value Instructions::extract(Value vector, int64_t position) {
  return LLVM::ExtractElementOp::create(builder, loc, vector, i32(position));
}
Value Instructions::undefPair() {
  return LLVM::UndefOp::create(builder, loc,
                               VectorType::get(2, builder.getF32Type()));
}
Value Instructions::zeroPair() {
  return arith::ConstantOp::create(
      builder, loc,
      builder.getZeroAttr(VectorType::get(2, builder.getF32Type())));
}
Value Instructions::splatPair(Value value) {
  return insert(insert(undefPair(), value, 0), value, 1);
}
Value Instructions::addPair(Value lhs, Value rhs) {
  return arith::AddFOp::create(builder, loc, lhs, rhs);
}
Value Instructions::computeMath(StringRef mathOp, ValueRange operands) {
  if (mathOp == "math.fma")
    return fma(operands[0], operands[1], operands[2]);
  // Of these, too, the stock lowering makes calls.
  if (mathOp == "arith.maxnumf")
    return LLVM::MaxNumOp::create(builder, loc, operands[0], operands[1]);
  if (mathOp == "arith.minnumf")
    return LLVM::MinNumOp::create(builder, loc, operands[0], operands[1]);
  // Pure asm: LLVM's intrinsics for the approximations need fast-math flags,
  // which would allow more than the instruction, and the stock lowering to NVVM
  // makes calls to libdevice of the others.
  StringRef instruction = llvm::StringSwitch<StringRef>(mathOp)
                              .Case("math.absf", "abs.f32")
                              .Case("math.ceil", "cvt.rpi.f32.f32")
                              .Case("math.exp", "ex2.approx.ftz.f32")
                              .Case("math.exp2", "ex2.approx.ftz.f32")
                              .Case("math.floor", "cvt.rmi.f32.f32")
                              .Case("math.rsqrt", "rsqrt.approx.f32")
                              .Case("math.sqrt", "sqrt.rn.f32")
                              .Case("math.tanh", "tanh.approx.f32")
                              .Default("");
  if (instruction.empty())
    return {};
  Value source = operands[0];
  if (mathOp == "math.exp") {
    Value log2e = arith::ConstantOp::create(
        builder, loc, builder.getF32FloatAttr(1.44269504f));
    source = arith::MulFOp::create(builder, loc, source, log2e);
  }
  return LLVM::InlineAsmOp::create(
             builder, loc, builder.getF32Type(), source,
             (instruction + " $0, $1;").str(), "=f,f",
             /*has_side_effects=*/false, /*is_align_stack=*/false,
             LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
      .getResult(0);
}
/// Rounds two f32 to an element of 8 bits each, which saturates.
static Value packFloat8(OpBuilder &builder, Location loc, Value upper,
                        Value lower, Type element) {
  StringRef format = isa<Float8E5M2Type>(element) ? "e5m2x2" : "e4m3x2";
  // The first source goes to the upper half (PTX ISA, cvt).
  return LLVM::InlineAsmOp::create(
             builder, loc, builder.getI16Type(), ValueRange{upper, lower},
             ("cvt.rn.satfinite." + format + ".f32 $0, $1, $2;").str(),
             "=h,f,f",
             /*has_side_effects=*/false, /*is_align_stack=*/false,
             LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
      .getResult(0);
}
Value Instructions::roundAndPack(ArrayRef<Value> pairs, Type element) {
  Type word = builder.getI32Type();
  SmallVector<Value> words, halves;
  for (Value pair : pairs) {
    if (element.isF32()) {
      for (int64_t i : {0, 1})
        words.push_back(
            LLVM::BitcastOp::create(builder, loc, word, extract(pair, i)));
      continue;
    }
    if (element.getIntOrFloatBitWidth() == 8) {
      halves.push_back(packFloat8(builder, loc, extract(pair, 1),
                                  extract(pair, 0), element));
      if (halves.size() < 2)
        continue;
      Value vector = LLVM::UndefOp::create(
          builder, loc, VectorType::get(2, builder.getI16Type()));
      for (int64_t i : {0, 1})
        vector = insert(vector, halves[i], i);
      words.push_back(LLVM::BitcastOp::create(builder, loc, word, vector));
      halves.clear();
      continue;
    }
    Value rounded = LLVM::FPTruncOp::create(builder, loc,
                                            VectorType::get(2, element), pair);
    words.push_back(LLVM::BitcastOp::create(builder, loc, word, rounded));
  }
  Value packed =
      LLVM::UndefOp::create(builder, loc, VectorType::get(words.size(), word));
  for (auto [i, value] : llvm::enumerate(words))
    packed = insert(packed, value, i);
  return packed;
}
Value Instructions::roundPair(Value pair, Type element) {
  if (element.isF32())
    return pair;
  if (element.getIntOrFloatBitWidth() == 8)
    return packFloat8(builder, loc, extract(pair, 1), extract(pair, 0),
                      element);
  return LLVM::BitcastOp::create(
      builder, loc, builder.getI32Type(),
      LLVM::FPTruncOp::create(builder, loc, VectorType::get(2, element), pair));
}
std::array<Value, 2> Instructions::roundApart(Value pair, Type element) {
  if (element.isF32())
    return {extract(pair, 0), extract(pair, 1)};
  Value both =
      packFloat8(builder, loc, extract(pair, 1), extract(pair, 0), element);
  Type byte = builder.getI8Type();
  Value bits = LLVM::ConstantOp::create(builder, loc, both.getType(), 8);
  Value upper = LLVM::LShrOp::create(builder, loc, both, bits);
  return {LLVM::TruncOp::create(builder, loc, byte, both),
          LLVM::TruncOp::create(builder, loc, byte, upper)};
}
Value Instructions::fma(Value a, Value b, Value c) {
  return LLVM::FMAOp::create(builder, loc, a, b, c);
}
