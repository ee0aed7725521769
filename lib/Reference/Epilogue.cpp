// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Residual, bias, elementwise functions and output scale in float64.
#include "fp8/Reference/Epilogue.h"

#include <cmath>

namespace fp8::reference {
namespace {
/// How far apart a function puts neighbours at most, and what its instructions
/// err by, as a multiple of 2^-11 |x|.
struct Bound {
  double slope, approximation;
};

Bound boundOf(Elementwise function) {
  // The largest slope of silu is 1.0998. Of its h * tanh(h) the tanh is
  // approximate, to 2^-11 of itself (PTX ISA, tanh).
  if (function == Elementwise::Silu)
    return {1.1, 0.5};
  return {1, 0};
}

void applyFunction(Elementwise function, double &value, double &magnitude) {
  if (function == Elementwise::None)
    return;
  // What an infinity becomes is as certain as the infinity.
  Bound bound = boundOf(function);
  magnitude = std::isinf(value) ? 0
                                : bound.slope * magnitude +
                                      bound.approximation * std::fabs(value);
  value = applyElementwise(function, value);
}
} // namespace

double applyElementwise(Elementwise function, double x) {
  switch (function) {
  case Elementwise::None:
    return x;
  case Elementwise::Relu:
    return x < 0 ? 0 : x;
  case Elementwise::Abs:
    return std::fabs(x);
  case Elementwise::Silu:
    break;
  }
  double half = x / 2;
  return half * std::tanh(half) + half;
}

void applyEpilogue(const Epilogue &epilogue, GemmReference &reference) {
  for (int64_t row = reference.rowBegin; row < reference.rowEnd; ++row)
    for (int64_t column = 0; column < reference.n; ++column) {
      size_t at = reference.index(row, column);
      double &value = reference.value[at], &magnitude = reference.magnitude[at];
      auto add = [&](double addend) {
        value += addend;
        magnitude += std::fabs(addend);
      };
      if (!epilogue.c.empty() && epilogue.beta != 0)
        add(epilogue.beta * epilogue.c[row * reference.n + column]);
      if (!epilogue.bias.empty())
        add(epilogue.bias[column]);
      applyFunction(epilogue.function, value, magnitude);
      value *= epilogue.scale;
      magnitude *= std::fabs(epilogue.scale);
    }
  for (double &value : reference.ofInfinity)
    value = epilogue.scale * applyElementwise(epilogue.function, value);
}

std::vector<double> makeAddend(ElementType type, int64_t count, uint64_t seed,
                               uint64_t stream) {
  std::vector<double> values(count);
  for (int64_t i = 0; i < count; ++i)
    values[i] = roundTo(type, 256 * nearNormalAt(seed, stream, i));
  return values;
}

} // namespace fp8::reference
