// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops in which a role looks for slots, and takes those that are there.

#ifndef FP8_LIB_PROOF_POLLS_H
#define FP8_LIB_PROOF_POLLS_H

#include "fp8/Analysis/KernelPlan.h"

namespace mlir::fp8 {

/// The answers of `fp8.try_wait` that may be taken to be true in a proof that
/// the roles end.
///
/// They are those of a loop whose turns do the steps of several *groups*, each
/// if its slot is there and it has more to do, and that ends when no group has.
/// A group waits for that slot only, and shares no value with the others. So
/// the loop does what one process for each group would do. If all answers are
/// true, the role waits for the slots in turn: one of the orders in which those
/// processes may run. If that ends, so does every order (docs/Proof.md). If it
/// does not, nothing is known.
SmallVector<Value> findIndependentPolls(RoleOp role);

} // namespace mlir::fp8

#endif // FP8_LIB_PROOF_POLLS_H
