// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What kernels took on a GPU, over what the cost model predicts, as a
// correction of the model for kernels and problems that are alike
// (docs/Chooser.md, "Corrections").
#ifndef FP8_TUNING_CORRECTIONS_H
#define FP8_TUNING_CORRECTIONS_H

#include "fp8/Tuning/CostModel.h"

#include <vector>

namespace fp8::tuning {

/// Measurements of kernels on one GPU.
class Corrections {
public:
  /// The GPU has as many SMs.
  explicit Corrections(int64_t multiprocessors)
      : multiprocessors(multiprocessors) {}

  /// The times of the problems that were measured with one configuration.
  struct Measured {
    int64_t m, n, k;
    double ratio; ///< of the time to the model's, more than 0
  };
  void add(const config::GemmConfig &config,
           const std::vector<Measured> &measured);

  bool empty() const { return groups.empty(); }

  /// No correction is below the first, or above the second.
  static constexpr double kLeast = 0.92, kMost = 1.09;

  /// Scales the predictions of a kernel on a problem by the mean of what was
  /// measured, in which near measurements weigh most. Long products are left
  /// alone: what was measured is of shorter ones, and power decides.
  void apply(const config::GemmConfig &config, const Problem &problem,
             Predictions &times) const;

private:
  /// Where a kernel lies among kernels, and where a problem lies for a kernel:
  /// what runs alike is near.
  using KernelPlace = std::array<float, 4>;
  using ProblemPlace = std::array<float, 6>;
  static KernelPlace placeKernel(const config::GemmConfig &config);
  ProblemPlace placeProblem(const config::GemmConfig &config,
                            const Problem &problem) const;

  /// Weights, and the sum of what they weigh.
  struct Sum {
    float weight = 0, log = 0;
    double getFactor() const;
  };

  /// As many measurements are weighed at a time, by vectors of GCC's and
  /// Clang's: compilers unroll such loops before they vectorise them.
  static constexpr size_t kLanes = 4;
  using Floats = float __attribute__((vector_size(kLanes * sizeof(float))));
  struct Lanes {
    /// Of the problems, a coordinate after the other.
    std::array<Floats, std::tuple_size_v<ProblemPlace>> problems;
    Floats logs; ///< of the ratios
    /// The first coordinates are within these.
    float least, most;
  };

  /// What was measured of kernels of one place and one signal, by the first
  /// coordinate.
  struct Group {
    KernelPlace kernel;
    bool signalsAtWait;
    std::vector<Lanes> measured;

    /// Weighs what was measured, of kernels at that squared distance.
    Sum weigh(float ofKernel, const ProblemPlace &place) const;
  };

  int64_t multiprocessors;
  std::vector<Group> groups;
};

} // namespace fp8::tuning

#endif // FP8_TUNING_CORRECTIONS_H
