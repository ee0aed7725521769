// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cvt from and to the narrow formats, against lists of all their numbers.

#include "Kernels.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

using namespace fp8::sim;
using namespace fp8::sim::test;

namespace {

struct Narrow {
  const char *name;
  int exponentBits, mantissaBits, bias, bits; ///< bits: of the container
  const char *reg;
};
// OCP Microscaling Formats (MX) 1.0, 5.3.
const Narrow kFormats[] = {
    {"e4m3", 4, 3, 7, 8, "%h0"}, {"e5m2", 5, 2, 15, 8, "%h0"},
    {"e2m3", 2, 3, 1, 8, "%h0"}, {"e3m2", 3, 2, 3, 8, "%h0"},
    {"e2m1", 2, 1, 1, 4, "%b"},
};

/// The magnitudes of all codes without a sign.
std::vector<double> numbers(const Narrow &f) {
  std::vector<double> all;
  int codes = 1 << (f.exponentBits + f.mantissaBits);
  if (f.name == std::string("e4m3"))
    codes -= 1;
  if (f.name == std::string("e5m2"))
    codes -= 4;
  for (int code = 0; code < codes; ++code) {
    int exponent = code >> f.mantissaBits,
        mantissa = code & ((1 << f.mantissaBits) - 1);
    all.push_back(exponent ? std::ldexp((1 << f.mantissaBits) + mantissa,
                                        exponent - f.bias - f.mantissaBits)
                           : std::ldexp(mantissa, 1 - f.bias - f.mantissaBits));
  }
  return all;
}

/// The nearest code, that of an even number if two are; beyond all: the last.
uint32_t nearest(const Narrow &f, double value) {
  std::vector<double> all = numbers(f);
  double magnitude = std::fabs(value);
  uint32_t best = 0;
  for (uint32_t code = 1; code < all.size(); ++code) {
    double was = std::fabs(all[best] - magnitude),
           is = std::fabs(all[code] - magnitude);
    if (is < was || (is == was && code % 2 == 0))
      best = code;
  }
  uint32_t sign =
      std::signbit(value) ? 1u << (f.exponentBits + f.mantissaBits) : 0;
  return best | sign;
}

std::string hex(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  char text[16];
  std::snprintf(text, sizeof(text), "0f%08X", bits);
  return text;
}

/// %r0 after the body.
uint32_t one(const std::string &body) {
  return compute(".reg .b8 %b;" + body + "\n st.global.b32 [%o], %r0;", 1,
                 1)[0];
}
std::string widened(const Narrow &f) {
  return f.bits == 4 ? "cvt.u32.u8 %r0, %b;" : "cvt.u32.u16 %r0, %h0;";
}
std::string pack(const Narrow &f, const std::string &modifiers, float a,
                 float b) {
  return "cvt.rn.satfinite" + modifiers + "." + f.name + "x2.f32 " + f.reg +
         ", " + hex(a) + ", " + hex(b) + ";" + widened(f);
}

float randomFloat(std::mt19937 &random) {
  float magnitude =
      std::exp2(std::uniform_real_distribution<float>(-18, 17)(random));
  return random() % 2 ? magnitude : -magnitude;
}

} // namespace

TEST(Convert, EveryNarrowNumberToHalves) {
  for (const Narrow &f : kFormats) {
    std::vector<double> all = numbers(f);
    for (uint32_t code = 0; code + 1 < all.size(); code += 2) {
      uint32_t sign = 1u << (f.exponentBits + f.mantissaBits);
      uint32_t packed = code | (code + 1) << f.bits | sign << f.bits;
      std::string load = f.bits == 4
                             ? "mov.b32 %r1, " + std::to_string(packed) +
                                   "; cvt.u8.u32 %b, %r1;"
                             : "mov.b16 %h0, " + std::to_string(packed) + ";";
      for (const char *wide : {"f16", "bf16"}) {
        uint32_t bits =
            one(load + "cvt.rn." + wide + "x2." + f.name + "x2 %r1, " + f.reg +
                "; mov.b32 {%h1, %h2}, %r1; cvt.f32." + wide +
                " %f0, %h1; cvt.f32." + wide +
                " %f1, %h2; sub.f32 %f0, %f0, %f1; "
                "mov.b32 %r0, %f0;");
        float value;
        std::memcpy(&value, &bits, 4);
        // The upper number is negative.
        EXPECT_EQ(value, float(all[code] + all[code + 1]))
            << f.name << " " << code << " " << wide;
      }
    }
  }
}

TEST(Convert, ToTheNearestNarrowNumber) {
  std::mt19937 random(3);
  for (const Narrow &f : kFormats) {
    for (int repeat = 0; repeat < 60; ++repeat) {
      float a = randomFloat(random), b = randomFloat(random);
      EXPECT_EQ(one(pack(f, "", a, b)), nearest(f, a) << f.bits | nearest(f, b))
          << f.name << " " << a << " " << b;
    }
    // Half way between two; .relu; what is no number.
    std::vector<double> all = numbers(f);
    for (uint32_t code = 0; code + 1 < all.size(); ++code) {
      float half = float((all[code] + all[code + 1]) / 2);
      EXPECT_EQ(one(pack(f, "", half, -half)),
                nearest(f, half) << f.bits | nearest(f, -half))
          << f.name;
    }
    EXPECT_EQ(one(pack(f, ".relu", 1, -1)), nearest(f, 1) << f.bits) << f.name;
    uint32_t most = uint32_t(all.size()) - 1;
    EXPECT_EQ(one(pack(f, "", INFINITY, 1e9f)), most << f.bits | most);
    bool hasNaN = f.name[1] > '3';
    EXPECT_EQ(one(pack(f, "", 0, NAN)), hasNaN ? 0x7f : most) << f.name;
  }
}

TEST(Convert, HalvesToNarrowNumbers) {
  std::mt19937 random(4);
  for (const Narrow &f : kFormats)
    for (const char *wide : {"f16", "bf16"})
      for (int repeat = 0; repeat < 20; ++repeat) {
        // Numbers that both formats have.
        float a = std::ldexp(float(int(random() % 255) - 127), -5),
              b = std::ldexp(float(int(random() % 255) - 127), -4);
        EXPECT_EQ(one(std::string("cvt.rn.") + wide + "x2.f32 %r1, " + hex(a) +
                      ", " + hex(b) + "; cvt.rn.satfinite." + f.name + "x2." +
                      wide + "x2 " + f.reg + ", %r1;" + widened(f)),
                  nearest(f, a) << f.bits | nearest(f, b))
            << f.name << " " << wide << " " << a << " " << b;
      }
}

TEST(Convert, ScalesArePowersOfTwo) {
  auto scales = [](const std::string &mode, float a, float b) {
    return one("cvt." + mode + ".ue8m0x2.f32 %h0, " + hex(a) + ", " + hex(b) +
               "; cvt.u32.u16 %r0, %h0;");
  };
  auto pair = [](uint32_t a, uint32_t b) { return a << 8 | b; };
  EXPECT_EQ(scales("rz", 1, 3), pair(127, 128));
  EXPECT_EQ(scales("rp", 1, 3), pair(127, 129));
  EXPECT_EQ(scales("rp.satfinite", -3, 0x1.8p127f), pair(129, 254));
  EXPECT_EQ(scales("rp", 0x1.8p127f, 0x1p127f), pair(255, 254));
  EXPECT_EQ(scales("rz", 0, 0x1p-149f), 0u);
  EXPECT_EQ(scales("rp", 0x1p-127f, 0x1.8p-127f), pair(0, 1));
  EXPECT_EQ(scales("rp.satfinite", INFINITY, NAN), pair(254, 255));
  EXPECT_EQ(scales("rz", INFINITY, NAN), pair(255, 255));
  EXPECT_EQ(one("mov.b16 %h0, 0x7f82; cvt.rn.bf16x2.ue8m0x2 %r0, %h0;"),
            0x3f804100u);
  EXPECT_EQ(one("mov.b16 %h0, 0x00ff; cvt.rn.bf16x2.ue8m0x2 %r0, %h0;"),
            0x00407fffu);
  EXPECT_EQ(one("mov.b32 %r1, 0x40c04100; cvt.rp.ue8m0x2.bf16x2 %h0, %r1; "
                "cvt.u32.u16 %r0, %h0;"),
            pair(130, 130));
}

TEST(Convert, RandomBitsDecideTheRounding) {
  // Between 1 and the next number, at 5/8 of the way: up from 3/8 on.
  struct {
    const char *name;
    float unit; ///< of the numbers from 1 on
    uint32_t one;
    unsigned bits;
    const char *reg, *widen;
  } const formats[] = {
      {"e4m3", 0.125f, 0x38, 8, "%r0", ""},
      {"e5m2", 0.25f, 0x3c, 8, "%r0", ""},
      {"e2m3", 0.125f, 0x08, 8, "%r0", ""},
      {"e3m2", 0.25f, 0x0c, 8, "%r0", ""},
      {"e2m1", 0.5f, 0x2, 4, "%h0", "cvt.u32.u16 %r0, %h0;"},
  };
  for (const auto &f : formats) {
    std::string value = hex(1 + f.unit * 0.625f);
    auto rounded = [&](uint32_t random) {
      uint32_t all =
          one("mov.b32 %r1, " + std::to_string(random) + "; cvt.rs.satfinite." +
              f.name + "x4.f32 " + f.reg + ", {" + value + ", " + value + ", " +
              value + ", " + value + "}, %r1;" + f.widen);
      uint32_t up = 0; // a bit for each, the last number's first
      for (unsigned n = 0; n < 4; ++n)
        up |= ((all >> (n * f.bits) & ((1u << f.bits) - 1)) - f.one) << n;
      return up;
    };
    EXPECT_EQ(rounded(0), 0u) << f.name;
    EXPECT_EQ(rounded(~0u), 15u) << f.name;
    bool narrow = f.bits == 4;
    // 96 of 256 in the byte of the lower number of each pair.
    EXPECT_EQ(rounded(narrow ? 0x60000000 : 0x00006000), narrow ? 4u : 1u);
    EXPECT_EQ(rounded(narrow ? 0x5f000000 : 0x00005f00), 0u) << f.name;
    EXPECT_EQ(rounded(narrow ? 0x00600000 : 0x60000000), narrow ? 1u : 4u);
    // 96 reversed in that of the upper one.
    EXPECT_EQ(rounded(narrow ? 0x00000600 : 0x00000006), narrow ? 8u : 2u);
    EXPECT_EQ(rounded(narrow ? 0x00000006 : 0x00060000), narrow ? 2u : 8u);
    EXPECT_EQ(rounded(narrow ? 0x0000fa00 : 0x000000fa), 0u) << f.name;
  }
  auto halves = [](const char *type, float value, uint32_t random) {
    return one("mov.b32 %r1, " + std::to_string(random) + "; cvt.rs." + type +
               "x2.f32 %r0, " + hex(value) + ", " + hex(value) + ", %r1;");
  };
  EXPECT_EQ(halves("f16", 1 + 0x1.4p-11f, 0x0c000bff), 0x3c013c00u);
  EXPECT_EQ(halves("bf16", 1 + 0x1.4p-8f, 0x60005fff), 0x3f813f80u);
}
