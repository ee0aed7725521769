// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What accesses to arrays require so that they are ordered.

#ifndef FP8_LIB_PROOF_ARRAYORDER_H
#define FP8_LIB_PROOF_ARRAYORDER_H

#include "Labels.h"
#include "PlainMemory.h"

namespace mlir::fp8 {

/// Requires the rules of `PlainMemory`. No value has a label.
class ArrayOrder : public Labels {
public:
  /// The end from which a stage was acquired.
  using GetEnd = std::function<::fp8::proof::ExprId(Value stage)>;

  ArrayOrder(KernelSkeleton &kernel, ProcessExpressions &expressions,
             const PlainMemory &memory, GetEnd getEnd)
      : Labels(kernel, expressions), memory(memory), getEnd(std::move(getEnd)) {
  }

  unsigned getSize(Type) const override { return 0; }
  unsigned getFirstField(Type) const override { return 0; }
  bool follows(Operation *op) const override {
    return memory.getRules().contains(op);
  }
  SmallVector<Value> getIntegers(Operation *op) const override;
  void begin(Value stage, unsigned site, ::fp8::proof::Block &out) override;
  void finish(unsigned site, ::fp8::proof::Block &body) override;

private:
  int64_t getNothing() const override { return 0; }
  Label compute(Value) override { return {}; }
  void walkOp(Operation *op) override;

  /// A variable that has this value where the role begins.
  ExprId makeVariable(int64_t value);
  void assign(ExprId variable, ExprId value);

  const PlainMemory &memory;
  GetEnd getEnd;
  std::map<ExprId, ExprId> counts;       ///< slots taken, by end
  llvm::DenseMap<Value, ExprId> numbers; ///< of slots, by stage
  std::vector<std::pair<ExprId, int64_t>> variables;
};

} // namespace mlir::fp8

#endif // FP8_LIB_PROOF_ARRAYORDER_H
