// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names the chip that kernels are lowered for, and refuses ops that it cannot
// run.

#include "fp8/Conversion/Passes.h"
#include "fp8/IR/Fp8.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::fp8 {
#define GEN_PASS_DEF_FP8ATTACHCHIP
#include "fp8/Conversion/Passes.h.inc"
} // namespace mlir::fp8

using namespace mlir;
using namespace mlir::fp8;

/// What a chip must have to run the op. Ops of NVVM bear the names of their
/// instructions.
static chip::FeatureSet getRequiredFeatures(Operation *op) {
  if (auto feature = dyn_cast<FeatureOpInterface>(op))
    return feature.getRequiredFeatures();
  StringRef mnemonic = op->getName().getStringRef();
  if (mnemonic.consume_front("nvvm."))
    for (const chip::FeatureInfo &info : chip::getFeatures())
      if (mnemonic.starts_with(info.mnemonic))
        return info.feature;
  return {};
}

/// Reports the first op of the module that the chip cannot run. The backend
/// would end the process over its instruction.
static LogicalResult checkOps(gpu::GPUModuleOp module, const chip::Chip &chip) {
  WalkResult result = module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    std::string lack = chip::describeLack(getRequiredFeatures(op), chip);
    if (lack.empty())
      return WalkResult::advance();
    emitError(op->getLoc()) << "'" << op->getName() << "' op " << lack;
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// The same for the chips that the module names by itself. What is not in the
/// table is refused when code is emitted.
static LogicalResult checkTargets(gpu::GPUModuleOp module) {
  for (Attribute attribute : module.getTargetsAttr())
    if (auto target = dyn_cast<NVVM::NVVMTargetAttr>(attribute))
      if (const chip::Chip *chip = chip::lookup(target.getChip()))
        if (failed(checkOps(module, *chip)))
          return failure();
  return success();
}

namespace {

struct AttachChipPass
    : public mlir::fp8::impl::Fp8AttachChipBase<AttachChipPass> {
  using Base::Base;

  void runOnOperation() override {
    const chip::Chip *known = chip::lookup(chip);
    if (!known) {
      getOperation().emitError()
          << "unknown chip '" << chip << "'; known are " << chip::getNames();
      return signalPassFailure();
    }
    // Our chip table decides what is legal: NVVM's own check refuses tcgen05 on
    // chips that have it.
    auto target = NVVM::NVVMTargetAttr::get(
        &getContext(), /*optLevel=*/3, "nvptx64-nvidia-cuda", known->name,
        known->llvmFeatures, DictionaryAttr(), ArrayAttr(),
        /*verifyTarget=*/false);
    for (gpu::GPUModuleOp module : getOperation().getOps<gpu::GPUModuleOp>()) {
      bool isNamed = module.getTargetsAttr() != nullptr;
      if (failed(isNamed ? checkTargets(module) : checkOps(module, *known)))
        return signalPassFailure();
      if (!isNamed)
        module.setTargetsAttr(ArrayAttr::get(&getContext(), target));
    }
  }
};

} // namespace
