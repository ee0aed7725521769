// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The whole-function check of linear values: which uses there are, and what to
// say about each broken rule.

#include "fp8/IR/Linearity.h"

#include "LiveRange.h"
#include "fp8/IR/Fp8.h"

#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::fp8;

//===----------------------------------------------------------------------===//
// Classification
//===----------------------------------------------------------------------===//

bool fp8::isWithin(OpOperand &use, OperandRange range) {
  unsigned index = use.getOperandNumber();
  return !range.empty() && index >= range.getBeginOperandIndex() &&
         index < range.getBeginOperandIndex() + range.size();
}

bool fp8::isForwarded(OpOperand &use) {
  Operation *op = use.getOwner();
  auto contains = [&](OperandRange range) { return isWithin(use, range); };
  if (auto branch = dyn_cast<BranchOpInterface>(op)) {
    for (unsigned successor = 0; successor < op->getNumSuccessors();
         ++successor)
      if (contains(
              branch.getSuccessorOperands(successor).getForwardedOperands()))
        return true;
    return false;
  }
  if (auto branch = dyn_cast<RegionBranchOpInterface>(op)) {
    SmallVector<RegionSuccessor> successors;
    branch.getSuccessorRegions(RegionBranchPoint::parent(), successors);
    return llvm::any_of(successors, [&](RegionSuccessor &successor) {
      return contains(branch.getEntrySuccessorOperands(successor));
    });
  }
  if (auto call = dyn_cast<CallOpInterface>(op))
    return contains(call.getArgOperands());
  if (auto terminator = dyn_cast<RegionBranchTerminatorOpInterface>(op)) {
    // A function's return is one as well; there is no parent to ask for the
    // successors.
    auto parent = dyn_cast_or_null<RegionBranchOpInterface>(op->getParentOp());
    if (!parent)
      return isa_and_nonnull<FunctionOpInterface>(op->getParentOp());
    SmallVector<RegionSuccessor> successors;
    parent.getSuccessorRegions(RegionBranchPoint(terminator), successors);
    return llvm::any_of(successors, [&](RegionSuccessor &successor) {
      return contains(terminator.getSuccessorOperands(successor));
    });
  }
  return op->hasTrait<mlir::OpTrait::ReturnLike>() &&
         isa_and_nonnull<FunctionOpInterface>(op->getParentOp());
}

UseKind fp8::classifyUse(OpOperand &use) {
  if (auto linear = dyn_cast<LinearOpInterface>(use.getOwner()))
    return linear.getLinearUse(use) == LinearUse::Borrow ? UseKind::Borrow
                                                         : UseKind::Consume;
  return isForwarded(use) ? UseKind::Consume : UseKind::Illegal;
}

/// True if the op writes the operand's value to memory. Stores and atomics of
/// other dialects take the value first, then the memory and the indices.
static bool storesValue(OpOperand &use) {
  Operation *op = use.getOwner();
  return use.getOperandNumber() == 0 && !isa<LinearOpInterface>(op) &&
         !isa_and_nonnull<Fp8Dialect>(op->getDialect()) &&
         !isa<BaseMemRefType>(use.get().getType()) &&
         hasEffect<MemoryEffects::Write>(op);
}

namespace {

/// Checks the linear values of one function.
class Checker {
public:
  explicit Checker(Operation *function) : function(function) {}

  LogicalResult run();

private:
  void checkValue(Value value);
  bool checkUses(Value value);
  void checkManaged(Value value, Operation *owner, ArrayRef<OpOperand *> uses);
  bool reportCapture(Value value, const LiveRange &range);
  void checkMaker(Operation *op);
  void checkCall(Operation *op);
  bool collectLent(Value value, SmallVectorImpl<OpOperand *> &uses);
  bool collectUsesOfLent(Value lent, Operation *lender,
                         SmallVectorImpl<OpOperand *> &uses,
                         llvm::DenseSet<Value> &seen);
  void reportRange(Value value, ArrayRef<OpOperand *> uses);
  void reportLeak(Value value, const LiveRange &range);
  void reportConflict(Value value, const LiveRange &range);
  void reportLateUse(Value value, const LiveRange &range, OpOperand *use);

  InFlightDiagnostic error(Value value);

  Operation *function;
  DominanceInfo dominance;
  bool failed = false;
};

} // namespace

static LinearTypeInterface getLinearType(Value value) {
  return cast<LinearTypeInterface>(value.getType());
}

InFlightDiagnostic Checker::error(Value value) {
  failed = true;
  return emitError(value.getLoc())
         << getLinearType(value).getHandleName() << ' ';
}

LogicalResult Checker::run() {
  for (Region &region : function->getRegions())
    region.walk<WalkOrder::PreOrder>([&](Block *block) {
      if (!dominance.isReachableFromEntry(block))
        return WalkResult::advance();
      for (BlockArgument argument : block->getArguments())
        if (isLinear(argument.getType()))
          checkValue(argument);
      for (Operation &op : *block) {
        checkMaker(&op);
        checkCall(&op);
        for (OpResult result : op.getResults())
          if (isLinear(result.getType()))
            checkValue(result);
      }
      return WalkResult::advance();
    });
  return success(!failed);
}

/// (L6) Only an op that says what it does may make a linear value.
void Checker::checkMaker(Operation *op) {
  if (isa<LinearOpInterface, RegionBranchOpInterface, CallOpInterface>(op))
    return;
  for (OpResult result : op->getResults())
    if (isLinear(result.getType())) {
      error(result)
          << "is made by '" << op->getName()
          << "', which does not declare what it does with linear values (L6)";
      return;
    }
}

/// (L5) A callee takes ownership, so it must be a function that is checked.
void Checker::checkCall(Operation *op) {
  auto call = dyn_cast<CallOpInterface>(op);
  if (!call)
    return;
  auto isLinearValue = [](Value value) { return isLinear(value.getType()); };
  if (llvm::none_of(call.getArgOperands(), isLinearValue) &&
      llvm::none_of(op->getResults(), isLinearValue))
    return;
  auto symbol = dyn_cast_if_present<SymbolRefAttr>(call.getCallableForCallee());
  if (!symbol) {
    failed = true;
    op->emitOpError() << "passes linear values to an unknown callee (L6); call "
                         "a function by name";
    return;
  }
  Operation *callee = SymbolTable::lookupNearestSymbolFrom(op, symbol);
  if (!callee || callee->hasAttr(Fp8Dialect::kLinearAttrName))
    return; // an unknown symbol is the call's own error
  failed = true;
  InFlightDiagnostic diagnostic =
      op->emitOpError()
      << "passes linear values to a function without '"
      << Fp8Dialect::kLinearAttrName
      << "' (L5); add the attribute, so that the callee is checked";
  diagnostic.attachNote(callee->getLoc()) << "the callee";
}

void Checker::checkValue(Value value) {
  if (!checkUses(value))
    return;
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : value.getUses())
    uses.push_back(&use);
  if (!collectLent(value, uses))
    return;
  // Use lists are in no useful order; diagnostics follow the text where they
  // can.
  llvm::stable_sort(uses, [](OpOperand *a, OpOperand *b) {
    Operation *first = a->getOwner(), *second = b->getOwner();
    return first != second && first->getBlock() == second->getBlock() &&
           first->isBeforeInBlock(second);
  });
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto owner =
        dyn_cast_or_null<LinearOpInterface>(argument.getOwner()->getParentOp());
    if (owner && owner.managesArgument(argument))
      return checkManaged(value, owner, uses);
  }
  reportRange(value, uses);
}

/// (L6) Every direct use is declared.
bool Checker::checkUses(Value value) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (classifyUse(use) != UseKind::Illegal)
      continue;
    InFlightDiagnostic diagnostic =
        error(value) << "is passed to '" << user->getName()
                     << "', which does not declare what it does with it (L6)";
    diagnostic.attachNote(user->getLoc()) << "used here";
    return false;
  }
  return true;
}

/// A scope releases its stages itself: the body may only borrow them.
void Checker::checkManaged(Value value, Operation *owner,
                           ArrayRef<OpOperand *> uses) {
  for (OpOperand &use : value.getUses()) {
    if (classifyUse(use) == UseKind::Borrow)
      continue;
    InFlightDiagnostic diagnostic =
        error(value) << "is released by its scope and must not be consumed in "
                        "the body (L1)";
    diagnostic.attachNote(owner->getLoc())
        << "released at the end of this '" << owner->getName() << "'";
    diagnostic.attachNote(use.getOwner()->getLoc()) << "consumed here";
    return;
  }
  reportCapture(value, LiveRange(value, uses, dominance));
}

/// Adds the uses of everything that was lent from the value (L9).
bool Checker::collectLent(Value value, SmallVectorImpl<OpOperand *> &uses) {
  llvm::DenseSet<Value> seen;
  for (OpOperand &use : value.getUses()) {
    auto lender = dyn_cast<LinearOpInterface>(use.getOwner());
    if (!lender || lender.getLinearUse(use) != LinearUse::Borrow)
      continue;
    for (OpResult result : lender->getResults())
      if (!isLinear(result.getType()) && lender.lendsResult(result) &&
          !collectUsesOfLent(result, lender, uses, seen))
        return false;
  }
  return true;
}

bool Checker::collectUsesOfLent(Value lent, Operation *lender,
                                SmallVectorImpl<OpOperand *> &uses,
                                llvm::DenseSet<Value> &seen) {
  SmallVector<Value> worklist{lent};
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    for (OpOperand &use : next.getUses()) {
      Operation *user = use.getOwner();
      if (isForwarded(use) || storesValue(use) || isa<YieldOp>(user)) {
        failed = true;
        InFlightDiagnostic diagnostic =
            emitError(lender->getLoc())
            << "what '" << lender->getName()
            << "' lends must not outlive its handle (L9)";
        diagnostic.attachNote(user->getLoc()) << "passed on here";
        return false;
      }
      uses.push_back(&use);
      // What is computed from a lent value alone is as short-lived as it.
      if (isMemoryEffectFree(user) && user->getNumRegions() == 0)
        worklist.append(user->result_begin(), user->result_end());
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

static void noteConsumptions(InFlightDiagnostic &diagnostic,
                             const LiveRange &range) {
  for (OpOperand *use : range.getConsumptions())
    diagnostic.attachNote(use->getOwner()->getLoc()) << "consumed here";
}

bool Checker::reportCapture(Value value, const LiveRange &range) {
  Operation *capture = range.getCapture();
  if (!capture)
    return false;
  InFlightDiagnostic diagnostic = error(value)
                                  << "is captured by '" << capture->getName()
                                  << "' (L6); pass it as an operand";
  diagnostic.attachNote(capture->getLoc()) << "captured here";
  return true;
}

void Checker::reportRange(Value value, ArrayRef<OpOperand *> uses) {
  LiveRange range(value, uses, dominance);
  if (reportCapture(value, range))
    return;
  // Where paths disagree, what leaks behind their meeting point is only the
  // consequence.
  if (range.getConflict())
    return reportConflict(value, range);
  if (range.getLeak())
    return reportLeak(value, range);
  for (OpOperand *use : uses)
    if (!range.isReachedAlive(use) &&
        dominance.isReachableFromEntry(use->getOwner()->getBlock()) &&
        dominance.properlyDominates(value, use->getOwner()))
      return reportLateUse(value, range, use);
}

void Checker::reportLeak(Value value, const LiveRange &range) {
  StringRef cure = getLinearType(value).getConsumerName();
  InFlightDiagnostic diagnostic = error(value);
  if (range.getConsumptions().empty())
    diagnostic << "leaks: it is never consumed (L1); consume it with '" << cure
               << "'";
  else
    diagnostic
        << "leaks: it is not consumed on every path (L1); consume it with '"
        << cure << "' on this one too";
  range.describePath(diagnostic, range.getLeak()->from);
  diagnostic.attachNote(range.getLeak()->at->getLoc())
      << "still alive where control leaves its region";
  noteConsumptions(diagnostic, range);
}

void Checker::reportConflict(Value value, const LiveRange &range) {
  const LiveRange::Conflict &conflict = *range.getConflict();
  InFlightDiagnostic diagnostic = error(value);
  if (conflict.isLoop)
    diagnostic << "is consumed inside a loop that may run again, or not at all "
                  "(L3); carry it as a loop argument";
  else
    diagnostic << "is consumed on one path but not on another (L4); consume it "
                  "on both, or after they meet";
  noteConsumptions(diagnostic, range);
  Operation *join = conflict.join;
  if (!join)
    return;
  if (conflict.isLoop) {
    diagnostic.attachNote(join->getLoc()) << "the loop";
  } else if (join->getNumRegions() && !conflict.aliveFrom) {
    diagnostic.attachNote(join->getLoc())
        << "still alive when this '" << join->getName()
        << "' runs none of its regions";
  } else if (join->getNumRegions()) {
    diagnostic.attachNote(join->getLoc())
        << "still alive when region #"
        << conflict.aliveFrom->getParent()->getRegionNumber() << " of this '"
        << join->getName() << "' runs";
  } else {
    range.describePath(diagnostic, conflict.aliveFrom);
    diagnostic.attachNote(join->getLoc())
        << "the paths meet here, one of them with the value still alive";
  }
}

void Checker::reportLateUse(Value value, const LiveRange &range,
                            OpOperand *use) {
  InFlightDiagnostic diagnostic = error(value);
  bool direct = use->get() == value;
  bool again = direct && classifyUse(*use) == UseKind::Consume;
  if (again)
    diagnostic << "is consumed twice (L1)";
  else if (direct)
    diagnostic << "is used after it was consumed (L2)";
  else
    diagnostic << "was consumed before the last use of what it lent (L9)";
  noteConsumptions(diagnostic, range);
  diagnostic.attachNote(use->getOwner()->getLoc())
      << (again ? "consumed again here" : "used here");
  if (!direct)
    if (Operation *lender = use->get().getDefiningOp())
      diagnostic.attachNote(lender->getLoc()) << "lent here";
}

/// True if the ops whose control flow the check asks for are well formed. The
/// check runs before they are verified, and their interfaces trust them.
static bool isWellFormed(Operation *function) {
  ScopedDiagnosticHandler silence(function->getContext(),
                                  [](Diagnostic &) { return success(); });
  auto isLinearType = [](Type type) { return isLinear(type); };
  WalkResult result = function->walk([&](Operation *op) {
    bool matters = op->getNumRegions() || op->getNumSuccessors() ||
                   llvm::any_of(op->getOperandTypes(), isLinearType) ||
                   llvm::any_of(op->getResultTypes(), isLinearType);
    if (op == function || !matters || !op->getRegisteredInfo())
      return WalkResult::advance();
    return failed(op->getName().verifyInvariants(op)) ? WalkResult::interrupt()
                                                      : WalkResult::advance();
  });
  return !result.wasInterrupted();
}

LogicalResult fp8::verifyLinearity(Operation *function) {
  // What is malformed is reported by its own verifier, which runs next.
  if (!isWellFormed(function))
    return success();
  return Checker(function).run();
}
