// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CTAs that find no SM at first. They start when others end.

#ifndef FP8_LIB_SIMULATOR_TIMING_WAVES_H
#define FP8_LIB_SIMULATOR_TIMING_WAVES_H

#include "Timing/Replay.h"

#include <deque>

namespace fp8::sim {

/// Of the order of a launch's clusters: where the second one is that is traced.
constexpr double kSecondCluster = 0.4;

/// Sets the passes of a launch's CTAs, by the clusters that were traced: the
/// first, and the second. The bytes that these store, of those of the output,
/// tell how many passes the CTAs make in the mean.
void countPasses(TracedLaunch &launch, const std::deque<Trace> &traces);

/// The passes of a CTA, in the mean.
double meanPasses(const TracedLaunch &launch);

/// Cycles of a launch of as many CTAs as the `resident` that run at a time, or
/// of more. Waves that are full follow one another.
/// `first` and `rest`: what a CTA of the first wave takes, and of the last,
/// which has memory for itself, for `passes` passes each.
double wavesCycles(const TracedLaunch &launch, uint64_t resident,
                   uint32_t passes, double first, double rest);

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_TIMING_WAVES_H
