// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses the configuration of a GEMM op: makes every candidate's plan, and
// ranks those that can be kernels by the cost model.

#include "ConfigChooser.h"
#include "GemmPlan.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringSwitch.h"

#include <numeric>

using namespace mlir;
using namespace mlir::fp8;

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

/// Whether ptxas (13.0) is known to spill sums of the kernel, bf16, in the
/// survey of docs/Chooser.md.
static bool spills(const GemmPlan &plan) {
  // Sums and products of a thread: 192 were the most that all tiles had room
  // for.
  constexpr int64_t kMost = 192;
  // Columns of two products of a warpgroup, where they have several B scales.
  constexpr int64_t kMostStraddling = 72;
  // Columns of a row that a thread sums beside what it loads from tensor
  // memory; where it holds more than two B scales or computes a function; and
  // where two threads share the row, and have fewer registers.
  constexpr int64_t kMostOfRow = 160, kMostBesideMore = 128,
                    kMostOfSharedRow = 80;
  int64_t sums = plan.getFragment().getColumnsPerThread();
  if (!plan.usesWarpgroups)
    return sums > (plan.getEpilogueWarps() > 4 ? kMostOfSharedRow
                   : plan.getNumBScales() > 2 || plan.epilogue.function
                       ? kMostBesideMore
                       : kMostOfRow);
  int64_t product = plan.getProduct().getColumnsPerThread();
  if (sums > product && plan.getNumBScales() > 1 && !plan.swapsOperands() &&
      plan.tileN > kMostStraddling)
    return true;
  return sums + (plan.holdsTwoProducts() ? 2 : 1) * product > kMost;
}

/// Equal parts of a tile's columns, of which each has a B scale of its own.
static int64_t getScaleParts(const GemmPlan &plan) {
  // Swapped, they are columns of different products.
  if (plan.hasColumnScales() || plan.getNumBScales() == 1 ||
      plan.swapsOperands())
    return 1;
  return plan.tileN / std::gcd(plan.tileN, plan.bBlock);
}

static tuning::KernelShape getShape(const GemmPlan &plan) {
  tuning::KernelShape shape{plan.getCtaRows(), plan.tileN};
  shape.ctaGroup = plan.ctaGroup;
  shape.clusterM = plan.cluster.m;
  shape.clusterN = plan.cluster.n;
  shape.splitK = plan.cluster.k;
  shape.sharesA = plan.multicastsA();
  shape.sharesB = plan.multicastsB();
  shape.stages = plan.stages;
  shape.blocksPerStage = plan.kGroup;
  shape.warpgroups = plan.usesWarpgroups ? plan.getEpilogueWarps() / 4 : 0;
  shape.swapped = plan.swapsOperands();
  shape.overlaps = plan.holdsTwoProducts();
  shape.scaleParts = getScaleParts(plan);
  return shape;
}

/// The plan of the op with that configuration, if it is a kernel that is worth
/// trying: errors are not shown.
static std::optional<GemmPlan>
tryPlan(BlockwiseGemmOp op, const chip::Chip &chip, GemmConfigAttr config) {
  ScopedDiagnosticHandler silent(op.getContext(),
                                 [](Diagnostic &) { return success(); });
  GemmConfigAttr pinned = op.getConfigAttr();
  op.setConfigAttr(config);
  FailureOr<GemmPlan> plan = GemmPlan::choose(op, chip);
  if (pinned)
    op.setConfigAttr(pinned);
  else
    op.removeConfigAttr();
  constexpr int64_t kLeastStages = 2;
  if (failed(plan) || plan->stages < kLeastStages || spills(*plan))
    return std::nullopt;
  // CTAs that copy nothing for one another need not wait for one another.
  if ((plan->cluster.n > 1 && !plan->multicastsA()) ||
      (plan->cluster.m > plan->ctaGroup && !plan->multicastsB()))
    return std::nullopt;
  return *plan;
}

/// A configuration that leaves open what the plan can choose.
static GemmConfigAttr getConfig(MLIRContext *context, int64_t tileM,
                                int64_t tileN, int64_t group, int64_t m,
                                int64_t n, int64_t k) {
  return GemmConfigAttr::get(
      context, tileM, tileN, GemmPlan::kScaleBlock, group, m, n, k,
      /*stages=*/0, /*accumulators=*/0, SchedulerKind::Persistent,
      /*programmatic=*/false);
}

/// Tile N's from 16 to 256: fine steps where they make one wave of two, coarse
/// ones where each further part of the columns costs registers.
static SmallVector<int64_t> getTileNs() {
  SmallVector<int64_t> columns;
  for (int64_t n = 16; n <= 256; n += n < 64 ? 8 : n < 96 ? 16 : 32)
    columns.push_back(n);
  return columns;
}

static SmallVector<GemmConfigAttr> getCandidates(MLIRContext *context,
                                                 const chip::Chip &chip,
                                                 const chip::Machine &machine,
                                                 const GemmExtents &extents) {
  SmallVector<GemmConfigAttr> configs;
  bool usesWarpgroups = chip.engine == chip::MmaEngine::Warpgroup;
  auto add = [&](int64_t tileM, int64_t tileN, int64_t group, int64_t m,
                 int64_t n, int64_t k) {
    configs.push_back(getConfig(context, tileM, tileN, group, m, n, k));
  };
  auto addCluster = [&](int64_t tileM, int64_t tileN, int64_t group, int64_t m,
                        int64_t n) {
    // On an H200 clusters gained 1 to 6 % on some shapes and lost on the
    // others, and the model cannot tell which (docs/Chooser.md).
    if (usesWarpgroups && m * n > 1)
      return;
    // No cluster is wider than the result.
    if ((m > group && extents.m <= tileM / group * (m - 1)) ||
        (n > 1 && extents.n <= tileN * (n - 1)))
      return;
    add(tileM, tileN, group, m, n, /*k=*/1);
  };
  // Where tiles leave multiprocessors free, and each CTA keeps some blocks.
  auto addSplit = [&](int64_t tileM, int64_t tileN, int64_t k) {
    constexpr int64_t kLeastBlocks = 4;
    // Extents and batches below 2^31 can have more tiles than can be counted.
    double tiles = double(extents.batch) * llvm::divideCeil(extents.m, tileM) *
                   llvm::divideCeil(extents.n, tileN);
    if (usesWarpgroups && tiles * k <= machine.multiprocessors &&
        extents.k >= k * kLeastBlocks * GemmPlan::kScaleBlock)
      add(tileM, tileN, 1, 1, 1, k);
  };
  for (int64_t group : {1, 2})
    for (int64_t tileM : {64, 128, 256})
      for (int64_t tileN : getTileNs())
        if (tileM >= 64 * group)
          for (auto [m, n] : {std::pair(1, 1), {2, 1}, {1, 2}, {2, 2}})
            addCluster(tileM, tileN, group, m * group, n);
  for (int64_t tileM : {64, 128})
    for (int64_t tileN : getTileNs())
      for (int64_t k : {2, 4, 8})
        addSplit(tileM, tileN, k);
  // Where an MMA has more rows than the result, operands swapped.
  constexpr int64_t kMmaRows = 64;
  if (!usesWarpgroups || extents.m >= kMmaRows)
    return configs;
  // CTAs that divide K want eight rows each.
  int64_t most = llvm::alignTo(extents.m, 16);
  for (int64_t tileM = 8; tileM <= most && tileM < kMmaRows; tileM += 8)
    for (int64_t tileN = kMmaRows; tileN <= 256; tileN += kMmaRows) {
      add(tileM, tileN, 1, 1, 1, 1);
      for (int64_t k : {2, 4, 8})
        addSplit(tileM, tileN, k);
    }
  return configs;
}

/// Puts first the one with the fewest tiles of those that the model cannot tell
/// from the fastest: fewer tiles read less.
static void preferFewTiles(SmallVectorImpl<RankedConfig> &ranked) {
  constexpr double kAlike = 1.002;
  auto alike = llvm::make_range(
      ranked.begin(), llvm::find_if(ranked, [&](const RankedConfig &config) {
        return config.prediction.total >
               kAlike * ranked.front().prediction.total;
      }));
  auto fewest = llvm::min_element(
      alike, [](const RankedConfig &a, const RankedConfig &b) {
        return a.prediction.tiles < b.prediction.tiles;
      });
  if (fewest != ranked.end())
    std::rotate(ranked.begin(), fewest, std::next(fewest));
}

static GemmConfigAttr setLaunch(GemmConfigAttr config, bool programmatic) {
  return GemmConfigAttr::get(
      config.getContext(), config.getTileM(), config.getTileN(),
      config.getTileK(), config.getCtaGroup(), config.getClusterM(),
      config.getClusterN(), config.getSplitK(), config.getStages(),
      config.getAccumulators(), config.getScheduler(), programmatic);
}

/// The configuration, with that launch or the faster one, and its time.
static RankedConfig predict(GemmConfigAttr config, const GemmPlan &plan,
                            const chip::Machine &machine,
                            const GemmExtents &extents, LaunchChoice launch) {
  auto bytes = [](Type element) {
    return element ? element.getIntOrFloatBitWidth() / 8 : 0;
  };
  tuning::Problem problem{extents.m,
                          extents.n,
                          extents.k,
                          extents.batch,
                          bytes(plan.outputType),
                          bytes(plan.epilogue.residual)};
  auto launched = [&](bool programmatic) {
    tuning::KernelShape shape = getShape(plan);
    shape.programmatic = programmatic;
    return RankedConfig{setLaunch(config, programmatic),
                        tuning::predict(machine, problem, shape)};
  };
  if (launch != LaunchChoice::Fastest)
    return launched(launch == LaunchChoice::Programmatic);
  RankedConfig serial = launched(false), early = launched(true);
  return early.prediction.total < serial.prediction.total ? early : serial;
}

static SmallVector<RankedConfig, 0>
rank(BlockwiseGemmOp op, const chip::Chip &chip, const chip::Machine &machine,
     const GemmExtents &extents, LaunchChoice launch) {
  SmallVector<RankedConfig, 0> ranked;
  for (GemmConfigAttr config :
       getCandidates(op.getContext(), chip, machine, extents)) {
    if (std::optional<GemmPlan> plan = tryPlan(op, chip, config))
      ranked.push_back(predict(config, *plan, machine, extents, launch));
  }
  llvm::stable_sort(ranked, [](const RankedConfig &a, const RankedConfig &b) {
    return a.prediction.total < b.prediction.total;
  });
  preferFewTiles(ranked);
  return ranked;
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

StringRef mlir::fp8::stringifyConfigSource(ConfigSource source) {
  switch (source) {
  case ConfigSource::Pinned:
    return "pinned";
  case ConfigSource::Table:
    return "table";
  case ConfigSource::Model:
    return "model";
  case ConfigSource::Lowering:
    return "lowering";
  }
  llvm_unreachable("no other source");
}

/// Nothing for what is no choice.
static std::optional<LaunchChoice> parseLaunch(StringRef text) {
  return llvm::StringSwitch<std::optional<LaunchChoice>>(text)
      .Cases({"", "fastest"}, LaunchChoice::Fastest)
      .Case("serial", LaunchChoice::Serial)
      .Case("programmatic", LaunchChoice::Programmatic)
      .Default(std::nullopt);
}

/// MxNxK, each a number or a question mark.
static bool parseHint(StringRef text, std::array<int64_t, 3> &hint) {
  SmallVector<StringRef> parts;
  text.split(parts, 'x');
  if (parts.size() != hint.size())
    return false;
  for (auto [part, extent] : llvm::zip_equal(parts, hint))
    if (part != "?" && (part.getAsInteger(10, extent) || extent < 1 ||
                        extent >= GemmPlan::kMaxExtent))
      return false;
  return true;
}

FailureOr<ConfigChooser> ConfigChooser::create(ModuleOp module, StringRef pass,
                                               const ChooserOptions &options) {
  auto fail = [&]() { return module.emitError() << "--" << pass << ": "; };
  ConfigChooser chooser;
  chooser.chip = chip::lookup(options.chip);
  if (!chooser.chip)
    return module.emitError() << "unknown chip '" << options.chip
                              << "'; known are " << chip::getNames();
  chooser.hint.fill(ShapedType::kDynamic);
  if (!options.problem.empty() && !parseHint(options.problem, chooser.hint))
    return fail() << "problem must be MxNxK, such as 64x7168x2048, or ?x7168"
                     "x2048 where M is not known, but got '"
                  << options.problem << "'";
  std::optional<LaunchChoice> launch = parseLaunch(options.launch);
  if (!launch)
    return fail() << "launch must be serial, programmatic or fastest, but got '"
                  << options.launch << "'";
  chooser.launch = *launch;
  if (options.tuned.empty())
    return chooser;
  FailureOr<TunedTable> table =
      TunedTable::read(options.tuned, *chooser.chip, module.getContext(), fail);
  if (failed(table))
    return failure();
  chooser.table = std::move(*table);
  return chooser;
}

std::optional<GemmExtents> ConfigChooser::getExtents(BlockwiseGemmOp op) const {
  // Where an operand says nothing another may.
  constexpr int64_t kGuess = 4096;
  int64_t axis = op.getBatchAxes();
  auto dim = [](Value memref, int64_t axis) {
    return cast<MemRefType>(memref.getType()).getDimSize(axis);
  };
  auto firstKnown = [](std::initializer_list<int64_t> extents) {
    for (int64_t extent : extents)
      if (!ShapedType::isDynamic(extent))
        return extent;
    return ShapedType::kDynamic;
  };
  std::array<int64_t, 3> extents = {
      firstKnown({dim(op.getD(), axis), dim(op.getA(), axis),
                  dim(op.getAScale(), axis + 1), hint[0]}),
      firstKnown({dim(op.getD(), axis + 1), dim(op.getB(), axis), hint[1]}),
      firstKnown(
          {dim(op.getA(), axis + 1), dim(op.getB(), axis + 1), hint[2]})};
  if (llvm::all_of(extents, ShapedType::isDynamic))
    return std::nullopt;
  int64_t batch = axis ? firstKnown({dim(op.getD(), 0), dim(op.getA(), 0),
                                     dim(op.getB(), 0), 1})
                       : 1;
  // An extent of 0 leaves nothing to choose by.
  auto orGuess = [](int64_t extent) {
    return ShapedType::isDynamic(extent) ? kGuess
                                         : std::max<int64_t>(extent, 1);
  };
  return GemmExtents{orGuess(extents[0]), orGuess(extents[1]),
                     orGuess(extents[2]), std::max<int64_t>(batch, 1)};
}

GemmConfigAttr ConfigChooser::lookup(BlockwiseGemmOp op,
                                     const GemmExtents &extents) const {
  const TunedTable::Entry *entry = table ? table->lookup(extents) : nullptr;
  if (!entry)
    return {};
  std::optional<GemmPlan> plan = tryPlan(op, *chip, entry->config);
  if (!plan)
    return {};
  // Which launch is the faster depends on the rows of tiles: where M has others
  // than the M that was measured, the model says.
  auto rows = [&](int64_t m) {
    return llvm::divideCeil(m, entry->config.getTileM());
  };
  if (launch == LaunchChoice::Fastest && rows(entry->m) == rows(extents.m))
    return entry->config;
  return predict(entry->config, *plan, getMachine(), extents, launch).config;
}

ConfigChoice ConfigChooser::choose(BlockwiseGemmOp op) const {
  ConfigChoice choice{
      ConfigSource::Lowering, op.getConfigAttr(), getExtents(op), {}};
  if (choice.extents)
    choice.ranked = rank(op, *chip, getMachine(), *choice.extents, launch);
  if (choice.config) {
    choice.source = ConfigSource::Pinned;
    return choice;
  }
  if (GemmConfigAttr config =
          choice.extents ? lookup(op, *choice.extents) : nullptr) {
    choice.config = config;
    choice.source = ConfigSource::Table;
  } else if (!choice.ranked.empty()) {
    choice.config = choice.ranked.front().config;
    choice.source = ConfigSource::Model;
  } else if (!choice.extents && launch == LaunchChoice::Programmatic) {
    choice.config = setLaunch(getConfig(op.getContext(), GemmPlan::kDefaultTile,
                                        GemmPlan::kDefaultTile, 1, 1, 1, 1),
                              /*programmatic=*/true);
  }
  return choice;
}
