// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What programmatic launches gain in the cost model, by where they signal.
#include "Kernels.h"

#include <gtest/gtest.h>

using namespace fp8::tuning;

/// What a signal behind the wait takes off a programmatic kernel.
static double signalGain(const Problem &problem, KernelShape kernel) {
  kernel.config.programmatic = true;
  double us = totalUs(problem, kernel);
  kernel.config.signalsAtWait = true;
  return us - totalUs(problem, kernel);
}

TEST(Signal, AnEarlyBGainsWhereItDoesNotMeetTheKernelInFront) {
  KernelShape kernel = warpgroupKernel(64, 64);
  // All SMs have a tile: what the ring holds of B is what it gains by.
  double all = signalGain({64, 132 * 64, 7168}, kernel);
  EXPECT_GT(all, 0);
  KernelShape deep = kernel;
  deep.config.stages *= 2;
  EXPECT_NEAR(signalGain({64, 132 * 64, 7168}, deep), 2 * all, 1e-9);
  // Half of them have none: it loses. Where the ring holds all of B it gains
  // more than with no SM free.
  EXPECT_LT(signalGain({64, 64 * 64, 7168}, kernel), 0);
  EXPECT_GT(signalGain({64, 64 * 64, 512}, kernel),
            signalGain({64, 132 * 64, 512}, kernel));
  // CTAs that divide K gain more.
  KernelShape divided = kernel;
  divided.config.cluster.k = 2;
  EXPECT_GT(signalGain({64, 66 * 64, 7168}, divided), all);
  // Two warpgroups have a part of what a programmatic launch gains.
  double two = signalGain({128, 132 * 64, 7168}, warpgroupKernel(128, 64));
  EXPECT_GT(two, 0);
  EXPECT_LT(two, h200.earlyUs);
}

TEST(Signal, AnEarlyBGainsNothingWhereAnEarlyStartDoesNot) {
  Machine other = h200;
  other.earlyUs = 0;
  KernelShape store = warpgroupKernel(64, 64);
  store.config.programmatic = true;
  KernelShape wait = store;
  wait.config.signalsAtWait = true;
  Problem problem = {64, 132 * 64, 7168};
  EXPECT_EQ(predict(other, problem, wait).total,
            predict(other, problem, store).total);
}

TEST(Signal, AnEarlyBGainsNoMoreThanTheLaunch) {
  KernelShape kernel = warpgroupKernel(64, 64);
  kernel.config.programmatic = kernel.config.signalsAtWait = true;
  kernel.config.stages = 16;
  // Many waves of tiles whose K blocks the ring holds.
  for (const Problem &problem :
       {Problem{64, 36864, 1536}, Problem{1, 129280, 1024},
        Problem{1, 2097152, 512}}) {
    Prediction prediction = predict(h200, problem, kernel);
    EXPECT_GT(prediction.launch, 0);
    EXPECT_GT(prediction.total, prediction.get(Bound::Dram));
  }
}

TEST(Signal, ThreeRowsOfTilesOfTwoWarpgroupsLoseTheirBands) {
  KernelShape kernel = warpgroupKernel(128, 192);
  EXPECT_GT(signalGain({256, 18432, 16384}, kernel), 0);
  EXPECT_LT(signalGain({384, 18432, 16384}, kernel), 0);
}

TEST(Signal, ThreeRowsOfTilesOfThreeWarpgroupsLoseInLongLoopsOnly) {
  KernelShape kernel = warpgroupKernel(192, 96);
  EXPECT_GT(signalGain({384, 18432, 16384}, kernel), 0);
  EXPECT_LT(signalGain({576, 18432, 16384}, kernel), 0);
  EXPECT_GT(signalGain({576, 18432, 2048}, kernel), 0);
}

TEST(Signal, ASignalBehindTheWaitGainsWhereCtasLieEvenly) {
  KernelShape kernel = warpgroupKernel(64, 64);
  // Between half of the SMs and nearly all, two share a TPC; a long loop
  // notices more of it than a short one.
  EXPECT_LT(signalGain({64, 70 * 64, 16384}, kernel), 0);
  EXPECT_GT(signalGain({64, 70 * 64, 512}, kernel), 0);
  // Clusters of two keep several rows of tiles together, unless swapped.
  double alone = signalGain({64, 70 * 64, 16384}, kernel);
  EXPECT_GT(signalGain({128, 35 * 64, 16384}, kernel), alone / 2);
  kernel.swapped = true;
  EXPECT_LT(signalGain({128, 35 * 64, 16384}, kernel), alone / 2);
  // Larger clusters keep them together, too: of as many CTAs.
  kernel.config.cluster.k = 2;
  double halves = signalGain({128, 18 * 64, 16384}, kernel);
  kernel.config.cluster.k = 4;
  EXPECT_GT(signalGain({128, 9 * 64, 16384}, kernel), halves);
}

TEST(Signal, AProgrammaticLaunchGainsTheSameWhateverFollows) {
  auto gain = [](const Problem &problem, KernelShape kernel,
                 const Machine &machine = h200) {
    double serial = totalUs(problem, kernel, machine);
    kernel.config.programmatic = true;
    return serial - totalUs(problem, kernel, machine);
  };
  // CTAs are placed when all SMs are free: idle SMs, rows of tiles and waves
  // make no difference.
  for (int64_t tiles : {300, 132, 112, 72, 60})
    EXPECT_NEAR(gain({64, tiles * 64, 16384}, warpgroupKernel(64, 64)),
                h200.earlyUs, 1e-9)
        << tiles;
  for (int64_t rows : {1, 2, 32})
    EXPECT_NEAR(gain({rows * 128, 4096, 7168}, warpgroupKernel(128, 128)),
                h200.earlyUs, 1e-9)
        << rows;
  KernelShape halves = warpgroupKernel(64, 64);
  halves.config.cluster.k = 2;
  EXPECT_NEAR(gain({48, 66 * 64, 7168}, halves), h200.earlyUs, 1e-9);
  EXPECT_NEAR(gain({257, 4 * 148 * 64, 7168}, makePair(256, 128), b200),
              b200.earlyUs, 1e-9);
}

/// What is taken off because the kernel multiplies before the one in front has
/// ended.
static double aheadUs(const Problem &problem, KernelShape kernel,
                      const Machine &machine = h200) {
  kernel.config.programmatic = kernel.config.signalsAtWait = true;
  double waiting = totalUs(problem, kernel, machine);
  kernel.mayMultiplyEarly = true;
  Prediction early = predict(machine, problem, kernel);
  EXPECT_NEAR(waiting - early.total, early.ahead, 1e-9);
  return early.ahead;
}

TEST(Signal, AnEarlyAGainsMoreWhereSmsAreFreeAndTheLoopIsLong) {
  KernelShape kernel = warpgroupKernel(64, 64);
  auto share = [&](int64_t m, int64_t tiles, int64_t k) {
    KernelShape waits = kernel;
    waits.config.programmatic = waits.config.signalsAtWait = true;
    Problem problem{m, tiles * 64, k};
    return aheadUs(problem, kernel) / totalUs(problem, waits);
  };
  EXPECT_GT(share(64, 100, 5120), 1.2 * share(64, 132, 5120));
  // A short loop does not notice.
  EXPECT_NEAR(share(64, 100, 1024), share(64, 132, 1024), 1e-9);
  // Rows of tiles that read the same columns lose by not running in step.
  EXPECT_LT(share(128, 66, 5120), 0.8 * share(64, 132, 5120));
}

TEST(Signal, AnEarlyAGainsNoMoreThanMemoryAllows) {
  // B takes memory longer than all else takes.
  Problem problem{1, 36864, 18432};
  KernelShape kernel = warpgroupKernel(64, 144);
  kernel.config.edge = fp8::config::Edge::Fit;
  kernel.config.stages = 16;
  kernel.config.programmatic = kernel.config.signalsAtWait = true;
  kernel.mayMultiplyEarly = true;
  Prediction prediction = predict(h200, problem, kernel);
  EXPECT_GT(prediction.ahead, 0);
  EXPECT_GE(prediction.total, prediction.get(Bound::Dram));
}

TEST(Signal, AnEarlyAGainsNothingThatWasNotTimed) {
  KernelShape kernel = warpgroupKernel(64, 64);
  EXPECT_GT(aheadUs({64, 4 * 132 * 64, 512}, kernel), 0);
  EXPECT_EQ(aheadUs({64, 5 * 132 * 64, 512}, kernel), 0);
  // Other launches have nothing of it.
  kernel.mayMultiplyEarly = true;
  Predictions all = *KernelModel(h200, kernel).predict({64, 4096, 7168});
  EXPECT_EQ(all.serial.ahead, 0);
  EXPECT_EQ(all.programmatic.ahead, 0);
  EXPECT_GT(all.early.ahead, 0);
  Machine other = h200;
  other.earlyUs = 0;
  EXPECT_EQ(aheadUs({64, 4096, 7168}, kernel, other), 0);
}
