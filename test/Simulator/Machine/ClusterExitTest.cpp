// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CTAs that end while others of the cluster still use them, or may.

#include "Machine/ClusterKernels.h"

#include <gmock/gmock.h>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

namespace {

/// The fault is found under every schedule, and named.
void expectExitFault(
    const std::string &body,
    const std::string &cure = "end the kernel with a cluster barrier") {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    std::vector<uint32_t> out;
    Report report = runPair(body, out, seed);
    EXPECT_TRUE(has(report, ErrorKind::ExitedCta) ||
                has(report, ErrorKind::WorkInFlight))
        << "seed " << seed << "\n"
        << report.str();
    EXPECT_THAT(report.str(), HasSubstr(cure));
  }
}

} // namespace

TEST(ClusterExit, AnArrivalThatNobodyWaitsForMayMeetAnExitedCta) {
  std::string start = std::string(kInit) + kSync + kArriveAtPeer;
  expectExitFault(start);
  // The waiter knows of the arrival, so it may end.
  std::vector<uint32_t> out;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Report report = runPair(start + kWait, out, seed);
    EXPECT_TRUE(report.ok()) << report.str();
    report = runPair(start + kSync, out, seed);
    EXPECT_TRUE(report.ok()) << report.str();
  }
}

TEST(ClusterExit, AccessesToThePeerMayMeetAnExitedCta) {
  std::string start = std::string("mapa.shared::cluster.u32 %r4, %r2, %r1;\n"
                                  "st.shared.u32 [%r2], %r0;\n") +
                      kSync;
  for (const char *access : {"ld.shared::cluster.u32 %r5, [%r4];",
                             "st.shared::cluster.u32 [%r4+4], 1;",
                             "atom.shared::cluster.add.u32 %r5, [%r4], 1;"}) {
    expectExitFault(start + access);
    std::vector<uint32_t> out;
    Report report = runPair(start + access + kSync, out);
    EXPECT_TRUE(report.ok()) << report.str();
  }
}

TEST(ClusterExit, AMulticastThatAPeerDoesNotWaitFor) {
  std::string body = std::string(kInit) + R"(
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 64;
)" + kSync + R"(
  setp.ne.u32 %p1, %r0, 0; @%p1 bra END;
  ld.param.u64 %d2, [b]; mov.b16 %h, 3;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r2], [%d2], 64, [%r3], %h;
)" + kWait + "END:\n";
  for (uint64_t seed = 0; seed < 10; ++seed) {
    std::vector<uint32_t> out;
    Report report = runPair(".reg .b16 %h;" + body, out, seed);
    EXPECT_TRUE(has(report, ErrorKind::ExitedCta) ||
                has(report, ErrorKind::WorkInFlight))
        << "seed " << seed << "\n"
        << report.str();
  }
}

namespace {
/// CTA 0 commits to the mbarrier at s of the CTAs in `first`, then to `bar` of
/// those in `second`.
std::string commits(unsigned first, unsigned second) {
  auto commit = [](const std::string &barrier, unsigned ctas) {
    return "mov.b16 %h, " + std::to_string(ctas) +
           ";\ntcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::"
           "cluster.multicast::cluster.b64 [" +
           barrier + "], %h;\n";
  };
  return ".reg .b16 %h;" + std::string(kInit) +
         "mbarrier.init.shared::cta.b64 [%r2], 1; "
         "fence.mbarrier_init.release.cluster;\n" +
         kSync + "setp.eq.u32 %p1, %r0, 0; @!%p1 bra PEER;\n" +
         commit("%r2", first) + commit("%r3", second);
}
} // namespace

TEST(ClusterExit, CommitsOfAWarpToACtaLandInOrder) {
  // That the second has landed says that the first has.
  std::string body = commits(2, 2) + "bra END;\nPEER:\n" + kWait;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    std::vector<uint32_t> out;
    Report report = runPair(body + "END:\n", out, seed);
    EXPECT_TRUE(report.ok()) << report.str();
    ASSERT_EQ(report.warnings.size(), 1u);
    EXPECT_EQ(report.warnings[0].rule, Rule::CommitOrder);
  }
  // That the first has says nothing of the second.
  expectExitFault(commits(2, 2) + "bra END;\nPEER:\n" +
                      replaced(kWait, "[%r3]", "[%r2]") + "END:\n",
                  "wait for the phase of the mbarrier in which it arrives");
}

TEST(ClusterExit, CommitsToTwoCtasLandInAnyOrder) {
  // CTA 0 tells the peer of the second, which has landed in CTA 0 itself.
  std::string body = replaced(commits(2, 1), "setp.eq.u32 %p1", R"(
  mbarrier.init.shared::cta.b64 [%r2+8], 1; fence.mbarrier_init.release.cluster;
)" + std::string(kSync) + "  setp.eq.u32 %p1") +
                     kWait + R"(
  add.u32 %r5, %r2, 8; mapa.shared::cluster.u32 %r4, %r5, %r1;
  mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4];
  bra END;
PEER: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p0, [%r2+8], 0;
  @!%p0 bra PEER;
)";
  expectExitFault(body + "END:\n",
                  "wait for the phase of the mbarrier in which it arrives");
  for (uint64_t seed = 0; seed < 10; ++seed) {
    std::vector<uint32_t> out;
    Report report = runPair(
        body +
            "F: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p0, "
            "[%r2], 0; @!%p0 bra F;\nEND:\n",
        out, seed);
    EXPECT_TRUE(report.ok()) << report.str();
  }
}

TEST(ClusterExit, RelaxedBarriersDoNotKeepACtaAlive) {
  // An arrival that is under way may come after them, as it did on an H200.
  std::string body = std::string(kInit) + kSync + kArriveAtPeer;
  expectExitFault(body + "barrier.cluster.arrive.relaxed.aligned; "
                         "barrier.cluster.wait.aligned;\n");
}
