// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The times that the model gives to instructions, products and waves of CTAs.

#include "ReplayTest.h"

#include <cmath>

using namespace fp8;
using namespace fp8::sim;
using namespace fp8::sim::test;

namespace {

TEST_F(ReplayTest, DependentInstructionsWaitForEachOther) {
  addWarps(1);
  for (int n = 0; n < 100; ++n)
    trace.addInstruction(0, 0);
  EXPECT_DOUBLE_EQ(cycles(), 99 * 4 + 1);
}

TEST_F(ReplayTest, IndependentInstructionsIssueEachCycle) {
  addWarps(1);
  for (int n = 0; n < 100; ++n)
    trace.addInstruction(0, 1);
  EXPECT_DOUBLE_EQ(cycles(), 100);
}

TEST_F(ReplayTest, WarpsOfOnePartitionShareItsSlots) {
  addWarps(8);
  for (uint32_t warp = 0; warp < 8; ++warp)
    for (int n = 0; n < 100; ++n)
      trace.addInstruction(warp, 1);
  EXPECT_DOUBLE_EQ(cycles(), 200);
}

TEST_F(ReplayTest, AWarpThatWaitsForARegisterLeavesItsPartitionToOthers) {
  chip::Timing slow = h200();
  slow.issue[size_t(chip::IssueClass::Arithmetic)].latency = 1000;
  addWarps(5); // the last one is of the first one's partition
  trace.addInstruction(0, 0);
  trace.addInstruction(0, 0);
  for (int n = 0; n < 200; ++n)
    trace.addInstruction(4, 1);
  std::optional<KernelTime> time =
      replay(trace, additions.costs(slow), slow, launch);
  ASSERT_TRUE(time);
  EXPECT_NEAR(time->cycles, 1001, 1);
}

TEST_F(ReplayTest, TheClockFallsWhileAProductLasts) {
  launch.ctas = uint64_t(h200().multiprocessors);
  auto clockOf = [&](uint32_t products) {
    trace = Trace();
    addProducts(products);
    return replay(trace, additions.costs(), h200(), launch)->gigahertz;
  };
  const double sustained =
      h200().gigahertz * (1 - h200().powerSlope * (1 - h200().powerShare));
  EXPECT_DOUBLE_EQ(clockOf(2), h200().gigahertz);
  EXPECT_LT(clockOf(200), h200().gigahertz);
  EXPECT_LT(clockOf(20000), clockOf(200));
  EXPECT_NEAR(clockOf(20000), sustained, 0.02);
}

TEST_F(ReplayTest, ProductsFollowEachOtherAtTheTensorCoresRate) {
  addProducts(10, 32 * (64 + 256));
  // 64 x 256 x 32 multiply-adds, 4096 a cycle.
  EXPECT_NEAR(cycles(),
              10 * (128 + h200().productCycles) + h200().productLatencyCycles,
              1e-6);
}

/// One warp loads from shared memory; two products follow.
TEST_F(ReplayTest, ProductsBehindTheFirstWaitForWhatTheirWarpsHaveLoaded) {
  additions.makeLoads();
  auto secondProduct = [&](bool waits) {
    trace = Trace();
    addWarps(4);
    trace.addInstruction(0, 1);
    for (uint32_t warp = 0; warp < 4; ++warp) {
      TraceEvent product = event(TraceEvent::Kind::Mma);
      product.rows = 64;
      product.columns = 8;
      for (product.count = 1; product.count <= 2; ++product.count) {
        trace.add(warp, product);
        product.kind = TraceEvent::Kind::MmaWait;
        if (waits || product.count == 2)
          trace.add(warp, product);
        product.kind = TraceEvent::Kind::Mma;
      }
    }
    return cycles();
  };
  const double product = 4 + h200().productCycles;
  EXPECT_NEAR(secondProduct(false),
              h200().loadedCycles + h200().scaledCycles + product +
                  h200().productLatencyCycles,
              1e-6);
  // What it has waited for is no longer in front of it.
  EXPECT_LT(secondProduct(true), secondProduct(false));
}

TEST_F(ReplayTest, LoadsDoNotWaitForProductsToCome) {
  additions.makeLoads();
  auto timeOf = [&](int products, int loads) {
    trace = Trace();
    addWarps(5);
    for (uint32_t warp = 0; warp < 4; ++warp) {
      TraceEvent product = event(TraceEvent::Kind::Mma);
      product.rows = 64;
      product.columns = 256;
      product.bytes = 1 << 14;
      for (int n = 0; n < products; ++n) {
        product.count = uint32_t(n + 1);
        trace.add(warp, product);
      }
    }
    for (int n = 0; n < loads; ++n)
      trace.addInstruction(4, 0); // each needs what the last one has loaded
    return cycles();
  };
  EXPECT_NEAR(timeOf(10, 200), timeOf(0, 200), 20);
}

TEST_F(ReplayTest, IdleSMsLeaveTheOthersTheirClock) {
  addProducts(2000);
  auto clockOf = [&](uint64_t ctas) {
    launch.ctas = ctas;
    return replay(trace, additions.costs(), h200(), launch)->gigahertz;
  };
  EXPECT_GT(clockOf(60), clockOf(132));
}

TEST_F(ReplayTest, AProductStartsWithTheLastOfItsWarps) {
  addWarps(4);
  for (int n = 0; n < 5000; ++n)
    trace.addInstruction(3, 1);
  for (uint32_t warp = 0; warp < 4; ++warp) {
    TraceEvent product = event(TraceEvent::Kind::Mma);
    product.rows = 64;
    product.columns = 64;
    product.bytes = 32 * 64;
    product.count = 1;
    trace.add(warp, product);
    product.kind = TraceEvent::Kind::MmaWait;
    trace.add(warp, product);
  }
  // 64 x 64 x 32 multiply-adds, 4096 a cycle.
  EXPECT_NEAR(cycles(),
              5000 + 32 + h200().productCycles + h200().productLatencyCycles,
              1e-6);
}

TEST_F(ReplayTest, AWaitThatNothingEndsHasNoTime) {
  addWarps(2);
  trace.add(0, event(TraceEvent::Kind::Wait, trace.phase(0, 0)));
  trace.add(1, event(TraceEvent::Kind::Wait, trace.phase(8, 0)));
  trace.add(0, event(TraceEvent::Kind::Arrive, trace.phase(8, 0)));
  trace.add(1, event(TraceEvent::Kind::Arrive, trace.phase(0, 0)));
  EXPECT_FALSE(replay(trace, additions.costs(), h200(), launch));
}

TEST_F(ReplayTest, AllSmsShareWhatStoresAreGiven) {
  addWarps(1);
  TraceEvent store = event(TraceEvent::Kind::Store);
  store.buffer = trace.buffer(4096, 1 << 14);
  store.bytes = 1 << 14;
  trace.add(0, store);
  TraceEvent wait = event(TraceEvent::Kind::StoreWait);
  wait.count = 1;
  wait.readOnly = true;
  trace.add(0, wait);
  const double latency = h200().storeLatencyCycles;
  EXPECT_NEAR(cycles(), (1 << 14) / h200().storeBytesOfOne + latency, 1e-6);
  launch.ctas = 132;
  EXPECT_NEAR(cycles(), (1 << 14) * 132 / h200().storeBytes + latency, 1e-6);
  // Rows of 16 bytes.
  trace.events[0].count = (1 << 14) / 16;
  EXPECT_NEAR(cycles(), 1024 * 132 * h200().storeRowCycles + latency, 1e-6);
}

TEST_F(ReplayTest, CtasThatFindNoMultiprocessorTakeAnotherWave) {
  addWarps(1);
  trace.addInstruction(0, 1);
  launch.ctas = uint64_t(h200().multiprocessors) + 1;
  EXPECT_DOUBLE_EQ(cycles(), 2);
}

TEST_F(ReplayTest, CtasOfTheLastWaveHaveMemoryForThemselves) {
  addWarps(2);
  waitForCopy(1 << 16);
  const auto sms = uint64_t(h200().multiprocessors);
  trace.buffers[0].bytes *= 2 * sms; // each CTA's own
  auto of = [&](uint64_t ctas) {
    launch.ctas = ctas;
    return cycles();
  };
  EXPECT_LT(of(1), of(sms));
  EXPECT_NEAR(of(sms + 1), of(sms) + of(1), 1e-6);
  EXPECT_NEAR(of(2 * sms), 2 * of(sms), 1e-6);
}

TEST_F(ReplayTest, MemoryDoesNotSlowDownWithTheClock) {
  // Products lower the clock; what a copy behind them takes stays the same.
  const chip::Timing slow = [] {
    chip::Timing timing = fastL2();
    timing.dramBytesOfOne = 1;
    timing.powerShare = 0;
    return timing;
  }();
  gpu = &slow;
  addWarps(2);
  waitForCopy(1 << 20);
  auto nanoseconds = [&](double slope) {
    chip::Timing timing = slow;
    timing.powerSlope = slope;
    timing.dramPower = 1;
    std::optional<KernelTime> time =
        replay(trace, additions.costs(timing), timing, launch);
    EXPECT_TRUE(time);
    const bool isSlower = time->gigahertz < timing.gigahertz;
    EXPECT_EQ(isSlower, slope > 0);
    return time->cycles / time->gigahertz;
  };
  EXPECT_NEAR(nanoseconds(0.4) / nanoseconds(0), 1, 0.01);
}

} // namespace
