// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What may follow the sum over K: a residual, a bias, a function of each
// element, an output scale.
#ifndef FP8_REFERENCE_EPILOGUE_H
#define FP8_REFERENCE_EPILOGUE_H

#include "fp8/Reference/Elements.h"
#include "fp8/Reference/Gemm.h"

#include <cstdint>
#include <vector>

namespace fp8::reference {

/// The functions of an element that can be checked.
enum class Elementwise {
  None,
  Relu, ///< max(x, 0); NaN stays
  Abs,
  /// x / (1 + exp(-x)), as h * tanh(h) + h with h = x / 2; an infinity below
  /// gives NaN
  Silu,
};

double applyElementwise(Elementwise function, double x);

/// D = scale * f(sum + beta * C + bias), where what is absent adds nothing. C
/// is not read where beta is 0. Values are those that the kernel reads,
/// widened.
struct Epilogue {
  std::vector<double> c;    ///< M x N, row-major; empty: no residual
  std::vector<double> bias; ///< N; empty: none
  double beta = 1;
  double scale = 1;
  Elementwise function = Elementwise::None;
};

/// Applies it to the reference and to its magnitudes: what an error of the sum
/// can become, and the approximate instructions' own.
void applyEpilogue(const Epilogue &epilogue, GemmReference &reference);

/// Near-normal values, 256 times as wide as 1, rounded to `type`. The same for
/// the same arguments on every machine.
std::vector<double> makeAddend(ElementType type, int64_t count, uint64_t seed,
                               uint64_t stream);

} // namespace fp8::reference

#endif // FP8_REFERENCE_EPILOGUE_H
