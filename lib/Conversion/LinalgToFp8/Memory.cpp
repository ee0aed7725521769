// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ops that a GEMM op replaces. On tensors those that nobody uses are dead;
// on memrefs it depends on who reads and writes between the first of them and
// the last.

#include "Memory.h"
#include "Access.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::fp8;
using namespace mlir::fp8::fromlinalg;

static bool isMemref(Value value) { return isa<MemRefType>(value.getType()); }

Replacement::Replacement(const OpSet &ops, ArrayRef<Operand> operands,
                         Operation *end, Value target, AliasAnalysis &aliases)
    : ops(ops), operands(llvm::make_filter_range(
                    operands, [](const Operand &each) { return bool(each); })),
      end(end), target(target), aliases(aliases) {
  keepSeen();
}

bool Replacement::writesTarget(Operation *op) const {
  return isMemref(getTarget(op)) && getBase(getTarget(op)) == getBase(target);
}

/// The operand that the GEMM op reads as the op wrote it; null if none.
const Element *Replacement::findReader(Operation *op) const {
  for (const Operand &operand : operands)
    if (operand.element->writer == op &&
        getBase(operand.element->value) == getBase(getTarget(op)))
      return operand.element;
  return nullptr;
}

/// Who sees what the op writes into a buffer, other than replaced ops: the
/// reader of an operand; the op itself, if the buffer is not one of this block;
/// null if nobody.
Operation *Replacement::findObserver(Operation *op) const {
  if (const Element *read = findReader(op))
    return read->op;
  if (writesTarget(op))
    return nullptr;
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
      if (!kept.contains(op) && isMemref(getTarget(op)) && findObserver(op)) {
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
      "other ops also read the result before this op", observer->getLoc(),
      observer == op ? "written here to a buffer that other ops may read"
                     : "read here");
}

static LogicalResult refuseWritten(const Element *read, Operation *writer,
                                   Refusal &refusal) {
  refusal.notes.emplace_back(read->getLoc(), "read here");
  return refusal.because(
      "an operand may be overwritten or freed between the op that reads it and "
      "the last replaced op, where the GEMM op would read it",
      writer->getLoc(), "written or freed here");
}

/// What is read must still be there where the GEMM op reads it.
LogicalResult Replacement::checkMemref(const Element *read,
                                       Refusal &refusal) const {
  if (read->op->getBlock() != end->getBlock())
    return refusal.because("an operand is read in another block",
                           read->getLoc(), "read here");
  Value memref = getBase(read->value);
  for (Operation *op = read->op; op != end; op = op->getNextNode())
    if (!isReplaced(op) &&
        (getAccess(op, memref, aliases).isMod() || frees(op, memref, aliases)))
      return refuseWritten(read, op, refusal);
  return success();
}

/// True if the op, or one within, has an operand of that memory.
static bool uses(Operation *op, Value memref) {
  auto result = op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (isMemref(operand) && overlap(operand, memref))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return result.wasInterrupted();
}

/// The tensor of a memref is that memref to the GEMM op. Nobody gets at that
/// by another name.
LogicalResult Replacement::checkTensor(const Element *read,
                                       Refusal &refusal) const {
  Value tensor = read->value;
  while (tensor && !tensor.getDefiningOp<bufferization::ToTensorOp>())
    tensor = getViewed(tensor);
  if (!tensor)
    return success();
  auto source = tensor.getDefiningOp<bufferization::ToTensorOp>();
  if (!source.getRestrict())
    return refusal.because("an operand is a tensor of a memref that other ops "
                           "may write; add 'restrict'",
                           source.getLoc(), "the tensor");
  if (source->getBlock() != end->getBlock())
    return refusal.because("an operand is a tensor of a memref in another "
                           "block",
                           source.getLoc(), "the tensor");
  Value memref = source.getBuffer();
  for (Operation *op = source; op != end; op = op->getNextNode())
    if (!isReplaced(op) && uses(op, memref) &&
        (getAccess(op, getBase(memref), aliases).isMod() ||
         frees(op, getBase(memref), aliases)))
      return refuseWritten(read, op, refusal);
  return success();
}

/// The target lies apart from the operand, or is the residual itself.
LogicalResult Replacement::checkOverlap(const Operand &operand,
                                        const Element *residual,
                                        Refusal &refusal) const {
  const Element *read = operand.element;
  Value memref = read->value;
  if (auto source = memref.getDefiningOp<bufferization::ToTensorOp>())
    memref = source.getBuffer();
  bool isInPlace =
      read == residual && memref == target && llvm::is_sorted(operand.order);
  if (isInPlace || !overlap(memref, target))
    return success();
  return refusal.because(
      "the result overwrites an operand while the GEMM op reads it",
      read->getLoc(), "read here");
}

/// Nobody may look at the result while it is computed.
LogicalResult Replacement::checkResult(Refusal &refusal) const {
  Operation *first = end;
  for (Operation *op : ops)
    if (writesTarget(op) && op->isBeforeInBlock(first))
      first = op;
  for (Operation *op = first; op != end; op = op->getNextNode())
    if (!isReplaced(op) && getAccess(op, getBase(target), aliases).isRef())
      return refusal.because("the result may be read before it is complete",
                             op->getLoc(), "read here");
  return success();
}

LogicalResult Replacement::checkOrder(const Element *residual,
                                      Refusal &refusal) const {
  if (failed(checkResult(refusal)))
    return failure();
  for (const Operand &operand : operands) {
    const Element *read = operand.element;
    if (failed(isMemref(read->value) ? checkMemref(read, refusal)
                                     : checkTensor(read, refusal)) ||
        failed(checkOverlap(operand, residual, refusal)))
      return failure();
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
