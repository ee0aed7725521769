// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cost model: what must hold whatever its constants are.
#include "Kernels.h"

#include <gtest/gtest.h>

using namespace fp8::tuning;

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

TEST(CostModel, ClustersOfThreeThatDivideKFillFewerSms) {
  KernelShape kernel = warpgroupKernel(64, 64);
  kernel.config.cluster.k = 3;
  // 39 of them run at a time.
  EXPECT_EQ(predict(h200, {64, 39 * 64, 7168}, kernel).waves, 1);
  EXPECT_EQ(predict(h200, {64, 40 * 64, 7168}, kernel).waves, 2);
}

TEST(CostModel, ThreeWarpgroupsReadMoreOfSharedMemory) {
  auto l1Of = [](const KernelShape &kernel) {
    return predict(h200, {192, 4096, 4096}, kernel).get(Bound::L1) /
           (kernel.config.tileM + kernel.config.tileN);
  };
  EXPECT_GT(l1Of(warpgroupKernel(192, 128)),
            1.05 * l1Of(warpgroupKernel(128, 128)));
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
