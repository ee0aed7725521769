// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Proves the protocols of a module's kernels, and says what it has proved.

#include "OutputFile.h"
#include "fp8/IR/Fp8.h"
#include "fp8/Proof/Certificate.h"
#include "fp8/Transforms/Passes.h"
#include "fp8/Transforms/ProveKernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::fp8 {
#define GEN_PASS_DEF_FP8PROVE
#include "fp8/Transforms/Passes.h.inc"
} // namespace mlir::fp8

using namespace mlir;
using namespace mlir::fp8;

namespace {

struct ProvePass : public mlir::fp8::impl::Fp8ProveBase<ProvePass> {
  using Fp8ProveBase::Fp8ProveBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    FailureOr<SmallVector<KernelProof, 0>> proofs =
        proveKernels(getOperation(), chip, !certificate.empty());
    if (failed(proofs))
      return signalPassFailure();
    for (const KernelProof &proof : *proofs)
      if (failed(report(proof, {required, /*saysProved=*/true})))
        signalPassFailure();
    if (!json.empty() && failed(writeJSON(*proofs)))
      signalPassFailure();
    if (!certificate.empty() && failed(writeCertificate(*proofs)))
      signalPassFailure();
  }

private:
  /// Writes the verdicts, those of refuted kernels, too.
  LogicalResult writeJSON(ArrayRef<KernelProof> proofs) {
    llvm::json::Value written = toJSON(proofs);
    if (failed(addEvents(getOperation(), chip, written)))
      return failure();
    return writeOutput(
        getOperation(), getArgument(), json, [&](raw_ostream &os) {
          os << llvm::formatv("{0:2}", std::move(written)) << "\n";
        });
  }

  /// Writes the certificate of the one kernel, if there is one.
  LogicalResult writeCertificate(ArrayRef<KernelProof> proofs) {
    if (proofs.size() > 1)
      return getOperation().emitError()
             << "a certificate is of one kernel, and the module has "
             << proofs.size()
             << "; give each kernel a module of its own, or leave out "
                "'certificate'";
    for (const KernelProof &proof : proofs) {
      auto &its = proof.properties.front().outcome.certificate;
      if (!its)
        continue;
      auto print = [&](raw_ostream &os) { os << ::fp8::proof::seal(*its); };
      return writeOutput(getOperation(), getArgument(), certificate, print);
    }
    return success();
  }
};

} // namespace
