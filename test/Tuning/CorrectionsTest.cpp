// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Corrections of the cost model by what was measured nearby.
#include "fp8/Tuning/Corrections.h"

#include <gtest/gtest.h>

using namespace fp8::tuning;
using fp8::config::GemmConfig;

namespace {

constexpr int64_t kMultiprocessors = 132;

GemmConfig makeConfig(int64_t tileM, int64_t tileN, bool signalsAtWait) {
  GemmConfig config;
  config.tileM = tileM;
  config.tileN = tileN;
  config.programmatic = true;
  config.signalsAtWait = signalsAtWait;
  return config;
}

/// Corrections by as many equal measurements of one kernel on one problem.
Corrections makeCorrections(double ratio, size_t count = 20,
                            bool signalsAtWait = true) {
  Corrections corrections(kMultiprocessors);
  corrections.add(
      makeConfig(64, 64, signalsAtWait),
      std::vector<Corrections::Measured>(count, {64, 4096, 7168, ratio}));
  return corrections;
}

/// The times of a kernel that is predicted to take 10 us, however launched.
Predictions apply(const Corrections &corrections, int64_t tileM, int64_t tileN,
                  const Problem &problem) {
  Prediction ten{};
  ten.total = 10;
  Predictions times{ten, ten, ten};
  corrections.apply(makeConfig(tileM, tileN, false), problem, times);
  return times;
}

const Problem kMeasured{64, 4096, 7168};

} // namespace

TEST(Corrections, FollowManyMeasurements) {
  Predictions times = apply(makeCorrections(1.1), 64, 64, kMeasured);
  EXPECT_NEAR(times.early.total, 11, 0.1);
  EXPECT_NEAR(times.early.correction, times.early.total - 10, 1e-9);
}

TEST(Corrections, TrustFewMeasurementsLess) {
  double one = apply(makeCorrections(1.1, 1), 64, 64, kMeasured).early.total;
  EXPECT_NEAR(one, 10.5, 0.1); // as much as that there is none
}

TEST(Corrections, TellBoxesThatFitApart) {
  // What was measured of another kernel counts less for one whose boxes fit.
  Prediction ten{};
  ten.total = 10;
  Predictions times{ten, ten, ten};
  GemmConfig fit = makeConfig(64, 64, false);
  fit.edge = fp8::config::Edge::Fit;
  Corrections corrections = makeCorrections(1.1, 1);
  corrections.apply(fit, kMeasured, times);
  EXPECT_GT(times.early.total, 10.1);
  EXPECT_LT(times.early.total,
            apply(corrections, 64, 64, kMeasured).early.total - 0.1);
}

TEST(Corrections, TellSignalsApart) {
  Predictions times = apply(makeCorrections(1.1, 1), 64, 64, kMeasured);
  EXPECT_GT(times.early.total, times.programmatic.total);
  EXPECT_EQ(times.programmatic.total, times.serial.total);
  times = apply(makeCorrections(1.1, 1, false), 64, 64, kMeasured);
  EXPECT_LT(times.early.total, times.programmatic.total);
}

TEST(Corrections, FadeWithDistance) {
  Corrections corrections = makeCorrections(1.1, 2);
  auto total = [&](int64_t tileM, int64_t tileN, const Problem &problem) {
    return apply(corrections, tileM, tileN, problem).early.total;
  };
  double here = total(64, 64, kMeasured);
  EXPECT_LT(total(64, 64, {48, 4096, 7168}), here);
  EXPECT_LT(total(64, 64, {64, 4096, 14336}), here);
  EXPECT_LT(total(64, 72, kMeasured), here);
  EXPECT_LT(total(64, 72, {64, 4096, 14336}), total(64, 72, kMeasured));
  EXPECT_NEAR(total(256, 128, {8192, 8192, 8192}), 10, 1e-3);
}

TEST(Corrections, AreBounded) {
  EXPECT_DOUBLE_EQ(apply(makeCorrections(3), 64, 64, kMeasured).early.total,
                   10 * Corrections::kMost);
  EXPECT_DOUBLE_EQ(apply(makeCorrections(0.3), 64, 64, kMeasured).early.total,
                   10 * Corrections::kLeast);
}

TEST(Corrections, AverageMoreMeasurementsThanAChunk) {
  Corrections corrections(kMultiprocessors);
  std::vector<Corrections::Measured> measured(100, {64, 4096, 7168, 1.1});
  measured.resize(200, {64, 4096, 7168, 1 / 1.1});
  corrections.add(makeConfig(64, 64, true), measured);
  EXPECT_NEAR(apply(corrections, 64, 64, kMeasured).early.total, 10, 1e-3);
}

TEST(Corrections, NoneChangesNothing) {
  Corrections none(kMultiprocessors);
  EXPECT_TRUE(none.empty());
  Predictions times = apply(none, 64, 64, kMeasured);
  EXPECT_EQ(times.early.total, 10);
  EXPECT_EQ(times.early.correction, 0);
}
