// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The steps after the sum over K: a residual, a bias, a function of each
// element, an output scale.
#ifndef FP8_REFERENCE_EPILOGUE_H
#define FP8_REFERENCE_EPILOGUE_H

#include "fp8/Reference/Elements.h"
#include "fp8/Reference/Gemm.h"

#include <cstdint>
#include <vector>

namespace fp8::reference {

/// The elementwise functions that can be checked.
enum class Elementwise {
  None,
  Relu, ///< max(x, 0); NaN stays
  Abs,
  /// x / (1 + exp(-x)), as h * tanh(h) + h with h = x / 2; negative infinity
  /// gives NaN
  Silu,
};

double applyElementwise(Elementwise function, double x);

/// D = scale * f(sum + beta * C + bias), where absent terms are zero. C is not
/// read if beta is 0. Values are those that the kernel reads, widened.
struct Epilogue {
  std::vector<double> c;    ///< M x N, row-major; empty: no residual
  std::vector<double> bias; ///< N; empty: none
  double beta = 1;
  double scale = 1;
  Elementwise function = Elementwise::None;
};

/// Applies the epilogue to the reference and to its magnitudes. These then also
/// bound the propagated error of the sum and the error of approximate
/// instructions.
void applyEpilogue(const Epilogue &epilogue, GemmReference &reference);

/// Near-normal values, 256 times as wide as 1, rounded to `type`. The same for
/// the same arguments on every machine.
std::vector<double> makeAddend(ElementType type, int64_t count, uint64_t seed,
                               uint64_t stream);

} // namespace fp8::reference

#endif // FP8_REFERENCE_EPILOGUE_H
