// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a programmatic kernel waits for the kernels in front of it (PTX ISA,
// griddepcontrol).

#include "fp8/Analysis/GridWait.h"
#include "fp8/IR/ArgumentAccess.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::fp8;

bool mlir::fp8::waitsBeforeRoles(FunctionOpInterface kernel) {
  return kernel->walk([](CreateMmaWarpOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// True if the op touches global memory that kernels in front may write.
static bool touchesOthers(Operation *op, FunctionOpInterface kernel) {
  if (op->getNumRegions() || isMemoryEffectFree(op))
    return false;
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    if (!isa<TensorMapType, MemRefType>(operand.getType()))
      return false;
    auto argument = dyn_cast<BlockArgument>(operand);
    return !argument ||
           argument.getOwner() != &kernel.getFunctionBody().front() ||
           !isConstant(kernel, argument.getArgNumber());
  });
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

/// The blocks around the op within the role, the role's own first. None if
/// control flow within a region decides whether they run.
static SmallVector<Block *> getBlocksAround(Operation *op, RoleOp role) {
  SmallVector<Block *> blocks;
  for (; op != role; op = op->getParentOp()) {
    if (!op->getParentRegion()->hasOneBlock())
      return {};
    blocks.push_back(op->getBlock());
  }
  return SmallVector<Block *>(llvm::reverse(blocks));
}

static GridWait getGridWait(RoleOp role, FunctionOpInterface kernel) {
  GridWait atBegin{&role.getBody().front().front(), /*startsNext=*/true};
  if (!onlyFillsRings(role))
    return atBegin;
  std::optional<SmallVector<Block *>> common;
  role->walk([&](Operation *op) {
    if (!touchesOthers(op, kernel))
      return;
    SmallVector<Block *> blocks = getBlocksAround(op, role);
    if (!common)
      common = blocks;
    auto ends = std::mismatch(common->begin(), common->end(), blocks.begin(),
                              blocks.end());
    common->erase(ends.first, common->end());
  });
  if (!common)
    return {};
  if (common->empty())
    return atBegin;
  // In a loop it waits again, which takes no time. In front of the loop LLVM
  // would leave the computation of the copies' places behind the wait.
  return {&common->back()->front()};
}

SmallVector<GridWait> mlir::fp8::getGridWaits(FunctionOpInterface kernel) {
  bool rolesWait = kernel->hasAttr(Fp8Dialect::kProgrammaticAttrName) &&
                   !waitsBeforeRoles(kernel);
  SmallVector<GridWait> waits;
  for (auto role : kernel.getFunctionBody().front().getOps<RoleOp>())
    waits.push_back(rolesWait ? getGridWait(role, kernel) : GridWait());
  return waits;
}
