// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bulk copies and copies of threads.

#include "Kernels.h"

#include <gmock/gmock.h>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

TEST(BulkCopy, LoadsAndStores) {
  std::string text = kernel(
      ".param .u64 in, .param .u64 out", R"(
  .reg .pred %p; .reg .b64 %d<9>;
  ld.param.u64 %d0, [in]; ld.param.u64 %d1, [out];
  mbarrier.init.shared.b64 [bar], 1; fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%d0], 256, [bar];
L: mbarrier.try_wait.parity.shared.b64 %p, [bar], 0; @!%p bra L;
  cp.async.bulk.global.shared::cta.bulk_group [%d1], [s], 256;
  cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; ret;)",
      "sm_90a", ".shared .align 128 .b8 s[256];\n.shared .align 8 .b64 bar;\n");
  Device device;
  std::vector<uint8_t> in(256), out(256);
  for (size_t i = 0; i < 256; ++i)
    in[i] = uint8_t(i);
  uint64_t a = *device.allocate("in", 256), b = *device.allocate("out", 256);
  device.write(a, in.data(), 256);
  Report report =
      run(device, text, {KernelArgument::value(a), KernelArgument::value(b)});
  ASSERT_TRUE(report.ok()) << report.str();
  device.read(b, out.data(), 256);
  EXPECT_EQ(in, out);
}

TEST(BulkCopy, StoresTheBytesOfAMask) {
  auto storeMasked = [](const char *qualifiers, const char *policy,
                        size_t bytes, std::vector<uint8_t> &out) {
    std::string text = kernel(".param .u64 out, .param .u16 mask",
                              std::string(R"(
  .reg .pred %p; .reg .b16 %mask; .reg .b32 %r<4>; .reg .b64 %out, %policy;
  ld.param.u64 %out, [out]; ld.param.u16 %mask, [mask]; mov.u32 %r0, %tid.x;
  createpolicy.fractional.L2::evict_last.b64 %policy, 1.0;
  mov.u32 %r1, s; add.u32 %r1, %r1, %r0; add.u32 %r2, %r0, 1; st.shared.u8 [%r1], %r2;
  fence.proxy.async.shared::cta; bar.warp.sync -1;
  setp.ne.u32 %p, %r0, 0; @%p ret;
  cp.async.bulk.global.shared::cta.bulk_group)") +
                                  qualifiers + " [%out], [s], 32" + policy +
                                  ", %mask;\n  cp.async.bulk.commit_group; "
                                  "cp.async.bulk.wait_group 0; ret;",
                              "sm_100a", ".shared .align 16 .b8 s[32];\n");
    Device device;
    uint64_t at = *device.allocate("out", bytes);
    out.assign(bytes, 0xee);
    device.write(at, out.data(), bytes);
    LaunchConfig config;
    config.block = {32, 1, 1};
    Report report = run(
        device, text,
        {KernelArgument::value(at), KernelArgument::value(uint16_t(0x41f2))},
        config);
    device.read(at, out.data(), bytes);
    return report;
  };
  for (auto [qualifiers, policy] :
       {std::pair(".cp_mask", ""),
        std::pair(".L2::cache_hint.cp_mask", ", %policy")}) {
    std::vector<uint8_t> out;
    Report report = storeMasked(qualifiers, policy, 32, out);
    ASSERT_TRUE(report.ok()) << report.str();
    for (size_t i = 0; i < 32; ++i)
      EXPECT_EQ(out[i], 0x41f2 >> i % 16 & 1 ? i + 1 : 0xee) << i;
  }
  // Bit 15 is not set: the last byte may lie outside.
  std::vector<uint8_t> out;
  EXPECT_TRUE(storeMasked(".cp_mask", "", 31, out).ok());
  EXPECT_THAT(storeMasked(".cp_mask", "", 30, out).str(),
              HasSubstr("[out-of-bounds]"));
}

TEST(BulkCopy, BytesBeyondWhatThePhaseExpectsAreReported) {
  auto reportOf = [](const char *expected, const char *count, uint64_t seed) {
    std::string text =
        kernel(".param .u64 in",
               std::string(R"(
  .reg .pred %p; .reg .b64 %d<9>;
  ld.param.u64 %d0, [in];
  mbarrier.init.shared.b64 [bar], )") +
                   count + R"(; fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared.b64 _, [bar], )" +
                   expected + R"(;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%d0], 64, [bar];
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s+64], [%d0], 64, [bar];
L: mbarrier.try_wait.parity.shared.b64 %p, [bar], 0; @!%p bra L;
  nanosleep.u32 20; ld.shared.u32 %d1, [s+32];
M: mbarrier.try_wait.parity.shared.b64 %p, [bar], 1; @!%p bra M; ret;)",
               "sm_90a",
               ".shared .align 128 .b8 s[256];\n.shared .align 8 .b64 bar;\n");
    Device device;
    uint64_t in = *device.allocate("in", 256);
    Options options;
    options.scheduleSeed = seed;
    return run(device, text, {KernelArgument::value(in)}, {}, options).str();
  };
  for (uint64_t seed = 0; seed < 4; ++seed) {
    // Half of the bytes: the phase completes with the first copy, and the
    // second lands in the next.
    EXPECT_THAT(
        reportOf("64", "1", seed),
        HasSubstr("after the phase they were issued in (0) has completed"));
    EXPECT_THAT(reportOf("96", "1", seed),
                HasSubstr("has received 32 bytes more than its phase expects"));
  }
}

TEST(CopyAsync, GroupsAndArrivals) {
  std::string body = R"(
  .reg .pred %p<4>; .reg .b64 %d<9>; .reg .b32 %r<9>;
  ld.param.u64 %d0, [in]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 16; add.s64 %d0, %d0, %d2;
  shl.b32 %r2, %r1, 4; mov.u32 %r3, s; add.u32 %r2, %r2, %r3;
  cp.async.cg.shared.global [%r2], [%d0], 16;
  cp.async.commit_group;
  cp.async.ca.shared.global [%r2+512], [%d0], 4, 2;
  cp.async.commit_group;
  cp.async.wait_group 1;
  ld.shared.u32 %r4, [%r2];
  cp.async.wait_group 0;
  ld.shared.u32 %r5, [%r2+512];
  add.u32 %r4, %r4, %r5;
  ld.param.u64 %d1, [out]; mul.wide.u32 %d2, %r1, 4; add.s64 %d1, %d1, %d2; st.global.u32 [%d1], %r4; ret;)";
  auto runIt = [](const std::string &text, std::vector<uint32_t> &out) {
    Device device;
    std::vector<uint32_t> in(128);
    for (uint32_t i = 0; i < 128; ++i)
      in[i] = i << 16 | i;
    uint64_t a = *device.allocate("in", 512), b = *device.allocate("out", 128);
    device.write(a, in.data(), 512);
    LaunchConfig config;
    config.block = {32, 1, 1};
    Report report =
        run(device,
            kernel(".param .u64 in, .param .u64 out", text, "sm_90a",
                   ".shared .align 128 .b8 s[1024];\n"),
            {KernelArgument::value(a), KernelArgument::value(b)}, config);
    out.resize(32);
    device.read(b, out.data(), 128);
    return report;
  };
  std::vector<uint32_t> out;
  Report report = runIt(body, out);
  ASSERT_TRUE(report.ok()) << report.str();
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], (i * 4 << 16) + i * 4 + i * 4);
  report = runIt(replaced(body, "cp.async.wait_group 1;", ""), out);
  EXPECT_TRUE(has(report, ErrorKind::MemoryInFlight) ||
              has(report, ErrorKind::Race))
      << report.str();
}
