// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What to change in a kernel whose roles wait for one another.

#ifndef FP8_LIB_PROOF_CURES_H
#define FP8_LIB_PROOF_CURES_H

#include "Machine.h"
#include "fp8/Proof/Prover.h"

namespace fp8::proof {

/// A process that waits for others.
struct Waiting {
  unsigned process;
  unsigned end;
  bool drains;                ///< it closes the end
  int64_t slot;               ///< which others have to signal, counted from 0
  std::vector<unsigned> late; ///< the ends that have not signalled it
};

/// Finds out what keeps the roles of a launch waiting, and how to change the
/// kernel. None where that is not known. Numbers of slots are proved to do.
std::optional<Cure> findCure(const Skeleton &skeleton, int64_t clusterSize,
                             const State &state,
                             llvm::ArrayRef<Waiting> waiting);

} // namespace fp8::proof

#endif // FP8_LIB_PROOF_CURES_H
