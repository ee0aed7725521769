// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The accesses of a role to slots and to arrays.

#ifndef FP8_LIB_PROOF_ACCESSES_H
#define FP8_LIB_PROOF_ACCESSES_H

#include "Labels.h"
#include "SlotContents.h"

namespace mlir::fp8 {

/// True if rings alone order what the kernel does to arrays. CTAs of a cluster
/// that differ by their numbers only are one here, so that nothing can be said
/// about what each of them does.
bool ringsOrderArrays(FunctionOpInterface kernel);

/// Adds a statement for each access. A stage has the number of its slot as its
/// label. A fragment has one that is 0 if it consists of zeros.
class Accesses : public Labels {
public:
  /// The end from which a stage was acquired.
  using GetEnd = std::function<::fp8::proof::ExprId(Value stage)>;

  Accesses(KernelSkeleton &kernel, ProcessExpressions &expressions,
           const SlotContents &contents, unsigned cta, bool followsArrays,
           GetEnd getEnd)
      : Labels(kernel, expressions), contents(contents), cta(cta),
        followsArrays(followsArrays), getEnd(std::move(getEnd)) {}

  unsigned getSize(Type type) const override;
  unsigned getFirstField(Type stage) const override {
    return ::fp8::proof::kSlotNumber;
  }
  bool handsOver() const override { return false; }
  bool asksOfAll() const override { return false; }
  bool follows(Operation *op) const override;
  SmallVector<Value> getIntegers(Operation *op) const override;

private:
  using Access = ::fp8::proof::Access;

  int64_t getNothing() const override { return -1; }
  Label compute(Value value) override;
  void walkOp(Operation *op) override;

  void add(Access access, ArrayRef<ExprId> indices, ExprId end = 0);
  void addSlot(const SlotUse &use, Access::Agent agent, bool writes,
               bool readsPair);
  /// An access to memory that all CTAs see.
  void addArray(Value array, ValueRange indices, Access access);
  void addBox(Value map, ValueRange coordinates, ArrayRef<int64_t> shape,
              Access access);
  const SlotContents &contents;
  unsigned cta;
  bool followsArrays;
  GetEnd getEnd;
};

} // namespace mlir::fp8

#endif // FP8_LIB_PROOF_ACCESSES_H
