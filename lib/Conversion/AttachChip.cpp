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
  if (!chip.clusterLaunchControl &&
      name.starts_with("nvvm.clusterlaunchcontrol."))
    return ("needs cluster launch control, which " + chip.name +
            " does not have; take another scheduler, or lower for a chip of "
            "the sm_100 family")
        .str();
  // Products in registers are inline assembly, whose text is an attribute.
  auto text = op->getAttrOfType<StringAttr>("asm_string");
  if (!chip.wgmma && text && text.getValue().contains("wgmma."))
    return ("multiplies in the registers of warpgroups, which " + chip.name +
            " does not; lower for sm_90a")
        .str();
  return "";
}

/// The op that the user knows: assembly that was made of one of ours begins
/// with a comment that names it, and work queues have one op for each of two
/// instructions.
static StringRef getUsersName(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (name.starts_with("nvvm.clusterlaunchcontrol."))
    return name.ends_with("try.cancel") ? "fp8.request_work" : "fp8.next_work";
  StringRef text;
  if (auto attribute = op->getAttrOfType<StringAttr>("asm_string"))
    text = attribute.getValue();
  size_t comment = text.find("// fp8.");
  if (comment == StringRef::npos)
    return name;
  return text.drop_front(comment + 3).take_until([](char c) {
    return c == '\n';
  });
}

/// Reports the first op of the module that the chip has no instruction for. The
/// backend would end the process over it.
static LogicalResult checkInstructions(gpu::GPUModuleOp module,
                                       const Chip &chip) {
  WalkResult result = module.walk([&](Operation *op) {
    std::string lack = getLack(op, chip);
    if (lack.empty())
      return WalkResult::advance();
    emitError(op->getLoc()) << "'" << getUsersName(op) << "' op " << lack;
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// The same for the chips that the module names by itself. What is not in the
/// table is refused when code is emitted.
static LogicalResult checkTargets(gpu::GPUModuleOp module) {
  for (Attribute attribute : module.getTargetsAttr())
    if (auto target = dyn_cast<NVVM::NVVMTargetAttr>(attribute))
      if (const Chip *chip = lookupChip(target.getChip()))
        if (failed(checkInstructions(module, *chip)))
          return failure();
  return success();
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
      bool isNamed = module.getTargetsAttr() != nullptr;
      if (failed(isNamed ? checkTargets(module)
                         : checkInstructions(module, *known)))
        return signalPassFailure();
      if (!isNamed)
        module.setTargetsAttr(ArrayAttr::get(&getContext(), target));
    }
  }
};

} // namespace
