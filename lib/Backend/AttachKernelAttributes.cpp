// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pass fp8-attach-kernel-attributes; Passes.td says what it does and why.

#include "fp8/Backend/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Builders.h"

namespace mlir::fp8 {
#define GEN_PASS_DEF_FP8ATTACHKERNELATTRIBUTES
#include "fp8/Backend/Passes.h.inc"
} // namespace mlir::fp8

using namespace mlir;

static constexpr StringLiteral tensorMapArgsName = "fp8.tensor_map_args";
static constexpr int64_t tensorMapBytes = 128;
static constexpr int64_t tensorMapAlignment = 128;
static constexpr int64_t swizzleAlignment = 1024;
static constexpr unsigned sharedAddressSpace = 3;

static LogicalResult attachTensorMapAttributes(LLVM::LLVMFuncOp function) {
  Attribute attribute = function->getAttr(tensorMapArgsName);
  if (!attribute)
    return success();
  auto indices = dyn_cast<DenseI32ArrayAttr>(attribute);
  if (!indices)
    return function.emitOpError()
           << tensorMapArgsName
           << " must be an array of argument indices, as in array<i32: 0, 1>";
  Builder builder(function.getContext());
  auto mapType = LLVM::LLVMArrayType::get(builder.getI8Type(), tensorMapBytes);
  for (int32_t index : indices.asArrayRef()) {
    if (index < 0 || index >= static_cast<int32_t>(function.getNumArguments()))
      return function.emitOpError()
             << tensorMapArgsName << " names argument " << index
             << ", but the kernel has " << function.getNumArguments();
    auto type = dyn_cast<LLVM::LLVMPointerType>(
        function.getFunctionType().getParamType(index));
    if (!type || type.getAddressSpace() != 0)
      return function.emitOpError()
             << tensorMapArgsName << " names argument " << index
             << ", which must be a '!llvm.ptr', but got "
             << function.getFunctionType().getParamType(index);
    function.setArgAttr(index, LLVM::LLVMDialect::getByValAttrName(),
                        TypeAttr::get(mapType));
    function.setArgAttr(index, NVVM::NVVMDialect::getGridConstantAttrName(),
                        builder.getUnitAttr());
    function.setArgAttr(index, LLVM::LLVMDialect::getAlignAttrName(),
                        builder.getI64IntegerAttr(tensorMapAlignment));
  }
  return success();
}

static void alignDynamicSharedMemory(LLVM::GlobalOp global) {
  auto type = dyn_cast<LLVM::LLVMArrayType>(global.getGlobalType());
  bool isDynamic = type && type.getNumElements() == 0 &&
                   global.getAddrSpace() == sharedAddressSpace &&
                   global.getLinkage() == LLVM::Linkage::External;
  if (isDynamic && global.getAlignment().value_or(0) < swizzleAlignment)
    global.setAlignment(swizzleAlignment);
}

namespace {
struct AttachKernelAttributes
    : mlir::fp8::impl::Fp8AttachKernelAttributesBase<AttachKernelAttributes> {
  void runOnOperation() override {
    for (Operation &op : *getOperation().getBody()) {
      if (auto global = dyn_cast<LLVM::GlobalOp>(op))
        alignDynamicSharedMemory(global);
      if (auto function = dyn_cast<LLVM::LLVMFuncOp>(op))
        if (failed(attachTensorMapAttributes(function)))
          return signalPassFailure();
    }
  }
};
} // namespace
