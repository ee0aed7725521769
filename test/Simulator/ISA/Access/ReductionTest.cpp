// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions into global memory, as kernels that split K use them: vectors of
// red, and cp.reduce.async.bulk; those over devices, of which there is one; and
// policies of the cache, which are hints.

#include "Kernels.h"

#include <gmock/gmock.h>

#include <cstring>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

TEST(Reduction, RedOfVectors) {
  // Two threads add to the same words, which are 0.
  auto out = compute(R"(
  cvt.rn.f32.u32 %f0, %t;
  add.f32 %f0, %f0, 0f3F800000;
  add.f32 %f1, %f0, %f0;
  red.relaxed.gpu.global.add.v2.f32 [%out], {%f0, %f1};
  red.global.add.v4.f32 [%out+16], {%f0, %f1, %f0, %f1};
  cvt.rn.bf16x2.f32 %r0, %f1, %f0;
  red.global.add.noftz.v2.bf16x2 [%out+32], {%r0, %r0};
  cvt.rn.bf16.f32 %h0, %f0;
  red.global.add.noftz.bf16 [%out+40], %h0;
  cvt.rn.f16.f32 %h1, %f0;
  red.global.add.noftz.v2.f16 [%out+44], {%h1, %h1};
)",
                     2, 12);
  auto real = [&](size_t at) {
    float value;
    std::memcpy(&value, &out[at], 4);
    return value;
  };
  for (size_t at : {0u, 4u, 6u})
    EXPECT_EQ(real(at), 3.f) << at;
  for (size_t at : {1u, 5u, 7u})
    EXPECT_EQ(real(at), 6.f) << at;
  EXPECT_EQ(out[8], 0x40c04040u); // 6 and 3 in bf16
  EXPECT_EQ(out[9], 0x40c04040u);
  EXPECT_EQ(out[10], 0x4040u);
  EXPECT_EQ(out[11], 0x42004200u); // 3 and 3 in f16
}

TEST(Reduction, OverOneDevice) {
  // Two threads add to what the first has stored; the first loads the sums.
  auto out = compute(R"(
  setp.ne.u32 %p0, %t, 0; @%p0 bra ADD;
  mov.f32 %f0, 0f3FC00000; mov.b32 %r0, 0x3f804000; mov.u32 %r1, 5;
  multimem.st.relaxed.gpu.global.v4.f32 [%out], {%f0, %f0, %f0, %f0};
  multimem.st.weak.global.bf16x2 [%out+16], %r0;
  multimem.st.release.sys.global.u32 [%out+20], %r1;
ADD:
  bar.warp.sync -1;
  mov.f32 %f1, 0f40000000; mov.b32 %r2, 0x3f803f80; mov.u32 %r3, 9;
  multimem.red.relaxed.gpu.global.add.v4.f32 [%out], {%f1, %f1, %f1, %f1};
  multimem.red.release.sys.global.add.bf16x2 [%out+16], %r2;
  multimem.red.global.max.u32 [%out+20], %r3;
  bar.warp.sync -1;
  @%p0 bra END;
  multimem.ld_reduce.relaxed.gpu.global.add.v4.f32 {%f0, %f1, %f2, %f3}, [%out];
  multimem.ld_reduce.weak.global.add.acc::f32.bf16x2 %r0, [%out+16];
  multimem.ld_reduce.acquire.sys.global.min.u32 %r1, [%out+20];
  st.global.v4.f32 [%out+32], {%f0, %f1, %f2, %f3};
  st.global.u32 [%out+48], %r0; st.global.u32 [%out+52], %r1;
END:
)",
                     2, 14);
  for (size_t at : {0u, 3u, 8u, 11u})
    EXPECT_EQ(out[at], 0x40b00000u) << at; // 1.5 + 2 + 2
  EXPECT_EQ(out[12], 0x40404080u);         // 3 and 4 in bf16
  EXPECT_EQ(out[13], 9u);
  EXPECT_EQ(out[13], out[5]);
}

TEST(Reduction, OverDevicesHasItsForms) {
  for (auto [text, message] :
       {std::pair("multimem.ld_reduce.global.u32 %r0, [%out]", "needs an "
                                                               "operation"),
        std::pair("multimem.st.shared.u32 [%r0], %r0", "global memory"),
        std::pair("multimem.cp.async.bulk.global.shared::cta.bulk_group "
                  "[%out], [%r0], 16",
                  "as a bulk copy"),
        std::pair("multimem.ld.global.u32 %r0, [%out]", "needs .ld_reduce")}) {
    Report report;
    compute(std::string(text) + ";", 1, 1, "", &report);
    ASSERT_EQ(report.errors.size(), 1u) << text;
    EXPECT_THAT(report.errors[0].message, HasSubstr(message));
  }
}

TEST(Reduction, BulkAddsFromSharedMemory) {
  const std::string body = R"(
  mov.f32 %f0, 0f3FC00000;
  mul.lo.u32 %r0, %t, 4;
  mov.u32 %r1, s;
  add.u32 %r0, %r0, %r1;
  st.shared.f32 [%r0], %f0;
  fence.proxy.async.shared::cta;
  bar.warp.sync -1;
  setp.eq.u32 %p0, %t, 0;
  @!%p0 bra END;
  cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%out], [%r1], 128;
  cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%out], [%r1], 128;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
END:
)";
  const char *shared = ".shared .align 128 .b8 s[128];\n";
  auto out = compute(body, 32, 32, shared);
  for (uint32_t word : out)
    EXPECT_EQ(word, 0x40400000u); // 3
  Report report;
  compute(replaced(body, "  fence.proxy.async.shared::cta;\n", ""), 32, 32,
          shared, &report);
  EXPECT_TRUE(has(report, ErrorKind::MissingProxyFence));
  // Numbers of 16 bits: s is 32 times 1.5, as pairs of bf16 (0x3fc0, 0).
  out = compute(replaced(replaced(body, "bulk_group.add.f32",
                                  "bulk_group.add.noftz.bf16"),
                         "bulk_group.add.f32", "bulk_group.add.noftz.bf16"),
                32, 32, shared);
  for (uint32_t word : out)
    EXPECT_EQ(word, 0x40400000u);
}

// As an H200; red.global.add.f32 flushes.
TEST(Reduction, BulkAddsKeepSubnormals) {
  auto sum = [](uint32_t a, uint32_t b) {
    return compute("mov.u32 %r0, " + std::to_string(a) + "; mov.u32 %r1, " +
                       std::to_string(b) + R"(;
  st.global.u32 [%out], %r0; st.shared.u32 [s], %r1;
  mov.u32 %r0, 0; st.shared.v2.u32 [s+8], {%r0, %r0};
  st.shared.u32 [s+4], %r0; st.global.u32 [%out+4], %r0;
  st.global.v2.u32 [%out+8], {%r0, %r0}; fence.proxy.async;
  cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%out], [s], 16;
  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;)",
                   1, 4, ".shared .align 16 .b8 s[16];\n")[0];
  };
  EXPECT_EQ(sum(0x000116c2, 0x000116c2), 0x00022d84u);
  EXPECT_EQ(sum(0x00a355e6, 0x8098724e), 0x000ae398u);
  EXPECT_EQ(sum(0x7fc01234, 0x3f800000), 0x7fffffffu);
  EXPECT_EQ(sum(0x40400000, 0xffc05678), 0x7fffffffu);
  EXPECT_EQ(sum(0x7f800000, 0xff800000), 0x7fffffffu);
}

TEST(Reduction, PoliciesAreHints) {
  auto out = compute(R"(
  createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %d1, 0f3F800000;
  createpolicy.range.L2::evict_last.L2::evict_unchanged.b64 %d2, [%out], 128, 128;
  createpolicy.cvt.L2.b64 %d3, 0x10F0000000000000;
  st.global.L2::cache_hint.b32 [%o], 5, %d1;
)",
                     32, 32);
  EXPECT_EQ(out[31], 5u);
}
