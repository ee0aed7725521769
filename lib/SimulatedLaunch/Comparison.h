// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a buffer holds what was expected.
#ifndef FP8_LIB_SIMULATEDLAUNCH_COMPARISON_H
#define FP8_LIB_SIMULATEDLAUNCH_COMPARISON_H

#include "ArrayFile.h"
#include "fp8/SimulatedLaunch/DescribedLaunch.h"

namespace fp8::simulated {

/// Compares what `buffer` holds. `isUnsigned`: its integers are.
/// `counts`: the elements that count; empty: all.
Comparison compare(const Expectation &expectation,
                   const std::vector<Number> &expected, bool isUnsigned,
                   const std::vector<bool> &counts, const sim::Buffer &buffer);

} // namespace fp8::simulated

#endif // FP8_LIB_SIMULATEDLAUNCH_COMPARISON_H
