// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which ops of a role matter to the proof, and which values.

#include "RoleWalker.h"

#include "Forwarding.h"
#include "fp8/Analysis/WarpOps.h"
#include "fp8/IR/Assembly.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::fp8;

bool RoleWalker::isHandedOverByCopies(Value stage) const {
  // Where elements are copied, the release makes one more arrival.
  StagePlan its = plan.getStage(stage);
  return its.bytesAtAcquire && !its.hasElements;
}

Value RoleWalker::getHandedOver(Operation *op) const {
  if (auto copy = dyn_cast<TileCopyOpInterface>(op)) {
    Value stage = copy.getFilledStage();
    const StageUse &use =
        flow.getStageUses().find(flow.getStage(stage))->second;
    return isHandedOverByCopies(stage) && use.copies.back() == copy ? stage
                                                                    : Value();
  }
  Value stage = mlir::fp8::getHandedOver(op);
  return stage && !isHandedOverByCopies(stage) ? stage : Value();
}

/// True if the op may wait or signal: it works on a handle, or its copies hand
/// a slot over.
bool RoleWalker::isStep(Operation *op) const {
  return llvm::any_of(op->getOperandTypes(), isLinear) || getHandedOver(op);
}

static bool handlesLinear(Operation *op) {
  return llvm::any_of(op->getResultTypes(), isLinear);
}

void RoleWalker::findActive(RoleOp role) {
  role.walk([&](Operation *op) {
    if (!isStep(op) && !(op->getNumRegions() && handlesLinear(op)))
      return;
    for (; op != role && active.insert(op).second; op = op->getParentOp()) {
    }
  });
}

/// True if all lanes of a warp must execute the op together (PTX ISA, .sync and
/// .aligned): what works on fragments, and what exchanges values of lanes.
static bool needsWholeWarp(Operation *op) {
  auto hasFragment = [](TypeRange types) {
    return llvm::any_of(types, llvm::IsaPred<FragmentType>);
  };
  if (isa_and_nonnull<Fp8Dialect>(op->getDialect()))
    return !op->getNumRegions() && (hasFragment(op->getOperandTypes()) ||
                                    hasFragment(op->getResultTypes()));
  if (std::optional<StringRef> assembly = getAssembly(op))
    return assembly->contains(".sync") || assembly->contains(".aligned");
  if (auto intrinsic = op->getAttrOfType<StringAttr>("intrin"))
    return intrinsic.getValue().contains(".sync") ||
           intrinsic.getValue().contains(".aligned");
  // Those, too, that MLIR declares the effects of, or that K1 refuses.
  static const llvm::StringSet<> others = {
      "gpu.ballot",
      "gpu.rotate",
      "gpu.shuffle",
      "gpu.subgroup_broadcast",
      "nvgpu.ldmatrix",
      "nvgpu.mma.sync",
      "nvvm.tcgen05.ld",
      "nvvm.tcgen05.st",
      "nvvm.tcgen05.wait",
      "nvvm.wgmma.commit.group.sync.aligned",
      "nvvm.wgmma.fence.aligned",
      "nvvm.wgmma.mma_async",
      "nvvm.wgmma.wait.group.sync.aligned"};
  StringRef name = op->getName().getStringRef();
  return isAmongLanes(name) || others.contains(name);
}

void RoleWalker::checkCount(scf::ForOp loop) {
  constexpr unsigned kLeastBits = 32;
  if (Type type = loop.getInductionVar().getType();
      type.isInteger() && type.getIntOrFloatBitWidth() < kLeastBits)
    obstruct(loop, "its loop counts in fewer than " +
                       std::to_string(kLeastBits) +
                       " bits, so that its number may wrap; count in index");
  if (matchPattern(loop.getStep(), m_Zero()))
    obstruct(loop,
             "the step of its loop is 0, so that it does not end; step by "
             "a positive number");
}

/// True if all lanes of a warp do the role's op, or none does.
static bool isOfWholeWarp(Operation *op, RoleOp role) {
  for (;; op = op->getParentOp()) {
    if (!isUniform(*op->getParentRegion(), Among::Lanes))
      return false;
    if (op->getParentOp() == role)
      return true;
    if (!isUniform(op->getParentOp(), Among::Lanes))
      return false;
  }
}

void RoleWalker::requireWholeWarps(RoleOp role) {
  role.walk([&](Operation *op) {
    if (needsWholeWarp(op) && !isOfWholeWarp(op, role))
      obstruct(op, "it is not known whether all lanes of a warp do it; move it "
                   "out of the branch");
  });
}

/// A branch that threads may take differently is not followed, unless all
/// roles' steps depend on it anyway.
void RoleWalker::findLabelled(RoleOp role) {
  if (!labels)
    return;
  role.walk<WalkOrder::PreOrder>([&](Operation *op) {
    bool hasLabels = isa<RegionBranchOpInterface>(op) &&
                     llvm::any_of(op->getResultTypes(), [&](Type type) {
                       return labels->getSize(type);
                     });
    if (op == role || !(hasLabels || labels->follows(op)))
      return;
    SmallVector<Operation *> around;
    for (Operation *its = op; its != role; its = its->getParentOp())
      around.push_back(its);
    for (Operation *its : llvm::reverse(around)) {
      if (flat.contains(its))
        return;
      if (!active.insert(its).second || !its->getNumRegions() || hasLabels ||
          its == op || isUniform(its))
        continue;
      flat.insert(its);
      return;
    }
  });
}

Value RoleWalker::getRoot(Value handle) {
  auto [it, isNew] = roots.try_emplace(handle);
  if (!isNew)
    return it->second;
  llvm::SetVector<Value> reached;
  reached.insert(handle);
  Value root;
  for (unsigned next = 0; next < reached.size(); ++next) {
    Value value = reached[next];
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument && argument.getOwner()->isEntryBlock() &&
        isa<RoleOp>(argument.getOwner()->getParentOp())) {
      if (root && root != value)
        return {};
      root = value;
      continue;
    }
    SmallVector<Value> from = getSources(value);
    if (from.empty())
      from = getForwarded(value);
    for (Value source : from)
      if (source && isLinear(source.getType()))
        reached.insert(source);
  }
  return roots[handle] = root;
}

void RoleWalker::need(Value value, SmallVectorImpl<Value> &worklist) {
  if (!value)
    return;
  // Most handles are those of one end throughout.
  if (isLinear(value.getType()))
    if (Value root = getRoot(value)) {
      expressions.set(value, expressions.get(root));
      return;
    }
  if (needed.insert(value).second)
    worklist.push_back(value);
}

void RoleWalker::needConditions(Region &region,
                                SmallVectorImpl<Value> &worklist) {
  for (mlir::Block &block : region)
    if (auto branch = dyn_cast<cf::CondBranchOp>(block.getTerminator()))
      need(branch.getCondition(), worklist);
}

/// What decides whether and how often the op's steps take place.
void RoleWalker::needOf(Operation *op, SmallVectorImpl<Value> &worklist) {
  if (isa<scf::ExecuteRegionOp, LeadingCtaOp>(op))
    needConditions(op->getRegion(0), worklist);
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (Value value :
         {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
      need(value, worklist);
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    need(branch.getCondition(), worklist);
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    need(loop.getConditionOp().getCondition(), worklist);
  } else if (auto branch = dyn_cast<scf::IndexSwitchOp>(op)) {
    need(branch.getArg(), worklist);
  } else if (isStep(op)) {
    for (Value operand : op->getOperands())
      if (isLinear(operand.getType()))
        need(operand, worklist);
  }
}

void RoleWalker::findNeeded(RoleOp role) {
  SmallVector<Value> worklist;
  needConditions(role.getBody(), worklist);
  for (Operation *op : active)
    needOf(op, worklist);
  if (labels)
    role.walk([&](Operation *op) {
      for (Value value : labels->getIntegers(op))
        need(value, worklist);
    });
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    for (Value source : getSources(value))
      need(source, worklist);
    Operation *op = value.getDefiningOp();
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument)
      op = argument.getOwner()->getParentOp();
    if (!op->getNumRegions() || isa<FunctionOpInterface>(op) ||
        (op == role && argument.getOwner()->isEntryBlock()))
      continue;
    // Of ops without steps, branches that threads take together are followed.
    if (isa<scf::IfOp, scf::IndexSwitchOp>(op) && role->isAncestor(op) &&
        isUniform(op) && active.insert(op).second)
      needOf(op, worklist);
    if (op == role || isActive(op))
      for (Value source : getForwarded(value))
        need(source, worklist);
  }
}
