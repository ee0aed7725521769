// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How far a right result of the GEMM may be from the reference.
// docs/Numerics.md derives the numbers.
#ifndef FP8_GEMM_ACCURACY_H
#define FP8_GEMM_ACCURACY_H

#include "fp8/Tensor/ElementType.h"

namespace fp8::gemm {

/// What of the sum of an element's magnitudes its error may be, beside the
/// rounding to D's type: tensor cores keep few bits of products of 8 bits.
constexpr double kMagnitudeShare = 0x1p-11;

/// Largest relative Frobenius distances of a right, large result from the
/// rounded reference, for a type of D.
struct FrobeniusFloors {
  tensor::ElementType type;
  double float32; ///< where the sums of products are kept in f32
  /// Where 14 bits of them are kept: a sum that is off by 2^-13 of itself
  /// rounds the other way more often.
  double fourteenBits;
  /// What joins the floor where tanh.approx.f32 of a GPU made the result.
  double tanh;
};

/// The floors of a type that D may have; null for other types.
const FrobeniusFloors *frobeniusFloors(tensor::ElementType type);

} // namespace fp8::gemm

#endif // FP8_GEMM_ACCURACY_H
