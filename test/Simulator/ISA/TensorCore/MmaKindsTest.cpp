// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tcgen05.mma of every kind, format and number of scales, with random data
// against sums in double.

#include "ISA/TensorCore/MmaKernel.h"
#include "ISA/TensorCore/TensorCore.h"

#include <gmock/gmock.h>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

namespace {

/// 33 terms are cut off to 2^-25 of the largest.
constexpr double kRounding = 2e-6;

void expectRight(const MmaCase &form, double relative = kRounding) {
  static uint32_t seed = 100;
  MmaRun run(form, ++seed);
  Report report = run.run();
  ASSERT_TRUE(report.ok()) << form.name() << "\n" << report.str();
  EXPECT_TRUE(report.warnings.empty()) << form.name() << "\n" << report.str();
  run.check(relative);
}

MmaCase unscaled(const std::string &kind, const Element &a, const Element &b) {
  MmaCase form;
  form.kind = kind;
  form.a = a;
  form.b = b;
  form.scales = 0;
  form.qualifiers = "";
  return form;
}

MmaCase packed(const std::string &kind, const std::string &qualifiers,
               uint32_t scales, uint32_t type) {
  MmaCase form;
  form.kind = kind;
  form.qualifiers = qualifiers;
  form.a = form.b = kPackedE2m1;
  form.scales = scales;
  form.scaleType = type;
  return form;
}

const MmaCase kScaledCases[] = {
    MmaCase{},
    packed("mxf4", ".block_scale", 2, 1),
    packed("mxf4", ".block_scale.scale_vec::2X", 2, 1),
    packed("mxf4nvf4", ".block_scale.block32", 2, 1),
    packed("mxf4nvf4", ".block_scale.scale_vec::4X", 4, 1),
    packed("mxf4nvf4", ".block_scale.block16", 4, 0),
};

} // namespace

TEST(MmaKinds, EveryFormatOfF8F6F4) {
  const Element elements[] = {kE4m3, kE5m2, kE2m3, kE3m2, kE2m1};
  for (const Element &a : elements)
    for (const Element &b : elements) {
      expectRight(unscaled("f8f6f4", a, b));
      MmaCase form;
      form.a = a;
      form.b = b;
      form.aId = a.code % 4;
      form.bId = b.code % 4;
      expectRight(form);
    }
}

TEST(MmaKinds, ShapesWithScales) {
  for (MmaCase form : kScaledCases)
    for (bool pair : {false, true}) {
      form.pair = pair;
      for (uint32_t m : {128u, 256u}) {
        if (m > (pair ? 256u : 128u))
          continue;
        form.m = m;
        for (uint32_t n : {8u, 16u, 24u, 48u, 144u, 256u}) {
          if (pair && n % 16)
            continue;
          form.n = n;
          expectRight(form);
        }
      }
    }
}

TEST(MmaKinds, EveryScaleId) {
  for (MmaCase form : kScaledCases) {
    uint32_t right = 0;
    for (form.aId = 0; form.aId < 4; ++form.aId)
      for (form.bId = 0; form.bId < 4; ++form.bId) {
        MmaRun run(form);
        Report report = run.run();
        if (form.aId % form.scales || form.bId % form.scales) {
          EXPECT_TRUE(has(report, ErrorKind::BadDescriptor)) << form.name();
          EXPECT_THAT(report.str(), HasSubstr("the scale factor ID of "));
          continue;
        }
        ASSERT_TRUE(report.ok()) << report.str();
        run.check(kRounding);
        ++right;
      }
    EXPECT_EQ(right, 16 / form.scales / form.scales);
  }
}

TEST(MmaKinds, AnotherScaleIsAnotherNumber) {
  for (const MmaCase &form : kScaledCases) {
    MmaRun run(form);
    ASSERT_TRUE(run.run().ok());
    uint32_t all = form.m * form.n;
    for (auto scales : {&MmaRun::aScales, &MmaRun::bScales}) {
      MmaRun other = run;
      // Those of the next row.
      std::vector<uint32_t> &codes = other.*scales;
      std::rotate(codes.begin(), codes.begin() + form.scales, codes.end());
      EXPECT_GT(other.countWrong(kRounding), all / 2) << form.name();
      // Those of a row in another order.
      if (form.scales == 1)
        continue;
      other = run;
      std::vector<uint32_t> &swapped = other.*scales;
      for (size_t n = 0; n < swapped.size(); n += 2)
        std::swap(swapped[n], swapped[n + 1]);
      EXPECT_GT(other.countWrong(kRounding), all / 2) << form.name();
    }
  }
}

TEST(MmaKinds, SignsAndAccumulators) {
  for (MmaCase form : kScaledCases) {
    form.negateA = true;
    form.accumulate = true;
    expectRight(form);
  }
  MmaCase form;
  form.mnMajor = true;
  form.n = 32;
  for (const Element &a : {kE4m3, kE3m2, kE2m1}) {
    form.a = a;
    expectRight(form);
  }
}

TEST(MmaKinds, AInTensorMemory) {
  for (MmaCase form : kScaledCases) {
    form.tensorA = true;
    expectRight(form);
    form.pair = true;
    form.m = 256;
    expectRight(form);
  }
  for (const Element &a : {kE5m2, kE2m3, kE3m2, kE2m1}) {
    MmaCase form = unscaled("f8f6f4", a, kE4m3);
    form.tensorA = true;
    expectRight(form);
    form.pair = true;
    for (uint32_t m : {128u, 256u}) {
      form.m = m;
      expectRight(form);
    }
  }
}

TEST(MmaKinds, Integers) {
  for (const Element &a : {kU8, kS8})
    for (const Element &b : {kU8, kS8})
      for (uint32_t m : {64u, 128u})
        for (uint32_t n : {8u, 24u, 32u, 256u}) {
          MmaCase form = unscaled("i8", a, b);
          form.m = m;
          form.n = n;
          form.accumulate = true;
          expectRight(form, 0);
        }
}

TEST(MmaKinds, IntegersSaturate) {
  // 255 * 255 * 32, from an accumulator near the end.
  for (bool saturates : {false, true}) {
    MmaCase form = unscaled("i8", kU8, kU8);
    form.accumulate = true;
    form.extraBits = uint32_t(saturates) << 3;
    MmaRun run(form);
    std::fill(run.a.begin(), run.a.end(), 255u);
    std::fill(run.b.begin(), run.b.end(), 255u);
    // The accumulator of the first MMA holds 2^31 - 1 where it is read.
    size_t at = run.text.find("  @%p5 bra ISSUED;");
    run.text.insert(
        at, "  shl.b32 %r9, %r2, 21; add.u32 %r9, %r9, %r4;\n  mov.u32 %v0, "
            "0x7fffffff;\n  tcgen05.st.sync.aligned.32x32b.x32.b32 [%r9], {"
            "%v0, %v0, %v0, %v0, %v0, %v0, %v0, %v0, %v0, %v0, %v0, %v0, %v0, "
            "%v0, %v0, %v0, %v0, %v0, %v0, %v0, %v0, %v0, %v0, %v0, %v0, %v0, "
            "%v0, %v0, %v0, %v0, %v0, %v0};\n  tcgen05.wait::st.sync.aligned; "
            "tcgen05.fence::before_thread_sync; bar.sync 0; "
            "tcgen05.fence::after_thread_sync;\n");
    run.text = replaced(run.text, ", %p3;", ", %p6;");
    Report report = run.run();
    ASSERT_TRUE(report.ok()) << report.str();
    EXPECT_EQ(run.bits(9, 9),
              saturates ? 0x7fffffffu : 0x7fffffffu + 2 * 32 * 255 * 255);
  }
}

TEST(MmaKinds, SumsAreCutOffAsOnAB200) {
  // A product of 2^16, and 31 of `sign` * 2^power. Each keeps what is not below
  // 2^-25 of the first one's exponent; then the sum loses what is below 2^-7,
  // the last bit of f32 there, toward zero.
  auto sumOf = [](MmaCase form, int power, bool negative, bool exact) {
    MmaRun run(form);
    run.options.exactAccumulation = exact;
    // Of e4m3: 2^p.
    auto code = [](int p) {
      return uint32_t(p < -6 ? 1 << (p + 9) : (p + 7) << 3);
    };
    std::fill(run.aScales.begin(), run.aScales.end(), 127u);
    std::fill(run.bScales.begin(), run.bScales.end(), 127u);
    for (uint32_t at = 0; at < run.a.size(); ++at)
      run.a[at] = at % 32 ? code(-3) | (negative ? 0x80 : 0) : code(8);
    for (uint32_t at = 0; at < run.b.size(); ++at)
      run.b[at] = at % 32 ? code(power + 3) : code(8);
    Report report = run.run();
    EXPECT_TRUE(report.ok()) << report.str();
    return run.result(77, 9) - 0x1p16f;
  };
  for (const MmaCase &form : {unscaled("f8f6f4", kE4m3, kE4m3), MmaCase{}}) {
    EXPECT_EQ(sumOf(form, -9, false, false), 7 * 0x1p-7f) << form.name();
    EXPECT_EQ(sumOf(form, -9, false, true), 8 * 0x1p-7f) << form.name();
    EXPECT_EQ(sumOf(form, -10, false, false), 0.f) << form.name();
    EXPECT_EQ(sumOf(form, -10, false, true), 4 * 0x1p-7f) << form.name();
    // Below 2^16 the last bit of f32 is 2^-8.
    EXPECT_EQ(sumOf(form, -9, true, false), -16 * 0x1p-8f) << form.name();
    EXPECT_EQ(sumOf(form, -10, true, false), 0.f) << form.name();
  }
}

TEST(MmaKinds, HalfOfTheLanes) {
  for (uint32_t n : {8u, 64u}) {
    MmaCase form = unscaled("f8f6f4", kE4m3, kE3m2);
    form.m = 64;
    form.n = n;
    expectRight(form);
  }
}

TEST(MmaKinds, ScalesThatAreNoNumbers) {
  for (const MmaCase &form : kScaledCases) {
    MmaRun run(form);
    run.aScales[5 * form.scales] = form.scaleType ? 255 : 127;
    run.bScales[7 * form.scales] = form.scaleType ? 255 : 127;
    Report report = run.run();
    ASSERT_TRUE(report.ok()) << report.str();
    for (uint32_t row = 0; row < form.m; ++row)
      for (uint32_t column = 0; column < form.n; ++column)
        EXPECT_EQ(run.bits(row, column) == 0x7fffffff, row == 5 || column == 7)
            << form.name() << " " << row << " " << column;
  }
}

TEST(MmaKinds, ScalesAtTheEnds) {
  for (MmaCase form : kScaledCases) {
    if (!form.scaleType)
      continue;
    // 2^-127 times 2^127, and to infinity.
    MmaRun run(form);
    std::fill(run.aScales.begin(), run.aScales.end(), 0u);
    std::fill(run.bScales.begin(), run.bScales.end(), 254u);
    ASSERT_TRUE(run.run().ok());
    run.check(kRounding);
    std::fill(run.aScales.begin(), run.aScales.end(), 254u);
    ASSERT_TRUE(run.run().ok());
    EXPECT_EQ(run.bits(3, 4) & 0x7fffffff, 0x7f800000u);
    // What is less than f32's least number.
    std::fill(run.aScales.begin(), run.aScales.end(), 0u);
    std::fill(run.bScales.begin(), run.bScales.end(), 0u);
    ASSERT_TRUE(run.run().ok());
    EXPECT_EQ(run.bits(3, 4) & 0x7fffffff, 0u);
  }
}

TEST(MmaKinds, PaddingNeedsNoData) {
  // Threads store the first `bytes` of each 16 bytes of A and B, and something
  // undefined into the next 4, if asked for.
  auto load = [](const Element &element, uint32_t bytes, bool undefined) {
    MmaRun run(unscaled("f8f6f4", element, element));
    size_t at = run.text.find("  mbarrier.arrive.expect_tx");
    run.text.erase(at, run.text.find("COPIED:") - at);
    run.text.insert(at, "  mbarrier.arrive.shared.b64 _, [bar];\n");
    std::string move;
    for (uint32_t word = 0; word < bytes; word += 4) {
      std::string offset = std::to_string(word) + "]";
      move += "  ld.global.b32 %v0, [%d8+" + offset + "; st.shared.b32 [%r11+" +
              offset + ", %v0;\n";
    }
    if (undefined)
      move += "  st.shared.b32 [%r11+" + std::to_string(bytes) + "], %v15;\n";
    run.text = replaced(
        run.text, "COPIED: bar.sync 0;\n",
        "COPIED: mul.wide.u32 %d8, %r0, 16; add.s64 %d8, %d8, %d0;\n"
        "  shl.b32 %r11, %r0, 4; add.u32 %r11, %r11, %r5; mov.u32 %r12, 0;\n"
        "LC:\n" +
            move +
            "  add.s64 %d8, %d8, 2048; add.u32 %r11, %r11, 2048;\n"
            "  add.u32 %r12, %r12, 1; setp.lt.u32 %p7, %r12, 6;\n"
            "  @%p7 bra LC;\n  fence.proxy.async;\n  bar.sync 0;\n");
    return run;
  };
  for (bool undefined : {false, true}) {
    MmaRun four = load(kE2m1, 8, undefined), six = load(kE3m2, 12, undefined);
    for (MmaRun *run : {&four, &six}) {
      Report report = run->run();
      ASSERT_TRUE(report.ok()) << report.str();
      run->check(kRounding);
    }
    // Here it is data.
    EXPECT_FALSE(load(kE4m3, 12, undefined).run().ok());
    EXPECT_FALSE(load(kE3m2, 8, undefined).run().ok());
  }
}

TEST(MmaKinds, DescriptorsNameTheField) {
  struct Wrong {
    MmaCase form;
    uint32_t bits;
    const char *message;
  };
  MmaCase mx, f8 = unscaled("f8f6f4", kE4m3, kE4m3),
              nv = packed("mxf4nvf4", ".block_scale.block16", 4, 0),
              mx4 = packed("mxf4", ".block_scale", 2, 1),
              i8 = unscaled("i8", kU8, kU8), f16 = f8;
  f16.kind = "f16";
  auto with = [](MmaCase form, auto change) {
    change(form);
    return form;
  };
  const Wrong wrongs[] = {
      {f8, 1 << 2, "the sparsity bit is 1; the rule is 0 without .sp"},
      {f8, 1 << 3, "the saturate bit is set, which is for .kind::i8 only"},
      {f8, 2 << 4, "the D format is 3; the rule is 0 (f16) or 1 (f32)"},
      {i8, 1 << 4, "the D format is 3; the rule is 2 (s32)"},
      {f8, 1 << 6, "reserved bit 6 is set; .kind::f8f6f4 wants 0 there"},
      {f8, 1 << 23, "reserved bit 23 is set"},
      {f8, 1 << 29, "reserved bit 29 is set"},
      {f8, 1 << 30, "the maximum shift (bits 30-31) is set"},
      {f8, 2 << 7,
       "the A format is 2; the rule is 0 (e4m3), 1 (e5m2), 3 (e2m3), 4 (e3m2) "
       "or 5 (e2m1)"},
      {f8, 6 << 10, "the B format is 6; the rule is 0 (e4m3)"},
      {f16, 2 << 7, "the A format is 2; the rule is 0 (f16) or 1 (bf16)"},
      {mx4, 4 << 10, "the B format is 5; the rule is 1 (e2m1)"},
      {i8, 1 << 13, "negation of A (bit 13) is set, which .kind::i8 does not"},
      {mx4, 1 << 16,
       "transposition of B (bit 16) is set, which .kind::mxf4 does not have"},
      {mx, 1 << 0, "reserved bit 0 to 1 is set; .kind::mxf8f6f4 wants 0 there"},
      {mx, 1 << 3, "reserved bit 3 is set"},
      {mx, 1u << 31, "reserved bit 31 is set"},
      {mx4, 1u << 31, "the K dimension (bit 31) is 1 (K = 96)"},
      {mx, 1 << 24, "M is 144; the rule is 128 for .cta_group::1 with scales"},
      {with(mx, [](MmaCase &c) { c.m = 64; }), 0,
       "M is 64; the rule is 128 for .cta_group::1 with scales"},
      {with(f8, [](MmaCase &c) { c.n = 264; }), 0,
       "N is 264; the rule is a multiple of 8 from 8 to 256"},
      {with(i8, [](MmaCase &c) { c.n = 40; }), 0,
       "N is 40; the rule is a multiple of 16 from 16 to 256, or 8 or 24"},
      {with(mx, [](MmaCase &c) { c.mnMajor = true, c.n = 24; }), 0,
       "N is 24; the rule is a multiple of 16 from 16 to 256 where B of 8"},
      {with(mx, [](MmaCase &c) { c.scaleType = 0; }), 0,
       "the scale type is 0; the rule is 1 (ue8m0)"},
      {with(nv, [](MmaCase &c) { c.aId = 2; }), 0,
       "the scale factor ID of A is 2; the rule is 0 where a row has 4 scales"},
      {with(mx4, [](MmaCase &c) { c.bId = 1; }), 0,
       "the scale factor ID of B is 1; the rule is 0 or 2 where a row has 2"},
  };
  for (const Wrong &wrong : wrongs) {
    MmaCase form = wrong.form;
    form.extraBits = wrong.bits;
    Report report = MmaRun(form).run();
    EXPECT_TRUE(has(report, ErrorKind::BadDescriptor)) << wrong.message;
    EXPECT_THAT(report.str(), HasSubstr(wrong.message));
  }
}

TEST(MmaKinds, TheTableIsWhole) {
  for (unsigned n = 0; n <= unsigned(MmaKind::MXF4NVF4); ++n) {
    MmaKind kind = MmaKind(n);
    const MmaKindRow &row = getRow(kind);
    EXPECT_EQ(findKind(std::string_view(row.name)), kind);
    uint32_t formats = 0;
    for (uint32_t code = 0; code < 8; ++code)
      formats += findOperand(kind, code).has_value();
    EXPECT_GT(formats, 0u) << row.name;
    EXPECT_NE(hasScales(kind),
              findResult(kind, 0) || findResult(kind, 1) || findResult(kind, 2))
        << row.name;
    const fp8::chip::SumRule &rule =
        fp8::chip::getSumRule(fp8::chip::MmaEngine::TensorMemory, row.products);
    EXPECT_EQ(uint32_t(rule.products), row.k) << row.name;
  }
  EXPECT_EQ(findScaleCount(MmaKind::MXF8F6F4, ""), 1u);
  EXPECT_EQ(findScaleCount(MmaKind::MXF4, ""), 2u);
  EXPECT_EQ(findScaleCount(MmaKind::MXF4NVF4, ""), 0u);
  EXPECT_EQ(findScaleCount(MmaKind::MXF8F6F4, "block16"), 0u);
}

TEST(MmaKinds, QualifiersThatDoNotFit) {
  struct Wrong {
    const char *from, *to, *message;
  };
  MmaCase form = packed("mxf4nvf4", ".block_scale.block16", 4, 0);
  const Wrong wrongs[] = {
      {".kind::mxf4nvf4.block_scale", ".kind::mxf4nvf4",
       "needs .block_scale with .kind::mxf4nvf4"},
      {".block_scale.block16", ".block_scale",
       "needs .scale_vec::2X (.block32) or .scale_vec::4X (.block16)"},
      {".block16", ".scale_vec::1X", "needs .scale_vec::2X (.block32)"},
      {".kind::mxf4nvf4", ".kind::f8f6f4",
       "takes no .block_scale with .kind::f8f6f4"},
      {".kind::mxf4nvf4", ".kind::f4", "needs .kind::f16, tf32, f8f6f4"},
      {"tcgen05.mma.", "tcgen05.mma.ws.", "takes .ws only with"},
      {"tcgen05.mma.", "tcgen05.mma.sp.", "needs an address in brackets"},
      {".block16", ".block16.ashift", "only with A in tensor memory"},
  };
  for (const Wrong &wrong : wrongs) {
    MmaRun run(form);
    run.text = replaced(run.text, wrong.from, wrong.to);
    Report report = run.run();
    EXPECT_TRUE(has(report, ErrorKind::Unsupported)) << wrong.to;
    EXPECT_THAT(report.str(), HasSubstr(wrong.message));
  }
  MmaRun run(form);
  run.text = replaced(run.text, ".block16", ".block16.collector::a::fill");
  EXPECT_TRUE(run.run().ok());
  run.check(kRounding);
}
