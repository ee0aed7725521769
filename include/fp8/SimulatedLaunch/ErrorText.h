// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the simulator found, as compilers print errors.
#ifndef FP8_SIMULATEDLAUNCH_ERRORTEXT_H
#define FP8_SIMULATEDLAUNCH_ERRORTEXT_H

#include "fp8/Simulator/Report.h"

namespace fp8::simulated {

/// "gemm.mlir:12: error: ...", with the place in the PTX, named `ptxName`, as a
/// note where the source is known, and the error's own notes, a line each.
std::string render(const sim::SimulationError &error,
                   const std::string &ptxName);

} // namespace fp8::simulated

#endif // FP8_SIMULATEDLAUNCH_ERRORTEXT_H
