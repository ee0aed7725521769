// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel saves that starts before the preceding one has ended.

#include "ReplayTest.h"

#include "Timing/Ahead.h"

using namespace fp8;
using namespace fp8::sim;
using namespace fp8::sim::test;

namespace {

class AheadTest : public ReplayTest {
protected:
  AheadTest() { launch.programmatic = true; }

  void signal(uint32_t warp = 0) {
    trace.add(warp, event(TraceEvent::Kind::StartNext));
    trace.addInstruction(warp, 1);
  }
  void waitForGrid(uint32_t warp) {
    trace.add(warp, event(TraceEvent::Kind::GridWait));
  }
  void multiply(uint32_t warp) {
    trace.addInstruction(warp, 0);
    TraceEvent product = event(TraceEvent::Kind::Mma);
    product.rows = product.columns = 64;
    product.count = 1;
    trace.add(warp, product);
  }
  KernelTime time() {
    return *replay(trace, additions.costs(), h200(), launch);
  }
  /// What all programmatic launches take.
  double plainUs() const { return h200().launchUs - h200().earlyUs; }
};

TEST_F(AheadTest, AProgrammaticLaunchIsShorter) {
  addWarps(1);
  trace.addInstruction(0, 1);
  launch.programmatic = false;
  double serial = time().microseconds;
  launch.programmatic = true;
  EXPECT_DOUBLE_EQ(serial - time().microseconds, h200().earlyUs);
}

TEST_F(AheadTest, ASignalBehindTheProductSavesNoMore) {
  addWarps(1);
  multiply(0);
  signal();
  EXPECT_DOUBLE_EQ(time().launchUs, plainUs());
  EXPECT_EQ(time().aheadUs, 0);
}

TEST_F(AheadTest, ASignalInFrontOfTheProductsSavesMore) {
  addWarps(1);
  waitForGrid(0);
  signal();
  multiply(0);
  EXPECT_DOUBLE_EQ(time().launchUs, plainUs() - h200().signalUs);
  EXPECT_EQ(time().aheadUs, 0);
}

TEST_F(AheadTest, ACopyThatDoesNotWaitSavesMore) {
  addWarps(2);
  trace.add(1, load(1024));
  waitForGrid(0);
  signal();
  multiply(0);
  EXPECT_DOUBLE_EQ(time().launchUs, plainUs() - h200().constantUs);
  EXPECT_EQ(time().aheadUs, 0);
  launch.programmatic = false;
  EXPECT_DOUBLE_EQ(time().launchUs, h200().launchUs);
}

TEST_F(AheadTest, OfSeveralWarpgroupsItSavesLess) {
  addWarps(5);
  waitForGrid(0);
  waitForGrid(4);
  signal();
  trace.add(1, load(1024));
  multiply(0);
  multiply(4);
  EXPECT_DOUBLE_EQ(time().launchUs, plainUs() - h200().constantOfTwoUs);
}

TEST_F(AheadTest, AProductThatDoesNotWaitIsAhead) {
  addWarps(5);
  waitForGrid(4);
  signal(4);
  multiply(0);
  const KernelTime one = time();
  EXPECT_DOUBLE_EQ(one.launchUs, h200().ahead.launchUs);
  EXPECT_GT(one.aheadUs, 0);
  EXPECT_DOUBLE_EQ(one.microseconds, one.launchUs - one.aheadUs +
                                         one.cycles / one.gigahertz / 1e3);
  launch.programmatic = false;
  EXPECT_EQ(time().aheadUs, 0);
  EXPECT_DOUBLE_EQ(time().launchUs, h200().launchUs);
}

TEST_F(AheadTest, AProductBehindACopyThatWaitsIsNot) {
  addWarps(6);
  waitForGrid(4);
  signal(4);
  waitForGrid(5);
  const TraceEvent copy = load(1024);
  trace.add(5, copy);
  trace.add(0, event(TraceEvent::Kind::Wait, copy.phase));
  multiply(0);
  EXPECT_DOUBLE_EQ(time().launchUs, plainUs() - h200().signalUs);
  EXPECT_EQ(time().aheadUs, 0);
}

TEST_F(AheadTest, ASignalBehindItMakesAProductNotAhead) {
  addWarps(1);
  multiply(0);
  waitForGrid(0);
  signal();
  EXPECT_EQ(time().aheadUs, 0);
}

TEST_F(AheadTest, IdleSMsSaveMoreAndBytesReadAgainLess) {
  auto part = [](double idle, double again, double shared, double dram) {
    return partAhead(h200(), {shared, dram, 0, idle, again});
  };
  const double least = part(0, 0, 0, 0);
  EXPECT_DOUBLE_EQ(least, h200().ahead.part);
  EXPECT_GT(part(0.5, 0, 0, 0), least);
  EXPECT_LT(part(0.5, 0, 0, 0.5), part(0.5, 0, 0, 0));
  EXPECT_DOUBLE_EQ(part(0.5, 0, 0, 1.2), least) << "memory has no room";
  EXPECT_LT(part(0, 0.5, 0, 0), least);
  EXPECT_DOUBLE_EQ(part(0.5, 0.9, 0, 0), part(0.5, 0, 0, 0)) << "enough idle";
  EXPECT_LT(part(0, 0, 0.5, 0), least);
}

TEST_F(AheadTest, TwoKernelsThatFitSaveMoreAndBusyTensorCoresLess) {
  AheadShares shares{0, 0.5, 0, 0.5, 0};
  const double one = partAhead(h200(), shares);
  shares.fits = true;
  EXPECT_DOUBLE_EQ(partAhead(h200(), shares) - one, h200().ahead.ofFit * 0.5);
  shares.fits = false;
  shares.tensor = 0.5;
  EXPECT_DOUBLE_EQ(one - partAhead(h200(), shares),
                   h200().ahead.ofTensor * 0.5);
}

TEST_F(AheadTest, TwoKernelsFitOnHalfOfTheSMsEach) {
  addWarps(1);
  AheadShares shares{};
  for (uint64_t ctas : {66, 67}) {
    launch.ctas = ctas;
    setLoad(shares, h200(), trace, launch, double(ctas));
    EXPECT_EQ(shares.fits, ctas == 66);
  }
}

TEST_F(AheadTest, MemoryIsNoFaster) {
  addWarps(5);
  signal(4);
  const TraceEvent copy = load(1 << 16);
  trace.add(1, copy);
  trace.add(0, event(TraceEvent::Kind::Wait, copy.phase));
  multiply(0);
  trace.buffer(1 << 30, 1 << 16); // which nothing reads
  const KernelTime free = time();
  const double us = free.microseconds + free.aheadUs;
  chip::Timing slow = h200();
  slow.ahead.dramBytesPerNs = (1 << 16) / (us * 1e3) / 0.99;
  const KernelTime bound = *replay(trace, additions.costs(), slow, launch);
  EXPECT_NEAR(bound.microseconds, 0.99 * us, 1e-9);
  slow.ahead.dramBytesPerNs /= 2;
  EXPECT_EQ(replay(trace, additions.costs(), slow, launch)->aheadUs, 0);
}

/// As at the edge of the output.
TEST_F(AheadTest, ACtaThatStoresLessIsNoIdleSM) {
  addWarps(1);
  launch.ctas = 132;
  launch.ctasOfMost = 70;
  AheadShares shares{};
  setLoad(shares, h200(), trace, launch, 132);
  EXPECT_EQ(shares.idle, 0);
  launch.passes = 2; // 70 CTAs make two, the others one
  trace.passes = 2;
  setLoad(shares, h200(), trace, launch, 132);
  EXPECT_DOUBLE_EQ(shares.idle, 62 / 264.0);
}

TEST_F(AheadTest, LoadsOfTheLargestBufferCountAsMadeAgain) {
  addWarps(1);
  launch.ctas = 4;
  trace.buffers = {{0, 1000}, {0, 4000}, {0, 9000}};
  trace.buffers[0].loaded = 1000; // all of it by each CTA
  trace.buffers[1].loaded = 2000; // each byte by two
  AheadShares shares{};
  setLoad(shares, h200(), trace, launch, 132);
  EXPECT_DOUBLE_EQ(shares.again, 0.5);
  trace.buffers[1].loaded = 1000;
  setLoad(shares, h200(), trace, launch, 132);
  EXPECT_EQ(shares.again, 0);
}

TEST_F(AheadTest, AnotherCtaOfAWaveMakesTheSMsLessIdle) {
  addWarps(5);
  signal(4);
  multiply(0);
  launch.ctas = 66;
  double few = time().aheadUs;
  launch.ctas = 132;
  double all = time().aheadUs;
  launch.ctas = 133; // nearly all SMs have no CTA in the second wave
  double idleAgain = time().aheadUs;
  EXPECT_LT(all, few);
  EXPECT_LT(2 * all, idleAgain);
}

} // namespace
