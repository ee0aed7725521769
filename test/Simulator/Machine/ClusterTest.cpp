// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Clusters: barriers, shared memory of other CTAs, remote arrivals, multicast.

#include "Machine/ClusterKernels.h"

#include <gmock/gmock.h>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

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

TEST(Cluster, LanesThatPartedPassTheBarrierOneByOne) {
  // Lane 0 is behind the others when it meets the barrier, or in front.
  const std::string body = R"(
  mapa.shared::cluster.u32 %r4, %r2, %r1;
  mov.u32 %r5, %tid.x; setp.ne.u32 %p1, %r5, 0; @%p1 bra MEET;
  st.shared::cluster.u32 [%r4], %r0;
MEET: barrier.cluster.arrive; barrier.cluster.wait;
  ld.shared.u32 %r6, [%r2];
  barrier.cluster.arrive; barrier.cluster.wait;
  @%p1 bra END;
  st.global.u32 [%d0], %r6;
END:
)";
  for (uint64_t seed = 0; seed < 8; ++seed) {
    std::vector<uint32_t> out;
    Report report = runPair(body, out, seed);
    EXPECT_TRUE(report.ok()) << report.str();
    EXPECT_EQ(out, (std::vector<uint32_t>{1, 0}));
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
  EXPECT_TRUE(has(runGrid(body, 2, 1, out, options), ErrorKind::Deadlock));
}

TEST(Cluster, ARelaxedWaitOrdersNoMemory) {
  std::string body = std::string(kInit) + kSync + R"(
  mapa.shared::cluster.u32 %r5, %r2, %r1;
  st.shared::cluster.u32 [%r5], %r0;
)" + kArriveAtPeer + R"(
L: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p0, [%r3], 0; @!%p0 bra L;
  ld.shared.u32 %r6, [%r2]; st.global.u32 [%d0], %r6;
)" + kSync;
  std::vector<uint32_t> out;
  Report report = runPair(body, out);
  EXPECT_TRUE(report.ok()) << report.str();
  for (auto [from, to] : {std::pair("parity.acquire", "parity.relaxed"),
                          std::pair("arrive.release.cluster.shared::cluster",
                                    "arrive.relaxed.cluster.shared::cluster")})
    EXPECT_TRUE(has(runPair(replaced(body, from, to), out), ErrorKind::Race));
}

TEST(Cluster, AsynchronousStoresToThePeer) {
  std::string body =
      std::string(kInit) +
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 16;\n" + kSync + R"(
  mapa.shared::cluster.u32 %r4, %r2, %r1; mapa.shared::cluster.u32 %r5, %r3, %r1;
  add.u32 %r6, %r0, 70;
  st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r4+32], {1, 2, %r6, 4}, [%r5];
)" + kWait +
      "ld.shared.u32 %r7, [%r2+40]; st.global.u32 [%d0], %r7;\n" + kSync;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    std::vector<uint32_t> out;
    Report report = runPair(body, out, seed);
    ASSERT_TRUE(report.ok()) << report.str();
    EXPECT_EQ(out, (std::vector<uint32_t>{71, 70}));
  }
  std::vector<uint32_t> out;
  EXPECT_TRUE(has(runPair(replaced(body, "[%r5];\n", "[%r3];\n"), out),
                  ErrorKind::BarrierMisuse));
  EXPECT_FALSE(runPair(replaced(body, kWait, ""), out).ok());
}

TEST(Cluster, BulkCopiesToThePeer) {
  std::string body = std::string(kInit) + R"(
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 16;
  add.u32 %r6, %r0, 50; st.shared.v4.u32 [%r2], {%r6, %r6, %r6, %r6};
  fence.proxy.async.shared::cta;
)" + kSync + R"(
  mapa.shared::cluster.u32 %r4, %r2, %r1; mapa.shared::cluster.u32 %r5, %r3, %r1;
  cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r4+64], [%r2], 16, [%r5];
)" + kWait + "ld.shared.u32 %r7, [%r2+64]; st.global.u32 [%d0], %r7;\n" +
                     kSync;
  std::vector<uint32_t> out;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    Report report = runPair(body, out, seed);
    ASSERT_TRUE(report.ok()) << report.str();
    EXPECT_EQ(out, (std::vector<uint32_t>{51, 50}));
  }
  Report report =
      runPair(replaced(body, "fence.proxy.async.shared::cta;", ""), out);
  EXPECT_TRUE(has(report, ErrorKind::MissingProxyFence)) << report.str();
}

TEST(Cluster, Misuse) {
  std::vector<uint32_t> out;
  EXPECT_THAT(runPair("barrier.cluster.wait.aligned;", out).str(),
              HasSubstr("has no barrier.cluster.arrive"));
  EXPECT_THAT(runPair("mapa.shared::cluster.u32 %r4, %r2, 2;", out).str(),
              HasSubstr("CTA rank 2, but the cluster has 2 CTAs"));
  EXPECT_THAT(
      runPair("mapa.shared::cluster.u32 %r4, %r2, %r1; st.shared.u32 [%r4], 1;",
              out)
          .str(),
      HasSubstr("use .shared::cluster"));
  std::string start =
      std::string(kInit) + kSync + "mapa.shared::cluster.u32 %r4, %r3, %r1;\n";
  EXPECT_THAT(
      runPair(start + "mbarrier.arrive.shared::cta.b64 _, [%r4];" + kSync, out)
          .str(),
      HasSubstr("use .shared::cluster, with the sink"));
  EXPECT_THAT(
      runPair(start +
                  "mbarrier.test_wait.parity.shared::cta.b64 %p0, [%r4], 0;" +
                  kSync,
              out)
          .str(),
      HasSubstr("only threads of that CTA may wait"));
  EXPECT_THAT(
      runPair(start +
                  "ld.param.u64 %d2, [b]; "
                  "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
                  "bytes [%r2], [%d2], 64, [%r4];" +
                  kSync,
              out)
          .str(),
      HasSubstr("the mbarrier must be in the CTA that receives the bytes"));
}
