// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tcgen05.mma.ws and .ashift: layouts of the accumulator, collector buffers and
// what the two may be used with.

#include "ISA/TensorCore/MmaKernel.h"

#include <gmock/gmock.h>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

namespace {

MmaCase stationary(uint32_t m, uint32_t n) {
  MmaCase c;
  c.kind = "i8";
  c.a = kS8;
  c.b = kU8;
  c.scales = 0;
  c.qualifiers = "";
  c.m = m;
  c.n = n;
  c.stationary = true;
  return c;
}

/// What is said of `c` when `from` becomes `to`.
std::string faultOf(const MmaCase &c, const std::string &from = "",
                    const std::string &to = "") {
  MmaRun run(c);
  if (!from.empty())
    run.text = replaced(run.text, from, to);
  return run.run().str();
}

} // namespace

TEST(StationaryMma, FoldsItsColumns) {
  for (uint32_t m : {32u, 64u, 128u})
    for (uint32_t n : {64u, 128u, 256u})
      for (bool tensorA : {false, true}) {
        MmaCase c = stationary(m, n);
        c.tensorA = tensorA;
        c.accumulate = true;
        c.qualifiers = ".collector::b2::fill";
        MmaRun run(c, m + n);
        Report report = run.run();
        ASSERT_TRUE(report.errors.empty()) << c.name() << report.str();
        run.check(0);
      }
}

TEST(StationaryMma, OfFloats) {
  MmaCase c = stationary(64, 64);
  c.kind = "f8f6f4";
  c.a = kE4m3;
  c.b = kE5m2;
  MmaRun run(c);
  Report report = run.run();
  ASSERT_TRUE(report.errors.empty()) << report.str();
  run.check(1e-3);
}

TEST(StationaryMma, MasksColumns) {
  // The examples of PTX ISA 9.7.16.4.3; of each part the mask, from the lowest
  // column on, over and over.
  struct Case {
    uint32_t m;
    uint64_t starts, firsts, masks, zeros, used;
    std::vector<const char *> parts;
  };
  const Case cases[] = {
      {128, 0, 0, 0, 4, 3, {"0"}},
      {128, 0, 0, 1, 2, 3, {"0000111"}},
      {64, 0, 1, 1, 2, 3, {"1110000", "0000111"}},
      {32,
       0x01020100,
       3,
       1,
       2,
       3,
       {"1110000", "1100001", "0011100", "0001110"}},
      {32, 0, 15, 1, 63, 0, {"1", "1", "1", "1"}},
  };
  for (const Case &each : cases) {
    const MmaCase c = stationary(each.m, 64);
    const uint64_t bits = each.starts | each.firsts << 32 | each.masks << 39 |
                          each.zeros << 40 | each.used << 48;
    MmaRun run(c);
    run.text = replaced(run.text, ", %p3;\n",
                        ", %p3, " + std::to_string(bits) + ";\n");
    Report report = run.run();
    ASSERT_TRUE(report.errors.empty()) << report.str();
    const uint32_t columns = 64 / uint32_t(each.parts.size()),
                   k = uint32_t(run.b.size()) / 64;
    for (uint32_t n = 0; n < 64; ++n) {
      const std::string part = each.parts[n / columns];
      if (part[n % columns % part.size()] == '1')
        std::fill_n(run.b.begin() + n * k, k, 0);
    }
    run.check(0);
  }
}

TEST(StationaryMma, RefusesMasksThatTheIsaDoesNotExplain) {
  auto faultOfMask = [](uint64_t bits) {
    return faultOf(stationary(64, 64), ", %p3;\n",
                   ", %p3, " + std::to_string(bits) + ";\n");
  };
  EXPECT_THAT(faultOfMask(uint64_t(8) << 56),
              HasSubstr("bits 56 to 61 shift B by 8 columns; only 0 is "
                        "supported"));
  EXPECT_THAT(
      faultOfMask(uint64_t(1) << 39 | 0x200),
      HasSubstr("start count 1 is 2, but the first span has 1 columns"));
}

TEST(StationaryMma, HasItsOwnRules) {
  EXPECT_THAT(faultOf(stationary(64, 32)),
              HasSubstr("N is 32; the rule is 64, 128 or 256 with .ws"));
  EXPECT_THAT(faultOf(stationary(48, 64)),
              HasSubstr("M is 48; the rule is 32, 64 or 128 with .ws"));
  const MmaCase c = stationary(64, 64);
  EXPECT_THAT(faultOf(c, ".kind::i8", ".kind::i8.collector::a::fill"),
              HasSubstr("the buffers are b0 to b3"));
  EXPECT_THAT(faultOf(c, ".kind::i8", ".kind::i8.collector::b4::fill"),
              HasSubstr("takes no .collector::b4::fill"));
}

TEST(StationaryMma, IsForOneCtaWithoutScales) {
  MmaCase c;
  c.stationary = true;
  EXPECT_THAT(faultOf(c), HasSubstr("takes .ws only with .cta_group::1, "
                                    "without .ashift and without"));
  c = stationary(128, 64);
  c.pair = true;
  EXPECT_THAT(faultOf(c), HasSubstr("takes .ws only with .cta_group::1"));
}

TEST(ShiftedA, TakesTheNextLane) {
  MmaCase c = stationary(128, 32);
  c.stationary = false;
  c.tensorA = true;
  c.qualifiers = ".ashift.collector::a::lastuse";
  MmaRun run(c);
  Report report = run.run();
  ASSERT_TRUE(report.errors.empty()) << report.str();
  for (uint32_t row = 0; row < 128; ++row)
    for (uint32_t column = 0; column < c.n; ++column)
      ASSERT_EQ(double(int32_t(run.bits(row, column))),
                run.expected(row % 32 == 31 ? row : row + 1, column, nullptr))
          << row;
  EXPECT_THAT(faultOf(c, "a::lastuse", "a::fill"),
              HasSubstr("takes .ashift only with .collector::a::lastuse"));
  c.tensorA = false;
  EXPECT_THAT(faultOf(c), HasSubstr("only with A in tensor memory"));
}
