// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The schedule for chips whose warpgroups multiply into registers.

#include "WarpgroupSchedule.h"
#include "Candidates.h"
#include "PtxasLimits.h"
#include "fp8/Analysis/KernelPlan.h"
#include "fp8/Chip/Machine.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fp8;

/// Rows of an MMA, and of a warpgroup's product.
static constexpr int64_t kMmaRows = 64;
/// Rows of the largest tile. Each warpgroup has two products of it.
static constexpr int64_t kMostTileRows = 256;
/// Rows of the tiles of three warpgroups, a product each.
static constexpr int64_t kThreeProductRows = 3 * kMmaRows;

/// True if each of several warpgroups has one product of a tile of such rows.
static bool dealsOneProduct(int64_t tileM) {
  return tileM == 2 * kMmaRows || tileM == kThreeProductRows;
}

/// True if the ring can bring the B scales of a tile of several warpgroups.
static bool mayBringBScales(int64_t tileM, int64_t tileN) {
  return dealsOneProduct(tileM) && tileN > 64 && tileN <= 128;
}

/// False for tiles that lost on all shapes: of three warpgroups with few
/// columns (benchmark/notes/large-m.md).
static bool isCandidate(int64_t tileM, int64_t tileN) {
  constexpr int64_t kLeastColumns = 48;
  return tileM != kThreeProductRows || tileN >= kLeastColumns;
}

/// Up to so many rows of tiles of 256 rows are numbered down the columns, so
/// that CTAs side by side share B. More are numbered along the rows, and share
/// A (benchmark/notes/order.md).
static constexpr int64_t kFewRowsOfTiles = 6;

static GemmConfig makeCandidate(int64_t tileM, int64_t tileN,
                                ClusterShape cluster = {}) {
  GemmConfig config;
  config.tileM = tileM;
  config.tileN = tileN;
  config.cluster = cluster;
  return config;
}

void WarpgroupSchedule::addCandidates(const CandidateSink &add,
                                      const chip::Chip &chip,
                                      const GemmExtents &extents) {
  // 112, 144 and 176 make whole waves of N of 7, 9 and 11 x 2^k.
  SmallVector<int64_t> tileNs = Candidates::getTileNs();
  tileNs.append({112, 144});
  for (int64_t tileM :
       {kMmaRows, 2 * kMmaRows, kThreeProductRows, kMostTileRows}) {
    SmallVector<int64_t> columnsOfTiles(tileNs);
    if (tileM == 2 * kMmaRows)
      columnsOfTiles.push_back(176);
    for (int64_t tileN : columnsOfTiles) {
      if (!isCandidate(tileM, tileN))
        continue;
      GemmConfig config = makeCandidate(tileM, tileN);
      // The ring costs time in each block, and lanes that load their first
      // scales cost it in each tile. With many waves they lose more
      // (benchmark/notes/streams.md).
      constexpr int64_t kManyBlocks = 16, kManyRows = 2048;
      config.lanesLoadBScales = tileM == 128 && tileN >= 96 && tileN <= 128 &&
                                extents.k >= kManyBlocks * gemm::kScaleBlock &&
                                extents.m <= kManyRows;
      // Of three warpgroups short loops gain by the ring, mostly
      // (benchmark/notes/large-m.md).
      constexpr int64_t kManyBlocksOfThree = 32;
      if (tileM == kThreeProductRows && mayBringBScales(tileM, tileN))
        config.lanesLoadBScales =
            extents.k >= kManyBlocksOfThree * gemm::kScaleBlock ||
            extents.m > kManyRows;
      // 256 bytes of a row are two K blocks. Where rows of tiles read B again
      // from L2, memory need not be read ahead (benchmark/notes/large-m.md).
      if (tileM > kMmaRows && extents.m > tileM && extents.m <= kManyRows)
        config.l2Promotion = 128;
      if (tileM == kMostTileRows && tileN == 128 && extents.m > tileM &&
          extents.m <= kFewRowsOfTiles * tileM)
        config.band = 1;
      // Where columns of tiles are few, those at work at a time are whole rows
      // (benchmark/notes/order.md).
      constexpr int64_t kMostRows = 16;
      int64_t columns =
          std::max<int64_t>(llvm::divideCeil(extents.n, tileN), 1);
      int64_t rows = chip.machine->multiprocessors / columns;
      if (dealsOneProduct(tileM) && rows > kBand && rows <= kMostRows &&
          extents.m > rows * tileM)
        config.band = rows;
      // A band of all rows reads B once. It gains in products of 60 us and more
      // whose rows of A stay in L2 (benchmark/notes/order.md).
      constexpr int64_t kManyColumns = 32, kMostK = 8192;
      constexpr double kLongProducts = 4e10;
      int64_t rowsOfTiles = llvm::divideCeil(extents.m, tileM);
      if (dealsOneProduct(tileM) && extents.batch == 1 &&
          columns >= kManyColumns && extents.k <= kMostK &&
          double(extents.m) * extents.n * extents.k >= kLongProducts &&
          rowsOfTiles > kBand && rowsOfTiles <= kOneBand)
        config.band = kOneBand;
      add(config);
    }
  }
  // Clusters gain where the power limit holds, for less is read from L2. They
  // lose in small products. Where K is short, which L2 should limit, smaller
  // ones gain (benchmark/notes/order.md).
  constexpr double kManyProducts = 6e10, kManyOfShort = 1.5e10;
  constexpr int64_t kSomeBlocks = 8, kFewBlocks = 4;
  const double products = double(extents.m) * extents.n * extents.k;
  const int64_t blocks = extents.k / gemm::kScaleBlock;
  const bool isShort = blocks < kSomeBlocks;
  if (blocks >= kFewBlocks &&
      products >= (isShort ? kManyOfShort : kManyProducts)) {
    GemmConfig config = makeCandidate(kMostTileRows, 128, {1, 2});
    if (isShort && extents.m <= kFewRowsOfTiles * kMostTileRows)
      config.band = 1;
    add(config);
  }
  // Seven gained nothing anywhere (benchmark/notes/small-m.md).
  constexpr int64_t kDivisors[] = {2, 3, 4, 5, 6, 8};
  Candidates candidates(add, chip, extents, kDivisors);
  for (int64_t tileM : {kMmaRows, 2 * kMmaRows, kThreeProductRows})
    for (int64_t tileN : tileNs)
      if (isCandidate(tileM, tileN))
        candidates.addDivided(tileM, tileN);
  // CTAs that divide K want eight rows each.
  constexpr int64_t kRowsOfTwo = 16;
  candidates.addSwapped({64, 128, 192, 256}, kRowsOfTwo);
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

int64_t WarpgroupSchedule::getEpilogueWarps() const {
  if (tileM == kThreeProductRows)
    return 12;
  // Swapped, they share the columns.
  bool isShared =
      tileM > kMmaRows && (!swapsOperands() || tileN % (2 * kMmaRows) == 0);
  return isShared ? 8 : 4;
}
bool WarpgroupSchedule::mayMultiplyEarly() const {
  bool hasTwoWarpgroups = getEpilogueWarps() == 8;
  return !hasTwoWarpgroups || swapsOperands() || tileN > kMmaRows ||
         cluster.k > 1;
}
int64_t WarpgroupSchedule::getNumWarps() const {
  int64_t load = 1 + loadsEarly(), wait = multipliesEarly();
  int64_t warps = getEpilogueWarps() + load + wait + problem.hasAddends();
  // Three warpgroups deal registers out, and so are whole.
  return warps > 8 ? llvm::alignTo(warps, 4) : warps;
}
FragmentType WarpgroupSchedule::getFragment() const {
  return FragmentType::get(getContext(), {getCtaRows(), tileN},
                           Float32Type::get(getContext()), getEpilogueWarps(),
                           swapsOperands() ? FragmentLayout::WarpgroupColumns
                                           : FragmentLayout::Warpgroups);
}
FragmentType WarpgroupSchedule::getProduct() const {
  return getFragment().withExtent(/*axis=*/swapsOperands(),
                                  16 * getEpilogueWarps());
}
bool WarpgroupSchedule::holdsTwoProducts() const {
  // Two warpgroups hide the start of one's product behind the other's.
  return getEpilogueWarps() == 4 &&
         ptxas::holdsTwoProducts(getFragment().getColumnsPerThread(),
                                 getProduct().getColumnsPerThread());
}
bool WarpgroupSchedule::spills() const {
  int64_t sums = getFragment().getColumnsPerThread(),
          product = getProduct().getColumnsPerThread();
  if (tileM == kThreeProductRows)
    return ptxas::spillsProductsOfThree(sums, product, problem);
  return ptxas::spillsProducts(
      sums, product, /*products=*/holdsTwoProducts() ? 2 : 1, tileN,
      /*straddles=*/getNumBScales() > 1 && !swapsOperands());
}
void WarpgroupSchedule::describe(tuning::KernelShape &shape) const {
  shape.warpgroups = getEpilogueWarps() / 4;
  shape.swapped = swapsOperands();
  shape.overlaps = holdsTwoProducts();
  shape.mayMultiplyEarly = mayMultiplyEarly();
  shape.storeColumns = getStoreTile().getColumns();
  shape.asksForBScales = asksForBScales();
  // Swapped, the columns of D are those of different products. Else no block
  // in the loop selects scales if it has copies (--fp8-unswitch-scales).
  if (swapsOperands())
    shape.scaleParts = 1;
  else if (shape.scaleParts > 1 && countScaleEnds() <= ptxas::kMostLoopCopies)
    shape.scaleParts = 2;
}

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

bool WarpgroupSchedule::bringsBScales() const {
  return !lanesLoadBScales && !problem.hasColumnScales() &&
         problem.getElementType(gemm::Operand::BScale).isF32() &&
         (swapsOperands() || tileM == 64 || mayBringBScales(tileM, tileN));
}
bool WarpgroupSchedule::asksForBScales() const {
  return !lanesLoadBScales && !bringsBScales() && !problem.hasColumnScales() &&
         getEpilogueWarps() > 4 && !startsFirst();
}
bool WarpgroupSchedule::startsFirst() const {
  constexpr int64_t kFewSums = 64;
  return getEpilogueWarps() > 4 && cluster.k == 1 &&
         getFragment().getColumnsPerThread() > kFewSums &&
         !problem.has(gemm::Operand::C);
}
TileType WarpgroupSchedule::getBScalesTile() const {
  // Rows of tiles are multiples of 16 bytes.
  return TileType::get(
      getContext(), {1, int64_t(llvm::alignTo(getNumBScales(), 4))},
      problem.getElementType(gemm::Operand::BScale), Swizzle::None);
}
PipelineType WarpgroupSchedule::getInputRing() const {
  SmallVector<StringAttr> names;
  SmallVector<TileType> tiles;
  auto add = [&](gemm::Operand operand, int64_t block, TileType tile) {
    names.push_back(StringAttr::get(getContext(), getTileName(operand, block)));
    tiles.push_back(tile);
  };
  for (int64_t block = 0; block < kGroup; ++block) {
    add(gemm::Operand::A, block, getATile());
    add(gemm::Operand::B, block, getBTile());
    add(gemm::Operand::AScale, block, getAScaleTile());
    if (problem.hasColumnScales())
      add(gemm::Operand::BScale, block, getBScaleTile());
    if (bringsBScales())
      add(gemm::Operand::BScale, block, getBScalesTile());
  }
  return PipelineType::get(getContext(), stages, names, tiles, ctaGroup);
}
bool WarpgroupSchedule::hasWholeGroups() const {
  return getEpilogueWarps() == 4 &&
         ptxas::keepsSumsInTwoLoops(getFragment().getColumnsPerThread(),
                                    getNumBScales(), problem);
}
std::pair<int64_t, int64_t> WarpgroupSchedule::getRingSpace() const {
  return {getFixedSpace(),
          inputRings * KernelPlan::getPayloadBytes(getInputRing()) / stages};
}
int64_t WarpgroupSchedule::getRingGaps(int64_t slots) const {
  int64_t bytes = KernelPlan::getPayloadBytes(getInputRing()) / stages * slots;
  return inputRings *
         (llvm::alignTo(bytes, KernelPlan::kPayloadAlignment) - bytes);
}

//===----------------------------------------------------------------------===//
// D
//===----------------------------------------------------------------------===//

TileType WarpgroupSchedule::getStoreTile() const {
  // What a warp has of a part of a swapped product.
  constexpr int64_t kWarpColumns = 16;
  Type element = problem.getElementType(gemm::Operand::D);
  return swapsOperands() ? getOutputTile(getStoredRows(), element, kWarpColumns)
                         : getOutputTile(kMmaRows, element, getOwnedColumns());
}
int64_t WarpgroupSchedule::getStoreDepth() const {
  // Tiles a warp of the store queue; a warpgroup has up to twice as many. All
  // of the output tile, if that is little: its copies are then read while the
  // next is computed.
  constexpr int64_t kDepth = 2;
  int64_t parts = getFragment().getNumParts();
  if (swapsOperands())
    return std::min(parts, kDepth);
  return std::min(parts * getStoredColumns() / getStoreTile().getColumns(),
                  2 * kDepth);
}
bool WarpgroupSchedule::hasBandsOfColumns() const {
  return tileM == kMostTileRows;
}
int64_t WarpgroupSchedule::getBand() const {
  // Columns of D, where neighbours share rows of A.
  constexpr int64_t kBandColumns = 2048;
  // B's first copy would wait for its divisions. Up to M of 3000 bands lose 1 %
  // (benchmark/notes/programmatic.md).
  if (loadsEarly())
    return 0;
  if (!hasBandsOfColumns())
    return kBand;
  return std::max<int64_t>(kBandColumns / (tileN * cluster.n), 1);
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

void WarpgroupSchedule::chooseKGroup(const chip::Chip &chip) {
  constexpr int64_t kLeastStages = 3;
  kGroup = 1;
  if (!holdsTwoProducts() || problem.hasColumnScales())
    return;
  int64_t least = pinned.stages ? pinned.stages : kLeastStages;
  for (int64_t blocks : {4, 2, 1}) {
    // What comes behind A's first block must not wait for its fourth.
    (loadsEarly() ? inputRings : kGroup) = blocks;
    auto [fixed, perStage] = getRingSpace();
    if (fixed + least * perStage <= chip.sharedMemoryPerCta)
      return;
  }
}

LogicalResult WarpgroupSchedule::fit(BlockwiseGemmOp op,
                                     const chip::Chip &chip) {
  if (cluster.k > 1 && failed(checkSplit(op, chip)))
    return failure();
  if (ctaGroup != 1)
    return emitNoKernel(op, chip) << "cta_group = 2 requires tensor memory, "
                                     "which the chip lacks; set cta_group = 1";
  if (pinned.accumulators)
    return emitNoKernel(op, chip)
           << "'accumulators' requires tensor memory, which the chip lacks; "
              "remove 'accumulators'";
  if (tileM == kThreeProductRows && tileN > ptxas::kMostColumnsOfThree)
    return op.emitOpError()
           << "tile N must be at most " << ptxas::kMostColumnsOfThree
           << " with a tile M of " << tileM
           << ", whose three warpgroups have no registers for an MMA of "
           << tileN << " columns; set tile N to " << ptxas::kMostColumnsOfThree
           << " or less, or tile M to 128";
  if (failed(checkRows(op)))
    return failure();
  chooseKGroup(chip);
  return chooseStages(op, chip);
}
