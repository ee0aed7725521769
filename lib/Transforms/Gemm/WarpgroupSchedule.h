// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The schedule for chips whose warpgroups multiply into registers, where they
// add up and scale the products, too.

#ifndef FP8_LIB_TRANSFORMS_GEMM_WARPGROUPSCHEDULE_H
#define FP8_LIB_TRANSFORMS_GEMM_WARPGROUPSCHEDULE_H

#include "GemmSchedule.h"

namespace mlir::fp8 {

class WarpgroupSchedule : public GemmSchedule {
public:
  using GemmSchedule::GemmSchedule;

  static void addCandidates(const CandidateSink &add, const chip::Chip &chip,
                            const GemmExtents &extents);

  /// The product that warpgroups compute at a time: 64 rows each, or columns.
  FragmentType getProduct() const;
  /// True if the next product is started before one is promoted: there is only
  /// one warpgroup, and its threads have registers for both.
  bool holdsTwoProducts() const;
  /// True if columns of D are the rows of an MMA, for the tile does not have
  /// whole MMAs of rows.
  bool swapsOperands() const final { return tileM % 64 != 0; }
  bool mayFitRows() const final { return true; }

  /// In kernels that signal behind their wait: after a later signal no time is
  /// left for it (benchmark/notes/programmatic.md).
  bool loadsEarly() const final { return signalsAtWait; }
  /// True if the role that multiplies may start before the kernels in front
  /// have ended, too. Not so in two warpgroups with few columns: they read the
  /// most from L2, which answers CTAs that run in step together
  /// (benchmark/notes/programmatic.md).
  bool mayMultiplyEarly() const;
  /// True if it does: a role of its own then waits for these kernels.
  bool multipliesEarly() const { return loadsEarly() && mayMultiplyEarly(); }
  /// Two warpgroups share all tiles but the smallest, or three those of 192
  /// rows, so that one promotes while another multiplies.
  int64_t getEpilogueWarps() const final;
  int64_t getNumWarps() const final;
  FragmentType getFragment() const final;
  /// With the scales that TMA or a thread brings.
  PipelineType getInputRing() const final;
  bool hasScaleRing() const final { return false; }
  /// B scales must be as wide as the elements that threads can copy. To bring
  /// them saves their loads at the start of a tile; 256x128, 128x192, 128x160
  /// and 128x64 lost by it on an H200 (benchmark/NOTES.md).
  bool bringsBScales() const final;
  /// True if products start before their B scales are asked for, and a tile
  /// begins with its first product: where it lies is found behind the start.
  /// That takes a copy of the body for the first step, which CTAs with few
  /// tiles, and so small ones, lose more by fetching (benchmark/NOTES.md);
  /// beside a residual ptxas spills.
  bool startsFirst() const;
  int64_t getScaleGroup() const final {
    return problem.hasColumnScales() ? 1 : 8;
  }
  bool hasWholeGroups() const final;
  TileType getStoreTile() const final;
  /// Neighbours share rows of A in tiles of 256 rows (measured:
  /// benchmark/notes/order.md).
  bool hasBandsOfColumns() const final;
  int64_t getBand() const final;
  void buildRoles(const KernelBuilder &base) const final;
  bool spills() const final;

private:
  LogicalResult fit(BlockwiseGemmOp op, const chip::Chip &chip) final;
  int64_t getOwnedColumns() const final { return getStoredColumns(); }
  int64_t getStoreDepth() const final;
  int64_t getScaleBlocks() const final { return 1; }
  void describe(tuning::KernelShape &shape) const final;
  std::pair<int64_t, int64_t> getRingSpace() const final;
  int64_t getRingGaps(int64_t slots) const final;

  /// True if each tile begins with a load of its B scales, for which all wait.
  bool asksForBScales() const;
  /// The tile with the B scales of a K block, in the input ring.
  TileType getBScalesTile() const;
  /// As many K blocks a slot as hide the start of one product behind the
  /// promotion of another, as long as there are the slots that are pinned, or
  /// slots enough to hide the copies.
  void chooseKGroup(const chip::Chip &chip);
};

} // namespace mlir::fp8

#endif // FP8_LIB_TRANSFORMS_GEMM_WARPGROUPSCHEDULE_H
