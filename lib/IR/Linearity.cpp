// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The whole-function check of linear values: what to look at. LinearityReport.h
// says what is wrong with the life of a value.

#include "fp8/IR/Linearity.h"

#include "AliveSet.h"
#include "LentUse.h"
#include "LinearityReport.h"
#include "LiveRange.h"
#include "fp8/IR/Fp8.h"
#include "fp8/IR/LinearUse.h"

#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::fp8;

namespace {

/// Checks the linear values of one function.
class Checker {
public:
  explicit Checker(Operation *function)
      : function(function), alive(function, dominance) {}

  LogicalResult run();

private:
  void checkValue(Value value);
  bool checkUses(Value value);
  void checkManaged(Value value, Operation *owner, ArrayRef<OpOperand *> uses);
  void checkMaker(Operation *op);
  void checkMaker(Block *block);
  void checkEdges(RegionBranchOpInterface op);
  void checkCopyable(Type type, Location loc);
  void checkSignature();
  void reportMaker(Value value, Operation *maker);
  void checkCall(Operation *op);
  bool collectLent(Value value, SmallVectorImpl<OpOperand *> &uses);
  bool collectUsesOfLent(Value lent, Operation *lender,
                         SmallVectorImpl<OpOperand *> &uses,
                         llvm::DenseSet<Value> &seen);

  InFlightDiagnostic error(Value value);

  Operation *function;
  DominanceInfo dominance;
  AliveSet alive;
  llvm::DenseMap<Type, bool> holdsHandlesByType;
  llvm::DenseSet<Value> forged; ///< reported: nothing says who owns them
  bool failed = false;
};

} // namespace

InFlightDiagnostic Checker::error(Value value) {
  failed = true;
  return emitHandleError(value);
}

LogicalResult Checker::run() {
  for (Region &region : function->getRegions())
    region.walk<WalkOrder::PreOrder>([&](Block *block) {
      if (!dominance.isReachableFromEntry(block))
        return WalkResult::skip();
      checkMaker(block);
      for (BlockArgument argument : block->getArguments())
        checkValue(argument);
      for (Operation &op : *block) {
        checkMaker(&op);
        checkCall(&op);
        for (OpResult result : op.getResults())
          checkValue(result);
      }
      return WalkResult::advance();
    });
  if (!failed)
    checkSignature();
  return success(!failed);
}

void Checker::reportMaker(Value value, Operation *maker) {
  forged.insert(value);
  InFlightDiagnostic diagnostic =
      error(value)
      << "is made by '" << maker->getName()
      << "', which does not declare what it does with linear values (L6); "
         "it must implement LinearOpInterface";
  if (value.getDefiningOp() != maker)
    diagnostic.attachNote(maker->getLoc()) << "made here";
}

/// (L6) Only an op that says what it does may make a linear value. A region op
/// makes none: each one that comes out of it came in along an edge.
void Checker::checkMaker(Operation *op) {
  if (isa<LinearOpInterface, CallOpInterface, SelectLikeOpInterface>(op))
    return;
  if (auto branch = dyn_cast<RegionBranchOpInterface>(op))
    return checkEdges(branch);
  for (OpResult result : op->getResults())
    if (isLinear(result.getType()))
      return reportMaker(result, op);
}

/// (L6) The linear arguments of a block come from a function's caller, from an
/// op that declares them, or along edges.
void Checker::checkMaker(Block *block) {
  Operation *parent = block->getParentOp();
  for (BlockArgument argument : block->getArguments()) {
    if (!isLinear(argument.getType()))
      continue;
    if (block->isEntryBlock()) {
      if (!isa<FunctionOpInterface, LinearOpInterface, RegionBranchOpInterface>(
              parent))
        reportMaker(argument, parent);
      continue;
    }
    for (Block::pred_iterator it = block->pred_begin(); it != block->pred_end();
         ++it) {
      auto branch = dyn_cast<BranchOpInterface>((*it)->getTerminator());
      if (branch && !branch.getSuccessorOperands(it.getSuccessorIndex())
                         .isOperandProduced(argument.getArgNumber()))
        continue;
      reportMaker(argument, (*it)->getTerminator());
      break;
    }
  }
}

/// (L6) Each linear value that a region op's regions or results receive is
/// handed on from a value of the same type.
void Checker::checkEdges(RegionBranchOpInterface op) {
  llvm::SmallDenseSet<Value> received;
  auto receive = [&](OperandRange from, ValueRange to) {
    for (auto [source, target] : llvm::zip(from, to))
      if (source.getType() == target.getType())
        received.insert(target);
  };
  auto check = [&](ValueRange values) {
    for (Value value : values)
      if (isLinear(value.getType()) &&
          (!runsRegionsInPlace(op) || !received.contains(value)))
        return reportMaker(value, op);
  };
  visitRegionEdges(op, op, receive);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (Operation *terminator = getTerminator(&block))
        visitRegionEdges(op, terminator, receive);
  for (Region &region : op->getRegions())
    if (!region.empty())
      check(region.getArguments());
  check(op->getResults());
}

/// (L6) A value that can be copied holds no handle.
void Checker::checkCopyable(Type type, Location loc) {
  auto [known, isNew] = holdsHandlesByType.insert({type, false});
  if (isNew)
    known->second = holdsHandles(type);
  if (!known->second)
    return;
  failed = true;
  emitError(loc) << "a value of type " << type
                 << " holds handles and can be copied (L6); pass each handle "
                    "as a value of its own";
}

/// (L6) What a caller passes or gets may have another type than any value in
/// the body, or there is no body.
void Checker::checkSignature() {
  auto signature = dyn_cast<FunctionOpInterface>(function);
  if (!signature)
    return;
  for (ArrayRef<Type> types :
       {signature.getArgumentTypes(), signature.getResultTypes()})
    for (Type type : types)
      if (!isLinear(type))
        checkCopyable(type, function->getLoc());
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
  if (!isLinear(value.getType()))
    return checkCopyable(value.getType(), value.getLoc());
  if (forged.contains(value) || !checkUses(value))
    return;
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : value.getUses())
    uses.push_back(&use);
  if (!collectLent(value, uses))
    return;
  if (alive.proves(value))
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
  if (!isSelected(value))
    failed |= reportRange(value, uses, dominance);
  else
    failed |= reportRange(value, uses, dominance, true) ||
              reportRange(value, uses, dominance, false);
}

/// (L6) Every direct use is declared.
bool Checker::checkUses(Value value) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (classifyUse(use) != UseKind::Illegal)
      continue;
    InFlightDiagnostic diagnostic =
        error(value)
        << "is passed to '" << user->getName()
        << "', which does not declare what it does with it (L6); only "
           "branches, calls and ops with LinearOpInterface may "
           "take it";
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
        error(value)
        << "is released by its scope (L1); the body may only borrow it";
    diagnostic.attachNote(owner->getLoc())
        << "released at the end of this '" << owner->getName() << "'";
    diagnostic.attachNote(use.getOwner()->getLoc()) << "consumed here";
    return;
  }
  failed |= reportCapture(value, LiveRange(value, uses, dominance));
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
      if (letsEscape(use)) {
        failed = true;
        InFlightDiagnostic diagnostic =
            emitError(lender->getLoc())
            << "what '" << lender->getName()
            << "' lends must not outlive its handle (L9); pass the handle on "
               "and borrow again";
        diagnostic.attachNote(user->getLoc()) << "passed on here";
        return false;
      }
      uses.push_back(&use);
      llvm::append_range(worklist, getDerivedValues(use));
    }
  }
  return true;
}

/// True if a region of the op takes or gives fewer values than the op has
/// results.
static bool lacksValues(Operation *op) {
  unsigned results = op->getNumResults();
  return llvm::any_of(op->getRegions(), [&](Region &region) {
    if (region.empty() || region.front().empty())
      return true;
    bool takesFew =
        isa<LoopLikeOpInterface>(op) && region.getNumArguments() <= results;
    return takesFew || region.front().back().getNumOperands() < results;
  });
}

/// True if the ops whose control flow the check asks for are well formed. The
/// check runs before they are verified, and their interfaces trust them.
static bool isWellFormed(Operation *function) {
  ScopedDiagnosticHandler silence(function->getContext(),
                                  [](Diagnostic &) { return success(); });
  auto isLinearType = [](Type type) { return isLinear(type); };
  auto endsItsBlocks = [](Region &region) {
    return region.empty() || region.hasOneBlock() ||
           llvm::all_of(region, [](Block &block) {
             return !block.empty() && block.mightHaveTerminator();
           });
  };
  WalkResult result = function->walk([&](Operation *op) {
    // A tool that takes ops out, such as a reducer, leaves nulls where they
    // were used.
    if (!llvm::all_of(op->getRegions(), endsItsBlocks) ||
        llvm::is_contained(op->getOperands(), Value()))
      return WalkResult::interrupt();
    bool matters = op->getNumRegions() || op->getNumSuccessors() ||
                   isa<RegionBranchOpInterface>(op) ||
                   llvm::any_of(op->getOperandTypes(), isLinearType) ||
                   llvm::any_of(op->getResultTypes(), isLinearType);
    if (!matters || !op->getRegisteredInfo())
      return WalkResult::advance();
    OperationName name = op->getName();
    if (failed(name.verifyInvariants(op)))
      return WalkResult::interrupt();
    // Values of wrong types can be followed, and those that are missing cannot.
    return failed(name.verifyRegionInvariants(op)) && lacksValues(op)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return !result.wasInterrupted();
}

LogicalResult mlir::fp8::verifyLinearity(Operation *function) {
  // What is malformed is reported by its own verifier, which runs next.
  if (!isWellFormed(function))
    return success();
  return Checker(function).run();
}
