// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Requirements that no role comes to certain ops.

#include "Marks.h"

#include "SlotContents.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::fp8;
using namespace ::fp8::proof;

unsigned Marks::getSize(Type type) const {
  bool isAsked =
      llvm::any_of(marks, [](const Mark &mark) { return mark.fromSecondLap; });
  return isAsked && getRingOf(type) ? 1 : 0;
}

Labels::Label Marks::compute(Value value) {
  // No op makes a stage of nothing.
  return Label(
      getSize(value.getType()),
      table.getOpaque("a slot that is not followed", {}, Scope::Launch));
}

bool Marks::follows(Operation *op) const {
  return llvm::any_of(marks, [&](const Mark &mark) { return mark.op == op; });
}

void Marks::walkOp(Operation *op) {
  for (const Mark &mark : marks) {
    if (mark.op != op)
      continue;
    ExprId condition = constant(0);
    if (mark.fromSecondLap) {
      Value stage = op->getOperand(0);
      int64_t slots =
          cast<RingTypeInterface>(getRingOf(stage.getType())).getNumStages();
      condition = table.get(Expr::Less, {get(stage).front(), constant(slots)});
    }
    require(condition, mark.rule);
  }
}
