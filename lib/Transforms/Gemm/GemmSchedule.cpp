// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the schedules of all MMA engines share, and the choice of an engine's.

#include "ScaledSchedule.h"
#include "WarpgroupSchedule.h"
#include "fp8/Analysis/KernelPlan.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fp8;

//===----------------------------------------------------------------------===//
// Engines
//===----------------------------------------------------------------------===//

namespace {

/// What an engine's schedule is made of.
struct Engine {
  using Create = std::unique_ptr<GemmSchedule> (*)(const GemmProblem &problem,
                                                   const GemmConfig &config);
  Create create;
  Create createScaled; ///< that applies scales; null if the engine cannot
  void (*addCandidates)(const CandidateSink &add, const chip::Chip &chip,
                        const GemmExtents &extents);
};

} // namespace

template <typename Schedule>
static std::unique_ptr<GemmSchedule> create(const GemmProblem &problem,
                                            const GemmConfig &config) {
  return std::make_unique<Schedule>(problem, config);
}

static Engine getEngine(const chip::Chip &chip) {
  switch (chip.engine) {
  case chip::MmaEngine::TensorMemory:
    return {create<TensorMemorySchedule>, create<ScaledSchedule>,
            TensorMemorySchedule::addCandidates};
  case chip::MmaEngine::Warpgroup:
    return {create<WarpgroupSchedule>, nullptr,
            WarpgroupSchedule::addCandidates};
  case chip::MmaEngine::Warp: // no chip's fastest
    break;
  }
  llvm_unreachable("no other engine");
}

SmallVector<GemmConfig>
GemmSchedule::getCandidates(const chip::Chip &chip,
                            const GemmExtents &extents) {
  SmallVector<GemmConfig> configs;
  getEngine(chip).addCandidates(
      [&](const GemmConfig &config) { configs.push_back(config); }, chip,
      extents);
  return configs;
}

FailureOr<std::unique_ptr<GemmSchedule>>
GemmSchedule::choose(BlockwiseGemmOp op, const GemmConfig &config,
                     const chip::Chip &chip) {
  GemmProblem problem(op);
  Engine engine = getEngine(chip);
  Engine::Create create =
      problem.hasTilesOfScales() ? engine.createScaled : engine.create;
  if (!create)
    return emitNoKernel(op, chip)
           << "its tensor cores apply no scales of f8E8M0FNU; use scales of "
              "f32 for 128 elements of K (G2), or compile for a chip with "
              "tensor memory, such as sm_100a";
  std::unique_ptr<GemmSchedule> schedule = create(problem, config);
  if (schedule->isDynamic() && !chip.has(chip::Feature::ClusterLaunchControl))
    return emitNoKernel(op, chip)
           << "scheduler = clc requires cluster launch control, which the chip "
              "lacks; set scheduler = persistent";
  if (schedule->signalsAtWait && !schedule->programmatic)
    return op.emitOpError()
           << "with signal = wait must be launched programmatically, for a "
              "serial kernel has no wait; set launch = programmatic, or signal "
              "= store";
  if (failed(schedule->checkEdge(op)) || failed(schedule->fit(op, chip)))
    return failure();
  // The tiles of a grid that is launched at once need no order.
  if (!schedule->band && schedule->scheduler != SchedulerKind::OneTile)
    schedule->band = schedule->getBand();
  return schedule;
}

InFlightDiagnostic mlir::fp8::emitNoKernel(BlockwiseGemmOp op,
                                           const chip::Chip &chip) {
  return op->emitOpError() << "cannot become a kernel for " << chip.name
                           << ": ";
}

//===----------------------------------------------------------------------===//
// A, B and their scales
//===----------------------------------------------------------------------===//

static TileType getFactorTile(const GemmSchedule &schedule,
                              gemm::Operand operand, int64_t rows) {
  return TileType::get(schedule.problem.getContext(), {rows, schedule.tileK},
                       schedule.problem.getElementType(operand), Swizzle::B128);
}

/// A share of a copy is a whole number of swizzle atoms, eight rows each.
static bool canShare(int64_t rows, int64_t sharers) {
  return sharers > 1 && rows % (8 * sharers) == 0;
}

bool GemmSchedule::multicastsA() const {
  return canShare(getCtaRows(), cluster.n);
}
bool GemmSchedule::multicastsB() const {
  return canShare(getCtaColumns(), cluster.m / ctaGroup);
}
TileType GemmSchedule::getATile() const {
  return getFactorTile(*this, gemm::Operand::A, getCtaRows());
}
TileType GemmSchedule::getBTile() const {
  return getFactorTile(*this, gemm::Operand::B, getCtaColumns());
}
TileType GemmSchedule::getABox() const {
  return getFactorTile(*this, gemm::Operand::A,
                       getCtaRows() / (multicastsA() ? cluster.n : 1));
}
TileType GemmSchedule::getBBox() const {
  return getFactorTile(*this, gemm::Operand::B,
                       getCtaColumns() /
                           (multicastsB() ? cluster.m / ctaGroup : 1));
}
TileType GemmSchedule::getAScaleTile() const {
  if (problem.hasTilesOfScales())
    return TileType::getOfScales(getContext());
  return TileType::get(getContext(), {getScaleBlocks(), getCtaRows()},
                       problem.getElementType(gemm::Operand::AScale),
                       Swizzle::None);
}
TileType GemmSchedule::getBScaleTile() const {
  if (problem.hasTilesOfScales())
    return TileType::getOfScales(getContext());
  return TileType::get(getContext(), {1, tileN},
                       problem.getElementType(gemm::Operand::BScale),
                       Swizzle::None);
}
int64_t GemmSchedule::countScaleTiles(gemm::Operand scales) const {
  return TmemType::countScaleTiles(
      scales == gemm::Operand::AScale ? getCtaRows() : tileN);
}
int64_t GemmSchedule::getNumBScales() const {
  if (problem.hasTilesOfScales())
    return countScaleTiles(gemm::Operand::BScale);
  int64_t block = problem.scaling.bBlock, lastStart = block - getScalePart();
  return llvm::divideCeil(lastStart + tileN, block);
}

//===----------------------------------------------------------------------===//
// D, C and the bias
//===----------------------------------------------------------------------===//

int64_t GemmSchedule::getStoredRows() const {
  return swapsOperands() ? tileM / cluster.k : getCtaRows();
}
int64_t GemmSchedule::getStoredColumns() const {
  return swapsOperands() ? tileN : tileN / cluster.k;
}
ExchangeType GemmSchedule::getExchange() const {
  return ExchangeType::get(getContext(), cluster.k, getFragment());
}
TileType GemmSchedule::getOutputTile(int64_t rows, Type element,
                                     int64_t multiple) const {
  int64_t bits = element.getIntOrFloatBitWidth();
  int64_t columns = 128 * 8 / bits;
  while (multiple % columns)
    columns /= 2;
  // Threads that share a row and meet in the middle of a chunk fill a tile of
  // whole rows together.
  if (columns * bits % (16 * 8))
    columns = getStoredColumns();
  int64_t rowBytes = columns * bits / 8;
  Swizzle swizzle = Swizzle::None;
  for (Swizzle each : ::fp8::tensor::kSwizzles)
    if (spanBytes(each) == rowBytes)
      swizzle = each;
  return TileType::get(element.getContext(), {rows, columns}, element, swizzle);
}
StoreQueueType GemmSchedule::getStoreQueue() const {
  // Of swapped products each warp stages its columns.
  TileType tile = getStoreTile();
  return StoreQueueType::get(
      getContext(), getStoreDepth(), tile, getEpilogueWarps(),
      /*ofWarps=*/swapsOperands() &&
          tile.getRows() == StoreQueueType::kWarpgroupRows);
}
TileType GemmSchedule::getResidualTile() const {
  return getOutputTile(getStoredRows(),
                       problem.getElementType(gemm::Operand::C),
                       getOwnedColumns());
}
TileType GemmSchedule::getBiasTile() const {
  return TileType::get(getContext(), {1, getStoredColumns()},
                       problem.getElementType(gemm::Operand::Bias),
                       Swizzle::None);
}
SmallVector<PipelineType> GemmSchedule::getAddendRings() const {
  // Two tiles of C, each some columns of the output tile, are under way. One
  // bias is: the epilogue is done with it first.
  constexpr int64_t kBiasStages = 1, kResidualStages = 2;
  SmallVector<PipelineType> rings;
  auto add = [&](int64_t stages, gemm::Operand operand) {
    if (problem.has(operand))
      rings.push_back(
          PipelineType::get(getContext(), stages,
                            StringAttr::get(getContext(), getTileName(operand)),
                            getBox(operand), 1));
  };
  add(kBiasStages, gemm::Operand::Bias);
  add(kResidualStages, gemm::Operand::C);
  return rings;
}

LogicalResult GemmSchedule::checkRows(BlockwiseGemmOp op) const {
  // TMA copies rows of whole 16 bytes.
  Type element = problem.getElementType(gemm::Operand::D);
  int64_t bits = element.getIntOrFloatBitWidth();
  if (tileN * bits % (16 * 8) == 0)
    return success();
  return op->emitOpError() << "tile N of " << tileN << " makes rows of "
                           << tileN * bits / 8 << " bytes of " << element
                           << ", but TMA copies multiples of 16 bytes; set "
                              "tile N to a multiple of "
                           << 16 * 8 / bits;
}

LogicalResult GemmSchedule::checkSplit(BlockwiseGemmOp op,
                                       const chip::Chip &chip) const {
  Type element = problem.getElementType(gemm::Operand::D);
  int64_t bits = element.getIntOrFloatBitWidth();
  constexpr int64_t kLeastRows = 128; // for which operands are not swapped
  if (swapsOperands() && tileM % (8 * cluster.k))
    return emitNoKernel(op, chip)
           << "each of the " << cluster.k
           << " CTAs that divide K stores a share of tile M, which must be a "
              "multiple of 8 rows where operands are swapped, but tile M has "
           << tileM << " rows; set "
           << (8 * cluster.k < kLeastRows
                   ? "it to a multiple of " + std::to_string(8 * cluster.k)
                   : "split_k to 15 or less");
  if ((!swapsOperands() && tileN % (8 * cluster.k)) ||
      getStoredColumns() * bits % 128)
    return emitNoKernel(op, chip)
           << "each of the " << cluster.k
           << " CTAs that divide K stores a share of tile N, which must be a "
              "multiple of 8 columns and of 16 bytes, but tile N has "
           << tileN << " columns of " << element << "; set it to a multiple of "
           << std::max<int64_t>(8, 16 * 8 / bits) * cluster.k;
  return success();
}

LogicalResult GemmSchedule::checkEdge(BlockwiseGemmOp op) const {
  if (edge == Edge::Fit && !mayFitRows())
    return op->emitOpError()
           << "with edge = fit has no kernel where sums are in tensor memory; "
              "set edge = last";
  // CTAs that share a copy would each have to know the bytes of all, and those
  // that divide K would send one another undefined sums.
  if (edge == Edge::Fit && cluster.getSize() > 1)
    return op->emitOpError()
           << "with edge = fit copies no more rows of A than there are, which "
              "the CTAs of a cluster cannot share; set cluster and split_k to "
              "1, or edge = last";
  if (edge != Edge::First)
    return success();
  // The proof does not follow the places of CTAs that share copies of B.
  if (cluster.m > 1)
    return op->emitOpError()
           << "with edge = first cannot have clusters of " << cluster.m
           << " CTAs along M; set cluster M to 1, or edge = last";
  // Threads store the rest of a row wherever D has the row.
  if (!problem.getRestType())
    return success();
  return op->emitOpError()
         << "with edge = first stores the rows of the first tiles through a "
            "tensor map alone, but TMA cannot store rows of D that may end "
            "within 16 bytes; make D's rows contiguous or a known multiple of "
            "16 bytes, or set edge = last";
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

TileType GemmSchedule::getBox(gemm::Operand operand) const {
  switch (operand) {
  case gemm::Operand::A:
    return getABox();
  case gemm::Operand::AScale:
    return getAScaleTile();
  case gemm::Operand::B:
    return getBBox();
  case gemm::Operand::BScale:
    return getBScaleTile();
  case gemm::Operand::C:
    return getResidualTile();
  case gemm::Operand::Bias:
    return getBiasTile();
  case gemm::Operand::D:
    return getStoreTile();
  case gemm::Operand::Beta:
  case gemm::Operand::DScale:
    break;
  }
  llvm_unreachable("TMA copies no other operand");
}

Type GemmSchedule::getParameterType(GemmParameter parameter) const {
  auto *operand = std::get_if<gemm::Operand>(&parameter);
  if (!operand)
    switch (std::get<GemmExtra>(parameter)) {
    case GemmExtra::DRest:
      return problem.getRestType();
    case GemmExtra::DFirst:
      return getParameterType(gemm::Operand::D);
    case GemmExtra::CFirst:
      return getParameterType(gemm::Operand::C);
    case GemmExtra::AIsConstant:
    case GemmExtra::BIsConstant:
    case GemmExtra::ABytes:
      return IntegerType::get(getContext(), 32);
    default:
      return IndexType::get(getContext());
    }
  gemm::OperandInfo info = problem.getInfo(*operand);
  if (!info.byTma)
    return problem.getMemrefParameter(*operand);
  return TensorMapType::get(getContext(), getBox(*operand),
                            info.getRank() + (problem.isBatch && info.batched));
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// What barriers, the tensor-memory address and alignment gaps take at most,
/// but for gaps between several input rings.
static constexpr int64_t kReserve = 2048;

int64_t GemmSchedule::getFixedSpace() const {
  int64_t bytes = kReserve + KernelPlan::getQueueBytes(getStoreQueue());
  for (PipelineType ring : getAddendRings())
    bytes += llvm::alignTo(KernelPlan::getPayloadBytes(ring),
                           KernelPlan::kPayloadAlignment);
  if (cluster.k > 1)
    bytes += llvm::alignTo(KernelPlan::getExchangeBytes(getExchange()),
                           KernelPlan::kPayloadAlignment);
  return bytes;
}

LogicalResult GemmSchedule::chooseStages(BlockwiseGemmOp op,
                                         const chip::Chip &chip) {
  auto [fixed, perStage] = getRingSpace();
  int64_t maxStages = (chip.sharedMemoryPerCta - fixed) / perStage;
  // The gaps of several rings may be more than the reserve has for them.
  constexpr int64_t kBarriers = 512;
  while (maxStages > 1 &&
         fixed + perStage * maxStages +
                 std::max<int64_t>(
                     getRingGaps(maxStages) + kBarriers - kReserve, 0) >
             chip.sharedMemoryPerCta)
    --maxStages;
  if (maxStages < 1)
    return op->emitOpError()
           << "leaves no room for a stage of A and B: with a tile of " << tileM
           << " x " << tileN << " a stage takes " << perStage
           << " bytes and the rest of the kernel " << fixed
           << ", but shared memory has " << chip.sharedMemoryPerCta
           << "; use a smaller tile"
           << (cluster.k > 1 ? ", or remove split_k" : "");
  stages = pinned.stages ? pinned.stages : maxStages;
  if (stages > maxStages)
    return op->emitOpError()
           << stages << " stages of " << perStage
           << " bytes do not fit shared memory; at most " << maxStages << " do";
  return success();
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

/// Equal parts of a tile's columns, of which each has a B scale of its own.
static int64_t getScaleParts(const GemmSchedule &schedule) {
  if (schedule.problem.hasColumnScales() ||
      schedule.problem.hasTilesOfScales() || schedule.getNumBScales() == 1)
    return 1;
  return schedule.tileN / schedule.getScalePart();
}

tuning::KernelShape GemmSchedule::getShape() const {
  tuning::KernelShape shape;
  shape.config = *this;
  shape.sharesA = multicastsA();
  shape.sharesB = multicastsB();
  shape.blocksPerStage = getStep();
  shape.blockMultiple = getBlockMultiple();
  shape.scaleParts = getScaleParts(*this);
  describe(shape);
  return shape;
}
