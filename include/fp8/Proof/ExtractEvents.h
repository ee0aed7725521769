// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a linear kernel becomes, as events.

#ifndef FP8_PROOF_EXTRACTEVENTS_H
#define FP8_PROOF_EXTRACTEVENTS_H

#include "fp8/Proof/Events.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::fp8 {

struct ExtractedEvents {
  ::fp8::proof::KernelEvents events;
  /// The ops of the events' sites.
  SmallVector<Operation *, 0> ops;
  /// What events cannot say, and the op; null if they say all.
  Operation *obstacle = nullptr;
  std::string reason;
  /// Ends may change places, and this is all that events cannot say: those of a
  /// cursor then are of one of its rings.
  bool isExchange = false;
};

/// The events of a kernel in phase 2 that has been planned and has its fences
/// (`--fp8-plan-kernels`, `--fp8-place-fences`). They follow from the ops and
/// their plans; the lowering of rings is not asked.
ExtractedEvents extractEvents(FunctionOpInterface kernel);

} // namespace mlir::fp8

#endif // FP8_PROOF_EXTRACTEVENTS_H
