// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ops that a GEMM op replaces. On tensors those that nobody uses are dead;
// on memrefs it depends on who reads and writes between the first of them and
// the last.

#include "Memory.h"
#include "Access.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::fp8;
using namespace mlir::fp8::fromlinalg;

static bool isMemref(Value value) { return isa<MemRefType>(value.getType()); }

Replacement::Replacement(const OpSet &ops, Operation *end, Value target,
                         AliasAnalysis &aliases)
    : ops(ops), end(end), target(target), aliases(aliases) {
  keepSeen();
}

bool Replacement::writesTarget(Operation *op) const {
  return isMemref(target) && isMemref(getTarget(op)) &&
         getBase(getTarget(op)) == getBase(target);
}

/// Who sees what the op writes into a buffer, other than replaced ops: the op
/// itself, if the buffer is not one of this block; null if nobody.
Operation *Replacement::findObserver(Operation *op) const {
  Value base = getBase(getTarget(op));
  Operation *allocation = base.getDefiningOp();
  if (!isa_and_nonnull<memref::AllocOp, memref::AllocaOp>(allocation) ||
      allocation->getBlock() != end->getBlock())
    return op;
  SmallVector<Value> views = {base};
  while (!views.empty())
    for (Operation *user : views.pop_back_val().getUsers()) {
      if (user->getNumResults() == 1 && getViewSource(user->getResult(0)))
        views.push_back(user->getResult(0));
      else if (!isReplaced(user) && !isa<memref::DeallocOp>(user))
        return user;
    }
  return nullptr;
}

/// An op stays if what it writes is seen; then it sees what it reads.
void Replacement::keepSeen() {
  for (bool isStable = false; !isStable;) {
    isStable = true;
    for (Operation *op : ops)
      if (!kept.contains(op) && isMemref(getTarget(op)) && !writesTarget(op) &&
          findObserver(op)) {
        kept.insert(op);
        isStable = false;
      }
  }
}

LogicalResult Replacement::checkUnseen(Operation *op, Refusal &refusal) const {
  if (!kept.contains(op))
    return success();
  Operation *observer = findObserver(op);
  return refusal.because(
      "the result up to it is read by others too", observer->getLoc(),
      observer == op ? "written here to a buffer that they may read"
                     : "read here");
}

/// What is read must still be there where the GEMM op reads it.
LogicalResult Replacement::checkInput(const Element *read,
                                      Refusal &refusal) const {
  if (read->op->getBlock() != end->getBlock())
    return refusal.because("an operand is read in another block",
                           read->getLoc(), "read here");
  Value memref = getBase(read->value);
  for (Operation *op = read->op; op != end; op = op->getNextNode())
    if (!isReplaced(op) && (getAccess(op, memref, aliases).isMod() ||
                            frees(op, memref, aliases))) {
      refusal.notes.emplace_back(read->getLoc(), "read here");
      return refusal.because("an operand may be overwritten or freed between "
                             "the op that reads it and the last of the ops, "
                             "in whose place the GEMM op would read it",
                             op->getLoc(), "written or freed here");
    }
  return success();
}

/// Nobody may look at the result while it is computed.
LogicalResult Replacement::checkResult(Refusal &refusal) const {
  Operation *first = end;
  for (Operation *op : ops)
    if (writesTarget(op) && op->isBeforeInBlock(first))
      first = op;
  for (Operation *op = first; op != end; op = op->getNextNode())
    if (!isReplaced(op) && getAccess(op, getBase(target), aliases).isRef())
      return refusal.because("what lies in the result before it is complete "
                             "may be read",
                             op->getLoc(), "read here");
  return success();
}

LogicalResult Replacement::checkOrder(ArrayRef<Operand> reads,
                                      const Operand &residual,
                                      Refusal &refusal) const {
  if (isMemref(target) && failed(checkResult(refusal)))
    return failure();
  for (const Operand &operand : reads) {
    const Element *read = operand.element;
    if (!read || !isMemref(read->value))
      continue;
    if (failed(checkInput(read, refusal)))
      return failure();
    bool isInPlace = read == residual.element && read->value == target &&
                     llvm::is_sorted(operand.order);
    if (!isInPlace && getBase(read->value) == getBase(target))
      return refusal.because("the result is written over an operand, which "
                             "the GEMM op reads meanwhile",
                             read->getLoc(), "read here");
  }
  return success();
}

void Replacement::erase(llvm::SmallPtrSetImpl<Operation *> &erased) {
  OpSet candidates;
  auto eraseOp = [&](Operation *op) {
    candidates.remove(op);
    erased.insert(op);
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        candidates.insert(producer);
    op->erase();
  };
  for (Operation *op : ops) {
    if (op->getNumResults())
      candidates.insert(op);
    else if (!kept.contains(op))
      eraseOp(op);
  }
  while (!candidates.empty()) {
    Operation *op = candidates.pop_back_val();
    if (isa<memref::AllocOp>(op) &&
        llvm::all_of(op->getUsers(), llvm::IsaPred<memref::DeallocOp>))
      for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
        user->erase();
    if (isOpTriviallyDead(op))
      eraseOp(op);
  }
}
