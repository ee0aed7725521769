// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The statements of a role, in the CTAs of one class.

#ifndef FP8_LIB_PROOF_ROLEWALKER_H
#define FP8_LIB_PROOF_ROLEWALKER_H

#include "IntegerRanges.h"
#include "Labels.h"
#include "PlainMemory.h"
#include "SlotContents.h"
#include "fp8/Analysis/HandleFlow.h"
#include "fp8/IR/ComputedGemm.h"
#include "fp8/Proof/Extract.h"

#include "llvm/ADT/DenseSet.h"

namespace mlir::fp8 {

/// The ends of an output pipeline's allocation and of its deallocation follow
/// those of the ring.
inline constexpr unsigned kAllocation = 1, kDeallocation = 2;

class RoleBlocks;

class RoleWalker {
public:
  RoleWalker(KernelSkeleton &kernel, const KernelPlan &plan,
             const HandleFlow &flow, CtaClass cta, RoleOp role)
      : kernel(kernel), plan(plan), flow(flow), cta(cta),
        table(kernel.skeleton.expressions),
        expressions(table, plan.getWarps(role), plan.getNumWarps(),
                    kernel.clusterSize) {
    if (cta.rank)
      expressions.followRank(cta.rank);
  }

  /// Follows what the values of the role are, too.
  void followNumbers(RoleOp role, const ComputedGemm &gemm,
                     IntegerRanges &ranges);
  /// Follows how often the slots are written.
  void followFills(RoleOp role, const SlotContents &contents, unsigned cta,
                   IntegerRanges &ranges);
  /// Follows what makes accesses to arrays ordered.
  void followArrays(const PlainMemory &memory);
  /// Follows what the role reads and writes.
  void followAccesses(RoleOp role, const SlotContents &contents, unsigned cta);

  /// Requires that the role does not come to certain ops.
  void followMarks(ArrayRef<Mark> marks);

  /// `ends` are the expressions of the role's operands that are handles.
  ::fp8::proof::Process walk(RoleOp role, ArrayRef<::fp8::proof::ExprId> ends);

private:
  friend class RoleBlocks;
  using Block = ::fp8::proof::Block;
  using Statement = ::fp8::proof::Statement;
  using ExprId = ::fp8::proof::ExprId;

  /// Finds the ops that hold steps, and the values that decide about them.
  void findActive(RoleOp role);
  /// Obstructs the proof where lanes of a warp may part in front of what all of
  /// them must do.
  void requireWholeWarps(RoleOp role);
  /// Obstructs the proof where the loop's number may wrap, or does not grow.
  void checkCount(scf::ForOp loop);
  void findNeeded(RoleOp role);
  /// The role's operand that a handle always is; null if it may be one of
  /// several.
  Value getRoot(Value handle);
  /// The number of the end that a handle belongs to.
  ExprId getEnd(Value handle);
  void need(Value value, SmallVectorImpl<Value> &worklist);
  void needOf(Operation *op, SmallVectorImpl<Value> &worklist);
  /// What branches between the region's blocks decide by.
  void needConditions(Region &region, SmallVectorImpl<Value> &worklist);
  /// Finds the ops that have labels or require some.
  void findLabelled(RoleOp role);
  bool isActive(Operation *op) const { return active.contains(op); }

  void walk(mlir::Block &block, Block &out);
  void walk(Operation *op, Block &out);
  void walkStep(Operation *op, Block &out);
  /// True if the op is such a step.
  bool walkTensorMemoryStep(Operation *op, Block &out);
  void walkFor(Operation *op, Block &out);
  void walkIf(Operation *op, Block &out);
  void walkWhile(Operation *op, Block &out);
  /// Gives a While, whose statements are known, a step that leads to its guard.
  void leadToGuard(Statement &loop);
  void walkSwitch(Operation *op, Block &out);
  /// A region that runs once, where it stands.
  void walkOnce(Operation *op, Region &body, ValueRange operands, Block &out);
  /// The same of blocks that branch to one another.
  void walkBlocks(Operation *op, Region &region, Block &out);
  void addStep(Statement::Kind kind, Operation *op, Value handle, Block &out,
               unsigned offset = 0);
  /// Gives variables the values, all at once; leaves out what nobody needs.
  void assign(Operation *op, ValueRange variables, ValueRange values,
              Block &out);
  void makeVariables(ValueRange values);
  /// Makes variables of a value and of its label.
  void makeVariables(Value value);
  /// The value is the other.
  void alias(Value value, Value other);
  void alias(ValueRange values, ValueRange others);
  /// What the op does with the labels of values.
  void walkLabels(Operation *op, Block &out);
  /// A wait, which gives a stage, or an end that is ready, its label.
  void walkWait(Operation *op, Value taken, Block &out);
  /// The ops in one that is not followed, whose branches threads may take
  /// differently: what they require is asked of all.
  void walkInside(Operation *op, Block &out);
  unsigned getVariable(Value value);
  unsigned getSite(Operation *op);
  void obstruct(Operation *op, const Twine &reason);

  /// True if the copies of the stage hand its slot over: the barrier expects
  /// their bytes from the acquire on.
  bool isHandedOverByCopies(Value stage) const;
  /// The stage that the op hands over, null if there is none.
  Value getHandedOver(Operation *op) const;
  bool isStep(Operation *op) const;

  KernelSkeleton &kernel;
  const KernelPlan &plan;
  const HandleFlow &flow;
  CtaClass cta;
  ::fp8::proof::ExprTable &table;
  ProcessExpressions expressions;
  std::unique_ptr<Labels> labels; ///< null if there are none
  llvm::DenseSet<Operation *> active;
  llvm::DenseSet<Operation *> flat; ///< active, but only for what is inside
  llvm::DenseSet<Value> needed;
  llvm::DenseMap<Value, Value> roots;
};

} // namespace mlir::fp8

#endif // FP8_LIB_PROOF_ROLEWALKER_H
