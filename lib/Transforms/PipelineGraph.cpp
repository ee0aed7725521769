// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Draws the roles, rings and barriers of each kernel.

#include "OutputFile.h"
#include "fp8/Transforms/Passes.h"
#include "fp8/Transforms/ReportKernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::fp8 {
#define GEN_PASS_DEF_FP8PIPELINEGRAPH
#include "fp8/Transforms/Passes.h.inc"
} // namespace mlir::fp8

using namespace mlir;
using namespace mlir::fp8;

namespace {

struct PipelineGraphPass
    : public mlir::fp8::impl::Fp8PipelineGraphBase<PipelineGraphPass> {
  using Fp8PipelineGraphBase::Fp8PipelineGraphBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    FailureOr<SmallVector<KernelReport, 0>> reports =
        reportKernels(getOperation(), chip);
    if (failed(reports) ||
        failed(writeOutput(getOperation(), getArgument(), output,
                           [&](raw_ostream &os) {
                             for (const KernelReport &report : *reports)
                               report.printGraph(os);
                           })))
      signalPassFailure();
  }
};

} // namespace
