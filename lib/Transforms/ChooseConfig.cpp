// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gives each GEMM op that pins no configuration the one that is predicted, or
// was measured, to be the best.

#include "Gemm/ConfigChooser.h"
#include "fp8/Transforms/Passes.h"

namespace mlir::fp8 {
#define GEN_PASS_DEF_FP8CHOOSECONFIG
#include "fp8/Transforms/Passes.h.inc"
} // namespace mlir::fp8

using namespace mlir;
using namespace mlir::fp8;

namespace {

struct ChooseConfigPass
    : public mlir::fp8::impl::Fp8ChooseConfigBase<ChooseConfigPass> {
  using Fp8ChooseConfigBase::Fp8ChooseConfigBase;

  void runOnOperation() override {
    SmallVector<BlockwiseGemmOp> gemms;
    getOperation().walk([&](BlockwiseGemmOp op) {
      if (!op.getConfigAttr())
        gemms.push_back(op);
    });
    // Modules without such ops come with any chip.
    if (gemms.empty() && problem.empty() && tuned.empty() && machine.empty() &&
        launch.empty())
      return markAllAnalysesPreserved();
    FailureOr<ConfigChooser> chooser =
        ConfigChooser::create(getOperation(), getArgument(),
                              {chip, problem, tuned, machine, launch, exact});
    if (failed(chooser))
      return signalPassFailure();
    for (BlockwiseGemmOp op : gemms)
      if (std::optional<GemmConfig> config = chooser->chooseConfig(op))
        op.setConfigAttr(GemmConfigAttr::get(&getContext(), *config));
  }
};

} // namespace
