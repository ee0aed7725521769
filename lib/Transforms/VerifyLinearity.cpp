// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds functions that handle linear values and are not marked to be checked.

#include "fp8/IR/Fp8.h"
#include "fp8/IR/Linearity.h"
#include "fp8/Transforms/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::fp8 {
#define GEN_PASS_DEF_FP8VERIFYLINEARITY
#include "fp8/Transforms/Passes.h.inc"
} // namespace mlir::fp8

using namespace mlir;
using namespace mlir::fp8;

/// True if a linear value occurs in the function's signature or body.
static bool handlesLinearValues(FunctionOpInterface function) {
  auto isLinearType = [](Type type) {
    return isLinear(type) || holdsHandles(type);
  };
  if (llvm::any_of(function.getArgumentTypes(), isLinearType) ||
      llvm::any_of(function.getResultTypes(), isLinearType))
    return true;
  return function
      ->walk([&](Operation *op) {
        return llvm::any_of(op->getResultTypes(), isLinearType)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {

struct VerifyLinearityPass
    : public mlir::fp8::impl::Fp8VerifyLinearityBase<VerifyLinearityPass> {
  void runOnOperation() override {
    getOperation().walk([&](FunctionOpInterface function) {
      if (function->hasAttr(Fp8Dialect::kLinearAttrName) ||
          !handlesLinearValues(function))
        return;
      function->emitOpError()
          << "uses linear values without '" << Fp8Dialect::kLinearAttrName
          << "' (L6); add the attribute, so that the verifier checks the "
             "function";
      signalPassFailure();
    });
    markAllAnalysesPreserved();
  }
};

} // namespace
