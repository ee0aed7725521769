// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Comparisons of pairs of numbers, and predicates of logic.

#include "Measured.h"

using namespace fp8::sim;
using namespace fp8::sim::test;

namespace {
const Measured kMeasured[] = {
    {"set.lt.u32.f16x2",
     2,
     {{0xffffffdb, 0xfffff9f9, 0x00000000, 0x00000000},
      {0x0000f561, 0x000078b8, 0x00000000, 0x0000ffff},
      {0x0000a07a, 0x582c06a5, 0x00000000, 0xffffffff},
      {0x00000001, 0x00800000, 0x00000000, 0xffff0000}}},
    {"set.ge.f16x2.f16x2",
     2,
     {{0xffffffdb, 0xfffff9f9, 0x00000000, 0x00000000},
      {0x0000f561, 0x000078b8, 0x00000000, 0x3c000000},
      {0x189c337c, 0xfffff828, 0x00000000, 0x00003c00},
      {0x00004695, 0x00002304, 0x00000000, 0x3c003c00}}},
    {"set.neu.u32.bf16x2",
     2,
     {{0xffffffdb, 0xfffff9f9, 0x00000000, 0xffffffff},
      {0x0000f561, 0x000078b8, 0x00000000, 0x0000ffff},
      {0x80008000, 0x7fc00000, 0x00000000, 0xffff0000}}},
    {"set.gtu.bf16x2.bf16x2",
     2,
     {{0xffffffdb, 0xfffff9f9, 0x00000000, 0x3f803f80},
      {0x0000f561, 0x000078b8, 0x00000000, 0x00000000},
      {0xfffff636, 0x0000611a, 0x00000000, 0x3f800000},
      {0x00000001, 0x00800000, 0x00000000, 0x00003f80}}},
    {"set.eq.ftz.f16x2.f16x2",
     2,
     {{0xffffffdb, 0xfffff9f9, 0x00000000, 0x00000000},
      {0x0000f561, 0x000078b8, 0x00000000, 0x3c000000},
      {0x00000001, 0x00800000, 0x00000000, 0x3c003c00},
      {0x00ff00ff, 0xffff0000, 0x00000000, 0x00003c00}}},
    {"set.ne.u32.f16x2", 2, {{0xffffffdb, 0xffffffdb, 0x00000000, 0x00000000}}},
};
} // namespace

TEST(Pairs, AsAnH200) { expectMeasured(kMeasured); }

TEST(Pairs, PredicatesOfLogicAndPairs) {
  const std::string dump = " selp.b32 %r0, 1, 0, %p1; selp.b32 %r2, 2, 0, %p2; "
                           "or.b32 %r0, %r0, %r2;";
  // 1.0 and -2.0 against 1.0 and 3.0: the low half is the first.
  const std::string halves = "mov.b32 %r3, 0xc0003c00; mov.b32 %r4, 0x42003c00;"
                             " setp.eq.u32 %p3, 0, 1; ";
  EXPECT_EQ(one(halves + "setp.eq.f16x2 %p1|%p2, %r3, %r4;" + dump), 1u);
  EXPECT_EQ(one(halves + "setp.lt.f16x2 %p1|%p2, %r3, %r4;" + dump), 2u);
  EXPECT_EQ(one(halves + "setp.le.and.f16x2 %p1|%p2, %r3, %r4, %p3;" + dump),
            0u);
  EXPECT_EQ(one(halves + "setp.lt.or.f16x2 %p3|%p2, %r3, %r4, !%p3; "
                         "selp.b32 %r0, 1, 0, %p3; selp.b32 %r2, 2, 0, %p2; "
                         "or.b32 %r0, %r0, %r2;"),
            3u);
  for (bool q : {false, true}) {
    std::string start =
        "setp.eq.u32 %p3, 1, " + std::to_string(q) + "; mov.b32 %r3, 12; ";
    for (bool some : {false, true}) {
      std::string table = some ? "0xe8" : "0";
      EXPECT_EQ(one(start + "lop3.or.b32 _|%p1, %r3, %r3, %r3, " + table +
                    ", %p3; selp.b32 %r0, 1, 0, %p1;"),
                uint32_t(some || q));
      EXPECT_EQ(one(start + "lop3.and.b32 %r4|%p1, %r3, %r3, %r3, " + table +
                    ", %p3; selp.b32 %r0, 1, 0, %p1; add.u32 %r0, %r0, %r4;"),
                uint32_t(some && q) + (some ? 12u : 0u));
    }
  }
}
