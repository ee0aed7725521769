// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lanes of a warp: divergence, reconvergence, and instructions that lanes
// execute together.

#include "Kernels.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

TEST(Warp, DivergesAndMeetsAgain) {
  auto out = compute(R"(
  and.b32 %r1, %t, 1; setp.eq.u32 %p0, %r1, 0;
  @%p0 bra EVEN;
  mul.lo.u32 %r0, %t, 3;
  bra JOIN;
EVEN: mul.lo.u32 %r0, %t, 5;
JOIN: shfl.sync.bfly.b32 %r2, %r0, 1, 0x1f, -1;
  st.global.b32 [%o], %r2;)",
                     32, 32);
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], (i ^ 1) * (i % 2 ? 5 : 3));
}

TEST(Warp, LoopsAsOftenAsEachLaneNeeds) {
  auto out = compute(R"(
  mov.b32 %r0, 0; mov.b32 %r1, 0;
LOOP: setp.gt.u32 %p0, %r1, %t;
  @%p0 bra DONE;
  add.u32 %r0, %r0, %r1; add.u32 %r1, %r1, 1;
  bra.uni LOOP;
DONE: st.global.b32 [%o], %r0;)",
                     48, 48);
  for (uint32_t i = 0; i < 48; ++i)
    EXPECT_EQ(out[i], i * (i + 1) / 2);
}

TEST(Warp, LanesMayWaitForEachOther) {
  // Lane 0 spins until lane 31 has stored: lanes progress independently.
  auto out = compute(R"(
  setp.ne.u32 %p0, %t, 0; setp.ne.u32 %p1, %t, 31;
  @%p0 bra OTHERS;
SPIN: ld.volatile.global.u32 %r0, [%out+124];
  setp.eq.u32 %p2, %r0, 0;
  @%p2 bra SPIN;
  st.global.u32 [%out], %r0;
  bra END;
OTHERS: @%p1 bra END;
  st.volatile.global.u32 [%out+124], 77;
END:)",
                     32, 32);
  EXPECT_EQ(out[0], 77u);
}

TEST(Warp, BranchTable) {
  auto out = compute(R"(
  and.b32 %r1, %t, 3;
  T: .branchtargets A, B, C, A;
  brx.idx %r1, T;
A: mov.b32 %r0, 1; bra END;
B: mov.b32 %r0, 2; bra END;
C: mov.b32 %r0, 3;
END: st.global.b32 [%o], %r0;)",
                     32, 32);
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], (std::array<uint32_t, 4>{1, 2, 3, 1}[i % 4]));
}

TEST(Warp, LanesMayNameDifferentMembers) {
  // Tiles of four lanes, and the even and the odd lanes.
  auto out = compute(R"(
  and.b32 %r1, %t, 28; shl.b32 %r2, 15, %r1;
  shfl.sync.bfly.b32 %r3, %t, 3, 0x1c1f, %r2;
  and.b32 %r4, %t, 1; setp.eq.u32 %p0, %r4, 0;
  selp.b32 %r5, 0x55555555, 0xaaaaaaaa, %p0;
  redux.sync.add.s32 %r6, %t, %r5;
  setp.gt.u32 %p1, %t, 20; vote.sync.ballot.b32 %r7, %p1, %r2;
  setp.lt.u32 %p2, %t, 16; @%p2 bra LOW;
  redux.sync.max.u32 %r8, %t, 0xffff0000; bra JOIN;
LOW: redux.sync.max.u32 %r8, %t, %r2;
JOIN: mul.wide.u32 %d0, %t, 16; add.s64 %d0, %d0, %out;
  st.global.v4.u32 [%d0], {%r3, %r6, %r7, %r8};)",
                     32, 128);
  for (uint32_t t = 0; t < 32; ++t) {
    EXPECT_EQ(out[t * 4], t ^ 3);
    EXPECT_EQ(out[t * 4 + 1], t % 2 ? 256u : 240u);
    EXPECT_EQ(out[t * 4 + 2], t < 20   ? 0u
                              : t < 24 ? 0xe00000u
                                       : 15u << t / 4 * 4);
    EXPECT_EQ(out[t * 4 + 3], t < 16 ? t | 3 : 31u);
  }
}

TEST(Warp, MembersThatComeLaterAreWaitedFor) {
  // Lane 0 comes last; the tiles that lack nobody go on.
  auto out = compute(R"(
  and.b32 %r1, %t, 16; shl.b32 %r2, 0xffff, %r1;
  setp.eq.u32 %p0, %t, 0; @%p0 bra LATE;
  mov.b32 %r3, %t; bra MEET;
LATE: mov.b32 %r3, 1000;
MEET: redux.sync.add.u32 %r4, %r3, %r2;
  st.global.u32 [%o], %r4;)",
                     32, 32);
  for (uint32_t t = 0; t < 32; ++t)
    EXPECT_EQ(out[t], t < 16 ? 1120u : 376u);
}

TEST(Warp, LanesThatComeToABarrierOneByOneHandOnWhatTheyDidTogether) {
  // Each lane arrives by itself behind a load of them all; the other warp then
  // overwrites what was loaded.
  for (uint64_t seed = 0; seed < 16; ++seed) {
    Options options;
    options.scheduleSeed = seed;
    Report report;
    auto out =
        compute(R"(
  mov.u32 %r1, s; shl.b32 %r2, %t, 2; add.u32 %r3, %r1, %r2;
  st.shared.u32 [%r3], %t; bar.sync 0;
  ld.shared.u32 %r4, [%r3];
  and.b32 %r5, %t, 31; mov.b32 %r6, 0;
NEXT: setp.eq.u32 %p0, %r5, %r6; @%p0 bra MEET;
  add.u32 %r6, %r6, 1; bra NEXT;
MEET: barrier.sync 0;
  xor.b32 %r2, %r2, 128; add.u32 %r3, %r1, %r2;
  st.shared.u32 [%r3], 7;
  st.global.u32 [%o], %r4;)",
                64, 64, ".shared .align 16 .b8 s[256];\n", &report, options);
    EXPECT_TRUE(report.ok()) << "seed " << seed << "\n" << report.str();
    EXPECT_EQ(out[40], 40u);
  }
}

TEST(Warp, VoteMatchReduxElect) {
  auto out = compute(R"(
  setp.lt.u32 %p0, %t, 5;
  vote.sync.ballot.b32 %r0, %p0, -1;
  vote.sync.any.pred %p1, %p0, -1; selp.b32 %r1, 100, 0, %p1;
  redux.sync.add.s32 %r2, %t, -1;
  and.b32 %r4, %t, 1;
  match.any.sync.b32 %r3, %r4, -1;
  add.u32 %r0, %r0, %r1; add.u32 %r0, %r0, %r2; 
  st.global.b32 [%o], %r0;
  st.global.b32 [%o+128], %r3;)",
                     32, 64, "");
  EXPECT_EQ(out[0], 31u + 100 + 496);
  EXPECT_EQ(out[33], 0xaaaaaaaau);
}

TEST(Warp, ElectChoosesOneLane) {
  Report report;
  auto out = compute(R"(
  mov.b32 %r0, 0;
  elect.sync %r5|%p2, -1;
  @%p2 mov.b32 %r0, 9;
  st.global.b32 [%o], %r0;)",
                     64, 64, "", &report);
  EXPECT_TRUE(report.ok()) << report.str();
  for (uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(out[i], i % 32 == 0 ? 9u : 0u);
}

TEST(Warp, MemberMaskMustNameTheLane) {
  Report report;
  compute("elect.sync %r5|%p2, 0xff00;", 32, 32, "", &report);
  EXPECT_THAT(report.str(),
              HasSubstr("its member mask does not name the lane"));
}

TEST(Warp, ShuffleModes) {
  auto out = compute(R"(
  shfl.sync.up.b32 %r0|%p0, %t, 1, 0, -1;
  selp.b32 %r0, %r0, 99, %p0;
  shfl.sync.idx.b32 %r1, %t, 3, 0x1c1f, -1;
  shl.b32 %r1, %r1, 8; or.b32 %r0, %r0, %r1;
  shfl.sync.down.b32 %r2, %t, 2, 0x1f, -1;
  shl.b32 %r2, %r2, 16; or.b32 %r0, %r0, %r2;
  st.global.b32 [%o], %r0;)",
                     32, 32);
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(out[i] & 0xff, i ? i - 1 : 99);
    EXPECT_EQ(out[i] >> 8 & 0xff, i / 4 * 4 + 3);
    EXPECT_EQ(out[i] >> 16, i + 2 < 32 ? i + 2 : i);
  }
}

TEST(Warp, DivergentAlignedInstructionIsReported) {
  Report report;
  compute(R"(
  setp.lt.u32 %p0, %t, 16;
  @%p0 bra SKIP;
  bar.sync 0;
SKIP: bar.sync 1;)",
          32, 32, "", &report);
  ASSERT_TRUE(has(report, ErrorKind::DivergentAligned)) << report.str();
  EXPECT_THAT(
      report.str(),
      HasSubstr("lanes 16-31: waits at 'bar.sync' for the warp's other lanes"));
}

TEST(Warp, SpecialRegisters) {
  auto out = compute(R"(
  mov.u32 %r0, %laneid; mov.u32 %r1, %warpid; mov.u32 %r2, %ntid.x; mov.u32 %r3, %lanemask_lt;
  mad.lo.u32 %r0, %r1, 1000, %r0; mad.lo.u32 %r0, %r2, 100000, %r0;
  st.global.b32 [%o], %r0; st.global.b32 [%o+256], %r3;)",
                     64, 128);
  EXPECT_EQ(out[33], 6400000u + 1000 + 1);
  EXPECT_EQ(out[64 + 5], 31u);
}

TEST(Warp, ReduxOfSingles) {
  // Lanes 0 to 31 hold lane - 20, lane 7 NaN.
  const std::string values = R"(
  sub.s32 %r0, %t, 20; cvt.rn.f32.s32 %f0, %r0;
  setp.eq.u32 %p0, %t, 7; @%p0 mov.b32 %f0, 0f7FC00000;
)";
  auto with = [&](const std::string &op, uint32_t members = ~0u) {
    auto out =
        compute(values + "redux.sync." + op + ".f32 %f1, %f0, " +
                    std::to_string(members) + "; st.global.f32 [%o], %f1;",
                32, 32);
    for (uint32_t bits : out)
      EXPECT_EQ(bits, out[0]);
    float value;
    std::memcpy(&value, out.data(), 4);
    return value;
  };
  EXPECT_EQ(with("max"), 11);
  EXPECT_EQ(with("min"), -20);
  EXPECT_EQ(with("max.abs"), 20);
  EXPECT_EQ(with("min.abs"), 0);
  EXPECT_TRUE(std::isnan(with("max.NaN")));
  EXPECT_TRUE(std::isnan(with("min.abs.NaN")));
}
