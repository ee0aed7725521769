// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Allocation of tensor memory, by one CTA and by a pair: what must come before
// what, in whatever order the warps happen to run.

#include "Machine/ClusterKernels.h"

#include <gmock/gmock.h>

#include <set>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

namespace {

/// Two CTAs of two warps. %r0: the rank; %r1: the thread; %p1: warp 1.
Report runPairOf(const std::string &body, uint64_t seed, bool strict = false,
                 uint32_t threads = 64) {
  Device device;
  LaunchConfig config;
  config.grid = config.cluster = {2, 1, 1};
  config.block = {threads, 1, 1};
  Options options;
  options.scheduleSeed = seed;
  options.strict = strict;
  return run(device,
             kernel("",
                    ".reg .pred %p<9>; .reg .b32 %r<20>;\n"
                    "mov.u32 %r0, %cluster_ctarank; mov.u32 %r1, %tid.x;\n"
                    "setp.ge.u32 %p1, %r1, 32; setp.eq.u32 %p2, %r0, 1;\n" +
                        body + "ret;",
                    "sm_100a", ".shared .align 16 .b32 slot[8];\n"),
             {}, config, options);
}

using Names = std::set<std::string>;

Names namesOf(const std::vector<SimulationError> &list) {
  Names names;
  for (const SimulationError &e : list)
    names.insert(std::string(infoOf(e.rule).name));
  return names;
}

/// The body breaks exactly this rule, in every schedule; "": none.
void expectOnly(const std::string &body, const std::string &rule,
                const std::string &part = "") {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    Report report = runPairOf(body, seed);
    EXPECT_EQ(namesOf(report.errors), rule.empty() ? Names{} : Names{rule})
        << "seed " << seed << "\n"
        << report.str();
    EXPECT_TRUE(report.warnings.empty()) << report.str();
    EXPECT_THAT(report.str(), HasSubstr(part));
  }
}

std::string allocate(unsigned group, unsigned columns,
                     const std::string &lanes = "@!%p1", unsigned word = 0) {
  return lanes + " tcgen05.alloc.cta_group::" + std::to_string(group) +
         ".sync.aligned.shared::cta.b32 [slot+" + std::to_string(4 * word) +
         "], " + std::to_string(columns) + ";\n";
}
std::string release(unsigned group, unsigned columns,
                    const std::string &lanes = "@!%p1", unsigned word = 0) {
  return lanes + " ld.shared.u32 %r4, [slot+" + std::to_string(4 * word) +
         "];\n" + lanes +
         " tcgen05.dealloc.cta_group::" + std::to_string(group) +
         ".sync.aligned.b32 %r4, " + std::to_string(columns) + ";\n";
}
const std::string kMeet = kSync;
const std::string kMeetRelaxed =
    "barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;\n";
const std::string kPair = allocate(2, 32);
const std::string kFreePair = release(2, 32);

} // namespace

TEST(Tcgen05Alloc, APairMeetsBeforeAndBehindItsAllocation) {
  expectOnly(kMeet + kPair + kMeet + kFreePair, "");
  expectOnly(kMeetRelaxed + kPair + kMeetRelaxed + kFreePair, "");
}

TEST(Tcgen05Alloc, APairWhosePeerMayNotHaveStarted) {
  for (uint64_t seed = 0; seed < 12; ++seed)
    for (bool strict : {false, true}) {
      Report report = runPairOf(kPair + kMeet + kFreePair, seed, strict);
      EXPECT_EQ(namesOf(strict ? report.errors : report.warnings),
                Names{"unstarted-peer"})
          << report.str();
      EXPECT_EQ(report.ok(), !strict) << report.str();
      EXPECT_THAT(report.str(), HasSubstr("has started"));
    }
}

TEST(Tcgen05Alloc, APairThatIsFreedBeforeThePeerHasIt) {
  expectOnly(kMeet + kPair + kFreePair + kMeet, "tensor-memory-allocation",
             ", rank 1, has completed its tcgen05.alloc");
}

TEST(Tcgen05Alloc, TheOddCtaWaitsForTheEvenOne) {
  expectOnly(kMeet + allocate(2, 32, "@%p1") + kMeet + release(2, 32, "@%p1"),
             "");
  for (uint64_t seed = 0; seed < 6; ++seed) {
    // The even CTA waits for an arrival that comes behind the odd one's.
    Report report =
        runPairOf(kMeet + "@!%p2 bra WAIT;\n" + kPair + "WAIT:\n" + kMeet +
                      "@!%p2 bra END;\n" + kFreePair + "END:\n",
                  seed);
    EXPECT_EQ(namesOf(report.errors), Names{"deadlock"}) << report.str();
    EXPECT_THAT(report.str(), HasSubstr("for a warp of the peer CTA, rank 0"));
  }
}

TEST(Tcgen05Alloc, WhatBothCtasFreeIsOverInBoth) {
  // Warp 1 of CTA 1 writes to tensor memory. Its own CTA knows, the other does
  // not: one error, whether its free comes before the writes or behind them.
  std::string write = kMeet + kPair + kMeet + R"(
  setp.ne.and.b32 %p3, %r0, 0, %p1;
  @!%p3 bra DONE;
  ld.shared.u32 %r5, [slot]; add.u32 %r5, %r5, 0x200000;
  tcgen05.st.sync.aligned.32x32b.x1.b32 [%r5], {%r1};
  tcgen05.st.sync.aligned.32x32b.x1.b32 [%r5+1], {%r1};
  tcgen05.st.sync.aligned.32x32b.x1.b32 [%r5+2], {%r1};
  tcgen05.wait::st.sync.aligned;
DONE:
)";
  expectOnly(write + kMeet + kFreePair, "");
  for (uint64_t seed = 0; seed < 12; ++seed) {
    Report report =
        runPairOf(write + "bar.sync 0;\n" + kFreePair + kMeet, seed);
    ASSERT_EQ(report.errors.size(), 1u) << "seed " << seed;
    EXPECT_EQ(report.errors[0].kind, ErrorKind::Race) << report.str();
  }
  // Where the last one may still be under way, its place is told, too.
  std::string unfinished =
      replaced(write, "  tcgen05.wait::st.sync.aligned;\n", "");
  for (uint64_t seed = 0; seed < 12; ++seed) {
    Report report =
        runPairOf(unfinished + "bar.sync 0;\n" + kFreePair + kMeet, seed);
    EXPECT_THAT(report.str(), HasSubstr("here, by warp 1")) << "seed " << seed;
  }
}

TEST(Tcgen05Alloc, SizesDoNotIncrease) {
  std::string small = allocate(1, 32, "@!%p1", 1),
              large = allocate(1, 64, "@!%p1", 2),
              free = release(1, 32, "@!%p1", 1) + release(1, 64, "@!%p1", 2);
  expectOnly(large + small + free, "");
  expectOnly(large + allocate(1, 64, "@!%p1", 3) + release(1, 64, "@!%p1", 2) +
                 release(1, 64, "@!%p1", 3),
             "");
  const char *const kRule = "sizes must not increase";
  expectOnly(small + large + free, "tensor-memory-allocation", kRule);
  // Even where the small one is free again.
  expectOnly(small + release(1, 32, "@!%p1", 1) + large +
                 release(1, 64, "@!%p1", 2),
             "tensor-memory-allocation", kRule);
}

TEST(Tcgen05Alloc, SizesOfTwoWarpsDoNotIncrease) {
  std::string first = allocate(1, 64, "@!%p1", 1),
              second = allocate(1, 32, "@%p1", 2),
              free = "bar.sync 0;\n" + release(1, 64, "@!%p1", 1) +
                     release(1, 32, "@%p1", 2);
  expectOnly(first + "bar.sync 0;\n" + second + free, "");
  // In whichever order the two come.
  expectOnly(first + second + free, "tensor-memory-allocation");
}

TEST(Tcgen05Alloc, BothCtasOfAPairRelinquish) {
  const std::string give =
      "tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;\n";
  expectOnly(kMeet + kPair + "@!%p1 " + give + kMeet + kFreePair, "");
  for (const char *rank : {"0", "1"})
    expectOnly(kMeet + kPair + "setp.eq.and.u32 %p3, %r0, " + rank +
                   ", !%p1;\n@%p3 " + give + kMeet + kFreePair,
               "tensor-memory-allocation",
               std::string("was executed only by CTA rank ") + rank +
                   " of its pair");
  // The permit of one CTA is its own.
  expectOnly(allocate(1, 32) + "setp.eq.and.u32 %p3, %r0, 0, !%p1;\n@%p3 " +
                 replaced(give, "::2", "::1") + release(1, 32),
             "");
}

TEST(Tcgen05Alloc, NoLaneOfTheWarpHasExited) {
  const std::string leave = "setp.eq.u32 %p3, %r1, 31;\n@%p3 exit;\n",
                    take = allocate(1, 32), give = release(1, 32);
  const std::string bodies[] = {
      leave + take + give,
      take + leave + give,
      take + leave +
          "@!%p1 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n" +
          give,
      take + "@!%p1 ld.shared.u32 %r4, [slot];\n" + leave +
          "@!%p1 tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r5}, [%r4];\n"
          "@!%p1 tcgen05.wait::ld.sync.aligned;\n" +
          give,
      take + "@!%p1 ld.shared.u32 %r4, [slot];\n" + leave +
          "@!%p1 tcgen05.st.sync.aligned.32x32b.x1.b32 [%r4], {%r1};\n"
          "@!%p1 tcgen05.wait::st.sync.aligned;\n" +
          give,
  };
  for (const std::string &body : bodies)
    expectOnly(body, "divergent-aligned",
               "needs all lanes of warp 0, but lane 31 has exited");
  expectOnly(take + give + leave, "");
  // Lanes that never were have not exited.
  Report report = runPairOf(take + give, 0, true, 16);
  EXPECT_TRUE(report.ok()) << report.str();
}
