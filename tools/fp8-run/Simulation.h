// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A run on the simulator as the options ask for it, whatever launches it.
#ifndef FP8_TOOLS_FP8RUN_SIMULATION_H
#define FP8_TOOLS_FP8RUN_SIMULATION_H

#include "Backend.h"
#include "Options.h"
#include "fp8/SimulatedLaunch/Kernel.h"

#include <functional>

namespace fp8::run {

/// Runs under schedule number `schedule`: times it, and keeps what --trace and
/// --barriers ask for. `launched`: the first line of the trace. An error of
/// `run` becomes the failure.
Outcome simulate(const Options &options, unsigned schedule,
                 const std::string &launched,
                 const std::function<launch::Expected<simulated::Outcome>(
                     const sim::Options &)> &run);

} // namespace fp8::run

#endif // FP8_TOOLS_FP8RUN_SIMULATION_H
