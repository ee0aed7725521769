// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What rows beyond M, and columns beyond N, cost in the cost model.
#include "Kernels.h"

#include <gtest/gtest.h>

using namespace fp8::tuning;

TEST(RowsBeyond, RowsBeyondMCost) {
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

TEST(RowsBeyond, TheRowOfTilesWithRowsBeyondMHoldsUpTheOthers) {
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

TEST(RowsBeyond, BoxesThatFitFillNothing) {
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

TEST(RowsBeyond, FewRowsBeyondMNeedNoBoxesThatFit) {
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

TEST(RowsBeyond, ProductsOfZerosDrawLessPower) {
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

TEST(RowsBeyond, ColumnsBeyondNCostWhereCtasHaveOneTile) {
  KernelShape kernel = warpgroupKernel(64, 80);
  // 64 columns of each of 16 rows of tiles, 56 blocks.
  EXPECT_DOUBLE_EQ(predict(h200, {1024, 576, 7168}, kernel).fillWait,
                   16 * 64 * 56 * h200.fillWaitPs / 1e6);
  EXPECT_EQ(predict(h200, {2048, 576, 7168}, kernel).fillWait, 0);
}
