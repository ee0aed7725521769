// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What ops of other dialects may do in a kernel (K1): compute, read and write
// memory, and talk within a warp. They may not wait for warps of other roles,
// end threads, or have shared memory of their own. Those with effects are in
// roles, or in front of them (R4).

#include "fp8/Analysis/KernelPlan.h"
#include "fp8/Analysis/WarpOps.h"
#include "fp8/IR/Assembly.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;
using namespace mlir::fp8;

//===----------------------------------------------------------------------===//
// Waiting for other warps
//===----------------------------------------------------------------------===//

// Named by text: their dialects are no dependency of the analysis.
bool mlir::fp8::isAmongLanes(StringRef name) {
  static const llvm::StringSet<> ops = {"gpu.subgroup_mma_compute",
                                        "gpu.subgroup_mma_load_matrix",
                                        "gpu.subgroup_mma_store_matrix",
                                        "gpu.subgroup_reduce",
                                        "nvvm.bar.warp.sync",
                                        "nvvm.elect.sync",
                                        "nvvm.ldmatrix",
                                        "nvvm.match.sync",
                                        "nvvm.mma.sync",
                                        "nvvm.redux.sync",
                                        "nvvm.shfl.sync",
                                        "nvvm.stmatrix",
                                        "nvvm.vote.sync",
                                        "nvvm.wmma.load",
                                        "nvvm.wmma.mma",
                                        "nvvm.wmma.store"};
  return ops.contains(name);
}

/// Ops whose effects MLIR does not declare and that wait for no other warp.
static bool staysInWarp(StringRef name) {
  static const llvm::StringSet<> ops = {
      // Fences, and waits for what the thread itself has started.
      "nvvm.cp.async.bulk.commit.group", "nvvm.cp.async.bulk.wait_group",
      "nvvm.cp.async.commit.group", "nvvm.cp.async.wait.group",
      "nvvm.fence.mbarrier.init", "nvvm.fence.proxy",
      "nvvm.fence.proxy.acquire", "nvvm.fence.proxy.release",
      "nvvm.fence.sc.cluster", "nvvm.memory.barrier", "nvvm.tcgen05.fence",
      "nvvm.tcgen05.wait", "nvvm.wgmma.commit.group.sync.aligned",
      "nvvm.wgmma.fence.aligned", "nvvm.wgmma.wait.group.sync.aligned",
      // Of one thread.
      "nvvm.breakpoint", "nvvm.griddepcontrol", "nvvm.mbarrier.test.wait",
      "nvvm.nanosleep", "nvvm.prefetch", "nvvm.prefetch.tensormap"};
  // No instruction of LLVM IR waits. Special registers are read.
  return isAmongLanes(name) || ops.contains(name) ||
         name.starts_with("llvm.") || name.starts_with("nvvm.read.ptx.sreg.");
}

/// True if the intrinsic may let warps wait for one another.
static bool isBarrier(StringRef intrinsic) {
  StringRef name = intrinsic;
  if (!name.consume_front("llvm.nvvm."))
    return false;
  return (name.starts_with("bar") && !name.starts_with("bar.warp")) ||
         name.starts_with("cluster") || name.starts_with("setmaxnreg") ||
         name.starts_with("tcgen05.alloc");
}

/// The text without what the assembler skips: comments, and blanks in front of
/// a dot.
static std::string strip(StringRef assembly) {
  std::string text;
  while (!assembly.empty()) {
    if (assembly.consume_front("/*"))
      assembly = assembly.split("*/").second;
    else if (assembly.consume_front("//"))
      assembly = assembly.split('\n').second;
    else {
      if (assembly.front() == '.')
        while (!text.empty() && llvm::isSpace(text.back()))
          text.pop_back();
      text.push_back(assembly.front());
      assembly = assembly.drop_front();
    }
  }
  return text;
}

/// True if the assembly text has an instruction that ends the threads that run
/// it, or leaves the kernel (PTX ISA, exit, ret).
static bool leavesKernel(StringRef assembly) {
  static const llvm::Regex instruction(
      "(^|[^[:alnum:]_.%$])(exit|ret(\\.uni)?)[[:space:]]*(;|$)");
  return instruction.match(strip(assembly));
}

/// True if the assembly text has an instruction by which warps of a CTA or of a
/// cluster wait for one another (PTX ISA, bar, barrier, barrier.cluster), takes
/// what the kernel's layout deals out (setmaxnreg, tcgen05.alloc, variables in
/// shared memory), or alternatives of LLVM's, which hide either.
static bool reachesOtherWarps(StringRef assembly) {
  static const llvm::Regex instruction(
      "(^|[^[:alnum:]_.%$])((bar|barrier)\\.(cta|cluster|sync|arrive|red|wait)"
      "|setmaxnreg\\.|tcgen05\\.alloc)|(^|[[:space:];{}])\\.shared|\\$\\(");
  return instruction.match(strip(assembly));
}

/// True if the op itself, whatever it calls, may end its threads.
static bool mayEnd(Operation *op) {
  if (std::optional<StringRef> assembly = getAssembly(op))
    return leavesKernel(*assembly);
  auto intrinsic = op->getAttrOfType<StringAttr>("intrin");
  return intrinsic && intrinsic.getValue() == "llvm.nvvm.exit";
}

/// True if the op itself, whatever it calls, may wait for warps of other roles.
static bool mayWait(Operation *op) {
  if (isa_and_nonnull<Fp8Dialect>(op->getDialect()) ||
      isa<LinearOpInterface>(op) ||
      op->hasTrait<mlir::OpTrait::IsTerminator>() ||
      op->hasTrait<mlir::OpTrait::HasRecursiveMemoryEffects>())
    return false; // ours, declared, or ops with what is in their regions
  StringRef name = op->getName().getStringRef();
  if (std::optional<StringRef> assembly = getAssembly(op))
    return reachesOtherWarps(*assembly);
  if (auto intrinsic = op->getAttrOfType<StringAttr>("intrin"))
    return isBarrier(intrinsic);
  return hasUnknownEffects(op) && !staysInWarp(name);
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// True for memrefs and pointers of shared memory, of this CTA or of its
/// cluster, and vectors of them.
static bool isShared(Type type) {
  if (auto memref = dyn_cast<BaseMemRefType>(type)) {
    Attribute space = memref.getMemorySpace();
    auto number = dyn_cast_if_present<IntegerAttr>(space);
    return number ? number.getInt() == 3 || number.getInt() == 7
                  : space && llvm::to_string(space) ==
                                 "#gpu.address_space<workgroup>";
  }
  std::string text = llvm::to_string(getElementTypeOrSelf(type));
  return text == "!llvm.ptr<3>" || text == "!llvm.ptr<7>";
}

/// True if the op makes an address in shared memory that does not come from one
/// of its operands.
static bool makesSharedMemory(Operation *op) {
  return !isa_and_nonnull<Fp8Dialect>(op->getDialect()) &&
         !isa<LinearOpInterface, CallOpInterface>(op) &&
         llvm::any_of(op->getResultTypes(), isShared) &&
         llvm::none_of(op->getOperandTypes(), isShared);
}

//===----------------------------------------------------------------------===//
// The rule
//===----------------------------------------------------------------------===//

namespace {
/// What an op of another dialect must not do.
enum class Misdeed { None, MakesMemory, Waits, Ends };

/// The op that does it; null if none does.
struct Culprit {
  Operation *op = nullptr;
  Misdeed misdeed = Misdeed::None;
};
} // namespace

/// What the op itself does, whatever it calls.
static Misdeed getMisdeed(Operation *op, bool isInRole) {
  if (makesSharedMemory(op))
    return Misdeed::MakesMemory;
  if (mayEnd(op))
    return Misdeed::Ends;
  return isInRole && mayWait(op) ? Misdeed::Waits : Misdeed::None;
}

/// What the op, or one in a function that it calls, does; waits matter in roles
/// only.
static Culprit find(Operation *op, bool isInRole,
                    llvm::SmallPtrSetImpl<Operation *> &called) {
  auto call = dyn_cast<CallOpInterface>(op);
  if (!call) {
    Misdeed misdeed = getMisdeed(op, isInRole);
    return misdeed == Misdeed::None ? Culprit() : Culprit{op, misdeed};
  }
  auto symbol = dyn_cast_if_present<SymbolRefAttr>(call.getCallableForCallee());
  Operation *callee =
      symbol ? SymbolTable::lookupNearestSymbolFrom(op, symbol) : nullptr;
  if (!callee || callee->getNumRegions() == 0 || callee->getRegion(0).empty())
    return isInRole ? Culprit{op, Misdeed::Waits} : Culprit();
  Culprit found;
  if (called.insert(callee).second)
    callee->getRegion(0).walk([&](Operation *inner) {
      found = find(inner, isInRole, called);
      return found.op ? WalkResult::interrupt() : WalkResult::advance();
    });
  return found;
}

/// The error about what the op, or one that it calls, does.
static InFlightDiagnostic report(Operation *op, Culprit found) {
  InFlightDiagnostic diagnostic = op->emitOpError();
  bool isItself = found.op == op;
  StringRef noun;
  switch (found.misdeed) {
  case Misdeed::None:
    llvm_unreachable("nothing to report");
  case Misdeed::MakesMemory:
    diagnostic << (isItself ? "is outside "
                            : "calls a function with its own shared memory, "
                              "which is outside ")
               << "the layout of the kernel's rings (K1); add a tile to a "
                  "pipeline";
    noun = "the memory";
    break;
  case Misdeed::Waits:
    diagnostic << "may wait for warps of other roles, which never execute it "
                  "(K1); hand over through a ring";
    noun = "the wait";
    break;
  case Misdeed::Ends:
    diagnostic
        << "ends threads that the kernel still needs (K1); remove it, and "
           "let control flow reach the end";
    noun = "the end";
    break;
  }
  if (!isItself)
    diagnostic.attachNote(found.op->getLoc()) << noun;
  else if (found.misdeed == Misdeed::Waits && !isa<CallOpInterface>(op) &&
           hasUnknownEffects(op) &&
           !llvm::is_contained({"gpu", "nvvm", "llvm"},
                               op->getName().getDialectNamespace()))
    diagnostic.attachNote(op->getLoc())
        << "its effects are unknown; an op that does not wait declares its "
           "effects with MemoryEffectOpInterface";
  return diagnostic;
}

/// The memory that a kernel attributes to itself, and arguments in shared
/// memory.
static LogicalResult checkMemory(FunctionOpInterface kernel) {
  for (BlockArgument argument :
       kernel.getFunctionBody().front().getArguments()) {
    if (isShared(argument.getType()))
      return emitError(argument.getLoc())
             << "shared memory of a kernel is outside the layout of the "
                "kernel's rings (K1); add a tile to a pipeline";
    if (argument.getArgNumber() >= kernel.getNumArguments())
      return emitError(argument.getLoc())
             << "private memory of a kernel must be allocated in a role (K1); "
                "use memref.alloca";
  }
  return success();
}

/// (R4) Roles run at the same time, and lowering moves them: what stands behind
/// one has no order with it.
static LogicalResult checkBehindRoles(FunctionOpInterface kernel) {
  RoleOp first;
  for (mlir::Block &block : kernel.getFunctionBody())
    for (Operation &op : block) {
      auto role = dyn_cast<RoleOp>(op);
      first = first ? first : role;
      if (!first || role || isa_and_nonnull<Fp8Dialect>(op.getDialect()) ||
          op.hasTrait<mlir::OpTrait::IsTerminator>() ||
          isa<LinearOpInterface>(op) || isMemoryEffectFree(&op))
        continue;
      InFlightDiagnostic diagnostic =
          op.emitOpError()
          << (hasUnknownEffects(&op) ? "may have effects" : "has effects")
          << " and stands behind a role (R4), with which it has no order; move "
             "it into a role, or in front of the first one";
      diagnostic.attachNote(first.getLoc()) << "the first role";
      return diagnostic;
    }
  return success();
}

/// (K8) The lowering gives index 32 bits in kernels.
static LogicalResult checkIndex(Operation *op) {
  if (op->getName().getStringRef() == "memref.extract_aligned_pointer_as_index")
    return op->emitOpError()
           << "gives 64 bits of a pointer as index, which has 32 in a kernel "
              "(K8); access the memory by its memref";
  Attribute value;
  if (!op->hasTrait<mlir::OpTrait::ConstantLike>() ||
      !getElementTypeOrSelf(op->getResult(0).getType()).isIndex() ||
      !matchPattern(op, m_Constant(&value)))
    return success();
  SmallVector<APInt> numbers;
  if (auto one = dyn_cast<IntegerAttr>(value))
    numbers.push_back(one.getValue());
  else if (auto several = dyn_cast<DenseIntElementsAttr>(value))
    llvm::append_range(numbers, several.getValues<APInt>());
  auto *large = llvm::find_if(numbers, [](const APInt &number) {
    return !number.isIntN(32) && !number.isSignedIntN(32);
  });
  if (large == numbers.end())
    return success();
  int64_t number = large->getSExtValue();
  // Folding leaves constants without a place in the source.
  bool isFolded = isa<UnknownLoc>(op->getLoc()) && !op->use_empty();
  return emitError((isFolded ? *op->user_begin() : op)->getLoc())
         << number
         << " needs more than the 32 bits that index has in a kernel "
            "(K8); use i64";
}

/// The same of all ops of a function, and of those that it calls.
static LogicalResult checkIndices(Operation *function,
                                  llvm::SmallPtrSetImpl<Operation *> &seen) {
  WalkResult result = function->walk([&](Operation *op) {
    if (failed(checkIndex(op)))
      return WalkResult::interrupt();
    auto call = dyn_cast<CallOpInterface>(op);
    Operation *callee = call ? call.resolveCallable() : nullptr;
    return callee && seen.insert(callee).second &&
                   failed(checkIndices(callee, seen))
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult KernelPlan::checkForeign(FunctionOpInterface kernel) {
  llvm::SmallPtrSet<Operation *, 4> called, calledInRoles, seen;
  if (failed(checkMemory(kernel)) || failed(checkBehindRoles(kernel)) ||
      failed(checkIndices(kernel, seen)))
    return failure();
  WalkResult result = kernel->walk([&](Operation *op) {
    bool isInRole = op->getParentOfType<RoleOp>();
    Culprit found = find(op, isInRole, isInRole ? calledInRoles : called);
    if (!found.op)
      return WalkResult::advance();
    report(op, found);
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}
