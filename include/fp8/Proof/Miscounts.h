// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether the phases of barriers are the laps of slots.

#ifndef FP8_PROOF_MISCOUNTS_H
#define FP8_PROOF_MISCOUNTS_H

#include "fp8/Proof/Events.h"

namespace fp8::proof {

/// What a kernel's events do to barriers that makes phases differ from laps.
struct Miscount {
  unsigned site; ///< the op that must not be reached
  std::string rule;
  /// In which runs that come there a phase is no lap, for certain.
  enum class Holds : uint8_t {
    Always,
    FromSecondLap, ///< those that come there with a slot that was used before
    Perhaps,
  } holds = Holds::Always;
};

struct Miscounts {
  std::vector<Miscount> faults;
  /// What is not followed, and where; none if all is.
  std::optional<Miscount> obstacle;
  uint64_t steps = 0; ///< events that were followed
};

/// Finds out whether each lap of a slot completes one phase of each of its
/// barriers for which somebody waits:
///
/// - the arrivals of a lap are those for which the barrier was initialised;
/// - the bytes that its copies bring are those that it announces, and an
///   arrival goes with the announcement or follows it;
/// - who signals a barrier has seen the phase of the lap before complete;
/// - who waits for a phase signals somebody without whom the next one does not
///   complete.
///
/// CTAs of a cluster are taken to run the same branches.
Miscounts findMiscounts(const KernelEvents &events);

} // namespace fp8::proof

#endif // FP8_PROOF_MISCOUNTS_H
