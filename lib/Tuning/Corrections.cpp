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
/// Squared distances beyond which a kernel's measurements weigh nothing.
static constexpr float kFar = 5;

static float square(float value) { return value * value; }

/// About exp(-distance), by multiplications alone, which compilers vectorise.
static float getWeight(float distance) {
  float base = std::max(1 - distance / 16, 0.0F);
  return square(square(square(square(base))));
}

Corrections::KernelPlace Corrections::placeKernel(const GemmConfig &config) {
  constexpr double kOfKernel = 4.5;
  auto place = [](int64_t extent) {
    return static_cast<float>(kOfKernel * std::log(double(extent)));
  };
  return {place(config.tileM), place(config.tileN), place(config.cluster.k)};
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
  std::array<double, 6> place = {kOfM * std::log(double(problem.m)),
                                 kOfN * std::log(double(problem.n)),
                                 kOfK * std::log(double(problem.k)),
                                 kOfFill * tiles / waves,
                                 kOfWaves * std::log(waves),
                                 kOfRows * double(std::min(rows, kSeveral))};
  ProblemPlace result;
  std::copy(place.begin(), place.end(), result.begin());
  return result;
}

void Corrections::add(const GemmConfig &config,
                      const std::vector<Measured> &measured) {
  Group group{placeKernel(config), config.signalsAtWait, {}, {}};
  for (const Measured &one : measured) {
    ProblemPlace place = placeProblem(config, {one.m, one.n, one.k});
    for (size_t axis = 0; axis < place.size(); ++axis)
      group.problems[axis].push_back(place[axis]);
    group.logs.push_back(static_cast<float>(std::log(one.ratio)));
  }
  groups.push_back(std::move(group));
}

double Corrections::Sum::getFactor() const {
  return std::clamp(std::exp(double(log) / (weight + kPrior)), kLeast, kMost);
}

Corrections::Sum Corrections::Group::weigh(float ofKernel,
                                           const ProblemPlace &place) const {
  Sum sum;
  constexpr size_t kChunk = 64;
  std::array<float, kChunk> weights;
  for (size_t first = 0; first < logs.size(); first += kChunk) {
    size_t count = std::min(kChunk, logs.size() - first);
    std::fill_n(weights.begin(), count, ofKernel);
    for (size_t axis = 0; axis < place.size(); ++axis)
      for (size_t i = 0; i < count; ++i)
        weights[i] += square(problems[axis][first + i] - place[axis]);
    for (size_t i = 0; i < count; ++i)
      weights[i] = getWeight(weights[i]);
    for (size_t i = 0; i < count; ++i) {
      sum.weight += weights[i];
      sum.log += weights[i] * logs[first + i];
    }
  }
  return sum;
}

static void scale(Prediction &prediction, double factor) {
  prediction.correction = (factor - 1) * prediction.total;
  prediction.total *= factor;
}

void Corrections::apply(const GemmConfig &config, const Problem &problem,
                        Predictions &times) const {
  KernelPlace kernel = placeKernel(config);
  ProblemPlace place = placeProblem(config, problem);
  Sum inFront, behindWait;
  for (const Group &group : groups) {
    float ofKernel = 0;
    for (size_t axis = 0; axis < kernel.size(); ++axis)
      ofKernel += square(group.kernel[axis] - kernel[axis]);
    if (ofKernel > kFar)
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
