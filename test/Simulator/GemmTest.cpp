// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The hand-written GEMM: right numbers, whatever the seed, and different
// interleavings.

#include "GemmKernel.h"

#include <set>

using namespace fp8::sim;
using namespace fp8::sim::test;

TEST(Gemm, IsRightWithTenSeeds) {
  std::set<uint64_t> orders;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Options options;
    options.scheduleSeed = seed;
    GemmRun run = runGemm(gemmKernel(), 128, 128, 896, options);
    ASSERT_TRUE(run.report.ok()) << "seed " << seed << "\n" << run.report.str();
    EXPECT_LT(run.worst, 1e-6) << "seed " << seed;
    orders.insert(run.report.barrierEventHash);
  }
  EXPECT_GE(orders.size(), 8u);
}

TEST(Gemm, IsDeterministicForASeed) {
  Options options;
  options.scheduleSeed = 5;
  GemmRun first = runGemm(gemmKernel(), 128, 128, 512, options),
          second = runGemm(gemmKernel(), 128, 128, 512, options);
  EXPECT_EQ(first.report.barrierEventHash, second.report.barrierEventHash);
  EXPECT_EQ(first.report.statistics.warpInstructions,
            second.report.statistics.warpInstructions);
  EXPECT_EQ(first.d, second.d);
}

TEST(Gemm, ClipsTails) {
  for (uint64_t seed = 0; seed < 3; ++seed) {
    Options options;
    options.scheduleSeed = seed;
    GemmRun run = runGemm(gemmKernel(), 100, 200, 336, options);
    ASSERT_TRUE(run.report.ok()) << run.report.str();
    EXPECT_LT(run.worst, 1e-6);
  }
}

TEST(Gemm, IsRightWhenWorkCompletesAtIssue) {
  Options options;
  options.completion = Completion::AtIssue;
  GemmRun run = runGemm(gemmKernel(), 256, 128, 640, options);
  ASSERT_TRUE(run.report.ok()) << run.report.str();
  EXPECT_LT(run.worst, 1e-6);
}
