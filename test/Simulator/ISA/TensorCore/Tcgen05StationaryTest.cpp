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

TEST(StationaryMma, TakesAMaskThatMasksNothing) {
  const MmaCase c = stationary(64, 64);
  MmaRun run(c);
  const std::string last = ", %p3;\n";
  run.text = replaced(run.text, last, ", %p3, 0;\n");
  Report report = run.run();
  ASSERT_TRUE(report.errors.empty()) << report.str();
  run.check(0);
  for (uint64_t mask : {uint64_t(1) << 39, uint64_t(8) << 56})
    EXPECT_THAT(faultOf(c, last, ", %p3, " + std::to_string(mask) + ";\n"),
                HasSubstr("a zero-column mask is supported only"));
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
