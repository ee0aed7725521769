// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The times that the model gives to copies, loads and what memory serves.

#include "ReplayTest.h"

#include "Timing/MemoryShares.h"

#include <cmath>

using namespace fp8;
using namespace fp8::sim;
using namespace fp8::sim::test;

namespace {

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

TEST_F(ReplayTest, RowsBeyondOneStripOfSeveralCostLess) {
  addWarps(2);
  launch.ctas = 40; // fewer than make no difference
  TraceEvent copy = load(1 << 14);
  copy.beyond = 60;
  trace.buffers[0].bytes *= launch.ctas;
  trace.buffers[0].rounds = 1;
  for (int n = 0; n < 20; ++n)
    trace.add(0, copy);
  trace.add(1, event(TraceEvent::Kind::Wait, copy.phase));
  auto fillOf = [&](uint16_t strips) {
    for (TraceEvent &one : trace.events) {
      one.strips = strips;
      one.beyond = 60;
    }
    const double with = cycles();
    for (TraceEvent &one : trace.events)
      one.beyond = 0;
    return with - cycles();
  };
  EXPECT_NEAR(fillOf(1), fillOf(4) * std::pow(4, h200().fillStrips), 1e-6);
}

TEST(MemorySharesTest, ATileAtAnEdgeCountsAsOneOfMany) {
  std::deque<Trace> traces(2);
  for (Trace &trace : traces)
    trace.buffer(4096, 1 << 20);
  traces[0].passes = 2;
  traces[0].buffers[0].loaded = 2000;
  traces[1].buffers[0].loaded = 10;
  evenLoads(traces);
  EXPECT_EQ(traces[0].buffers[0].loaded, 2000u);
  EXPECT_EQ(traces[1].buffers[0].loaded, 1000u);
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

TEST_F(ReplayTest, TheTmaProcessesAMulticastCopyOnce) {
  addWarps(2);
  gpu = &fastL2();
  trace.buffer(4096, 1 << 20); // which all CTAs read, so it is in L2
  trace.buffers[0].loaded = uint64_t(1) << 30;
  auto copies = [&](uint32_t parts) {
    trace.warps[0].steps.clear();
    trace.warps[1].steps.clear();
    trace.events.clear();
    TraceEvent copy = event(TraceEvent::Kind::Load, trace.phase(0, 0));
    for (int n = 0; n < 100; ++n)
      for (uint32_t part = 0; part < parts; ++part) {
        copy.isPart = part;
        trace.add(0, copy);
      }
    trace.add(1, event(TraceEvent::Kind::Wait, copy.phase));
    return cycles();
  };
  EXPECT_NEAR(copies(4), copies(1), 1e-6);
  EXPECT_GT(copies(1), 100 * h200().copyCycles);
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
  // A cluster of two, of which one copies: two clusters read each byte. Where
  // CTAs never wait for one another, the cluster changes nothing.
  launch.clusterCtas = 2;
  trace.buffers[0].loaded *= 2;
  EXPECT_EQ(cycles(), alone);
  trace.meets = true;
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

} // namespace
