// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From the kernel's gpu.module to an LLVM module, with line information.
//
// The work is done on a copy, so that emission leaves the user's IR alone: the
// contents of the gpu.module are cloned into a fresh module, given debug scopes
// (without one LLVM drops every location) and translated.

#include "LLVMModule.h"
#include "fp8/Backend/PTX.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/IR/Builders.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

using namespace mlir;
using namespace mlir::fp8;

void mlir::fp8::registerTranslationInterfaces(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

static OwningOpRef<ModuleOp> cloneKernel(const KernelModule &kernel) {
  gpu::GPUModuleOp gpuModule = kernel.gpuModule;
  OwningOpRef<ModuleOp> copy(ModuleOp::create(
      UnknownLoc::get(gpuModule.getContext()), kernel.getName()));
  OpBuilder builder = OpBuilder::atBlockEnd(copy->getBody());
  for (Operation &op : *gpuModule.getBody())
    if (&op == kernel.function || !op.hasAttr("nvvm.kernel"))
      builder.clone(op);
  return copy;
}

/// False for a location without a place. The pass that adds scopes takes the
/// callee's place for an op that comes from a call site.
static bool hasPlace(Location location) {
  if (auto site = dyn_cast<CallSiteLoc>(location))
    return site.getCallee()->findInstanceOf<FileLineColLoc>() != nullptr;
  return !isa<UnknownLoc>(location);
}

/// LLVM refuses a call without a location in a function that has debug
/// information; such an op takes the function's. Outside of functions no
/// location is needed, and the pass that adds scopes looks for the function of
/// each op that comes from a call site.
static void completeLocations(ModuleOp module) {
  Location unknown = UnknownLoc::get(module.getContext());
  for (Operation &op : *module.getBody()) {
    auto function = dyn_cast<LLVM::LLVMFuncOp>(op);
    if (!function || !hasPlace(function.getLoc()))
      op.setLoc(unknown);
    if (function)
      function.walk([&](Operation *inner) {
        if (!hasPlace(inner->getLoc()))
          inner->setLoc(function.getLoc());
      });
  }
}

static LogicalResult addDebugScopes(ModuleOp module) {
  // DebugDirectivesOnly is what makes NVPTX print .file and .loc and no
  // .debug_* sections: ptxas then optimises as if there were none.
  LLVM::DIScopeForLLVMFuncOpPassOptions options;
  options.emissionKind = LLVM::DIEmissionKind::DebugDirectivesOnly;
  PassManager passes(module.getContext(), ModuleOp::getOperationName());
  passes.enableVerifier(false);
  passes.addPass(LLVM::createDIScopeForLLVMFuncOpPass(options));
  return passes.run(module);
}

/// `.sync.aligned` instructions in inline asm must not be moved into divergent
/// code. llvm.inline_asm has no way to say so.
static void markAsmConvergent(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
          call && call->isInlineAsm())
        call->addFnAttr(llvm::Attribute::Convergent);
}

std::unique_ptr<llvm::Module>
mlir::fp8::translateKernel(const KernelModule &kernel,
                           llvm::LLVMContext &context) {
  OwningOpRef<ModuleOp> copy = cloneKernel(kernel);
  completeLocations(*copy);
  if (failed(addDebugScopes(*copy)))
    return nullptr;
  std::unique_ptr<llvm::Module> module =
      translateModuleToLLVMIR(*copy, context, kernel.getName());
  if (module)
    markAsmConvergent(*module);
  return module;
}
