// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a programmatic kernel waits for the kernels in front of it (PTX ISA,
// griddepcontrol).

#include "fp8/Analysis/GridWait.h"
#include "fp8/IR/ArgumentAccess.h"
#include "fp8/IR/Assembly.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fp8;

/// True if the op itself touches memory, not only what is in its regions.
static bool touchesMemory(Operation *op) {
  bool isOfRegions = op->hasTrait<mlir::OpTrait::HasRecursiveMemoryEffects>() ||
                     isa<RoleOp, FunctionOpInterface>(op);
  return !isOfRegions && !isMemoryEffectFree(op);
}

/// True if the op has effects on memory that its operands do not name.
static bool hasEffectsAnywhere(Operation *op) {
  auto declared = dyn_cast<MemoryEffectOpInterface>(op);
  if (!declared)
    return hasUnknownEffects(op);
  SmallVector<MemoryEffects::EffectInstance> effects;
  declared.getEffects(effects);
  return llvm::any_of(effects, [](const MemoryEffects::EffectInstance &effect) {
    return !effect.getValue() &&
           isa<MemoryEffects::Read, MemoryEffects::Write>(effect.getEffect());
  });
}

/// True if the op may touch any memory: it is of another dialect, and takes
/// pointers, or does not say what its effects are on.
static bool touchesAnything(Operation *op) {
  if (isa_and_nonnull<Fp8Dialect>(op->getDialect()) ||
      isa<LinearOpInterface>(op) ||
      op->hasTrait<mlir::OpTrait::IsTerminator>() || !touchesMemory(op))
    return false;
  auto takesPointer = [](Type type) {
    return type.getDialect().getNamespace() == "llvm";
  };
  return hasEffectsAnywhere(op) ||
         llvm::any_of(op->getOperandTypes(), takesPointer);
}

/// True if the op touches global memory.
static bool touchesGlobal(Operation *op) {
  return touchesAnything(op) ||
         (touchesMemory(op) &&
          llvm::any_of(op->getOperandTypes(),
                       llvm::IsaPred<TensorMapType, MemRefType>));
}

/// The memory that the op touches and kernels in front may write: for each
/// operand the argument that says at run time whether it is constant, null if
/// none does.
static SmallVector<Value> getConstancies(Operation *op,
                                         FunctionOpInterface kernel) {
  SmallVector<Value> constancies;
  if (!touchesGlobal(op))
    return constancies;
  if (touchesAnything(op))
    constancies.push_back({});
  for (Value operand : op->getOperands()) {
    if (!isa<TensorMapType, MemRefType>(operand.getType()))
      continue;
    auto argument = dyn_cast<BlockArgument>(operand);
    if (!argument || argument.getOwner() != &kernel.getFunctionBody().front())
      constancies.push_back({});
    else if (!isConstant(kernel, argument.getArgNumber()))
      constancies.push_back(getConstancy(kernel, argument.getArgNumber()));
  }
  return constancies;
}

/// True if the op touches global memory that kernels in front may write.
static bool touchesOthers(Operation *op, FunctionOpInterface kernel) {
  return !getConstancies(op, kernel).empty();
}

bool mlir::fp8::waitsBeforeRoles(FunctionOpInterface kernel) {
  return kernel
      ->walk([&](Operation *op) {
        bool isBefore =
            !op->getParentOfType<RoleOp>() && touchesOthers(op, kernel);
        return isBefore || isa<CreateMmaWarpOp>(op) ? WalkResult::interrupt()
                                                    : WalkResult::advance();
      })
      .wasInterrupted();
}

/// True if the role has linear values, all of them ends and stages that it
/// fills.
static bool onlyFillsRings(RoleOp role) {
  bool fills = false, doesMore = false;
  role.getBody().walk([&](Operation *op) {
    for (Type type : op->getOperandTypes()) {
      auto end = dyn_cast<EndTypeInterface>(type);
      bool isFilled = isa<ProducerStageType>(type) || (end && end.isProducer());
      fills |= isFilled;
      doesMore |= isa<LinearTypeInterface>(type) && !isFilled;
    }
  });
  return fills && !doesMore;
}

/// True if control flow within a region decides whether the role runs the op.
static bool isInControlFlow(Operation *op, RoleOp role) {
  for (; op != role; op = op->getParentOp())
    if (!op->getParentRegion()->hasOneBlock())
      return true;
  return false;
}

/// True if the op stores to global memory.
static bool stores(Operation *op) {
  if (!touchesGlobal(op))
    return false;
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  return !effects || effects.hasEffect<MemoryEffects::Write>();
}

/// The first op of the role that stores; null if none does.
static Operation *getFirstStore(RoleOp role) {
  Operation *first = nullptr;
  role->walk([&](Operation *op) {
    if (!stores(op))
      return WalkResult::advance();
    first = op;
    return WalkResult::interrupt();
  });
  return first;
}

/// Lets the kernel behind start in front of the role's first store of the last
/// tile, if the role stores.
static void startNextAtStore(RoleOp role, GridWait &wait) {
  Operation *store = getFirstStore(role);
  if (!store)
    return;
  wait.startsNext = store;
  for (Operation *op = store; op != role; op = op->getParentOp())
    if (auto loop = dyn_cast<scf::ForOp>(op->getParentOp()))
      wait.tiles = loop;
}

/// A role that waits where it begins. It lets the kernel behind start there if
/// `startsNextAtOnce`, or if it does not store.
static GridWait waitAtBegin(RoleOp role, bool startsNextAtOnce) {
  Operation *begin = &role.getBody().front().front();
  GridWait wait{{{begin, /*unless=*/{}}}, /*startsNext=*/begin};
  if (!startsNextAtOnce)
    startNextAtStore(role, wait);
  return wait;
}

/// True if the role takes accumulators from tensor memory.
static bool takesAccumulators(RoleOp role) {
  return role
      ->walk([](Operation *op) {
        for (Type type : op->getOperandTypes()) {
          EndTypeInterface end = getEndOf(type);
          if (end && !end.isProducer() &&
              isa<OutputPipelineType>(end.getRing()))
            return WalkResult::interrupt();
        }
        return WalkResult::advance();
      })
      .wasInterrupted();
}

/// Tensor memory that a CTA needs must be its own before it lets the kernel
/// behind start: the CTA of another kernel may take it and keep it while it
/// waits for this kernel to end (PTX ISA, tcgen05.alloc, griddepcontrol). A
/// role that takes accumulators starts behind the allocation of its ring, and
/// the first signal of a CTA counts: with several rings its end is the signal.
static GridWait getGridWaitBehindAllocation(RoleOp role,
                                            FunctionOpInterface kernel) {
  GridWait wait;
  unsigned allocations = 0;
  kernel->walk([&](CreateMmaWarpOp) { ++allocations; });
  if (allocations == 1 && takesAccumulators(role))
    startNextAtStore(role, wait);
  return wait;
}

/// True if the role copies from global memory, and only what is constant.
static bool copiesConstants(RoleOp role, FunctionOpInterface kernel) {
  bool copies = false, others = false;
  role->walk([&](Operation *op) {
    copies |= touchesGlobal(op);
    others |= touchesOthers(op, kernel);
  });
  return copies && !others && onlyFillsRings(role);
}

/// The flag, if it is the only one; null if what is touched is never constant,
/// or several flags tell of it.
static Value getOnly(const llvm::SmallSetVector<Value, 2> &constancies) {
  return constancies.size() == 1 ? constancies.front() : Value();
}

/// A role that fills rings waits where the blocks of its copies begin. In a
/// loop it waits again, which takes no time. In front of the loop LLVM would
/// leave the computation of the copies' places behind the wait.
static GridWait waitAtCopies(RoleOp role, FunctionOpInterface kernel) {
  llvm::MapVector<Block *, llvm::SmallSetVector<Value, 2>> constancies;
  role->walk([&](Operation *op) {
    if (SmallVector<Value> its = getConstancies(op, kernel); !its.empty())
      constancies[op->getBlock()].insert_range(its);
  });
  GridWait wait;
  for (auto &[block, its] : constancies)
    wait.places.push_back({&block->front(), getOnly(its)});
  return wait;
}

/// A role that need not wait for the kernel's sake waits where it begins for
/// what may be constant, and for the rest in front of the first access of each
/// block.
static GridWait waitAtAccesses(RoleOp role, FunctionOpInterface kernel) {
  llvm::SmallSetVector<Value, 2> flags;
  llvm::SmallSetVector<Block *, 4> blocks;
  GridWait wait;
  role->walk([&](Operation *op) {
    SmallVector<Value> its = getConstancies(op, kernel);
    if (!llvm::is_contained(its, Value()))
      flags.insert_range(its);
    else if (blocks.insert(op->getBlock()))
      wait.places.push_back({op, /*unless=*/{}});
  });
  if (!flags.empty())
    wait.places.insert(wait.places.begin(),
                       {&role.getBody().front().front(), getOnly(flags)});
  return wait;
}

/// True if control flow within a region decides whether the role touches what
/// is not constant.
static bool branchesToAccesses(RoleOp role, FunctionOpInterface kernel) {
  return role
      ->walk([&](Operation *op) {
        return touchesOthers(op, kernel) && isInControlFlow(op, role)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// True if the role has no ops: it waits, may let the kernel behind start, and
/// ends.
static bool onlyWaits(RoleOp role) {
  return role.getBody().hasOneBlock() &&
         role.getBody().front().without_terminator().empty();
}

/// `startsNextAtOnce`: the kernel behind starts right behind the wait.
/// `anotherWaits`: a role without ops waits for the kernel's sake.
static GridWait getGridWait(RoleOp role, FunctionOpInterface kernel,
                            bool startsNextAtOnce, bool anotherWaits) {
  if (onlyWaits(role)) {
    Operation *end = role.getBody().front().getTerminator();
    return {{{end, /*unless=*/{}}}, startsNextAtOnce ? end : nullptr};
  }
  bool fills = onlyFillsRings(role);
  if (!(fills || anotherWaits) || branchesToAccesses(role, kernel))
    return waitAtBegin(role, startsNextAtOnce);
  if (fills)
    return waitAtCopies(role, kernel);
  GridWait wait = waitAtAccesses(role, kernel);
  if (!startsNextAtOnce)
    startNextAtStore(role, wait);
  return wait;
}

SmallVector<GridWait> mlir::fp8::getGridWaits(FunctionOpInterface kernel) {
  auto roles = kernel.getFunctionBody().front().getOps<RoleOp>();
  // The kernel behind has such a role, too, if it is of the same source.
  bool startsNextAtOnce = kernel->hasAttr(Fp8Dialect::kSignalsAtWaitAttrName) ||
                          llvm::any_of(roles, [&](RoleOp role) {
                            return copiesConstants(role, kernel);
                          });
  bool isProgrammatic = kernel->hasAttr(Fp8Dialect::kProgrammaticAttrName),
       isBefore = isProgrammatic && waitsBeforeRoles(kernel),
       anotherWaits = llvm::any_of(roles, onlyWaits);
  auto getWait = [&](RoleOp role) {
    if (!isProgrammatic)
      return GridWait();
    return isBefore ? getGridWaitBehindAllocation(role, kernel)
                    : getGridWait(role, kernel, startsNextAtOnce, anotherWaits);
  };
  return llvm::map_to_vector(roles, getWait);
}

/// True if the op waits for the kernels in front, or lets the following one
/// start (PTX ISA, griddepcontrol).
static bool controlsGrids(Operation *op) {
  if (std::optional<StringRef> assembly = getAssembly(op))
    return assembly->contains("griddepcontrol");
  auto intrinsic = op->getAttrOfType<StringAttr>("intrin");
  return (intrinsic &&
          intrinsic.getValue().starts_with("llvm.nvvm.griddepcontrol")) ||
         op->getName().getStringRef() == "nvvm.griddepcontrol";
}

LogicalResult mlir::fp8::verifyGridWaits(FunctionOpInterface kernel) {
  if (!kernel->hasAttr(Fp8Dialect::kProgrammaticAttrName))
    return success();
  WalkResult result = kernel->walk([&](Operation *op) {
    if (controlsGrids(op)) {
      op->emitOpError() << "is in a kernel with '"
                        << Fp8Dialect::kProgrammaticAttrName
                        << "', whose waits and signals the compiler places; "
                           "remove the op";
      return WalkResult::interrupt();
    }
    if (isa<CreateMmaWarpOp>(op) &&
        kernel->hasAttr(Fp8Dialect::kSignalsAtWaitAttrName)) {
      InFlightDiagnostic error =
          kernel.emitOpError()
          << "has '" << Fp8Dialect::kSignalsAtWaitAttrName
          << "', but takes tensor memory: the following kernel could take "
             "columns before this one has its own; remove the attribute";
      error.attachNote(op->getLoc()) << "allocated here";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
