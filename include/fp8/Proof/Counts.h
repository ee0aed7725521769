// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The proof that each lap of a slot completes one phase of its barriers.

#ifndef FP8_PROOF_COUNTS_H
#define FP8_PROOF_COUNTS_H

#include "fp8/Proof/Extract.h"
#include "fp8/Proof/Prover.h"

namespace mlir::fp8 {

struct CountsProof {
  ::fp8::proof::Outcome outcome;
  /// To which the outcome's sites and processes belong.
  KernelSkeleton kernel;
  /// Unknown: the op.
  Operation *op = nullptr;
};

/// Proves a linear kernel whose roles all end; fails with a diagnostic if it
/// cannot be planned. A kernel that carries a plan is proved with that one.
///
/// The events of the kernel say what each end does to barriers in each lap
/// (`findMiscounts`). Where a lap does something else than the barriers count,
/// the proof is that no role ever comes there.
FailureOr<CountsProof> proveCounts(FunctionOpInterface kernel);

} // namespace mlir::fp8

#endif // FP8_PROOF_COUNTS_H
