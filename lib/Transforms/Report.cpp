// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prints what is derived for each kernel.

#include "OutputFile.h"
#include "fp8/Transforms/Passes.h"
#include "fp8/Transforms/ReportKernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::fp8 {
#define GEN_PASS_DEF_FP8REPORT
#include "fp8/Transforms/Passes.h.inc"
} // namespace mlir::fp8

using namespace mlir;
using namespace mlir::fp8;

namespace {

struct ReportPass : public mlir::fp8::impl::Fp8ReportBase<ReportPass> {
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
    FailureOr<SmallVector<KernelReport, 0>> reports =
        reportKernels(getOperation(), chip);
    if (failed(reports) ||
        failed(writeOutput(getOperation(), getArgument(), output,
                           [&](raw_ostream &os) { print(*reports, os); })))
      signalPassFailure();
  }

private:
  void print(ArrayRef<KernelReport> reports, raw_ostream &os) {
    if (format == "text") {
      for (const KernelReport &report : reports)
        report.print(os);
      return;
    }
    llvm::json::Array array;
    for (const KernelReport &report : reports)
      array.push_back(report.toJSON());
    os << llvm::formatv("{0:2}", llvm::json::Value(std::move(array))) << "\n";
  }
};

} // namespace
