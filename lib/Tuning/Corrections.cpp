// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Corrects the cost model by what was measured nearby: the mean of the
// logarithms, by Nadaraya and Watson's estimator with a Gaussian kernel. The
// scales of the places were chosen by cross-validation over the surveys of an
// H200 (benchmark/notes/chooser.md).

#include "fp8/Tuning/Corrections.h"
#include "Blocks.h"

#include <algorithm>
#include <cmath>

using namespace fp8::tuning;
using fp8::config::GemmConfig;

/// Where nothing is near, the weight of a correction of none.
static constexpr float kPrior = 1;
/// Of another signal a measurement weighs exp(-1).
static constexpr float kOfOtherSignal = 0.37F;
/// Squared distances beyond which a measurement weighs nothing.
static constexpr float kFar = 5;
/// Predictions that are corrected in full, and not at all, in microseconds.
static constexpr double kShortUs = 60, kLongUs = 120;

static float square(float value) { return value * value; }

Corrections::KernelPlace Corrections::placeKernel(const GemmConfig &config) {
  constexpr double kOfKernel = 4.5;
  // Rows beyond M, which other kernels wait for, are no part of its times.
  constexpr float kOfFit = 1;
  auto place = [](int64_t extent) {
    return static_cast<float>(kOfKernel * std::log(double(extent)));
  };
  bool fits = config.edge == fp8::config::Edge::Fit;
  return {place(config.tileM), place(config.tileN), place(config.cluster.k),
          fits ? kOfFit : 0};
}

Corrections::ProblemPlace
Corrections::placeProblem(const GemmConfig &config,
                          const Problem &problem) const {
  constexpr double kOfM = 0.5, kOfN = 0.85, kOfK = 1.2, kOfFill = 6,
                   kOfWaves = 2, kOfRows = 1.4;
  constexpr int64_t kSeveral = 3; // rows of tiles are alike from there on
  int64_t rows = ceilDiv(problem.m, config.tileM);
  double tiles = double(problem.batch) * rows *
                 ceilDiv(problem.n, config.tileN) * config.cluster.k /
                 multiprocessors,
         waves = std::max(std::ceil(tiles), 1.0);
  // How full the SMs are comes first, for it tells most problems apart.
  std::array<double, 6> place = {kOfFill * tiles / waves,
                                 kOfM * std::log(double(problem.m)),
                                 kOfN * std::log(double(problem.n)),
                                 kOfK * std::log(double(problem.k)),
                                 kOfWaves * std::log(waves),
                                 kOfRows * double(std::min(rows, kSeveral))};
  ProblemPlace result;
  std::copy(place.begin(), place.end(), result.begin());
  return result;
}

void Corrections::add(const GemmConfig &config,
                      const std::vector<Measured> &measured) {
  std::vector<std::pair<ProblemPlace, float>> places;
  for (const Measured &one : measured)
    places.emplace_back(placeProblem(config, {one.m, one.n, one.k}),
                        static_cast<float>(std::log(one.ratio)));
  std::sort(places.begin(), places.end());
  Group group{placeKernel(config), config.signalsAtWait, {}};
  for (size_t first = 0; first < places.size(); first += kLanes) {
    size_t last = std::min(first + kLanes, places.size()) - 1;
    Lanes &lanes = group.measured.emplace_back();
    lanes.least = places[first].first[0];
    lanes.most = places[last].first[0];
    for (size_t lane = 0; lane < kLanes; ++lane) {
      // Lanes that are left over are too far away to weigh anything.
      constexpr float kNowhere = 1e3F;
      bool isLeft = first + lane > last;
      const auto &[place, log] = places[std::min(first + lane, last)];
      for (size_t axis = 0; axis < place.size(); ++axis)
        lanes.problems[axis][lane] = isLeft ? kNowhere : place[axis];
      lanes.logs[lane] = isLeft ? 0 : log;
    }
  }
  groups.push_back(std::move(group));
}

double Corrections::Sum::getFactor() const {
  return std::clamp(std::exp(double(log) / (weight + kPrior)), kLeast, kMost);
}

Corrections::Sum Corrections::Group::weigh(float ofKernel,
                                           const ProblemPlace &place) const {
  Floats weights{}, logs{};
  float reach = std::sqrt(kFar - ofKernel);
  for (const Lanes &lanes : measured) {
    if (lanes.most < place[0] - reach)
      continue;
    if (lanes.least > place[0] + reach)
      break;
    Floats distance = ofKernel - Floats{};
    for (size_t axis = 0; axis < place.size(); ++axis) {
      Floats apart = lanes.problems[axis] - place[axis];
      distance += apart * apart;
    }
    // About exp(-distance), by multiplications alone.
    Floats weight = 1 - distance / 16;
    weight = weight > 0 ? weight : Floats{};
    for (int squared = 0; squared < 4; ++squared)
      weight *= weight;
    weights += weight;
    logs += weight * lanes.logs;
  }
  Sum sum;
  for (size_t lane = 0; lane < kLanes; ++lane) {
    sum.weight += weights[lane];
    sum.log += logs[lane];
  }
  return sum;
}

static void scale(Prediction &prediction, double factor) {
  double part =
      std::clamp((kLongUs - prediction.total) / (kLongUs - kShortUs), 0.0, 1.0);
  factor = 1 + part * (factor - 1);
  prediction.correction = (factor - 1) * prediction.total;
  prediction.total *= factor;
}

void Corrections::apply(const GemmConfig &config, const Problem &problem,
                        Predictions &times) const {
  if (std::min({times.serial.total, times.programmatic.total,
                times.early.total}) >= kLongUs)
    return;
  KernelPlace kernel = placeKernel(config);
  ProblemPlace place = placeProblem(config, problem);
  Sum inFront, behindWait;
  for (const Group &group : groups) {
    float ofKernel = 0;
    for (size_t axis = 0; axis < kernel.size(); ++axis)
      ofKernel += square(group.kernel[axis] - kernel[axis]);
    if (ofKernel >= kFar)
      continue;
    Sum sum = group.weigh(ofKernel, place);
    auto addTo = [&](Sum &all, bool signalsAtWait) {
      float part = group.signalsAtWait == signalsAtWait ? 1 : kOfOtherSignal;
      all.weight += part * sum.weight;
      all.log += part * sum.log;
    };
    addTo(inFront, false);
    addTo(behindWait, true);
  }
  scale(times.serial, inFront.getFactor());
  scale(times.programmatic, inFront.getFactor());
  scale(times.early, behindWait.getFactor());
}
