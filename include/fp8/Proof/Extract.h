// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The skeleton of a linear kernel.

#ifndef FP8_PROOF_EXTRACT_H
#define FP8_PROOF_EXTRACT_H

#include "fp8/Proof/Skeleton.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::fp8 {

/// An access of which it is not known whether it is ordered.
struct Undecided {
  Operation *op;
  std::string reason;
};

struct KernelSkeleton {
  ::fp8::proof::Skeleton skeleton;
  /// The ops of the skeleton's sites.
  SmallVector<Operation *> sites;
  /// The CTAs of a cluster.
  int64_t clusterSize = 1;
  /// What a skeleton cannot say, and the op; null if it says all.
  Operation *obstacle = nullptr;
  std::string reason;
  /// With Arrays: accesses that no requirement is about.
  SmallVector<Undecided, 0> undecided;
};

/// An op that no role may come to, and why.
struct Mark {
  Operation *op;
  std::string rule;
  /// The op hands over a stage. It may do so in the first lap.
  bool fromSecondLap = false;
};

/// What a skeleton has beside the steps of the roles.
enum class Aspect : uint8_t {
  Progress,  ///< nothing
  Numbers,   ///< what values are, and the requirements on them, if the kernel
             ///< says what it computes (`fp8.computes`)
  Ownership, ///< how often slots are written, and the requirements on that
  Arrays,    ///< requirements on indices of arrays
  Accesses,  ///< what roles read and write
  Marks,     ///< requirements that no role comes to certain ops
};

/// Extracts the skeleton of a kernel in phase 2 that can be planned; fails with
/// a diagnostic if it cannot. `marks` are those of the aspect.
FailureOr<KernelSkeleton> extractSkeleton(FunctionOpInterface kernel,
                                          Aspect aspect = Aspect::Progress,
                                          ArrayRef<Mark> marks = {});

} // namespace mlir::fp8

#endif // FP8_PROOF_EXTRACT_H
