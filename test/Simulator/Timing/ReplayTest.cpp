// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The times that the model gives to traces made by hand.

#include "Timing/Replay.h"

#include "Kernels.h"

using namespace fp8;
using namespace fp8::sim;
using namespace fp8::sim::test;

namespace {

const chip::Timing &h200() { return *chip::lookupTiming("sm_90a"); }

/// A program of two additions: 0 reads its own result, 1 does not.
class Additions {
public:
  Additions() {
    text.opcode = "fma";
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
  Costs costs() const { return Costs(program, h200()); }

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

class ReplayTest : public testing::Test {
protected:
  Additions additions;
  Trace trace;
  TracedLaunch launch;

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
        replay(trace, additions.costs(), h200(), launch);
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

TEST_F(ReplayTest, AWaitEndsWithTheCopy) {
  addWarps(2);
  waitForCopy(1 << 14);
  double first = cycles();
  EXPECT_GT(first, h200().dramLatencyCycles);
  // A second copy of the same size takes the engines' time, and no latency.
  trace.add(0, load(1 << 14));
  trace.buffers[0].bytes *= 2;
  double second = cycles();
  EXPECT_NEAR(second - first, (1 << 14) / h200().dramBytesOfOne, 1);
}

TEST_F(ReplayTest, MemoryIsSharedByAllCtas) {
  addWarps(2);
  waitForCopy(1 << 16);
  double alone = cycles();
  launch.ctas = uint64_t(h200().multiprocessors);
  trace.buffers[0].bytes *= launch.ctas;
  double together = cycles();
  EXPECT_NEAR(together - alone,
              (1 << 16) * (double(h200().multiprocessors) / h200().dramBytes -
                           1 / h200().dramBytesOfOne),
              1);
}

TEST_F(ReplayTest, ProductsFollowEachOtherAtTheTensorCoresRate) {
  addWarps(4);
  for (uint32_t warp = 0; warp < 4; ++warp) {
    TraceEvent product = event(TraceEvent::Kind::Mma);
    product.columns = 256;
    product.depthBytes = 32;
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
    product.columns = 64;
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

TEST_F(ReplayTest, CtasThatFindNoMultiprocessorTakeAnotherWave) {
  addWarps(1);
  trace.addInstruction(0, 1);
  launch.ctas = uint64_t(h200().multiprocessors) + 1;
  EXPECT_DOUBLE_EQ(cycles(), 2);
}

TEST(CostsTest, OpcodesHaveTheirClasses) {
  auto kind = [](const char *opcode, std::vector<std::string> qualifiers) {
    ast::Instruction text;
    text.opcode = opcode;
    text.qualifiers = std::move(qualifiers);
    return classify(text);
  };
  EXPECT_EQ(kind("fma", {"rn", "f32"}), chip::IssueClass::Arithmetic);
  EXPECT_EQ(kind("mov", {"b32"}), chip::IssueClass::Free);
  EXPECT_EQ(kind("ld", {"param", "b32"}), chip::IssueClass::Free);
  EXPECT_EQ(kind("ld", {"shared", "b32"}), chip::IssueClass::SharedLoad);
  EXPECT_EQ(kind("ld", {"global", "b32"}), chip::IssueClass::GlobalLoad);
  EXPECT_EQ(kind("st", {"global", "b32"}), chip::IssueClass::GlobalStore);
  EXPECT_EQ(kind("wgmma", {"mma_async"}), chip::IssueClass::Tensor);
}

TEST(TimingTest, ChipsWithoutConstantsAreRefused) {
  Device device;
  Options options;
  options.timing = true;
  Report report = run(device, kernel("", "ret;"), {}, {}, options);
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.errors[0].message.find("no constants for sm_100a"),
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
