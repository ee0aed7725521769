// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Takes kernels to instructions: types, and the pass.

#include "fp8/Conversion/Fp8ToNVVM.h"

#include "../ControlFlow.h"
#include "Launches.h"
#include "Lowering.h"
#include "Stamps.h"
#include "fp8/Analysis/KernelPlan.h"
#include "fp8/Conversion/Passes.h"
#include "fp8/IR/Profile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::fp8 {
#define GEN_PASS_DEF_CONVERTFP8TONVVM
#include "fp8/Conversion/Passes.h.inc"
} // namespace mlir::fp8

using namespace mlir;
using namespace mlir::fp8;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Fragments and products become registers, views addresses.
static void populateTypeConversions(TypeConverter &converter) {
  converter.addConversion([](Type type) { return type; });
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
      [=](TileType type) -> Type { return toAddress(type); });
  converter.addConversion(
      [=](TmemType type) -> Type { return toAddress(type); });
  converter.addConversion([](TensorMapType type) -> Type {
    return getTensorMapPointerType(type.getContext());
  });
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

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

/// Applies the patterns to the ops in this order, or else in that of the text.
static LogicalResult applyPatterns(gpu::GPUFuncOp kernel,
                                   const ConversionTarget &target,
                                   RewritePatternSet patterns,
                                   OrderOpsFn order) {
  if (!order)
    return applyPartialConversion(kernel, target, std::move(patterns));
  SmallVector<Operation *> ops;
  kernel.walk([&](Operation *op) { ops.push_back(op); });
  order(ops);
  return applyPartialConversion(ops, target, std::move(patterns));
}

static LogicalResult convertOps(gpu::GPUFuncOp kernel,
                                PopulatePatternsFn populateMore,
                                OrderOpsFn order) {
  MLIRContext *context = kernel.getContext();
  TypeConverter converter;
  populateTypeConversions(converter);
  ConversionTarget target(*context);
  RewritePatternSet patterns(context);
  for (auto populate :
       {populateAddPatterns, populateBarrierPatterns, populateExchangePatterns,
        populateFragmentPatterns, populatePromotePatterns,
        populateStampPatterns, populateStorePatterns, populateTilePatterns,
        populateWarpgroupPatterns})
    populate(converter, patterns);
  if (populateMore)
    populateMore(converter, patterns);
  populateControlFlowConversions(converter, patterns, target);
  populateFunctionOpInterfaceTypeConversionPattern<gpu::GPUFuncOp>(patterns,
                                                                   converter);
  target.addIllegalDialect<Fp8Dialect>();
  target.addDynamicallyLegalOp<gpu::GPUFuncOp>([&](gpu::GPUFuncOp op) {
    return converter.isSignatureLegal(op.getFunctionType());
  });
  // Behind all others: the former say to the latter which thread they are of.
  target.addLegalOp<ComputeHereOp, RoleOp, RoleThreadOp, YieldOp>();
  return applyPatterns(kernel, target, std::move(patterns), order);
}

/// What an op lacks that the conversion reads; empty if nothing.
static StringRef getMissing(Operation *op) {
  auto hasPlan = [&](auto plan) {
    return op->hasAttrOfType<decltype(plan)>(Fp8Dialect::kPlanAttrName);
  };
  if (auto role = dyn_cast<RoleOp>(op)) {
    if (!hasPlan(RolePlanAttr()))
      return "a #fp8.role_plan";
    if (!role.getBody().hasOneBlock() || role.getBody().getNumArguments())
      return "one block without arguments";
    if (!role.getThread())
      return "an fp8.role_thread";
  }
  if (auto store = dyn_cast<StoreAtOp>(op)) {
    if (!hasPlan(RingPlanAttr()))
      return "a #fp8.ring_plan";
    if (store.getRest() && !isa<BlockArgument>(store.getRest()))
      return "a rest that is an argument of the kernel (Q5)";
  }
  if (auto copy = dyn_cast<CopyElementOp>(op);
      copy && !isa<BlockArgument>(copy.getSource()))
    return "a source that is an argument of the kernel (M5)";
  auto hasLimit = [&](auto wait) { return wait && wait.getLimit(); };
  if ((hasLimit(dyn_cast<MbarrierWaitOp>(op)) ||
       hasLimit(dyn_cast<StampWaitOp>(op))) &&
      !op->getParentOfType<gpu::GPUFuncOp>()->hasAttr(
          Fp8Dialect::kWaitTableAttrName))
    return "the kernel's wait table, since it has a limit,";
  if (op->hasTrait<mlir::fp8::OpTrait::NeedsProfileTable>() &&
      !getStampLayout(op->getParentOfType<FunctionOpInterface>()))
    return "the kernel's profile table";
  if (isa<WaitMmaOp>(op) && !hasPlan(WaitPlanAttr()))
    return "a #fp8.wait_plan";
  if (!needsRole(op))
    return "";
  auto role = op->getParentOfType<RoleOp>();
  if (!role)
    return "an enclosing fp8.role";
  Operation *inRole = role.getBody().front().findAncestorOpInBlock(*op);
  return role.getThread()->isBeforeInBlock(inRole)
             ? ""
             : "an fp8.role_thread in front of it";
}

/// Checks that each warp has at most one role, of those that are launched, and
/// that each role has the warps that its ops need.
static LogicalResult checkWarps(gpu::GPUFuncOp kernel) {
  int64_t warps = getPlan<CtaPlanAttr>(kernel).warps;
  if (warps < 1 || warps > kMaxWarps)
    return kernel.emitOpError()
           << "is planned with " << warps << " warps, but a CTA has 1 to "
           << kMaxWarps << "; plan the kernel again from phase 2";
  SmallVector<RoleOp> owners(warps);
  for (auto role : kernel.getBody().front().getOps<RoleOp>()) {
    int64_t first = getPlan<RolePlanAttr>(role).firstWarp,
            count = role.getWarps();
    if (first < 0 || first > warps - count)
      return role.emitOpError() << "has warps(" << count << ") from " << first
                                << " on, but a launch starts " << warps
                                << "; plan the kernel again from phase 2";
    for (RoleOp &owner : MutableArrayRef(owners).slice(first, count)) {
      if (owner) {
        InFlightDiagnostic diagnostic =
            role.emitOpError() << "shares a warp with another role; plan the "
                                  "kernel again from phase 2";
        diagnostic.attachNote(owner.getLoc()) << "the other role";
        return diagnostic;
      }
      owner = role;
    }
    WalkResult result = role.walk([&](Operation *op) {
      return failed(checkRoleWarps(op, {first, count}))
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
  }
  return success();
}

/// Checks what the conversion reads of the IR around the ops that it converts.
static LogicalResult checkBarriers(gpu::GPUFuncOp kernel) {
  auto needs = [](Operation *op, StringRef what) {
    return op->emitOpError()
           << "needs " << what
           << " in a kernel whose rings are barriers; "
              "--convert-fp8-rings-to-barriers writes it in phase 2";
  };
  if (!isPlanned(kernel))
    return needs(kernel, "a #fp8.cta_plan");
  WalkResult result = kernel.walk([&](Operation *op) {
    StringRef missing = getMissing(op);
    if (missing.empty())
      return WalkResult::advance();
    needs(op, missing);
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted() || failed(checkWarps(kernel)))
    return failure();
  bool givesRegisters =
      llvm::any_of(kernel.getBody().front().getOps<RoleOp>(), [](RoleOp role) {
        return !getPlan<RolePlanAttr>(role).takes;
      });
  if (getPlan<CtaPlanAttr>(kernel).idleRegisters && !givesRegisters)
    return needs(kernel, "a role that gives up registers");
  return success();
}

static LogicalResult lowerKernel(ModuleOp module, gpu::GPUFuncOp kernel,
                                 PopulatePatternsFn populateMore,
                                 OrderOpsFn order) {
  if (hasRings(kernel) && failed(convertRingsToBarriers(kernel, populateMore)))
    return failure();
  if (failed(checkBarriers(kernel)) || failed(updateLaunches(module, kernel)))
    return failure();
  declareSharedMemory(kernel->getParentOp(), kernel.getLoc());
  if (kernel->hasAttr(Fp8Dialect::kWaitTableAttrName))
    declareWaitRecords(kernel->getParentOp(), kernel.getLoc());
  if (kernel->hasAttr(kProfileTableAttrName) && failed(declareStamps(kernel)))
    return failure();
  annotateKernel(kernel);
  separateScaleViews(kernel);
  if (failed(convertOps(kernel, populateMore, order)))
    return failure();
  placeComputations(kernel);
  lowerRoles(kernel);
  // What the kernel was lowered by is not true of what it is now.
  for (StringRef name :
       {Fp8Dialect::kClusterAttrName, Fp8Dialect::kLinearAttrName,
        Fp8Dialect::kBarriersAttrName, Fp8Dialect::kPlanAttrName,
        Fp8Dialect::kProgrammaticAttrName, Fp8Dialect::kSignalsAtWaitAttrName})
    kernel->removeAttr(name);
  return success();
}

LogicalResult mlir::fp8::convertFp8ToNVVM(ModuleOp module,
                                          PopulatePatternsFn populateMore,
                                          OrderOpsFn order) {
  SmallVector<gpu::GPUFuncOp> kernels;
  module.walk([&](gpu::GPUFuncOp function) {
    if (function.isKernel() && function->hasAttr(Fp8Dialect::kLinearAttrName))
      kernels.push_back(function);
  });
  for (gpu::GPUFuncOp kernel : kernels)
    if (failed(lowerKernel(module, kernel, populateMore, order)))
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
