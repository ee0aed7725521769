// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Levenberg and Marquardt's method over the logarithms of the constants, the
// residuals reweighted to bound what one measurement can do.
#include "fp8/Tuning/Fit.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <tuple>

using namespace fp8::tuning;
namespace chip = fp8::chip;

namespace {

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

/// Beyond this relative error a residual counts by its size, not its square.
constexpr double kOutlier = 0.04;
/// The weight of the common error of a problem's kernels, beside theirs.
constexpr double kCommonWeight = 0.5;
/// The error that moving a constant by a factor of e costs, per measurement.
constexpr double kStay = 0.01;
constexpr int kSteps = 60;

/// The constants that are fitted, as logarithms over those at the start.
class Constants {
public:
  Constants(const Machine &start, const std::vector<std::string> &names)
      : start(start) {
    auto isNamed = [&](const chip::MachineConstant &constant) {
      return names.empty() || std::find(names.begin(), names.end(),
                                        constant.name) != names.end();
    };
    // A constant of 0 has no scale to be moved by.
    for (const chip::MachineConstant &constant : chip::getMachineConstants())
      if (constant.isFitted && isNamed(constant) && constant.get(start) > 0)
        fitted.push_back(&constant);
  }
  size_t size() const { return fitted.size(); }
  Machine at(const Vector &point) const {
    Machine machine = start;
    for (size_t i = 0; i < fitted.size(); ++i)
      fitted[i]->set(machine,
                     std::clamp(fitted[i]->get(start) * std::exp(point[i]),
                                fitted[i]->least, fitted[i]->most));
    return machine;
  }

private:
  const Machine &start;
  std::vector<const chip::MachineConstant *> fitted;
};

/// The measurements of each problem.
std::vector<std::vector<size_t>>
groupByProblem(const std::vector<Measurement> &measured) {
  std::map<std::tuple<int64_t, int64_t, int64_t, int64_t>, std::vector<size_t>>
      groups;
  for (size_t i = 0; i < measured.size(); ++i) {
    const Problem &problem = measured[i].problem;
    groups[{problem.m, problem.n, problem.k, problem.batch}].push_back(i);
  }
  std::vector<std::vector<size_t>> result;
  for (auto &[problem, members] : groups)
    result.push_back(std::move(members));
  return result;
}

double logError(const Machine &machine, const Measurement &one) {
  return std::log(predict(machine, one.problem, one.kernel).total / one.us);
}

/// Of each measurement its distance from the common error of its problem, and
/// of each problem that error.
Vector getResiduals(const Machine &machine,
                    const std::vector<Measurement> &measured,
                    const std::vector<std::vector<size_t>> &groups) {
  Vector residuals(measured.size());
  for (size_t i = 0; i < measured.size(); ++i)
    residuals[i] = logError(machine, measured[i]);
  for (const std::vector<size_t> &members : groups) {
    // The median, which no outlier moves.
    Vector sorted;
    for (size_t member : members)
      sorted.push_back(residuals[member]);
    std::sort(sorted.begin(), sorted.end());
    size_t half = sorted.size() / 2;
    double common = (sorted[half] + sorted[sorted.size() - 1 - half]) / 2;
    if (members.size() > 1)
      for (size_t member : members)
        residuals[member] -= common;
    residuals.push_back(kCommonWeight * common * std::sqrt(members.size()));
  }
  return residuals;
}

/// Huber's loss: a half of the square, or what goes on straight.
double getLoss(double residual) {
  double size = std::abs(residual);
  return size <= kOutlier ? size * size / 2 : kOutlier * (size - kOutlier / 2);
}
double getWeight(double residual) {
  double size = std::abs(residual);
  return size <= kOutlier ? 1 : kOutlier / size;
}

/// Solves a symmetric positive definite system by Cholesky's method.
Vector solve(Matrix a, Vector b) {
  size_t n = b.size();
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      double sum = a[i][j];
      for (size_t k = 0; k < j; ++k)
        sum -= a[i][k] * a[j][k];
      a[i][j] = i == j ? std::sqrt(std::max(sum, 1e-300)) : sum / a[j][j];
    }
    for (size_t k = 0; k < i; ++k)
      b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
  for (size_t i = n; i-- > 0;) {
    for (size_t k = i + 1; k < n; ++k)
      b[i] -= a[k][i] * b[k];
    b[i] /= a[i][i];
  }
  return b;
}

class Fitter {
public:
  Fitter(const Machine &start, const std::vector<Measurement> &measured,
         const std::vector<std::string> &names)
      : constants(start, names), measured(measured),
        groups(groupByProblem(measured)),
        stay(kStay * kStay * measured.size()) {}

  Machine run() {
    Vector point(constants.size(), 0);
    double loss = getTotalLoss(point), damping = 1e-3;
    for (int step = 0; step < kSteps && damping < 1e9; ++step) {
      auto [curvature, slope] = linearise(point);
      for (size_t i = 0; i < point.size(); ++i)
        curvature[i][i] *= 1 + damping;
      Vector moved = point, by = solve(std::move(curvature), std::move(slope));
      for (size_t i = 0; i < point.size(); ++i)
        moved[i] -= std::clamp(by[i], -0.5, 0.5);
      double then = getTotalLoss(moved);
      bool isBetter = then < loss;
      damping *= isBetter ? 0.3 : 5;
      if (isBetter) {
        point = std::move(moved);
        loss = then;
      }
    }
    return constants.at(point);
  }

private:
  double getTotalLoss(const Vector &point) const {
    double loss = 0;
    for (double residual : getResiduals(constants.at(point), measured, groups))
      loss += getLoss(residual);
    for (double moved : point)
      loss += stay * moved * moved / 2;
    return loss;
  }

  /// The matrix and the right side of Gauss and Newton's step.
  std::pair<Matrix, Vector> linearise(const Vector &point) const {
    constexpr double kApart = 1e-4;
    size_t n = point.size();
    Vector residuals = getResiduals(constants.at(point), measured, groups);
    Matrix slopes;
    for (size_t i = 0; i < n; ++i) {
      Vector moved = point;
      moved[i] += kApart;
      slopes.push_back(getResiduals(constants.at(moved), measured, groups));
      for (size_t j = 0; j < residuals.size(); ++j)
        slopes[i][j] = (slopes[i][j] - residuals[j]) / kApart;
    }
    Matrix curvature(n, Vector(n, 0));
    Vector slope(n);
    for (size_t i = 0; i < n; ++i) {
      slope[i] = stay * point[i];
      for (size_t j = 0; j < residuals.size(); ++j)
        slope[i] += getWeight(residuals[j]) * slopes[i][j] * residuals[j];
      for (size_t k = 0; k <= i; ++k) {
        for (size_t j = 0; j < residuals.size(); ++j)
          curvature[i][k] +=
              getWeight(residuals[j]) * slopes[i][j] * slopes[k][j];
        curvature[k][i] = curvature[i][k];
      }
      curvature[i][i] += stay;
    }
    return {std::move(curvature), std::move(slope)};
  }

  Constants constants;
  const std::vector<Measurement> &measured;
  std::vector<std::vector<size_t>> groups;
  double stay;
};

} // namespace

Fit fp8::tuning::judge(const Machine &machine,
                       const std::vector<Measurement> &measured) {
  assert(!measured.empty() && "nothing to judge by");
  Vector errors;
  for (const Measurement &one : measured)
    errors.push_back(std::abs(std::expm1(logError(machine, one))));
  std::sort(errors.begin(), errors.end());
  return {machine, errors[errors.size() / 2], errors[errors.size() * 9 / 10]};
}

Fit fp8::tuning::fit(const Machine &start,
                     const std::vector<Measurement> &measured,
                     const std::vector<std::string> &names) {
  return judge(Fitter(start, measured, names).run(), measured);
}
