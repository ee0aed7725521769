// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prints what is derived for each kernel.

#include "fp8/Analysis/KernelReport.h"
#include "fp8/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/ToolOutputFile.h"

namespace mlir::fp8 {
#define GEN_PASS_DEF_FP8REPORT
#include "fp8/Transforms/Passes.h.inc"
} // namespace mlir::fp8

using namespace mlir;
using namespace mlir::fp8;

namespace {

struct ReportPass : public fp8::impl::Fp8ReportBase<ReportPass> {
  using Fp8ReportBase::Fp8ReportBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (format != "text" && format != "json") {
      getOperation().emitError()
          << "--fp8-report: format must be text or json, "
             "but got '"
          << format << "'";
      return signalPassFailure();
    }
    // The module goes on as it came; a copy is taken to where it can be read.
    OwningOpRef<ModuleOp> copy = getOperation().clone();
    PassManager passes(&getContext());
    passes.addPass(createFp8ChooseConfig({chip, "", ""}));
    passes.addPass(createFp8StructureGemm({chip}));
    passes.addPass(createInlinerPass());
    passes.addPass(createFp8FlattenScopes());
    passes.addPass(createFp8LowerTileLoops());
    SmallVector<KernelReport, 0> reports;
    if (failed(passes.run(*copy)) || failed(collect(*copy, reports)) ||
        failed(write(reports)))
      signalPassFailure();
  }

private:
  LogicalResult collect(ModuleOp module,
                        SmallVectorImpl<KernelReport> &reports) {
    WalkResult result = module.walk([&](gpu::GPUFuncOp kernel) {
      if (!kernel.isKernel() || !kernel->hasAttr(Fp8Dialect::kLinearAttrName))
        return WalkResult::advance();
      FailureOr<KernelPlan> plan = KernelPlan::analyze(kernel);
      if (failed(plan))
        return WalkResult::interrupt();
      reports.emplace_back(kernel, *plan);
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  LogicalResult write(ArrayRef<KernelReport> reports) {
    std::error_code error;
    llvm::ToolOutputFile file(output, error, llvm::sys::fs::OF_None);
    if (error)
      return getOperation().emitError() << "--fp8-report: cannot write '"
                                        << output << "': " << error.message();
    if (format == "text") {
      for (const KernelReport &report : reports)
        report.print(file.os());
    } else {
      llvm::json::Array array;
      for (const KernelReport &report : reports)
        array.push_back(report.toJSON());
      file.os() << llvm::formatv("{0:2}", llvm::json::Value(std::move(array)))
                << "\n";
    }
    file.keep();
    return success();
  }
};

} // namespace
