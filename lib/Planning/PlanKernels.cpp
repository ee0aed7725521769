// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes on the ops of each linear kernel what is derived for them.

#include "fp8/Planning/Planning.h"

#include "fp8/Analysis/KernelPlan.h"
#include "fp8/Planning/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::fp8 {
#define GEN_PASS_DEF_FP8PLANKERNELS
#include "fp8/Planning/Passes.h.inc"
} // namespace mlir::fp8

using namespace mlir;
using namespace mlir::fp8;

LogicalResult mlir::fp8::planKernel(FunctionOpInterface kernel) {
  FailureOr<KernelPlan> plan = KernelPlan::analyze(kernel);
  if (failed(plan))
    return failure();
  plan->write(kernel);
  return success();
}

LogicalResult mlir::fp8::checkPlan(FunctionOpInterface kernel) {
  FailureOr<KernelPlan> plan = KernelPlan::analyze(kernel);
  return failed(plan) ? failure() : plan->check(kernel);
}

namespace {

struct PlanKernelsPass
    : public mlir::fp8::impl::Fp8PlanKernelsBase<PlanKernelsPass> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<gpu::GPUFuncOp>()) {
      if (!kernel.isKernel() || !hasRings(kernel))
        continue;
      if (failed(planKernel(kernel)))
        return signalPassFailure();
    }
  }
};

} // namespace
