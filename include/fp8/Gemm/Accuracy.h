// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How far a correct result of the GEMM may be from the reference.
// docs/Numerics.md derives the numbers.
#ifndef FP8_GEMM_ACCURACY_H
#define FP8_GEMM_ACCURACY_H

#include "fp8/Tensor/ElementType.h"

namespace fp8::gemm {

/// The largest error of an element as a fraction of the sum of its magnitudes,
/// in addition to the rounding to D's type. Tensor cores keep few bits of sums
/// of 8-bit products.
constexpr double kMagnitudeShare = 0x1p-11;

/// The largest relative Frobenius distances of a correct, large result from the
/// rounded reference, for a type of D.
struct FrobeniusFloors {
  tensor::ElementType type;
  /// If sums of products are kept in f32, without what cutting them off loses
  /// (reference::truncationLoss).
  double float32;
  /// If 14 bits of the sums are kept: a sum with a relative error of 2^-13
  /// rounds the other way more often.
  double fourteenBits;
  /// What to add to the floor if a GPU's tanh.approx.f32 computed the result.
  double tanh;
};

/// The floors of a type that D may have; null for other types.
const FrobeniusFloors *frobeniusFloors(tensor::ElementType type);

} // namespace fp8::gemm

#endif // FP8_GEMM_ACCURACY_H
