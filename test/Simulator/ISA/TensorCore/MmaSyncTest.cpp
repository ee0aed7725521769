// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mma.sync: every shape and type, against products in double of random
// elements. The elements are put where the fragments of PTX ISA 9.7.14.5 have
// them, each shape by the formula that is printed there for it.

#include "ISA/TensorCore/MmaElements.h"
#include "Kernels.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <random>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

namespace {

struct Case {
  std::string shape, d, a, b, c;
  std::string tail = "";
};

struct Element {
  uint32_t row, column;
};

/// The fragments of PTX ISA 9.7.14.5.1 to 9.7.14.5.14, one subsection a shape
/// and type: row and column of the i-th element of a thread.
struct Fragments {
  uint32_t m, k, bits;

  uint32_t group(uint32_t lane) const { return lane >> 2; }
  uint32_t thread(uint32_t lane) const { return lane % 4; }

  Element a(uint32_t lane, uint32_t i) const {
    uint32_t g = group(lane), t = thread(lane);
    if (m == 8) // m8n8k4 of f64, m8n8k16, m8n8k32, m8n8k128
      return {g, t * (k / 4) + i};
    switch (bits) {
    case 16: // m16n8k8: a0, a1 | a2, a3; m16n8k16: 8 elements
      return {i % 4 < 2 ? g : g + 8, t * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
    case 32: // m16n8k4, m16n8k8 of tf32
    case 64: // m16n8k4, m16n8k8, m16n8k16 of f64
      return {i % 2 ? g + 8 : g, t + 4 * (i / 2)};
    case 8: // m16n8k16, m16n8k32
      return {i % 8 < 4 ? g : g + 8, t * 4 + (i & 3) + (i >= 8 ? 16 : 0)};
    case 4: // m16n8k32, m16n8k64
      return {i % 16 < 8 ? g : g + 8, t * 8 + (i & 7) + (i >= 16 ? 32 : 0)};
    default: // m16n8k128, m16n8k256 of b1
      return {i % 64 < 32 ? g : g + 8, t * 32 + (i & 31) + (i >= 64 ? 128 : 0)};
    }
  }
  /// Row along K, column along N.
  Element b(uint32_t lane, uint32_t i) const {
    uint32_t g = group(lane), t = thread(lane);
    switch (bits) {
    case 16:
      return {t * 2 + (i & 1) + (i >= 2 ? 8 : 0), g};
    case 32:
    case 64:
      return {t + 4 * i, g};
    case 8:
      return {t * 4 + (i & 3) + (i >= 4 ? 16 : 0), g};
    case 4:
      return {t * 8 + (i & 7) + (i >= 8 ? 32 : 0), g};
    default:
      return {t * 32 + (i & 31) + (i >= 32 ? 128 : 0), g};
    }
  }
  Element c(uint32_t lane, uint32_t i) const {
    return {i < 2 ? group(lane) : group(lane) + 8, thread(lane) * 2 + (i & 1)};
  }
};

class MmaProblem {
public:
  explicit MmaProblem(Case form, uint64_t seed = 1) : form(form), random(seed) {
    unsigned m, k;
    EXPECT_EQ(std::sscanf(form.shape.c_str(), "m%un8k%u", &m, &k), 2);
    layout = {m, k, bitsOf(form.a)};
    draw(a, m * k, form.a);
    draw(b, k * 8, form.b);
    draw(c, m * 8, form.c);
  }

  Case form;
  Fragments layout;
  std::vector<uint64_t> a, b, c; ///< row by row
  Options options;
  Report report;

  /// D's elements, row by row.
  std::vector<uint64_t> run() {
    std::vector<uint32_t> registers[3];
    const std::string types[] = {form.a, form.b, form.c};
    using Place = Element (Fragments::*)(uint32_t, uint32_t) const;
    const Place places[] = {&Fragments::a, &Fragments::b, &Fragments::c};
    const std::vector<uint64_t> *values[] = {&a, &b, &c};
    const uint32_t widths[] = {layout.k, 8, 8};
    for (int n = 0; n < 3; ++n)
      pack(registers[n], *values[n], types[n], places[n], widths[n]);
    return execute(registers);
  }

  /// The largest error, relative to the sum of magnitudes.
  double worst(const std::vector<uint64_t> &d) const {
    double most = 0;
    for (uint32_t row = 0; row < layout.m; ++row)
      for (uint32_t n = 0; n < 8; ++n) {
        double sum = decoded(form.c, c[row * 8 + n]),
               magnitude = std::fabs(sum);
        for (uint32_t k = 0; k < layout.k; ++k) {
          uint64_t x = a[row * layout.k + k], y = b[k * 8 + n];
          double product = form.tail == ".xor.popc"
                               ? double(x ^ y)
                               : decoded(form.a, x) * decoded(form.b, y);
          sum += product;
          magnitude += std::fabs(product);
        }
        double error =
            std::fabs(decoded(form.d, d[row * 8 + n]) - sum) / magnitude;
        most = error <= most ? most : error;
      }
    return most;
  }

private:
  std::mt19937_64 random;

  void draw(std::vector<uint64_t> &to, uint32_t count,
            const std::string &type) {
    for (uint32_t i = 0; i < count; ++i)
      to.push_back(
          type == "s32"
              ? uint64_t(uint32_t(int32_t(int64_t(random() % 2001) - 1000)))
              : randomElement(type, random));
  }

  /// Registers, lane by lane within each; of f64 two words a lane.
  void pack(std::vector<uint32_t> &out, const std::vector<uint64_t> &values,
            const std::string &type,
            Element (Fragments::*place)(uint32_t, uint32_t) const,
            uint32_t width) const {
    uint32_t bits = bitsOf(type);
    uint32_t elements = uint32_t(values.size()) / 32;
    uint32_t words = (elements * bits + 31) / 32;
    out.assign(words * 32, 0);
    for (uint32_t lane = 0; lane < 32; ++lane)
      for (uint32_t i = 0; i < elements; ++i) {
        Element at = (layout.*place)(lane, i);
        uint64_t element = values[at.row * width + at.column];
        if (bits == 64) {
          out[i * 64 + lane * 2] = uint32_t(element);
          out[i * 64 + lane * 2 + 1] = uint32_t(element >> 32);
        } else {
          out[i * bits / 32 * 32 + lane] |= uint32_t(element)
                                            << (i * bits % 32);
        }
      }
  }

  std::vector<uint64_t> execute(const std::vector<uint32_t> (&registers)[3]) {
    Device device;
    std::vector<uint32_t> all;
    std::string body = ".reg .b64 %in, %w, %n, %out; .reg .b32 %t;\n"
                       "ld.param.u64 %in, [in]; ld.param.u64 %out, [out];\n"
                       "mov.u32 %t, %tid.x; mul.wide.u32 %n, %t, 4;\n"
                       "mul.wide.u32 %w, %t, 8; add.u64 %w, %w, %in;\n"
                       "add.u64 %n, %n, %in;\n";
    const std::string types[] = {form.a, form.b, form.c};
    std::string operands[3];
    for (int n = 0; n < 3; ++n) {
      bool wide = types[n] == "f64";
      std::string type = wide ? ".b64 " : ".b32 ";
      uint32_t step = wide ? 64 : 32;
      for (uint32_t at = 0; at < registers[n].size(); at += step) {
        std::string name =
            "%" + std::string(1, "xyz"[n]) + std::to_string(at / step);
        body += ".reg " + type + name + "; ld.global" + type + name + ", [" +
                (wide ? "%w+" : "%n+") + std::to_string((all.size() + at) * 4) +
                "];\n";
        operands[n] += (at ? ", " : "") + name;
      }
      all.insert(all.end(), registers[n].begin(), registers[n].end());
    }
    bool wide = form.d == "f64";
    uint32_t perLane = layout.m * 8 * bitsOf(form.d) / 32 / (wide ? 64 : 32);
    std::string results;
    for (uint32_t r = 0; r < perLane; ++r) {
      body += std::string(".reg ") + (wide ? ".b64" : ".b32") + " %d" +
              std::to_string(r) + ";\n";
      results += (r ? ", %d" : "%d") + std::to_string(r);
    }
    body += "mma.sync.aligned." + form.shape + ".row.col." + form.d + "." +
            form.a + "." + form.b + "." + form.c + form.tail + " {" + results +
            "}, {" + operands[0] + "}, {" + operands[1] + "}, {" + operands[2] +
            "};\n";
    for (uint32_t r = 0; r < perLane; ++r)
      body += "mul.wide.u32 %w, %t, " + std::to_string(wide ? 8 : 4) +
              "; add.u64 %w, %w, %out; st.global" + (wide ? ".b64" : ".b32") +
              " [%w+" + std::to_string(r * (wide ? 256 : 128)) + "], %d" +
              std::to_string(r) + ";\n";
    uint64_t in = *device.allocate("in", all.size() * 4),
             out = *device.allocate("out", 16 * 8 * 8);
    device.write(in, all.data(), all.size() * 4);
    LaunchConfig config;
    config.block = {32, 1, 1};
    report = test::run(
        device,
        kernel(".param .u64 in, .param .u64 out", body + "ret;", "sm_90a"),
        {KernelArgument::value(in), KernelArgument::value(out)}, config,
        options);
    return unpack(device, out);
  }

  std::vector<uint64_t> unpack(Device &device, uint64_t out) const {
    std::vector<uint64_t> d(layout.m * 8, ~uint64_t(0));
    uint32_t bits = bitsOf(form.d);
    std::vector<uint8_t> bytes(d.size() * bits / 8);
    EXPECT_TRUE(device.read(out, bytes.data(), bytes.size()));
    for (uint32_t lane = 0; lane < 32; ++lane)
      for (uint32_t i = 0; i < d.size() / 32; ++i) {
        Element at = layout.c(lane, i);
        size_t from = bits == 16 ? i / 2 * 128 + lane * 4 + i % 2 * 2
                                 : i * 32 * bits / 8 + lane * bits / 8;
        d[at.row * 8 + at.column] = 0;
        std::memcpy(&d[at.row * 8 + at.column], bytes.data() + from, bits / 8);
      }
    return d;
  }
};

std::vector<Case> allCases() {
  std::vector<Case> cases = {
      {"m16n8k4", "f32", "tf32", "tf32", "f32"},
      {"m16n8k8", "f32", "tf32", "tf32", "f32"},
      {"m16n8k8", "f32", "bf16", "bf16", "f32"},
      {"m16n8k16", "f32", "bf16", "bf16", "f32"},
      {"m8n8k4", "f64", "f64", "f64", "f64"},
      {"m16n8k4", "f64", "f64", "f64", "f64"},
      {"m16n8k8", "f64", "f64", "f64", "f64"},
      {"m16n8k16", "f64", "f64", "f64", "f64"},
      {"m16n8k4", "f64", "f64", "f64", "f64", ".rn"},
  };
  for (const char *sum : {"f32", "f16"}) {
    for (const char *shape : {"m16n8k8", "m16n8k16"})
      cases.push_back({shape, sum, "f16", "f16", sum});
    for (const char *shape : {"m16n8k16", "m16n8k32"})
      for (const char *a : {"e4m3", "e5m2"})
        for (const char *b : {"e4m3", "e5m2"})
          cases.push_back({shape, sum, a, b, sum});
  }
  for (const char *a : {"s8", "u8"})
    for (const char *b : {"s8", "u8"})
      for (const char *shape : {"m8n8k16", "m16n8k16", "m16n8k32"})
        cases.push_back({shape, "s32", a, b, "s32"});
  for (const char *a : {"s4", "u4"})
    for (const char *b : {"s4", "u4"})
      for (const char *shape : {"m8n8k32", "m16n8k32", "m16n8k64"})
        cases.push_back({shape, "s32", a, b, "s32"});
  for (const char *shape : {"m8n8k128", "m16n8k128", "m16n8k256"})
    for (const char *tail : {".and.popc", ".xor.popc"})
      cases.push_back({shape, "s32", "b1", "b1", "s32", tail});
  return cases;
}

} // namespace

TEST(MmaSync, EveryShapeAndType) {
  for (const Case &form : allCases())
    for (bool exact : {false, true}) {
      MmaProblem p(form, 7);
      p.options.exactAccumulation = exact;
      std::vector<uint64_t> d = p.run();
      std::string name =
          form.shape + "." + form.d + "." + form.a + "." + form.b + form.tail;
      ASSERT_TRUE(p.report.ok()) << name << "\n" << p.report.str();
      bool integer = form.d == "s32";
      double bound = integer           ? 0
                     : form.d == "f64" ? 1e-15
                     : form.d == "f16" ? 5e-4
                     : exact           ? 6e-8
                                       : 4e-7;
      EXPECT_LE(p.worst(d), bound) << name << (exact ? " exactly" : "");
    }
}

TEST(MmaSync, CutsOffTowardZero) {
  // 1 and 2^-25, 2^-26: a term has 25 bits behind the leading one, the sum 23.
  MmaProblem p({"m16n8k16", "f32", "bf16", "bf16", "f32"});
  auto sum = [&](float first, float rest, float before) {
    auto upper = [](float value) {
      uint32_t bits;
      std::memcpy(&bits, &value, 4);
      return uint64_t(bits >> 16);
    };
    uint32_t c;
    std::memcpy(&c, &before, 4);
    p.a.assign(p.a.size(), upper(rest));
    p.b.assign(p.b.size(), upper(1));
    p.c.assign(p.c.size(), c);
    for (uint32_t row = 0; row < 16; ++row)
      p.a[row * 16] = upper(first);
    return float(decoded("f32", p.run()[0]));
  };
  EXPECT_EQ(sum(1, 0x1p-26f, 0), 1);
  EXPECT_EQ(sum(1, 0x1p-25f, 0), 1 + 3 * 0x1p-23f); // of 15 units, 12
  EXPECT_EQ(sum(-1, -0x1p-25f, 0), -1 - 3 * 0x1p-23f);
  EXPECT_EQ(sum(0, 0x1p-26f, 1), 1);
  p.options.exactAccumulation = true;
  EXPECT_EQ(sum(1, 0x1p-26f, 0), 1 + 2 * 0x1p-23f); // 1.875, to the nearest
}

TEST(MmaSync, IntegersWrapOrSaturate) {
  std::string body = R"(
  mov.b32 %r0, 0x7f7f7f7f; mov.b32 %r1, 0x7fffffff;
  mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.s8.s32 {%r2, %r3}, {%r0}, {%r0}, {%r1, %r1};
  st.global.b32 [%o], %r2;)";
  EXPECT_EQ(compute(body, 32, 32)[5], 0x7fffffffu);
  EXPECT_EQ(compute(replaced(body, ".satfinite", ""), 32, 32)[5],
            0x7fffffffu + 16u * 127 * 127);
}

TEST(MmaSync, WhatItDoesNotKnowIsNamed) {
  auto refused = [](const std::string &form, const std::string &operands) {
    Report report;
    compute("mma.sync.aligned." + form + " " + operands + ";", 32, 32, "",
            &report);
    EXPECT_EQ(report.errors.size(), 1u) << report.str();
    return report.errors.empty() ? "" : report.errors[0].message;
  };
  const std::string any = "{%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, {%r4, "
                          "%r5}, {%f4, %f5, %f6, %f7}";
  EXPECT_THAT(refused("m8n8k4.row.col.f32.f16.f16.f32", any),
              HasSubstr("is not supported with shape .m8n8k4"));
  EXPECT_THAT(refused("m16n8k16.row.col.f32.f16.bf16.f32", any),
              HasSubstr("cannot multiply .f16 by .bf16"));
  EXPECT_THAT(refused("m16n8k16.row.col.f16.bf16.bf16.f16", any),
              HasSubstr("cannot add up products of .bf16 in .f16"));
  EXPECT_THAT(refused("m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e2m1.f32", any),
              HasSubstr("is not supported with .kind::f8f6f4"));
  EXPECT_THAT(refused("m16n8k16.row.col.f32.f16.f16.f32",
                      "{%f0, %f1}, {%r0}, {%r1}, {%f2, %f3}"),
              HasSubstr("needs a vector of 4 registers, not 2"));
  Report report;
  compute("mma.sp.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 " + any + ";",
          32, 32, "", &report);
  ASSERT_EQ(report.errors.size(), 1u);
  EXPECT_THAT(report.errors[0].message, HasSubstr("with .sp"));
}

TEST(MmaSync, UndefinedOperandsMakeUndefinedResults) {
  Report report;
  compute("mov.b32 %r0, 0; mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 "
          "{%r2, %r3}, {%r0}, {%r1}, {%r0, %r0}; st.global.b32 [%o], %r3;",
          32, 32, "", &report);
  ASSERT_EQ(report.errors.size(), 1u) << report.str();
  EXPECT_EQ(report.errors[0].kind, ErrorKind::UninitialisedRegister);
  EXPECT_THAT(report.str(), HasSubstr("register %r1 is read before"));
}
