// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MMAs whose accumulators use one half of the lanes.

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
const char *const kNew = "%p3";

const std::string kCommit = "tcgen05.commit.cta_group::1.mbarrier::arrive::one"
                            ".shared::cluster.b64 [%r8];\n";
/// Before the commit.
void append(MmaRun &run, const std::string &text) {
  run.text = replaced(run.text, "  " + kCommit, text + "  " + kCommit);
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
