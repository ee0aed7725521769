// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wgmma.mma_async: its numbers, for every layout and type.

#include "ISA/TensorCore/WgmmaKernels.h"

#include <cmath>
#include <cstring>

using namespace fp8::sim;
using namespace fp8::sim::test;

namespace {

double decoded(const std::string &type, const uint8_t *at) {
  if (type == "e4m3" || type == "e5m2") {
    int bits = type == "e4m3" ? 3 : 2, bias = type == "e4m3" ? 7 : 15;
    int exponent = (*at & 0x7f) >> bits, mantissa = *at & ((1 << bits) - 1);
    double value =
        exponent ? std::ldexp((1 << bits) + mantissa, exponent - bias - bits)
                 : std::ldexp(mantissa, 1 - bias - bits);
    return *at & 0x80 ? -value : value;
  }
  uint16_t half;
  std::memcpy(&half, at, 2);
  if (type == "bf16") {
    uint32_t bits = uint32_t(half) << 16;
    float value;
    std::memcpy(&value, &bits, 4);
    return double(value);
  }
  int exponent = half >> 10 & 31, mantissa = half & 1023;
  double value = exponent ? std::ldexp(1024 + mantissa, exponent - 25)
                          : std::ldexp(mantissa, -24);
  return half & 0x8000 ? -value : value;
}

/// Bytes that are numbers of moderate size in each of the types.
void fill(WgmmaProblem &p) {
  uint32_t state = 99;
  auto next = [&](const std::string &type, std::vector<uint8_t> &bytes) {
    for (size_t i = 0; i < bytes.size(); ++i) {
      state = state * 1664525u + 1013904223u;
      bytes[i] = uint8_t(state >> 24);
      if (p.elementBytes() == 1)
        bytes[i] = uint8_t((bytes[i] & 0x80) | (0x20 + (bytes[i] & 0x1f)));
      else if (i % 2)
        bytes[i] = uint8_t((bytes[i] & 0x80) | (type == "bf16" ? 0x3e : 0x34) |
                           (bytes[i] & 3));
    }
  };
  next(p.typeA, p.a);
  next(p.typeB, p.b);
}

/// The largest error relative to the sum of the magnitudes; `before`: what the
/// accumulator held.
double worst(const WgmmaProblem &p, const std::vector<float> &d, double before,
             double sign = 1) {
  double result = 0;
  for (uint32_t r = 0; r < 64; ++r)
    for (uint32_t c = 0; c < p.n; ++c) {
      double sum = before, magnitude = std::fabs(before);
      for (uint32_t byte = 0; byte < 32; byte += p.elementBytes()) {
        double product = decoded(p.typeA, &p.a[r * 32 + byte]) *
                         decoded(p.typeB, &p.b[c * 32 + byte]);
        sum += sign * product;
        magnitude += std::fabs(product);
      }
      double error = std::fabs(double(d[r * p.n + c]) - sum) / magnitude;
      if (!(error <= result))
        result = error;
    }
  return result;
}

} // namespace

TEST(Wgmma, EveryWidthAndType) {
  const std::pair<const char *, const char *> types[] = {
      {"e4m3", "e4m3"}, {"e4m3", "e5m2"}, {"e5m2", "e4m3"},
      {"e5m2", "e5m2"}, {"bf16", "bf16"}, {"f16", "f16"}};
  for (const auto &[a, b] : types)
    for (uint32_t n : {8u, 24u, 64u, 136u, 256u}) {
      WgmmaProblem p(n, a, b);
      fill(p);
      p.options.exactAccumulation = true;
      std::vector<float> d;
      Report report = p.run(d);
      ASSERT_TRUE(report.ok()) << a << b << n << "\n" << report.str();
      EXPECT_LT(worst(p, d, 0.5), 1e-7) << a << " " << b << " N " << n;
    }
}

TEST(Wgmma, EveryLayoutAndSchedule) {
  for (unsigned swizzle = 0; swizzle < 4; ++swizzle)
    for (uint64_t seed = 0; seed < 6; ++seed) {
      WgmmaProblem p(40);
      fill(p);
      p.swizzle = swizzle;
      p.options.exactAccumulation = true;
      p.options.scheduleSeed = seed;
      p.options.completion = seed ? Completion::Late : Completion::AtIssue;
      std::vector<float> d;
      Report report = p.run(d);
      ASSERT_TRUE(report.ok()) << swizzle << "\n" << report.str();
      EXPECT_LT(worst(p, d, 0.5), 1e-7) << "swizzle " << swizzle;
    }
}

TEST(Wgmma, TransposedOperands) {
  for (const char *type : {"bf16", "f16"})
    for (uint32_t n : {8u, 40u, 64u, 136u, 256u})
      for (unsigned swizzle = 0; swizzle < 4; ++swizzle)
        for (unsigned which = 1; which < 8; ++which) {
          WgmmaProblem p(n, type, type);
          fill(p);
          p.swizzle = swizzle;
          p.transposeA = which & 1;
          p.transposeB = which & 2;
          p.alongK = which & 4;
          p.options.exactAccumulation = true;
          p.options.scheduleSeed = n;
          std::vector<float> d;
          Report report = p.run(d);
          ASSERT_TRUE(report.ok()) << n << " " << swizzle << report.str();
          EXPECT_LT(worst(p, d, 0.5), 1e-7)
              << type << " N " << n << " swizzle " << swizzle << " " << which;
        }
  WgmmaProblem p(16, "bf16", "bf16");
  fill(p);
  p.registerA = p.transposeB = true;
  p.options.exactAccumulation = true;
  std::vector<float> d;
  Report report = p.run(d);
  ASSERT_TRUE(report.ok()) << report.str();
  EXPECT_LT(worst(p, d, 0.5), 1e-7);
}

TEST(Wgmma, AFromRegistersAndNegated) {
  for (const char *type : {"e4m3", "bf16"}) {
    WgmmaProblem p(16, type, type);
    fill(p);
    p.registerA = true;
    p.scales = "-1, 1";
    p.options.exactAccumulation = true;
    std::vector<float> d;
    Report report = p.run(d);
    ASSERT_TRUE(report.ok()) << report.str();
    EXPECT_LT(worst(p, d, 0.5, -1), 1e-7) << type;
  }
}

TEST(Wgmma, ScaleDLeavesTheAccumulatorOut) {
  WgmmaProblem p(8);
  fill(p);
  p.options.exactAccumulation = true;
  p.initialise = false; // the registers are undefined before
  p.scaleD = "0";
  std::vector<float> d;
  Report report = p.run(d);
  ASSERT_TRUE(report.ok()) << report.str();
  EXPECT_LT(worst(p, d, 0), 1e-7);
  p.scaleD = "1";
  EXPECT_TRUE(has(p.run(d), ErrorKind::UninitialisedRegister));
}

TEST(Wgmma, HopperCutsProductsOff) {
  // Row 0 of A: 1 and, the other 31, x; B is 1. 13 bits behind the leading one
  // are kept of each.
  auto sumWith = [](uint8_t one, uint8_t x, uint8_t b, bool exact) {
    WgmmaProblem p(8, "e5m2", "e5m2");
    p.options.exactAccumulation = exact;
    p.scaleD = "0";
    p.a.assign(p.a.size(), x);
    p.b.assign(p.b.size(), b);
    p.a[0] = one;
    std::vector<float> d;
    Report report = p.run(d);
    EXPECT_TRUE(report.ok()) << report.str();
    return d[0];
  };
  // e5m2: exponent e at e + 15.
  auto power = [](int e) { return uint8_t((e + 15) << 2); };
  EXPECT_EQ(sumWith(power(0), power(-13), power(0), false),
            1 + 31 * std::ldexp(1.f, -13));
  EXPECT_EQ(sumWith(power(0), power(-14), power(0), false), 1.f);
  EXPECT_EQ(sumWith(power(0), power(-14), power(0), true),
            1 + 31 * std::ldexp(1.f, -14));
  // Toward zero, whatever the sign.
  EXPECT_EQ(sumWith(power(0), uint8_t(power(-14) | 0x80), power(0), false),
            1.f);
  EXPECT_EQ(sumWith(power(0), uint8_t(power(-13) | 0x81), power(0), false),
            1 - 31 * std::ldexp(1.f, -13));
  // Infinity and NaN are what they are.
  EXPECT_EQ(sumWith(0x7c, power(0), power(0), false), INFINITY);
  EXPECT_TRUE(std::isnan(sumWith(0x7f, power(0), power(0), false)));
  EXPECT_EQ(sumWith(0, 0, power(0), false), 0.f);
}

TEST(Wgmma, HopperCutsTheSumOff) {
  // 1.5 * 1.5 has the exponent 0, the sum 1: 2^-13 is a bit too small for it.
  for (int e : {-12, -13}) {
    WgmmaProblem p(8, "e5m2", "e5m2");
    p.scaleD = "0";
    for (uint32_t r = 0; r < 64; ++r) {
      p.a[r * 32] = 15 << 2 | 2;
      p.a[r * 32 + 1] = uint8_t((e + 15) << 2);
    }
    for (uint32_t c = 0; c < 8; ++c) {
      p.b[c * 32] = 15 << 2 | 2;
      p.b[c * 32 + 1] = 15 << 2;
    }
    std::vector<float> d;
    EXPECT_TRUE(p.run(d).ok());
    EXPECT_EQ(d[0], e == -12 ? 2.25f + 0x1p-12f : 2.25f);
  }
}

TEST(Wgmma, HopperCutsTheAccumulatorOffToo) {
  WgmmaProblem p(8);
  p.before = 1 + std::ldexp(1.f, -20);
  p.a.assign(p.a.size(), 0);
  std::vector<float> d;
  EXPECT_TRUE(p.run(d).ok());
  EXPECT_EQ(d[0], 1.f);
  p.options.exactAccumulation = true;
  EXPECT_TRUE(p.run(d).ok());
  EXPECT_EQ(d[0], p.before);
}

TEST(Wgmma, SixteenBitTypesKeepMoreBits) {
  // Row 0 of A: 1 and, the other 15, x; B is 1.
  auto sumWith = [](float x, bool exact) {
    WgmmaProblem p(8, "bf16", "bf16");
    p.options.exactAccumulation = exact;
    p.scaleD = "0";
    auto set = [](std::vector<uint8_t> &to, size_t at, float value) {
      uint32_t bits;
      std::memcpy(&bits, &value, 4);
      to[at] = uint8_t(bits >> 16), to[at + 1] = uint8_t(bits >> 24);
    };
    for (size_t at = 0; at < p.a.size(); at += 2)
      set(p.a, at, x);
    for (size_t at = 0; at < p.b.size(); at += 2)
      set(p.b, at, 1);
    set(p.a, 0, 1);
    std::vector<float> d;
    Report report = p.run(d);
    EXPECT_TRUE(report.ok()) << report.str();
    return d[0];
  };
  // 15 * 2^-25 of 2^-23: 3 units and 3 quarters of one, which are cut off.
  EXPECT_EQ(sumWith(0x1p-25f, false), 1 + 3 * 0x1p-23f);
  EXPECT_EQ(sumWith(0x1p-25f, true), 1 + 4 * 0x1p-23f);
  // A term below 2^-25 adds nothing.
  EXPECT_EQ(sumWith(0x1.fep-26f, false), 1.f);
  EXPECT_GT(sumWith(0x1.fep-26f, true), 1.f);
  EXPECT_EQ(sumWith(-0x1.fep-26f, false), 1.f);
}
