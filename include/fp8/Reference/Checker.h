// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a D that some kernel computed is right. docs/Numerics.md says what
// right means and why.
#ifndef FP8_REFERENCE_CHECKER_H
#define FP8_REFERENCE_CHECKER_H

#include "fp8/Chip/Chip.h"
#include "fp8/Reference/Elements.h"
#include "fp8/Reference/Gemm.h"

#include <optional>
#include <string>
#include <string_view>

namespace fp8::reference {

using chip::PartialSums;
/// What the chip called `name` keeps of sums of products of 8 bits; Float32 if
/// there is no such chip.
PartialSums partialSumsOf(std::string_view name);

/// The largest relative Frobenius distance from the reference, rounded to the
/// output type, that is right for a large result. CheckResult::frobeniusFloor
/// allows for chance in a result of few elements as well. The floor of f32
/// grows past a K of 8192: an accumulator to which all of K is added is rounded
/// as often.
double frobeniusFloor(ElementType type, int64_t k = 0,
                      PartialSums sums = PartialSums::Float32);

/// What joins the floor where tanh.approx.f32 of a GPU made the result by silu.
double tanhFloor(ElementType type);

/// What of an element's magnitude its error may be, beside the rounding to the
/// output type: 2^-11 for operands of 8 bits, of which tensor cores may keep
/// few bits; less for 16 bits, 2^-21 for each MMA of 16 elements along K.
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
  /// Elements whose intermediate sums may pass the f32 range: any value but the
  /// poison is right. And those of which the kept bits do not tell the sign
  /// that an infinite scale takes, and that are what some infinity or NaN
  /// becomes.
  int64_t unspecified = 0;
  /// Largest |got - expected| / bound over elements with a finite bound; right
  /// up to 1. Infinite when a finite value was due and another came.
  double maxBoundRatio = 0;
  /// ||got - expected|| / ||expected||, Frobenius, before rounding, over the
  /// elements whose expected value is finite; infinite when one that came is
  /// not.
  double relativeError = 0;
  /// ||got - round(expected)|| / ||round(expected)||, likewise.
  double frobenius = 0;
  double frobeniusFloor = 0;     ///< what it may be, for this result
  std::vector<BadElement> first; ///< in row-major order, at most maxReported
  /// Of the wrong ones, that with the largest ratio and a finite value.
  BadElement worst;

  static constexpr size_t maxReported = 8;
  bool ok() const { return wrong == 0 && frobenius <= frobeniusFloor; }
  /// Takes in the result of the next matrix of a batch, number `matrix`:
  /// counts add up, of errors the worse one stays.
  void merge(const CheckResult &next, int64_t matrix);
  /// Lines for a person: what is wrong, and where.
  std::string str() const;
};

/// Compares D, row-major with `rowStride` elements a row, to `reference`, whose
/// rows start at D's first row. D was filled with the poison of `type` before
/// the kernel ran. `data` is what `reference` came from. `sums` counts for
/// operands of 8 bits only.
CheckResult check(const BlockwiseData &data, const GemmReference &reference,
                  ElementType type, const void *d, int64_t rowStride,
                  PartialSums sums = PartialSums::Float32);

} // namespace fp8::reference

#endif // FP8_REFERENCE_CHECKER_H
