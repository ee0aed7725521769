// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tf32, and sums of numbers of two precisions.

#include "Measured.h"

#include <cstring>

using namespace fp8::sim;
using namespace fp8::sim::test;

namespace {
const Measured kMeasured[] = {
    {"cvt.rn.relu.tf32.f32",
     1,
     {{0xffffffdb, 0x00000000, 0x00000000, 0x7fffe000},
      {0x0000f561, 0x00000000, 0x00000000, 0x00010000},
      {0x189c337c, 0x00000000, 0x00000000, 0x189c4000},
      {0x0000a07a, 0x00000000, 0x00000000, 0x0000a000},
      {0x0000c03d, 0x00000000, 0x00000000, 0x0000c000}}},
    {"cvt.rna.tf32.f32",
     1,
     {{0xffffffdb, 0x00000000, 0x00000000, 0xffffe000},
      {0x0000f561, 0x00000000, 0x00000000, 0x00010000},
      {0x189c337c, 0x00000000, 0x00000000, 0x189c4000},
      {0x0000a07a, 0x00000000, 0x00000000, 0x0000a000},
      {0x7fc00000, 0x00000000, 0x00000000, 0x7fc00000}}},
    {"cvt.rz.relu.tf32.f32",
     1,
     {{0xffffffdb, 0x00000000, 0x00000000, 0x7fffe000},
      {0x0000f561, 0x00000000, 0x00000000, 0x0000e000},
      {0x189c337c, 0x00000000, 0x00000000, 0x189c2000},
      {0x0000a07a, 0x00000000, 0x00000000, 0x0000a000},
      {0x0000c03d, 0x00000000, 0x00000000, 0x0000c000}}},
    {"cvt.rn.tf32.f32",
     1,
     {{0xffffffdb, 0x00000000, 0x00000000, 0x7fffe000},
      {0x0000f561, 0x00000000, 0x00000000, 0x00010000},
      {0x189c337c, 0x00000000, 0x00000000, 0x189c4000},
      {0x0000a07a, 0x00000000, 0x00000000, 0x0000a000},
      {0x0000c03d, 0x00000000, 0x00000000, 0x0000c000}}},
};
} // namespace

TEST(Precision, AsAnH200) { expectMeasured(kMeasured); }

// On Blackwell; its sums are those of f32.
TEST(Precision, SumsOfTwoTypes) {
  auto result = [](const std::string &body) {
    return one("mov.b16 %h1, 0x3c01; mov.b16 %h2, 0xc000; mov.b32 %f3, "
               "0f4B800001; " +
               body + " mov.b32 %r0, %f0;");
  };
  auto bits = [](float value) {
    uint32_t word;
    std::memcpy(&word, &value, 4);
    return word;
  };
  const float a = 1 + 0x1p-10f, c = 0x1p24f + 2;
  EXPECT_EQ(result("add.rn.f32.f16 %f0, %h1, %f3;"), bits(a + c));
  EXPECT_EQ(result("add.rm.f32.f16 %f0, %h1, %f3;"), bits(0x1p24f + 2));
  EXPECT_EQ(result("sub.f32.f16 %f0, %h1, %f3;"), bits(a - c));
  EXPECT_EQ(result("fma.rn.f32.f16 %f0, %h1, %h2, %f3;"),
            bits(float(-2.0 * a + c)));
  EXPECT_EQ(result("fma.rn.sat.f32.bf16 %f0, %h2, %h2, %f3;"), bits(1));
}

// A product half way between two numbers, and a sum far below it.
TEST(Precision, SumsOfProductsAreRoundedOnce) {
  auto fused = [](const std::string &type, uint32_t c) {
    return one("mov.b32 %r1, 0x3fc03fc0; mov.b32 %r2, 0x3f813f81; "
               "mov.b32 %r3, " +
               std::to_string(c) + "; mov.b32 {%h1, %h4}, %r1; " +
               "mov.b32 {%h2, %h5}, %r2; mov.b32 {%h3, %h6}, %r3; "
               "mov.b16 %h0, 0; " +
               (type == "bf16"
                    ? "fma.rn.bf16 %h0, %h1, %h2, %h3; cvt.u32.u16 %r0, %h0;"
                    : "fma.rn.bf16x2 %r0, %r1, %r2, %r3;"));
  };
  EXPECT_EQ(fused("bf16", 0), 0x3fc2u);
  EXPECT_EQ(fused("bf16", 0x2180), 0x3fc2u);
  EXPECT_EQ(fused("bf16", 0xa180), 0x3fc1u);
  EXPECT_EQ(fused("bf16x2", 0xa1802180), 0x3fc13fc2u);
}

TEST(Precision, WideIntegersAreRoundedOnce) {
  auto rounded = [](const char *conversion, uint64_t value) {
    return one("mov.b64 %d0, " + std::to_string(value) + "; cvt." + conversion +
               " %h0, %d0; cvt.u32.u16 %r0, %h0;");
  };
  const uint64_t beyond = (uint64_t(1) << 62) + 1;
  EXPECT_EQ(rounded("rz.bf16.u64", (uint64_t(1) << 63) - 1), 0x5effu);
  EXPECT_EQ(rounded("rm.bf16.u64", beyond), 0x5e80u);
  EXPECT_EQ(rounded("rp.bf16.u64", beyond), 0x5e81u);
  EXPECT_EQ(rounded("rm.bf16.s64", -beyond), 0xde81u);
  EXPECT_EQ(rounded("rp.bf16.s64", -beyond), 0xde80u);
  // Next to the middle of two numbers.
  EXPECT_EQ(rounded("rn.bf16.u64", 0x4040000000000000), 0x5e80u);
  EXPECT_EQ(rounded("rn.bf16.u64", 0x4040000000000001), 0x5e81u);
  EXPECT_EQ(rounded("rn.bf16.s64", 0x40bfffffffffffff), 0x5e81u);
  EXPECT_EQ(rounded("rn.f16.u64", 65519), 0x7bffu);
  EXPECT_EQ(rounded("rz.f16.u64", ~uint64_t(0)), 0x7bffu);
  EXPECT_EQ(rounded("rn.f16.u64", ~uint64_t(0)), 0x7c00u);
}

// As an H200.
TEST(Precision, ApproximateQuotientsByLargeNumbers) {
  auto quotient = [](const char *div, uint32_t a, uint32_t b) {
    return one("mov.b32 %f1, " + std::to_string(a) + "; mov.b32 %f2, " +
               std::to_string(b) + "; " + div +
               ".f32 %f0, %f1, %f2; mov.b32 %r0, %f0;");
  };
  const uint32_t large = 0x7f167699, infinity = 0x7f800000, some = 0x7e967699;
  for (const char *div : {"div.approx", "div.approx.ftz"}) {
    EXPECT_EQ(quotient(div, some, large), 0u);
    EXPECT_EQ(quotient(div, some | 1u << 31, large), 1u << 31);
    EXPECT_EQ(quotient(div, infinity, large), 0x7fffffffu);
    EXPECT_EQ(quotient(div, some, 0x7e800001), 0u);
    EXPECT_EQ(quotient(div, some, 0x7e800000), 0x3f967699u);
    EXPECT_EQ(quotient(div, infinity, 0x7e800000), infinity);
  }
  EXPECT_EQ(quotient("div.full", some, large), 0x3f000000u);
}

namespace {
/// What one thread leaves in %d0.
uint64_t wide(const std::string &body) {
  auto words = compute(body + "\n st.global.b64 [%out], %d0;", 1, 2);
  return words[0] | uint64_t(words[1]) << 32;
}
std::string load(const char *name, uint64_t bits) {
  return "mov.b64 " + std::string(name) + ", " + std::to_string(bits) + "; ";
}
} // namespace

// As an H200.
TEST(Precision, ReciprocalsOfHighWords) {
  struct {
    uint64_t a, reciprocal, ofRoot;
  } const cases[] = {
      {0x7ff8000000001234, 0x7fffffff00000000, 0x7fffffff00000000},
      {0x7ff0000000001234, 0, 0}, // an infinity in its high word
      {0x7ff0000000000000, 0, 0},
      {0xfff0000000000000, 0x8000000000000000, 0x7fffffff00000000},
      {0x8000000000000000, 0xfff0000000000000, 0xfff0000000000000},
      {0x0008000000000000, 0x7ff0000000000000, 0x7ff0000000000000},
      {0x8000000000000005, 0xfff0000000000000, 0xfff0000000000000},
      {0x400800000000004d, 0x3fd5555500000000, 0x3fe279a700000000},
      {0x7fe8000000000000, 0, 0x1ff279a700000000},
      {0x7fd0000000000000, 0x0010000000000000, 0x2000000000000000},
      {0x401c0000ffffffff, 0x3fc2492400000000, 0x3fd8309100000000},
      {0x3fd3333300000000, 0x400aaaaa00000000, 0x3ffd363d00000000},
  };
  for (const auto &c : cases) {
    const std::string a = load("%e1", c.a), move = "mov.b64 %d0, %e0;";
    EXPECT_EQ(wide(a + "rcp.approx.ftz.f64 %e0, %e1;" + move), c.reciprocal)
        << std::hex << c.a;
    EXPECT_EQ(wide(a + "rsqrt.approx.ftz.f64 %e0, %e1;" + move), c.ofRoot)
        << std::hex << c.a;
  }
}

// As an H200: which operand's payload a NaN of f64 has.
TEST(Precision, PayloadsOfDoubles) {
  const uint64_t n = 0x7ff8000000001234, m = 0xfff800000000123b,
                 loud = 0x7ff0000000001234, one = 0x3ff0000000000000,
                 infinity = 0x7ff0000000000000, sign = uint64_t(1) << 63,
                 none = 0xfff8000000000000;
  auto result = [](const std::string &op, uint64_t a, uint64_t b, uint64_t c) {
    return wide(load("%e1", a) + load("%e2", b) + load("%e3", c) + op +
                "; mov.b64 %d0, %e0;");
  };
  for (const char *op : {"add", "sub", "add.rz", "mul", "mul.rz", "div.rn"}) {
    const std::string text = std::string(op) + ".f64 %e0, %e1, %e2";
    const bool divides = op[0] == 'd';
    EXPECT_EQ(result(text, n, one, 0), n) << op;
    EXPECT_EQ(result(text, one, m, 0), m) << op;
    EXPECT_EQ(result(text, loud, one, 0), n) << op;
    EXPECT_EQ(result(text, n, m, 0), divides ? n : m) << op;
    EXPECT_EQ(result(text, m, n, 0), divides ? m : n) << op;
  }
  const std::string fma = "fma.rn.f64 %e0, %e1, %e2, %e3";
  EXPECT_EQ(result(fma, one, one, loud), n);
  EXPECT_EQ(result(fma, n, m, one), m);
  EXPECT_EQ(result(fma, one, n, m), n);
  EXPECT_EQ(result(fma, n, one, m), m);
  // Operations without a result.
  EXPECT_EQ(result(fma, 0, infinity, one), none);
  EXPECT_EQ(result("sub.f64 %e0, %e1, %e2", infinity, infinity, 0), none);
  EXPECT_EQ(result("div.rn.f64 %e0, %e1, %e2", 0, 0, 0), none);
  EXPECT_EQ(result("sqrt.rn.f64 %e0, %e1", one | sign, 0, 0), none);
  EXPECT_EQ(result("rsqrt.approx.f64 %e0, %e1", one | sign, 0, 0), none);
  for (const char *op :
       {"sqrt.rn.f64", "rcp.rn.f64", "abs.f64", "neg.f64", "cvt.rni.f64.f64"})
    for (uint64_t nan : {n, m, loud})
      EXPECT_EQ(result(std::string(op) + " %e0, %e1", nan, 0, 0),
                nan == loud ? n : nan)
          << op;
  EXPECT_EQ(result("min.f64 %e0, %e1, %e2", n, m, 0), m);
  EXPECT_EQ(result("max.f64 %e0, %e1, %e2", loud, one, 0), one);
  // Narrower, and back.
  auto narrow = [&](uint64_t a) {
    return result("cvt.rn.f32.f64 %f0, %e1; mov.b32 %r0, %f0; "
                  "mov.b64 %e0, {%r0, %r0}",
                  a, 0, 0) >>
           32;
  };
  EXPECT_EQ(narrow(loud), 0x7fc00000u);
  EXPECT_EQ(narrow(m), 0xffc00000u);
  auto widened = [&](const char *a) {
    return result(std::string("mov.b32 %f0, ") + a + "; cvt.f64.f32 %e0, %f0",
                  0, 0, 0);
  };
  EXPECT_EQ(widened("0xffc00123"), 0xfff8002460000000u);
  EXPECT_EQ(widened("0x7f800123"), 0x7ff8002460000000u);
  EXPECT_EQ(widened("0x7fffffff"), 0x7fffffffe0000000u);
}
