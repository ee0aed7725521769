// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is chosen about the kernel of a GEMM, and the types that follow from it.

#ifndef FP8_LIB_TRANSFORMS_GEMMPLAN_H
#define FP8_LIB_TRANSFORMS_GEMMPLAN_H

#include "fp8/IR/Fp8.h"
#include "fp8/Chip/Chip.h"

#include "llvm/Support/MathExtras.h"

namespace mlir::fp8 {

/// What the kernel of a GEMM may take.
enum class GemmParameter {
  AMap,      ///< the tensor map of A
  AScaleMap, ///< that of A's scales
  BMap,
  DMap,
  BScale,      ///< the B scales, a memref
  BScaleMap,   ///< the tensor map of B scales for each column
  TilesM,      ///< rows of the grid of tiles
  TilesN,      ///< its columns
  Blocks,      ///< K blocks
  BatchTilesM, ///< of a batch, the rows of the grid that one product takes
  CMap,
  BiasMap,
  Beta, ///< a memref, as `DScale` is
  DScale,
  DRest, ///< D itself, whose rows end within 16 bytes
};

/// What follows the sums; what the op leaves out is null.
struct GemmEpilogue {
  Type residual; ///< the type of C's elements
  Type bias;
  MemRefType beta, scale;
  Block *function = nullptr; ///< of one element, in the op

  /// True if there is something to load for each tile.
  bool hasAddends() const { return residual || bias; }
  /// True if ptxas keeps loads of several addends, or of f32 ones, in flight.
  bool takesManyRegisters() const {
    return (residual && residual.isF32()) || (hasAddends() && function);
  }
  /// True if the sums are stored as they are, but for their type.
  bool isEmpty() const { return !hasAddends() && !scale && !function; }
};

/// Everything that is chosen about a kernel. Extents in elements.
struct GemmPlan {
  int64_t tileM, tileN, tileK; ///< what one MMA computes
  int64_t ctaGroup;            ///< the CTAs that compute it together, 1 or 2
  ClusterShape cluster;
  int64_t stages;       ///< slots of the input pipeline
  int64_t accumulators; ///< stages of the output pipeline
  SchedulerKind scheduler;
  bool programmatic; ///< the kernel may start while the one in front ends
  Type outputType;
  MemRefType bScaleType; ///< as the kernel takes them
  MemRefType restType;   ///< of D, where its rows may end within the 16 bytes
                         ///< that TMA stores whole; else null
  Type aScaleElement = nullptr;
  int64_t bBlock = 128; ///< N columns that share a B scale
  bool isBatch = false; ///< the operands have a batch extent
  GemmEpilogue epilogue = {};
  /// The products are computed in the registers of warpgroups (wgmma), which
  /// promote them too; else in tensor memory, for an epilogue role.
  bool usesWarpgroups = false;
  /// The K blocks of a slot of the input ring. A warpgroup that is alone starts
  /// the next block's product before it promotes the one before.
  int64_t kGroup = 1;

  /// Columns of a row that a thread can sum in its 255 registers beside what it
  /// loads: 192 take 248, 256 spill (ptxas 13.0).
  static constexpr int64_t kMaxSums = 192;
  /// The same where the epilogue takes more registers: 128 spill in one kernel
  /// of ten.
  static constexpr int64_t kMaxSumsBesideMore = 112;
  /// Tiles a warp of the store queue; a warpgroup has up to twice as many.
  static constexpr int64_t kStoreDepth = 2;
  /// Tiles of C, each some columns of the output tile, that are under way. One
  /// bias is: it is the first that the epilogue has done with.
  static constexpr int64_t kResidualStages = 2;
  static constexpr int64_t kBiasStages = 1;
  /// Rows of clusters' tiles that are computed together, for L2: eight rows and
  /// as many columns as that leaves of the chip.
  static constexpr int64_t kBand = 8;
  /// Columns of D, where neighbours share rows of A.
  static constexpr int64_t kBandColumns = 2048;
  /// Answers of cluster launch control under way, and tiles that the scheduler
  /// may be ahead of the load role.
  static constexpr int64_t kWorkStages = 2;
  /// Slots of the ring of scales: the group in use, the next, and one that is
  /// on its way.
  static constexpr int64_t kScaleStages = 3;
  /// Tile M and N of an op without a configuration.
  static constexpr int64_t kDefaultTile = 128;
  /// K elements that share a scale.
  static constexpr int64_t kScaleBlock = 128;
  /// M, N and K stay below this: coordinates are 32-bit (PTX ISA,
  /// cp.async.bulk.tensor).
  static constexpr int64_t kMaxExtent = int64_t(1) << 31;

  /// Chooses what the op's configuration leaves open. Fails with an error at
  /// the op if what it pins does not fit, or not the chip.
  static FailureOr<GemmPlan> choose(BlockwiseGemmOp op, const chip::Chip &chip);

  /// What the kernel takes, in order.
  SmallVector<GemmParameter> getParameters() const;
  Type getParameterType(GemmParameter parameter) const;

  /// The rows of D that one CTA computes.
  int64_t getCtaRows() const { return tileM / ctaGroup; }
  /// True if columns of D are the rows of an MMA, for it has more of them than
  /// the tile has.
  bool swapsOperands() const { return usesWarpgroups && tileM < 64; }
  /// The rows of B that one CTA holds.
  int64_t getCtaColumns() const { return tileN / ctaGroup; }

  TileType getATile() const;
  TileType getBTile() const;
  /// The boxes of the copies: a share of the tile where CTAs copy it for one
  /// another.
  TileType getABox() const;
  TileType getBBox() const;
  bool multicastsA() const;
  bool multicastsB() const;
  TileType getAScaleTile() const;
  /// The K blocks whose scales are loaded, waited for and handed back together:
  /// about eight, and laps of the ring of accumulators, so that each block of a
  /// group has a slot of its own. B scales for each column come one by one.
  int64_t getScaleGroup() const;
  /// True if groups of that many K blocks have a loop of their own, which can
  /// be unrolled, and the rest another. Where one loop adds to the sums, ptxas
  /// keeps more than 128 a thread in place. Two loops keep 128, unless eight
  /// epilogue warps leave 168 registers a thread, an epilogue follows or a tile
  /// has two B scales: ptxas 13.0 spilled in 7 of 60 such kernels.
  bool hasWholeGroups() const;
  /// The B scales of a tile's columns, where each column has its own.
  TileType getBScaleTile() const;
  TileType getStoreTile() const;
  /// The sums that the epilogue keeps in registers.
  FragmentType getFragment() const;
  /// The product that warpgroups compute at a time: 64 rows each, or columns.
  FragmentType getProduct() const;
  /// True if the next product is started before one is promoted: there is only
  /// one warpgroup, and its threads have registers for both.
  bool holdsTwoProducts() const;
  /// The ring of A and B; where warpgroups take both at once, with their
  /// scales.
  PipelineType getInputRing() const;
  /// The name of an operand's tile in that ring, of the `index`th K block of a
  /// slot.
  std::string getTileName(StringRef operand, int64_t index) const {
    return operand.str() + (kGroup > 1 ? std::to_string(index) : "");
  }
  /// The ring of scales, "a_scale" and perhaps "b_scale", those of a group of K
  /// blocks a slot. Threads read them, so it is never shared by CTAs.
  PipelineType getScaleRing() const;
  /// True if cluster launch control hands the tiles out.
  bool isDynamic() const {
    return scheduler == SchedulerKind::ClusterLaunchControl;
  }
  int64_t getNumWarps() const {
    int64_t warps = getEpilogueWarps() + 1 + !usesWarpgroups + isDynamic() +
                    epilogue.hasAddends();
    // Three warpgroups deal registers out, and so are whole.
    return usesWarpgroups && warps > 8 ? llvm::alignTo(warps, 4) : warps;
  }
  /// True if neighbouring clusters share rows of A: where these are the larger
  /// part of what a tile reads (measured: benchmark/NOTES.md).
  bool hasBandsOfColumns() const { return usesWarpgroups && tileM > tileN; }
  int64_t getBand() const {
    if (!hasBandsOfColumns())
      return kBand;
    return std::max<int64_t>(kBandColumns / (tileN * cluster.n), 1);
  }
  /// The columns of a row that a thread can sum.
  int64_t getMostSums() const {
    return epilogue.takesManyRegisters() ? kMaxSumsBesideMore : kMaxSums;
  }
  /// The warps that promote and store. Each owns a quarter of the rows; two
  /// share them where one had more sums than registers. Two warpgroups share
  /// the rows of all tiles but the smallest, so that one promotes while the
  /// other multiplies.
  int64_t getEpilogueWarps() const {
    if (usesWarpgroups)
      return tileM <= 64 ? 4 : 8;
    return getCtaRows() == 128 && tileN > getMostSums() ? 8 : 4;
  }
  OutputPipelineType getAccumulatorRing() const;
  /// The columns of a tile that a CTA stores: where several divide K, each
  /// stores a share, of the rows if the operands are swapped.
  int64_t getStoredColumns() const {
    return swapsOperands() ? tileN : tileN / cluster.k;
  }
  int64_t getStoredRows() const {
    return swapsOperands() ? tileM / cluster.k : getCtaRows();
  }
  /// Where CTAs that divide K exchange their sums.
  ExchangeType getExchange() const;
  StoreQueueType getStoreQueue() const;
  /// Its slots.
  int64_t getStoreDepth() const;
  /// True if the input ring brings B scales that columns share: their elements
  /// are then as wide as those that threads can copy. It saves their loads at
  /// the start of a tile; 256x128, 128x192, 128x160 and 128x64 lost by it on
  /// an H200 (benchmark/NOTES.md).
  bool bringsBScales() const {
    return usesWarpgroups && !hasColumnScales() &&
           bScaleType.getElementType().isF32() &&
           (tileM <= 64 || (tileM == 128 && tileN > 64 && tileN <= 128));
  }
  /// The tile with the B scales of a K block, in the input ring.
  TileType getBScalesTile() const;
  /// True if each column has a B scale of its own, which TMA brings.
  bool hasColumnScales() const { return bBlock == 1; }
  /// All stored rows of some columns of C, and all columns of the bias.
  TileType getResidualTile() const;
  TileType getBiasTile() const;
  /// The rings with the bias and the residual, as far as there are such.
  SmallVector<PipelineType> getAddendRings() const;
  /// The blocks of B scales that a tile's columns can fall into: it starts at
  /// any multiple of tile N, so up to b_block - gcd(tile N, b_block) columns
  /// into the first.
  int64_t getNumBScales() const;
  /// The first axis of the matrices of a memref, after that of the batch.
  int64_t getMatrixAxis() const { return isBatch; }
};

} // namespace mlir::fp8

#endif // FP8_LIB_TRANSFORMS_GEMMPLAN_H
