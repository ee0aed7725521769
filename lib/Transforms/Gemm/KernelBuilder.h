// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the roles of a GEMM's structured kernel are built with.

#ifndef FP8_LIB_TRANSFORMS_GEMM_KERNELBUILDER_H
#define FP8_LIB_TRANSFORMS_GEMM_KERNELBUILDER_H

#include "GemmSchedule.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::fp8 {

class WarpgroupSchedule;

/// Writes role regions, scopes and loops over ends. A body gets the arguments
/// of its region and returns what the region yields.
class KernelBuilder {
public:
  using Carried = SmallVector<Value>;
  using Body = function_ref<Carried(ValueRange)>;
  using TileBody =
      function_ref<Carried(Value row, Value column, ValueRange carried)>;
  using BlockBody = function_ref<Carried(Value block, ValueRange carried)>;
  using GroupBody =
      function_ref<Carried(Value first, Value count, ValueRange carried)>;

  KernelBuilder(OpBuilder &builder, Location loc, const GemmSchedule &schedule,
                gpu::GPUFuncOp kernel)
      : builder(builder), loc(loc), schedule(schedule), kernel(kernel) {}

protected:
  /// The producer ends, then the consumer ends.
  ResultRange makeRing(PipelineType ring, int64_t consumers,
                       int64_t producers = 1);
  /// The rings with the bias and the residual: their producer ends, and adds
  /// the consumer ends to `epilogue`.
  SmallVector<Value> makeAddendRings(SmallVectorImpl<Value> &epilogue);

  Value constant(int64_t value);
  Value scaled(Value tile, int64_t extent);
  /// The place of a row and a column in an operand: with that of the tile's
  /// matrix before them, in a batch.
  SmallVector<Value> place(Value row, Value column);
  /// The tile of an operand's scales that has the first row of the operand that
  /// the tile in a row, or column, of the grid takes; and that row's place
  /// there, null if it is the first.
  std::pair<Value, Value> getFirstScales(gemm::Operand scales, Value tile);
  /// The first row of A, and of D, of the tile in a row of the grid.
  Value getTileRow(Value row);
  /// The map of C or D for the tile that begins in row `m`: the rows that the
  /// first tile shares with the next are the next one's.
  Value getMapOfTile(gemm::Operand operand, Value m);
  /// The kernel's argument for a parameter that the problem has.
  Value argument(GemmParameter parameter);

  /// The K blocks that this CTA adds up: the first, and how many. All of them,
  /// or a share where several CTAs divide K: a multiple of getBlockMultiple(),
  /// but for what lies behind the end of K.
  std::pair<Value, Value> getBlocks();
  Value getNumBlocks() { return getBlocks().second; }
  /// The first row and column of D that this CTA stores of the tile that begins
  /// in row `m`, in a column of the grid.
  std::pair<Value, Value> getStoredPlace(Value m, Value column);

  void role(StringRef name, int64_t warps, ValueRange inits, Body body);
  /// The role "mma": its warp, the first of `carried`, runs the body for each
  /// tile; in a pair only in the leading CTA.
  void mmaRole(ValueRange inits, TileBody body);
  /// The kernel's loop over output tiles, in clusters and bands as planned. The
  /// last of `inits` is the end of the work queue, if there is one.
  Carried forEachTile(ValueRange inits, TileBody body);
  /// The loop over the K blocks of a tile.
  Carried forEachBlock(ValueRange inits, BlockBody body);
  Carried forEach(Value begin, Value end, int64_t step, ValueRange inits,
                  BlockBody body);
  /// The K blocks of a tile in steps, each with a slot of each input ring,
  /// whose ends come first in `inits`. Where the schedule divides steps, the
  /// blocks that are left over come first; the body gets the ends of the rings
  /// that have them, as many as there are blocks.
  Carried forEachStep(ValueRange inits, BlockBody body);
  /// The groups of K blocks of a tile whose scales share a slot. One of them
  /// may have fewer blocks than the others: the first, where the schedule has
  /// whole groups, whose number of blocks is then a constant; else the last.
  Carried forEachGroup(ValueRange inits, GroupBody body);
  /// What the body yields if the condition holds, else `inits`.
  Carried ifThen(Value condition, ValueRange inits, Body body);
  Carried ifThenElse(Value condition, function_ref<Carried()> body,
                     function_ref<Carried()> otherwise);
  Carried inLeadingCta(CtaGrouping grouping, ValueRange inits, Body body);
  /// The number that an operand holds; null if the problem has no such operand.
  Value loadNumber(gemm::Operand operand);
  /// Runs the body unless the factor is 0, when `inits` pass. The body gives
  /// values of their types back. Without a factor it always runs.
  Carried unlessZero(Value factor, ValueRange inits, Body body);
  /// A scoped op over `inits`.
  template <typename ScopeOp>
  Carried scope(ValueRange inits, ArrayRef<Type> argumentTypes,
                ArrayRef<Type> resultTypes, Body body) {
    return fillBody(ScopeOp::create(builder, loc, resultTypes, inits),
                    argumentTypes, body);
  }
  /// A scope that acquires a stage of each end; the body yields values of
  /// `extraTypes`.
  template <typename ScopeOp>
  Carried stageScope(ValueRange ends, ArrayRef<Type> extraTypes, Body body) {
    SmallVector<Type> resultTypes(ends.getTypes());
    llvm::append_range(resultTypes, extraTypes);
    return scope<ScopeOp>(ends, getStageTypes(ends), resultTypes, body);
  }
  /// The output pipeline of an end.
  static OutputPipelineType getOutputRing(Value end) {
    return cast<OutputPipelineType>(
        cast<EndTypeInterface>(end.getType()).getRing());
  }
  /// Gives the op its body. Returns the op's results.
  Carried fillBody(Operation *op, TypeRange argumentTypes, Body body);

  OpBuilder &builder;
  Location loc;
  const GemmSchedule &schedule;
  gpu::GPUFuncOp kernel;
  /// In the loop over the tiles of a batch: the matrix that the tile is of.
  Value batch;

private:
  static SmallVector<Type> getStageTypes(ValueRange ends);
};

/// What a load role brings, with the scales that share their rings.
enum class Factors { Both, A, B };

/// Ends are passed in the order that is listed at the top of each role's file.
void buildLoadRole(const KernelBuilder &base, ValueRange ends,
                   Factors factors = Factors::Both);
void buildMmaRole(const KernelBuilder &base, ValueRange ends);
void buildEpilogueRole(const KernelBuilder &base, ValueRange ends);
void buildMultiplyRole(const KernelBuilder &base,
                       const WarpgroupSchedule &schedule, ValueRange ends);
void buildSchedulerRole(const KernelBuilder &base, ValueRange ends);
void buildEpilogueLoadRole(const KernelBuilder &base, ValueRange ends);

/// Stores the sums of the tile in a row and a column of the grid, after what
/// else the op does with them. Takes and advances the store queue, the ends of
/// the rings that the epilogue load role fills, and the exchange, if CTAs
/// divide K.
void buildEpilogueTail(const KernelBuilder &base, Value sums, Value row,
                       Value column, MutableArrayRef<Value> ends);

} // namespace mlir::fp8

#endif // FP8_LIB_TRANSFORMS_GEMM_KERNELBUILDER_H
