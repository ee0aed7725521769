// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The steps between a linear kernel and instructions, one kernel at a time.
// Each is a pass of Passes.td, which states what it requires and ensures.

#ifndef FP8_PLANNING_PLANNING_H
#define FP8_PLANNING_PLANNING_H

#include "fp8/Analysis/KernelPlan.h"

namespace mlir::fp8 {

/// Writes the kernel's plan on its ops (`--fp8-plan-kernels`), or reports what
/// is wrong with the kernel.
LogicalResult planKernel(FunctionOpInterface kernel);

/// Derives the plan again. An error where the kernel carries another one, since
/// it was changed after it was planned.
LogicalResult checkPlan(FunctionOpInterface kernel);

/// Puts fences where threads and copies follow each other in a slot
/// (`--fp8-place-fences`). The plan must be the
/// kernel's (checkPlan).
void placeFences(FunctionOpInterface kernel);

/// An error where a fence is missing in front of a hand-over that needs it.
LogicalResult checkFences(FunctionOpInterface kernel);

/// Lets products of warpgroups take the registers of earlier ones
/// (`--fp8-reuse-registers`).
void reuseRegisters(FunctionOpInterface kernel);

} // namespace mlir::fp8

#endif // FP8_PLANNING_PLANNING_H
