// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SIMD video instructions, against the formulas of PTX ISA 9.7.18 on each
// element.

#include "Kernels.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <random>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

namespace {

using Formula = std::function<int64_t(int64_t, int64_t)>;

int64_t part(uint32_t word, int index, int bits, bool isSigned) {
  uint32_t value =
      bits == 8 ? word >> (8 * index) & 0xff : word >> (16 * index) & 0xffff;
  if (!isSigned)
    return value;
  return bits == 8 ? int64_t(int8_t(value)) : int64_t(int16_t(value));
}

/// Of random words, lane by lane.
void expectElements(const std::string &name, bool signedD, bool signedA,
                    bool signedB, const std::string &tail, const Formula &f) {
  std::mt19937 random(3);
  for (int elements : {2, 4}) {
    const int bits = 32 / elements;
    for (int trial = 0; trial < 8; ++trial) {
      // The second word has elements that the first has, too.
      uint32_t a = random(), b = random(), c = random();
      b = trial % 2 ? b : (b & 0xffff0000) | (a & 0xffff);
      std::string text = name + std::to_string(elements) + tail + " %r0, " +
                         std::to_string(a) + ", " + std::to_string(b) + ", " +
                         std::to_string(c) + "; st.global.b32 [%o], %r0;";
      const bool saturates = tail.find(".sat") != std::string::npos,
                 adds = tail.find(".add") != std::string::npos;
      uint32_t expected = adds ? c : 0;
      for (int index = 0; index < elements; ++index) {
        int64_t value =
            f(part(a, index, bits, signedA), part(b, index, bits, signedB));
        int64_t least = signedD ? -(1 << (bits - 1)) : 0,
                most = least + (1 << bits) - 1;
        if (saturates)
          value = std::min(std::max(value, least), most);
        expected += adds
                        ? uint32_t(value)
                        : uint32_t(value & ((1 << bits) - 1)) << (bits * index);
      }
      EXPECT_EQ(compute(text, 32, 32)[7], expected) << text;
    }
  }
}

} // namespace

TEST(Video, EveryOperation) {
  struct {
    const char *name;
    Formula of;
  } operations[] = {
      {"vadd", [](int64_t a, int64_t b) { return a + b; }},
      {"vsub", [](int64_t a, int64_t b) { return a - b; }},
      {"vavrg",
       [](int64_t a, int64_t b) {
         return a + b >= 0 ? (a + b + 1) / 2 : (a + b - 1) / 2;
       }},
      {"vabsdiff", [](int64_t a, int64_t b) { return std::abs(a - b); }},
      {"vmin", [](int64_t a, int64_t b) { return std::min(a, b); }},
      {"vmax", [](int64_t a, int64_t b) { return std::max(a, b); }},
  };
  for (const auto &operation : operations)
    for (const char *tail : {"", ".sat", ".add"}) {
      expectElements(operation.name, false, false, false,
                     std::string(".u32.u32.u32") + tail, operation.of);
      expectElements(operation.name, true, true, true,
                     std::string(".s32.s32.s32") + tail, operation.of);
      expectElements(operation.name, true, false, true,
                     std::string(".s32.u32.s32") + tail, operation.of);
    }
}

TEST(Video, EveryComparison) {
  struct {
    const char *name;
    Formula of;
  } comparisons[] = {
      {".eq", [](int64_t a, int64_t b) { return a == b; }},
      {".ne", [](int64_t a, int64_t b) { return a != b; }},
      {".lt", [](int64_t a, int64_t b) { return a < b; }},
      {".le", [](int64_t a, int64_t b) { return a <= b; }},
      {".gt", [](int64_t a, int64_t b) { return a > b; }},
      {".ge", [](int64_t a, int64_t b) { return a >= b; }},
  };
  for (const auto &comparison : comparisons)
    for (bool isSigned : {false, true})
      for (const char *tail : {"", ".add"})
        expectElements("vset", false, isSigned, isSigned,
                       std::string(isSigned ? ".s32.s32" : ".u32.u32") +
                           comparison.name + tail,
                       comparison.of);
}

TEST(Video, WhatItDoesNotKnowIsNamed) {
  auto refused = [](const std::string &text) {
    Report report;
    compute(text + " %r0, %r1, %r2, %r3;", 32, 32, "", &report);
    EXPECT_EQ(report.errors.size(), 1u) << report.str();
    return report.errors.empty() ? "" : report.errors[0].message;
  };
  EXPECT_THAT(refused("vadd4.u32.u32"), HasSubstr("has no supported type"));
  EXPECT_THAT(refused("vadd4.u32.u32.u32.sat.add"),
              HasSubstr("cannot saturate and add"));
  EXPECT_THAT(refused("vset2.u32.u32"), HasSubstr("needs a comparison"));
}
