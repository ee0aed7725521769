// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a programmatic kernel waits for the kernels in front of it.

#ifndef FP8_ANALYSIS_GRIDWAIT_H
#define FP8_ANALYSIS_GRIDWAIT_H

#include "fp8/IR/Fp8.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::fp8 {

/// True if all threads of a programmatic kernel wait where its roles begin,
/// since it takes tensor memory: what another kernel holds while it waits it
/// may wait for (PTX ISA, tcgen05.alloc). Else each role waits for itself.
bool waitsBeforeRoles(FunctionOpInterface kernel);

/// How a role waits for the kernels in front, and lets the one behind start.
struct GridWait {
  struct Place {
    /// The op in front of which the role waits.
    Operation *before;
    /// An i32 argument of the kernel: the role waits there only if it is 0.
    /// Null if the role always waits there.
    Value unless;
  };
  /// None if the role need not wait.
  SmallVector<Place, 1> places;
  /// The op in front of which it lets the kernel behind start; null if it does
  /// not. In the loop `tiles` it does so before the last trip's alone.
  Operation *startsNext = nullptr;
  scf::ForOp tiles;
};

/// The waits of the roles, in the order of the text; none if the kernel is not
/// programmatic.
///
/// A role that only fills rings waits at the beginning of each block that has
/// copies of what is not constant, unless the launch says that all of it is
/// (`fp8.constants`). Others wait where they begin, so that the kernel ends
/// behind those in front. A role without ops does that for the kernel: where
/// there is one, the others wait in front of their accesses alone.
///
/// Roles that wait where they begin let the kernel behind start in front of
/// their first store of the last tile. CTAs that start while others still
/// compute are placed wherever an SM is free, and those that read the same
/// operands no longer beside one another (benchmark/notes/programmatic.md). If
/// the kernel has `fp8.signals_at_wait`, or a role copies constants alone,
/// which need no wait, the kernel behind starts right behind the wait instead,
/// unless the kernel takes tensor memory.
SmallVector<GridWait> getGridWaits(FunctionOpInterface kernel);

/// Fails with an error if the kernel's attributes and ops contradict these
/// waits: a programmatic kernel has no griddepcontrol of its own, and one that
/// takes tensor memory does not signal at its wait.
LogicalResult verifyGridWaits(FunctionOpInterface kernel);

} // namespace mlir::fp8

#endif // FP8_ANALYSIS_GRIDWAIT_H
