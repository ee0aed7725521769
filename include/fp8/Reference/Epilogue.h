// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What may follow the sum over K: a residual, a bias, an output scale.
#ifndef FP8_REFERENCE_EPILOGUE_H
#define FP8_REFERENCE_EPILOGUE_H

#include "fp8/Reference/Gemm.h"
#include "fp8/Reference/OutputType.h"

#include <cstdint>
#include <vector>

namespace fp8::reference {

/// D = scale * (sum + beta * C + bias), where what is absent adds nothing.
/// Values are those that the kernel reads, widened.
struct Epilogue {
  std::vector<double> c;    ///< M x N, row-major; empty: no residual
  std::vector<double> bias; ///< N; empty: none
  double beta = 1;
  double scale = 1;
};

/// Applies it to the reference and to its magnitudes.
void applyEpilogue(const Epilogue &epilogue, GemmReference &reference);

/// Near-normal values, 256 times as wide as 1, rounded to `type`. The same for
/// the same arguments on every machine.
std::vector<double> makeAddend(OutputType type, int64_t count, uint64_t seed,
                               uint64_t stream);

} // namespace fp8::reference

#endif // FP8_REFERENCE_EPILOGUE_H
