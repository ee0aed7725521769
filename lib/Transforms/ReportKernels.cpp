// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reports of a module's kernels, for the passes that print them.

#include "fp8/Transforms/ReportKernels.h"

#include "LinearCopy.h"
#include "fp8/Planning/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace mlir::fp8;

FailureOr<SmallVector<KernelReport, 0>>
mlir::fp8::reportKernels(ModuleOp module, StringRef chip) {
  OwningOpRef<ModuleOp> copy = makeLinearCopy(module, chip);
  if (!copy)
    return failure();
  PassManager passes(module.getContext());
  passes.nest<gpu::GPUModuleOp>().addPass(createFp8PlanKernels());
  if (failed(passes.run(*copy)))
    return failure();
  SmallVector<KernelReport, 0> reports;
  copy->walk(
      [&](gpu::GPUFuncOp kernel) {
        if (hasRings(kernel) && isPlanned(kernel))
          reports.emplace_back(kernel);
        else if (kernel->hasAttr(Fp8Dialect::kBarriersAttrName))
          kernel.emitWarning()
              << "is not reported: its rings are barriers already; "
                 "report it in phase 0, 1 or 2";
      });
  return reports;
}
