// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Takes kernels to phase 3 with the ops visited in an order drawn from a seed,
// to learn whether the patterns depend on it.

#include "fp8/Conversion/Fp8ToNVVM.h"
#include "fp8/Conversion/Passes.h"

#include "mlir/Pass/Pass.h"

#include <algorithm>
#include <random>

using namespace mlir;
using namespace mlir::fp8;

namespace {

struct TestShuffledConversion
    : public PassWrapper<TestShuffledConversion, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestShuffledConversion)

  TestShuffledConversion() = default;
  TestShuffledConversion(const TestShuffledConversion &other)
      : PassWrapper(other) {}

  StringRef getArgument() const final { return "test-shuffled-conversion"; }
  StringRef getDescription() const final {
    return "does what --convert-fp8-to-nvvm does, in any order";
  }

  void getDependentDialects(DialectRegistry &registry) const override {
    createConvertFp8ToNVVM()->getDependentDialects(registry);
  }

  void runOnOperation() override {
    std::mt19937 random(seed);
    auto shuffle = [&](MutableArrayRef<Operation *> ops) {
      std::shuffle(ops.begin(), ops.end(), random);
    };
    if (failed(convertFp8ToNVVM(getOperation(), /*populateMore=*/nullptr,
                                shuffle)))
      signalPassFailure();
  }

  Option<unsigned> seed{*this, "seed", llvm::cl::desc("of the order"),
                        llvm::cl::init(0)};
};

} // namespace

namespace mlir::fp8 {
void registerTestShuffledConversionPass() {
  PassRegistration<TestShuffledConversion>();
}
} // namespace mlir::fp8
