// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a lowered kernel asks of its launches: threads, shared memory, clusters,
// and what it is told of its operands.

#include "Launches.h"

#include "Lowering.h"
#include "fp8/Analysis/KernelPlan.h"
#include "fp8/IR/ArgumentAccess.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fp8;

/// What in a kernel depends on the CTA's place in its cluster, or on the
/// cluster's size.
static Operation *findClusterUse(gpu::GPUFuncOp kernel) {
  Operation *found = nullptr;
  kernel.walk([&](Operation *op) {
    if (!isa<RequestAnswerOp, gpu::ClusterIdOp, gpu::ClusterBlockIdOp,
             gpu::ClusterDimOp, gpu::ClusterDimBlocksOp>(op))
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

/// Checks a launch that states clusters for a kernel without. Its CTAs share
/// nothing, so the launch may place any number of them together, unless the
/// kernel could tell.
static LogicalResult checkPlacement(gpu::LaunchFuncOp launch,
                                    gpu::GPUFuncOp kernel) {
  bool alone = true;
  for (Value size : {launch.getClusterSizeX(), launch.getClusterSizeY(),
                     launch.getClusterSizeZ()})
    alone &= matchPattern(size, m_One());
  Operation *use = alone ? nullptr : findClusterUse(kernel);
  if (!use)
    return success();
  InFlightDiagnostic error =
      launch.emitOpError()
      << "starts clusters, but kernel '" << kernel.getName()
      << "' is compiled for CTAs without, and depends on its cluster; state "
         "the CTAs of a cluster in '"
      << Fp8Dialect::kClusterAttrName << "' on the kernel (C8)";
  error.attachNote(use->getLoc()) << "what depends on it";
  return error;
}

/// Gives a launch the cluster of its kernel, along x.
static LogicalResult updateCluster(gpu::LaunchFuncOp launch,
                                   gpu::GPUFuncOp kernel) {
  int64_t size = getClusterShape(kernel).getSize();
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
  if (size == 1)
    return checkPlacement(launch, kernel);
  APInt stated;
  int64_t expected = size;
  for (Value value : {launch.getClusterSizeX(), launch.getClusterSizeY(),
                      launch.getClusterSizeZ()}) {
    if (matchPattern(value, m_ConstantInt(&stated)) &&
        stated.getSExtValue() != expected)
      return launch.emitOpError()
             << "starts clusters of " << stated.getSExtValue()
             << " CTAs along an axis where its kernel's clusters have "
             << expected << "; clusters extend along x, and '"
             << Fp8Dialect::kClusterAttrName << "' states their number of CTAs";
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
      return diagnostic << "its kernel has " << threads << ": its roles have "
                        << plan.warps - idle << " warps, and " << idle
                        << " idle warps complete the last warpgroup, since "
                           "setmaxnreg applies to whole warpgroups";
    return diagnostic << "the roles of its kernel have " << threads << " ("
                      << plan.warps << " warps)";
  }
  for (Value size : {launch.getBlockSizeY(), launch.getBlockSizeZ()})
    if (differs(size, 1))
      return launch.emitOpError()
             << "starts blocks of several rows, but warps are assigned to "
                "roles along x; y and z must be 1";
  if (differs(launch.getDynamicSharedMemorySize(), plan.sharedMemory))
    return launch.emitOpError()
           << "states " << stated.getSExtValue()
           << " bytes of shared memory, but its kernel needs "
           << plan.sharedMemory << "; remove the number";
  if (failed(updateCluster(launch, kernel)))
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

/// Adds the arguments of the kernel that the value may be.
static void collectArguments(Value value, llvm::SetVector<unsigned> &found) {
  llvm::SetVector<Value> reached;
  reached.insert(value);
  for (unsigned next = 0; next < reached.size(); ++next) {
    Value its = getMemory(reached[next]);
    if (auto select = its.getDefiningOp<arith::SelectOp>()) {
      reached.insert(select.getTrueValue());
      reached.insert(select.getFalseValue());
    } else if (auto argument = dyn_cast<BlockArgument>(its);
               argument && argument.getOwner()->isEntryBlock() &&
               isa<gpu::GPUFuncOp>(argument.getOwner()->getParentOp())) {
      found.insert(argument.getArgNumber());
    }
  }
}

/// Checks that the kernel writes nothing that it may only read: what it writes
/// there would not come back to the caller.
static LogicalResult checkAccess(gpu::LaunchFuncOp launch,
                                 gpu::GPUFuncOp kernel) {
  llvm::SetVector<unsigned> written;
  kernel.walk([&](Operation *op) {
    if (auto store = dyn_cast<StoreAtOp>(op)) {
      collectArguments(store.getMap(), written);
      if (Value rest = store.getRest())
        collectArguments(rest, written);
    } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
      collectArguments(store.getMemRef(), written);
    }
  });
  for (unsigned number : written) {
    auto array =
        dyn_cast<BlockArgument>(getMemory(launch.getKernelOperands()[number]));
    auto host =
        array && array.getOwner()->isEntryBlock()
            ? dyn_cast<FunctionOpInterface>(array.getOwner()->getParentOp())
            : FunctionOpInterface();
    auto access = host ? host.getArgAttrOfType<StringAttr>(array.getArgNumber(),
                                                           kAccessAttrName)
                       : StringAttr();
    if (access && (access == "read" || access == kConstantAccess))
      return launch.emitOpError()
             << "passes argument " << array.getArgNumber() << ", whose '"
             << kAccessAttrName << "' is \"" << access.getValue()
             << "\", as parameter " << number << " of kernel '"
             << kernel.getName()
             << "', which writes to it; state \"write\" or \"readwrite\" (H5)";
  }
  return success();
}

/// Checks that what tells the kernel of constant parameters asks the launcher
/// about these.
static LogicalResult checkConstants(gpu::LaunchFuncOp launch,
                                    gpu::GPUFuncOp kernel) {
  OperandRange arguments = launch.getKernelOperands();
  for (auto [number, argument] : llvm::enumerate(arguments)) {
    auto constants =
        kernel.getArgAttrOfType<DenseI64ArrayAttr>(number, kConstantsAttrName);
    if (!constants)
      continue;
    auto asked = argument.getDefiningOp<IsConstantOp>();
    if (!asked)
      return launch.emitOpError()
             << "must pass the result of an fp8.is_constant as parameter "
             << number << " of kernel '" << kernel.getName() << "', which has '"
             << kConstantsAttrName << "' (H4)";
    auto sources = llvm::map_to_vector(asked.getSources(), getMemory);
    for (int64_t named : constants.asArrayRef())
      if (!llvm::is_contained(sources, getMemory(arguments[named]))) {
        InFlightDiagnostic error =
            launch.emitOpError()
            << "does not ask whether parameter " << named << " of kernel '"
            << kernel.getName() << "' is constant, which '"
            << kConstantsAttrName << "' of parameter " << number
            << " names; add it to the sources of fp8.is_constant (H4)";
        error.attachNote(asked.getLoc()) << "asked here";
        return error;
      }
  }
  return success();
}

/// Checks that the kernel is told of the bytes of each map whose boxes fit.
static LogicalResult checkBoxBytes(gpu::LaunchFuncOp launch,
                                   gpu::GPUFuncOp kernel) {
  OperandRange arguments = launch.getKernelOperands();
  llvm::SmallDenseSet<int64_t> told;
  for (auto [number, argument] : llvm::enumerate(arguments)) {
    auto named =
        kernel.getArgAttrOfType<IntegerAttr>(number, kBoxBytesAttrName);
    if (!named)
      continue;
    told.insert(named.getInt());
    auto bytes = argument.getDefiningOp<BoxBytesOp>();
    if (!bytes || bytes.getMap() != arguments[named.getInt()])
      return launch.emitOpError()
             << "must pass fp8.box_bytes of parameter " << named.getInt()
             << " as parameter " << number << " of kernel '" << kernel.getName()
             << "', which has '" << kBoxBytesAttrName << "' (H6)";
  }
  for (auto [number, argument] : llvm::enumerate(arguments))
    if (auto fit = argument.getDefiningOp<FitRowsOp>();
        fit && !told.contains(number)) {
      InFlightDiagnostic error =
          launch.emitOpError()
          << "passes a tensor map of fp8.fit_rows as parameter " << number
          << " of kernel '" << kernel.getName()
          << "', which is not told the bytes of its boxes; pass fp8.box_bytes "
             "of it to a parameter with '"
          << kBoxBytesAttrName << " = " << number
          << " : i64', or pass the map itself (H6)";
      error.attachNote(fit.getLoc()) << "the map";
      return error;
    }
  return success();
}

LogicalResult mlir::fp8::updateLaunches(ModuleOp module,
                                        gpu::GPUFuncOp kernel) {
  WalkResult result = module.walk([&](gpu::LaunchFuncOp launch) {
    if (SymbolTable::lookupNearestSymbolFrom(launch, launch.getKernelAttr()) !=
        kernel)
      return WalkResult::advance();
    if (Attribute early = kernel->getAttr(Fp8Dialect::kProgrammaticAttrName))
      launch->setAttr(Fp8Dialect::kProgrammaticAttrName, early);
    return failed(checkConstants(launch, kernel)) ||
                   failed(checkBoxBytes(launch, kernel)) ||
                   failed(checkAccess(launch, kernel)) ||
                   failed(updateLaunch(launch, kernel))
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
