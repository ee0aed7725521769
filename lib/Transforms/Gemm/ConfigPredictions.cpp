// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Predicts the candidates of a GEMM op: makes every candidate's schedule, and
// ranks those that can be kernels by the cost model.

#include "ConfigChooser.h"
#include "GemmSchedule.h"
#include "LaunchRanking.h"

#include "mlir/IR/Diagnostics.h"

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

static bool isBetter(const RankedConfig &a, const RankedConfig &b) {
  return a.meanUs < b.meanUs;
}

/// The one with the fewest tiles of those that the model cannot tell from the
/// best, for fewer tiles read less; of several the best, or the first.
static constexpr double kAlike = 1.002;
template <typename Range>
static auto findBest(Range &ranked) {
  auto best = llvm::min_element(ranked, isBetter);
  if (best == ranked.end())
    return best;
  double most = kAlike * best->meanUs;
  auto rank = [](const RankedConfig &one) {
    return std::pair(one.prediction.tiles, one.meanUs);
  };
  for (auto it = ranked.begin(); it != ranked.end(); ++it)
    if (it->meanUs <= most && rank(*it) < rank(*best))
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

/// The edge that a kernel has for M of about `m`, if that can be.
static Edge getUsualEdge(BlockwiseGemmOp op, int64_t tileM, int64_t m) {
  return mayEndWithin(op, tileM, m) ? Edge::First : Edge::Last;
}

const Candidate &ConfigChooser::EachEdge::get(const ConfigChooser &chooser,
                                              BlockwiseGemmOp op,
                                              const GemmConfig &config) {
  std::optional<Candidate> &kept = kinds[size_t(config.edge)];
  if (!kept)
    kept = chooser.makeCandidate(op, config);
  return *kept;
}

const Candidate &ConfigChooser::EachEdge::getUsual(const ConfigChooser &chooser,
                                                   BlockwiseGemmOp op,
                                                   GemmConfig &config,
                                                   int64_t m) {
  config.edge = getUsualEdge(op, config.tileM, m);
  if (const Candidate &candidate = get(chooser, op, config);
      candidate || config.edge == Edge::Last)
    return candidate;
  config.edge = Edge::Last;
  return get(chooser, op, config);
}

namespace {
struct PredictedConfig {
  GemmConfig config;
  const tuning::KernelModel *model;
  tuning::Predictions times;
  double meanUs; ///< of the best launch
};
} // namespace

/// Corrects the predictions by what was measured, if anything was.
static void correctOne(PredictedConfig &one,
                       const tuning::Corrections *corrections,
                       const tuning::Problem &problem, LaunchChoice launch) {
  if (corrections && one.model->getKernel().promotes)
    corrections->apply(one.config, problem, one.times);
  one.meanUs = getBestMean(*one.model, one.times, launch);
}

/// Corrects the predictions by what was measured. With `onlyBest` those are
/// left out that cannot become the best.
static SmallVector<const PredictedConfig *, 0>
correct(MutableArrayRef<PredictedConfig> all,
        const tuning::Corrections &corrections, const tuning::Problem &problem,
        LaunchChoice launch, bool onlyBest) {
  SmallVector<PredictedConfig *, 0> order =
      llvm::map_to_vector<0>(all, [](PredictedConfig &one) { return &one; });
  if (onlyBest)
    llvm::stable_sort(order,
                      [](auto *a, auto *b) { return a->meanUs < b->meanUs; });
  double best = std::numeric_limits<double>::infinity();
  SmallVector<const PredictedConfig *, 0> corrected;
  for (PredictedConfig *one : order) {
    if (onlyBest && one->meanUs * corrections.kLeast > kAlike * best)
      break;
    correctOne(*one, &corrections, problem, launch);
    best = std::min(best, one->meanUs);
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
          limit = kAlike * one.meanUs / least;
        }
  auto add = [&](const GemmConfig &config, const Candidate &candidate) {
    auto times = candidate ? candidate->predict(problem, limit) : std::nullopt;
    if (!times)
      return;
    double meanUs = getBestMean(*candidate, *times, launch);
    all.push_back({config, &*candidate, *times, meanUs});
    if (onlyBest)
      limit = std::min(limit, kAlike * most * meanUs / least);
  };
  bool isExact = knowsM(op);
  for (GemmConfig &config : configs) {
    EachEdge &edges = known[getKey(config)];
    const Candidate &usual = edges.getUsual(*this, op, config, extents.m);
    add(config, usual);
    // Rows of zeros may draw less power than rows that are computed twice. With
    // another M they may cost much.
    if (isExact && config.edge == Edge::First && usual->gainsByZeros(problem)) {
      config.edge = Edge::Last;
      add(config, edges.get(*this, op, config));
    }
    // Boxes of the rows that exist cost more instructions, and may save much.
    if (usual && usual->gainsByFit(problem)) {
      config.edge = Edge::Fit;
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
  llvm::stable_sort(ranked, isBetter);
  if (auto best = findBest(ranked); best != ranked.end())
    std::rotate(ranked.begin(), best, std::next(best));
  return ranked;
}

TimedConfig ConfigChooser::chooseBest(BlockwiseGemmOp op,
                                      const GemmExtents &extents) const {
  SmallVector<RankedConfig, 0> all = predictAll(op, extents, /*onlyBest=*/true);
  auto best = findBest(all);
  if (best == all.end())
    return {chooseUnpredicted(extents)};
  lastBest[op] = getKey(best->config);
  return {best->config, best->meanUs};
}
