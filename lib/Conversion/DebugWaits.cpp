// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Asks for waits that give up and say what they waited for.

#include "WaitRecords.h"
#include "fp8/Conversion/Passes.h"
#include "fp8/IR/Fp8.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::fp8 {
#define GEN_PASS_DEF_FP8DEBUGWAITS
#include "fp8/Conversion/Passes.h.inc"
} // namespace mlir::fp8

using namespace mlir;
using namespace mlir::fp8;

LogicalResult mlir::fp8::checkNotLowered(ModuleOp module, StringRef what,
                                         StringRef pass) {
  WalkResult result = module.walk([&](FunctionOpInterface kernel) {
    if (!kernel->hasAttr(Fp8Dialect::kSharedMemoryAttrName) &&
        !kernel->hasAttr(Fp8Dialect::kBarriersAttrName))
      return WalkResult::advance();
    kernel.emitOpError() << "is already lowered, so its waits cannot get "
                         << what << "; run " << pass
                         << " before --convert-fp8-rings-to-barriers";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

namespace {

struct DebugWaitsPass
    : public mlir::fp8::impl::Fp8DebugWaitsBase<DebugWaitsPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (limit < 1 || limit > Fp8Dialect::kMaxDebugWaits) {
      module.emitError() << "the time limit must be 1 to "
                         << Fp8Dialect::kMaxDebugWaits
                         << " milliseconds, but got " << int64_t(limit);
      return signalPassFailure();
    }
    if (failed(checkNotLowered(module, "a time limit", "--fp8-debug-waits")))
      return signalPassFailure();
    module->setAttr(
        Fp8Dialect::kDebugWaitsAttrName,
        IntegerAttr::get(IntegerType::get(&getContext(), 64), limit));
  }
};

} // namespace
