// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mbarriers and named barriers: what they order, and what breaks their rules.

#include "BarrierKernels.h"

#include <gmock/gmock.h>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

TEST(Mbarrier, OrdersWritesBeforeReads) {
  std::string body = init(32) + R"(
  setp.ge.u32 %p1, %t, 32; @%p1 bra CONSUMER;
  shl.b32 %r1, %t, 2; add.u32 %r1, %r1, %r50; st.shared.u32 [%r1+64], %t;
  mbarrier.arrive.shared::cta.b64 %d0, [%r50];
  bra END;
CONSUMER:
)" + wait("W", 0) + R"(
  shl.b32 %r1, %t, 2; add.u32 %r1, %r1, %r50; ld.shared.u32 %r0, [%r1-64];
  st.global.u32 [%o], %r0;
END:)";
  for (uint64_t seed = 0; seed < 5; ++seed) {
    Options options;
    options.scheduleSeed = seed;
    Report report;
    auto out = compute(body, 64, 64, kShared, &report, options);
    ASSERT_TRUE(report.ok()) << report.str();
    EXPECT_EQ(out[40], 8u);
    EXPECT_EQ(report.statistics.barrierPhases, 1u);
  }
}

TEST(Mbarrier, StateFormsAndCounts) {
  auto out = compute(init(3) + R"(
  @!%p0 bra END;
  mbarrier.arrive.shared::cta.b64 %d0, [%r50], 2;
  mbarrier.pending_count.b64 %r1, %d0;
  mbarrier.test_wait.shared::cta.b64 %p1, [%r50], %d0; selp.b32 %r2, 1, 0, %p1;
  mbarrier.arrive_drop.shared::cta.b64 %d1, [%r50];
  mbarrier.test_wait.shared::cta.b64 %p1, [%r50], %d0; selp.b32 %r3, 1, 0, %p1;
  mbarrier.arrive.shared::cta.b64 %d2, [%r50], 2;
  mbarrier.try_wait.shared::cta.b64 %p1, [%r50], %d2; selp.b32 %r4, 1, 0, %p1;
  mbarrier.inval.shared::cta.b64 [%r50];
  st.shared.u32 [%r50], 7;
  st.global.v4.u32 [%out], {%r1, %r2, %r3, %r4};
END:)",
                     32, 4, kShared);
  EXPECT_EQ(out, (std::vector<uint32_t>{3, 0, 1, 1}));
}

TEST(Mbarrier, MisuseIsReported) {
  EXPECT_THAT(
      reportOf(init(1) + "mbarrier.arrive.shared::cta.b64 _, [%r50+8];").str(),
      HasSubstr("(s+8), which holds no mbarrier; execute mbarrier.init first "
                "[barrier-uninitialised]"));
  EXPECT_THAT(
      reportOf(init(1) + "mbarrier.arrive.shared::cta.b64 _, [%r50+4];").str(),
      HasSubstr("not aligned to 8"));
  EXPECT_THAT(
      reportOf(init(2) + "@%p0 mbarrier.arrive.shared::cta.b64 _, [%r50], 3;")
          .str(),
      HasSubstr("arrives 3 time(s)"));
  EXPECT_THAT(
      reportOf(init(1) + "@%p0 mbarrier.init.shared::cta.b64 [%r50], 1;").str(),
      HasSubstr("holds a live mbarrier; execute mbarrier.inval first"));
  EXPECT_THAT(reportOf(init(0)).str(),
              HasSubstr("count 0; the rule is 1 to 2^20 - 1"));
  EXPECT_THAT(
      reportOf(init(1) + "@%p0 ld.shared.u32 %r1, [%r50+4];").str(),
      HasSubstr("which holds a live mbarrier; only mbarrier operations may"));
  EXPECT_THAT(
      reportOf(init(1) +
               "@%p0 mbarrier.expect_tx.shared::cta.b64 [%r50], 1048576;")
          .str(),
      HasSubstr("the limit of its tx-count is 2^20 - 1"));
  EXPECT_THAT(reportOf(init(2) +
                       "@%p0 mbarrier.inval.shared::cta.b64 [%r50];\n"
                       "@%p0 mbarrier.arrive.shared::cta.b64 _, [%r50];")
                  .str(),
              HasSubstr("was invalidated by mbarrier.inval"));
}

TEST(Mbarrier, AllLanesMayInitialiseItAtOnce) {
  std::string body = R"(
  mbarrier.init.shared::cta.b64 [s], 1; fence.mbarrier_init.release.cluster;
  bar.sync 0; mov.u32 %r50, s; setp.eq.u32 %p0, %t, 0;
  @%p0 mbarrier.arrive.shared::cta.b64 _, [%r50];
W: mbarrier.try_wait.parity.shared::cta.b64 %p8, [%r50], 0; @!%p8 bra W;
)";
  Report report = reportOf(body);
  EXPECT_TRUE(report.ok()) << report.str();
  // To different counts is an error, and so is twice, unless the same warp
  // writes the same count before anything uses the mbarrier.
  EXPECT_THAT(
      reportOf("add.u32 %r1, %t, 1;\n" + replaced(body, "1;", "%r1;")).str(),
      HasSubstr("holds a live mbarrier"));
  const std::string first = "mbarrier.init.shared::cta.b64 [s], ";
  report = reportOf(first + "1;\n" + body);
  EXPECT_TRUE(report.ok()) << report.str();
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_EQ(report.warnings[0].rule, Rule::RepeatedInit);
  const std::string other = first + "2;\n",
                    used = first + "1; mbarrier.expect_tx.shared::cta.b64 "
                                   "[s], 16;\n";
  for (const std::string &before : {other, used})
    EXPECT_THAT(reportOf(before + body).str(),
                HasSubstr("holds a live mbarrier"));
}

TEST(Mbarrier, ExpectedBytesNeverLandingIsADeadlock) {
  Report report = reportOf(
      init(1) +
      "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r50], 64;\n" +
      wait("W", 0));
  ASSERT_TRUE(has(report, ErrorKind::Deadlock));
  EXPECT_THAT(
      report.str(),
      HasSubstr("current phase 0, 0 of 1 arrivals pending, 64 bytes pending"));
}

TEST(Mbarrier, ATimeOutIsNotADeadlock) {
  auto out = compute(init(1) + R"(
  mov.b32 %r0, 0;
TRY: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r50], 0, 1000;
  add.u32 %r0, %r0, 1;
  setp.lt.u32 %p2, %r0, 5;
  @%p1 bra END; @%p2 bra TRY;
END: st.global.u32 [%o], %r0;)",
                     32, 32, kShared);
  EXPECT_EQ(out[0], 5u);
}

TEST(Mbarrier, ATimeHintMayBeUndefined) {
  const std::string hinted =
      replaced(wait("W", 1), "%r50], 1", "%r50], 1, %r40");
  Report report = reportOf(init(1) + hinted);
  EXPECT_TRUE(report.ok()) << report.str();
  EXPECT_FALSE(reportOf(init(1) + replaced(hinted, "%r40", "%p3")).ok());
}

TEST(Mbarrier, AWaitForTheWrongParityPassesAtOnce) {
  EXPECT_TRUE(reportOf(init(1) + wait("W", 1)).ok());
}

TEST(NamedBarrier, ProducersArriveConsumersSync) {
  auto out = compute(R"(
  setp.lt.u32 %p1, %t, 32; mov.u32 %r1, s;
  shl.b32 %r2, %t, 2; add.u32 %r2, %r2, %r1;
  @!%p1 bra CONSUMER;
  st.shared.u32 [%r2], %t;
  bar.arrive 3, 64;
  bra END;
CONSUMER: bar.sync 3, 64;
  ld.shared.u32 %r0, [%r2-128];
  st.global.u32 [%o], %r0;
END: bar.sync 0;
  setp.gt.u32 %p2, %t, 3;
  bar.red.popc.u32 %r3, 1, %p2;
  st.global.u32 [%out], %r3;)",
                     64, 64, kShared);
  EXPECT_EQ(out[37], 5u);
  EXPECT_EQ(out[0], 60u);
}

TEST(NamedBarrier, ExitedWarpsNoLongerCount) {
  auto out = compute(
      "setp.ge.u32 %p1, %t, 32; @%p1 exit; bar.sync 0; st.global.u32 [%o], 4;",
      64, 64);
  EXPECT_EQ(out[31], 4u);
}

TEST(NamedBarrier, AWarpCountsWithoutItsExitedLanes) {
  // Some lanes exit before the others come, or while these wait.
  for (const char *barrier :
       {"barrier.cta.sync 0;", "barrier.cta.sync 1, 64;", "bar.sync 0;"})
    for (const char *late : {"", "nanosleep.u32 90; nanosleep.u32 90;"})
      for (uint64_t seed = 0; seed < 4; ++seed) {
        Options options;
        options.scheduleSeed = seed;
        Report report;
        auto out =
            compute("and.b32 %r1, %t, 31; setp.ge.u32 %p1, %r1, 16;\n"
                    "@%p1 bra LATE; " +
                        std::string(barrier) +
                        " st.global.u32 [%o], 4; bra END;\nLATE: " + late +
                        "exit;\nEND:",
                    64, 64, "", &report, options);
        EXPECT_TRUE(report.ok()) << barrier << report.str();
        EXPECT_EQ(out[47], 4u);
      }
  EXPECT_THAT(reportOf("setp.lt.u32 %p1, %t, 7; @%p1 bra OTHER;\n"
                       "barrier.cta.sync 0; bra END;\n"
                       "OTHER: barrier.cta.sync 1, 64;\nEND:",
                       32)
                  .str(),
              HasSubstr("waits at named barrier 0: 0 of 32 threads have "
                        "arrived, without this warp, since other lanes of it "
                        "have not come"));
}

TEST(NamedBarrier, MisuseIsReported) {
  EXPECT_THAT(reportOf("setp.lt.u32 %p1, %t, 32; @%p1 bra A; bar.sync 1, 96; "
                       "bra END;\nA: bar.sync 1, 64;\nEND:",
                       64)
                  .str(),
              HasSubstr("all participants must give the same count"));
  EXPECT_THAT(reportOf("bar.sync 1, 40;").str(),
              HasSubstr("positive multiple of 32"));
  EXPECT_THAT(reportOf("bar.sync 16;").str(),
              HasSubstr("named barrier 16 does not exist"));
  EXPECT_THAT(
      reportOf("bar.sync 2, 96;", 64).str(),
      HasSubstr("waits at named barrier 2: 64 of 96 threads have arrived"));
}
