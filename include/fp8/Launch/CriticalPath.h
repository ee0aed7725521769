// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The critical path of a timeline: what each part of the time went to, such
// that nothing else would have ended sooner.
#ifndef FP8_LAUNCH_CRITICALPATH_H
#define FP8_LAUNCH_CRITICALPATH_H

#include "fp8/Launch/Profile.h"

namespace fp8::launch {

/// One kind of step of the critical path.
struct PathPart {
  /// Start: before the first role began. Work: a role works. Transfer: from the
  /// last hand-over of a barrier's phase to the phase's completion by an
  /// engine; copies, or products, are under way. Wait: for a barrier at which
  /// no sampled role has arrived. Unrecorded: there was no room for stamps.
  enum Kind { Start, Work, Transfer, Wait, Unrecorded };
  Kind kind;
  uint32_t role;                      ///< that works, handed over or waits
  uint32_t barrier = Timeline::kNone; ///< of a Transfer or a Wait
  double time = 0;                    ///< ns, of all sampled CTAs together
};

/// Finds the critical path of each CTA, from the end of the role that ends last
/// back to the CTA's begin, and adds up its parts; the largest comes first.
///
/// Before a role's work comes its work so far. Before a wait that was blocked
/// comes the last arrival at its barrier, in the role that arrived. A wait was
/// blocked if it took longer than any that is known to find its barrier
/// complete: a producer's first waits for each slot. While what a role waits
/// for is under way, it may also work on earlier slots, which counts as work.
std::vector<PathPart> findCriticalPath(const Timeline &timeline);

} // namespace fp8::launch

#endif // FP8_LAUNCH_CRITICALPATH_H
