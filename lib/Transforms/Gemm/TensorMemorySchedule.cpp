// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The schedule for chips with tensor memory.

#include "TensorMemorySchedule.h"
#include "Candidates.h"
#include "PtxasLimits.h"
#include "fp8/Analysis/KernelPlan.h"
#include "fp8/IR/RegisterLayout.h"

using namespace mlir;
using namespace mlir::fp8;

/// Slots of the ring of scales: the group in use, the next, and one that is on
/// its way.
static constexpr int64_t kScaleStages = 3;

static GemmConfig makeCandidate(int64_t tileM, int64_t tileN, int64_t ctaGroup,
                                ClusterShape cluster) {
  GemmConfig config;
  config.tileM = tileM;
  config.tileN = tileN;
  config.ctaGroup = ctaGroup;
  config.cluster = cluster;
  return config;
}

void TensorMemorySchedule::addCandidates(const CandidateSink &add,
                                         const chip::Chip &chip,
                                         const GemmExtents &extents) {
  for (int64_t group : {1, 2})
    for (int64_t tileM : {64, 128, 256})
      for (int64_t tileN : Candidates::getTileNs())
        for (auto [rows, n] : {std::pair(1, 1), {2, 1}, {1, 2}, {2, 2}}) {
          int64_t m = rows * group;
          // No cluster is wider than the result.
          bool isWider = (m > group && extents.m <= tileM / group * (m - 1)) ||
                         (n > 1 && extents.n <= tileN * (n - 1));
          if (tileM >= 64 * group && !isWider)
            add(makeCandidate(tileM, tileN, group, {m, n, 1}));
        }
  constexpr int64_t kDivisors[] = {2, 4, 8};
  Candidates candidates(add, chip, extents, kDivisors);
  for (int64_t tileN : {64, 128})
    candidates.addDivided(64, tileN);
  // Tensor cores apply the scales of 32 rows at a time.
  constexpr int64_t kRowsOfScales = 32;
  candidates.addSwapped({64, 128}, kRowsOfScales);
}

bool TensorMemorySchedule::swapsOperands() const {
  return ctaGroup == 1 && tileM < kMmaRows && (tileM % 64 || cluster.k > 1);
}
void TensorMemorySchedule::describe(tuning::KernelShape &shape) const {
  shape.swapped = swapsOperands();
  shape.storeColumns = getStoreTile().getColumns();
  shape.asksForBScales = hasScaleRing() && !problem.hasColumnScales();
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

int64_t TensorMemorySchedule::getEpilogueWarps() const {
  int64_t most = ptxas::getMostColumns(problem);
  return getCtaRows() == 128 && tileN > most ? 8 : 4;
}
int64_t TensorMemorySchedule::getNumWarps() const {
  int64_t loadAndMma = 2;
  return getEpilogueWarps() + loadAndMma + isDynamic() + problem.hasAddends();
}
FragmentType TensorMemorySchedule::getFragment() const {
  return FragmentType::get(
      getContext(), {getCtaRows(), tileN}, Float32Type::get(getContext()),
      getEpilogueWarps(),
      getAccumulatorRing().getAccumulator().getFragmentLayout());
}
bool TensorMemorySchedule::spills() const {
  if (swapsOperands())
    return ptxas::spillsSwapped(tileM, tileN, problem);
  return ptxas::spillsRow(getFragment().getColumnsPerThread(), sharesRows(),
                          getNumBScales(), problem);
}

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

OutputPipelineType TensorMemorySchedule::getAccumulatorRing() const {
  return OutputPipelineType::get(getContext(), accumulators, {tileM, tileN},
                                 Float32Type::get(getContext()), ctaGroup,
                                 /*scaleSlots=*/0, swapsOperands());
}
PipelineType TensorMemorySchedule::getInputRing() const {
  auto name = [&](gemm::Operand operand) {
    return StringAttr::get(getContext(), getTileName(operand));
  };
  return PipelineType::get(getContext(), stages,
                           {name(gemm::Operand::A), name(gemm::Operand::B)},
                           {getATile(), getBTile()}, ctaGroup);
}
PipelineType TensorMemorySchedule::getScaleRing() const {
  SmallVector<StringAttr> names;
  SmallVector<TileType> tiles;
  auto add = [&](gemm::Operand operand) {
    names.push_back(StringAttr::get(getContext(), getTileName(operand)));
    tiles.push_back(getBox(operand));
  };
  add(gemm::Operand::AScale);
  if (!problem.hasColumnScales())
    return PipelineType::get(getContext(), kScaleStages, names, tiles, 1);
  add(gemm::Operand::BScale);
  return PipelineType::get(getContext(), stages, names, tiles, 1);
}
int64_t TensorMemorySchedule::getScaleGroup() const {
  constexpr int64_t kAbout = 8, kMost = 16;
  if (problem.hasColumnScales())
    return 1;
  // After two laps of the ring of accumulators both slot and parity are the
  // same again, after one the slot is.
  bool isNarrow = getFragment().getColumnsPerThread() <= ptxas::kFewColumns;
  for (int64_t laps :
       {isNarrow ? accumulators : 2 * accumulators, accumulators})
    if (laps <= kMost)
      return laps * std::max<int64_t>(kAbout / laps, 1);
  return kAbout;
}
bool TensorMemorySchedule::hasWholeGroups() const {
  return !sharesRows() &&
         ptxas::keepsSumsInTwoLoops(getFragment().getColumnsPerThread(),
                                    getNumBScales(), problem);
}
std::pair<int64_t, int64_t> TensorMemorySchedule::getRingSpace() const {
  int64_t perStage = getATile().getSizeInBytes() + getBTile().getSizeInBytes();
  int64_t scales = KernelPlan::getTileStride(getAScaleTile());
  if (problem.hasColumnScales())
    return {getFixedSpace(),
            perStage + scales + KernelPlan::getTileStride(getBScaleTile())};
  return {getFixedSpace() + kScaleStages * scales, perStage};
}

//===----------------------------------------------------------------------===//
// D
//===----------------------------------------------------------------------===//

int64_t TensorMemorySchedule::getOwnedColumns() const {
  return swapsOperands() ? getStoredColumns()
                         : getFragment().getColumnsPerThread();
}
TileType TensorMemorySchedule::getStoreTile() const {
  // What a warp has.
  Type element = problem.getElementType(gemm::Operand::D);
  FragmentType fragment = getFragment();
  if (swapsOperands())
    return getOutputTile(getStoredRows(), element,
                         fragment.getRegisterLayout().getColumnBlock());
  return getOutputTile(fragment.getRowsPerWarp(), element, getOwnedColumns());
}
int64_t TensorMemorySchedule::getStoreDepth() const {
  // A tile of whole rows is the only one of its output tile: the one before was
  // copied out long ago.
  constexpr int64_t kDepth = 2;
  bool isOnly =
      swapsOperands() || getStoreTile().getColumns() == getStoredColumns();
  return isOnly ? 1 : kDepth;
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

LogicalResult TensorMemorySchedule::checkMma(BlockwiseGemmOp op,
                                             const chip::Chip &chip) const {
  if (signalsAtWait)
    return emitNoKernel(op, chip)
           << "with signal = wait the following kernel may take tensor memory "
              "before this one has its own; set signal = store";
  if (cluster.k > 1 && !swapsOperands())
    return emitNoKernel(op, chip)
           << "CTAs that divide K exchange sums of tiles of fewer than "
           << kMmaRows << " rows, but tile M is " << tileM
           << "; set it to 64, or remove split_k";
  if (swapsOperands())
    return checkSwapped(op, chip);
  // PTX ISA, tcgen05.mma shapes.
  if (tileM != 64 * ctaGroup && tileM != 128 * ctaGroup)
    return emitNoKernel(op, chip)
           << "tile M must be " << 64 * ctaGroup << " or " << 128 * ctaGroup
           << " with cta_group = " << ctaGroup << ", but got " << tileM;
  if (tileM != 64 && tileN % 16)
    return emitNoKernel(op, chip)
           << "tile N must be a multiple of 16 with a tile M of " << tileM
           << ", but got " << tileN;
  return success();
}

LogicalResult TensorMemorySchedule::checkSwapped(BlockwiseGemmOp op,
                                                 const chip::Chip &chip) const {
  // Such kernels are right on the simulator, but not proved: the CTAs of a
  // cluster have different numbers of K blocks.
  if (cluster.k > 1 && isDynamic())
    return emitNoKernel(op, chip)
           << "scheduler = clc does not go with split_k, which is for so few "
              "tiles that all begin at once; set scheduler = persistent";
  if (tileN != 64 && tileN != kMmaRows)
    return emitNoKernel(op, chip)
           << "tile N must be 64 or 128 where operands are swapped, since its "
              "columns are the rows of one MMA, but got "
           << tileN;
  if (tileN == kMmaRows && tileM % 16)
    return emitNoKernel(op, chip)
           << "tile M must be a multiple of 16 where operands are swapped and "
              "tile N is 128, but got "
           << tileM;
  return cluster.k > 1 ? checkSplit(op, chip) : success();
}

LogicalResult TensorMemorySchedule::checkChunks(BlockwiseGemmOp op) const {
  FragmentType fragment = getFragment();
  if (!fragment.getRegisterLayout().isOneRow())
    return success();
  int64_t columns = fragment.getColumnsPerThread();
  // Two lanes of a warp that share a row can fill it together (Q2).
  bool fillTogether = fragment.getLayout() == FragmentLayout::LaneHalves;
  auto element = [&](gemm::Operand operand, bool isTaken = true) {
    return isTaken ? problem.getElementType(operand) : Type();
  };
  std::pair<Type, StringRef> uses[] = {
      {element(gemm::Operand::D, !fillTogether), "stores D"},
      {element(gemm::Operand::BScale, problem.hasColumnScales()),
       "reads B scales"},
      {element(gemm::Operand::C), "reads the residual"},
      {element(gemm::Operand::Bias), "reads the bias"}};
  for (auto [element, use] : uses) {
    int64_t chunk = element ? 16 * 8 / element.getIntOrFloatBitWidth() : 1;
    if (columns % chunk)
      return op->emitOpError()
             << "tile N of " << tileN << " gives a thread " << columns
             << " columns, but it " << use << " in chunks of " << chunk
             << " (16 bytes); set tile N to a multiple of "
             << chunk * tileN / columns;
  }
  return success();
}

LogicalResult TensorMemorySchedule::chooseAccumulators(BlockwiseGemmOp op,
                                                       const chip::Chip &chip) {
  // More hide nothing, but a lap of the ring is copied as often.
  constexpr int64_t kEnough = 8;
  int64_t columns = getAccumulatorRing().getStageColumns();
  int64_t most = chip.tensorMemoryColumns / columns;
  accumulators = pinned.accumulators ? pinned.accumulators
                 : swapsOperands()   ? std::min(most, kEnough)
                                     : most;
  if (accumulators > most)
    return op->emitOpError()
           << accumulators << " accumulators of " << columns
           << " columns do not fit tensor memory; at most " << most << " do";
  return success();
}

LogicalResult TensorMemorySchedule::fit(BlockwiseGemmOp op,
                                        const chip::Chip &chip) {
  if (failed(checkMma(op, chip)) || failed(checkRows(op)) ||
      failed(checkChunks(op)) || failed(chooseAccumulators(op, chip)))
    return failure();
  return chooseStages(op, chip);
}
