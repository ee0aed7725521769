// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The proofs of a module's kernels, for passes, the C API and editors.

#ifndef FP8_TRANSFORMS_PROVEKERNELS_H
#define FP8_TRANSFORMS_PROVEKERNELS_H

#include "fp8/Proof/Prover.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/Support/JSON.h"

namespace mlir::fp8 {

/// What the proof says about one property of a kernel. It outlives the kernel.
struct PropertyProof {
  StringRef property; ///< "progress", "counts", "ownership" or "numbers"
  ::fp8::proof::Outcome outcome;
  ::fp8::proof::Skeleton skeleton;
  /// The ops that the sites of skeleton and outcome stand for.
  SmallVector<Location, 0> sites;
  /// Where the skeleton cannot say what the kernel does.
  std::optional<Location> obstacle;
  /// Unknown, but of arrays in global memory only: nothing is said unless all
  /// verdicts are.
  bool isOfArrays = false;
};

/// The verdicts on one kernel: on its progress, if all roles end on its counts
/// and its ownership, and if the kernel says what it computes (`fp8.computes`)
/// on its numbers.
struct KernelProof {
  std::string kernel;
  Location location;
  SmallVector<PropertyProof, 3> properties;
  /// What the verdicts take for granted, each as a clause.
  std::vector<std::string> assumptions;
};

/// What is said about a kernel that is not refuted.
struct ProofReporting {
  bool required = false;  ///< an incomplete proof is an error
  bool saysProved = true; ///< a remark for each proved property
};

/// Proves a kernel in phase 2, which is not changed; fails with diagnostics if
/// the kernel cannot be planned.
FailureOr<KernelProof> proveKernel(gpu::GPUFuncOp kernel,
                                   bool withCertificate = false);

/// Proves each kernel of the module, which may be in phase 0 to 2 and is not
/// changed. Kernels in phase 0 are lowered for `chip`. Fails with diagnostics
/// if a kernel cannot be lowered or planned. Warns about kernels in phase 3.
FailureOr<SmallVector<KernelProof, 0>>
proveKernels(ModuleOp module, StringRef chip, bool withCertificates = false);

/// Emits the diagnostics of the verdicts; fails if one of them is an error.
LogicalResult report(const KernelProof &proof, const ProofReporting &reporting);

/// The object that `--fp8-prove=json=` writes.
llvm::json::Value toJSON(ArrayRef<KernelProof> proofs);

/// Adds to the object of each kernel what its PTX is expected to do. Fails with
/// diagnostics if a kernel cannot be lowered or planned.
LogicalResult addEvents(ModuleOp module, StringRef chip,
                        llvm::json::Value &proofs);

} // namespace mlir::fp8

#endif // FP8_TRANSFORMS_PROVEKERNELS_H
