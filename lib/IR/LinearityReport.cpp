// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is said about the life of a linear value that breaks a rule.

#include "LinearityReport.h"

#include "fp8/IR/Fp8.h"
#include "fp8/IR/LinearUse.h"

using namespace mlir;
using namespace mlir::fp8;

static LinearTypeInterface getLinearType(Value value) {
  return cast<LinearTypeInterface>(value.getType());
}

InFlightDiagnostic mlir::fp8::emitHandleError(Value value) {
  return emitError(value.getLoc())
         << getLinearType(value).getHandleName() << ' ';
}

/// Adds a note for each op that consumes the value, in the order of the text.
static void noteConsumptions(InFlightDiagnostic &diagnostic, Value value,
                             const LiveRange &range) {
  llvm::SmallPtrSet<Operation *, 4> ops;
  for (OpOperand *use : range.getConsumptions())
    ops.insert(use->getOwner());
  value.getParentRegion()->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (ops.contains(op))
      diagnostic.attachNote(op->getLoc()) << "consumed here";
  });
}

bool mlir::fp8::reportCapture(Value value, const LiveRange &range) {
  if (!range.getCapture())
    return false;
  auto [capture, use] = *range.getCapture();
  InFlightDiagnostic diagnostic = emitHandleError(value);
  if (use->get() == value)
    diagnostic << "is captured by '" << capture->getName()
               << "' (L6); pass it as an operand";
  else
    diagnostic << "lends a value that '" << capture->getName()
               << "' captures (L6); read what its regions need in front of it";
  diagnostic.attachNote(capture->getLoc()) << "captured here";
  if (use->get() != value) {
    diagnostic.attachNote(use->getOwner()->getLoc()) << "used here";
    diagnostic.attachNote(use->get().getLoc()) << "lent here";
  }
  return true;
}

static void reportHalfSelect(Value value, const LiveRange::HalfSelect &half,
                             bool side) {
  InFlightDiagnostic diagnostic = emitHandleError(value);
  if (half.other)
    diagnostic << "is selected on two conditions in one block (L4); select it "
                  "on one, or branch";
  else
    diagnostic << "is selected when the condition is "
               << (side ? "false" : "true")
               << ", but nothing consumes it when that is "
               << (side ? "true" : "false")
               << " (L4); select it on both sides, in one block";
  diagnostic.attachNote(half.select->getLoc()) << "selected here";
  if (half.other)
    diagnostic.attachNote(half.other->getLoc()) << "and here";
  if (half.end)
    diagnostic.attachNote(half.end->getLoc()) << "still alive here";
}

static void reportLeak(Value value, const LiveRange &range) {
  StringRef cure = getLinearType(value).getConsumerName();
  InFlightDiagnostic diagnostic = emitHandleError(value);
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
  noteConsumptions(diagnostic, value, range);
}

static void reportConflict(Value value, const LiveRange &range) {
  const LiveRange::Conflict &conflict = *range.getConflict();
  InFlightDiagnostic diagnostic = emitHandleError(value);
  if (conflict.isLoop)
    diagnostic << "is consumed inside a loop that may run again, or not at all "
                  "(L3); carry it as a loop argument";
  else
    diagnostic << "is consumed on one path but not on another (L4); consume it "
                  "on both, or after they meet";
  noteConsumptions(diagnostic, value, range);
  Operation *join = conflict.join;
  Block *from = conflict.aliveFrom;
  if (conflict.isLoop) {
    diagnostic.attachNote(join->getLoc())
        << (conflict.isBlock ? "the loop begins again here" : "the loop");
  } else if (conflict.isBlock) {
    range.describePath(diagnostic, from);
    diagnostic.attachNote(join->getLoc())
        << "the paths meet here, one of them with the value still alive";
  } else if (from) {
    diagnostic.attachNote(from->empty() ? join->getLoc()
                                        : from->back().getLoc())
        << "still alive at the end of region #"
        << from->getParent()->getRegionNumber() << " of this '"
        << join->getName() << "'";
  } else {
    diagnostic.attachNote(join->getLoc())
        << "still alive when this '" << join->getName()
        << "' runs none of its regions";
  }
}

static void reportLateUse(Value value, const LiveRange &range, OpOperand *use) {
  InFlightDiagnostic diagnostic = emitHandleError(value);
  bool direct = use->get() == value;
  bool again = direct && classifyUse(*use) == UseKind::Consume;
  if (again)
    diagnostic << "is consumed twice (L1); keep one, or go on with the handle "
                  "that the first gives back";
  else if (direct)
    diagnostic << "is used after it was consumed (L2); use it before";
  else
    diagnostic << "was consumed before the last use of what it lent (L9); "
                  "consume it after that";
  noteConsumptions(diagnostic, value, range);
  diagnostic.attachNote(use->getOwner()->getLoc())
      << (again ? "consumed again here" : "used here");
  if (!direct)
    diagnostic.attachNote(use->get().getLoc()) << "lent here";
}

static bool reportLateUses(Value value, ArrayRef<OpOperand *> uses,
                           const LiveRange &range, DominanceInfo &dominance) {
  // What is never consumed is reached alive, or not at all.
  if (range.getConsumptions().empty())
    return false;
  for (OpOperand *use : uses)
    if (!range.isReachedAlive(use) && range.isReachable(use) &&
        dominance.properlyDominates(value, use->getOwner())) {
      reportLateUse(value, range, use);
      return true;
    }
  return false;
}

bool mlir::fp8::reportRange(Value value, ArrayRef<OpOperand *> uses,
                            DominanceInfo &dominance,
                            std::optional<bool> side) {
  LiveRange range(value, uses, dominance, side);
  if (reportCapture(value, range))
    return true;
  if (range.getHalfSelect())
    reportHalfSelect(value, *range.getHalfSelect(), side.value_or(true));
  // Where paths disagree, what leaks behind their meeting point is only the
  // consequence.
  else if (range.getConflict())
    reportConflict(value, range);
  else if (range.getLeak())
    reportLeak(value, range);
  else
    return reportLateUses(value, uses, range, dominance);
  return true;
}
