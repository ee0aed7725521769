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
