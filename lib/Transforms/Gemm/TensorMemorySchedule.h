// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The schedule for chips with tensor memory: one warp starts the products
// there, and an epilogue role reads them, scales them and adds them up.
// ScaledSchedule has what differs where the tensor cores apply the scales.

#ifndef FP8_LIB_TRANSFORMS_GEMM_TENSORMEMORYSCHEDULE_H
#define FP8_LIB_TRANSFORMS_GEMM_TENSORMEMORYSCHEDULE_H

#include "GemmSchedule.h"

namespace mlir::fp8 {

class TensorMemorySchedule : public GemmSchedule {
public:
  using GemmSchedule::GemmSchedule;

  static void addCandidates(const CandidateSink &add, const chip::Chip &chip,
                            const GemmExtents &extents);

  /// A tile M below 128 that is no multiple of 64, the rows of an MMA, swaps
  /// the operands; so does K that CTAs divide, since they exchange such sums.
  bool swapsOperands() const override;
  virtual OutputPipelineType getAccumulatorRing() const;
  /// The ring of scales, "a_scale" and perhaps "b_scale", those of a group of K
  /// blocks a slot. Threads read them, so it is never shared by CTAs.
  PipelineType getScaleRing() const;

  /// Each warp owns a quarter of the rows; two share them where one had more
  /// sums than registers.
  int64_t getEpilogueWarps() const final;
  int64_t getNumWarps() const final;
  FragmentType getFragment() const final;
  PipelineType getInputRing() const override;
  bool hasScaleRing() const override { return true; }
  /// About eight, and laps of the ring of accumulators, so that each block of a
  /// group has a slot of its own. B scales for each column come one by one.
  int64_t getScaleGroup() const override;
  bool hasWholeGroups() const override;
  TileType getStoreTile() const final;
  void buildRoles(const KernelBuilder &base) const final;
  bool spills() const override;
  /// The roles between the rings: the one that multiplies, and the one that
  /// adds up and stores.
  virtual void buildMma(const KernelBuilder &base, ValueRange ends) const;
  virtual void buildEpilogue(const KernelBuilder &base, ValueRange ends) const;

protected:
  LogicalResult fit(BlockwiseGemmOp op, const chip::Chip &chip) override;
  int64_t getOwnedColumns() const final;
  int64_t getStoreDepth() const override;
  int64_t getScaleBlocks() const final { return getScaleGroup(); }
  void describe(tuning::KernelShape &shape) const override;
  std::pair<int64_t, int64_t> getRingSpace() const override;

  /// The rows of the largest MMA of a CTA. Tiles of fewer may have their
  /// operands swapped.
  static constexpr int64_t kMmaRows = 128;
  /// The rows and columns of the MMA: those of the tile or, if operands are
  /// swapped, its columns and rows.
  std::pair<int64_t, int64_t> getMmaShape() const {
    return swapsOperands() ? std::pair(tileN, tileM) : std::pair(tileM, tileN);
  }

  /// What one MMA computes.
  virtual LogicalResult checkMma(BlockwiseGemmOp op,
                                 const chip::Chip &chip) const;
  /// The same where its rows are columns of the result.
  LogicalResult checkSwapped(BlockwiseGemmOp op, const chip::Chip &chip) const;
  /// The threads that read tensor memory touch rows in chunks of 16 bytes, each
  /// chunk by one thread.
  LogicalResult checkChunks(BlockwiseGemmOp op) const;
  /// Makes the ring of accumulators as deep as it is pinned, or tensor memory
  /// allows.
  LogicalResult chooseAccumulators(BlockwiseGemmOp op, const chip::Chip &chip);

private:
  bool sharesRows() const { return getEpilogueWarps() > 4; }
};

} // namespace mlir::fp8

#endif // FP8_LIB_TRANSFORMS_GEMM_TENSORMEMORYSCHEDULE_H
