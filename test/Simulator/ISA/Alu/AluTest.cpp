// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic, logic, conversion and comparison against what C++ computes.

#include "Kernels.h"

#include <cmath>
#include <cstring>

using namespace fp8::sim;
using namespace fp8::sim::test;

namespace {

uint32_t bits(float value) {
  uint32_t out;
  std::memcpy(&out, &value, 4);
  return out;
}

/// The result of `body`, which leaves it in %r0, in one thread.
uint32_t one(const std::string &body) {
  return compute(body + "\n st.global.b32 [%o], %r0;", 1, 1)[0];
}
/// The same for %f0.
float oneFloat(const std::string &body) {
  uint32_t word = compute(body + "\n st.global.f32 [%o], %f0;", 1, 1)[0];
  float value;
  std::memcpy(&value, &word, 4);
  return value;
}

} // namespace

TEST(Alu, SpecialRegistersThatAreVectors) {
  EXPECT_EQ(one("mov.v4.u32 {%r0, %r1, %r2, _}, %ntid;"
                "add.u32 %r0, %r0, %r1; add.u32 %r0, %r0, %r2;"),
            3u);
  EXPECT_EQ(one("mov.v4.u32 {%r1, _, _, %r2}, %clusterid; add.u32 %r0, %r1, "
                "%r2;"),
            0u);
  EXPECT_EQ(one("mov.u32 %r0, WARP_SZ;"), 32u);
  EXPECT_EQ(one("mov.pred %p0, %is_explicit_cluster; selp.b32 %r0, 5, 6, %p0;"),
            6u);
  EXPECT_EQ(one("mov.u64 %d0, %current_graph_exec; cvt.u32.u64 %r0, %d0;"), 0u);
}

TEST(Alu, IntegerArithmetic) {
  EXPECT_EQ(one("add.u32 %r0, 0xffffffff, 2;"), 1u);
  EXPECT_EQ(one("sub.s32 %r0, 3, 5;"), uint32_t(-2));
  EXPECT_EQ(one("mul.lo.s32 %r0, -3, 7;"), uint32_t(-21));
  EXPECT_EQ(one("mul.hi.u32 %r0, 0x80000000, 6;"), 3u);
  EXPECT_EQ(one("mul.hi.s32 %r0, -1, 5;"), 0xffffffffu);
  EXPECT_EQ(one("mul.wide.s32 %d0, -2, 3; cvt.u32.u64 %r0, %d0;"),
            uint32_t(-6));
  EXPECT_EQ(one("mul.wide.u32 %d0, 0x10000, 0x30000; shr.u64 %d0, %d0, 32; "
                "cvt.u32.u64 %r0, %d0;"),
            3u);
  EXPECT_EQ(one("mad.lo.s32 %r0, 5, 6, -7;"), 23u);
  EXPECT_EQ(one("mad.wide.u32 %d0, 5, 6, 12; cvt.u32.u64 %r0, %d0;"), 42u);
  EXPECT_EQ(one("div.s32 %r0, -7, 2;"), uint32_t(-3));
  EXPECT_EQ(one("rem.s32 %r0, -7, 2;"), uint32_t(-1));
  EXPECT_EQ(one("div.u32 %r0, 7, 0;"), 0xffffffffu);
  EXPECT_EQ(one("min.s32 %r0, -7, 2;"), uint32_t(-7));
  EXPECT_EQ(one("max.u32 %r0, -7, 2;"), uint32_t(-7));
  EXPECT_EQ(one("abs.s32 %r0, -7;"), 7u);
  EXPECT_EQ(one("neg.s32 %r0, 7;"), uint32_t(-7));
  EXPECT_EQ(one("add.sat.s32 %r0, 0x7fffffff, 5;"), 0x7fffffffu);
  EXPECT_EQ(one("add.cc.u32 %r1, 0xffffffff, 1; addc.u32 %r0, 5, 0;"), 6u);
  EXPECT_EQ(one("sub.cc.u32 %r1, 0, 1; subc.u32 %r0, 5, 0;"), 4u);
  // The flag is a carry: a borrow clears it, as ptxas folds these.
  EXPECT_EQ(one("sub.cc.u32 %r1, 1, 2; addc.u32 %r0, 0, 0;"), 0u);
  EXPECT_EQ(one("sub.cc.u32 %r1, 2, 1; addc.u32 %r0, 0, 0;"), 1u);
  EXPECT_EQ(one("add.cc.u32 %r1, 1, 2; subc.u32 %r0, 0, 0;"), uint32_t(-1));
  EXPECT_EQ(one("sub.cc.u32 %r1, 5, 5; subc.cc.u32 %r1, 3, 3; subc.u32 %r0, 9, "
                "4;"),
            5u);
  EXPECT_EQ(one("sub.cc.u64 %d0, 0, 1; subc.u64 %d0, 5, 0; cvt.u32.u64 %r0, "
                "%d0;"),
            4u);
  EXPECT_EQ(one("mad.lo.cc.u32 %r1, 0x10000, 0x10000, 0; madc.hi.u32 %r0, "
                "0x10000, 0x10000, 4;"),
            5u);
  EXPECT_EQ(one("dp4a.s32.s32 %r0, 0x01ff0203, 0x02030405, 10;"),
            uint32_t(2 - 3 + 8 + 15 + 10));
}

TEST(Alu, AsksWhereAnAddressLies) {
  auto spaces = [](const std::string &address) {
    return compute(address + "isspacep.const %p0, %d1; isspacep.global %p1, "
                             "%d1; selp.b32 %r0, 1, 0, %p0; selp.b32 %r1, 2, "
                             "0, %p1; or.b32 %r0, %r0, %r1; "
                             "st.global.b32 [%o], %r0;",
                   1, 1,
                   ".global .b32 g;\n.const .b32 c[2] = {33, 44};\n"
                   ".const .b8 b = 5;\n")[0];
  };
  EXPECT_EQ(spaces("cvta.const.u64 %d1, c;"), 1u);
  EXPECT_EQ(spaces("cvta.const.u64 %d1, c+7;"), 1u);
  EXPECT_EQ(spaces("cvta.const.u64 %d1, b;"), 1u);
  EXPECT_EQ(spaces("cvta.global.u64 %d1, g;"), 2u);
  EXPECT_EQ(spaces("mov.u64 %d1, %out;"), 2u);
  EXPECT_EQ(spaces("cvta.param.u64 %d1, out;"), 0u);
}

TEST(Alu, Bits) {
  EXPECT_EQ(one("lop3.b32 %r0, 0xf0f0f0f0, 0xcccccccc, 0xaaaaaaaa, 0x96;"),
            0xf0f0f0f0u ^ 0xccccccccu ^ 0xaaaaaaaau);
  EXPECT_EQ(one("lop3.b32 %r0, 0xf0f0f0f0, 0xcccccccc, 0xaaaaaaaa, 0xca;"),
            (0xf0f0f0f0u & 0xccccccccu) | (~0xf0f0f0f0u & 0xaaaaaaaau));
  EXPECT_EQ(one("cnot.b32 %r0, 0;"), 1u);
  EXPECT_EQ(one("cnot.b32 %r0, 6;"), 0u);
  EXPECT_EQ(one("cnot.b64 %d0, 0x100000000; cvt.u32.u64 %r0, %d0;"), 0u);
  EXPECT_EQ(one("shl.b32 %r0, 3, 31;"), 0x80000000u);
  EXPECT_EQ(one("shl.b32 %r0, 3, 32;"), 0u);
  EXPECT_EQ(one("shr.s32 %r0, -8, 40;"), 0xffffffffu);
  EXPECT_EQ(one("shf.l.wrap.b32 %r0, 0x80000001, 0x00000003, 33;"), 7u);
  EXPECT_EQ(one("shf.r.clamp.b32 %r0, 0x00000010, 0x00000001, 4;"),
            0x10000001u);
  EXPECT_EQ(one("prmt.b32 %r0, 0x33221100, 0x77665544, 0x7531;"), 0x77553311u);
  EXPECT_EQ(one("prmt.b32 %r0, 0x80, 0, 0x8888;"), 0xffffffffu);
  EXPECT_EQ(one("bfe.u32 %r0, 0x12345678, 8, 12;"), 0x456u);
  EXPECT_EQ(one("bfe.s32 %r0, 0x00000f00, 8, 4;"), 0xffffffffu);
  EXPECT_EQ(one("bfi.b32 %r0, 0xff, 0x12345678, 8, 4;"), 0x12345f78u);
  EXPECT_EQ(one("bfind.u32 %r0, 0x00010000;"), 16u);
  EXPECT_EQ(one("bfind.shiftamt.u32 %r0, 0x00010000;"), 15u);
  EXPECT_EQ(one("brev.b32 %r0, 0x1;"), 0x80000000u);
  EXPECT_EQ(one("clz.b32 %r0, 0x00010000;"), 15u);
  EXPECT_EQ(one("popc.b64 %r0, 0xff00ff00ff;"), 24u);
  EXPECT_EQ(one("not.b32 %r0, 0xf;"), 0xfffffff0u);
  EXPECT_EQ(one("mov.b64 %d0, {1, 2}; mov.b64 {%r1, %r0}, %d0;"), 2u);
  EXPECT_EQ(one("mov.b32 %r1, 0x12345678; mov.b32 {%h0, %h1}, %r1; cvt.u32.u16 "
                "%r0, %h1;"),
            0x1234u);
}

TEST(Alu, FloatingPoint) {
  EXPECT_EQ(oneFloat("fma.rn.f32 %f0, 0f3FC00000, 0f40000000, 0f3F800000;"),
            4.0f);
  EXPECT_EQ(oneFloat("div.rn.f32 %f0, 0f3F800000, 0f40400000;"), 1.0f / 3);
  EXPECT_EQ(oneFloat("div.rz.f32 %f0, 0f3F800000, 0f40400000;"),
            std::nextafter(1.0f / 3, 0.0f));
  EXPECT_EQ(oneFloat("add.rp.f32 %f0, 0f3F800000, 0f00000001;"),
            std::nextafter(1.0f, 2.0f));
  EXPECT_EQ(oneFloat("sqrt.rn.f32 %f0, 2.0;"), std::sqrt(2.0f));
  EXPECT_EQ(oneFloat("ex2.approx.f32 %f0, 3.0;"), 8.0f);
  EXPECT_EQ(oneFloat("min.f32 %f0, 0f7FC00000, 2.0;"), 2.0f);
  EXPECT_TRUE(std::isnan(oneFloat("min.NaN.f32 %f0, 0f7FC00000, 2.0;")));
  EXPECT_EQ(oneFloat("add.ftz.f32 %f0, 0f00000001, 0f00000001;"), 0.0f);
  EXPECT_EQ(oneFloat("mul.sat.f32 %f0, 3.0, 2.0;"), 1.0f);
  EXPECT_EQ(one("mul.f32 %f1, 0f7F800000, 0f00000000; mov.b32 %r0, %f1;"),
            0x7fffffffu); // the canonical NaN
  EXPECT_EQ(one("copysign.f32 %f1, 0fBF800000, 0f40000000; mov.b32 %r0, %f1;"),
            bits(-2.0f));
  EXPECT_EQ(one("mov.b64 %d0, {0x3f800000, 0x40000000}; mov.b64 %d1, "
                "{0x40400000, 0x40800000};"
                "fma.rn.f32x2 %d2, %d0, %d1, %d1; mov.b64 {%r1, %r0}, %d2;"),
            bits(12.0f));
  EXPECT_EQ(one("fma.rn.bf16x2 %r0, 0x3f804000, 0x40404040, 0x3f803f80;"),
            0x408040e0u);
  EXPECT_EQ(one("add.rn.f16x2 %r0, 0x3c004000, 0x3c003c00;"), 0x40004200u);
  EXPECT_EQ(one("fma.rn.f64 %e0, 2.0, 3.0, 1.0; cvt.rzi.u32.f64 %r0, %e0;"),
            7u);
}

TEST(Alu, Conversions) {
  EXPECT_EQ(one("mov.b32 %r1, -3; cvt.s64.s32 %d0, %r1; shr.u64 %d0, %d0, 32; "
                "cvt.u32.u64 %r0, %d0;"),
            0xffffffffu);
  EXPECT_EQ(one("mov.b32 %r1, 0x1ff; cvt.s32.s8 %r0, %r1;"), 0xffffffffu);
  EXPECT_EQ(one("mov.b32 %r1, 300; cvt.sat.u8.u32 %r0, %r1;"), 255u);
  EXPECT_EQ(one("cvt.rni.s32.f32 %r0, 0f40200000;"), 2u);
  EXPECT_EQ(one("cvt.rpi.s32.f32 %r0, 0f40200000;"), 3u);
  EXPECT_EQ(one("cvt.rzi.s32.f32 %r0, 0f4F800000;"), 0x7fffffffu);
  EXPECT_EQ(one("cvt.rzi.u32.f32 %r0, 0fBF800000;"), 0u);
  EXPECT_EQ(oneFloat("mov.b32 %r1, 0xffffffff; cvt.rz.f32.u32 %f0, %r1;"),
            4294967040.0f);
  EXPECT_EQ(one("cvt.rn.bf16x2.f32 %r0, 0f3F800000, 0f40000000;"), 0x3f804000u);
  EXPECT_EQ(one("cvt.rn.f16x2.f32 %r0, 0f3F800000, 0f40000000;"), 0x3c004000u);
  EXPECT_EQ(one("cvt.rn.satfinite.e4m3x2.f32 %h0, 0f43E00000, 0fBF800000; "
                "cvt.u32.u16 %r0, %h0;"),
            0x7eb8u);
  EXPECT_EQ(one("mov.b16 %h0, 0x38b8; cvt.rn.f16x2.e4m3x2 %r0, %h0;"),
            0x3c00bc00u);
  EXPECT_EQ(one("cvt.rna.tf32.f32 %r0, 0f3F801000;"), 0x3f802000u);
  EXPECT_EQ(one("cvt.rmi.f32.f32 %f1, 0fC0200000; mov.b32 %r0, %f1;"),
            bits(-3.0f));
}

TEST(Alu, RoundsIntegersOf64BitsInEachDirection) {
  // The low word of the result, of which the last bit counts 2, and 2048.
  auto low = [](const std::string &conversion, const std::string &value) {
    return one("mov.b64 %d1, " + value + "; cvt." + conversion +
               " %d0, %d1; cvt.u32.u64 %r0, %d0;");
  };
  const std::string odd = "9007199254740995", negative = "-9007199254740995";
  EXPECT_EQ(low("rn.f64.s64", odd), 2u);
  EXPECT_EQ(low("rz.f64.s64", odd), 1u);
  EXPECT_EQ(low("rm.f64.s64", odd), 1u);
  EXPECT_EQ(low("rp.f64.s64", odd), 2u);
  EXPECT_EQ(low("rz.f64.s64", negative), 1u);
  EXPECT_EQ(low("rm.f64.s64", negative), 2u);
  EXPECT_EQ(low("rp.f64.s64", negative), 1u);
  EXPECT_EQ(low("rm.f64.u64", "0xffffffffffffffff"), 0xffffffffu);
  EXPECT_EQ(low("rp.f64.u64", "0xffffffffffffffff"), 0u);
  EXPECT_EQ(oneFloat("mov.b64 %d1, 0xffffffffffffffff; cvt.rz.f32.u64 %f0, "
                     "%d1;"),
            0x1.fffffep63f);
}

TEST(Alu, ComparesAndSelects) {
  EXPECT_EQ(one("setp.lt.s32 %p0, -1, 1; selp.b32 %r0, 5, 6, %p0;"), 5u);
  EXPECT_EQ(one("setp.lo.u32 %p0, -1, 1; selp.b32 %r0, 5, 6, %p0;"), 6u);
  EXPECT_EQ(one("setp.ltu.f32 %p0, 0f7FC00000, 1.0; selp.b32 %r0, 5, 6, %p0;"),
            5u);
  EXPECT_EQ(one("setp.ne.f32 %p0, 0f7FC00000, 1.0; selp.b32 %r0, 5, 6, %p0;"),
            6u);
  EXPECT_EQ(one("setp.eq.s32 %p1, 1, 1; setp.lt.and.s32 %p0|%p2, 1, 2, !%p1; "
                "selp.b32 %r0, 5, 6, %p0;"),
            6u);
  EXPECT_EQ(one("set.gt.u32.s32 %r0, 3, 2;"), 0xffffffffu);
  EXPECT_EQ(one("mov.pred %p0, 1; not.pred %p1, %p0; or.pred %p2, %p0, %p1; "
                "selp.b32 %r0, 1, 0, %p2;"),
            1u);
  EXPECT_EQ(one("testp.infinite.f32 %p0, 0f7F800000; selp.b32 %r0, 1, 0, %p0;"),
            1u);
  EXPECT_EQ(one("slct.b32.s32 %r0, 7, 8, -1;"), 8u);
  // The smallest negative number, which .ftz makes -0.
  EXPECT_EQ(one("slct.b32.f32 %r0, 7, 8, 0f80000001;"), 8u);
  EXPECT_EQ(one("slct.ftz.b32.f32 %r0, 7, 8, 0f80000001;"), 7u);
  EXPECT_EQ(one("slct.ftz.b32.f32 %r0, 7, 8, 0f80800000;"), 8u);
  // Zeros are normal numbers, too.
  EXPECT_EQ(one("testp.normal.f32 %p0, 0f80000000; selp.b32 %r0, 1, 0, %p0;"),
            1u);
  EXPECT_EQ(one("testp.normal.f32 %p0, 0f00000001; selp.b32 %r0, 1, 0, %p0;"),
            0u);
}

TEST(Alu, PairsOfSingles) {
  // (1 + 2^-24, 2^-140) in %d1, (1, 2^-140) in %d2.
  const std::string values = "mov.b64 %d1, 0x0000020033800000; "
                             "mov.b64 %d2, 0x000002003f800000; ";
  auto both = [&](const std::string &op, const std::string &more = "") {
    auto out = compute(values + op + " %d0, %d1, %d2" + more +
                           "; st.global.b64 [%out], %d0;",
                       1, 2);
    return std::pair{out[0], out[1]};
  };
  EXPECT_EQ(both("add.rn.f32x2"), std::pair(0x3f800000u, 0x400u));
  EXPECT_EQ(both("add.rp.f32x2"), std::pair(0x3f800001u, 0x400u));
  EXPECT_EQ(both("add.rz.ftz.f32x2"), std::pair(0x3f800000u, 0u));
  EXPECT_EQ(both("fma.rp.ftz.f32x2", ", %d2"), std::pair(0x3f800001u, 0u));
  EXPECT_EQ(both("mul.rn.ftz.f32x2"), std::pair(0x33800000u, 0u));
}

TEST(Alu, ApproximatesPairsOfHalves) {
  EXPECT_EQ(one("mov.b32 %r1, 0x3c004000; ex2.approx.f16x2 %r0, %r1;"),
            0x40004400u);
  EXPECT_EQ(one("mov.b32 %r1, 0x3f804000; ex2.approx.ftz.bf16x2 %r0, %r1;"),
            0x40004080u);
  EXPECT_EQ(one("mov.b32 %r1, 0x7c00fc00; tanh.approx.f16x2 %r0, %r1;"),
            0x3c00bc00u);
  EXPECT_EQ(one("mov.b32 %r1, 0x7f800000; tanh.approx.bf16x2 %r0, %r1;"),
            0x3f800000u);
}

TEST(Alu, ModifiersOfHalves) {
  // 2^-20 is subnormal in f16.
  EXPECT_EQ(one("mov.b32 %r1, 0x00103c00; mov.b32 %r2, 0; add.ftz.f16x2 %r0, "
                "%r1, %r2;"),
            0x00003c00u);
  EXPECT_EQ(one("mov.b32 %r1, 0x00103c00; mov.b32 %r2, 0; add.f16x2 %r0, %r1, "
                "%r2;"),
            0x00103c00u);
  EXPECT_EQ(one("mov.b16 %h1, 0x8010; mov.b16 %h2, 0x3c00; mul.ftz.f16 %h0, "
                "%h1, %h2; cvt.u32.u16 %r0, %h0;"),
            0x8000u);
  auto ofTwo = [](const std::string &op, uint32_t a, uint32_t b) {
    return one("mov.b32 %r1, " + std::to_string(a) + "; mov.b32 %r2, " +
               std::to_string(b) + "; " + op + " %r0, %r1, %r2;");
  };
  // +0 is larger than -0.
  EXPECT_EQ(ofTwo("min.f16x2", 0x80000000, 0x00008000), 0x80008000u);
  EXPECT_EQ(ofTwo("max.bf16x2", 0x80000000, 0x00008000), 0u);
  EXPECT_EQ(ofTwo("max.ftz.f16x2", 0x80108010, 0x00100010), 0u);
  EXPECT_EQ(one("mov.b16 %h1, 0x0001; mov.b16 %h2, 0x3c00; min.ftz.f16 %h0, "
                "%h1, %h2; cvt.u32.u16 %r0, %h0;"),
            0u);
  EXPECT_EQ(one("mov.b16 %h1, 0x8010; neg.ftz.f16 %h0, %h1; cvt.u32.u16 %r0, "
                "%h0;"),
            0u);
  EXPECT_EQ(one("mov.b32 %r1, 0x80103c00; abs.ftz.f16x2 %r0, %r1;"), 0x3c00u);
  // -3 and 2: the larger magnitude, and the product's sign.
  EXPECT_EQ(one("mov.b32 %r1, 0xc2004000; mov.b32 %r2, 0x4000c200; "
                "max.xorsign.abs.f16x2 %r0, %r1, %r2;"),
            0xc200c200u);
}

TEST(Alu, ExtremesOfMagnitudes) {
  const std::string values =
      "mov.f32 %f1, 0fC0400000; mov.f32 %f2, 0f40000000; "
      "mov.f32 %f3, 0fBF800000; ";
  EXPECT_EQ(oneFloat(values + "max.f32 %f0, %f1, %f2, %f3;"), 2);
  EXPECT_EQ(oneFloat(values + "max.abs.f32 %f0, %f1, %f2, %f3;"), 3);
  EXPECT_EQ(oneFloat(values + "min.abs.f32 %f0, %f1, %f2, %f3;"), 1);
  EXPECT_EQ(oneFloat(values + "min.xorsign.abs.f32 %f0, %f1, %f2;"), -2);
}
