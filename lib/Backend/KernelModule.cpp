// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds the one kernel of a module that is to be emitted.

#include "fp8/Backend/KernelModule.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::fp8;

StringRef KernelModule::getName() const {
  return SymbolTable::getSymbolName(function).getValue();
}

static SmallVector<FunctionOpInterface> findKernels(ModuleOp module,
                                                    StringRef name) {
  SmallVector<FunctionOpInterface> kernels;
  module.walk([&](FunctionOpInterface function) {
    bool isKernel =
        function->hasAttr(gpu::GPUDialect::getKernelFuncAttrName()) ||
        function->hasAttr("nvvm.kernel");
    if (isKernel && function->getParentOfType<gpu::GPUModuleOp>() &&
        (name.empty() || function.getName() == name))
      kernels.push_back(function);
  });
  return kernels;
}

static LogicalResult checkLowered(gpu::GPUModuleOp gpuModule) {
  WalkResult result =
      gpuModule.getBody()->walk<WalkOrder::PreOrder>([&](Operation *op) {
        if (isa_and_nonnull<LLVM::LLVMDialect, NVVM::NVVMDialect>(
                op->getDialect()))
          return WalkResult::advance();
        op->emitOpError("is not lowered: a kernel to emit must contain only "
                        "ops of the llvm and nvvm dialects; run a pipeline "
                        "that lowers it first, such as --fp8-gemm-to-ptx");
        return WalkResult::interrupt();
      });
  return failure(result.wasInterrupted());
}

static FailureOr<const chip::Chip *> findChip(gpu::GPUModuleOp gpuModule) {
  auto targets = gpuModule.getTargetsAttr();
  if (!targets || targets.size() != 1 ||
      !isa<NVVM::NVVMTargetAttr>(targets[0])) {
    return gpuModule.emitOpError("must name one chip to emit code for, as in "
                                 "gpu.module @")
           << gpuModule.getName() << " [#nvvm.target<chip = \"sm_100a\">]";
  }
  StringRef name = cast<NVVM::NVVMTargetAttr>(targets[0]).getChip();
  if (const chip::Chip *chip = chip::lookup(name))
    return chip;
  return gpuModule.emitOpError("names an unknown chip '")
         << name << "'; known are " << chip::getNames();
}

FailureOr<KernelModule>
mlir::fp8::getKernelModule(FunctionOpInterface function) {
  auto gpuModule = function->getParentOfType<gpu::GPUModuleOp>();
  if (failed(checkLowered(gpuModule)))
    return failure();
  FailureOr<const chip::Chip *> chip = findChip(gpuModule);
  if (failed(chip))
    return failure();
  return KernelModule{gpuModule, function, *chip};
}

FailureOr<KernelModule> mlir::fp8::findKernelModule(ModuleOp module,
                                                    StringRef name) {
  SmallVector<FunctionOpInterface> kernels = findKernels(module, name);
  if (kernels.empty()) {
    InFlightDiagnostic error = module.emitError("expected a kernel to emit: ");
    if (name.empty())
      return error << "no gpu.module contains a kernel; run a pipeline that "
                      "creates one first, such as --fp8-gemm-to-ptx";
    return error << "no gpu.module contains a kernel named '" << name << "'";
  }
  if (kernels.size() > 1) {
    InFlightDiagnostic error =
        module.emitError("expected one kernel to emit, but got ")
        << kernels.size();
    if (name.empty())
      error << "; choose one with --kernel=NAME";
    else
      error << " named '" << name << "'; rename all but one";
    for (FunctionOpInterface kernel : kernels)
      error.attachNote(kernel.getLoc())
          << "kernel '" << kernel.getName() << "'";
    return error;
  }
  return getKernelModule(kernels.front());
}
