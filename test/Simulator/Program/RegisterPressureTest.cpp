// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many registers are needed at a time, and how many a thread may have.

#include "Program/RegisterPressure.h"

#include "DecodedKernel.h"

#include <algorithm>

using namespace fp8::sim;
using namespace fp8::sim::test;

namespace {

class Pressed : public DecodedKernel {
public:
  using DecodedKernel::DecodedKernel;

  /// By instruction; behind the last one nothing is needed.
  std::vector<uint32_t> pressure() const {
    return findRegisterPressure(program);
  }
  uint32_t available() const { return mostRegistersOf(program); }
};

using Counts = std::vector<uint32_t>;

TEST(RegisterPressureTest, AValueIsNeededFromItsWriteToItsLastRead) {
  const Pressed pressed(R"(
  mov.b32 %r0, 1;
  mov.b32 %r1, 2;
  add.s32 %r2, %r0, %r1;
  st.shared.b32 [%r2], %r0;
  ret;
)");
  EXPECT_EQ(pressed.pressure(), (Counts{1, 2, 2, 2, 0, 0}));
}

TEST(RegisterPressureTest, WhatIsOverwrittenIsNotNeededBefore) {
  const Pressed pressed(R"(
  mov.b32 %r0, 1;
  mov.b32 %r0, 2;
  st.shared.b32 [%r0], %r0;
  ret;
)");
  EXPECT_EQ(pressed.pressure(), (Counts{0, 1, 1, 0, 0}));
}

TEST(RegisterPressureTest, AGuardedWriteKeepsTheValueBefore) {
  const Pressed pressed(R"(
  mov.b32 %r0, 1;
  setp.eq.s32 %p0, %r0, 1;
  @%p0 mov.b32 %r0, 2;
  st.shared.b32 [%r0], %r0;
  ret;
)");
  EXPECT_EQ(pressed.pressure(), (Counts{1, 1, 1, 1, 0, 0}));
}

TEST(RegisterPressureTest, ALoopKeepsWhatItsNextRoundReads) {
  const Pressed pressed(R"(
  mov.b32 %r0, 1;
  mov.b32 %r1, 8;
  mov.b32 %r2, 0;
again:
  add.s32 %r2, %r2, %r0;
  add.s32 %r1, %r1, -1;
  setp.ne.s32 %p0, %r1, 0;
  @%p0 bra again;
  st.shared.b32 [%r2], %r2;
  ret;
)");
  EXPECT_EQ(pressed.pressure(), (Counts{1, 2, 3, 3, 3, 3, 3, 1, 0, 0}));
}

TEST(RegisterPressureTest, AWideRegisterCountsTwice) {
  const Pressed pressed(R"(
  mov.b64 %rd0, 4096;
  mov.b32 %r0, 1;
  st.global.b32 [%rd0], %r0;
  ret;
)");
  EXPECT_EQ(pressed.pressure(), (Counts{2, 3, 3, 0, 0}));
}

TEST(RegisterPressureTest, WhatTensorMemoryHoldsIsLoadedWhenItIsUsed) {
  const Pressed pressed(R"(
  mov.b32 %r0, 0;
  tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1, %r2}, [%r0];
  tcgen05.wait::ld.sync.aligned;
  mov.b64 %rd0, {%r1, %r2};
  cvt.u32.u64 %r3, %rd0;
  st.shared.b32 [%r3], %r3;
  ret;
)");
  EXPECT_EQ(pressed.pressure(), (Counts{1, 1, 0, 0, 1, 1, 0, 0}));
}

/// A product of A in registers, whose sums are %r0 to %r3, behind `setp`.
std::string product(const std::string &setp) {
  return R"(
  mov.b32 %r0, 0;
  mov.b32 %r1, 0;
  mov.b32 %r2, 0;
  mov.b32 %r3, 0;
  mov.b32 %r4, 0;
  mov.b64 %rd0, 0;
  )" + setp +
         R"(
  wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {%r0, %r1, %r2, %r3}, {%r4, %r4, %r4, %r4}, %rd0, %p0, 1, 1;
  st.shared.v4.b32 [0], {%r0, %r1, %r2, %r3};
  ret;
)";
}

TEST(RegisterPressureTest, AProductReadsAAndWhatItAddsTo) {
  const std::string adds = "setp.ne.b32 %p0, 1, 0;",
                    begins = "setp.ne.b32 %p0, 0, 0;";
  // Four sums, one register of A, and a descriptor of two.
  EXPECT_EQ(Pressed(product(adds), "", "", "sm_90a").pressure(),
            (Counts{1, 2, 3, 4, 5, 7, 7, 7, 4, 0, 0}));
  EXPECT_EQ(Pressed(product(begins), "", "", "sm_90a").pressure(),
            (Counts{0, 0, 0, 0, 1, 3, 3, 4, 4, 0, 0}));
}

TEST(RegisterPressureTest, CallsAreNotFollowed) {
  const Pressed pressed(R"(
  mov.b32 %r0, 1;
  { call f, (); }
  st.shared.b32 [%r0], %r0;
  ret;
)",
                        ".func f()\n{\n  ret;\n}\n");
  for (uint32_t count : pressed.pressure())
    EXPECT_EQ(count, 0u);
}

TEST(RegisterPressureTest, AThreadHasWhatItsCtaLeavesIt) {
  EXPECT_EQ(Pressed("ret;").available(), 255u);
  EXPECT_EQ(Pressed("ret;", "", ".maxntid 128\n").available(), 255u);
  EXPECT_EQ(Pressed("ret;", "", ".maxntid 384\n").available(), 168u);
  EXPECT_EQ(Pressed("ret;", "", ".maxnreg 90\n").available(), 96u);
}

TEST(RegisterPressureTest, SetmaxnregGivesMore) {
  const char *body = "setmaxnreg.inc.sync.aligned.u32 232;\nret;";
  EXPECT_EQ(Pressed(body, "", ".maxntid 384\n").available(), 232u);
  // Without a bound of the launch it has no effect.
  EXPECT_EQ(Pressed(body).available(), 255u);
}

} // namespace
