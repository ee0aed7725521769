// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Requirements that no role comes to certain ops.

#ifndef FP8_LIB_PROOF_MARKS_H
#define FP8_LIB_PROOF_MARKS_H

#include "Labels.h"

namespace mlir::fp8 {

/// Requires at each marked op that it is not reached. The label of a stage is
/// the number of its slot.
class Marks : public Labels {
public:
  Marks(KernelSkeleton &kernel, ProcessExpressions &expressions,
        ArrayRef<Mark> marks)
      : Labels(kernel, expressions), marks(marks) {}

  unsigned getSize(Type type) const override;
  unsigned getFirstField(Type) const override {
    return ::fp8::proof::kSlotNumber;
  }
  bool handsOver() const override { return false; }
  bool follows(Operation *op) const override;
  SmallVector<Value> getIntegers(Operation *) const override { return {}; }

private:
  int64_t getNothing() const override { return 0; }
  Label compute(Value value) override;
  void walkOp(Operation *op) override;

  ArrayRef<Mark> marks;
};

} // namespace mlir::fp8

#endif // FP8_LIB_PROOF_MARKS_H
