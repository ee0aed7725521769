// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ways on which one end may come to know of a wait of another.

#ifndef FP8_LIB_PROOF_LAPPATHS_H
#define FP8_LIB_PROOF_LAPPATHS_H

#include "Laps.h"

namespace fp8::proof {

/// Tells whether some chain of signals and waits may put a signal behind a
/// wait, in whichever laps. Laps of one ring are told apart; how those of
/// different rings go together is left open.
class LapPaths {
public:
  LapPaths(const KernelLaps &laps, const BarrierSets &sets)
      : laps(laps), sets(sets) {}

  /// False if no chain leads from what `waiter` does in this CTA behind its
  /// wait for the barrier, in this lap, to the next signal of the barrier by
  /// `end` in the CTA `rank`.
  bool mayLead(const EndLaps &waiter, const Lap &lap, unsigned set,
               int64_t from, const EndLaps &end, int64_t rank) const;

private:
  const KernelLaps &laps;
  const BarrierSets &sets;
};

} // namespace fp8::proof

#endif // FP8_LIB_PROOF_LAPPATHS_H
