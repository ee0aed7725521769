// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is chosen about the kernel of a GEMM, and the types that follow from it.

#include "GemmPlan.h"

#include "fp8/Analysis/KernelPlan.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::fp8;

static TileType getOperandTile(const GemmPlan &plan, int64_t rows) {
  MLIRContext *context = plan.outputType.getContext();
  return TileType::get(context, {rows, plan.tileK},
                       Float8E4M3FNType::get(context), Swizzle::B128);
}

/// A share of a copy is a whole number of swizzle atoms, eight rows each.
static bool canShare(int64_t rows, int64_t sharers) {
  return sharers > 1 && rows % (8 * sharers) == 0;
}

bool GemmPlan::multicastsA() const { return canShare(getCtaRows(), cluster.n); }
bool GemmPlan::multicastsB() const {
  return canShare(getCtaColumns(), cluster.m / ctaGroup);
}
TileType GemmPlan::getATile() const {
  return getOperandTile(*this, getCtaRows());
}
TileType GemmPlan::getBTile() const {
  return getOperandTile(*this, getCtaColumns());
}
TileType GemmPlan::getABox() const {
  return getOperandTile(*this, getCtaRows() / (multicastsA() ? cluster.n : 1));
}
TileType GemmPlan::getBBox() const {
  return getOperandTile(*this, getCtaColumns() /
                                   (multicastsB() ? cluster.m / ctaGroup : 1));
}
TileType GemmPlan::getAScaleTile() const {
  MLIRContext *context = outputType.getContext();
  int64_t blocks = usesWarpgroups ? 1 : getScaleGroup();
  return TileType::get(context, {blocks, getCtaRows()}, aScaleElement,
                       Swizzle::None);
}
int64_t GemmPlan::getScaleGroup() const {
  constexpr int64_t kAbout = 8, kMost = 16;
  if (hasColumnScales())
    return 1;
  if (usesWarpgroups)
    return kAbout;
  // After two laps of the ring of accumulators both slot and parity are the
  // same again, after one the slot is. With few columns a thread, ptxas starts
  // so many of two laps' loads at once that it spills.
  bool isNarrow = getFragment().getColumnsPerThread() <= 32;
  for (int64_t laps :
       {isNarrow ? accumulators : 2 * accumulators, accumulators})
    if (laps <= kMost)
      return laps * std::max<int64_t>(kAbout / laps, 1);
  return kAbout;
}
bool GemmPlan::hasWholeGroups() const {
  int64_t columns = getFragment().getColumnsPerThread();
  bool holdsLittleElse = epilogue.isEmpty() && getNumBScales() == 1;
  return getEpilogueWarps() == 4 &&
         (columns < 128 || (columns == 128 && holdsLittleElse));
}
TileType GemmPlan::getBScaleTile() const {
  return TileType::get(outputType.getContext(), {1, tileN},
                       bScaleType.getElementType(), Swizzle::None);
}
TileType GemmPlan::getBScalesTile() const {
  // Rows of tiles are multiples of 16 bytes.
  return TileType::get(outputType.getContext(),
                       {1, int64_t(llvm::alignTo(getNumBScales(), 4))},
                       bScaleType.getElementType(), Swizzle::None);
}
/// The columns that a thread, or a warpgroup, has side by side.
static int64_t getOwnedColumns(const GemmPlan &plan) {
  return plan.usesWarpgroups ? plan.getStoredColumns()
                             : plan.getFragment().getColumnsPerThread();
}

/// Some columns of the output tile. The widest row that the 128-byte swizzle
/// takes and that divides `multiple` columns.
static TileType getOutputTile(const GemmPlan &plan, int64_t rows, Type element,
                              int64_t multiple) {
  int64_t bits = element.getIntOrFloatBitWidth();
  int64_t columns = 128 * 8 / bits;
  while (multiple % columns)
    columns /= 2;
  // Threads that share a row and meet in the middle of a chunk fill a tile of
  // whole rows together.
  if (columns * bits % (16 * 8))
    columns = plan.getStoredColumns();
  int64_t rowBytes = columns * bits / 8;
  Swizzle swizzle = rowBytes == 128  ? Swizzle::B128
                    : rowBytes == 64 ? Swizzle::B64
                    : rowBytes == 32 ? Swizzle::B32
                                     : Swizzle::None;
  return TileType::get(element.getContext(), {rows, columns}, element, swizzle);
}
TileType GemmPlan::getStoreTile() const {
  // What a warp has of a part of a swapped product.
  constexpr int64_t kWarpColumns = 16;
  if (swapsOperands())
    return getOutputTile(*this, getStoredRows(), outputType,
                         /*multiple=*/kWarpColumns);
  return getOutputTile(*this,
                       usesWarpgroups ? 64 : getFragment().getRowsPerWarp(),
                       outputType, getOwnedColumns(*this));
}
TileType GemmPlan::getResidualTile() const {
  return getOutputTile(*this, getStoredRows(), epilogue.residual,
                       getOwnedColumns(*this));
}
TileType GemmPlan::getBiasTile() const {
  return TileType::get(outputType.getContext(), {1, getStoredColumns()},
                       epilogue.bias, Swizzle::None);
}
FragmentType GemmPlan::getFragment() const {
  MLIRContext *context = outputType.getContext();
  FragmentLayout layout =
      swapsOperands() ? FragmentLayout::WarpgroupColumns
      : usesWarpgroups
          ? FragmentLayout::Warpgroups
          : getAccumulatorRing().getAccumulator().getFragmentLayout();
  return FragmentType::get(context, {getCtaRows(), tileN},
                           Float32Type::get(context), getEpilogueWarps(),
                           layout);
}
FragmentType GemmPlan::getProduct() const {
  return getFragment().withExtent(/*axis=*/swapsOperands(),
                                  16 * getEpilogueWarps());
}
bool GemmPlan::holdsTwoProducts() const {
  // What a thread needs beside: addresses, scales, loop counters.
  constexpr int64_t kOthers = 40, kMost = 255;
  // Two warpgroups hide the start of one's product behind the other's.
  return usesWarpgroups && getEpilogueWarps() == 4 &&
         getFragment().getColumnsPerThread() +
                 2 * getProduct().getColumnsPerThread() + kOthers <=
             kMost;
}
PipelineType GemmPlan::getInputRing() const {
  MLIRContext *context = outputType.getContext();
  SmallVector<StringAttr> names;
  SmallVector<TileType> tiles;
  auto add = [&](StringRef operand, int64_t block, TileType tile) {
    names.push_back(StringAttr::get(context, getTileName(operand, block)));
    tiles.push_back(tile);
  };
  for (int64_t block = 0; block < kGroup; ++block) {
    add("a", block, getATile());
    add("b", block, getBTile());
    if (usesWarpgroups)
      add("a_scale", block, getAScaleTile());
    if (usesWarpgroups && hasColumnScales())
      add("b_scale", block, getBScaleTile());
    if (bringsBScales())
      add("b_scale", block, getBScalesTile());
  }
  return PipelineType::get(context, stages, names, tiles, ctaGroup);
}
PipelineType GemmPlan::getScaleRing() const {
  MLIRContext *context = outputType.getContext();
  SmallVector<StringAttr> names{StringAttr::get(context, "a_scale")};
  SmallVector<TileType> tiles{getAScaleTile()};
  if (!hasColumnScales())
    return PipelineType::get(context, kScaleStages, names, tiles, 1);
  names.push_back(StringAttr::get(context, "b_scale"));
  tiles.push_back(getBScaleTile());
  return PipelineType::get(context, stages, names, tiles, 1);
}
OutputPipelineType GemmPlan::getAccumulatorRing() const {
  MLIRContext *context = outputType.getContext();
  return OutputPipelineType::get(context, accumulators, {tileM, tileN},
                                 Float32Type::get(context), ctaGroup);
}
ExchangeType GemmPlan::getExchange() const {
  return ExchangeType::get(outputType.getContext(), cluster.k, getFragment());
}
int64_t GemmPlan::getStoreDepth() const {
  int64_t parts = getFragment().getNumParts(), columns = getStoredColumns(),
          tileColumns = getStoreTile().getColumns();
  if (swapsOperands())
    return std::min(parts, kStoreDepth);
  // All of the output tile, if that is little: its copies are then read while
  // the next is computed.
  if (usesWarpgroups)
    return std::min(parts * columns / tileColumns, 2 * kStoreDepth);
  // A tile of whole rows is the only one of its output tile: the one before was
  // copied out long ago.
  return tileColumns == columns ? 1 : kStoreDepth;
}
StoreQueueType GemmPlan::getStoreQueue() const {
  return StoreQueueType::get(outputType.getContext(), getStoreDepth(),
                             getStoreTile(), getEpilogueWarps());
}

SmallVector<PipelineType> GemmPlan::getAddendRings() const {
  MLIRContext *context = outputType.getContext();
  SmallVector<PipelineType> rings;
  auto add = [&](int64_t stages, StringRef name, TileType tile) {
    rings.push_back(PipelineType::get(context, stages,
                                      StringAttr::get(context, name), tile, 1));
  };
  if (epilogue.bias)
    add(kBiasStages, "bias", getBiasTile());
  if (epilogue.residual)
    add(kResidualStages, "c", getResidualTile());
  return rings;
}

/// What barriers, the tensor-memory address and alignment gaps take at most.
static constexpr int64_t kSharedMemoryReserve = 2048;
/// Rings, queues and exchanges begin at multiples of the widest alignment.
static constexpr int64_t kPayloadAlignment = 1024;

/// A memref with dynamic extents: kernels are compiled for any.
static MemRefType getKernelType(MemRefType source) {
  SmallVector<int64_t> shape(source.getRank(), ShapedType::kDynamic);
  if (source.getLayout().isIdentity())
    return MemRefType::get(shape, source.getElementType());
  SmallVector<int64_t> strides(source.getRank(), ShapedType::kDynamic);
  strides.back() = 1;
  auto layout = StridedLayoutAttr::get(source.getContext(),
                                       ShapedType::kDynamic, strides);
  return MemRefType::get(shape, source.getElementType(), layout);
}

SmallVector<GemmParameter> GemmPlan::getParameters() const {
  GemmParameter bScale =
      hasColumnScales() ? GemmParameter::BScaleMap : GemmParameter::BScale;
  SmallVector<GemmParameter> parameters{GemmParameter::AMap,
                                        GemmParameter::AScaleMap,
                                        GemmParameter::BMap,
                                        GemmParameter::DMap,
                                        bScale,
                                        GemmParameter::TilesM,
                                        GemmParameter::TilesN,
                                        GemmParameter::Blocks};
  if (isBatch)
    parameters.push_back(GemmParameter::BatchTilesM);
  if (epilogue.residual)
    parameters.push_back(GemmParameter::CMap);
  if (epilogue.bias)
    parameters.push_back(GemmParameter::BiasMap);
  if (epilogue.beta)
    parameters.push_back(GemmParameter::Beta);
  if (epilogue.scale)
    parameters.push_back(GemmParameter::DScale);
  if (restType)
    parameters.push_back(GemmParameter::DRest);
  return parameters;
}

Type GemmPlan::getParameterType(GemmParameter parameter) const {
  auto map = [&](TileType box) {
    return TensorMapType::get(box.getContext(), box, 2 + isBatch);
  };
  switch (parameter) {
  case GemmParameter::AMap:
    return map(getABox());
  case GemmParameter::AScaleMap:
    return map(getAScaleTile());
  case GemmParameter::BMap:
    return map(getBBox());
  case GemmParameter::DMap:
    return map(getStoreTile());
  case GemmParameter::BScale:
    return bScaleType;
  case GemmParameter::BScaleMap:
    return map(getBScaleTile());
  case GemmParameter::TilesM:
  case GemmParameter::TilesN:
  case GemmParameter::Blocks:
  case GemmParameter::BatchTilesM:
    return IndexType::get(outputType.getContext());
  case GemmParameter::CMap:
    return map(getResidualTile());
  case GemmParameter::BiasMap:
    // A batch has it in common.
    return TensorMapType::get(outputType.getContext(), getBiasTile(), 2);
  case GemmParameter::Beta:
    return epilogue.beta;
  case GemmParameter::DScale:
    return epilogue.scale;
  case GemmParameter::DRest:
    return restType;
  }
  llvm_unreachable("no other parameter");
}

static GemmEpilogue getEpilogue(BlockwiseGemmOp op) {
  auto memref = [](Value operand) {
    return operand ? cast<MemRefType>(operand.getType()) : MemRefType();
  };
  auto element = [&](Value operand) {
    return operand ? memref(operand).getElementType() : Type();
  };
  return {element(op.getC()), element(op.getBias()), memref(op.getBeta()),
          memref(op.getDScale()),
          op.getBody().empty() ? nullptr : &op.getBody().front()};
}

/// The bytes of the rings with what is added to the sums, each from a multiple
/// of the widest alignment on.
static int64_t getAddendBytes(const GemmPlan &plan) {
  int64_t bytes = 0;
  for (PipelineType ring : plan.getAddendRings())
    bytes +=
        llvm::alignTo(KernelPlan::getPayloadBytes(ring), kPayloadAlignment);
  return bytes;
}

/// D, as the kernel takes it, if its rows may end within 16 bytes. Where they
/// follow upon one another they do not, since TMA wants them 16 bytes apart.
static MemRefType getRestType(MemRefType d) {
  int64_t columns = d.getShape().back(),
          unit = 128 / d.getElementType().getIntOrFloatBitWidth();
  if (d.getLayout().isIdentity() ||
      (!ShapedType::isDynamic(columns) && columns % unit == 0))
    return {};
  return getKernelType(d);
}

/// The plan as far as the configuration pins it.
static GemmPlan getPinned(BlockwiseGemmOp op) {
  GemmPlan plan{GemmPlan::kDefaultTile,
                GemmPlan::kDefaultTile,
                GemmPlan::kScaleBlock,
                1,
                {},
                1,
                1,
                SchedulerKind::Persistent,
                /*programmatic=*/false,
                cast<MemRefType>(op.getD().getType()).getElementType(),
                getKernelType(cast<MemRefType>(op.getBScale().getType())),
                getRestType(cast<MemRefType>(op.getD().getType())),
                cast<MemRefType>(op.getAScale().getType()).getElementType(),
                static_cast<int64_t>(op.getBBlock()),
                op.getBatchAxes() != 0,
                getEpilogue(op)};
  GemmConfigAttr config = op.getConfigAttr();
  if (!config)
    return plan;
  plan.tileM = config.getTileM();
  plan.tileN = config.getTileN();
  plan.tileK = config.getTileK();
  plan.ctaGroup = config.getCtaGroup();
  plan.cluster = {config.getClusterM(), config.getClusterN(),
                  config.getSplitK()};
  plan.scheduler = config.getScheduler();
  plan.programmatic = config.getProgrammatic();
  return plan;
}

/// What one MMA of the chip computes.
static LogicalResult checkMma(BlockwiseGemmOp op, const GemmPlan &plan,
                              const chip::Chip &chip) {
  auto fail = [&]() {
    return op->emitOpError() << "cannot be a kernel for " << chip.name << ": ";
  };
  if (plan.isDynamic() && !chip.has(chip::Feature::ClusterLaunchControl))
    return fail() << "it has no cluster launch control; take scheduler = "
                     "persistent";
  if (plan.cluster.k > 1) {
    if (!plan.usesWarpgroups)
      return fail() << "split_k adds up sums that warpgroups hold, which it "
                       "keeps in tensor memory; leave split_k out";
    int64_t bits = plan.outputType.getIntOrFloatBitWidth();
    if (plan.swapsOperands() && plan.tileM % (8 * plan.cluster.k))
      return fail() << "each of the " << plan.cluster.k
                    << " CTAs that divide K stores a share of tile M, whole "
                       "eights of rows where it is below 64, but got "
                    << plan.tileM << " rows; take a multiple of "
                    << 8 * plan.cluster.k;
    if ((!plan.swapsOperands() && plan.tileN % (8 * plan.cluster.k)) ||
        plan.getStoredColumns() * bits % 128)
      return fail() << "each of the " << plan.cluster.k
                    << " CTAs that divide K stores a share of tile N, whole "
                       "eights of columns in rows of whole 16 bytes, but got "
                    << plan.tileN << " columns of " << plan.outputType
                    << "; take a multiple of "
                    << std::max<int64_t>(8, 16 * 8 / bits) * plan.cluster.k;
  }
  if (plan.usesWarpgroups) {
    if (plan.ctaGroup != 1)
      return fail() << "cta_group = 2 makes CTAs share an MMA in tensor "
                       "memory, which it has not; take cta_group = 1";
    if (op.getConfigAttr() && op.getConfigAttr().getAccumulators())
      return fail() << "accumulators are stages of tensor memory, which it "
                       "has not; sums are kept in registers: leave "
                       "'accumulators' out";
    return success();
  }
  // PTX ISA, tcgen05.mma shapes.
  if (plan.tileM != 64 * plan.ctaGroup && plan.tileM != 128 * plan.ctaGroup)
    return fail() << "its tile M is " << 64 * plan.ctaGroup << " or "
                  << 128 * plan.ctaGroup
                  << " with cta_group = " << plan.ctaGroup
                  << ", but the config says " << plan.tileM;
  if (plan.tileM != 64 && plan.tileN % 16)
    return fail() << "its tile N is a multiple of 16 with a tile M of "
                  << plan.tileM << ", but the config says " << plan.tileN;
  return success();
}

/// The threads that read tensor memory touch rows in chunks of 16 bytes, each
/// chunk by one thread.
static LogicalResult checkChunks(BlockwiseGemmOp op, const GemmPlan &plan) {
  FragmentType fragment = plan.getFragment();
  int64_t columns = fragment.getColumnsPerThread();
  // Two lanes of a warp that share a row can fill it together (Q2).
  bool sharesRows = fragment.getLayout() == FragmentLayout::LaneHalves;
  Type bScale =
      plan.hasColumnScales() ? plan.bScaleType.getElementType() : Type();
  std::pair<Type, StringRef> uses[] = {
      {sharesRows ? Type() : plan.outputType, "stores D"},
      {bScale, "reads B scales"},
      {plan.epilogue.residual, "reads the residual"},
      {plan.epilogue.bias, "reads the bias"}};
  for (auto [element, use] : uses) {
    int64_t chunk = element ? 16 * 8 / element.getIntOrFloatBitWidth() : 1;
    if (columns % chunk)
      return op->emitOpError()
             << "tile N of " << plan.tileN << " gives a thread " << columns
             << " columns, but it " << use << " in chunks of " << chunk
             << " (16 bytes); take a tile N that is a multiple of "
             << chunk * plan.tileN / columns;
  }
  return success();
}

/// TMA copies rows of whole 16 bytes.
static LogicalResult checkTile(BlockwiseGemmOp op, const GemmPlan &plan) {
  int64_t bits = plan.outputType.getIntOrFloatBitWidth();
  if (plan.tileN * bits % (16 * 8))
    return op->emitOpError()
           << "tile N of " << plan.tileN
           << " makes rows that are no multiple of 16 bytes of "
           << plan.outputType
           << ", but TMA copies such alone; take a tile N that is a multiple "
              "of "
           << 16 * 8 / bits;
  return plan.usesWarpgroups ? success() : checkChunks(op, plan);
}

/// Makes the ring of accumulators as deep as `config` (may be null) says, or
/// tensor memory allows.
static LogicalResult chooseAccumulators(BlockwiseGemmOp op,
                                        GemmConfigAttr config,
                                        const chip::Chip &chip,
                                        GemmPlan &plan) {
  int64_t columns = plan.getAccumulatorRing().getStageColumns();
  int64_t maxAccumulators = chip.tensorMemoryColumns / columns;
  plan.accumulators = config && config.getAccumulators()
                          ? config.getAccumulators()
                          : maxAccumulators;
  if (plan.accumulators > maxAccumulators)
    return op->emitOpError()
           << plan.accumulators << " accumulators of " << columns
           << " columns do not fit tensor memory; at most " << maxAccumulators
           << " do";
  return success();
}

/// The bytes of shared memory beside the input ring, and those of its slots.
static std::pair<int64_t, int64_t> getRingSpace(const GemmPlan &plan) {
  StoreQueueType storeQueue = plan.getStoreQueue();
  int64_t perStage =
      plan.getATile().getSizeInBytes() + plan.getBTile().getSizeInBytes();
  int64_t fixed = kSharedMemoryReserve + getAddendBytes(plan) +
                  KernelPlan::getQueueBytes(storeQueue);
  if (plan.cluster.k > 1)
    fixed += llvm::alignTo(KernelPlan::getExchangeBytes(plan.getExchange()),
                           kPayloadAlignment);
  int64_t scales = KernelPlan::getTileStride(plan.getAScaleTile());
  if (plan.usesWarpgroups)
    perStage = KernelPlan::getPayloadBytes(plan.getInputRing()) / plan.stages;
  else if (plan.hasColumnScales())
    perStage += scales + KernelPlan::getTileStride(plan.getBScaleTile());
  else
    fixed += GemmPlan::kScaleStages * scales;
  return {fixed, perStage};
}

/// Makes the input ring as deep as `config` (may be null) says, or shared
/// memory allows.
static LogicalResult chooseStages(BlockwiseGemmOp op, GemmConfigAttr config,
                                  const chip::Chip &chip, GemmPlan &plan) {
  auto [fixed, perStage] = getRingSpace(plan);
  int64_t maxStages = (chip.sharedMemoryPerCta - fixed) / perStage;
  if (maxStages < 1)
    return op->emitOpError()
           << "leaves no room for a stage of A and B: with a tile of "
           << plan.tileM << " x " << plan.tileN << " it takes " << perStage
           << " bytes and the rest of the kernel " << fixed << ", of the "
           << chip.sharedMemoryPerCta
           << " that shared memory has; take a smaller tile"
           << (plan.cluster.k > 1 ? ", or leave split_k out" : "");
  plan.stages = config && config.getStages() ? config.getStages() : maxStages;
  if (plan.stages > maxStages)
    return op->emitOpError()
           << plan.stages << " stages of " << perStage
           << " bytes do not fit shared memory; at most " << maxStages << " do";
  return success();
}

int64_t GemmPlan::getNumBScales() const {
  int64_t lastStart = bBlock - std::gcd(tileN, bBlock);
  return llvm::divideCeil(lastStart + tileN, bBlock);
}

/// As many K blocks a slot as hide the start of one product behind the
/// promotion of another, as long as there are the slots that `config` (may be
/// null) says, or slots enough to hide the copies.
static int64_t chooseKGroup(GemmConfigAttr config, const chip::Chip &chip,
                            GemmPlan plan) {
  constexpr int64_t kLeastStages = 3;
  int64_t stages =
      config && config.getStages() ? config.getStages() : kLeastStages;
  if (!plan.holdsTwoProducts() || plan.hasColumnScales())
    return 1;
  for (int64_t blocks : {4, 2}) {
    plan.kGroup = blocks;
    auto [fixed, perStage] = getRingSpace(plan);
    if (fixed + stages * perStage <= chip.sharedMemoryPerCta)
      return blocks;
  }
  return 1;
}

FailureOr<GemmPlan> GemmPlan::choose(BlockwiseGemmOp op,
                                     const chip::Chip &chip) {
  GemmPlan plan = getPinned(op);
  plan.usesWarpgroups = chip.engine == chip::MmaEngine::Warpgroup;
  GemmConfigAttr config = op.getConfigAttr();
  if (failed(checkMma(op, plan, chip)) || failed(checkTile(op, plan)))
    return failure();
  plan.kGroup = chooseKGroup(config, chip, plan);
  if ((!plan.usesWarpgroups &&
       failed(chooseAccumulators(op, config, chip, plan))) ||
      failed(chooseStages(op, config, chip, plan)))
    return failure();
  return plan;
}
