// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Comparing a result to the reference.
#include "fp8/Reference/Checker.h"

#include "Hints.h"
#include "fp8/Gemm/Accuracy.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace fp8::reference {
namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();

/// An overflowed value, as a number that can be subtracted: past the largest
/// finite one, but next to it.
double measurable(ElementType type, double got) {
  double past = std::ldexp(1.0, floatFormat(type)->overflowExponent());
  return std::isinf(got) ? std::copysign(past, got) : got;
}

/// |got - expected| in units of the bound.
double boundRatio(ElementType type, double got, double expected, double bound) {
  if (std::isnan(expected))
    return std::isnan(got) ? 0 : infinity;
  if (std::isinf(expected))
    return got == expected ? 0 : infinity;
  if (std::isnan(got) || (std::isinf(got) && floatFormat(type)->saturates))
    return infinity;
  double rounded = roundTo(type, expected);
  if (got == rounded)
    return std::isinf(rounded) ? 0 : std::fabs(got - expected) / bound;
  // A reference past the range may not be compared to by its own size.
  double target = std::isinf(rounded) ? measurable(type, rounded) : expected;
  return std::fabs(measurable(type, got) - target) / bound;
}

/// sqrt(2 ln(10^6)): as many standard deviations of its largest element a
/// result of few elements may be off by, beside the floor of a large one
/// (docs/Numerics.md).
constexpr double kDeviations = 5.256521769756932;
/// pi / 2: the root mean square of products of normal numbers, in units of
/// their mean magnitude.
constexpr double kNormalProducts = 1.5707963267948966;

/// The root mean square of the leading power of two of numbers, in units of
/// theirs, where their logarithms are uniform within a binade: sqrt(2 ln(2)/3).
constexpr double kMeanSpacing = 0.6797779934458726;

class FrobeniusNorm {
public:
  /// `expected` is finite. `typical`: typicalSize of the element.
  void add(double got, double expected, double typical) {
    double difference = got - expected;
    distance += std::isfinite(difference) ? difference * difference : infinity;
    size += expected * expected;
    typicalSize += typical * typical;
    largest = std::max(largest, std::fabs(expected));
    largestTypical = std::max(largestTypical, typical);
  }
  /// The floor for these elements, where `floor` is that of a large result.
  /// Infinite where all of them are rounded to zero: each is judged by itself.
  double floorOf(ElementType type, double floor) const {
    if (size == 0)
      return typicalSize == 0 ? floor : infinity;
    double norm = std::sqrt(size), typicalNorm = std::sqrt(typicalSize);
    return floor * std::max(1.0, typicalNorm / norm) +
           (ulpAt(type, largest) + kDeviations * floor * largestTypical) / norm;
  }
  double relative() const {
    if (distance == 0)
      return 0;
    return size == 0 ? infinity : std::sqrt(distance / size);
  }

private:
  double distance = 0, size = 0, typicalSize = 0;
  double largest = 0, largestTypical = 0;
};

/// An element and what is thought of it; right when the ratio is at most 1.
struct Judgement {
  BadElement element;
  double ratio = infinity;
  bool unspecified = false;
};

Judgement judge(const GemmReference &reference, double factor, ElementType type,
                const void *d, uint64_t at, int64_t row, int64_t column) {
  Judgement result;
  BadElement &element = result.element;
  element.row = row;
  element.column = column;
  element.got = load(type, d, at);
  element.unwritten = loadBits(type, d, at) == poisonBits(type);
  double value = reference.value[reference.index(row, column)];
  element.expected = saturate(type, value);
  double magnitude = reference.magnitude[reference.index(row, column)];
  if (std::isfinite(element.expected))
    element.bound = ulpAt(type, element.expected);
  // What an infinity saturates to is as certain as the infinity.
  if (std::isfinite(value))
    element.bound += factor * magnitude;
  if (element.unwritten)
    return result;
  result.unspecified =
      std::isfinite(value) && magnitude >= std::numeric_limits<float>::max();
  result.ratio =
      result.unspecified
          ? 0
          : boundRatio(type, element.got, element.expected, element.bound);
  return result;
}

/// Whether some scale is infinite: then only may a sign be doubtful.
bool hasInfiniteScale(const BlockwiseData &data) {
  auto isInfinite = [](float scale) { return std::isinf(scale); };
  return std::any_of(data.aScale.begin(), data.aScale.end(), isInfinite) ||
         std::any_of(data.bScale.begin(), data.bScale.end(), isInfinite);
}

/// Whether the value is one that an infinity of either sign, or NaN, becomes.
bool isOfInfinity(const GemmReference &reference, ElementType type,
                  double got) {
  return std::any_of(reference.ofInfinity.begin(), reference.ofInfinity.end(),
                     [&](double value) {
                       double stored = roundTo(type, saturate(type, value));
                       return got == stored ||
                              (std::isnan(got) && std::isnan(stored));
                     });
}

/// The root mean square of an element whose products have these magnitudes and
/// random signs.
double typicalSize(const BlockwiseData &data, const GemmReference &reference,
                   int64_t row, int64_t column) {
  double magnitude = reference.magnitude[reference.index(row, column)];
  // What an infinity saturates to does not err.
  if (!std::isfinite(magnitude))
    return 0;
  return kNormalProducts * magnitude /
         std::sqrt(static_cast<double>(std::max<int64_t>(1, data.k)));
}

void addHint(const BlockwiseData &data, const GemmReference &reference,
             ElementType type, BadElement &element) {
  if (element.unwritten || !std::isfinite(element.got) ||
      !std::isfinite(element.expected))
    return;
  double magnitude =
      reference.magnitude[reference.index(element.row, element.column)];
  element.hint = guessCause(data, reference, element,
                            ulpAt(type, element.got) + 0x1p-19 * magnitude);
}

std::string describe(const BadElement &bad) {
  char text[256];
  std::string place = "(" + std::to_string(bad.row) + ", " +
                      std::to_string(bad.column) + "), tile (" +
                      std::to_string(bad.row / 128) + ", " +
                      std::to_string(bad.column / 128) + ") at (" +
                      std::to_string(bad.row % 128) + ", " +
                      std::to_string(bad.column % 128) + ")";
  std::string d = bad.matrix ? "d[" + std::to_string(*bad.matrix) + "]" : "d";
  if (bad.unwritten)
    return d + place + ": not written";
  std::snprintf(text, sizeof(text), ": got %.9g, expected %.9g within %.3g",
                bad.got, bad.expected, bad.bound);
  return d + place + text + (bad.hint.empty() ? "" : "; " + bad.hint);
}
} // namespace

const chip::SumRule *KernelSums::rule(const OperandTypes &types) const {
  if (!engine)
    return nullptr;
  bool narrow = isFloat8(types.a) || isFloat8(types.b);
  return &chip::getSumRule(*engine, narrow ? chip::ProductKind::Float8
                                           : chip::ProductKind::Float16);
}

KernelSums sumsOf(std::string_view name, bool promoted) {
  KernelSums sums;
  if (const chip::Chip *found = chip::lookup(name))
    sums.engine = found->engine;
  sums.promoted = promoted;
  return sums;
}

double truncationLoss(const chip::SumRule *rule, int64_t k) {
  if (!rule)
    return 0;
  double steps = std::ceil(static_cast<double>(k) / rule->products);
  return rule->bias() * steps / std::sqrt(3.0);
}

double frobeniusFloor(ElementType type, int64_t k, KernelSums sums,
                      const OperandTypes &types) {
  const gemm::FrobeniusFloors &floors = *gemm::frobeniusFloors(type);
  const chip::SumRule *rule = sums.rule(types);
  if (rule && !rule->fillsFloat32())
    return floors.fourteenBits;
  double loss =
      truncationLoss(rule, sums.promoted ? std::min(k, scaleBlock) : k);
  if (type == ElementType::F32)
    return floors.float32 *
               std::sqrt(std::max(1.0, static_cast<double>(k) / 8192)) +
           loss;
  return std::sqrt(floors.float32 * floors.float32 +
                   kMeanSpacing * ulpAt(type, 1) * loss);
}

double tanhFloor(ElementType type) { return gemm::frobeniusFloors(type)->tanh; }

double magnitudeFactor(const BlockwiseData &data) {
  if (isFloat8(data.types.a) || isFloat8(data.types.b))
    return gemm::kMagnitudeShare;
  double products = std::max<int64_t>(1, (data.k + 15) / 16);
  return std::min(gemm::kMagnitudeShare, 0x1p-21 * products);
}

CheckResult check(const BlockwiseData &data, const GemmReference &reference,
                  ElementType type, const void *d, int64_t rowStride,
                  KernelSums sums) {
  CheckResult result;
  FrobeniusNorm exact, rounded;
  double worstRatio = 0, factor = magnitudeFactor(data);
  const chip::SumRule *rule = sums.rule(data.types);
  bool mayDoubt = rule && !rule->fillsFloat32() && hasInfiniteScale(data);
  for (int64_t row = reference.rowBegin; row < reference.rowEnd; ++row)
    for (int64_t column = 0; column < reference.n; ++column) {
      uint64_t at = (row - reference.rowBegin) * rowStride + column;
      Judgement judged = judge(reference, factor, type, d, at, row, column);
      if (mayDoubt && judged.ratio > 1 && !judged.element.unwritten &&
          isOfInfinity(reference, type, judged.element.got) &&
          hasDoubtfulSign(data, row, column, factor)) {
        judged.unspecified = true;
        judged.ratio = 0;
      }
      ++result.elements;
      result.unspecified += judged.unspecified;
      result.maxBoundRatio = std::max(result.maxBoundRatio, judged.ratio);
      const BadElement &element = judged.element;
      double nearest = roundTo(type, element.expected);
      // Special values are judged one by one.
      if (std::isfinite(nearest) && !judged.unspecified) {
        double typical = typicalSize(data, reference, row, column);
        exact.add(element.got, element.expected, typical);
        rounded.add(element.got, nearest, typical);
      }
      if (judged.ratio <= 1)
        continue;
      ++result.wrong;
      result.unwritten += element.unwritten;
      if (result.first.size() < CheckResult::maxReported)
        result.first.push_back(element);
      if (std::isfinite(judged.ratio) && judged.ratio > worstRatio) {
        worstRatio = judged.ratio;
        result.worst = element;
      }
    }
  for (BadElement &element : result.first)
    addHint(data, reference, type, element);
  if (worstRatio > 0)
    addHint(data, reference, type, result.worst);
  result.relativeError = exact.relative();
  result.frobenius = rounded.relative();
  result.frobeniusFloor =
      rounded.floorOf(type, frobeniusFloor(type, data.k, sums, data.types));
  return result;
}

void CheckResult::merge(const CheckResult &next, int64_t matrix) {
  elements += next.elements;
  wrong += next.wrong;
  unwritten += next.unwritten;
  unspecified += next.unspecified;
  maxBoundRatio = std::max(maxBoundRatio, next.maxBoundRatio);
  relativeError = std::max(relativeError, next.relativeError);
  // Each matrix has a floor of its own.
  if (frobeniusFloor == 0 ||
      next.frobenius * frobeniusFloor >= frobenius * next.frobeniusFloor) {
    frobenius = next.frobenius;
    frobeniusFloor = next.frobeniusFloor;
  }
  for (const BadElement &bad : next.first)
    if (first.size() < maxReported) {
      first.push_back(bad);
      first.back().matrix = matrix;
    }
  auto ratio = [](const BadElement &bad) {
    return bad.bound > 0 ? std::fabs(bad.got - bad.expected) / bad.bound : 0;
  };
  if (ratio(next.worst) > ratio(worst)) {
    worst = next.worst;
    worst.matrix = matrix;
  }
}

std::string CheckResult::str() const {
  char text[256];
  std::snprintf(text, sizeof(text),
                "%lld of %lld elements wrong (%lld not written); largest error "
                "%.3g of the bound; frobenius %.3g, floor %.3g",
                static_cast<long long>(wrong), static_cast<long long>(elements),
                static_cast<long long>(unwritten), maxBoundRatio, frobenius,
                frobeniusFloor);
  std::string lines = text;
  for (const BadElement &bad : first)
    lines += "\n  " + describe(bad);
  if (static_cast<size_t>(wrong) > first.size())
    lines += "\n  and " + std::to_string(wrong - first.size()) + " more";
  if (worst.bound > 0)
    lines += "\n  worst: " + describe(worst);
  return lines;
}

} // namespace fp8::reference
