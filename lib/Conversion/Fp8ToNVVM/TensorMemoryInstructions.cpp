// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The instructions of tensor memory, and the MMAs that write to it.

#include "Instructions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::fp8;

// NVPTX address space.
static constexpr unsigned kTensor = 6;

static NVVM::CTAGroupKind getGroupKind(int64_t ctaGroup) {
  return ctaGroup == 2 ? NVVM::CTAGroupKind::CTA_2 : NVVM::CTAGroupKind::CTA_1;
}

Value Instructions::tmemPointer(Value address) {
  return LLVM::IntToPtrOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext(), kTensor),
      address);
}
void Instructions::allocateColumns(Value addressSlot, int64_t columns,
                                   int64_t ctaGroup) {
  NVVM::Tcgen05AllocOp::create(builder, loc, sharedPointer(addressSlot),
                               i32(columns), getGroupKind(ctaGroup));
}
void Instructions::freeColumns(Value address, int64_t columns,
                               int64_t ctaGroup) {
  NVVM::Tcgen05DeallocOp::create(builder, loc, tmemPointer(address),
                                 i32(columns), getGroupKind(ctaGroup));
}
void Instructions::relinquishAllocation(int64_t ctaGroup) {
  NVVM::Tcgen05RelinquishAllocPermitOp::create(builder, loc,
                                               getGroupKind(ctaGroup));
}
void Instructions::fenceBeforeThreadSync() {
  NVVM::Tcgen05FenceOp::create(builder, loc,
                               NVVM::Tcgen05FenceKind::BEFORE_THREAD_SYNC);
}
void Instructions::fenceAfterThreadSync() {
  NVVM::Tcgen05FenceOp::create(builder, loc,
                               NVVM::Tcgen05FenceKind::AFTER_THREAD_SYNC);
}
void Instructions::mma(const TensorMemoryProduct &product) {
  NVVM::CTAGroupKind group = getGroupKind(product.ctaGroup);
  constexpr auto kDiscard = NVVM::Tcgen05MMACollectorOp::DISCARD;
  Value into = tmemPointer(product.accumulator),
        instruction = i32(product.instruction);
  if (product.kind == ProductKind::MXF8F6F4) {
    NVVM::Tcgen05MMABlockScaleOp::create(
        builder, loc, NVVM::MMABlockScaleKind::MXF8F6F4, group,
        NVVM::Tcgen05MMABlockScale::DEFAULT, kDiscard, into, product.a,
        product.b, instruction, product.accumulate,
        tmemPointer(product.aScales), tmemPointer(product.bScales));
    return;
  }
  auto kind = product.kind == ProductKind::F8F6F4 ? NVVM::Tcgen05MMAKind::F8F6F4
                                                  : NVVM::Tcgen05MMAKind::F16;
  NVVM::Tcgen05MMAOp::create(builder, loc, kind, group, kDiscard,
                             /*aShift=*/false, into, product.a, product.b,
                             instruction, product.accumulate,
                             /*scaleInputD=*/Value(),
                             /*disableOutputLane=*/Value());
}
void Instructions::copyToTensorMemory(Value address, Value descriptor,
                                      int64_t ctaGroup) {
  NVVM::Tcgen05CpOp::create(builder, loc, NVVM::Tcgen05CpShape::SHAPE_32x128b,
                            getGroupKind(ctaGroup),
                            NVVM::Tcgen05CpMulticast::WARPX4,
                            /*srcFormat=*/NVVM::Tcgen05CpSrcFormatAttr(),
                            tmemPointer(address), descriptor);
}
void Instructions::commitMmas(Value barrier, Value mask, int64_t ctaGroup) {
  NVVM::Tcgen05CommitOp::create(builder, loc, sharedPointer(barrier),
                                toMask(mask), getGroupKind(ctaGroup));
}
Value Instructions::startTmemLoad(Value address, int64_t columns,
                                  int64_t laneHalfDistance) {
  Value offset;
  auto shape = NVVM::Tcgen05LdStShape::SHAPE_32X32B;
  if (laneHalfDistance) {
    offset = arith::ConstantOp::create(
        builder, loc, builder.getI64IntegerAttr(laneHalfDistance));
    shape = NVVM::Tcgen05LdStShape::SHAPE_16X32BX2;
  }
  Type word = builder.getI32Type();
  return NVVM::Tcgen05LdOp::create(
      builder, loc, columns == 1 ? word : Type(VectorType::get(columns, word)),
      /*pack=*/false, shape, tmemPointer(address), offset);
}

Value Instructions::startTmemMatrixLoad(Value address, int64_t matrices) {
  constexpr int64_t kRegisters = 4; // of a thread, for each matrix
  return NVVM::Tcgen05LdOp::create(
      builder, loc,
      VectorType::get(kRegisters * matrices, builder.getI32Type()),
      /*pack=*/false, NVVM::Tcgen05LdStShape::SHAPE_16X256B,
      tmemPointer(address), /*offset=*/Value());
}

SmallVector<Value> Instructions::finishTmemLoads(ArrayRef<Value> loads) {
  // nvvm.tcgen05.wait orders nothing but itself: LLVM would move readers of the
  // loaded registers in front of it. An asm that takes and returns every
  // register ties them. LLVM's own op could take its place once it has such
  // operands.
  SmallVector<Value> registers;
  std::string constraints, ties;
  for (Value load : loads)
    for (int64_t i :
         llvm::seq(cast<VectorType>(load.getType()).getDimSize(0))) {
      ties += std::to_string(registers.size()) + ",";
      constraints += "=r,";
      registers.push_back(extract(load, i));
    }
  auto resultType = LLVM::LLVMStructType::getLiteral(
      builder.getContext(),
      SmallVector<Type>(registers.size(), builder.getI32Type()));
  Value waited =
      LLVM::InlineAsmOp::create(
          builder, loc, resultType, registers, "tcgen05.wait::ld.sync.aligned;",
          constraints + ties + "~{memory}", /*has_side_effects=*/true,
          /*is_align_stack=*/false, LLVM::TailCallKind::None,
          LLVM::AsmDialectAttr(), ArrayAttr())
          .getRes();
  SmallVector<Value> pairs;
  for (size_t i = 0; i < registers.size(); i += 2) {
    Value pair = undefPair();
    for (size_t j : {0, 1}) {
      Value word = LLVM::ExtractValueOp::create(builder, loc, waited, i + j);
      pair = insert(
          pair,
          LLVM::BitcastOp::create(builder, loc, builder.getF32Type(), word), j);
    }
    pairs.push_back(pair);
  }
  return pairs;
}
