// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the values of a role are, in terms of the GEMM that a kernel computes.

#ifndef FP8_LIB_PROOF_PROVENANCE_H
#define FP8_LIB_PROOF_PROVENANCE_H

#include "Expressions.h"
#include "fp8/IR/ComputedGemm.h"
#include "fp8/Proof/Extract.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::fp8 {

/// The label of a box of an operand, or of one of its elements. What the
/// operand does not have is 0. M, N and K are counted in elements.
namespace box {
enum : unsigned { Operand, Batch, M, N, K, Size };
} // namespace box

/// That of an f32: an element; or a row of them, of which each lane has one,
/// from the element on along K, up to the block of number `Last`.
namespace element {
enum : unsigned { Row = box::Size, Last, Size };
/// Of a row: what lanes have whose element lies behind the last one.
enum : int64_t { kIsNone, kRepeatsLast, kEndsInZeros };
} // namespace element

/// That of a fragment or an accumulator: where it lies in the result, if it has
/// rows and columns already, which one of zeros does not; whether its products
/// are scaled; of a product in registers, its part; how many
/// columns of the residual are added, and whether the bias is. Then of each
/// part which elements along K are added up: from `First` to before `Next`.
namespace sum {
enum : unsigned {
  Batch,
  M,
  N,
  HasRows,
  HasColumns,
  IsScaled,
  Part,
  Columns,
  Bias,
  First,
  Next,
  Size
};
} // namespace sum

/// The operand of what nobody has filled.
inline constexpr int64_t kNothing = -1;

/// Labels of values, and what ops require of them.
///
/// A label is a list of integers. That of a tile in shared memory says which
/// rows and columns of which operand it holds; that of an accumulator or of a
/// fragment, which rows and columns of the result it is of, and which elements
/// along K it has added up. Stages have the labels of their tiles, which move
/// from role to role with the slot.
class Provenance {
public:
  using Label = SmallVector<::fp8::proof::ExprId>;

  Provenance(KernelSkeleton &kernel, const ComputedGemm &gemm,
             ProcessExpressions &expressions, ClusterShape cluster)
      : kernel(kernel), gemm(gemm), table(kernel.skeleton.expressions),
        expressions(expressions), cluster(cluster) {}

  /// The length of the labels of such values; 0 if they have none.
  static unsigned getSize(Type type);
  /// Where the fields of a slot begin that a stage of this CTA fills or reads.
  /// The CTAs of a pair fill their own, and read their own accumulators; the
  /// leading one reads the tiles of both.
  unsigned getFirstField(Type stage) const;
  /// True if the op has rules, or sets labels of stages.
  static bool follows(Operation *op);
  /// The integers that the op's rules depend on.
  static SmallVector<Value> getIntegers(Operation *op);

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
  /// The statements of an op that is followed.
  void walk(Operation *op, unsigned site, ::fp8::proof::Block &out);

  /// Adds what is required of the role as a whole, whose statements these are.
  void finish(unsigned site, ::fp8::proof::Block &body);

private:
  using ExprId = ::fp8::proof::ExprId;
  using Expr = ::fp8::proof::ExprKind;

  ExprId constant(int64_t value) { return table.getConstant(value); }
  ExprId add(ExprId a, ExprId b) { return table.get(Expr::Add, {a, b}); }
  ExprId offset(ExprId a, int64_t by) { return add(a, constant(by)); }
  ExprId scale(ExprId a, int64_t factor) {
    return factor == 1 ? a : table.get(Expr::Multiply, {a, constant(factor)});
  }
  ExprId equal(ExprId a, ExprId b) { return table.get(Expr::Equal, {a, b}); }
  ExprId atLeast(ExprId a, ExprId b) {
    return table.get(Expr::Not, {table.get(Expr::Less, {a, b})});
  }
  void require(ExprId condition, const Twine &rule);
  void requireEqual(ExprId a, ExprId b, const Twine &rule) {
    require(equal(a, b), rule);
  }
  /// That the label is of a tile of the operand.
  void requireOperand(ArrayRef<ExprId> tile, gemm::Operand operand,
                      const Twine &what);

  /// Requires that a sum lies where `place` says, and sets its place.
  void place(Label &sum, std::optional<ExprId> batch, std::optional<ExprId> m,
             ExprId n, const Twine &what);
  /// The label of a box of an argument of the kernel, whose first element has
  /// these indices.
  Label getBox(Value argument, ValueRange indices);
  /// The label of a value that is not followed.
  Label getUnknown(unsigned size) {
    return Label(size, table.getOpaque("a value that is not followed", {},
                                       ::fp8::proof::Scope::Launch));
  }
  /// The number of the argument of the kernel; none if the value is no
  /// argument.
  static std::optional<int64_t> getArgument(Value value);
  /// An index that is limited to the extent of the argument along the axis. If
  /// it were larger it would be of what the result does not have.
  ExprId unlimit(ExprId index, int64_t argument, int64_t axis);
  Label compute(Value value);
  std::optional<Label> computeRow(arith::SelectOp select);
  Label computeElement(Value source, ValueRange indices);
  /// The number of the stage's label from which on that of a tile begins.
  static unsigned getOffset(PipelineType ring, StringRef name);
  static unsigned getNumParts(FragmentType type);

  void walkCopy(Operation *op);
  /// Requires that all CTAs along the axis copy the same box.
  void requireMulticast(const Label &box, ClusterAxis axis);
  /// The label of the product of two tiles.
  Label getProduct(ArrayRef<ExprId> a, ArrayRef<ExprId> b, int64_t elements);
  /// The product is added to one with this label, if the condition holds.
  void accumulate(MutableArrayRef<ExprId> product, ArrayRef<ExprId> accumulated,
                  ExprId condition);
  void walkMma(MmaOp mma);
  void walkWarpgroupMma(WarpgroupMmaOp mma);
  void walkPromote(PromoteOp promote);
  void walkScales(PromoteOp promote, ArrayRef<ExprId> product);
  void walkAddend(Operation *op);
  void walkStore(StoreOp store);
  void walkShuffle(gpu::ShuffleOp shuffle);
  void walkReduceScatter(ReduceScatterOp reduce);
  /// The first block of K that this CTA adds up, of those that divide K, and
  /// how many it has, those behind the end of K included.
  std::pair<ExprId, ExprId> getPartOfK();
  /// How many columns, or rows, of a tile a share of it has, by which those of
  /// the CTAs that divide K lie apart.
  static int64_t getShareExtent(FragmentType share);
  /// Requires that the shares of these CTAs are of one tile: that they are
  /// stored where the number of the CTA says, and nothing else of it.
  void requireShares(FragmentType share, ArrayRef<ExprId> box);
  /// Has the run decide which part of K the CTA has, in front of all else.
  void decidePartOfK();
  /// Requires that what must be the same for all CTAs of a cluster is, in the
  /// role with these statements.
  void requireUniform(::fp8::proof::Block &body);
  /// The number of blocks that K has.
  ExprId getBlocks(Operation *op);
  ExprId getBlocks() { return getBlocks(kernel.sites[site]); }
  /// The variable that is 1 while there is a sum to be stored.
  ExprId getUnstored();
  void setUnstored(int64_t value);
  /// Gives the variables of a stage's label new values, from `offset` on.
  void write(Value stage, unsigned offset, ArrayRef<ExprId> label);

  KernelSkeleton &kernel;
  const ComputedGemm &gemm;
  ::fp8::proof::ExprTable &table;
  ProcessExpressions &expressions;
  ClusterShape cluster;
  llvm::DenseMap<Value, Label> known;
  std::optional<ExprId> unstored;
  /// What must be the same for all CTAs of a cluster, and for which op.
  SmallVector<std::pair<unsigned, ExprId>> uniform;
  /// Of the op that is walked.
  unsigned site = 0;
  ::fp8::proof::Block *out = nullptr;
};

} // namespace mlir::fp8

#endif // FP8_LIB_PROOF_PROVENANCE_H
