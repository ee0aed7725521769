// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pipeline from GEMM ops to kernels that PTX can be emitted for.

#include "fp8/Backend/Passes.h"
#include "fp8/Chip/Chip.h"
#include "fp8/Conversion/Passes.h"
#include "fp8/Pipelines/Pipelines.h"
#include "fp8/Planning/Passes.h"
#include "fp8/Transforms/Passes.h"

#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::fp8;

/// Phase 0 to 1: from the op to a kernel of rings and roles.
static void addStructurePasses(OpPassManager &pm,
                               const GemmToPTXOptions &options) {
  pm.addPass(createFp8VerifyLinearity());
  // Integers are ops of arith to all passes behind.
  pm.addPass(createLowerAffinePass());
  pm.addPass(createFp8LowerIndex());
  pm.addPass(
      createFp8ChooseConfig({options.chip, options.problem, options.tuned,
                             options.machine, options.launch}));
  if (options.phase > Phase::Op)
    pm.addPass(createFp8StructureGemm({options.chip}));
}

/// Phase 2: the scopes flattened.
static void addLinearPasses(OpPassManager &pm,
                            const GemmToPTXOptions &options) {
  // Of kernels only: a function that launches one stays the only one that does.
  pm.nest<gpu::GPUModuleOp>().addPass(createInlinerPass());
  // Helpers whose only calls were dead.
  pm.nest<gpu::GPUModuleOp>().addPass(createSymbolDCEPass());
  pm.nest<gpu::GPUModuleOp>().addPass(createFp8FoldViews());
  pm.addPass(createFp8FlattenScopes());
  pm.addPass(createFp8LowerTileLoops());
  // Before loops are copied, which makes the proof longer.
  if (options.prove || options.requireProof)
    pm.nest<gpu::GPUModuleOp>().addPass(
        createFp8VerifyProtocol({options.requireProof}));
  // Before that, too: stamps need registers of their own, which copies of the
  // loop's body leave none of.
  if (options.profile)
    pm.addPass(createFp8Profile());
  // So does a wait that gives up.
  if (!options.debugWaits)
    addLoopCopyPasses(pm);
}

/// Phase 3, its first half: rings as barriers.
static void addBarrierPasses(OpPassManager &pm,
                             const GemmToPTXOptions &options) {
  if (options.debugWaits) {
    Fp8DebugWaitsOptions waits;
    waits.limit = options.debugWaits;
    pm.addPass(createFp8DebugWaits(waits));
  }
  Fp8AttachChipOptions chip;
  chip.chip = options.chip;
  pm.addPass(createFp8AttachChip(chip));
  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  kernels.addPass(createFp8PlanKernels());
  kernels.addPass(createFp8PlaceFences());
  kernels.addPass(createFp8ReuseRegisters());
  kernels.addPass(createConvertRingsToBarriers());
}

/// Phase 4: what is left of the kernel to the LLVM dialect.
static void addLLVMPasses(OpPassManager &pm) {
  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  kernels.addPass(createFp8GuardDivisions());
  kernels.addPass(memref::createExpandStridedMetadataPass());
  kernels.addPass(createSCFToControlFlowPass());
  // 32-bit indices: a kernel's loops and coordinates are; extents are checked
  // before the launch.
  ConvertGpuOpsToNVVMOpsOptions options;
  options.indexBitwidth = 32;
  kernels.addPass(createConvertGpuOpsToNVVMOps(options));
  kernels.addPass(createReconcileUnrealizedCastsPass());
  kernels.addPass(createFp8AttachKernelAttributes());
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
}

void mlir::fp8::buildGemmToPTXPipeline(OpPassManager &pm,
                                       const GemmToPTXOptions &options) {
  addStructurePasses(pm, options);
  if (options.phase > Phase::Structured)
    addLinearPasses(pm, options);
  if (options.phase > Phase::Linear)
    addBarrierPasses(pm, options);
  // Phase 3, its second half: barriers as instructions.
  if (options.phase > Phase::Barriers)
    pm.addPass(createConvertFp8ToNVVM());
  if (options.phase == Phase::LLVM)
    addLLVMPasses(pm);
}

void mlir::fp8::registerGemmToPTXPipeline() {
  PassPipelineRegistration<GemmToPTXOptions>(
      "fp8-gemm-to-ptx",
      "lowers GEMM ops, or kernels in phases 1 to 3, to the LLVM and NVVM "
      "dialects, ready for PTX",
      buildGemmToPTXPipeline);
}
