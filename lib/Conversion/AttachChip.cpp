// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names the chip that kernels are lowered for, and refuses what it has not.

#include "fp8/Conversion/Passes.h"
#include "fp8/Target/Chip.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::fp8 {
#define GEN_PASS_DEF_FP8ATTACHCHIP
#include "fp8/Conversion/Passes.h.inc"
} // namespace mlir::fp8

using namespace mlir;
using namespace mlir::fp8;

/// What of the chip the op needs and the chip lacks; empty if it has all.
static std::string getLack(Operation *op, const Chip &chip) {
  StringRef name = op->getName().getStringRef();
  if (!chip.tcgen05 && name.starts_with("nvvm.tcgen05."))
    return ("needs tensor memory, which " + chip.name +
            " does not have; lower for a chip of the sm_100 family")
        .str();
  // Products in registers are inline assembly, whose text is an attribute.
  auto text = op->getAttrOfType<StringAttr>("asm_string");
  if (!chip.wgmma && text && text.getValue().contains("wgmma."))
    return ("multiplies in the registers of warpgroups, which " + chip.name +
            " does not; lower for sm_90a")
        .str();
  return "";
}

/// Reports the first op of the module that the chip has no instruction for. The
/// backend would end the process over it.
static LogicalResult checkInstructions(gpu::GPUModuleOp module,
                                       const Chip &chip) {
  WalkResult result = module.walk([&](Operation *op) {
    std::string lack = getLack(op, chip);
    if (lack.empty())
      return WalkResult::advance();
    op->emitOpError() << lack;
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

namespace {

struct AttachChipPass : public fp8::impl::Fp8AttachChipBase<AttachChipPass> {
  using Base::Base;

  void runOnOperation() override {
    const Chip *known = lookupChip(chip);
    if (!known) {
      getOperation().emitError()
          << "unknown chip '" << chip << "'; known are " << getChipNames();
      return signalPassFailure();
    }
    // Our chip table decides what is legal: NVVM's own check refuses tcgen05 on
    // sm_100f and sm_103a, which have it.
    auto target = NVVM::NVVMTargetAttr::get(
        &getContext(), /*optLevel=*/3, "nvptx64-nvidia-cuda", known->name,
        known->features, DictionaryAttr(), ArrayAttr(), /*verifyTarget=*/false);
    for (gpu::GPUModuleOp module : getOperation().getOps<gpu::GPUModuleOp>()) {
      if (module.getTargetsAttr())
        continue;
      if (failed(checkInstructions(module, *known)))
        return signalPassFailure();
      module.setTargetsAttr(ArrayAttr::get(&getContext(), target));
    }
  }
};

} // namespace
