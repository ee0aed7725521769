// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The instructions that copy between global and shared memory: those of TMA, of
// cp.async, and stores of single elements.

#include "Instructions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fp8;

// NVPTX address space.
static constexpr unsigned kGlobal = 1;

//===----------------------------------------------------------------------===//
// Bulk tensor copies
//===----------------------------------------------------------------------===//

/// Coordinates as the instructions want them: i32, innermost first.
static SmallVector<Value> getBox(Instructions &instructions,
                                 ValueRange coordinates) {
  SmallVector<Value> box;
  for (Value coordinate : llvm::reverse(coordinates))
    box.push_back(instructions.toI32(coordinate));
  return box;
}

/// The attribute of copies by a CTA pair; none for a CTA alone.
static NVVM::CTAGroupKindAttr getPairAttr(OpBuilder &builder,
                                          int64_t ctaGroup) {
  return ctaGroup == 2 ? NVVM::CTAGroupKindAttr::get(builder.getContext(),
                                                     NVVM::CTAGroupKind::CTA_2)
                       : NVVM::CTAGroupKindAttr();
}

Value Instructions::toMask(Value mask) {
  return mask ? Value(arith::TruncIOp::create(builder, loc,
                                              builder.getI16Type(), mask))
              : Value();
}

void Instructions::loadTile(Value destination, Value map,
                            ValueRange coordinates, Value barrier, Value mask,
                            int64_t ctaGroup) {
  // A shared address of this CTA is one of the cluster as well; a cast between
  // the spaces would go through generic ones.
  NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
      builder, loc, clusterPointer(destination), map,
      getBox(*this, coordinates), sharedPointer(barrier),
      /*im2colOffsets=*/ValueRange(), toMask(mask), /*l2CacheHint=*/Value(),
      NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false,
      getPairAttr(builder, ctaGroup), /*predicate=*/Value());
}
void Instructions::prefetchTile(Value map, ValueRange coordinates) {
  NVVM::CpAsyncBulkTensorPrefetchOp::create(
      builder, loc, map, getBox(*this, coordinates),
      /*im2colOffsets=*/ValueRange(), NVVM::TMALoadMode::TILE,
      /*l2CacheHint=*/Value());
}
void Instructions::prefetchMap(Value map) {
  NVVM::PrefetchOp::create(builder, loc, /*cacheLevel=*/nullptr,
                           /*evictPriority=*/nullptr, map,
                           /*predicate=*/Value(), builder.getUnitAttr(),
                           /*uniform=*/nullptr, /*in_param_space=*/nullptr);
}
void Instructions::storeTile(Value source, Value map, ValueRange coordinates) {
  NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
      builder, loc, map, sharedPointer(source), getBox(*this, coordinates),
      /*l2CacheHint=*/Value(), NVVM::TMAStoreMode::TILE, /*predicate=*/Value());
}
void Instructions::commitStores() {
  NVVM::CpAsyncBulkCommitGroupOp::create(builder, loc);
}
void Instructions::waitStores(int64_t pending, bool readOnly) {
  NVVM::CpAsyncBulkWaitGroupOp::create(
      builder, loc, builder.getI32IntegerAttr(pending),
      readOnly ? builder.getUnitAttr() : UnitAttr());
}
void Instructions::fenceAsyncProxy() {
  auto *context = builder.getContext();
  NVVM::FenceProxyOp::create(
      builder, loc,
      NVVM::ProxyKindAttr::get(context, NVVM::ProxyKind::async_shared),
      NVVM::SharedSpaceAttr::get(context, NVVM::SharedSpace::shared_cta));
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// The members of the descriptor that convert-gpu-to-nvvm makes of a memref,
/// with indices of 32 bits.
static Type getDescriptorType(MemRefType memref) {
  MLIRContext *context = memref.getContext();
  Type pointer = LLVM::LLVMPointerType::get(context),
       index = IntegerType::get(context, 32),
       extents = LLVM::LLVMArrayType::get(index, memref.getRank());
  return LLVM::LLVMStructType::getLiteral(
      context, {pointer, pointer, index, extents, extents});
}

/// A member of the descriptor that a memref becomes.
static Value getMember(OpBuilder &builder, Location loc, Value memref,
                       ArrayRef<int64_t> position) {
  Value descriptor =
      UnrealizedConversionCastOp::create(
          builder, loc, getDescriptorType(cast<MemRefType>(memref.getType())),
          memref)
          .getResult(0);
  return LLVM::ExtractValueOp::create(builder, loc, descriptor, position);
}

void Instructions::copyElement(Value destination, Value source,
                               ValueRange indices, Value exists) {
  constexpr int64_t kBytes = 4;
  auto type = cast<MemRefType>(source.getType());
  auto member = [&](ArrayRef<int64_t> position) {
    return getMember(builder, loc, source, position);
  };
  SmallVector<int64_t> strides;
  int64_t offset;
  bool isStrided = succeeded(type.getStridesAndOffset(strides, offset));
  assert(isStrided && "kernels take strided memrefs");
  (void)isStrided;
  Value position = offset == 0 ? i32(0) : member({2});
  for (auto [axis, index] : llvm::enumerate(indices)) {
    Value step = toI32(index);
    if (strides[axis] == ShapedType::kDynamic)
      step =
          LLVM::MulOp::create(builder, loc, step, member({4, int64_t(axis)}));
    else
      step = mul(step, strides[axis]);
    position = add(position, step);
  }
  Value pointer = LLVM::GEPOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
      type.getElementType(), member({1}), position);
  pointer = LLVM::AddrSpaceCastOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext(), kGlobal),
      pointer);
  Value read;
  if (exists)
    read = select(exists, i32(kBytes), i32(0));
  NVVM::CpAsyncOp::create(builder, loc, sharedPointer(destination), pointer,
                          kBytes, NVVM::LoadCacheModifierKind::CA, read);
}

Value Instructions::extent(Value memref, int64_t axis) {
  return getMember(builder, loc, memref, {3, axis});
}

void Instructions::storeElements(Value source, Value memref, ValueRange indices,
                                 Value count) {
  auto type = cast<MemRefType>(memref.getType());
  int64_t bits = type.getElementTypeBitWidth();
  Type element = builder.getIntegerType(bits);
  auto widen = [&](Value value) -> Value {
    return LLVM::ZExtOp::create(builder, loc, builder.getI64Type(), value);
  };
  // D may have more than 2^31 elements.
  Value position = widen(getMember(builder, loc, memref, {2}));
  for (auto [axis, index] : llvm::enumerate(indices.drop_back()))
    position = LLVM::AddOp::create(
        builder, loc, position,
        LLVM::MulOp::create(
            builder, loc, widen(index),
            widen(getMember(builder, loc, memref, {4, int64_t(axis)}))));
  position = LLVM::AddOp::create(builder, loc, position, widen(indices.back()));
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value target =
      LLVM::GEPOp::create(builder, loc, pointer, element,
                          getMember(builder, loc, memref, {1}), position);
  target = LLVM::AddrSpaceCastOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext(), kGlobal),
      target);
  Value zero = i32(0), one = i32(1);
  auto loop = scf::ForOp::create(builder, loc, zero, count, one);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value at = loop.getInductionVar();
  Value value = loadShared(add(source, mul(at, bits / 8)), element);
  LLVM::StoreOp::create(
      builder, loc, value,
      LLVM::GEPOp::create(builder, loc, target.getType(), element, target, at),
      /*alignment=*/bits / 8);
}
