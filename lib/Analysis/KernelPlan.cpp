// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is derived from a linear kernel: roles and counts. The layout of memory
// is in MemoryLayout.cpp.

#include "fp8/Analysis/KernelPlan.h"

#include "mlir/Interfaces/CallInterfaces.h"

using namespace mlir;
using namespace mlir::fp8;

FailureOr<KernelPlan> KernelPlan::analyze(FunctionOpInterface kernel) {
  KernelPlan plan;
  if (failed(plan.checkPhase(kernel)))
    return failure();
  plan.flow = std::make_shared<HandleFlow>(kernel);
  plan.planStages();
  if (failed(plan.dealWarps(kernel)) || failed(plan.checkRoles(kernel)) ||
      failed(plan.planRings(kernel)) ||
      failed(plan.layOutSharedMemory(kernel)) ||
      failed(plan.checkTensorMemory(kernel)))
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
           << "has no fp8.role: a kernel's work is done by its roles";
  if (numWarps > kMaxWarps)
    return kernel->emitOpError()
           << "has " << numWarps
           << " warps in its roles, but a CTA has at most " << kMaxWarps;
  return success();
}

/// Work that is lowered for the warps of a role, and so must stand in one.
static bool needsRole(Operation *op) {
  return isa<AcquireOp, ReleaseOp, CloseOp, TmaLoadOp, MmaOp, PromoteOp,
             StoreOp, CreateMmaWarpOp, ReleaseMmaWarpOp, WaitTmemOp,
             CreateEpilogueWarpOp, ReleaseEpilogueWarpOp>(op);
}

/// The pass that would have taken the op to phase 2, empty if there is none.
static StringRef getMissingPass(Operation *op) {
  if (isa<ProduceOp, ConsumeOp, PerKStageOp, MmaWarpOp, EpilogueWarpOp>(op))
    return "--fp8-flatten-scopes";
  if (auto yield = dyn_cast<YieldOp>(op);
      yield && isa<RoleOp>(op->getParentOp()) && yield->getNumOperands())
    return "--fp8-flatten-scopes";
  if (isa<ForEachTileOp>(op))
    return "--fp8-lower-tile-loops";
  auto isLinearType = [](Type type) { return isLinear(type); };
  if (isa<CallOpInterface>(op) &&
      (llvm::any_of(op->getOperandTypes(), isLinearType) ||
       llvm::any_of(op->getResultTypes(), isLinearType)))
    return "--inline";
  return "";
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
      return WalkResult::advance();
    op->emitOpError() << "is not of phase 2, where kernels are linear and "
                         "flat; run "
                      << pass << " before";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult KernelPlan::checkRoles(FunctionOpInterface kernel) {
  WalkResult outside = kernel->walk([](Operation *op) {
    if (!needsRole(op) || op->getParentOfType<RoleOp>())
      return WalkResult::advance();
    op->emitOpError() << "must stand in an fp8.role, whose warps do it";
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
  if (wait && flow.getEnd(wait.getEnd()) == flow.getEnd(op.getEnd()))
    return success();
  InFlightDiagnostic diagnostic =
      op.emitOpError() << "needs the evidence of an fp8.wait_tmem on its own "
                          "end, in the same role";
  if (wait)
    diagnostic.attachNote(wait.getLoc()) << "this one waits for another ring";
  return diagnostic;
}

LogicalResult KernelPlan::checkTileOp(Operation *op) {
  if (!isa<TmaLoadOp, MmaOp, PromoteOp, StoreOp, CreateMmaWarpOp,
           CreateEpilogueWarpOp>(op))
    return success();
  auto role = op->getParentOfType<RoleOp>();
  WarpRange warps = roles.lookup(role);
  auto fail = [&](const Twine &rule) {
    InFlightDiagnostic diagnostic = op->emitOpError() << rule;
    diagnostic.attachNote(role.getLoc())
        << "role \"" << role.getName() << "\" has warps " << warps.first
        << " to " << warps.first + warps.count - 1;
    return diagnostic;
  };
  if (isa<TmaLoadOp, MmaOp, CreateMmaWarpOp>(op) && warps.count != 1)
    return fail(
        "is for a role of one warp (R3); give its work to a role of its own");
  if (isa<PromoteOp, StoreOp, CreateEpilogueWarpOp>(op) &&
      (warps.count % 4 || warps.first % 4))
    return fail("is for a role with a multiple of 4 warps that starts at a "
                "multiple of 4 (R2); put such roles first");
  if (auto create = dyn_cast<CreateEpilogueWarpOp>(op))
    return checkEvidence(create, *flow);
  FragmentType fragment;
  if (auto promote = dyn_cast<PromoteOp>(op))
    fragment = promote.getFragment().getType();
  if (auto store = dyn_cast<StoreOp>(op))
    fragment = store.getFragment().getType();
  if (fragment && fragment.getWarps() != warps.count)
    return fail("works on a fragment of " + Twine(fragment.getWarps()) +
                " warps, which must be the role's");
  return success();
}

FailureOr<RoleOp> KernelPlan::getRoleOf(Value end) {
  if (end.hasOneUse())
    if (auto role = dyn_cast<RoleOp>(*end.user_begin()))
      return role;
  return emitError(end.getLoc())
         << cast<LinearTypeInterface>(end.getType()).getHandleName()
         << " is taken by no role; pass it to the role that works on it";
}

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

/// Compares a stated count with the derived one.
static LogicalResult checkStated(Operation *ring, std::optional<int64_t> stated,
                                 int64_t derived, StringRef what,
                                 ArrayRef<RoleOp> contributors) {
  if (!stated || *stated == derived)
    return success();
  InFlightDiagnostic diagnostic =
      ring->emitOpError() << "states " << *stated << ' ' << what
                          << ", but its roles make " << derived
                          << "; leave the number out, or mend the roles";
  for (RoleOp role : contributors)
    diagnostic.attachNote(role.getLoc())
        << "role \"" << role.getName() << "\" arrives once for each of its "
        << role.getWarps() << " warps";
  return diagnostic;
}

LogicalResult KernelPlan::planRings(FunctionOpInterface kernel) {
  for (Operation &op : kernel.getFunctionBody().front()) {
    if (!isa<PipelineOp, OutputPipelineOp>(op))
      continue;
    RingPlan ring;
    SmallVector<RoleOp> producers, consumers;
    for (Value end : op.getResults()) {
      FailureOr<RoleOp> role = getRoleOf(end);
      if (failed(role))
        return failure();
      bool isProducer = cast<EndTypeInterface>(end.getType()).isProducer();
      // One lane of each warp arrives, or the one thread that issues the copies
      // or the MMAs of a role of one warp.
      (isProducer ? ring.fullArrivals : ring.emptyArrivals) += role->getWarps();
      (isProducer ? producers : consumers).push_back(*role);
    }
    auto getStated = [&](StringRef name) -> std::optional<int64_t> {
      auto attribute = op.getAttrOfType<IntegerAttr>(name);
      return attribute ? std::optional<int64_t>(attribute.getInt())
                       : std::nullopt;
    };
    if (failed(checkStated(&op, getStated("producer_arrivals"),
                           ring.fullArrivals, "producer arrivals",
                           producers)) ||
        failed(checkStated(&op, getStated("consumer_arrivals"),
                           ring.emptyArrivals, "consumer arrivals", consumers)))
      return failure();
    rings[&op] = ring;
    if (auto output = dyn_cast<OutputPipelineOp>(op))
      if (failed(planOutput(output)))
        return failure();
  }
  return success();
}

/// Tensor memory is allocated by the one side and read by the other: both make
/// a handle of their end, or its hand-off waits for ever.
LogicalResult KernelPlan::checkHandoff(OutputPipelineOp output, RoleOp mma,
                                       RoleOp epilogue) {
  auto makes = [&](RoleOp role, Value end, auto kind) {
    using CreateOp = decltype(kind);
    return role
        ->walk([&](CreateOp op) {
          return flow->getEnd(op.getEnd()) == flow->getEnd(end)
                     ? WalkResult::interrupt()
                     : WalkResult::advance();
        })
        .wasInterrupted();
  };
  bool allocates = makes(mma, output.getProducer(), CreateMmaWarpOp());
  bool reads = makes(epilogue, output.getConsumer(), CreateEpilogueWarpOp());
  if (allocates == reads)
    return success();
  InFlightDiagnostic diagnostic =
      output.emitOpError() << "is made "
                           << (allocates ? "an mma warp" : "epilogue warps")
                           << " of, but not "
                           << (allocates ? "epilogue warps" : "an mma warp")
                           << "; one waits for the other";
  diagnostic.attachNote(allocates ? epilogue.getLoc() : mma.getLoc())
      << "this role closes its end unused";
  return diagnostic;
}

LogicalResult KernelPlan::planOutput(OutputPipelineOp output) {
  FailureOr<RoleOp> mma = getRoleOf(output.getProducer()),
                    epilogue = getRoleOf(output.getConsumer());
  if (failed(mma) || failed(epilogue))
    return failure();
  if (failed(checkHandoff(output, *mma, *epilogue)))
    return failure();
  OutputPlan plan;
  plan.deallocArrivals = epilogue->getWarps();
  plan.handoffThreads = 32 * (mma->getWarps() + epilogue->getWarps());
  plan.namedBarrier =
      1 + outputs.size() / 2; // 0 is the barrier of the whole CTA
  if (plan.namedBarrier > 15)
    return output.emitOpError() << "needs a named barrier, but a CTA has 16 "
                                   "(PTX ISA, barrier) and all are taken";
  outputs[flow->getEnd(output.getProducer())] = plan;
  outputs[flow->getEnd(output.getConsumer())] = plan;
  return success();
}

void KernelPlan::planStages() {
  for (auto &[stage, use] : flow->getStageUses()) {
    StagePlan plan;
    for (TmaLoadOp load : use.loads)
      plan.bytes += load.getBytes();
    plan.usedByMma = !use.mmas.empty();
    plan.usedByThreads = !use.promotes.empty();
    if (!use.loads.empty() && use.acquires.size() == 1) {
      Block *block = use.acquires.front()->getBlock();
      auto isInBlock = [&](Operation *op) { return op->getBlock() == block; };
      plan.bytesAtAcquire = llvm::all_of(use.loads, isInBlock) &&
                            llvm::all_of(use.releases, isInBlock);
    }
    stages[stage] = plan;
  }
}
