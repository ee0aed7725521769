// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Refuses kernels whose protocols are refuted, on their way to PTX.

#include "fp8/Analysis/KernelPlan.h"
#include "fp8/IR/KernelCertificate.h"
#include "fp8/Proof/Certificate.h"
#include "fp8/Transforms/Passes.h"
#include "fp8/Transforms/ProveKernels.h"

namespace mlir::fp8 {
#define GEN_PASS_DEF_FP8VERIFYPROTOCOL
#include "fp8/Transforms/Passes.h.inc"
} // namespace mlir::fp8

using namespace mlir;
using namespace mlir::fp8;

namespace {

struct VerifyProtocolPass
    : public mlir::fp8::impl::Fp8VerifyProtocolBase<VerifyProtocolPass> {
  using Fp8VerifyProtocolBase::Fp8VerifyProtocolBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    for (auto kernel : getOperation().getOps<gpu::GPUFuncOp>())
      if (failed(verify(kernel)))
        signalPassFailure();
  }

private:
  LogicalResult verify(gpu::GPUFuncOp kernel) {
    if (!kernel.isKernel())
      return success();
    if (required && kernel->hasAttr(Fp8Dialect::kBarriersAttrName))
      return kernel.emitError()
             << "kernel '" << kernel.getName()
             << "' cannot be proved: its rings are barriers already; let it "
                "enter the pipeline in phase 0, 1 or 2";
    if (!hasRings(kernel))
      return success();
    FailureOr<KernelProof> proof =
        proveKernel(kernel, /*withCertificate=*/true);
    if (failed(proof))
      return failure();
    auto &certificate = proof->properties.front().outcome.certificate;
    std::optional<std::string> text;
    if (certificate)
      text = ::fp8::proof::toText(*certificate);
    setCertificate(kernel, text);
    return report(*proof, {required, /*saysProved=*/false});
  }
};

} // namespace
