// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel does before the preceding one has ended, and what that saves.
// The preceding kernel is of the same kind.

#ifndef FP8_LIB_SIMULATOR_TIMING_AHEAD_H
#define FP8_LIB_SIMULATOR_TIMING_AHEAD_H

#include "Timing/Replay.h"

namespace fp8::sim {

/// What the CTAs of a programmatic launch do ahead. Work is ahead if nothing
/// that it waits for is behind a wait for the preceding kernel.
struct Ahead {
  bool signals = false;    ///< in front of its products
  bool loads = false;      ///< some copy
  bool multiplies = false; ///< its first product
  bool hasGroups = false;  ///< several warpgroups of a CTA multiply
};

/// What CTAs that are ahead meet, each a part of all.
struct AheadShares {
  double shared;    ///< of the cycles, those in which shared memory works
  double dram;      ///< of the cycles, those in which memory works
  double tensor;    ///< of the cycles, those in which the tensor cores work
  double idle = 0;  ///< of the time of all SMs, in which they have no CTA
  double again = 0; ///< of the loads of the largest buffer, those after the
                    ///< first
  /// Two kernels find room at a time, so that all CTAs of one are ahead.
  bool fits = false;
};

/// Sets what the launch decides. `resident`: CTAs that run at a time.
void setLoad(AheadShares &shares, const chip::Timing &t, const Trace &trace,
             const TracedLaunch &launch, double resident);

/// From the preceding kernel's end to this one's first instruction. `meets`:
/// CTAs of a cluster do.
double launchUs(const chip::Timing &t, bool isProgrammatic, const Ahead &ahead,
                bool meets);

/// The part of a kernel's cycles that is ahead. It is negative where CTAs that
/// do not run in step lose more than that.
double partAhead(const chip::Timing &t, const AheadShares &shares);

/// Takes what is ahead off the time, down to what the bytes of the buffers that
/// the launch loads or stores take in memory.
void takeAhead(KernelTime &time, const chip::Timing &t, const Trace &trace,
               const AheadShares &shares);

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_TIMING_AHEAD_H
