// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Takes the rings of planned kernels to barriers, parities and addresses: the
// pass.

#include "fp8/Conversion/RingsToBarriers.h"

#include "../ControlFlow.h"
#include "RingLowering.h"
#include "Stamps.h"
#include "fp8/Analysis/GridWait.h"
#include "fp8/Conversion/Passes.h"
#include "fp8/IR/Profile.h"
#include "fp8/Planning/Planning.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::fp8 {
#define GEN_PASS_DEF_CONVERTRINGSTOBARRIERS
#include "fp8/Conversion/Passes.h.inc"
} // namespace mlir::fp8

using namespace mlir;
using namespace mlir::fp8;

/// Ends, stages and handles become cursors, queues and exchanges addresses and
/// numbers, all of them i32.
static void populateTypeConversions(TypeConverter &converter) {
  auto addWords = [&](auto isHandle, unsigned count) {
    converter.addConversion(
        [=](Type type,
            SmallVectorImpl<Type> &results) -> std::optional<LogicalResult> {
          if (!isHandle(type))
            return std::nullopt;
          results.append(count, IntegerType::get(type.getContext(), 32));
          return success();
        });
  };
  converter.addConversion([](Type type) { return type; });
  addWords(llvm::IsaPred<EndTypeInterface, StageTypeInterface, ReadyType,
                         SignalledType>,
           RingCursor::kNumValues);
  addWords(llvm::IsaPred<StoreQueueType, ExchangeType>, 2);
  addWords(llvm::IsaPred<TmemReadyType, MBarrierType>, 1);
}

static LogicalResult convertRings(FunctionOpInterface kernel,
                                  const KernelStart &start,
                                  PopulatePatternsFn populateMore) {
  MLIRContext *context = kernel.getContext();
  TypeConverter converter;
  populateTypeConversions(converter);
  ConversionTarget target(*context);
  RewritePatternSet patterns(context);
  RingPatterns rings{converter, patterns, start};
  for (auto add :
       {addPipelinePatterns, addExplicitPatterns, addSchedulerPatterns,
        addWarpPatterns, addTilePatterns, addQueuePatterns})
    add(rings);
  if (populateMore)
    populateMore(converter, patterns);
  populateControlFlowConversions(converter, patterns, target);
  return applyPartialConversion(kernel, target, std::move(patterns));
}

/// Plans a kernel that has no plan. A plan that was made before must be that of
/// the kernel as it is now.
static LogicalResult planAsNeeded(FunctionOpInterface kernel) {
  if (!isPlanned(kernel)) {
    if (failed(planKernel(kernel)))
      return failure();
    placeFences(kernel);
    reuseRegisters(kernel);
    return success();
  }
  return failure(failed(checkPlan(kernel)) || failed(checkFences(kernel)));
}

LogicalResult
mlir::fp8::convertRingsToBarriers(FunctionOpInterface kernel,
                                  PopulatePatternsFn populateMore) {
  if (failed(verifyGridWaits(kernel)) || failed(planAsNeeded(kernel)))
    return failure();
  auto module = kernel->getParentOfType<ModuleOp>();
  auto limit =
      module
          ? module->getAttrOfType<IntegerAttr>(Fp8Dialect::kDebugWaitsAttrName)
          : IntegerAttr();
  if (limit)
    kernel->setAttr(Fp8Dialect::kWaitTableAttrName,
                    makeWaitTable(kernel, limit.getInt()));
  auto profile = module
                     ? module->getAttrOfType<DictionaryAttr>(kProfileAttrName)
                     : DictionaryAttr();
  if (profile)
    kernel->setAttr(kProfileTableAttrName, makeProfileTable(kernel, profile));
  prepareBlocks(kernel);
  numberScaleSlots(kernel);
  KernelStart start = buildPrologue(kernel);
  start.waitLimit = limit ? limit.getInt() * 1'000'000 : 0;
  branchOnLeadingCtas(kernel, start.cluster);
  if (failed(convertRings(kernel, start, populateMore)))
    return failure();
  foldLaps(kernel);
  if (profile)
    insertStamps(kernel);
  kernel->setAttr(Fp8Dialect::kBarriersAttrName,
                  UnitAttr::get(kernel.getContext()));
  return success();
}

namespace {
struct ConvertRingsToBarriersPass
    : public mlir::fp8::impl::ConvertRingsToBarriersBase<
          ConvertRingsToBarriersPass> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<gpu::GPUFuncOp>())
      if (kernel.isKernel() && hasRings(kernel) &&
          failed(convertRingsToBarriers(kernel)))
        return signalPassFailure();
  }
};
} // namespace
