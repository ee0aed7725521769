// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Clusters: barriers, shared memory of other CTAs, remote arrivals, multicast.

#include "Kernels.h"

#include <gmock/gmock.h>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

namespace {

const char *const kShared =
    ".shared .align 128 .b8 s[1024];\n.shared .align 8 .b64 bar;\n";
const char *const kPrologue = R"(
  .reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %d<9>;
  mov.u32 %r0, %cluster_ctarank; xor.b32 %r1, %r0, 1; mov.u32 %r2, s; mov.u32 %r3, bar;
  ld.param.u64 %d0, [a]; mul.wide.u32 %d1, %r0, 4; add.s64 %d0, %d0, %d1;
)";
const char *const kSync = "barrier.cluster.arrive.release.aligned; "
                          "barrier.cluster.wait.acquire.aligned;\n";

Report runPair(const std::string &body, std::vector<uint32_t> &out,
               uint64_t seed = 0) {
  Device device;
  std::vector<uint32_t> in(64);
  for (uint32_t i = 0; i < 64; ++i)
    in[i] = 1000 + i;
  uint64_t a = *device.allocate("a", 256), b = *device.allocate("b", 256);
  device.write(b, in.data(), 256);
  LaunchConfig config;
  config.grid = config.cluster = {2, 1, 1};
  Options options;
  options.scheduleSeed = seed;
  Report report = run(
      device,
      kernel(".param .u64 a, .param .u64 b",
             std::string(kPrologue) + body + "ret;", "sm_90a", kShared),
      {KernelArgument::value(a), KernelArgument::value(b)}, config, options);
  out.resize(2);
  device.read(a, out.data(), 8);
  return report;
}

} // namespace

TEST(Cluster, SharedMemoryOfThePeer) {
  std::string body = std::string(R"(
  mapa.shared::cluster.u32 %r4, %r2, %r1;
  add.u32 %r5, %r0, 10; st.shared::cluster.u32 [%r4], %r5;
)") + kSync + "ld.shared.u32 %r6, [%r2]; st.global.u32 [%d0], %r6;\n" +
                     kSync;
  std::vector<uint32_t> out;
  Report report = runPair(body, out);
  ASSERT_TRUE(report.ok()) << report.str();
  EXPECT_EQ(out, (std::vector<uint32_t>{11, 10}));
  report = runPair(replaced(body, kSync, ""), out);
  EXPECT_TRUE(has(report, ErrorKind::Race) ||
              has(report, ErrorKind::UninitialisedMemory))
      << report.str();
}

TEST(Cluster, RemoteArrival) {
  std::string body = std::string(R"(
  mbarrier.init.shared::cta.b64 [%r3], 1; fence.mbarrier_init.release.cluster;
)") + kSync + R"(
  mapa.shared::cluster.u32 %r4, %r3, %r1;
  mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4];
L: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p0, [%r3], 0; @!%p0 bra L;
  st.global.u32 [%d0], 7;
)" + kSync;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    std::vector<uint32_t> out;
    Report report = runPair(body, out, seed);
    ASSERT_TRUE(report.ok()) << report.str();
    EXPECT_EQ(out, (std::vector<uint32_t>{7, 7}));
  }
}

TEST(Cluster, MulticastReachesBoth) {
  std::string body = std::string(R"(
  mbarrier.init.shared::cta.b64 [%r3], 1; fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 64;
)") + kSync + R"(
  setp.ne.u32 %p1, %r0, 0; @%p1 bra L;
  ld.param.u64 %d2, [b]; mov.b16 %h, 3;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r2], [%d2], 64, [%r3], %h;
L: mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r3], 0; @!%p0 bra L;
  ld.shared.u32 %r6, [%r2+8]; st.global.u32 [%d0], %r6;
)" + kSync;
  std::vector<uint32_t> out;
  Report report = runPair(".reg .b16 %h;" + body, out);
  ASSERT_TRUE(report.ok()) << report.str();
  EXPECT_EQ(out, (std::vector<uint32_t>{1002, 1002}));
}

namespace {

const char *const kInit = "mbarrier.init.shared::cta.b64 [%r3], 1; "
                          "fence.mbarrier_init.release.cluster;\n";
const char *const kArriveAtPeer =
    "mapa.shared::cluster.u32 %r4, %r3, %r1;\n"
    "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4];\n";
const char *const kWait =
    "L: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p0, [%r3], "
    "0; @!%p0 bra L;\n";

/// The fault is found under every schedule, and named.
void expectExitFault(const std::string &body) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    std::vector<uint32_t> out;
    Report report = runPair(body, out, seed);
    EXPECT_TRUE(has(report, ErrorKind::ExitedCta) ||
                has(report, ErrorKind::WorkInFlight))
        << "seed " << seed << "\n"
        << report.str();
    EXPECT_THAT(report.str(),
                HasSubstr("end the kernel with a cluster barrier"));
  }
}

} // namespace

TEST(Cluster, AnArrivalThatNobodyWaitsForMayMeetAnExitedCta) {
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

TEST(Cluster, TheReportSaysWhoArrived) {
  // Two rounds: the peer arrives, and a copy of 64 bytes that this CTA expects.
  std::string body =
      ".reg .b16 %h;\n" + replaced(kInit, ", 1;", ", 2;") + kSync;
  for (int round = 0; round < 2; ++round) {
    std::string wait = replaced(kWait, "0; @", std::to_string(round) + "; @");
    std::string label = "L" + std::to_string(round);
    wait = replaced(replaced(wait, "L:", label + ":"), "bra L", "bra " + label);
    body += std::string(kArriveAtPeer) + R"(
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 64;
  ld.param.u64 %d2, [b];
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%d2], 64, [%r3];
)" + wait + kSync;
  }
  std::vector<uint32_t> out;
  Report report = runPair(body + kArriveAtPeer + kSync, out);
  ASSERT_TRUE(report.ok()) << report.str();
  ASSERT_EQ(report.barriers.size(), 2u);
  for (uint32_t rank = 0; rank < 2; ++rank) {
    const BarrierUse &use = report.barriers[rank];
    EXPECT_EQ(use.rank, rank);
    EXPECT_EQ(use.symbol, "bar");
    EXPECT_EQ(use.count, 2u);
    EXPECT_EQ(use.inits, 1u);
    EXPECT_EQ(use.phases, 2u);
    EXPECT_EQ(use.unfinished, 1u);
    ASSERT_EQ(use.sources.size(), 4u);
    using Kind = BarrierSource::Kind;
    const struct {
      Kind kind;
      uint32_t rank;
      uint64_t each;
    } expected[] = {{Kind::Arrive, 0, 1},
                    {Kind::Arrive, 1, 1},
                    {Kind::Expect, rank, 64},
                    {Kind::Bytes, rank, 64}};
    for (size_t i = 0; i < 4; ++i) {
      const BarrierSource &source = use.sources[i];
      EXPECT_EQ(source.kind, expected[i].kind);
      EXPECT_EQ(source.rank, expected[i].rank);
      EXPECT_EQ(source.phases, 2u);
      EXPECT_EQ(source.least, expected[i].each);
      EXPECT_EQ(source.most, expected[i].each);
      EXPECT_EQ(source.total, expected[i].each * 2);
    }
  }
}

TEST(Cluster, AccessesToThePeerMayMeetAnExitedCta) {
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

TEST(Cluster, AMulticastThatAPeerDoesNotWaitFor) {
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

TEST(Cluster, AMaskedAddressIsTheEvenCta) {
  // Bit 24 tells the CTAs of a pair apart; no mapa is needed.
  std::string body = std::string(kInit) + kSync + R"(
  setp.eq.u32 %p1, %r0, 0; @%p1 bra L;
  and.b32 %r4, %r3, 0xfeffffff;
  mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4];
  bra END;
)" + kWait + "END:" + kSync;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    std::vector<uint32_t> out;
    Report report = runPair(body, out, seed);
    EXPECT_TRUE(report.ok()) << report.str();
  }
}

TEST(Cluster, ARelaxedArriveNeedsAFence) {
  std::string body = R"(
  mapa.shared::cluster.u32 %r4, %r2, %r1;
  st.shared::cluster.u32 [%r4], %r0;
  fence.acq_rel.cluster;
  barrier.cluster.arrive.relaxed; barrier.cluster.wait.acquire;
  ld.shared.u32 %r6, [%r2]; st.global.u32 [%d0], %r6;
)";
  std::vector<uint32_t> out;
  Report report = runPair(body, out);
  EXPECT_TRUE(report.ok()) << report.str();
  EXPECT_EQ(out, (std::vector<uint32_t>{1, 0}));
  report = runPair(replaced(body, "fence.acq_rel.cluster;", ""), out);
  EXPECT_TRUE(has(report, ErrorKind::Race)) << report.str();
}

namespace {

/// `clusters` clusters of `size` CTAs; each CTA writes its word of `out`.
Report runGrid(const std::string &body, uint32_t clusters, uint32_t size,
               std::vector<uint32_t> &out, Options options) {
  Device device;
  out.resize(clusters * size);
  uint64_t a = *device.allocate("a", out.size() * 4);
  LaunchConfig config;
  config.grid = {clusters * size, 1, 1};
  config.cluster = {size, 1, 1};
  config.block = {64, 1, 1};
  options.stepLimit = 1 << 20;
  Report report = run(device,
                      kernel(".param .u64 a", R"(
  .reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %d<9>;
  mov.u32 %r0, %cluster_ctarank; mov.u32 %r1, %cluster_nctarank; mov.u32 %r3, bar;
  mov.u32 %r9, %ctaid.x; ld.param.u64 %d1, [a]; mul.wide.u32 %d0, %r9, 4; add.s64 %d0, %d0, %d1;
  mov.u32 %r8, %tid.x; setp.ne.u32 %p8, %r8, 0;
)" + body + "ret;",
                             "sm_100a", kShared),
                      {KernelArgument::value(a)}, config, options);
  device.read(a, out.data(), out.size() * 4);
  return report;
}

} // namespace

TEST(Cluster, SixteenCtasInARing) {
  // A token goes round: each waits for its left neighbour's arrival.
  std::string body = std::string(R"(
  @!%p8 mbarrier.init.shared::cta.b64 [%r3], 1;
  fence.mbarrier_init.release.cluster;
)") + kSync + R"(
  @%p8 bra END;
  setp.eq.u32 %p1, %r0, 0; @%p1 bra SEND;
)" + kWait + R"(
SEND: add.u32 %r4, %r0, 1; rem.u32 %r4, %r4, %r1;
  mapa.shared::cluster.u32 %r5, %r3, %r4;
  mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r5];
  st.global.u32 [%d0], %r4;
END: bar.warp.sync -1;
)" + kSync;
  for (uint64_t seed = 0; seed < 6; ++seed) {
    Options options;
    options.scheduleSeed = seed;
    std::vector<uint32_t> out;
    Report report = runGrid(body, 3, 16, out, options);
    ASSERT_TRUE(report.ok()) << report.str();
    for (uint32_t i = 0; i < 48; ++i)
      EXPECT_EQ(out[i], (i + 1) % 16);
  }
}

TEST(Cluster, ClustersThatWaitForEachOther) {
  // Each raises its flag and waits for the other's.
  std::string body = R"(
  @%p8 bra END;
  st.release.gpu.global.u32 [%d0], 1;
  xor.b32 %r4, %r9, 1; mul.wide.u32 %d2, %r4, 4; add.s64 %d2, %d2, %d1;
L: ld.acquire.gpu.global.u32 %r5, [%d2]; setp.eq.u32 %p0, %r5, 0; @%p0 bra L;
END:
)";
  Options options;
  std::vector<uint32_t> out;
  options.residentClusters = 2;
  Report report = runGrid(body, 2, 1, out, options);
  EXPECT_TRUE(report.ok()) << report.str();
  options.residentClusters = 1;
  EXPECT_TRUE(has(runGrid(body, 2, 1, out, options), ErrorKind::LimitExceeded));
}

TEST(Cluster, Misuse) {
  std::vector<uint32_t> out;
  EXPECT_THAT(runPair("barrier.cluster.wait.aligned;", out).str(),
              HasSubstr("without barrier.cluster.arrive"));
  EXPECT_THAT(runPair("mapa.shared::cluster.u32 %r4, %r2, 2;", out).str(),
              HasSubstr("CTA rank 2 of a cluster of 2"));
  EXPECT_THAT(
      runPair("mapa.shared::cluster.u32 %r4, %r2, %r1; st.shared.u32 [%r4], 1;",
              out)
          .str(),
      HasSubstr("use .shared::cluster"));
}
