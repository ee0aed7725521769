// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The proof that no role reads what nobody has written, and that no two
// accesses to one place lack an order.

#ifndef FP8_PROOF_OWNERSHIP_H
#define FP8_PROOF_OWNERSHIP_H

#include "fp8/Proof/Extract.h"
#include "fp8/Proof/Prover.h"

namespace mlir::fp8 {

struct OwnershipProof {
  ::fp8::proof::Outcome outcome;
  /// To which the outcome's sites and processes belong.
  KernelSkeleton kernel;
  /// Unknown: the op.
  Operation *op = nullptr;
  /// Unknown: slots and tensor memory are proved, and arrays in global memory
  /// are not.
  bool isOfArrays = false;
  /// What the proof takes for granted beside what that of progress does.
  std::vector<std::string> assumptions;
};

/// Proves a linear kernel whose roles all end; fails with a diagnostic if it
/// cannot be planned.
///
/// Each part of a slot that is read was written since its producers acquired
/// the slot, and none is written twice: this is a requirement on labels, proved
/// for all launches. An array that roles write is proved if the text shows the
/// order. What is not proved is run for small launches, with vector clocks.
FailureOr<OwnershipProof> proveOwnership(FunctionOpInterface kernel);

} // namespace mlir::fp8

#endif // FP8_PROOF_OWNERSHIP_H
