// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses the configuration of a GEMM op: makes every candidate's schedule, and
// ranks those that can be kernels by the cost model.

#include "ConfigChooser.h"
#include "GemmSchedule.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringSwitch.h"

#include <numeric>

using namespace mlir;
using namespace mlir::fp8;

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

/// The schedule of the op with that configuration; null if it is no kernel that
/// is worth trying. Errors are not shown.
static std::unique_ptr<GemmSchedule> trySchedule(BlockwiseGemmOp op,
                                                 const chip::Chip &chip,
                                                 const GemmConfig &config) {
  ScopedDiagnosticHandler silent(op.getContext(),
                                 [](Diagnostic &) { return success(); });
  FailureOr<std::unique_ptr<GemmSchedule>> chosen =
      GemmSchedule::choose(op, config, chip);
  constexpr int64_t kLeastStages = 2;
  if (failed(chosen))
    return nullptr;
  const GemmSchedule &schedule = **chosen;
  if (schedule.stages < kLeastStages || schedule.spills())
    return nullptr;
  // CTAs that copy nothing for one another need not wait for one another.
  if ((schedule.cluster.n > 1 && !schedule.multicastsA()) ||
      (schedule.cluster.m > schedule.ctaGroup && !schedule.multicastsB()))
    return nullptr;
  return std::move(*chosen);
}

/// The one with the fewest tiles of those that the model cannot tell from the
/// fastest, for fewer tiles read less; of several the fastest, or the first.
template <typename Range>
static auto findBest(Range &ranked) {
  constexpr double kAlike = 1.002;
  auto byTime = [](const RankedConfig &a, const RankedConfig &b) {
    return a.prediction.total < b.prediction.total;
  };
  auto best = llvm::min_element(ranked, byTime);
  if (best == ranked.end())
    return best;
  double most = kAlike * best->prediction.total;
  auto rank = [](const RankedConfig &one) {
    return std::pair(one.prediction.tiles, one.prediction.total);
  };
  for (auto it = ranked.begin(); it != ranked.end(); ++it)
    if (it->prediction.total <= most && rank(*it) < rank(*best))
      best = it;
  return best;
}

/// The configuration, with that launch or the faster one, and its time.
static RankedConfig predict(const GemmConfig &config,
                            const tuning::KernelShape &shape,
                            const chip::Machine &machine,
                            const tuning::Problem &problem,
                            LaunchChoice launch) {
  tuning::Predictions both = tuning::predictLaunches(machine, problem, shape);
  bool programmatic = launch == LaunchChoice::Fastest
                          ? both.programmatic.total < both.serial.total
                          : launch == LaunchChoice::Programmatic;
  RankedConfig ranked{config, programmatic ? both.programmatic : both.serial};
  ranked.config.programmatic = programmatic;
  return ranked;
}

/// The op's problem, as the cost model has it.
static tuning::Problem describe(BlockwiseGemmOp op,
                                const GemmExtents &extents) {
  GemmProblem problem(op);
  auto bytes = [&](gemm::Operand operand) {
    Type element = problem.getElementType(operand);
    return element ? element.getIntOrFloatBitWidth() / 8 : 0;
  };
  return {extents.m,
          extents.n,
          extents.k,
          extents.batch,
          bytes(gemm::Operand::D),
          bytes(gemm::Operand::C)};
}

const CandidateShape &ConfigChooser::getShape(BlockwiseGemmOp op,
                                              const GemmConfig &config) const {
  auto [found, isNew] = shapes[op].try_emplace(config);
  if (isNew)
    if (auto schedule = trySchedule(op, *chip, config))
      found->second = schedule->getShape();
  return found->second;
}

GemmConfig ConfigChooser::placeEdge(BlockwiseGemmOp op, GemmConfig config,
                                    int64_t m) const {
  bool known = !ShapedType::isDynamic(
      cast<MemRefType>(op.getD().getType()).getDimSize(op.getBatchAxes()));
  if (m <= config.tileM || (known && m % config.tileM == 0))
    return config;
  const GemmConfig last = config;
  config.edgeFirst = true;
  return getShape(op, config) ? config : last;
}

SmallVector<RankedConfig, 0>
ConfigChooser::predictAll(BlockwiseGemmOp op,
                          const GemmExtents &extents) const {
  SmallVector<RankedConfig, 0> all;
  tuning::Problem problem = describe(op, extents);
  SmallVector<GemmConfig> configs = GemmSchedule::getCandidates(*chip, extents);
  all.reserve(configs.size());
  for (const GemmConfig &config : configs) {
    GemmConfig placed = placeEdge(op, config, extents.m);
    if (const CandidateShape &shape = getShape(op, placed))
      all.push_back(predict(placed, *shape, getMachine(), problem, launch));
  }
  return all;
}

SmallVector<RankedConfig, 0>
ConfigChooser::rank(BlockwiseGemmOp op, const GemmExtents &extents) const {
  SmallVector<RankedConfig, 0> ranked = predictAll(op, extents);
  llvm::stable_sort(ranked, [](const RankedConfig &a, const RankedConfig &b) {
    return a.prediction.total < b.prediction.total;
  });
  if (auto best = findBest(ranked); best != ranked.end())
    std::rotate(ranked.begin(), best, std::next(best));
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
                        extent >= gemm::kExtentLimit))
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
    return fail() << "problem must be MxNxK, such as 64x7168x2048, or "
                     "?x7168x2048 where M is unknown, but got '"
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

std::optional<GemmConfig>
ConfigChooser::lookup(BlockwiseGemmOp op, const GemmExtents &extents) const {
  const TunedTable::Entry *entry = table ? table->lookup(extents) : nullptr;
  if (!entry)
    return std::nullopt;
  const CandidateShape &shape = getShape(op, entry->config);
  if (!shape)
    return std::nullopt;
  // What was measured says nothing of other rows of tiles, and little where
  // more than a quarter of a tile lies beyond M.
  int64_t tileM = entry->config.tileM,
          rows = llvm::divideCeil(extents.m, tileM);
  if (rows != int64_t(llvm::divideCeil(entry->m, tileM)) ||
      rows * tileM - extents.m >= std::max<int64_t>(tileM / 4, 8))
    return std::nullopt;
  GemmConfig config = placeEdge(op, entry->config, extents.m);
  if (launch == LaunchChoice::Fastest)
    return config;
  return predict(config, *shape, getMachine(), describe(op, extents), launch)
      .config;
}

ConfigChoice ConfigChooser::choose(BlockwiseGemmOp op) const {
  ConfigChoice choice{
      ConfigSource::Lowering, op.getConfig(), getExtents(op), {}};
  if (choice.extents)
    choice.ranked = rank(op, *choice.extents);
  if (choice.config) {
    choice.source = ConfigSource::Pinned;
    return choice;
  }
  if (choice.extents)
    choice.config = lookup(op, *choice.extents);
  if (choice.config) {
    choice.source = ConfigSource::Table;
  } else if (!choice.ranked.empty()) {
    choice.config = choice.ranked.front().config;
    choice.source = ConfigSource::Model;
  } else {
    choice.config = chooseUnpredicted(choice.extents);
  }
  return choice;
}

std::optional<GemmConfig> ConfigChooser::chooseUnpredicted(
    const std::optional<GemmExtents> &extents) const {
  if (extents || launch != LaunchChoice::Programmatic)
    return std::nullopt;
  GemmConfig config;
  config.programmatic = true;
  return config;
}

std::optional<GemmConfig>
ConfigChooser::chooseConfig(BlockwiseGemmOp op) const {
  std::optional<GemmExtents> extents = getExtents(op);
  if (!extents)
    return chooseUnpredicted(extents);
  if (std::optional<GemmConfig> measured = lookup(op, *extents))
    return measured;
  SmallVector<RankedConfig, 0> all = predictAll(op, *extents);
  auto best = findBest(all);
  return best == all.end() ? chooseUnpredicted(extents)
                           : std::optional(best->config);
}
