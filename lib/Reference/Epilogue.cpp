// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Residual, bias and output scale in float64.
#include "fp8/Reference/Epilogue.h"

#include <cmath>

namespace fp8::reference {

void applyEpilogue(const Epilogue &epilogue, GemmReference &reference) {
  for (int64_t row = reference.rowBegin; row < reference.rowEnd; ++row)
    for (int64_t column = 0; column < reference.n; ++column) {
      size_t at = reference.index(row, column);
      double &value = reference.value[at], &magnitude = reference.magnitude[at];
      auto add = [&](double addend) {
        value += addend;
        magnitude += std::fabs(addend);
      };
      if (!epilogue.c.empty())
        add(epilogue.beta * epilogue.c[row * reference.n + column]);
      if (!epilogue.bias.empty())
        add(epilogue.bias[column]);
      value *= epilogue.scale;
      magnitude *= std::fabs(epilogue.scale);
    }
}

std::vector<double> makeAddend(OutputType type, int64_t count, uint64_t seed,
                               uint64_t stream) {
  std::vector<double> values(count);
  for (int64_t i = 0; i < count; ++i)
    values[i] = roundTo(type, 256 * nearNormalAt(seed, stream, i));
  return values;
}

} // namespace fp8::reference
