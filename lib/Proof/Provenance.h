// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the values of a role are, in terms of the GEMM that a kernel computes.

#ifndef FP8_LIB_PROOF_PROVENANCE_H
#define FP8_LIB_PROOF_PROVENANCE_H

#include "IntegerRanges.h"
#include "Labels.h"
#include "fp8/IR/ComputedGemm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/ADT/DenseSet.h"

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
/// columns of the residual are added, and whether the bias is; what was
/// computed of it. Then of each part which elements along K are added up: from
/// `First` to before `Next`.
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
  Applied,
  First,
  Next,
  Size
};
/// What was computed of a sum, last.
enum : int64_t { kNoFunction, kFunction, kOutputScale };
} // namespace sum

/// The operand of what nobody has filled.
inline constexpr int64_t kNothing = -1;

/// Labels that say what values are.
///
/// That of a tile in shared memory says which rows and columns of which operand
/// it holds; that of an accumulator or of a fragment, which rows and columns of
/// the result it is of, and which elements along K it has added up. Stages have
/// the labels of their tiles.
class Provenance : public Labels {
public:
  Provenance(KernelSkeleton &kernel, const ComputedGemm &gemm,
             ProcessExpressions &expressions, ClusterShape cluster,
             IntegerRanges &ranges)
      : Labels(kernel, expressions), gemm(gemm), cluster(cluster),
        ranges(ranges) {}

  /// Says which extents of the kernel's arguments are the same number, since
  /// they are of the same axis of the GEMM.
  void tieExtents(FunctionOpInterface function);

  /// Finds out which tiles other roles fill in the slots that this one fills.
  /// Returns one that this role fills, too, if there is one.
  std::optional<StringRef> findProducers(RoleOp role);

  unsigned getSize(Type type) const override;
  bool sets(Type stage, unsigned entry) const override;
  /// The CTAs of a pair fill their own tiles, and read their own accumulators;
  /// the leading one reads the tiles of both.
  unsigned getFirstField(Type stage) const override;
  bool follows(Operation *op) const override { return findRule(op); }
  SmallVector<Value> getIntegers(Operation *op) const override;
  void finish(unsigned site, ::fp8::proof::Block &body) override;

private:
  int64_t getNothing() const override { return kNothing; }
  void walkOp(Operation *op) override;

  using Rule = std::function<void(Provenance &, Operation *)>;
  /// What walks ops of that kind; null if they have no rules.
  static const Rule *findRule(Operation *op);

  ExprId add(ExprId a, ExprId b) { return table.get(Expr::Add, {a, b}); }
  ExprId isNot(ExprId a, ExprId b) {
    return table.get(Expr::Not, {equal(a, b)});
  }
  ExprId offset(ExprId a, int64_t by) { return add(a, constant(by)); }
  ExprId scale(ExprId a, int64_t factor) {
    return factor == 1 ? a : table.get(Expr::Multiply, {a, constant(factor)});
  }
  /// That the label is of a tile of the operand.
  void requireOperand(ArrayRef<ExprId> tile, gemm::Operand operand,
                      const Twine &what);

  /// Requires that a sum lies where `place` says, and sets its place.
  void place(Label &sum, std::optional<ExprId> batch, std::optional<ExprId> m,
             ExprId n, const Twine &what);
  /// The label of a box of an argument of the kernel, whose first element has
  /// these indices. A select of the two maps of an operand is a map, too.
  Label getBox(Value argument, ValueRange indices);
  /// Requires that a box of an operand that has a map for the rows of the first
  /// tiles is copied by it there, and there alone. The box has so many rows.
  void requireMapOfTile(Value map, const Label &box, int64_t rows);
  /// Whether the map is that of the rows of the first tiles.
  ExprId isOfFirstTiles(Value map);
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
  Label compute(Value value) override;
  std::optional<Label> computeRow(arith::SelectOp select);
  Label computeElement(Value source, ValueRange indices);
  /// The number of the stage's label from which on that of a tile begins.
  static unsigned getOffset(PipelineType ring, StringRef name);
  static unsigned getNumParts(FragmentType type);
  /// A row of few elements, which are copied one by one, has a label for each;
  /// of the elements of a longer row nothing is known. A tile has one label.
  static bool hasElements(TileType tile);
  static unsigned getNumElements(TileType tile);

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
  /// The tiles of scales of that CTA of a pair, which the MMA applies itself.
  void walkTilesOfScales(MmaOp mma, unsigned half, ArrayRef<ExprId> product);
  void walkRead(ReadOp read);
  /// Requires that nothing but products is added up, and nothing computed.
  void requireBare(ArrayRef<ExprId> product);
  /// Requires that nothing was computed of the sum.
  void requireIncomplete(ArrayRef<ExprId> label);
  /// Requires that the sum is scaled, if the kernel takes scales.
  void requireScales(ArrayRef<ExprId> label, const Twine &what);
  void walkAddend(Operation *op);
  void requireFactor(AddTileOp add);
  /// True if the value is a load of beta.
  bool isBeta(Value value);
  std::optional<ExprId> isBetaZero(arith::CmpFOp compared);
  /// Whether a condition of the role says that beta is 0.
  ExprId mayLackResidual(RoleOp role);
  /// Requires that the residual was added to as many columns as it has to be.
  void requireResidual(StoreOp store, ExprId columns);
  void walkMap(MapOp map);
  void requireExisting(ExprId k, ExprId exists);
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

  const ComputedGemm &gemm;
  ClusterShape cluster;
  IntegerRanges &ranges;
  /// Rings, and their tiles that other producers fill.
  llvm::DenseSet<std::pair<Type, StringRef>> filledByOthers;
  std::optional<ExprId> unstored;
  /// What must be the same for all CTAs of a cluster, and for which op.
  SmallVector<std::pair<unsigned, ExprId>> uniform;
};

} // namespace mlir::fp8

#endif // FP8_LIB_PROOF_PROVENANCE_H
