// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bound parameters as the simulator takes them.
#ifndef FP8_LIB_SIMULATEDLAUNCH_KERNELARGUMENTS_H
#define FP8_LIB_SIMULATEDLAUNCH_KERNELARGUMENTS_H

#include "fp8/Launch/LaunchPlan.h"
#include "fp8/Simulator/Simulator.h"

namespace fp8::simulated {

std::vector<sim::KernelArgument>
kernelArguments(const std::vector<launch::BoundParameter> &parameters);

} // namespace fp8::simulated

#endif // FP8_LIB_SIMULATEDLAUNCH_KERNELARGUMENTS_H
