// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bound parameters as the simulator takes them.
#ifndef FP8_TOOLS_FP8RUN_SIMULATORARGUMENTS_H
#define FP8_TOOLS_FP8RUN_SIMULATORARGUMENTS_H

#include "fp8/Launch/LaunchPlan.h"
#include "fp8/Simulator/Simulator.h"

namespace fp8::run {

std::vector<sim::KernelArgument>
simulatorArguments(const std::vector<launch::BoundParameter> &parameters);

} // namespace fp8::run

#endif // FP8_TOOLS_FP8RUN_SIMULATORARGUMENTS_H
