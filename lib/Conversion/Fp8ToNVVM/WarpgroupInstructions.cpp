// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The instructions of warpgroups, and those that bring their registers to
// shared memory.

#include "Instructions.h"
#include "fp8/IR/Fp8.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::fp8;

/// "{$0, $1, ...}".
static std::string getRegisterList(size_t count) {
  std::string list = "{";
  for (size_t i = 0; i < count; ++i)
    list += (i ? ", $" : "$") + std::to_string(i);
  return list + "}";
}

/// An asm with `count` results of f32 and the constraints that tie the first
/// operands to them.
static SmallVector<Value> buildTiedAsm(OpBuilder &builder, Location loc,
                                       StringRef text, size_t count,
                                       ValueRange tied, ValueRange others) {
  std::string constraints;
  for (size_t i = 0; i < count; ++i)
    constraints += "=f,";
  for (size_t i = 0; i < tied.size(); ++i)
    constraints += std::to_string(i) + ",";
  for (size_t i = 0; i < others.size(); ++i)
    constraints += "l,";
  auto type = LLVM::LLVMStructType::getLiteral(
      builder.getContext(), SmallVector<Type>(count, builder.getF32Type()));
  SmallVector<Value> operands(tied);
  llvm::append_range(operands, others);
  Value result = LLVM::InlineAsmOp::create(
                     builder, loc, type, operands, text,
                     constraints + "~{memory}", /*has_side_effects=*/true,
                     /*is_align_stack=*/false, LLVM::TailCallKind::None,
                     LLVM::AsmDialectAttr(), ArrayAttr())
                     .getRes();
  SmallVector<Value> registers;
  for (size_t i = 0; i < count; ++i)
    registers.push_back(LLVM::ExtractValueOp::create(builder, loc, result, i));
  return registers;
}

// One asm for the whole group: LLVM's op for wgmma.mma_async takes and returns
// all registers each time, as the registers of the first one too, whose old
// contents do not matter. A register that is read before it is written is kept
// through the loop.
SmallVector<Value> Instructions::startWarpgroupMma(
    const WarpgroupProduct &product, ArrayRef<Value> aDescriptors,
    ArrayRef<Value> bDescriptors, ValueRange tied, bool accumulates) {
  size_t count = product.columns / 2;
  bool isFloat8 = product.aType.starts_with("e");
  std::string mnemonic = ("wgmma.mma_async.sync.aligned.m64n" +
                          Twine(product.columns) + (isFloat8 ? "k32" : "k16") +
                          ".f32." + product.aType + "." + product.bType)
                             .str();
  std::string registers = getRegisterList(count);
  size_t next = count + tied.size();
  // Errors name the op by this comment.
  std::string text = ("{ // " + WarpgroupMmaOp::getOperationName() +
                      "\n.reg .pred adds;\nwgmma.fence.sync.aligned;\n")
                         .str();
  SmallVector<Value> descriptors;
  for (auto [step, a, b] : llvm::enumerate(aDescriptors, bDescriptors)) {
    bool adds = step > 0 || (accumulates && !tied.empty());
    if (step < 2)
      text += ("setp.ne.b32 adds, " + Twine(int(adds)) + ", 0;\n").str();
    text +=
        (mnemonic + " " + registers + ", $" + Twine(next) + ", $" +
         Twine(next + 1) + ", adds, 1, 1" + (isFloat8 ? "" : ", 0, 0") + ";\n")
            .str();
    next += 2;
    descriptors.append({a, b});
  }
  text += "wgmma.commit_group.sync.aligned;\n}";
  return buildTiedAsm(builder, loc, text, count, tied, descriptors);
}

// LLVM's op for the wait has no operands, so that readers of the registers
// could move in front of it.
SmallVector<Value> Instructions::waitWarpgroupMma(ValueRange registers,
                                                  int64_t behind) {
  std::string text =
      ("wgmma.wait_group.sync.aligned " + Twine(behind) + ";").str();
  return buildTiedAsm(builder, loc, text, registers.size(), registers, {});
}

void Instructions::pinProduct(MutableArrayRef<Value> pairs) {
  SmallVector<Value> registers;
  for (Value pair : pairs)
    for (int64_t i : {0, 1})
      registers.push_back(extract(pair, i));
  registers = buildTiedAsm(builder, loc, "", registers.size(), registers, {});
  for (auto [i, pair] : llvm::enumerate(pairs))
    pair = insert(insert(undefPair(), registers[2 * i], 0),
                  registers[2 * i + 1], 1);
}

void Instructions::setRegisters(int64_t count, bool takes) {
  NVVM::SetMaxRegisterOp::create(builder, loc, count,
                                 takes ? NVVM::SetMaxRegisterAction::increase
                                       : NVVM::SetMaxRegisterAction::decrease);
}

void Instructions::storeMatrices(Value address, ValueRange matrices,
                                 bool transposed) {
  MLIRContext *context = builder.getContext();
  auto shape = NVVM::LdStMatrixShapeAttr::get(context, 8, 8);
  NVVM::StMatrixOp::create(builder, loc, sharedPointer(address), matrices,
                           transposed ? NVVM::MMALayout::col
                                      : NVVM::MMALayout::row,
                           shape, NVVM::LdStMatrixEltType::B16);
}
