// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integers that go where the values of a role go.

#ifndef FP8_LIB_PROOF_LABELS_H
#define FP8_LIB_PROOF_LABELS_H

#include "Expressions.h"
#include "fp8/Proof/Extract.h"

namespace mlir::fp8 {

/// Labels of values, and what ops require of them. A label is a list of
/// integers. Stages have labels, which move from role to role with the slot.
///
/// A kind of labels says which values have them, what ops make of them, and
/// what they require.
class Labels {
public:
  using Label = SmallVector<::fp8::proof::ExprId>;

  Labels(KernelSkeleton &kernel, ProcessExpressions &expressions)
      : kernel(kernel), table(kernel.skeleton.expressions),
        expressions(expressions) {}
  virtual ~Labels() = default;

  /// The length of the labels of such values; 0 if they have none.
  virtual unsigned getSize(Type type) const = 0;
  /// Where the fields of a slot begin that a stage of this CTA fills or reads.
  virtual unsigned getFirstField(Type stage) const = 0;
  /// True if a producer sets this entry of its stage's label when it hands the
  /// slot over. Others are set by other producers of the slot.
  virtual bool sets(Type stage, unsigned entry) const { return true; }
  /// True if what several producers set in a field is added up. Else each of
  /// them sets all fields.
  virtual bool addsUp() const { return false; }
  /// True if producers hand labels over with their slots.
  virtual bool handsOver() const { return true; }
  /// True if what ops require in a branch that threads may take differently is
  /// asked of all of them. Else such branches are left out.
  virtual bool asksOfAll() const { return true; }
  /// True if the op has rules, or sets labels of stages.
  virtual bool follows(Operation *op) const = 0;
  /// The integers that the op's rules depend on.
  virtual SmallVector<Value> getIntegers(Operation *op) const = 0;
  /// The statements of an op that is followed.
  void walk(Operation *op, unsigned site, ::fp8::proof::Block &out);
  /// Adds the statements behind the wait for a stage, whose label is known.
  virtual void begin(Value stage, unsigned site, ::fp8::proof::Block &out) {}
  /// Adds what is required where the role ends, whose statements these are.
  virtual void finish(unsigned site, ::fp8::proof::Block &body) {}

  ArrayRef<::fp8::proof::ExprId> get(Value value);
  void set(Value value, Label label) { known[value] = std::move(label); }
  /// Makes the label one of variables.
  void makeVariables(Value value);
  /// Appends that the label of `variable` becomes that of `value`.
  void assign(Value variable, Value value,
              std::vector<std::pair<unsigned, ::fp8::proof::ExprId>> &assigned);
  /// Appends that it becomes that of nothing.
  void clear(Value variable,
             std::vector<std::pair<unsigned, ::fp8::proof::ExprId>> &assigned);

protected:
  using ExprId = ::fp8::proof::ExprId;
  using Expr = ::fp8::proof::ExprKind;

  /// What the label of nothing consists of.
  virtual int64_t getNothing() const = 0;
  /// The label of a value that was not set.
  virtual Label compute(Value value) = 0;
  virtual void walkOp(Operation *op) = 0;

  ExprId constant(int64_t value) { return table.getConstant(value); }
  ExprId equal(ExprId a, ExprId b) { return table.get(Expr::Equal, {a, b}); }
  ExprId atLeast(ExprId a, ExprId b) {
    return table.get(Expr::Not, {table.get(Expr::Less, {a, b})});
  }
  void require(ExprId condition, const Twine &rule);
  void requireEqual(ExprId a, ExprId b, const Twine &rule) {
    require(equal(a, b), rule);
  }
  /// Gives the variables of a stage's label new values, from `offset` on.
  void write(Value stage, unsigned offset, ArrayRef<ExprId> label);

  KernelSkeleton &kernel;
  ::fp8::proof::ExprTable &table;
  ProcessExpressions &expressions;
  /// Of the op that is walked.
  unsigned site = 0;
  ::fp8::proof::Block *out = nullptr;

private:
  llvm::DenseMap<Value, Label> known;
};

} // namespace mlir::fp8

#endif // FP8_LIB_PROOF_LABELS_H
