// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A copy of a module in phase 2, for passes that read kernels of phases 0 to 2.

#include "LinearCopy.h"

#include "fp8/Transforms/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::fp8;

OwningOpRef<ModuleOp> mlir::fp8::makeLinearCopy(ModuleOp module,
                                                StringRef chip) {
  OwningOpRef<ModuleOp> copy = module.clone();
  PassManager passes(module.getContext());
  passes.addPass(createLowerAffinePass());
  passes.addPass(createFp8LowerIndex());
  passes.addPass(createFp8ChooseConfig({chip.str(), "", ""}));
  passes.addPass(createFp8StructureGemm({chip.str()}));
  passes.nest<gpu::GPUModuleOp>().addPass(createInlinerPass());
  passes.nest<gpu::GPUModuleOp>().addPass(createFp8FoldViews());
  passes.addPass(createFp8FlattenScopes());
  passes.addPass(createFp8LowerTileLoops());
  if (failed(passes.run(*copy)))
    return nullptr;
  return copy;
}
