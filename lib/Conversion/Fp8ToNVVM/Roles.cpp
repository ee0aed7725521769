// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Roles: the thread of each, registers, and the branches that they become.

#include "Lowering.h"
#include "fp8/Analysis/KernelPlan.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fp8;

RoleValues mlir::fp8::getRole(Operation *op) {
  RoleThreadOp thread = op->getParentOfType<RoleOp>().getThread();
  return {thread.getLeader(), thread.getWarp(), thread.getLane(),
          thread.getPromotes()};
}

bool mlir::fp8::needsRole(Operation *op) {
  return isa<RoleWorkOpInterface, ViewReaderOpInterface>(op);
}

/// Whether the warp is one of those that hand registers back.
static Value handsBack(ArrayRef<WarpRange> ranges, Value warpId,
                       Instructions &instructions) {
  Value result;
  for (WarpRange range : ranges) {
    Value number = warpId;
    if (range.first) // else one comparison: it wraps below the first warp
      number = instructions.add(number, -range.first);
    Value isOutside = instructions.atLeast(number, range.count);
    result = result ? instructions.bitAnd(result, isOutside) : isOutside;
  }
  return result;
}

/// Lets the warpgroups that hold fragments take registers that the others hand
/// back. All warps of a warpgroup must do so at one place (PTX ISA,
/// setmaxnreg), so that the roles of the others, and warps without a role,
/// begin with a branch of their own.
static void dealRegisters(FunctionOpInterface kernel) {
  int64_t left = getPlan<CtaPlanAttr>(kernel).idleRegisters;
  if (!left)
    return;
  SmallVector<RoleOp> others;
  for (RoleOp role : kernel.getFunctionBody().front().getOps<RoleOp>()) {
    auto plan = getPlan<RolePlanAttr>(role);
    if (!plan.takes) {
      others.push_back(role);
      continue;
    }
    OpBuilder atStart = OpBuilder::atBlockBegin(&role.getBody().front());
    Instructions(atStart, role.getLoc())
        .setRegisters(plan.registers, /*takes=*/true);
  }
  // Where the last one stands, all that they use has been made.
  OpBuilder builder(others.back());
  Instructions instructions(builder, others.back().getLoc());
  Value isOther = handsBack(getGrowingWarps(kernel),
                            others.back().getThread().getId(), instructions);
  instructions.ifThen(isOther, [&](Instructions &inner) {
    inner.setRegisters(left, /*takes=*/false);
    for (RoleOp role : others)
      role->moveBefore(builder.getInsertionBlock(),
                       builder.getInsertionPoint());
  });
}

static void lowerThread(RoleThreadOp op, int64_t firstWarp) {
  OpBuilder builder(op);
  Instructions instructions(builder, op.getLoc());
  // One election for the whole role: asynchronous groups and commits belong to
  // the thread that issued them.
  Value leader = instructions.elect(),
        warp = instructions.add(op.getId(), -firstWarp),
        lane = instructions.laneId();
  op->replaceAllUsesWith(ValueRange{leader, warp, lane});
  op.erase();
}

/// A branch on the warp's number.
static void lowerRole(RoleOp role) {
  auto plan = getPlan<RolePlanAttr>(role);
  RoleThreadOp thread = role.getThread();
  OpBuilder builder(role);
  Instructions instructions(builder, role.getLoc());
  int64_t warps = role.getWarps();
  // One comparison: the difference wraps below the first warp.
  Value isIn =
      warps == 1
          ? instructions.equal(thread.getId(), plan.firstWarp)
          : instructions.below(
                instructions.add(thread.getId(), -plan.firstWarp), warps);
  auto branch = scf::IfOp::create(builder, role.getLoc(), isIn,
                                  /*withElseRegion=*/false);
  lowerThread(thread, plan.firstWarp);
  Block &body = role.getBody().front();
  body.getTerminator()->erase();
  Block *then = branch.thenBlock();
  then->getOperations().splice(Block::iterator(then->getTerminator()),
                               body.getOperations());
  role.erase();
}

void mlir::fp8::lowerRoles(FunctionOpInterface kernel) {
  dealRegisters(kernel);
  SmallVector<RoleOp> roles;
  kernel->walk([&](RoleOp role) { roles.push_back(role); });
  for (RoleOp role : roles)
    lowerRole(role);
}
