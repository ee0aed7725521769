// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// atom and red of vectors, of numbers of 16 bits and of 128 bits; st.bulk.

#include "Kernels.h"

#include <gmock/gmock.h>

#include <cstring>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

namespace {
uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}
} // namespace

TEST(FloatAtomic, VectorsReturnWhatWasThere) {
  // One thread; words 0 to 3 become 1 to 4, then twice that.
  auto out = compute(R"(
  mov.f32 %f0, 0f3F800000; mov.f32 %f1, 0f40000000;
  mov.f32 %f2, 0f40400000; mov.f32 %f3, 0f40800000;
  red.global.add.v4.f32 [%out], {%f0, %f1, %f2, %f3};
  atom.global.v4.f32.add {%f4, %f5, %f6, %f7}, [%out], {%f0, %f1, %f2, %f3};
  st.global.v4.f32 [%out+16], {%f4, %f5, %f6, %f7};
  mov.b32 %r0, 0x40003c00; mov.b32 %r1, 0x44004200;
  atom.relaxed.gpu.global.add.noftz.v2.f16x2 {%r2, %r3}, [%out+32], {%r0, %r1};
  atom.global.add.noftz.v2.f16x2 {%r2, %r3}, [%out+32], {%r0, %r1};
  st.global.v2.u32 [%out+40], {%r2, %r3};
)",
                     1, 12);
  for (uint32_t n = 0; n < 4; ++n) {
    EXPECT_EQ(out[n], bitsOf(2.f * float(n + 1))) << n;
    EXPECT_EQ(out[4 + n], bitsOf(float(n + 1))) << n;
  }
  EXPECT_EQ(out[8], 0x44004000u); // 2 and 4 in f16
  EXPECT_EQ(out[9], 0x48004600u); // 6 and 8
  EXPECT_EQ(out[10], 0x40003c00u);
  EXPECT_EQ(out[11], 0x44004200u);
}

TEST(FloatAtomic, OnlyGlobalMemoryFlushesSubnormalSums) {
  // Twice 2^-127, whose sum is normal; 2^-126 and -2^-127, whose sum is not.
  // NaN has one code. An H200 followed these rules in 576 words of 576.
  auto out = compute(R"(
  mov.b32 %f0, 0x00400000; mov.b32 %f1, 0x00800000; mov.b32 %f2, 0x80400000;
  mov.b32 %f3, 0xffc00001; mov.u32 %r0, s;
  st.shared.v4.f32 [%r0], {%f0, %f1, %f2, %f3};
  red.shared.add.f32 [%r0], %f0;
  red.shared.add.f32 [%r0+4], %f2;
  red.shared.add.f32 [%r0+12], %f0;
  ld.shared.v4.f32 {%f4, %f5, %f6, %f7}, [%r0];
  st.global.v4.f32 [%out], {%f4, %f5, %f6, %f7};
  st.global.v4.f32 [%out+16], {%f0, %f1, %f2, %f3};
  red.global.add.f32 [%out+16], %f0;
  red.add.f32 [%out+20], %f2;
  red.global.add.f32 [%out+24], %f2;
  red.global.add.f32 [%out+28], %f0;
  st.global.v4.f32 [%out+32], {%f0, %f1, %f2, %f3};
  red.global.add.v4.f32 [%out+32], {%f0, %f2, %f2, %f0};
)",
                     1, 12, ".shared .align 16 .b8 s[16];\n");
  EXPECT_THAT(out, testing::ElementsAre(
                       0x00800000, 0x00400000, 0x80400000, 0x7fffffff, //
                       0x00000000, 0x00800000, 0x80000000, 0x7fffffff, //
                       0x00000000, 0x00800000, 0x80000000, 0x7fffffff));
}

TEST(FloatAtomic, MinimaAndMaximaOfHalves) {
  // -1, 2, NaN and -0 meet 0.
  auto out = compute(R"(
  mov.b16 %h0, 0xbc00; mov.b16 %h1, 0x4000; mov.b16 %h2, 0x7e00; mov.b16 %h3, 0x8000;
  red.global.min.noftz.v4.f16 [%out], {%h0, %h1, %h2, %h3};
  red.global.max.noftz.v4.f16 [%out+8], {%h0, %h1, %h2, %h3};
  mov.b32 %r0, 0x4000bf80;
  atom.global.max.noftz.v2.bf16x2 {%r1, %r2}, [%out+16], {%r0, %r0};
  mov.b16 %h4, 0x3f80;
  atom.global.add.noftz.bf16 %h5, [%out+24], %h4;
  atom.global.add.noftz.bf16 %h5, [%out+24], %h4;
  cvt.u32.u16 %r3, %h5; st.global.u32 [%out+28], %r3;
)",
                     1, 8);
  EXPECT_EQ(out[0], 0x0000bc00u);
  EXPECT_EQ(out[1], 0x80000000u);
  EXPECT_EQ(out[2], 0x40000000u);
  EXPECT_EQ(out[3], 0x00000000u);
  EXPECT_EQ(out[4], 0x40000000u);
  EXPECT_EQ(out[6], 0x4000u);
  EXPECT_EQ(out[7], 0x3f80u);
}

TEST(FloatAtomic, SixteenBytesAtOnce) {
  auto out = compute(R"(
  .reg .b128 %q<4>;
  mov.b64 %d0, 0x1111111122222222; mov.b64 %d1, 0x3333333344444444;
  mov.b128 %q0, {%d0, %d1};
  atom.global.exch.b128 %q1, [%out], %q0;
  mov.b64 %d2, 5; mov.b128 %q2, {%d2, %d2};
  atom.relaxed.gpu.global.cas.b128 %q3, [%out], %q1, %q2;
  atom.global.cas.b128 %q3, [%out], %q0, %q2;
  mov.b128 {%d3, %d4}, %q3; st.global.v2.u64 [%out+16], {%d3, %d4};
)",
                     1, 8);
  EXPECT_EQ(out, (std::vector<uint32_t>{5, 0, 5, 0, 0x22222222, 0x11111111,
                                        0x44444444, 0x33333333}));
}

TEST(FloatAtomic, RefusesWhatTheIsaLacks) {
  for (auto [line, message] :
       {std::pair("red.global.max.v2.f32 [%out], {%f0, %f0};",
                  "takes a vector"),
        std::pair("red.global.add.v8.f32 [%out], {%f0, %f0, %f0, %f0, %f0, "
                  "%f0, %f0, %f0};",
                  "at most 16"),
        std::pair("red.shared.add.v2.f32 [%r0], {%f0, %f0};",
                  "only in global memory")}) {
    Report report;
    compute(line, 1, 4, "", &report);
    EXPECT_THAT(report.str(), HasSubstr(message)) << line;
  }
}

TEST(FloatAtomic, ChecksWhatItTakes) {
  Report report;
  compute("red.global.add.v2.f32 [%out], {%f0, %f1};", 1, 4, "", &report);
  EXPECT_TRUE(has(report, ErrorKind::UninitialisedRegister)) << report.str();
  compute("mov.f32 %f0, 0f3F800000;\n"
          "red.global.add.v2.f32 [%out+4], {%f0, %f0};",
          1, 4, "", &report);
  EXPECT_TRUE(has(report, ErrorKind::Misaligned)) << report.str();
}

TEST(BulkFill, ZeroesSharedMemory) {
  const std::string body = R"(
  mov.u32 %r0, s;
  shl.b32 %r1, %t, 2; add.u32 %r1, %r1, %r0; st.shared.u32 [%r1], 7;
  bar.sync 0;
  setp.ne.u32 %p0, %t, 0; @%p0 bra MEET;
  st.bulk.weak.shared::cta [%r0+8], 48, 0;
MEET: bar.sync 0;
  ld.shared.u32 %r2, [%r1]; st.global.u32 [%o], %r2;
)";
  const char *shared = ".shared .align 16 .b8 s[128];\n";
  auto out = compute(body, 32, 32, shared);
  for (uint32_t n = 0; n < 32; ++n)
    EXPECT_EQ(out[n], n >= 2 && n < 14 ? 0u : 7u) << n;
  Report report;
  compute(replaced(body, "+8], 48", "+8], 44"), 32, 32, shared, &report);
  EXPECT_TRUE(has(report, ErrorKind::Misaligned)) << report.str();
  compute(replaced(body, "+8], 48", "+8], 128"), 32, 32, shared, &report);
  EXPECT_TRUE(has(report, ErrorKind::OutOfBounds)) << report.str();
  // The other warp's words, with no barrier between.
  compute(replaced(replaced(body, "MEET: bar.sync 0", "MEET: mov.u32 %r3, 0"),
                   "+8], 48", "+136], 48"),
          64, 64, ".shared .align 16 .b8 s[256];\n", &report);
  EXPECT_TRUE(has(report, ErrorKind::Race)) << report.str();
}
