// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cost model: what must hold whatever its constants are.
#include "fp8/Tuning/CostModel.h"

#include "fp8/Chip/Chip.h"

#include <gtest/gtest.h>

using namespace fp8::tuning;

namespace {

const Machine &h200 = *fp8::chip::lookup("sm_90a")->machine;
const Machine &b200 = *fp8::chip::lookup("sm_100a")->machine;

/// A kernel of four stages.
KernelShape makeKernel(int64_t tileM, int64_t tileN) {
  KernelShape kernel;
  kernel.config.tileM = tileM;
  kernel.config.tileN = tileN;
  kernel.config.stages = 4;
  return kernel;
}

/// The kernel of a CTA pair.
KernelShape makePair(int64_t tileM, int64_t tileN) {
  KernelShape pair = makeKernel(tileM, tileN);
  pair.config.ctaGroup = pair.config.cluster.m = 2;
  return pair;
}

KernelShape warpgroupKernel(int64_t rows, int64_t tileN) {
  KernelShape kernel = makeKernel(rows, tileN);
  kernel.warpgroups = rows == 256 ? 2 : rows / 64;
  kernel.overlaps = rows == 64 && tileN <= 128;
  return kernel;
}

double totalUs(const Problem &problem, const KernelShape &kernel,
               const Machine &machine = h200) {
  return predict(machine, problem, kernel).total;
}

} // namespace

TEST(CostModel, GrowsWithEachExtent) {
  for (const Machine *machine : {&h200, &b200}) {
    KernelShape kernel = makeKernel(128, 128);
    kernel.warpgroups = machine == &h200 ? 2 : 0;
    Problem small{256, 512, 1024};
    for (Problem larger :
         {Problem{1 << 16, 512, 1024}, Problem{256, 1 << 16, 1024},
          Problem{256, 512, 1 << 16}, Problem{256, 512, 1024, 64}})
      EXPECT_GT(totalUs(larger, kernel, *machine),
                totalUs(small, kernel, *machine));
  }
}

TEST(CostModel, CountsWaves) {
  KernelShape kernel = warpgroupKernel(128, 128);
  Prediction one = predict(h200, {128 * 132, 128, 1024}, kernel);
  EXPECT_EQ(one.tiles, 132);
  EXPECT_EQ(one.waves, 1);
  Prediction two = predict(h200, {128 * 133, 128, 1024}, kernel);
  EXPECT_EQ(two.tiles, 133);
  EXPECT_EQ(two.waves, 2);
  EXPECT_DOUBLE_EQ(two.get(Bound::Tensor), 2 * one.get(Bound::Tensor));
  EXPECT_DOUBLE_EQ(two.epilogue, 2 * one.epilogue);
  EXPECT_EQ(predict(h200, {128, 128, 1024, 133}, kernel).waves, 2);
}

TEST(CostModel, CountsWholeClusters) {
  KernelShape kernel = warpgroupKernel(128, 128);
  kernel.config.cluster.m = 2;
  kernel.config.cluster.n = 4;
  Prediction prediction = predict(h200, {3 * 128, 5 * 128, 1024}, kernel);
  EXPECT_EQ(prediction.tiles, 4 * 8);
  // Clusters do not cross GPCs.
  EXPECT_EQ(prediction.resident, 8 * 15);
  EXPECT_GT(prediction.launch,
            predict(h200, {3 * 128, 5 * 128, 1024}, warpgroupKernel(128, 128))
                .launch);
}

TEST(CostModel, ClustersLeftOverBeginWhenOthersHaveEnded) {
  KernelShape kernel = makePair(256, 128);
  kernel.config.cluster.m = 4;
  kernel.config.cluster.n = 2;
  // A launch has 144 CTAs, of which 120 run at a time.
  ASSERT_EQ(b200.multiprocessors / 8 * 8, 144);
  ASSERT_EQ(b200.clusters.countCtas(8, b200.multiprocessors), 120);
  auto countWaves = [&](int64_t clusters) {
    return predict(b200, {4 * 128, clusters * 2 * 128, 1024}, kernel).waves;
  };
  EXPECT_EQ(countWaves(15), 1);
  EXPECT_EQ(countWaves(16), 2);
  EXPECT_EQ(countWaves(18), 2);
  // Each has two tiles then, and so have those that begin late.
  EXPECT_EQ(countWaves(19), 4);
}

TEST(CostModel, PromotionReadsTensorMemory) {
  Problem problem{4096, 4096, 4096};
  KernelShape kernel = makePair(256, 128);
  Machine slower = b200;
  slower.transferBytesPerCycle /= 2;
  Prediction fast = predict(b200, problem, kernel),
             slow = predict(slower, problem, kernel);
  double blocks = fast.waves * 32, cycles = 128 * 128 * 4.0;
  EXPECT_NEAR(slow.get(Bound::Promotion) - fast.get(Bound::Promotion),
              blocks * cycles / b200.transferBytesPerCycle / b200.gigahertz /
                  1e3,
              1e-6);
  // Products in registers are not read from there.
  Machine other = h200;
  other.transferBytesPerCycle = 1;
  EXPECT_EQ(totalUs(problem, warpgroupKernel(128, 128), other),
            totalUs(problem, warpgroupKernel(128, 128)));
}

TEST(CostModel, AnMmaOfFewColumnsWaitsForSharedMemory) {
  Problem problem{128, 4096, 4096};
  auto tensorOf = [&](int64_t columns) {
    Prediction one = predict(b200, problem, makeKernel(128, columns));
    return one.get(Bound::Tensor) / one.waves;
  };
  // Of 128 rows, and 128 cycles, a K block of A alone (docs/Timing.md).
  double least = 32 * 128 / b200.sustainedShare / b200.gigahertz / 1e3;
  EXPECT_GT(tensorOf(16), least);
  EXPECT_GT(tensorOf(32), tensorOf(16));
  EXPECT_LT(tensorOf(32), 1.2 * tensorOf(16));
}

TEST(CostModel, MmasRunBesideTheEpilogueOfAnEarlierTile) {
  KernelShape kernel = makeKernel(128, 128), straddling = kernel;
  straddling.scaleParts = 5;
  auto laterOf = [&](const KernelShape &shape) {
    double one = predict(b200, {128 * 148, 128, 1024}, shape).epilogue,
           two = predict(b200, {128 * 296, 128, 1024}, shape).epilogue;
    EXPECT_LT(two, 2 * one + 1);
    return two - one;
  };
  EXPECT_LT(laterOf(kernel), predict(b200, {128, 128, 1024}, kernel).epilogue);
  // Each tile waits for its first B scales.
  EXPECT_NEAR(laterOf(straddling) - laterOf(kernel),
              1800 / b200.gigahertz / 1e3, 1e-9);
}

TEST(CostModel, CtasThatDivideKTakeAPartOfTheBlocksEach) {
  Problem problem{64, 2112, 7168};
  KernelShape kernel = warpgroupKernel(64, 32);
  Prediction whole = predict(h200, problem, kernel);
  kernel.config.cluster.k = 2;
  Prediction halves = predict(h200, problem, kernel);
  EXPECT_EQ(halves.tiles, 2 * whole.tiles);
  EXPECT_EQ(halves.waves, 1);
  EXPECT_DOUBLE_EQ(halves.get(Bound::L1), whole.get(Bound::L1) / 2);
  EXPECT_GT(halves.epilogue, whole.epilogue);
  // In multiples of two blocks: three are four.
  problem.k = 6 * 128;
  kernel.blockMultiple = 2;
  kernel.config.cluster.k = 1;
  double all = predict(h200, problem, kernel).get(Bound::L1);
  kernel.config.cluster.k = 2;
  EXPECT_DOUBLE_EQ(predict(h200, problem, kernel).get(Bound::L1), all * 4 / 6);
  // Without such, half of them.
  kernel.blockMultiple = 1;
  EXPECT_DOUBLE_EQ(predict(h200, problem, kernel).get(Bound::L1), all / 2);
}

TEST(CostModel, ACopyForAClusterTakesLessOfL2ButAsMuchOfL1) {
  Problem problem{4096, 4096, 4096};
  KernelShape kernel = warpgroupKernel(128, 128);
  kernel.config.cluster.n = 2;
  Prediction alone = predict(h200, problem, kernel);
  kernel.sharesA = true;
  Prediction shared = predict(h200, problem, kernel);
  EXPECT_DOUBLE_EQ(shared.get(Bound::L2), 0.75 * alone.get(Bound::L2));
  EXPECT_DOUBLE_EQ(shared.get(Bound::L1), alone.get(Bound::L1));
  EXPECT_LT(shared.get(Bound::Tensor), alone.get(Bound::Tensor));
  EXPECT_LT(shared.total, alone.total);
}

TEST(CostModel, APairHoldsHalfOfB) {
  KernelShape one = makeKernel(128, 256), pair = makePair(256, 256);
  Problem problem{4096, 4096, 4096};
  EXPECT_DOUBLE_EQ(predict(b200, problem, pair).get(Bound::L1),
                   predict(b200, problem, one).get(Bound::L1) * 2 / 3);
  // What it does not fetch costs the tensor cores no power.
  EXPECT_LT(predict(b200, problem, pair).get(Bound::Tensor),
            predict(b200, problem, one).get(Bound::Tensor));
}

TEST(CostModel, MoreInFlightIsNoSlower) {
  Problem problem{64, 7168, 2048};
  KernelShape kernel = warpgroupKernel(64, 64);
  double last = 1e9;
  for (int64_t stages : {2, 3, 4, 8}) {
    kernel.config.stages = stages;
    double us = totalUs(problem, kernel);
    EXPECT_LT(us, last);
    last = us;
  }
  kernel.blocksPerStage = 2;
  EXPECT_LT(totalUs(problem, kernel), last);
}

TEST(CostModel, WhatAKernelDoesBesideCosts) {
  Problem problem{4096, 4096, 4096};
  KernelShape kernel = warpgroupKernel(64, 64);
  double us = totalUs(problem, kernel);
  KernelShape parts = kernel;
  parts.scaleParts = 8;
  EXPECT_GT(totalUs(problem, parts), us);
  KernelShape waits = kernel;
  waits.overlaps = false;
  EXPECT_GT(totalUs(problem, waits), us);
  Problem residual = problem;
  residual.residualBytes = 4;
  EXPECT_GT(totalUs(residual, kernel), us);
}

TEST(CostModel, NothingTakesLessThanMemoryAndTheLaunch) {
  Problem problem{64, 7168, 16384};
  KernelShape kernel = warpgroupKernel(64, 64);
  kernel.blocksPerStage = 4;
  Prediction prediction = predict(h200, problem, kernel);
  EXPECT_EQ(prediction.getLargest(), Bound::Dram);
  EXPECT_GE(prediction.total,
            prediction.launch + 7168.0 * 16384 / h200.dramBytesPerNs / 1e3);
  // Few SMs draw less.
  EXPECT_GT(predict(h200, problem, warpgroupKernel(64, 256)).get(Bound::Dram),
            prediction.get(Bound::Dram));
}

TEST(CostModel, TheLargestProblemsAreFinite) {
  int64_t most = (int64_t(1) << 31) - 1;
  Prediction prediction =
      predict(h200, {most, most, most, most}, warpgroupKernel(64, 16));
  EXPECT_GT(prediction.total, 1e12);
  EXPECT_LT(prediction.total, 1e30);
  // All waves of all blocks are more than 64 bits count.
  EXPECT_GT(prediction.get(Bound::Tensor), 1e20);
  EXPECT_GT(prediction.get(Bound::Depth), 1e20);
}

TEST(CostModel, RowsBeyondMCost) {
  KernelShape kernel = warpgroupKernel(64, 64);
  EXPECT_EQ(predict(h200, {64, 4096, 7168}, kernel).fill, 0);
  double some = predict(h200, {32, 4096, 7168}, kernel).fill,
         most = predict(h200, {1, 4096, 7168}, kernel).fill;
  // 64 tiles of 56 blocks, 32 rows of each; of 16 none counts.
  EXPECT_DOUBLE_EQ(some, 64 * 56 * 32 * h200.fillPs / 1e6);
  EXPECT_DOUBLE_EQ(most, some * 63 / 32);
  EXPECT_DOUBLE_EQ(predict(h200, {65, 4096, 7168}, kernel).fill, most);
  EXPECT_EQ(predict(h200, {48, 4096, 7168}, kernel).fill, 0);
  EXPECT_DOUBLE_EQ(predict(h200, {32, 4096, 7168, 3}, kernel).fill, 3 * some);
  EXPECT_GT(totalUs({1, 4096, 7168}, kernel),
            totalUs({64, 4096, 7168}, kernel));
  // They hide behind what takes longer: here behind memory.
  Problem wide{1, 36864, 18432};
  KernelShape few = warpgroupKernel(64, 256);
  few.blocksPerStage = 4;
  Prediction hidden = predict(h200, wide, few);
  EXPECT_GT(hidden.fill, 10);
  Machine free = h200;
  free.fillPs = 0;
  EXPECT_LT(hidden.total - totalUs(wide, few, free), 0.01 * hidden.fill);
}

TEST(CostModel, TheRowOfTilesWithRowsBeyondMHoldsUpTheOthers) {
  KernelShape kernel = warpgroupKernel(128, 192);
  // 42 rows, 128 boxes, 128 K blocks: with one row of tiles, two and three.
  auto get = [&](int64_t m) {
    return predict(h200, {m, 24576, 16384}, kernel);
  };
  double alone = 42 * 128 * 128 * h200.fillPs / 1e6;
  EXPECT_DOUBLE_EQ(get(86).fill, alone);
  EXPECT_GT(get(214).fill, alone);
  EXPECT_GT(get(342).fill, get(214).fill);
  // All CTAs of one row of tiles wait for the same rows.
  EXPECT_GT(get(86).fillWait, 0);
  EXPECT_EQ(get(214).fillWait, 0);
}

TEST(CostModel, BoxesThatFitFillNothing) {
  KernelShape last = warpgroupKernel(128, 128), fit = last;
  fit.config.edge = fp8::config::Edge::Fit;
  for (int64_t m : {64, 128}) {
    Prediction its = predict(h200, {m, 24576, 16384}, fit);
    EXPECT_EQ(its.fill, 0);
    EXPECT_EQ(its.fillWait, 0);
  }
  EXPECT_LT(totalUs({64, 24576, 16384}, fit),
            totalUs({64, 24576, 16384}, last));
  // Several rows of tiles have whole boxes.
  EXPECT_EQ(predict(h200, {192, 24576, 16384}, fit).fill,
            predict(h200, {192, 24576, 16384}, last).fill);
}

TEST(CostModel, FewRowsBeyondMNeedNoBoxesThatFit) {
  auto gains = [](const KernelShape &kernel, int64_t m) {
    return KernelModel(h200, kernel).gainsByFit({m, 24576, 16384});
  };
  KernelShape kernel = warpgroupKernel(128, 128), first = kernel,
              divided = kernel, ofTensorMemory = kernel;
  EXPECT_TRUE(gains(kernel, 111));
  EXPECT_FALSE(gains(kernel, 112));
  EXPECT_FALSE(gains(kernel, 200)); // in two rows of tiles
  first.config.edge = fp8::config::Edge::First;
  divided.config.cluster.k = 2;
  ofTensorMemory.warpgroups = 0;
  for (const KernelShape &other : {first, divided, ofTensorMemory})
    EXPECT_FALSE(gains(other, 64));
}

TEST(CostModel, ProductsOfZerosDrawLessPower) {
  KernelShape last = warpgroupKernel(128, 192), first = last;
  first.config.edge = fp8::config::Edge::First;
  auto gain = [&](const Problem &problem) {
    return totalUs(problem, first) / totalUs(problem, last) - 1;
  };
  // Measured on an H200: 88.98 us with the first tile at the edge, 87.58 with
  // the last.
  EXPECT_NEAR(gain({214, 24576, 9216}), 0.016, 0.01);
  EXPECT_GT(gain({214, 24576, 16384}), 0.01);
  // A short product is not at the power limit, four rows are few zeros, and
  // copies of 113 rows beyond M cost more than the zeros gain.
  EXPECT_LE(gain({214, 24576, 1024}), 0);
  EXPECT_EQ(gain({252, 24576, 16384}), 0);
  // (fillPs says how much).
  EXPECT_LT(gain({143, 24576, 16384}), -0.05);
  // Narrow tiles, and those of 256 rows, were measured to gain nothing.
  KernelModel wide(h200, first);
  EXPECT_TRUE(wide.gainsByZeros({214, 24576, 16384}));
  EXPECT_FALSE(wide.gainsByZeros({252, 24576, 16384}));
  // Behind a band of eight rows the last wave is of rows beyond M, unless it is
  // the first.
  EXPECT_FALSE(wide.gainsByZeros({1025, 4608, 7168}));
  EXPECT_TRUE(wide.gainsByZeros({1283, 2112, 18432}));
  for (auto [rows, columns] : {std::pair(128, 128), std::pair(256, 192)}) {
    KernelModel other(h200, warpgroupKernel(rows, columns));
    EXPECT_FALSE(other.gainsByZeros({2 * rows - 42, 24576, 16384}));
  }
}

TEST(CostModel, MultiprocessorsThatIdleLeaveSomeOfTheirPower) {
  KernelShape kernel = warpgroupKernel(256, 128);
  auto get = [&](int64_t tiles, int64_t k) {
    return predict(h200, {256, 128 * tiles, k}, kernel).get(Bound::Tensor);
  };
  // One and a half waves, beside two.
  EXPECT_EQ(get(198, 1024), get(264, 1024));
  EXPECT_LT(get(198, 1 << 17), 0.99 * get(264, 1 << 17));
  EXPECT_GT(get(198, 1 << 17), 0.8 * get(264, 1 << 17));
}

TEST(CostModel, ColumnsBeyondNCostWhereCtasHaveOneTile) {
  KernelShape kernel = warpgroupKernel(64, 80);
  // 64 columns of each of 16 rows of tiles, 56 blocks.
  EXPECT_DOUBLE_EQ(predict(h200, {1024, 576, 7168}, kernel).fillWait,
                   16 * 64 * 56 * h200.fillWaitPs / 1e6);
  EXPECT_EQ(predict(h200, {2048, 576, 7168}, kernel).fillWait, 0);
}

TEST(CostModel, TheLastWaveTakesWhatItsMultiprocessorsDo) {
  KernelShape kernel = warpgroupKernel(64, 64);
  auto get = [&](int64_t tiles, Bound bound) {
    return predict(h200, {64, tiles * 64, 16384}, kernel).get(bound);
  };
  // Four tiles are few bytes, and take as long as one takes alone.
  double whole = get(2 * 132, Bound::Dram), one = get(1, Bound::L1);
  EXPECT_LT(get(4, Bound::Dram), one);
  EXPECT_GT(get(2 * 132 + 4, Bound::Dram), whole + 0.99 * one);
}

TEST(CostModel, ShortRowsOfBoxesCostWhereDIsStored) {
  KernelShape kernel = warpgroupKernel(128, 56);
  Problem problem{128, 32768, 512};
  double us = totalUs(problem, kernel);
  kernel.storeColumns = 8;
  double narrow = totalUs(problem, kernel) - us;
  EXPECT_NEAR(narrow, 128 * 32768 / 8 * h200.storePs / 1e6, 1e-9);
  kernel.storeColumns = 64;
  EXPECT_NEAR(totalUs(problem, kernel) - us, narrow / 8, 1e-9);
}

TEST(CostModel, LanesThatLoadBScalesCostATileAndSaveBlocks) {
  KernelShape ring = warpgroupKernel(128, 128), lanes = ring;
  lanes.config.lanesLoadBScales = true;
  for (int64_t m : {512, 1024, 2048}) {
    EXPECT_LT(totalUs({m, 4096, 7168}, lanes), totalUs({m, 4096, 7168}, ring));
    EXPECT_GT(totalUs({m, 4096, 512}, lanes), totalUs({m, 4096, 512}, ring));
  }
}

TEST(CostModel, LoadsOfBScalesCostEachTileButTheFirst) {
  KernelShape without = warpgroupKernel(128, 64), with = without;
  with.asksForBScales = true;
  EXPECT_EQ(totalUs({128, 4096, 512}, with),
            totalUs({128, 4096, 512}, without));
  double two = totalUs({128, 16384, 512}, with) -
               totalUs({128, 16384, 512}, without),
         four = totalUs({128, 32768, 512}, with) -
                totalUs({128, 32768, 512}, without);
  EXPECT_GT(two, 0);
  EXPECT_GT(four, 2 * two);
}

/// What a signal behind the wait takes off a programmatic kernel.
static double signalGain(const Problem &problem, KernelShape kernel) {
  kernel.config.programmatic = true;
  double us = totalUs(problem, kernel);
  kernel.config.signalsAtWait = true;
  return us - totalUs(problem, kernel);
}

TEST(CostModel, AnEarlyBGainsWhereItDoesNotMeetTheKernelInFront) {
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

TEST(CostModel, AnEarlyBGainsNothingWhereAnEarlyStartDoesNot) {
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

TEST(CostModel, AnEarlyBGainsNoMoreThanTheLaunch) {
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

TEST(CostModel, ClustersOfThreeThatDivideKFillFewerSms) {
  KernelShape kernel = warpgroupKernel(64, 64);
  kernel.config.cluster.k = 3;
  // 39 of them run at a time.
  EXPECT_EQ(predict(h200, {64, 39 * 64, 7168}, kernel).waves, 1);
  EXPECT_EQ(predict(h200, {64, 40 * 64, 7168}, kernel).waves, 2);
}

TEST(CostModel, ThreeRowsOfTilesOfTwoWarpgroupsLoseTheirBands) {
  KernelShape kernel = warpgroupKernel(128, 192);
  EXPECT_GT(signalGain({256, 18432, 16384}, kernel), 0);
  EXPECT_LT(signalGain({384, 18432, 16384}, kernel), 0);
}

TEST(CostModel, ThreeRowsOfTilesOfThreeWarpgroupsLoseInLongLoopsOnly) {
  KernelShape kernel = warpgroupKernel(192, 96);
  EXPECT_GT(signalGain({384, 18432, 16384}, kernel), 0);
  EXPECT_LT(signalGain({576, 18432, 16384}, kernel), 0);
  EXPECT_GT(signalGain({576, 18432, 2048}, kernel), 0);
}

TEST(CostModel, ThreeWarpgroupsReadMoreOfSharedMemory) {
  auto l1Of = [](const KernelShape &kernel) {
    return predict(h200, {192, 4096, 4096}, kernel).get(Bound::L1) /
           (kernel.config.tileM + kernel.config.tileN);
  };
  EXPECT_GT(l1Of(warpgroupKernel(192, 128)),
            1.05 * l1Of(warpgroupKernel(128, 128)));
}

TEST(CostModel, ASignalBehindTheWaitGainsWhereCtasLieEvenly) {
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

TEST(CostModel, CtasThatDivideKShareColumnsBadly) {
  KernelShape halves = warpgroupKernel(64, 64);
  halves.config.cluster.k = 2;
  // Most in three rows of tiles, and with one warpgroup.
  auto slower = [&](const KernelShape &kernel, int64_t m) {
    Machine even = h200;
    even.dividedTogetherShare = 0;
    return totalUs({m, 2112, 7168}, kernel) -
           totalUs({m, 2112, 7168}, kernel, even);
  };
  EXPECT_EQ(slower(halves, 64), 0);
  EXPECT_GT(slower(halves, 128), 0);
  EXPECT_GT(slower(halves, 192), 3 * slower(halves, 128));
  EXPECT_EQ(slower(warpgroupKernel(64, 64), 192), 0);
  KernelShape wide = warpgroupKernel(128, 64);
  wide.config.cluster.k = 2;
  EXPECT_EQ(slower(wide, 128), 0);
  EXPECT_GT(slower(wide, 384), 0);
  EXPECT_LT(slower(wide, 384), slower(halves, 192));
}

TEST(CostModel, RowsOfTilesInCommonCountAsManyRowsOfTiles) {
  KernelShape kernel = warpgroupKernel(64, 64);
  kernel.config.cluster.k = 2;
  kernel.config.edge = fp8::config::Edge::First;
  // Two rows of tiles each time; the first have rows in common.
  EXPECT_GT(totalUs({100, 2112, 7168}, kernel),
            1.05 * totalUs({128, 2112, 7168}, kernel));
}

TEST(CostModel, BytesFromL2CostMoreWhereProductsLast) {
  // Whole waves of both tiles, so that only what a product costs differs.
  auto perProduct = [](const KernelShape &kernel, const Problem &problem) {
    Prediction one = predict(h200, problem, kernel);
    return one.get(Bound::Tensor) / (double(problem.m) * problem.k);
  };
  Problem brief{256 * 132, 128, 1024}, lasting{256 * 132 * 64, 128, 1024};
  for (int64_t rows : {128, 256})
    EXPECT_GT(perProduct(warpgroupKernel(rows, 128), lasting),
              1.02 * perProduct(warpgroupKernel(rows, 128), brief));
  auto loss = [&](const Problem &problem) {
    return perProduct(warpgroupKernel(128, 128), problem) /
           perProduct(warpgroupKernel(256, 128), problem);
  };
  EXPECT_GT(loss(lasting), 1.05 * loss(brief));
  // Nothing of it was measured where accumulators lie in tensor memory.
  KernelShape tcgen05 = makeKernel(128, 128);
  EXPECT_DOUBLE_EQ(perProduct(tcgen05, lasting), perProduct(tcgen05, brief));
}

TEST(CostModel, AnExchangeCostsWhatIsSent) {
  auto epilogue = [](int64_t k) {
    KernelShape kernel = warpgroupKernel(64, 64);
    kernel.config.cluster.k = k;
    return predict(h200, {64, 64, 7168}, kernel).epilogue;
  };
  double sums = 64 * 64 * h200.exchangePs / 1e6,
         columns = h200.epilogueColumnCycles * 64 / h200.gigahertz / 1e3;
  EXPECT_NEAR(epilogue(4) - epilogue(2), sums / 4 - columns / 4, 1e-9);
  EXPECT_NEAR(epilogue(8) - epilogue(4), sums / 8 - columns / 8, 1e-9);
}

TEST(CostModel, LeavesWhatCannotBeFaster) {
  KernelModel model(h200, warpgroupKernel(64, 64));
  Problem problem{64, 4096, 7168};
  Predictions both = *model.predict(problem);
  double faster = std::min(both.serial.total, both.programmatic.total);
  EXPECT_TRUE(model.predict(problem, faster));
  EXPECT_FALSE(model.predict(problem, faster / 2));
}

TEST(CostModel, AProgrammaticLaunchGainsTheSameWhateverFollows) {
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
