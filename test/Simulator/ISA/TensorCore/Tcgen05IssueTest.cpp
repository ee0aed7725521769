// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MMAs one behind the other: which lane issues and which commits, what is
// pipelined, and accumulators that use one half of the lanes.

#include "ISA/TensorCore/MmaKernel.h"

#include <gmock/gmock.h>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

namespace {

MmaCase integers(uint32_t m, uint32_t n) {
  MmaCase c;
  c.kind = "i8";
  c.a = kS8;
  c.b = kU8;
  c.scales = 0;
  c.qualifiers = "";
  c.m = m;
  c.n = n;
  return c;
}

/// Another MMA of the same operands. `at`: of the accumulator, from %r4 on.
std::string mma(const MmaCase &form, uint32_t at, const char *accumulate,
                const std::string &kind = "i8") {
  return "  tcgen05.mma.cta_group::1.kind::" + kind + " [%r4+" +
         std::to_string(at) + "], %d3, %d4, " +
         std::to_string(form.descriptor()) + ", " + accumulate + ";\n";
}
const char *const kNew = "%p3", *const kMore = "%p6";

const std::string kCommit = "tcgen05.commit.cta_group::1.mbarrier::arrive::one"
                            ".shared::cluster.b64 [%r8];\n";
const std::string kMeeting = "ISSUED: bar.warp.sync -1;\n";
const std::string kWait =
    "  tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 "
    "[bar];\nLC: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 1; @!%p1 bra "
    "LC;\n";

/// Before the commit.
void append(MmaRun &run, const std::string &text) {
  run.text = replaced(run.text, "  " + kCommit, text + "  " + kCommit);
}

void expectUnordered(MmaRun &run) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    run.options.scheduleSeed = seed;
    Report report = run.run();
    EXPECT_TRUE(has(report, ErrorKind::Race) ||
                has(report, ErrorKind::MemoryInFlight))
        << "seed " << seed << "\n"
        << report.str();
  }
}

} // namespace

TEST(MmaLanes, AnAccumulatorOfHalfTheLanesStartsAtLane0Or16) {
  for (uint32_t lane : {0u, 16u})
    for (uint32_t n : {8u, 64u})
      for (bool tensorA : {false, true}) {
        MmaCase form = integers(64, n);
        form.firstLane = lane;
        form.tensorA = tensorA;
        form.accumulate = true;
        MmaRun run(form);
        run.options.strict = true;
        Report report = run.run();
        ASSERT_TRUE(report.ok()) << form.name() << report.str();
        run.check(0);
      }
}

TEST(MmaLanes, TwoAccumulatorsShareColumns) {
  for (uint32_t lane : {0u, 16u}) {
    MmaCase form = integers(64, 32);
    form.firstLane = lane;
    MmaRun run(form);
    append(run, mma(form, (16 - lane) << 16, kNew));
    run.options.strict = true;
    Report report = run.run();
    ASSERT_TRUE(report.ok()) << report.str();
    run.check(0);
  }
}

TEST(MmaLanes, OperandsStartAtOneLane) {
  struct Fault {
    uint32_t m;
    bool stationary;
    uint32_t lane, laneA;
    const char *message;
  };
  const Fault faults[] = {
      {64, false, 8, 8, "the accumulator must start at lane 0 or 16, not 8"},
      {64, false, 32, 32, "the accumulator must start at lane 0 or 16, not 32"},
      {128, false, 16, 16, "the accumulator must start at lane 0, not 16"},
      {64, true, 16, 16, "the accumulator must start at lane 0, not 16"},
      {64, false, 16, 0,
       "A in tensor memory must start at lane 16, where the accumulator does, "
       "not 0"},
      {64, false, 0, 16, "A in tensor memory must start at lane 0, not 16"},
  };
  for (const Fault &fault : faults) {
    MmaCase form = integers(fault.m, 64);
    form.stationary = fault.stationary;
    form.tensorA = true;
    MmaRun run(form);
    auto at = [](uint32_t column, uint32_t lane) {
      return "[%r4+" + std::to_string(column + (lane << 16)) + "], ";
    };
    run.text = replaced(run.text, at(0, 0) + at(256, 0),
                        at(0, fault.lane) + at(256, fault.laneA));
    Report report = run.run();
    EXPECT_TRUE(has(report, ErrorKind::OutOfBounds)) << report.str();
    EXPECT_THAT(report.str(), HasSubstr(fault.message));
  }
}

TEST(MmaLanes, ACommitTellsOfItsOwnLane) {
  // The elected lane is lane 0.
  for (int lane : {0, 5}) {
    MmaRun run(integers(128, 64));
    run.text = replaced(run.text, "  " + kCommit, "");
    run.text = replaced(run.text, kMeeting,
                        kMeeting + "  setp.eq.u32 %p7, %r0, " +
                            std::to_string(lane) + ";\n  @%p7 " + kCommit);
    if (lane) {
      expectUnordered(run);
      continue;
    }
    run.options.strict = true;
    Report report = run.run();
    ASSERT_TRUE(report.ok()) << report.str();
    run.check(0);
  }
}

/// Lane 1 issues `second` and commits. The MMA of `run` is of lane 1 too, or of
/// lane 0.
static void issueFromLanes(MmaRun &run, const MmaCase &form, bool firstOfLane1,
                           const std::string &second) {
  std::string first = mma(form, 0, kNew);
  run.text = replaced(run.text, "setp.ne.u32 %p5, %r6, 0;",
                      "setp.gt.u32 %p5, %r6, 1; setp.eq.u32 %p7, %r0, 1;");
  run.text = replaced(run.text, first,
                      (firstOfLane1 ? "  @%p7" : "  @!%p7") + first + "  @%p7" +
                          second);
  run.text = replaced(run.text, "  " + kCommit, "  @%p7 " + kCommit);
}

TEST(MmaLanes, MmasOfTwoLanesAreNotPipelined) {
  // Lanes 0 and 1 each issue one, and lane 1 commits; or lane 1 both.
  for (bool both : {false, true}) {
    MmaCase form = integers(128, 64);
    MmaRun run(form);
    issueFromLanes(run, form, both, mma(form, 0, kMore));
    if (!both) {
      expectUnordered(run);
      continue;
    }
    run.options.strict = true;
    Report report = run.run();
    EXPECT_TRUE(report.ok()) << report.str();
  }
}

TEST(MmaLanes, ACommitTellsOtherWarpsOfItsOwnLane) {
  // Lane 0, or 1, multiplies into the columns that all warps load behind a
  // commit of lane 1, which has an accumulator of its own.
  for (bool own : {false, true}) {
    MmaCase form = integers(128, 64);
    MmaRun run(form);
    issueFromLanes(run, form, own, mma(form, 64, kNew));
    if (!own) {
      expectUnordered(run);
      continue;
    }
    run.options.strict = true;
    Report report = run.run();
    ASSERT_TRUE(report.ok()) << report.str();
    run.check(0);
  }
}

TEST(MmaPipeline, NeedsTheSameAccumulatorShapeAndKind) {
  MmaCase narrow = integers(128, 32), wide = integers(128, 64),
          low = integers(64, 64), floats = wide;
  floats.kind = "f8f6f4";
  floats.a = floats.b = kE4m3;
  struct Second {
    std::string text;
    bool isPipelined;
  };
  const Second seconds[] = {
      {mma(wide, 0, kMore), true},
      {mma(wide, 64, kNew), true}, // other columns
      {mma(narrow, 64, kNew), true},
      {mma(narrow, 0, kMore), false},
      {mma(narrow, 32, kMore), false},
      {mma(wide, 32, kNew), false},
      {mma(low, 0, kMore), false},
      {mma(floats, 0, kNew, "f8f6f4"), false},
  };
  for (const Second &second : seconds) {
    MmaRun run(wide);
    append(run, second.text);
    Report report = run.run();
    EXPECT_TRUE(report.ok()) << report.str();
    ASSERT_EQ(report.warnings.size(), second.isPipelined ? 0u : 1u)
        << second.text << report.str();
    if (second.isPipelined)
      continue;
    EXPECT_EQ(report.warnings[0].rule, Rule::TensorCoreOrder);
    EXPECT_THAT(report.warnings[0].message,
                HasSubstr("the same accumulator, shape and kind"));
    run.options.strict = true;
    EXPECT_TRUE(has(run.run(), ErrorKind::MemoryInFlight)) << second.text;
    // Behind a commit and its wait they are in order.
    MmaRun waits(wide);
    append(waits, kWait + second.text);
    waits.options.strict = true;
    report = waits.run();
    EXPECT_TRUE(report.ok()) << second.text << report.str();
  }
}
