// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is derived from a linear kernel: its roles. Counts are in
// RingCounts.cpp, the other rules in KernelRules.cpp and ClusterRules.cpp, the
// layout of memory in MemoryLayout.cpp, registers in Registers.cpp, the
// attributes in PlanAttributes.cpp.

#include "fp8/Analysis/KernelPlan.h"
#include "fp8/IR/LinearUse.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/CallInterfaces.h"

using namespace mlir;
using namespace mlir::fp8;

FailureOr<KernelPlan> KernelPlan::analyze(FunctionOpInterface kernel) {
  KernelPlan plan;
  if (failed(plan.checkPhase(kernel)))
    return failure();
  plan.flow = std::make_shared<HandleFlow>(kernel);
  plan.cluster = getClusterShape(kernel);
  plan.planStages();
  if (failed(plan.dealWarps(kernel)) || failed(plan.checkRoles(kernel)) ||
      failed(checkRules(kernel)) || failed(plan.planRings(kernel)) ||
      failed(plan.checkCluster()) || failed(plan.layOutSharedMemory(kernel)) ||
      failed(plan.planTensorMemory(kernel)) || failed(plan.checkStages()))
    return failure();
  return plan;
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

LogicalResult KernelPlan::dealWarps(FunctionOpInterface kernel) {
  for (RoleOp role : kernel.getFunctionBody().front().getOps<RoleOp>()) {
    roles[role] = {numWarps, static_cast<int64_t>(role.getWarps())};
    numWarps += role.getWarps();
  }
  if (roles.empty())
    return kernel->emitOpError()
           << "has no fp8.role; add one, since roles do the work of a kernel";
  if (numWarps > kMaxWarps)
    return kernel->emitOpError()
           << "has " << numWarps
           << " warps in its roles, but a CTA has at most " << kMaxWarps;
  planRegisters();
  return success();
}

/// A select of what a stage lends, or of registers that are being written.
static LogicalResult checkSelect(Operation *op) {
  if (!isa<arith::SelectOp>(op))
    return success();
  Type type = op->getResult(0).getType();
  if (isa<TileType, TmemType, MBarrierType>(type))
    return op->emitOpError() << "selects between views of stages, which hides "
                                "the stage that is in use; select the stages, "
                                "then take the view of the selected one";
  if (isa<PendingType>(type))
    return op->emitOpError()
           << "selects a pending product, whose registers "
              "are still being written; wait for both and select "
              "the fragments";
  return success();
}

/// The warps that the op's role must have; none if the op needs no role.
static std::optional<RoleWarps> getRoleWarps(Operation *op) {
  if (auto work = dyn_cast<RoleWorkOpInterface>(op))
    return work.getRoleWarps();
  if (isa<TileCopyOpInterface>(op))
    return RoleWarps::One;
  if (isa<ViewReaderOpInterface>(op))
    return RoleWarps::Warpgroups;
  return std::nullopt;
}

/// The pass that would have taken the op to phase 2, empty if there is none.
static StringRef getMissingPass(Operation *op) {
  auto earlier = dyn_cast<EarlierPhaseOpInterface>(op);
  return earlier ? earlier.getLoweringPass() : "";
}

/// True if calls lead from the one function to the other.
static bool reaches(FunctionOpInterface from, FunctionOpInterface to,
                    SmallPtrSetImpl<Operation *> &seen) {
  return from
      ->walk([&](CallOpInterface call) {
        auto next =
            dyn_cast_or_null<FunctionOpInterface>(call.resolveCallable());
        bool arrives = next && (next == to || (seen.insert(next).second &&
                                               reaches(next, to, seen)));
        return arrives ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// True for values that no function of the lowered kernel takes or gives:
/// handles, and what registers, tiles and tensor memory hold.
static bool isInlined(Type type) {
  return isLinear(type) ||
         isa<FragmentType, PendingType, TileType, TmemType>(type);
}

/// Calls that pass such values are inlined before. Says what keeps the
/// inliner from it, if something does.
static LogicalResult checkCall(Operation *op) {
  auto call = dyn_cast<CallOpInterface>(op);
  if (!call || (llvm::none_of(op->getOperandTypes(), isInlined) &&
                llvm::none_of(op->getResultTypes(), isInlined)))
    return success();
  InFlightDiagnostic diagnostic = op->emitOpError();
  auto callee = dyn_cast_or_null<FunctionOpInterface>(call.resolveCallable());
  if (!callee || callee.isExternal())
    return diagnostic << "passes handles, tiles or fragments to a function "
                         "without a body, "
                         "which cannot be inlined; give it one";
  SmallPtrSet<Operation *, 8> seen;
  if (reaches(callee, callee, seen))
    return diagnostic
           << "passes handles, tiles or fragments to a function that calls "
              "itself, which cannot be inlined; write a loop";
  Operation *parent = op->getParentOp();
  size_t blocks = callee.getFunctionBody().getBlocks().size();
  if (blocks > 1 && parent->hasTrait<mlir::OpTrait::SingleBlock>())
    return diagnostic << "passes handles, tiles or fragments to a function of "
                      << blocks << " blocks, which cannot be inlined into an '"
                      << parent->getName()
                      << "' of one; write its branches as scf.if, or run "
                         "--convert-scf-to-cf and --inline before";
  return diagnostic << "is not of phase 2, where kernels are linear and flat; "
                       "run --inline before";
}

LogicalResult KernelPlan::checkPhase(FunctionOpInterface kernel) {
  for (BlockArgument argument : kernel.getArguments())
    if (isLinear(argument.getType()))
      return emitError(argument.getLoc())
             << cast<LinearTypeInterface>(argument.getType()).getHandleName()
             << " is an argument of a kernel; the ends of rings are made in "
                "the kernel that uses them";
  WalkResult result = kernel->walk<WalkOrder::PreOrder>([](Operation *op) {
    StringRef pass = getMissingPass(op);
    if (pass.empty())
      return failed(checkSelect(op)) || failed(checkCall(op))
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    op->emitOpError() << "is not of phase 2, where kernels are linear and "
                         "flat; run "
                      << pass << " before";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult KernelPlan::checkRoles(FunctionOpInterface kernel) {
  WalkResult outside = kernel->walk([](Operation *op) {
    if (!getRoleWarps(op) || op->getParentOfType<RoleOp>())
      return WalkResult::advance();
    op->emitOpError() << "must be in an fp8.role, whose warps execute it";
    return WalkResult::interrupt();
  });
  if (outside.wasInterrupted())
    return failure();
  for (auto &[role, warps] : roles) {
    WalkResult result = role->walk([&](Operation *op) {
      return failed(checkTileOp(op)) ? WalkResult::interrupt()
                                     : WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
  }
  return success();
}

/// The evidence is that of the end's own tensor memory, not of another ring's.
static LogicalResult checkEvidence(CreateEpilogueWarpOp op,
                                   const HandleFlow &flow) {
  auto wait = op.getReady().getDefiningOp<WaitTmemOp>();
  // An end that may be of two rings needs the evidence of the very same value.
  if (wait && (wait.getEnd() == op.getEnd() ||
               (flow.getRings(op.getEnd()).size() == 1 &&
                flow.getRings(wait.getEnd()) == flow.getRings(op.getEnd()))))
    return success();
  InFlightDiagnostic diagnostic = op.emitOpError()
                                  << "needs the result of an fp8.wait_tmem on "
                                     "the same end, in the same role";
  if (wait)
    diagnostic.attachNote(wait.getLoc()) << "this one waits for another ring";
  else if (Operation *maker = op.getReady().getDefiningOp())
    diagnostic.attachNote(maker->getLoc())
        << "this one comes from '" << maker->getName()
        << "'; pass the result of the fp8.wait_tmem directly";
  return diagnostic;
}

LogicalResult mlir::fp8::checkRoleWarps(Operation *op, WarpRange warps) {
  RoleWarps needed = getRoleWarps(op).value_or(RoleWarps::Any);
  if (needed == RoleWarps::Any)
    return success();
  auto role = op->getParentOfType<RoleOp>();
  auto fail = [&](const Twine &rule) {
    InFlightDiagnostic diagnostic = op->emitOpError() << rule;
    diagnostic.attachNote(role.getLoc())
        << "role \"" << role.getName() << "\" has warps " << warps.first
        << " to " << warps.first + warps.count - 1;
    return diagnostic;
  };
  if (needed == RoleWarps::One && warps.count != 1)
    return fail(
        "must be in a role of one warp (R3); move it to a role of its own");
  if (needed == RoleWarps::Warpgroups && (warps.count % 4 || warps.first % 4))
    return fail("must be in a role with a multiple of 4 warps that starts at a "
                "multiple of 4 (R2); put such roles first");
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  for (Type type : types) {
    auto fragment = dyn_cast<FragmentType>(type);
    if (auto pending = dyn_cast<PendingType>(type))
      fragment = pending.getFragment();
    if (fragment && fragment.getWarps() != warps.count)
      return fail("works on a fragment of " + Twine(fragment.getWarps()) +
                  " warps, but its role has " + Twine(warps.count));
  }
  return success();
}

LogicalResult KernelPlan::checkTileOp(Operation *op) {
  if (failed(checkRoleWarps(op, roles.lookup(op->getParentOfType<RoleOp>()))))
    return failure();
  if (auto mma = dyn_cast<MmaOp>(op))
    return checkMma(mma);
  if (auto create = dyn_cast<CreateEpilogueWarpOp>(op))
    return checkEvidence(create, *flow);
  return success();
}

FailureOr<RoleOp> KernelPlan::getRoleOf(Value end) {
  for (Operation *user : end.getUsers()) // the others borrow it
    if (auto role = dyn_cast<RoleOp>(user))
      return role;
  InFlightDiagnostic diagnostic =
      emitError(end.getLoc())
      << cast<LinearTypeInterface>(end.getType()).getHandleName()
      << " is passed to no role; pass it to one unchanged";
  auto consumes = [](OpOperand &use) {
    return classifyUse(use) == UseKind::Consume;
  };
  if (auto use = llvm::find_if(end.getUses(), consumes); use != end.use_end())
    diagnostic.attachNote(use->getOwner()->getLoc())
        << "'" << use->getOwner()->getName()
        << "' takes it; move that op into a role";
  return diagnostic;
}
