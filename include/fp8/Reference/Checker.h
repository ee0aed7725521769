// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks whether the D of a kernel is correct. docs/Numerics.md defines correct
// and gives the reasons.
#ifndef FP8_REFERENCE_CHECKER_H
#define FP8_REFERENCE_CHECKER_H

#include "fp8/Chip/SumRule.h"
#include "fp8/Reference/Elements.h"
#include "fp8/Reference/Gemm.h"

#include <optional>
#include <string>
#include <string_view>

namespace fp8::reference {

/// How a kernel adds up products.
struct KernelSums {
  /// Of its chip; if there is none, each sum is rounded to the nearest f32.
  std::optional<chip::MmaEngine> engine;
  /// Each K block has accumulators of its own, which are added up in f32; else
  /// one accumulator may take all of K.
  bool promoted = true;

  /// The rule for operands of such types, or null.
  const chip::SumRule *rule(const OperandTypes &types) const;
};

/// Of a kernel for the chip called `name`; without engine if there is no such
/// chip.
KernelSums sumsOf(std::string_view name, bool promoted = true);

/// What cutting off makes a sum along `k` lose, relative to it: the root mean
/// square over sums of products of random sign. 0 without a rule.
double truncationLoss(const chip::SumRule *rule, int64_t k);

/// The largest relative Frobenius distance from the reference, rounded to the
/// output type, that a correct large result may have.
/// CheckResult::frobeniusFloor also allows for chance in results with few
/// elements. The floor of f32 grows for K above 8192, because sums of more
/// blocks are rounded more often, and all floors grow with truncationLoss.
double frobeniusFloor(ElementType type, int64_t k = 0, KernelSums sums = {},
                      const OperandTypes &types = {});

/// What to add to the floor if a GPU's tanh.approx.f32 computed silu of the
/// result.
double tanhFloor(ElementType type);

/// The largest error of an element as a fraction of its magnitude, in addition
/// to the rounding to the output type: 2^-11 for 8-bit operands, since tensor
/// cores may keep few bits of their sums; less for 16-bit operands, 2^-21 for
/// each MMA of 16 elements along K.
double magnitudeFactor(const BlockwiseData &data);

struct BadElement {
  int64_t row = 0, column = 0;
  double got = 0, expected = 0;
  double bound = 0;              ///< what |got - expected| may be
  bool unwritten = false;        ///< still holds the poison
  std::string hint;              ///< a guess at the cause; may be empty
  std::optional<int64_t> matrix; ///< its number in a batch
};

struct CheckResult {
  int64_t elements = 0; ///< all of them are looked at
  int64_t wrong = 0;    ///< unwritten ones included
  int64_t unwritten = 0;
  /// Elements whose intermediate sums may exceed the f32 range: any value but
  /// the poison is correct. Also elements with an infinite scale and an
  /// uncertain sign that hold the result of an infinity or NaN.
  int64_t unspecified = 0;
  /// The largest |got - expected| / bound over elements with a finite bound;
  /// correct up to 1. Infinite if a finite value was expected and the result is
  /// not finite.
  double maxBoundRatio = 0;
  /// ||got - expected|| / ||expected||, Frobenius, before rounding, over the
  /// elements whose expected value is finite; infinite if one of their results
  /// is not finite.
  double relativeError = 0;
  /// ||got - round(expected)|| / ||round(expected)||, likewise.
  double frobenius = 0;
  double frobeniusFloor = 0;     ///< what it may be, for this result
  std::vector<BadElement> first; ///< in row-major order, at most maxReported
  /// The wrong element with the largest ratio and a finite value.
  BadElement worst;

  static constexpr size_t maxReported = 8;
  bool ok() const { return wrong == 0 && frobenius <= frobeniusFloor; }
  /// Merges the result of the next matrix of a batch, number `matrix`: adds the
  /// counts and keeps the larger errors.
  void merge(const CheckResult &next, int64_t matrix);
  /// A description in lines: what is wrong, and where.
  std::string str() const;
};

/// Compares D, row-major with `rowStride` elements a row, to `reference`, whose
/// rows start at D's first row. D was filled with the poison of `type` before
/// the kernel ran. `reference` was computed from `data`.
CheckResult check(const BlockwiseData &data, const GemmReference &reference,
                  ElementType type, const void *d, int64_t rowStride,
                  KernelSums sums = {});

} // namespace fp8::reference

#endif // FP8_REFERENCE_CHECKER_H
