// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How often parts of slots were written.

#ifndef FP8_LIB_PROOF_FILLS_H
#define FP8_LIB_PROOF_FILLS_H

#include "IntegerRanges.h"
#include "Labels.h"
#include "SlotContents.h"

namespace mlir::fp8 {

/// Labels that say how often each part of a slot was written since it was
/// acquired. A stage that is filled has a number for each part. What the
/// producers of a slot say adds up, separately for each class of CTAs, and a
/// stage that is emptied has the sums of all classes. Parts that are always
/// written once, as the text shows, have no number.
class Fills : public Labels {
public:
  /// `cta`: the number of the class of CTAs that the role is walked for.
  Fills(KernelSkeleton &kernel, ProcessExpressions &expressions,
        const SlotContents &contents, unsigned cta, std::string role,
        IntegerRanges &ranges)
      : Labels(kernel, expressions), contents(contents), cta(cta),
        role(std::move(role)), ranges(ranges) {}

  /// True if the text shows that the row of the A scales is in their tile, or
  /// if there is none.
  static bool isRowShown(PromoteOp promote, IntegerRanges &ranges);

  unsigned getSize(Type type) const override;
  unsigned getFirstField(Type stage) const override;
  bool addsUp() const override { return true; }
  bool follows(Operation *op) const override;
  SmallVector<Value> getIntegers(Operation *op) const override;
  void begin(Value stage, unsigned site, ::fp8::proof::Block &out) override;

private:
  int64_t getNothing() const override { return 0; }
  Label compute(Value value) override;
  void walkOp(Operation *op) override;

  /// The number of the part among those that are counted; none if it is not.
  std::optional<unsigned> getCounted(Type ring, unsigned part) const;
  unsigned getNumCounted(Type ring) const;
  void requireWritten(const SlotUse &use, bool readsPair);
  void walkCopy(const SlotUse &use);
  void walkMma(MmaOp mma);

  const SlotContents &contents;
  unsigned cta;
  std::string role; ///< for messages: "role "C""
  IntegerRanges &ranges;
};

} // namespace mlir::fp8

#endif // FP8_LIB_PROOF_FILLS_H
