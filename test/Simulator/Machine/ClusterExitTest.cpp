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

TEST(ClusterExit, CommitsLandInAnyOrder) {
  std::string body = std::string(kInit) +
                     "mbarrier.init.shared::cta.b64 [%r2], 1; "
                     "fence.mbarrier_init.release.cluster;\n" +
                     kSync + R"(
  setp.eq.u32 %p1, %r0, 0; @!%p1 bra WAIT; mov.b16 %h, 2;
  tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r2], %h;
  tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r3], %h;
  bra END;
WAIT:
)";
  std::string first = "F: mbarrier.try_wait.parity.shared::cta.b64 %p0, "
                      "[%r2], 0; @!%p0 bra F;\n";
  // That the second has landed does not say that the first has; nor does a
  // barrier, at which nothing waits for either.
  for (const char *end : {"", kSync})
    expectExitFault(".reg .b16 %h;" + body + kWait + "END:\n" + end,
                    "wait for the phase of the mbarrier in which it arrives");
  for (uint64_t seed = 0; seed < 10; ++seed) {
    std::vector<uint32_t> out;
    Report report =
        runPair(".reg .b16 %h;" + body + kWait + first + "END:\n", out, seed);
    EXPECT_TRUE(report.ok()) << report.str();
  }
}

TEST(ClusterExit, RelaxedBarriersDoNotKeepACtaAlive) {
  // An arrival that is under way may come after them, as it did on an H200.
  std::string body = std::string(kInit) + kSync + kArriveAtPeer;
  expectExitFault(body + "barrier.cluster.arrive.relaxed.aligned; "
                         "barrier.cluster.wait.aligned;\n");
}
