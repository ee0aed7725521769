// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What ops of other dialects may do in a kernel (K1): compute, read and write
// memory, and talk within a warp. They may not wait for warps of other roles,
// and have no shared memory of their own.

#include "fp8/Analysis/KernelPlan.h"

#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;
using namespace mlir::fp8;

//===----------------------------------------------------------------------===//
// Waiting for other warps
//===----------------------------------------------------------------------===//

/// Ops whose effects MLIR does not declare and that involve one warp at most.
/// Named by text: their dialects are no dependency of the analysis.
static bool staysInWarp(Operation *op) {
  static const llvm::StringSet<> ops = {
      "gpu.subgroup_reduce",    "nvvm.bar.warp.sync",   "nvvm.elect.sync",
      "nvvm.fence.proxy",       "nvvm.ldmatrix",        "nvvm.match.sync",
      "nvvm.memory.barrier",    "nvvm.mma.sync",        "nvvm.nanosleep",
      "nvvm.redux.sync",        "nvvm.shfl.sync",       "nvvm.stmatrix",
      "nvvm.vote.sync",         "nvvm.wmma.load",       "nvvm.wmma.mma",
      "nvvm.wmma.store",        "gpu.subgroup_mma_compute",
      "gpu.subgroup_mma_load_matrix", "gpu.subgroup_mma_store_matrix"};
  StringRef name = op->getName().getStringRef();
  // No instruction of LLVM IR waits; what an intrinsic does, only its name
  // says.
  if (op->getName().getDialectNamespace() == "llvm")
    return name != "llvm.call_intrinsic";
  return ops.contains(name);
}

/// True if the assembly text has an instruction by which warps of a CTA or of a
/// cluster wait for one another (PTX ISA, bar, barrier, barrier.cluster).
static bool hasBarrier(StringRef assembly) {
  static const llvm::Regex barrier(
      "(^|[^[:alnum:]_.])(bar|barrier)\\.(cta|cluster|sync|arrive|red|wait)");
  return barrier.match(assembly);
}

/// The op that may wait for warps of other roles when this one runs: itself, or
/// one in a function that it calls; null if there is none.
static Operation *findWait(Operation *op,
                           llvm::SmallPtrSetImpl<Operation *> &called) {
  if (isa_and_nonnull<Fp8Dialect>(op->getDialect()) ||
      isa<LinearOpInterface>(op) ||
      op->hasTrait<mlir::OpTrait::IsTerminator>() ||
      op->hasTrait<mlir::OpTrait::HasRecursiveMemoryEffects>())
    return nullptr; // ours, declared, or ops with what is in their regions
  if (auto call = dyn_cast<CallOpInterface>(op)) {
    auto symbol =
        dyn_cast_if_present<SymbolRefAttr>(call.getCallableForCallee());
    Operation *callee =
        symbol ? SymbolTable::lookupNearestSymbolFrom(op, symbol) : nullptr;
    if (!callee || callee->getNumRegions() == 0 ||
        callee->getRegion(0).empty())
      return op;
    if (!called.insert(callee).second)
      return nullptr;
    Operation *wait = nullptr;
    callee->getRegion(0).walk([&](Operation *inner) {
      wait = findWait(inner, called);
      return wait ? WalkResult::interrupt() : WalkResult::advance();
    });
    return wait;
  }
  if (auto assembly = op->getAttrOfType<StringAttr>("asm_string"))
    return hasBarrier(assembly) ? op : nullptr;
  return hasUnknownEffects(op) && !staysInWarp(op) ? op : nullptr;
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// True for memrefs and pointers of shared memory.
static bool isShared(Type type) {
  if (auto memref = dyn_cast<BaseMemRefType>(type)) {
    Attribute space = memref.getMemorySpace();
    auto number = dyn_cast_if_present<IntegerAttr>(space);
    return number ? number.getInt() == 3
                  : space && llvm::to_string(space) ==
                                 "#gpu.address_space<workgroup>";
  }
  return llvm::to_string(type) == "!llvm.ptr<3>";
}

/// True if the op makes an address in shared memory that does not come from one
/// of its operands.
static bool makesSharedMemory(Operation *op) {
  return !isa_and_nonnull<Fp8Dialect>(op->getDialect()) &&
         !isa<LinearOpInterface>(op) &&
         llvm::any_of(op->getResultTypes(), isShared) &&
         llvm::none_of(op->getOperandTypes(), isShared);
}

LogicalResult KernelPlan::checkForeign(FunctionOpInterface kernel) {
  StringRef cure = "is memory that the layout of the kernel's rings does not "
                   "know of (K1); add a tile to a pipeline";
  for (BlockArgument argument : kernel.getArguments())
    if (argument.getArgNumber() >= kernel.getNumArguments() ||
        isShared(argument.getType()))
      return emitError(argument.getLoc()) << "shared memory of a kernel " << cure;
  llvm::SmallPtrSet<Operation *, 4> called;
  WalkResult result = kernel->walk([&](Operation *op) {
    if (makesSharedMemory(op)) {
      op->emitOpError() << cure;
      return WalkResult::interrupt();
    }
    if (!op->getParentOfType<RoleOp>())
      return WalkResult::advance();
    Operation *wait = findWait(op, called);
    if (!wait)
      return WalkResult::advance();
    InFlightDiagnostic diagnostic =
        op->emitOpError()
        << "may wait for warps of other roles, which do not come here (K1); "
           "hand over through a ring";
    if (wait != op)
      diagnostic.attachNote(wait->getLoc()) << "the wait";
    else if (!isa<CallOpInterface>(op) &&
             !llvm::is_contained({"gpu", "nvvm", "llvm"},
                                 op->getName().getDialectNamespace()))
      diagnostic.attachNote(op->getLoc())
          << "its effects are unknown: an op that waits for nobody declares "
             "them with MemoryEffectOpInterface";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}
