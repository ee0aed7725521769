// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Polls for what nobody stores end early, and all others as they did.

#include "Kernels.h"

#include <gmock/gmock.h>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

namespace {

const char *const kShared = ".shared .align 16 .b8 s[1024];\n";
/// One lane of each warp goes on, which makes polls cheap.
const char *const kAlone = "and.b32 %r9, %t, 31; setp.ne.u32 %p9, %r9, 0;\n"
                           "@%p9 exit;\n";
const char *const kFlag =
    "P: ld.acquire.gpu.global.u32 %r1, [%out]; setp.eq.u32 %p1, %r1, 0;\n"
    "@%p1 bra P;\n";

/// Runs it under some seeds: each must find a deadlock, long before the limit.
Report hang(const std::string &body, uint32_t threads = 64) {
  Report report;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    Options options;
    options.scheduleSeed = seed;
    compute(body, threads, threads, kShared, &report, options);
    EXPECT_TRUE(has(report, ErrorKind::Deadlock)) << report.str();
    EXPECT_EQ(report.errors.size(), 1u) << report.str();
    EXPECT_LT(report.statistics.warpInstructions, 1000000u);
  }
  return report;
}

} // namespace

TEST(Poll, OfAFlagThatNobodySetsIsADeadlock) {
  EXPECT_THAT(
      hang(std::string(kAlone) + kFlag).str(),
      testing::AllOf(
          HasSubstr("deadlock: 'ld.acquire.gpu.global.u32' polls for ever what "
                    "nobody will store"),
          HasSubstr("warp 1 polls buffer 'out' at offset 0, which holds 0; "
                    "nothing has written it in this launch")));
}

TEST(Poll, NamesTheLatestStore) {
  // Each warp waits for the number that the other would have to store.
  const std::string body = R"(
  mov.u32 %r3, s; setp.eq.u32 %p0, %t, 0; @%p0 st.volatile.shared.u32 [%r3], 1;
  bar.sync 0;
P: ld.volatile.shared.u32 %r1, [%r3]; setp.ne.u32 %p1, %r1, 2; nanosleep.u32 20;
  @%p1 bra P;)";
  EXPECT_THAT(hang(body).str(),
              HasSubstr("(s+0), which holds 1; it was written last by "
                        "'st.volatile.shared.u32' at "));
}

TEST(Poll, WithOtherWaits) {
  // A poll of memory, one of an mbarrier, a wait for one, and a wait for all.
  const std::string body = R"(
  setp.eq.u32 %p0, %t, 0; mov.u32 %r50, s;
  @%p0 mbarrier.init.shared::cta.b64 [%r50], 1;
  bar.sync 0;
  shr.u32 %r3, %t, 5;
  setp.eq.u32 %p2, %r3, 1; @%p2 bra TEST;
  setp.eq.u32 %p2, %r3, 2; @%p2 bra TRY;
  setp.eq.u32 %p2, %r3, 3; @%p2 bra END;
)" + replaced(kFlag, "ld.acquire.gpu", "ld.relaxed.gpu") +
                           R"(bra END;
TEST: mbarrier.test_wait.parity.shared::cta.b64 %p8, [%r50], 0;
  nanosleep.u32 100; @!%p8 bra TEST; bra END;
TRY: mbarrier.try_wait.parity.shared::cta.b64 %p8, [%r50], 0;
  bar.warp.sync -1; @!%p8 bra TRY;
END: bar.sync 0;)";
  EXPECT_THAT(hang(body, 128).str(),
              testing::AllOf(HasSubstr("warp 0 polls buffer 'out'"),
                             HasSubstr("warp 1 all lanes: waits for phase 0"),
                             HasSubstr("warp 2 all lanes: waits for phase 0"),
                             HasSubstr("waits at named barrier 0: 32 of 128")));
}

TEST(Poll, ByAnAtomicOperationThatChangesNothing) {
  EXPECT_THAT(hang("atom.global.exch.b32 %r2, [%out], 1;\n"
                   "P: atom.acquire.gpu.global.cas.b32 %r1, [%out], 0, 1;\n"
                   "setp.ne.u32 %p1, %r1, 0; @%p1 bra P;\n",
                   1)
                  .str(),
              HasSubstr("which holds 1, and leaves it as it is"));
}

TEST(Poll, OfMbarriersAloneInALoopThatMeets) {
  const std::string body = R"(
  setp.eq.u32 %p0, %t, 0; mov.u32 %r50, s;
  @%p0 mbarrier.init.shared::cta.b64 [%r50], 1;
  bar.sync 0;
W: mbarrier.try_wait.parity.shared::cta.b64 %p8, [%r50], 0;
  bar.warp.sync -1; @!%p8 bra W;)";
  EXPECT_THAT(hang(body).str(), HasSubstr("warp 1 all lanes: waits for phase"));
}

TEST(Poll, ThatCountsOrReadsTheTimeEnds) {
  auto out = compute(R"(
  mov.u32 %r2, 0; mov.u64 %d1, %globaltimer;
C: ld.volatile.global.u32 %r1, [%out+4]; add.u32 %r2, %r2, 1;
  setp.lt.u32 %p1, %r2, 100000; @%p1 bra C;
T: ld.volatile.global.u32 %r1, [%out+4]; mov.u64 %d2, %globaltimer;
  sub.u64 %d2, %d2, %d1; setp.lt.u64 %p1, %d2, 2000000; @%p1 bra T;
  st.global.u32 [%o], %r2;)",
                     1, 2);
  EXPECT_EQ(out[0], 100000u);
}

TEST(Poll, IsNamedAtTheStepLimit) {
  Options options;
  options.stepLimit = 500000;
  Report report;
  compute("mov.u32 %r2, 0;\n" +
              replaced(kFlag, "@%p1", "add.u32 %r2, %r2, 1; @%p1"),
          1, 1, "", &report, options);
  EXPECT_THAT(report.str(),
              testing::AllOf(HasSubstr("exceeds the step limit of 500000"),
                             HasSubstr("warp 0 polls buffer 'out' at offset 0, "
                                       "which holds 0; nothing has written")));
}

TEST(Poll, EndsByAStoreBehindALongComputation) {
  // Warp 1 stores nothing for long; lane 1 of warp 0 sets what lane 0 polls.
  const std::string body = R"(
  and.b32 %r9, %t, 31; setp.gt.u32 %p9, %r9, 1; @%p9 exit;
  setp.ge.u32 %p0, %t, 32; @%p0 bra COMPUTE;
)" + std::string(kFlag) + R"(
  setp.eq.u32 %p2, %t, 1; @%p2 bra LATE;
  setp.ne.u32 %p2, %t, 0; @%p2 bra END;
Q: ld.volatile.global.u32 %r1, [%out+4]; setp.eq.u32 %p1, %r1, 0;
  @%p1 bra Q; bra END;
LATE: mov.u32 %r2, 0;
M: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 100000; @%p1 bra M;
  st.volatile.global.u32 [%out+4], 7; bra END;
COMPUTE: mov.u32 %r2, 0;
L: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 100000; @%p1 bra L;
  setp.eq.u32 %p2, %t, 32; @%p2 st.release.gpu.global.u32 [%out], 1;
END:)";
  for (uint64_t seed = 0; seed < 3; ++seed) {
    Options options;
    options.scheduleSeed = seed;
    Report report;
    auto out = compute(body, 64, 2, "", &report, options);
    EXPECT_TRUE(report.ok()) << report.str();
    EXPECT_EQ(out[1], 7u);
  }
}

TEST(Poll, OfAClusterThatCannotStart) {
  const std::string text = kernel(".param .u64 out", R"(
  .reg .pred %p1; .reg .b32 %r1, %r2; .reg .b64 %out;
  ld.param.u64 %out, [out]; mov.u32 %r2, %ctaid.x;
  setp.eq.u32 %p1, %r2, 5; @%p1 st.release.gpu.global.u32 [%out], 1;
P: ld.acquire.gpu.global.u32 %r1, [%out]; setp.eq.u32 %p1, %r1, 0;
  @%p1 bra P; ret;)");
  OptionNames names;
  auto launched = [&](unsigned room, unsigned multiprocessors = 0,
                      unsigned ctas = 1) {
    Device device;
    LaunchConfig config;
    config.grid = {6, 1, 1};
    config.block = {32, 1, 1};
    Options options;
    options.residentClusters = room;
    options.multiprocessorCount = multiprocessors;
    options.ctasPerMultiprocessor = ctas;
    options.names = names;
    return run(device, text,
               {KernelArgument::value(*device.allocate("out", 4))}, config,
               options);
  };
  EXPECT_THAT(launched(3).str(),
              testing::AllOf(HasSubstr("3 clusters have not started"),
                             HasSubstr("as many as Options::residentClusters "
                                       "says; raise it")));
  EXPECT_THAT(launched(0, 3).str(),
              testing::AllOf(HasSubstr("3 clusters have not started"),
                             HasSubstr("raise Options::multiprocessorCount")));
  // As a program calls them.
  names = {"--of-chips", "--room", ""};
  EXPECT_THAT(launched(3).str(), HasSubstr("as many as --room says"));
  EXPECT_THAT(launched(0, 3).str(), HasSubstr("raise --of-chips"));
  EXPECT_TRUE(launched(0, 3, 2).ok());
  EXPECT_TRUE(launched(6).ok());
  EXPECT_TRUE(launched(0).ok());
}
