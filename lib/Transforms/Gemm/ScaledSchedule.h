// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The schedule where tensor cores apply the scales (UE8M0, MXFP8): tiles of
// scales come with A and B, sums stay in tensor memory over all of K, and the
// epilogue role reads each once.

#ifndef FP8_LIB_TRANSFORMS_GEMM_SCALEDSCHEDULE_H
#define FP8_LIB_TRANSFORMS_GEMM_SCALEDSCHEDULE_H

#include "TensorMemorySchedule.h"

namespace mlir::fp8 {

class ScaledSchedule : public TensorMemorySchedule {
public:
  using TensorMemorySchedule::TensorMemorySchedule;

  /// The MMA has 128 rows for each CTA.
  bool swapsOperands() const final { return ctaGroup == 1 && tileM < kMmaRows; }
  /// Its accumulators have columns for the scales of each slot of the input
  /// ring.
  OutputPipelineType getAccumulatorRing() const final;
  PipelineType getInputRing() const final;
  bool hasScaleRing() const final { return false; }
  int64_t getScaleGroup() const final { return 1; }
  bool hasWholeGroups() const final { return false; }
  bool spills() const final { return false; }
  void buildMma(const KernelBuilder &base, ValueRange ends) const final;
  void buildEpilogue(const KernelBuilder &base, ValueRange ends) const final;

private:
  LogicalResult fit(BlockwiseGemmOp op, const chip::Chip &chip) final;
  LogicalResult checkMma(BlockwiseGemmOp op,
                         const chip::Chip &chip) const final;
  LogicalResult checkEdge(BlockwiseGemmOp op) const final;
  std::pair<int64_t, int64_t> getRingSpace() const final;
  void describe(tuning::KernelShape &shape) const final;
  /// Another slot of the input ring gains more than to stage a part of the tile
  /// while another is copied out (benchmark/notes/blackwell.md).
  int64_t getStoreDepth() const final { return 1; }
  /// Makes both rings fit tensor memory, whose columns they share.
  LogicalResult chooseColumns(BlockwiseGemmOp op, const chip::Chip &chip);
};

} // namespace mlir::fp8

#endif // FP8_LIB_TRANSFORMS_GEMM_SCALEDSCHEDULE_H
