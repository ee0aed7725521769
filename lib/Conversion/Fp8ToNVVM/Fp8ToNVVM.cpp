// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Takes linear kernels to barriers, tensor memory and TMA (phase 2 to 3):
// types, and the pass.

#include "fp8/Conversion/Fp8ToNVVM.h"

#include "Blocks.h"
#include "Lowering.h"
#include "fp8/Conversion/Passes.h"
#include "fp8/Planning/Planning.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/Transforms/StructuralTypeConversions.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"

namespace mlir::fp8 {
#define GEN_PASS_DEF_CONVERTFP8TONVVM
#include "fp8/Conversion/Passes.h.inc"
} // namespace mlir::fp8

using namespace mlir;
using namespace mlir::fp8;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

void mlir::fp8::populateTypeConversions(TypeConverter &converter) {
  converter.addConversion([](Type type) { return type; });
  auto addCursor = [](Type type,
                      SmallVectorImpl<Type> &results) -> LogicalResult {
    results.append(RingCursor::kNumValues,
                   IntegerType::get(type.getContext(), 32));
    return success();
  };
  converter.addConversion(
      [=](EndTypeInterface type,
          SmallVectorImpl<Type> &results) -> std::optional<LogicalResult> {
        return addCursor(type, results);
      });
  converter.addConversion(
      [=](StageTypeInterface type,
          SmallVectorImpl<Type> &results) -> std::optional<LogicalResult> {
        return addCursor(type, results);
      });
  converter.addConversion(
      [=](ReadyType type,
          SmallVectorImpl<Type> &results) -> std::optional<LogicalResult> {
        return addCursor(type, results);
      });
  converter.addConversion(
      [=](SignalledType type,
          SmallVectorImpl<Type> &results) -> std::optional<LogicalResult> {
        return addCursor(type, results);
      });
  converter.addConversion(
      [](StoreQueueType type,
         SmallVectorImpl<Type> &results) -> std::optional<LogicalResult> {
        results.append(2, IntegerType::get(type.getContext(), 32));
        return success();
      });
  converter.addConversion(
      [](ExchangeType type,
         SmallVectorImpl<Type> &results) -> std::optional<LogicalResult> {
        results.append(2, IntegerType::get(type.getContext(), 32));
        return success();
      });
  converter.addConversion(
      [](FragmentType type,
         SmallVectorImpl<Type> &results) -> std::optional<LogicalResult> {
        results.append(type.getColumnsPerThread() / 2,
                       VectorType::get(2, Float32Type::get(type.getContext())));
        return success();
      });
  converter.addConversion(
      [](PendingType type,
         SmallVectorImpl<Type> &results) -> std::optional<LogicalResult> {
        results.append(type.getFragment().getColumnsPerThread(),
                       Float32Type::get(type.getContext()));
        return success();
      });
  auto toAddress = [](Type type) {
    return IntegerType::get(type.getContext(), 32);
  };
  converter.addConversion(
      [=](TmemReadyType type) -> Type { return toAddress(type); });
  converter.addConversion(
      [=](TileType type) -> Type { return toAddress(type); });
  converter.addConversion(
      [=](TmemType type) -> Type { return toAddress(type); });
  converter.addConversion(
      [=](MBarrierType type) -> Type { return toAddress(type); });
  converter.addConversion([](TensorMapType type) -> Type {
    return getTensorMapPointerType(type.getContext());
  });
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

/// Gives an execute_region the parts of what it yields as results. Its blocks
/// and terminators have patterns of their own.
struct LowerExecuteRegion : public OpConversionPattern<scf::ExecuteRegionOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(scf::ExecuteRegionOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    SmallVector<size_t> counts;
    for (Type type : op.getResultTypes()) {
      size_t before = types.size();
      if (failed(getTypeConverter()->convertType(type, types)))
        return failure();
      counts.push_back(types.size() - before);
    }
    auto converted = scf::ExecuteRegionOp::create(rewriter, op.getLoc(), types,
                                                  op.getNoInline());
    rewriter.inlineRegionBefore(op.getRegion(), converted.getRegion(),
                                converted.getRegion().end());
    SmallVector<ValueRange> parts;
    ValueRange rest = converted.getResults();
    for (size_t count : counts) {
      parts.push_back(rest.take_front(count));
      rest = rest.drop_front(count);
    }
    rewriter.replaceOpWithMultiple(op, parts);
    return success();
  }
};

/// A select of handles, or of fragments, selects each of their parts. A select
/// of views stays, and fails: who reads which stage could not be told.
struct LowerSelect : public OpConversionPattern<arith::SelectOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(arith::SelectOp op, OneToNOpAdaptor operands,
                  ConversionPatternRewriter &rewriter) const override {
    if (isa<TileType, TmemType>(op.getType()))
      return rewriter.notifyMatchFailure(op, "selects a view");
    SmallVector<Value> parts;
    for (auto [whenTrue, whenFalse] :
         llvm::zip(operands.getTrueValue(), operands.getFalseValue()))
      parts.push_back(arith::SelectOp::create(
          rewriter, op.getLoc(), op.getCondition(), whenTrue, whenFalse));
    rewriter.replaceOpWithMultiple(op, {parts});
    return success();
  }
};

/// A tensor map as the pointer that it becomes, which the prologue took ahead.
struct LowerMapCast : public OpConversionPattern<UnrealizedConversionCastOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(UnrealizedConversionCastOp op, OneToNOpAdaptor operands,
                  ConversionPatternRewriter &rewriter) const override {
    if (op->getNumOperands() != 1 ||
        !isa<TensorMapType>(op->getOperand(0).getType()))
      return failure();
    rewriter.replaceOp(op, operands.getOperands()[0]);
    return success();
  }
};

} // namespace

/// How many arguments convert-gpu-to-nvvm makes of one of that type: of a
/// memref its descriptor's members (allocated and aligned pointer, offset,
/// sizes, strides).
static int32_t getNumLoweredArguments(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return memref ? 3 + 2 * static_cast<int32_t>(memref.getRank()) : 1;
}

/// Writes what launchers need to know about the kernel on it.
static void annotateKernel(gpu::GPUFuncOp kernel) {
  auto plan = getPlan<CtaPlanAttr>(kernel);
  Builder builder(kernel.getContext());
  // Read off when memrefs are descriptors, so they count as those.
  SmallVector<int32_t> tensorMaps;
  int32_t index = 0;
  for (Type type : kernel.getArgumentTypes()) {
    if (isa<TensorMapType>(type))
      tensorMaps.push_back(index);
    index += getNumLoweredArguments(type);
  }
  kernel->setAttr(Fp8Dialect::kTensorMapArgsAttrName,
                  builder.getDenseI32ArrayAttr(tensorMaps));
  kernel->setAttr(Fp8Dialect::kSharedMemoryAttrName,
                  builder.getI64IntegerAttr(plan.sharedMemory));
  kernel.setKnownBlockSizeAttr(builder.getDenseI32ArrayAttr(
      {static_cast<int32_t>(32 * plan.warps), 1, 1}));
  if (int64_t size = getClusterShape(kernel).getSize(); size > 1)
    kernel.setKnownClusterSizeAttr(
        builder.getDenseI32ArrayAttr({static_cast<int32_t>(size), 1, 1}));
  // One CTA a multiprocessor is enough: ptxas would hold registers back for a
  // second one, which shared memory has no room for, and wait for each load
  // before it starts the next.
  kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                  builder.getI32IntegerAttr(1));
}

/// Gives a launch the cluster of its kernel, along x.
static LogicalResult updateCluster(gpu::LaunchFuncOp launch, int64_t size) {
  if (!launch.hasClusterSize()) {
    if (size == 1)
      return success();
    OpBuilder builder(launch);
    Value one = arith::ConstantIndexOp::create(builder, launch.getLoc(), 1);
    launch.getClusterSizeXMutable().assign(
        arith::ConstantIndexOp::create(builder, launch.getLoc(), size));
    launch.getClusterSizeYMutable().assign(one);
    launch.getClusterSizeZMutable().assign(one);
    return success();
  }
  APInt stated;
  int64_t expected = size;
  for (Value value : {launch.getClusterSizeX(), launch.getClusterSizeY(),
                      launch.getClusterSizeZ()}) {
    if (matchPattern(value, m_ConstantInt(&stated)) &&
        stated.getSExtValue() != expected)
      return launch.emitOpError()
             << "starts clusters of " << stated.getSExtValue()
             << " CTAs along an axis where those of its kernel have "
             << expected << "; clusters lie along x, and '"
             << Fp8Dialect::kClusterAttrName
             << "' says how many CTAs they have";
    expected = 1;
  }
  return success();
}

/// Gives a launch the shared memory of its kernel, and checks that it starts
/// the kernel's warps.
static LogicalResult updateLaunch(gpu::LaunchFuncOp launch,
                                  gpu::GPUFuncOp kernel) {
  auto plan = getPlan<CtaPlanAttr>(kernel);
  OpBuilder builder(launch);
  int64_t threads = 32 * plan.warps;
  APInt stated;
  auto differs = [&](Value value, int64_t expected) {
    return value && matchPattern(value, m_ConstantInt(&stated)) &&
           stated.getSExtValue() != expected;
  };
  if (differs(launch.getBlockSizeX(), threads)) {
    InFlightDiagnostic diagnostic = launch.emitOpError()
                                    << "starts " << stated.getSExtValue()
                                    << " threads, but ";
    if (int64_t idle = plan.idleWarps)
      return diagnostic << "its kernel has " << threads << ": the "
                        << plan.warps - idle
                        << " warps of its roles are filled up with " << idle
                        << " idle ones to whole warpgroups, which hand "
                           "registers over";
    return diagnostic << "the roles of its kernel have " << threads << " ("
                      << plan.warps << " warps)";
  }
  for (Value size : {launch.getBlockSizeY(), launch.getBlockSizeZ()})
    if (differs(size, 1))
      return launch.emitOpError()
             << "starts blocks of several rows, but warps are dealt to roles "
                "along x; y and z must be 1";
  if (differs(launch.getDynamicSharedMemorySize(), plan.sharedMemory))
    return launch.emitOpError()
           << "states " << stated.getSExtValue()
           << " bytes of shared memory, but its kernel needs "
           << plan.sharedMemory << "; leave the number out";
  if (failed(updateCluster(launch, getClusterShape(kernel).getSize())))
    return failure();
  Value bytes = arith::ConstantOp::create(
      builder, launch.getLoc(), builder.getI32IntegerAttr(plan.sharedMemory));
  launch.getDynamicSharedMemorySizeMutable().assign(bytes);
  for (OpOperand &operand : launch.getKernelOperandsMutable())
    if (isa<TensorMapType>(operand.get().getType()))
      operand.set(UnrealizedConversionCastOp::create(
                      builder, launch.getLoc(),
                      getTensorMapPointerType(builder.getContext()),
                      operand.get())
                      .getResult(0));
  return success();
}

static LogicalResult updateLaunches(ModuleOp module, gpu::GPUFuncOp kernel) {
  WalkResult result = module.walk([&](gpu::LaunchFuncOp launch) {
    if (SymbolTable::lookupNearestSymbolFrom(launch, launch.getKernelAttr()) !=
        kernel)
      return WalkResult::advance();
    if (Attribute early = kernel->getAttr(Fp8Dialect::kProgrammaticAttrName))
      launch->setAttr(Fp8Dialect::kProgrammaticAttrName, early);
    return failed(updateLaunch(launch, kernel)) ? WalkResult::interrupt()
                                                : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

static LogicalResult convertKernel(gpu::GPUFuncOp kernel,
                                   const KernelLowering &lowering,
                                   PopulatePatternsFn populateMore) {
  MLIRContext *context = kernel.getContext();
  TypeConverter converter;
  populateTypeConversions(converter);
  ConversionTarget target(*context);
  RewritePatternSet patterns(context);
  populateClusterPatterns(converter, patterns, lowering);
  populatePipelinePatterns(converter, patterns, lowering);
  populateSchedulerPatterns(converter, patterns, lowering);
  populateExplicitPatterns(converter, patterns, lowering);
  populateWarpPatterns(converter, patterns, lowering);
  populateTilePatterns(converter, patterns, lowering);
  populateFragmentPatterns(converter, patterns, lowering);
  populateAddPatterns(converter, patterns, lowering);
  populatePromotePatterns(converter, patterns, lowering);
  populateStorePatterns(converter, patterns, lowering);
  populateExchangePatterns(converter, patterns, lowering);
  populateWarpgroupPatterns(converter, patterns, lowering);
  if (populateMore)
    populateMore(converter, patterns);
  scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                       target);
  cf::populateCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                     target);
  patterns.add<LowerExecuteRegion, LowerSelect, LowerMapCast>(converter,
                                                              context);
  populateFunctionOpInterfaceTypeConversionPattern<gpu::GPUFuncOp>(patterns,
                                                                   converter);
  target.addIllegalDialect<Fp8Dialect>();
  target.addDynamicallyLegalOp<gpu::GPUFuncOp>([&](gpu::GPUFuncOp op) {
    return converter.isSignatureLegal(op.getFunctionType());
  });
  // MLIR's patterns leave the yields of other ops than theirs as they are.
  target.addDynamicallyLegalOp<scf::YieldOp>(
      [&](scf::YieldOp op) { return converter.isLegal(op.getOperandTypes()); });
  target.markUnknownOpDynamicallyLegal(
      [&](Operation *op) { return converter.isLegal(op); });
  return applyPartialConversion(kernel, target, std::move(patterns));
}

/// Plans a kernel that has no plan. A plan that was made before must be that of
/// the kernel as it is now.
static LogicalResult planAsNeeded(gpu::GPUFuncOp kernel) {
  if (!isPlanned(kernel)) {
    if (failed(planKernel(kernel)))
      return failure();
    placeFences(kernel);
    reuseRegisters(kernel);
    return success();
  }
  return failure(failed(checkPlan(kernel)) || failed(checkFences(kernel)));
}

static LogicalResult lowerKernel(ModuleOp module, gpu::GPUFuncOp kernel,
                                 PopulatePatternsFn populateMore) {
  if (failed(planAsNeeded(kernel)) || failed(updateLaunches(module, kernel)))
    return failure();
  prepareBlocks(kernel);
  declareSharedMemory(kernel->getParentOp(), kernel.getLoc());
  auto limit =
      module->getAttrOfType<IntegerAttr>(Fp8Dialect::kDebugWaitsAttrName);
  if (limit) {
    declareWaitRecords(kernel->getParentOp(), kernel.getLoc());
    kernel->setAttr(Fp8Dialect::kWaitTableAttrName,
                    makeWaitTable(kernel, limit.getInt()));
  }
  annotateKernel(kernel);
  KernelLowering lowering = buildPrologue(kernel);
  lowering.waitLimit = limit ? limit.getInt() * 1'000'000 : 0;
  if (failed(convertKernel(kernel, lowering, populateMore)))
    return failure();
  // What the kernel was lowered by is not true of what it is now.
  for (StringRef name :
       {Fp8Dialect::kClusterAttrName, Fp8Dialect::kLinearAttrName,
        Fp8Dialect::kPlanAttrName})
    kernel->removeAttr(name);
  return success();
}

LogicalResult mlir::fp8::convertFp8ToNVVM(ModuleOp module,
                                          PopulatePatternsFn populateMore) {
  SmallVector<gpu::GPUFuncOp> kernels;
  module.walk([&](gpu::GPUFuncOp function) {
    if (function.isKernel() && function->hasAttr(Fp8Dialect::kLinearAttrName))
      kernels.push_back(function);
  });
  for (gpu::GPUFuncOp kernel : kernels)
    if (failed(lowerKernel(module, kernel, populateMore)))
      return failure();
  return success();
}

namespace {
struct ConvertFp8ToNVVMPass
    : public mlir::fp8::impl::ConvertFp8ToNVVMBase<ConvertFp8ToNVVMPass> {
  void runOnOperation() override {
    if (failed(convertFp8ToNVVM(getOperation())))
      signalPassFailure();
  }
};
} // namespace
