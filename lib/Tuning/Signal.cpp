// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel gains, and loses, that lets the next one start behind its wait
// (benchmark/notes/programmatic.md). The numbers are fitted to surveys of an
// H200. In these the kernel in front is of the same kind and B is
// constant, as in a graph of such kernels. What A gains that is constant, too,
// is a term of its own.

#include "Blocks.h"
#include "fp8/Tuning/CostModel.h"

#include <algorithm>

using namespace fp8::tuning;

/// The K blocks of a CTA.
static int64_t countBlocks(const Problem &problem, const KernelShape &kernel) {
  return ceilDiv(problem.k, kBlock * kernel.config.cluster.k);
}

/// True if D has several rows of tiles.
static bool hasRows(const Problem &problem, const KernelShape &kernel) {
  return problem.m > kernel.config.tileM;
}

/// What a signal behind the wait takes off the launch of a programmatic kernel,
/// beside what one in front of the last store does. The next kernel's CTAs
/// start as soon as ours end, and load B meanwhile. One row of tiles of one
/// warpgroup gains by the part of B that the ring has room for: memory is done
/// with it before the wait, SMs that ours leave free begin at once, and CTAs
/// that divide K have little left. If K is whole and half of the SMs are free,
/// CTAs there take what ours draw, unless the ring holds most of B.
double KernelModel::getSignalUs(const Problem &problem,
                                const Prediction &prediction) const {
  // One without warpgroups signals in front of its store.
  if (!kernel.warpgroups || machine->earlyUs == 0)
    return 0;
  // In parts of what a programmatic launch gains.
  constexpr double kOfRows = 1.3, kOfDividedRows = 1.8, kOfSwappedRows = 0.7,
                   kOfTwo = 0.6, kOfTwoDivided = 1.3, kOfFree = 2,
                   kOfDivided = 1;
  bool isDivided = kernel.config.cluster.k > 1, rows = hasRows(problem, kernel);
  if (kernel.warpgroups > 1)
    return (isDivided && !rows ? kOfTwoDivided : kOfTwo) * machine->earlyUs;
  if (rows)
    return (kernel.swapped ? kOfSwappedRows
            : isDivided    ? kOfDividedRows
                           : kOfRows) *
           machine->earlyUs;
  constexpr double kOfMemory = 0.18; // of the time of memory
  double sms = machine->multiprocessors,
         free = 1 - double(std::min(prediction.tiles, resident)) / sms,
         slots = double(kernel.config.stages * kernel.blocksPerStage),
         part = std::min(slots / countBlocks(problem, kernel), 1.0),
         gain = part * ((kOfFree * free + (isDivided ? kOfDivided : 0)) *
                            machine->earlyUs +
                        kOfMemory * prediction.get(Bound::Dram));
  // With many waves a ring holds little of all that memory brings, and no gain
  // exceeds the launch.
  constexpr double kMost = 2.5;
  gain = std::min({gain, kMost * machine->earlyUs,
                   std::max(machine->launchUs - machine->earlyUs, 0.0)});
  if (isDivided || 2 * prediction.tiles > machine->multiprocessors)
    return gain;
  constexpr double kOfAllBlocks = 2.6, kTaken = 1;
  return std::min(gain, (kOfAllBlocks * part - kTaken) * machine->earlyUs);
}

/// 0 for a short loop of a CTA, 1 for a long one.
static double getLength(const Problem &problem, const KernelShape &kernel) {
  constexpr double kShort = 16, kLong = 40; // K blocks
  return std::clamp((double(countBlocks(problem, kernel)) - kShort) /
                        (kLong - kShort),
                    0.0, 1.0);
}

/// What is lost after a signal behind the wait, as a fraction of the loop,
/// since CTAs start on whatever SM is free. Where ours leave fewer than half of
/// the SMs free, two then share a TPC while others have none, unless large
/// clusters keep them together. A short loop does not notice. CTAs that share
/// columns of B are launched in clusters of two, which lose little; those of
/// swapped tiles have few rows to gain by that. More than two rows of tiles of
/// several warpgroups lose their bands, and more by that in a long loop
/// (benchmark/notes/large-m.md).
double KernelModel::getSpreadShare(const Problem &problem,
                                   const Prediction &prediction) const {
  constexpr double kMost = 0.4, kMostOfRows = 0.08, kNearlyAll = 0.9,
                   kOfRowsOfTwo = 0.01, kOfRowsOfThree = 0.025;
  constexpr int64_t kKeptTogether = 4;
  const config::ClusterShape &cluster = kernel.config.cluster;
  bool rows = hasRows(problem, kernel) && cluster.k == 1;
  double sms = machine->multiprocessors,
         drawing = double(std::min(prediction.tiles, resident)), share = 0,
         length = getLength(problem, kernel);
  if (2 * drawing > sms && cluster.k < kKeptTogether) {
    double most = rows && !kernel.swapped ? kMostOfRows : kMost,
           free = (kNearlyAll * sms - drawing) / ((kNearlyAll - 0.5) * sms);
    share = most * std::max(free, 0.0) * length;
  }
  if (rows && kernel.warpgroups > 1 && problem.m > 2 * kernel.config.tileM)
    share += kernel.warpgroups == 2 ? kOfRowsOfTwo * (1 + length)
                                    : kOfRowsOfThree * length;
  return share;
}

/// What a kernel takes less whose A is constant, too: its CTAs load and
/// multiply as soon as they start, and no longer wait for the slowest CTA of
/// the kernel in front. In a long loop CTAs on all SMs are slower where they do
/// not run in step, above all with several rows of tiles, which read the same
/// columns of B. Where they leave SMs free, the next kernel runs beside them.
double KernelModel::getAheadUs(const Problem &problem,
                               const Prediction &prediction,
                               double totalUs) const {
  constexpr int64_t kMostWaves = 4; // of what was timed
  if (!kernel.mayMultiplyEarly || machine->earlyUs == 0 ||
      prediction.waves > kMostWaves)
    return 0;
  // In parts of the time.
  constexpr double kShare = 0.105, kOfFree = 0.6, kOfLength = -0.05,
                   kOfRows = -0.05, kMost = 0.205, kMostUs = 2.9;
  bool rows = hasRows(problem, kernel) && kernel.config.cluster.k == 1;
  double free = 1 - double(std::min(prediction.tiles, resident)) /
                        machine->multiprocessors,
         ofLoop = kOfFree * free + kOfLength + (rows ? kOfRows : 0),
         share = kShare + getLength(problem, kernel) * ofLoop;
  // Memory is no faster.
  double most = std::clamp(totalUs - prediction.get(Bound::Dram), 0.0, kMostUs);
  return std::min(std::min(share, kMost) * totalUs, most);
}
