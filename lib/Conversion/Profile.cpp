// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Asks for kernels that write down what their roles wait for.

#include "fp8/IR/Profile.h"
#include "WaitRecords.h"
#include "fp8/Conversion/Passes.h"

namespace mlir::fp8 {
#define GEN_PASS_DEF_FP8PROFILE
#include "fp8/Conversion/Passes.h.inc"
} // namespace mlir::fp8

using namespace mlir;
using namespace mlir::fp8;

namespace {

struct ProfilePass : public mlir::fp8::impl::Fp8ProfileBase<ProfilePass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    Builder builder(&getContext());
    NamedAttrList size;
    const std::pair<StringRef, int64_t> parts[] = {{"ctas", ctas},
                                                   {"stamps", stamps}};
    for (auto [name, value] : parts) {
      if (value < 1) {
        module.emitError() << "the number of '" << name
                           << "' must be at least 1, but got " << value;
        return signalPassFailure();
      }
      size.set(name, builder.getI64IntegerAttr(value));
    }
    if (failed(checkNotLowered(module, "stamps", "--fp8-profile")))
      return signalPassFailure();
    module->setAttr(kProfileAttrName, size.getDictionary(&getContext()));
  }
};

} // namespace
