// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The clock that a kernel runs at.

#ifndef FP8_LIB_SIMULATOR_TIMING_CLOCK_H
#define FP8_LIB_SIMULATOR_TIMING_CLOCK_H

#include "fp8/Chip/Timing.h"
#include "fp8/Simulator/Report.h"

namespace fp8::sim {

/// Sets the clock of a launch, and its microseconds by that. `load`: as
/// chip::Timing has it.
void setClock(KernelTime &time, const chip::Timing &timing, double load);

/// The constants where the SMs run at `gigahertz`. Memory keeps its own time:
/// in cycles it is faster.
chip::Timing atClock(const chip::Timing &timing, double gigahertz);

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_TIMING_CLOCK_H
