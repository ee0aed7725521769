// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses the configuration of a GEMM op: makes every candidate's schedule, and
// ranks those that can be kernels by the cost model.

#include "ConfigChooser.h"
#include "GemmSchedule.h"
#include "LaunchRanking.h"

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
static constexpr double kAlike = 1.002;
static bool isFaster(const RankedConfig &a, const RankedConfig &b) {
  return a.prediction.total < b.prediction.total;
}
template <typename Range>
static auto findBest(Range &ranked) {
  auto best = llvm::min_element(ranked, isFaster);
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

/// Tells the configurations of GemmSchedule::getCandidates apart, which vary
/// nothing else that the cost model knows.
static uint64_t getKey(const GemmConfig &config) {
  uint64_t key = 0;
  for (int64_t number : {config.tileM, config.tileN, config.ctaGroup,
                         config.cluster.m, config.cluster.n, config.cluster.k})
    key = key << 9 | number;
  return key << 2 | config.lanesLoadBScales << 1 | (config.band != 0);
}

tuning::Problem ConfigChooser::describe(BlockwiseGemmOp op,
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

Candidate ConfigChooser::makeCandidate(BlockwiseGemmOp op,
                                       const GemmConfig &config) const {
  auto schedule = trySchedule(op, chip, config);
  return schedule ? Candidate(std::in_place, getMachine(), schedule->getShape())
                  : std::nullopt;
}

/// Whether M, of about `m`, may end within a tile that is not the only one.
static bool mayEndWithin(BlockwiseGemmOp op, int64_t tileM, int64_t m) {
  bool known = !ShapedType::isDynamic(
      cast<MemRefType>(op.getD().getType()).getDimSize(op.getBatchAxes()));
  return m > tileM && !(known && m % tileM == 0);
}

const Candidate &ConfigChooser::EitherEdge::get(const ConfigChooser &chooser,
                                                BlockwiseGemmOp op,
                                                const GemmConfig &config) {
  std::optional<Candidate> &kept = config.edgeFirst ? first : last;
  if (!kept)
    kept = chooser.makeCandidate(op, config);
  return *kept;
}

const Candidate &
ConfigChooser::EitherEdge::getUsual(const ConfigChooser &chooser,
                                    BlockwiseGemmOp op, GemmConfig &config,
                                    int64_t m) {
  config.edgeFirst = mayEndWithin(op, config.tileM, m);
  if (const Candidate &candidate = get(chooser, op, config);
      candidate || !config.edgeFirst)
    return candidate;
  config.edgeFirst = false;
  return get(chooser, op, config);
}

namespace {
struct PredictedConfig {
  GemmConfig config;
  const tuning::KernelModel *model;
  tuning::Predictions times;
  double us; ///< of the fastest launch
};
} // namespace

/// Corrects the predictions by what was measured, if anything was.
static void correctOne(PredictedConfig &one,
                       const tuning::Corrections *corrections,
                       const tuning::Problem &problem, LaunchChoice launch) {
  if (corrections && one.model->getKernel().promotes)
    corrections->apply(one.config, problem, one.times);
  one.us = getFastest(*one.model, one.times, launch);
}

/// Corrects the predictions by what was measured. With `onlyBest` those are
/// left out that cannot become the fastest.
static SmallVector<const PredictedConfig *, 0>
correct(MutableArrayRef<PredictedConfig> all,
        const tuning::Corrections &corrections, const tuning::Problem &problem,
        LaunchChoice launch, bool onlyBest) {
  SmallVector<PredictedConfig *, 0> order =
      llvm::map_to_vector<0>(all, [](PredictedConfig &one) { return &one; });
  if (onlyBest)
    llvm::stable_sort(order, [](auto *a, auto *b) { return a->us < b->us; });
  double best = std::numeric_limits<double>::infinity();
  SmallVector<const PredictedConfig *, 0> corrected;
  for (PredictedConfig *one : order) {
    if (onlyBest && one->us * corrections.kLeast > kAlike * best)
      break;
    correctOne(*one, &corrections, problem, launch);
    best = std::min(best, one->us);
    corrected.push_back(one);
  }
  return corrected;
}

SmallVector<RankedConfig, 0>
ConfigChooser::predictAll(BlockwiseGemmOp op, const GemmExtents &extents,
                          bool onlyBest) const {
  SmallVector<PredictedConfig, 0> all;
  tuning::Problem problem = describe(op, extents);
  SmallVector<GemmConfig> configs = GemmSchedule::getCandidates(chip, extents);
  all.reserve(configs.size());
  const tuning::Corrections *corrections =
      table ? table->getCorrections() : nullptr;
  // What is predicted to take longer may be corrected to less, and the best to
  // more.
  double least = corrections ? corrections->kLeast : 1,
         most = corrections ? corrections->kMost : 1,
         limit = std::numeric_limits<double>::infinity();
  auto &known = candidates[op];
  // What was the best of another problem is seldom much slower here.
  if (auto last = lastBest.find(op); onlyBest && last != lastBest.end())
    for (GemmConfig config : configs)
      if (getKey(config) == last->second)
        if (const Candidate &usual =
                known[getKey(config)].getUsual(*this, op, config, extents.m)) {
          PredictedConfig one{config, &*usual, *usual->predict(problem), 0};
          correctOne(one, corrections, problem, launch);
          limit = kAlike * one.us / least;
        }
  auto add = [&](const GemmConfig &config, const Candidate &candidate) {
    auto times = candidate ? candidate->predict(problem, limit) : std::nullopt;
    if (!times)
      return;
    double us = getFastest(*candidate, *times, launch);
    all.push_back({config, &*candidate, *times, us});
    if (onlyBest)
      limit = std::min(limit, kAlike * most * us / least);
  };
  bool isExact = knowsM(op);
  for (GemmConfig &config : configs) {
    EitherEdge &edges = known[getKey(config)];
    const Candidate &usual = edges.getUsual(*this, op, config, extents.m);
    add(config, usual);
    // Rows of zeros may draw less power than rows that are computed twice. With
    // another M they may cost much.
    if (isExact && config.edgeFirst && usual->gainsByZeros(problem)) {
      config.edgeFirst = false;
      add(config, edges.get(*this, op, config));
    }
  }
  SmallVector<RankedConfig, 0> ranked;
  ranked.reserve(all.size());
  auto rankOne = [&](const PredictedConfig &one) {
    rankLaunches(one.config, *one.model, one.times, launch, ranked);
  };
  if (corrections)
    for (const PredictedConfig *one :
         correct(all, *corrections, problem, launch, onlyBest))
      rankOne(*one);
  else
    llvm::for_each(all, rankOne);
  return ranked;
}

SmallVector<RankedConfig, 0>
ConfigChooser::rank(BlockwiseGemmOp op, const GemmExtents &extents) const {
  SmallVector<RankedConfig, 0> ranked =
      predictAll(op, roundUp(op, extents), /*onlyBest=*/false);
  llvm::stable_sort(ranked, isFaster);
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

LogicalResult
ConfigChooser::setMachine(StringRef text,
                          function_ref<InFlightDiagnostic()> emitError) {
  FailureOr<const chip::Machine *> found = findMachine(text, chip, emitError);
  if (failed(found))
    return failure();
  if (*found) {
    chip.machine = *found;
    return success();
  }
  FailureOr<std::shared_ptr<const MachineFile>> file =
      MachineFile::read(text, chip, emitError);
  if (failed(file))
    return failure();
  measured = std::move(*file);
  chip.machine = &measured->machine;
  return success();
}

FailureOr<ConfigChooser> ConfigChooser::create(ModuleOp module, StringRef pass,
                                               const ChooserOptions &options) {
  auto fail = [&]() { return module.emitError() << "--" << pass << ": "; };
  ConfigChooser chooser;
  const chip::Chip *chip = chip::lookup(options.chip);
  if (!chip)
    return module.emitError() << "unknown chip '" << options.chip
                              << "'; known are " << chip::getNames();
  chooser.chip = *chip;
  if (!options.machine.empty() &&
      failed(chooser.setMachine(options.machine, fail)))
    return failure();
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
  chooser.hintIsExact = options.exact;
  if (options.tuned.empty())
    return chooser;
  FailureOr<TunedTable> table =
      TunedTable::read(options.tuned, chooser.chip, module.getContext(), fail);
  if (failed(table))
    return failure();
  chooser.table = std::move(*table);
  return chooser;
}

static int64_t dim(Value memref, int64_t axis) {
  return cast<MemRefType>(memref.getType()).getDimSize(axis);
}

static int64_t firstKnown(std::initializer_list<int64_t> extents) {
  for (int64_t extent : extents)
    if (!ShapedType::isDynamic(extent))
      return extent;
  return ShapedType::kDynamic;
}

/// M, if the op's types say it. Where an operand says nothing another may.
static int64_t getStaticM(BlockwiseGemmOp op) {
  int64_t axis = op.getBatchAxes();
  return firstKnown({dim(op.getD(), axis), dim(op.getA(), axis),
                     dim(op.getAScale(), axis + 1)});
}

std::optional<GemmExtents> ConfigChooser::getExtents(BlockwiseGemmOp op) const {
  constexpr int64_t kGuess = 4096;
  int64_t axis = op.getBatchAxes();
  std::array<int64_t, 3> extents = {
      firstKnown({getStaticM(op), hint[0]}),
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

bool ConfigChooser::knowsM(BlockwiseGemmOp op) const {
  return !ShapedType::isDynamic(firstKnown(
      {getStaticM(op), hintIsExact ? hint[0] : ShapedType::kDynamic}));
}

GemmExtents ConfigChooser::roundUp(BlockwiseGemmOp op, GemmExtents extents) {
  constexpr int64_t kFew = 16, kMultiple = 8;
  if (extents.m > kFew && ShapedType::isDynamic(getStaticM(op)))
    extents.m = llvm::alignTo(extents.m, kMultiple);
  return extents;
}

std::optional<GemmConfig>
ConfigChooser::lookup(BlockwiseGemmOp op, const GemmExtents &extents) const {
  const TunedTable::Entry *entry = table ? table->lookup(extents) : nullptr;
  if (!entry)
    return std::nullopt;
  GemmConfig config = entry->config;
  EitherEdge &edges = entries[op][entry];
  // It was measured with its own edge, if M has one.
  bool isItself = entry->m == extents.m && extents.m % config.tileM != 0 &&
                  !config.edgeFirst && knowsM(op);
  const Candidate &candidate =
      isItself ? edges.get(*this, op, config)
               : edges.getUsual(*this, op, config, extents.m);
  if (!candidate)
    return std::nullopt;
  if (launch != LaunchChoice::Fastest)
    config.programmatic = launch == LaunchChoice::Programmatic;
  config.signalsAtWait &= config.programmatic;
  // What was measured with another M says nothing of other rows of tiles, nor
  // of copies that reach much further beyond M.
  constexpr int64_t kFar = 8;
  auto rowsOf = [&](int64_t m) {
    return int64_t(llvm::divideCeil(m, config.tileM));
  };
  bool reachesFurther = !config.edgeFirst && entry->m - extents.m >= kFar;
  if (rowsOf(extents.m) != rowsOf(entry->m) || reachesFurther)
    return std::nullopt;
  return config;
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
  GemmExtents rounded = roundUp(op, *extents);
  constexpr unsigned kMost = 1 << 16;
  if (chosen.size() >= kMost)
    chosen.clear();
  auto [known, isNew] = chosen.try_emplace(
      {op, knowsM(op), rounded.m, rounded.n, rounded.k, rounded.batch});
  if (isNew)
    known->second = chooseBest(op, rounded);
  return known->second;
}

std::optional<GemmConfig>
ConfigChooser::chooseBest(BlockwiseGemmOp op,
                          const GemmExtents &extents) const {
  SmallVector<RankedConfig, 0> all = predictAll(op, extents, /*onlyBest=*/true);
  auto best = findBest(all);
  if (best == all.end())
    return chooseUnpredicted(extents);
  lastBest[op] = getKey(best->config);
  return best->config;
}
