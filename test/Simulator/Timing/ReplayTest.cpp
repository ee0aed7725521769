// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The times that the model gives to traces made by hand.

#include "Timing/Replay.h"

#include "Kernels.h"

#include <cmath>

using namespace fp8;
using namespace fp8::sim;
using namespace fp8::sim::test;

namespace {

/// An H200 whose memory overlaps with all else without loss.
const chip::Timing &h200() {
  static const chip::Timing exact = [] {
    chip::Timing timing = *chip::lookupTiming("sm_90a");
    timing.dramNorm = 1e12;
    return timing;
  }();
  return exact;
}

/// A program of two additions: 0 reads its own result, 1 does not.
class Additions {
public:
  Additions() {
    text.opcode = "fma";
    text.qualifiers = {"rn", "f32"};
    program.registers = 4;
    program.code.resize(2);
    for (Inst &inst : program.code) {
      inst.text = &text;
      inst.destinations = inst.sources = 1;
    }
    program.code[0].d[0] = program.code[0].s[0] = 0;
    program.code[1].d[0] = 1;
    program.code[1].s[0] = 2;
  }
  Costs costs(const chip::Timing &timing = h200()) const {
    return Costs(program, timing);
  }

private:
  ast::Instruction text;
  Program program;
};

TraceEvent event(TraceEvent::Kind kind, uint32_t phase = 0) {
  TraceEvent e;
  e.kind = kind;
  e.phase = phase;
  return e;
}

/// An H200 whose L2 is no limit.
const chip::Timing &fastL2() {
  static const chip::Timing fast = [] {
    chip::Timing timing = h200();
    timing.l2BytesOfOne = timing.l2Bytes = 1e6;
    return timing;
  }();
  return fast;
}

class ReplayTest : public testing::Test {
protected:
  Additions additions;
  Trace trace;
  TracedLaunch launch;
  const chip::Timing *gpu = &h200();

  void addWarps(uint32_t count) {
    for (uint32_t id = 0; id < count; ++id)
      trace.warps.push_back({0, id, {}});
  }
  TraceEvent load(uint32_t bytes) {
    TraceEvent e = event(TraceEvent::Kind::Load, trace.phase(0, 0));
    e.buffer = trace.buffer(4096, bytes);
    e.bytes = e.inside = bytes;
    trace.buffers[e.buffer].loaded += bytes;
    return e;
  }
  /// One warp copies so many bytes, and another waits for them.
  void waitForCopy(uint32_t bytes) {
    TraceEvent copy = load(bytes);
    trace.add(0, copy);
    trace.add(1, event(TraceEvent::Kind::Wait, copy.phase));
  }
  double cycles() {
    std::optional<KernelTime> time =
        replay(trace, additions.costs(), *gpu, launch);
    EXPECT_TRUE(time);
    return time ? time->cycles : 0;
  }
};

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

TEST_F(ReplayTest, AWaitEndsWithTheCopy) {
  gpu = &fastL2();
  addWarps(2);
  waitForCopy(1 << 14);
  double first = cycles();
  EXPECT_GT(first, h200().dramLatencyCycles);
  // A second copy of the same size takes the engines' time, and no latency.
  trace.add(0, load(1 << 14));
  trace.buffers[0].bytes *= 2;
  double second = cycles();
  EXPECT_NEAR(second - first,
              (1 << 14) * (1 / h200().dramBytesOfOne + 1 / h200().dramBytes),
              1);
}

TEST_F(ReplayTest, MemoryIsSharedByAllCtas) {
  gpu = &fastL2();
  addWarps(2);
  waitForCopy(1 << 16);
  double alone = cycles();
  launch.ctas = uint64_t(h200().multiprocessors);
  trace.buffers[0].bytes *= launch.ctas;
  double together = cycles();
  EXPECT_NEAR(together - alone,
              (1 << 16) * double(h200().multiprocessors - 1) / h200().dramBytes,
              1);
}

TEST_F(ReplayTest, MemoryAndAllElseTakeLongerThanEither) {
  addWarps(2);
  waitForCopy(1 << 16);
  const double all = cycles();
  const double memory =
      (1 << 16) * (1 / h200().dramBytesOfOne + 1 / h200().dramBytes);
  gpu = chip::lookupTiming("sm_90a");
  const double norm = gpu->dramNorm;
  EXPECT_NEAR(cycles(),
              std::pow(std::pow(all, norm) + std::pow(memory, norm), 1 / norm),
              1e-6);
}

TEST_F(ReplayTest, RowsBeyondTheTensorHoldUpMemoryToo) {
  addWarps(2);
  launch.ctas = 100;
  TraceEvent copy = load(1 << 14);
  copy.beyond = 60;
  trace.buffers[0].bytes *= launch.ctas;
  trace.buffers[0].rounds = 1;
  const chip::Timing inStep = [] {
    chip::Timing timing = h200();
    timing.fillCopies = 1;
    timing.fillSharers = 80;
    timing.fillFree = 13;
    timing.fillSpread = 0.5;
    return timing;
  }();
  gpu = &inStep;
  trace.add(0, copy);
  trace.add(0, copy); // the first one of a CTA takes nothing
  trace.add(1, event(TraceEvent::Kind::Wait, copy.phase));
  const double slow = cycles();
  // CTAs that have had tiles before ask at different times.
  trace.buffers[0].rounds = 3;
  const double later = cycles();
  trace.events[0].beyond = trace.events[1].beyond = 13;
  const double fill =
      std::pow(60 - 13, inStep.fillPower) * inStep.fillCycles * 80;
  EXPECT_NEAR(slow - cycles(), fill, 1e-6);
  EXPECT_NEAR(later - cycles(), fill / std::sqrt(3), 1e-6);
}

TEST_F(ReplayTest, RowsBeyondTheTensorCostAllOnceCtasRunInStep) {
  addWarps(2);
  launch.ctas = 80;
  TraceEvent copy = load(1 << 14);
  copy.beyond = 60;
  trace.buffers[0].bytes *= 1 << 10;
  auto last = [&](int copies) {
    trace.warps[0].steps.clear();
    trace.warps[1].steps.clear();
    trace.events.clear();
    for (int n = 0; n < copies; ++n)
      trace.add(0, copy);
    trace.add(1, event(TraceEvent::Kind::Wait, copy.phase));
    double with = cycles();
    for (TraceEvent &one : trace.events)
      one.beyond = 0;
    return with - cycles();
  };
  const int all = int(h200().fillCopies);
  EXPECT_NEAR(last(1), 0, 1e-6);
  EXPECT_GT(last(3) - last(2), last(2) - last(1));
  EXPECT_NEAR(last(all + 3) - last(all + 2), last(all + 2) - last(all + 1),
              1e-6);
}

TEST_F(ReplayTest, TheLastRoundOfTilesSharesMemoryAmongThoseThatHaveOne) {
  addWarps(2);
  launch.ctas = 100;
  TraceEvent copy = load(1 << 16);
  // All but a half of the last round store; each CTA stores one byte a tile.
  trace.buffer(1 << 20, 150);
  trace.buffers[1].stored = 2;
  trace.buffers[0].bytes = 150 << 16;
  trace.buffers[0].loaded = 2 << 16;
  trace.passes = 2;
  const chip::Timing shared = [] {
    chip::Timing timing = h200();
    timing.dramBytesOfOne = timing.l2BytesOfOne = 1000;
    timing.l2Bytes = 1e6;
    timing.passCycles = timing.idleShare = 0;
    return timing;
  }();
  gpu = &shared;
  auto passOf = [&](uint32_t pass) {
    trace.warps[0].steps.clear();
    trace.warps[1].steps.clear();
    trace.events.clear();
    copy.pass = pass;
    trace.add(0, copy);
    trace.add(1, event(TraceEvent::Kind::Wait, copy.phase));
    return cycles();
  };
  EXPECT_NEAR(passOf(0) - passOf(1), (1 << 16) * 50 / shared.dramBytes, 1e-6);
}

TEST_F(ReplayTest, ATilesFirstCopyTakesLonger) {
  addWarps(2);
  TraceEvent copy = load(1 << 10);
  trace.passes = 2;
  trace.add(0, copy);
  copy.pass = 1;
  trace.add(0, copy);
  trace.add(1, event(TraceEvent::Kind::Wait, copy.phase));
  const double turns = cycles();
  trace.events[1].pass = 0;
  EXPECT_NEAR(turns - cycles(), h200().passCycles, 1e-6);
}

TEST_F(ReplayTest, ClustersThatReadTheSameMissMore) {
  addWarps(2);
  launch.ctas = 128;
  waitForCopy(1 << 16);
  trace.buffers[0].bytes *= 64; // two CTAs read each byte
  const chip::Timing memory = [] {
    chip::Timing timing = h200();
    timing.dramBytesOfOne = 1e12;
    timing.l2BytesOfOne = 1e4;
    timing.l2Bytes = 1e6;
    return timing;
  }();
  gpu = &memory;
  const double alone = cycles();
  // A cluster of two, of which one copies: two clusters read each byte.
  launch.clusterCtas = 2;
  trace.buffers[0].loaded *= 2;
  EXPECT_NEAR(cycles() - alone,
              (1 << 16) * 0.5 * memory.clusterMisses * 128 / memory.dramBytes,
              1e-6);
}

TEST_F(ReplayTest, WhatSeveralReadComesFasterFromL2) {
  addWarps(2);
  launch.ctas = 128;
  waitForCopy(1 << 16);
  trace.buffers[0].bytes *= launch.ctas;
  const chip::Timing slowL2 = [&] {
    chip::Timing timing = h200();
    timing.l2Bytes = 128; // a byte a cycle and CTA
    timing.l2BytesOfOne = 64;
    timing.l2Sharers = 4;
    return timing;
  }();
  gpu = &slowL2;
  const double alone = cycles();
  trace.buffers[0].bytes /= 2;
  const double two = cycles();
  EXPECT_NEAR(alone - two, (1 << 16) * 0.5, 1);
  trace.buffers[0].bytes /= 64;
  EXPECT_NEAR(alone - cycles(), (1 << 16) * 0.75, 1);
}

TEST_F(ReplayTest, ALoadFindsALineOfItsCtaInL1) {
  auto loads = [&](uint32_t newLines) {
    ast::Instruction text;
    text.opcode = "ld";
    text.qualifiers = {"global", "b32"};
    Program program;
    program.registers = 2;
    program.code.resize(2);
    program.code[0].text = program.code[1].text = &text;
    program.code[0].destinations = 1;
    program.code[1].sources = program.code[1].destinations = 1;
    program.code[1].d[0] = 1;
    Trace one;
    one.warps.push_back({0, 0, {}});
    TraceEvent load = event(TraceEvent::Kind::GlobalLoad);
    load.count = newLines;
    one.add(0, load);
    one.addInstruction(0, 0);
    one.addInstruction(0, 1);
    return replay(one, Costs(program, h200()), h200(), launch)->cycles;
  };
  const double cold =
      h200().issue[size_t(chip::IssueClass::GlobalLoad)].latency;
  EXPECT_NEAR(loads(1) - loads(0), cold - h200().l1LatencyCycles, 1e-6);
}

TEST_F(ReplayTest, TheClockFallsWhileAProductLasts) {
  auto clockOf = [&](int products) {
    trace = Trace();
    addWarps(4);
    for (uint32_t warp = 0; warp < 4; ++warp) {
      TraceEvent product = event(TraceEvent::Kind::Mma);
      product.rows = 64;
      product.columns = 256;
      for (product.count = 1; product.count <= uint32_t(products);
           ++product.count)
        trace.add(warp, product);
      product.kind = TraceEvent::Kind::MmaWait;
      product.count = uint32_t(products);
      trace.add(warp, product);
    }
    return replay(trace, additions.costs(), h200(), launch)->gigahertz;
  };
  const double sustained =
      h200().gigahertz * (1 - h200().powerSlope * (1 - h200().powerShare));
  EXPECT_DOUBLE_EQ(clockOf(10), h200().gigahertz);
  EXPECT_LT(clockOf(200), h200().gigahertz);
  EXPECT_LT(clockOf(20000), clockOf(200));
  EXPECT_NEAR(clockOf(20000), sustained, 0.02);
}

TEST_F(ReplayTest, ProductsFollowEachOtherAtTheTensorCoresRate) {
  addWarps(4);
  for (uint32_t warp = 0; warp < 4; ++warp) {
    TraceEvent product = event(TraceEvent::Kind::Mma);
    product.rows = 64;
    product.columns = 256;
    product.bytes = 32 * (64 + 256);
    for (product.count = 1; product.count <= 10; ++product.count)
      trace.add(warp, product);
    TraceEvent wait = event(TraceEvent::Kind::MmaWait);
    wait.count = 10;
    trace.add(warp, wait);
  }
  // 64 x 256 x 32 multiply-adds, 4096 a cycle.
  EXPECT_NEAR(cycles(),
              10 * (128 + h200().productCycles) + h200().productLatencyCycles,
              1e-6);
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

TEST_F(ReplayTest, AProgrammaticLaunchIsShorter) {
  addWarps(1);
  trace.addInstruction(0, 1);
  auto us = [&] {
    return replay(trace, additions.costs(), h200(), launch)->microseconds;
  };
  double serial = us();
  launch.programmatic = true;
  EXPECT_DOUBLE_EQ(serial - us(), h200().earlyUs);
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

TEST_F(ReplayTest, CopiesTakeSharedMemoryFromProducts) {
  const chip::Timing fast = [] {
    chip::Timing timing = h200();
    timing.l2BytesOfOne = timing.dramBytesOfOne = 1000;
    timing.l2Bytes = timing.dramBytes = 1e6;
    timing.sharedBacklog = 0;
    return timing;
  }();
  gpu = &fast;
  addWarps(4);
  trace.add(0, load(1 << 16));
  // Products whose operands take all of it, longer than the copy's latency.
  const int products = 200;
  for (uint32_t warp = 0; warp < 4; ++warp) {
    TraceEvent product = event(TraceEvent::Kind::Mma);
    product.rows = 64;
    product.columns = 8;
    product.bytes = 32 * 72;
    for (product.count = 1; product.count <= uint32_t(products);
         ++product.count)
      trace.add(warp, product);
    TraceEvent wait = event(TraceEvent::Kind::MmaWait);
    wait.count = uint32_t(products);
    trace.add(warp, wait);
  }
  const double together = cycles();
  trace.events[0].bytes = 0;
  const double alone = cycles();
  EXPECT_GT(together, alone + 100);
  EXPECT_LE(together, alone + (1 << 16) / fast.sharedBytes + 1e-6);
}

/// Products into tensor memory, of a B200.
class TensorMemoryTest : public ReplayTest {
protected:
  TensorMemoryTest() { gpu = chip::lookupTiming("sm_100a"); }

  TraceEvent product(uint32_t m, uint32_t n, bool pair) {
    TraceEvent e = event(TraceEvent::Kind::TensorMma);
    uint32_t ctas = pair ? 2 : 1;
    e.rows = uint16_t(m / ctas);
    e.columns = uint16_t(n);
    e.bytes = 32 * (m + n) / ctas;
    e.pair = pair;
    return e;
  }
  /// Cycles of a chain of so many products, to the end of the wait for them.
  double chain(uint32_t m, uint32_t n, bool pair, int count) {
    trace = Trace();
    trace.warps.push_back({0, 0, {}});
    launch.clusterCtas = pair ? 2 : 1;
    for (int at = 0; at < count; ++at)
      trace.add(0, product(m, n, pair));
    TraceEvent commit = event(TraceEvent::Kind::Commit, trace.phase(0, 0));
    trace.add(0, commit);
    trace.add(0, event(TraceEvent::Kind::Wait, commit.phase));
    return cycles();
  }
  double interval(uint32_t m, uint32_t n, bool pair = false) {
    return (chain(m, n, pair, 33) - chain(m, n, pair, 1)) / 32;
  }
};

// Published of a B200 (docs/Timing.md): operands in shared memory.
TEST_F(TensorMemoryTest, ProductsFollowEachOtherAsPublished) {
  EXPECT_DOUBLE_EQ(interval(128, 64), 48);
  EXPECT_DOUBLE_EQ(interval(128, 96), 56);
  EXPECT_DOUBLE_EQ(interval(128, 128), 64);
  EXPECT_DOUBLE_EQ(interval(128, 256), 128);
  EXPECT_DOUBLE_EQ(interval(64, 64), 32);
  EXPECT_DOUBLE_EQ(interval(64, 256), 128);
  EXPECT_DOUBLE_EQ(interval(256, 64, true), 43);
  EXPECT_DOUBLE_EQ(interval(256, 256, true), 128);
  EXPECT_NEAR(interval(128, 64, true), 25, 3);
  EXPECT_DOUBLE_EQ(interval(128, 256, true), 64);
}

TEST_F(TensorMemoryTest, AProductIsKnownToBeDoneAsPublished) {
  EXPECT_NEAR(chain(128, 128, false, 1), 136 + 64, 2);
  EXPECT_NEAR(chain(128, 256, false, 1), 136 + 128, 2);
  EXPECT_NEAR(chain(256, 128, true, 1), 170 + 64, 2);
}

TEST_F(TensorMemoryTest, AProductWaitsForTheCopiesInFrontOfIt) {
  double alone = chain(128, 256, false, 1);
  trace.warps[0].steps.insert(trace.warps[0].steps.begin(),
                              uint32_t(trace.events.size()) | Trace::kEvent);
  trace.events.push_back(event(TraceEvent::Kind::TensorCopy));
  EXPECT_DOUBLE_EQ(cycles(), alone + gpu->tensorMemory.copyCycles);
}

TEST_F(TensorMemoryTest, ACommitThatNeverArrivesKeepsNobody) {
  chain(128, 128, false, 1);
  trace.add(0, event(TraceEvent::Kind::Commit, TraceEvent::kNoPhase));
  cycles();
}

TEST_F(TensorMemoryTest, WarpsOfAPartitionShareItsWayToTensorMemory) {
  auto load = [&](uint32_t warp) {
    TraceEvent e = event(TraceEvent::Kind::Transfer);
    e.bytes = 32 * 32 * 4;
    trace.add(warp, e);
    trace.add(warp, event(TraceEvent::Kind::TransferWait));
    TraceEvent arrival = event(TraceEvent::Kind::Arrive, trace.phase(0, warp));
    trace.add(warp, arrival);
    trace.add(warp, event(TraceEvent::Kind::Wait, arrival.phase));
  };
  addWarps(5);
  load(0);
  const double one = cycles();
  EXPECT_DOUBLE_EQ(one, 4096 / gpu->tensorMemory.transferBytes +
                            gpu->tensorMemory.transferLatencyCycles +
                            gpu->arriveCycles + gpu->wakeCycles);
  load(1);
  EXPECT_DOUBLE_EQ(cycles(), one);
  load(4); // the partition of warp 0
  EXPECT_DOUBLE_EQ(cycles(), one + 4096 / gpu->tensorMemory.transferBytes);
}

TEST_F(TensorMemoryTest, AUseWaitsForItsLoad) {
  auto cyclesOfUse = [&](uint32_t row) {
    ast::Instruction load, use;
    load.opcode = "tcgen05";
    load.qualifiers = {"ld"};
    use.opcode = "fma";
    use.qualifiers = {"rn", "f32"};
    Program program;
    program.registers = 3;
    program.lists = {0};
    program.code.resize(2);
    program.code[0].text = &load;
    program.code[0].listIsDestination = true;
    program.code[0].listCount = 1;
    program.code[1].text = &use;
    program.code[1].sources = program.code[1].destinations = 1;
    program.code[1].s[0] = row;
    program.code[1].d[0] = 2;
    Trace one;
    one.warps.push_back({0, 0, {}});
    TraceEvent transfer = event(TraceEvent::Kind::Transfer);
    transfer.bytes = 4096;
    one.add(0, transfer);
    one.addInstruction(0, 0);
    one.add(0, event(TraceEvent::Kind::TransferWait));
    one.addInstruction(0, 1);
    return replay(one, Costs(program, *gpu), *gpu, launch)->cycles;
  };
  EXPECT_LT(cyclesOfUse(1), 4);
  EXPECT_GT(cyclesOfUse(0), 4096 / gpu->tensorMemory.transferBytes);
}

TEST_F(TensorMemoryTest, AnArrivalWaitsForTheCopiesOfItsThread) {
  addWarps(1);
  TraceEvent copy = event(TraceEvent::Kind::AsyncCopy);
  copy.count = 1;
  trace.add(0, copy);
  TraceEvent commit = event(TraceEvent::Kind::Commit, trace.phase(0, 0));
  trace.add(0, commit);
  trace.add(0, event(TraceEvent::Kind::Wait, commit.phase));
  EXPECT_DOUBLE_EQ(cycles(),
                   gpu->issue[size_t(chip::IssueClass::GlobalLoad)].latency +
                       gpu->arriveCycles + gpu->wakeCycles);
}

TEST(CostsTest, OpcodesHaveTheirClasses) {
  auto kind = [](const char *opcode, std::vector<std::string> qualifiers) {
    ast::Instruction text;
    text.opcode = opcode;
    text.qualifiers = std::move(qualifiers);
    return classify(text);
  };
  EXPECT_EQ(kind("fma", {"rn", "f32"}), chip::IssueClass::Arithmetic);
  EXPECT_EQ(kind("add", {"rn", "bf16x2"}), chip::IssueClass::Arithmetic);
  EXPECT_EQ(kind("fma", {"rn", "f32x2"}), chip::IssueClass::Packed);
  EXPECT_EQ(kind("add", {"s32"}), chip::IssueClass::Integer);
  EXPECT_EQ(kind("setp", {"lt", "u32"}), chip::IssueClass::Integer);
  EXPECT_EQ(kind("mov", {"b32"}), chip::IssueClass::Free);
  EXPECT_EQ(kind("ld", {"param", "b32"}), chip::IssueClass::Free);
  EXPECT_EQ(kind("ld", {"shared", "b32"}), chip::IssueClass::SharedLoad);
  EXPECT_EQ(kind("ld", {"global", "b32"}), chip::IssueClass::GlobalLoad);
  EXPECT_EQ(kind("st", {"global", "b32"}), chip::IssueClass::GlobalStore);
  EXPECT_EQ(kind("wgmma", {"mma_async"}), chip::IssueClass::Tensor);
  EXPECT_EQ(kind("tcgen05", {"mma"}), chip::IssueClass::Tensor);
  EXPECT_EQ(kind("tcgen05", {"wait::ld"}), chip::IssueClass::Synchronise);
}

TEST(TimingTest, GpusAreFoundByTheirChips) {
  EXPECT_EQ(chip::lookupTiming("sm_90a"), chip::lookupTiming("sm_90a", "h200"));
  EXPECT_STREQ(chip::lookupTiming("sm_90a", "h100")->name, "NVIDIA H100");
  EXPECT_STREQ(chip::lookupTiming("sm_100a")->name, "NVIDIA B200");
  EXPECT_EQ(chip::lookupTiming("sm_100a", "h100"), nullptr);
  EXPECT_EQ(chip::lookupTiming("sm_110a"), nullptr);
}

TEST(TimingTest, ChipsWithoutConstantsAreRefused) {
  Device device;
  Options options;
  options.timing = true;
  Report report = run(device, kernel("", "ret;", "sm_103a"), {}, {}, options);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.errors[0].message,
            "--timing has no constants for sm_103a; it supports h200 (sm_90a), "
            "h100 (sm_90a), b200 (sm_100a)");
}

TEST(TimingTest, AChipIsNotThatOfTheGpu) {
  Device device;
  Options options;
  options.timing = true;
  options.timedGpu = "h100";
  Report report = run(device, kernel("", "ret;"), {}, {}, options);
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.errors[0].message.find("for h100 with sm_100a; it supports"),
            std::string::npos);
}

TEST(TimingTest, OneClusterRunsForAll) {
  Device device;
  Options options;
  LaunchConfig config;
  config.grid = {100, 1, 1};
  std::string text = kernel("", "bar.sync 0;\nret;", "sm_90a");
  EXPECT_FALSE(run(device, text, {}, config, options).time);
  options.timing = true;
  Report report = run(device, text, {}, config, options);
  ASSERT_TRUE(report.time);
  EXPECT_EQ(report.statistics.blocks, 1u);
  EXPECT_GT(report.time->microseconds, report.time->launchUs);
}

} // namespace
