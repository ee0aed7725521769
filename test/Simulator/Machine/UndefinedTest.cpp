// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Undefined registers: what computes hands them on, bit by bit where it moves
// bits, and what has an effect reports them with their origin.

#include "ISA/Families.h"
#include "Kernels.h"

#include <gmock/gmock.h>

#include <set>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

namespace {

const char *const kShared =
    ".shared .align 1024 .b8 s[4096];\n.shared .align 8 .b64 bar;\n"
    ".shared .align 8 .b32 slot;\n";

/// Runs `body` in one warp. Result words: 256.
Report reportOf(const std::string &body) {
  Report report;
  compute(body, 32, 256, kShared, &report);
  return report;
}

/// The registers that nothing writes in the undefined case.
const char *const kDefine = R"(
  mov.u32 %r40, 3; mov.u64 %d20, 3; mov.b16 %h10, 3; mov.f32 %f20, 0f3f800000;
  mov.f64 %e10, 0d3ff0000000000000; setp.eq.u32 %p8, %r40, 3;
)";

/// An instruction that computes, from an undefined source.
struct Computes {
  const char *opcode;
  const char *text;   ///< defines `result`
  const char *result; ///< its kind is its letter: %r1, %d1, %h1, %p1
};

const Computes kComputes[] = {
    {"abs", "abs.s32 %r1, %r40;", "%r1"},
    {"add", "add.u32 %r1, 1, %r40;", "%r1"},
    {"add", "add.f32 %r1, %f20, 0f3f800000;", "%r1"},
    {"add", "add.f64 %d1, %e10, %e10;", "%d1"},
    {"add", "add.rn.bf16x2 %r1, %r40, %r40;", "%r1"},
    {"add", "add.u16x2 %r1, %r40, %r40;", "%r1"},
    {"addc", "add.cc.u32 %r2, %r40, 1; addc.u32 %r1, 1, 1;", "%r1"},
    {"and", "and.b32 %r1, %r40, 7;", "%r1"},
    {"and", "setp.eq.u32 %p2, 1, 1; and.pred %p1, %p2, %p8;", "%p1"},
    {"bfe", "bfe.u32 %r1, %r40, 0, 8;", "%r1"},
    {"bfe", "bfe.s32 %r1, 77, %r40, 8;", "%r1"},
    {"bfi", "bfi.b32 %r1, %r40, 0, 8, 8;", "%r1"},
    {"bfind", "bfind.u32 %r1, %r40;", "%r1"},
    {"bmsk", "bmsk.clamp.b32 %r1, %r40, 2;", "%r1"},
    {"brev", "brev.b32 %r1, %r40;", "%r1"},
    {"clz", "clz.b32 %r1, %r40;", "%r1"},
    {"cnot", "cnot.b32 %r1, %r40;", "%r1"},
    {"copysign", "copysign.f32 %r1, %f20, 0f3f800000;", "%r1"},
    {"cos", "cos.approx.f32 %r1, %f20;", "%r1"},
    {"cvt", "cvt.u64.u32 %d1, %r40;", "%d1"},
    {"cvt", "cvt.rn.f32.s32 %r1, %r40;", "%r1"},
    {"cvt", "cvt.rn.satfinite.e4m3x2.f32 %h1, %f20, 0f00000000;", "%h1"},
    {"cvta", "cvta.shared.u64 %d1, %d20;", "%d1"},
    {"div", "div.u32 %r1, %r40, 2;", "%r1"},
    {"div", "div.u32 %r1, 7, %r40;", "%r1"},
    {"dp2a", "dp2a.lo.u32.u32 %r1, %r40, 1, 0;", "%r1"},
    {"dp4a", "dp4a.u32.u32 %r1, %r40, 1, 0;", "%r1"},
    {"ex2", "ex2.approx.f32 %r1, %f20;", "%r1"},
    {"fns", "fns.b32 %r1, %r40, 0, 1;", "%r1"},
    {"mad24", "mad24.lo.u32 %r1, 1, 2, %r40;", "%r1"},
    {"mul24", "mul24.lo.u32 %r1, %r40, 2;", "%r1"},
    {"vabsdiff2", "vabsdiff2.u32.u32.u32 %r1, %r40, 2, 0;", "%r1"},
    {"vabsdiff4", "vabsdiff4.u32.u32.u32 %r1, %r40, 2, 0;", "%r1"},
    {"vadd2", "vadd2.u32.u32.u32 %r1, %r40, 2, 0;", "%r1"},
    {"vadd4", "vadd4.u32.u32.u32 %r1, %r40, 2, 0;", "%r1"},
    {"vavrg2", "vavrg2.u32.u32.u32 %r1, %r40, 2, 0;", "%r1"},
    {"vavrg4", "vavrg4.u32.u32.u32 %r1, %r40, 2, 0;", "%r1"},
    {"vmax2", "vmax2.u32.u32.u32 %r1, %r40, 2, 0;", "%r1"},
    {"vmax4", "vmax4.u32.u32.u32 %r1, %r40, 2, 0;", "%r1"},
    {"vmin2", "vmin2.u32.u32.u32 %r1, %r40, 2, 0;", "%r1"},
    {"vmin4", "vmin4.u32.u32.u32 %r1, %r40, 2, 0;", "%r1"},
    {"vsub2", "vsub2.u32.u32.u32 %r1, %r40, 2, 0;", "%r1"},
    {"vsub4", "vsub4.u32.u32.u32 %r1, %r40, 2, 0;", "%r1"},
    {"vset2", "vset2.u32.u32.eq %r1, %r40, 2, 0;", "%r1"},
    {"vset4", "vset4.u32.u32.eq %r1, %r40, 2, 0;", "%r1"},
    {"szext", "szext.clamp.u32 %r1, %r40, 8;", "%r1"},
    {"fma", "fma.rn.f32 %r1, 0f3f800000, 0f3f800000, %f20;", "%r1"},
    {"getctarank", "getctarank.shared::cluster.u32 %r1, %r40;", "%r1"},
    {"isspacep", "isspacep.shared %p1, %d20;", "%p1"},
    {"lg2", "lg2.approx.f32 %r1, %f20;", "%r1"},
    {"lop3", "lop3.b32 %r1, %r40, 5, 1, 0x96;", "%r1"},
    {"mad", "mad.lo.u32 %r1, 2, 3, %r40;", "%r1"},
    {"mad", "mad.wide.u32 %d1, %r40, 2, 1;", "%d1"},
    {"madc", "mad.lo.cc.u32 %r2, %r40, 1, 0; madc.hi.u32 %r1, 1, 1, 1;", "%r1"},
    {"mapa", "mapa.shared::cluster.u32 %r1, %r40, 0;", "%r1"},
    {"max", "max.s32 %r1, 1, %r40;", "%r1"},
    {"min", "min.f32 %r1, 0f00000000, %f20;", "%r1"},
    {"mov", "mov.b32 %r1, %r40;", "%r1"},
    {"mov", "mov.b64 {%r2, %r1}, %d20;", "%r1"},
    {"mov", "mov.b64 %d1, {%r40, %r40};", "%d1"},
    {"mov", "mov.pred %p1, %p8;", "%p1"},
    {"mul", "mul.hi.u32 %r1, %r40, 7;", "%r1"},
    {"mul", "mul.wide.s32 %d1, 2, %r40;", "%d1"},
    {"mul", "mul.f32 %r1, %f20, 0f00000000;", "%r1"},
    {"neg", "neg.s32 %r1, %r40;", "%r1"},
    {"not", "not.b32 %r1, %r40;", "%r1"},
    {"not", "not.pred %p1, %p8;", "%p1"},
    {"or", "or.b32 %r1, %r40, 1;", "%r1"},
    {"or", "setp.ne.u32 %p2, 1, 1; or.pred %p1, %p2, %p8;", "%p1"},
    {"popc", "popc.b64 %r1, %d20;", "%r1"},
    {"prmt", "prmt.b32 %r1, 0, %r40, 0x3240;", "%r1"},
    {"prmt", "prmt.b32 %r1, 7, 8, %r40;", "%r1"},
    {"rcp", "rcp.rn.f32 %r1, %f20;", "%r1"},
    {"rem", "rem.u32 %r1, %r40, 2;", "%r1"},
    {"rsqrt", "rsqrt.approx.f32 %r1, %f20;", "%r1"},
    {"sad", "sad.u32 %r1, 1, 2, %r40;", "%r1"},
    {"selp", "setp.eq.u32 %p2, 1, 1; selp.b32 %r1, %r40, 0, %p2;", "%r1"},
    {"selp", "selp.b32 %r1, 1, 0, %p8;", "%r1"},
    {"selp",
     "setp.eq.u32 %p2, 1, 1; setp.ne.u32 %p3, 1, 1; "
     "selp.pred %p1, %p2, %p3, %p8;",
     "%p1"},
    {"set", "set.eq.u32.u32 %r1, %r40, 1;", "%r1"},
    {"setp", "setp.eq.u32 %p1, %r40, 3;", "%p1"},
    {"setp", "setp.eq.u32 %p2|%p1, 7, %r40;", "%p1"},
    {"setp", "setp.eq.and.u32 %p1, 1, 1, %p8;", "%p1"},
    {"shf", "shf.l.wrap.b32 %r1, %r40, 5, 8;", "%r1"},
    {"shf", "shf.r.clamp.b32 %r1, 5, 6, %r40;", "%r1"},
    {"shl", "shl.b32 %r1, %r40, 2;", "%r1"},
    {"shl", "shl.b32 %r1, 1, %r40;", "%r1"},
    {"shr", "shr.s32 %r1, %r40, 2;", "%r1"},
    {"sin", "sin.approx.f32 %r1, %f20;", "%r1"},
    {"slct", "slct.b32.s32 %r1, %r40, 1, 0;", "%r1"},
    {"slct", "slct.b32.s32 %r1, 1, 2, %r40;", "%r1"},
    {"sqrt", "sqrt.rn.f32 %r1, %f20;", "%r1"},
    {"sub", "sub.u32 %r1, %r40, 1;", "%r1"},
    {"subc", "sub.cc.u32 %r2, %r40, 1; subc.u32 %r1, 9, 1;", "%r1"},
    {"tanh", "tanh.approx.f32 %r1, %f20;", "%r1"},
    {"testp", "testp.finite.f32 %p1, %f20;", "%p1"},
    {"xor", "xor.b32 %r1, %r40, 1;", "%r1"},
    {"xor", "setp.eq.u32 %p2, 1, 1; xor.pred %p1, %p2, %p8;", "%p1"},
};

/// Stores a register of any kind to global memory.
std::string stored(std::string result) {
  switch (result[1]) {
  case 'p':
    return "selp.b32 %r59, 1, 0, " + result + "; st.global.b32 [%o], %r59;\n";
  case 'd':
    return "add.s64 %d39, %o, %o; sub.s64 %d39, %d39, %out;\n"
           "st.global.b64 [%d39], " +
           result + ";\n";
  case 'h':
    return "st.global.b16 [%o], " + result + ";\n";
  default:
    return "st.global.b32 [%o], " + result + ";\n";
  }
}

} // namespace

TEST(Undefined, EveryInstructionThatComputesHandsItOn) {
  for (const Computes &c : kComputes) {
    SCOPED_TRACE(c.text);
    std::string text = std::string(c.text) + "\n";
    Report unused = reportOf(text);
    EXPECT_TRUE(unused.ok()) << unused.str();
    Report used = reportOf(text + stored(c.result));
    ASSERT_EQ(used.errors.size(), 1u) << used.str();
    EXPECT_EQ(used.errors[0].kind, ErrorKind::UninitialisedRegister);
    ASSERT_EQ(used.errors[0].notes.size(), 1u);
    EXPECT_THAT(used.errors[0].notes[0].message,
                HasSubstr(" is read before it is written"));
    Report defined = reportOf(kDefine + text + stored(c.result));
    EXPECT_TRUE(defined.ok()) << defined.str();
  }
}

TEST(Undefined, TheTableHasEveryInstructionThatComputes) {
  std::set<std::string_view> tested;
  for (const Computes &c : kComputes)
    tested.insert(c.opcode);
  for (std::string_view opcode : instructionSet().opcodes())
    EXPECT_EQ(tested.count(opcode), instructionSet().computes(opcode))
        << opcode << " needs a row in kComputes";
}

TEST(Undefined, WhatDoesNotDependOnItIsDefined) {
  // %r40 is undefined, %r41 in its upper half, %p8 too.
  const std::string half = "mov.b16 %h1, 5; mov.b32 %r41, {%h1, %h10};\n";
  for (const std::string &text : {
           std::string("mov.b32 %r1, %r40; mov.b32 %r1, 7;"),
           std::string("mov.u32 %r1, %laneid;"),
           std::string("mov.u32 %r1, %clock;"),
           std::string("ld.global.u32 %r1, [%o];"),
           std::string("activemask.b32 %r1;"),
           std::string("elect.sync %r1|%p1, -1;"),
           std::string("and.b32 %r1, %r40, 0;"),
           std::string("or.b32 %r1, %r40, -1;"),
           std::string("lop3.b32 %r1, %r40, 0, 0, 0x80;"),
           std::string("setp.ne.u32 %p2, 1, 1; and.pred %p1, %p8, %p2; "
                       "selp.b32 %r1, 1, 0, %p1;"),
           std::string("setp.eq.u32 %p2, 1, 1; or.pred %p1, %p8, %p2; "
                       "selp.b32 %r1, 1, 0, %p1;"),
           std::string("setp.ne.u32 %p2, 1, 1; selp.b32 %r1, %r40, 2, %p2;"),
           std::string("slct.b32.s32 %r1, 1, %r40, 3;"),
           half + "and.b32 %r1, %r41, 0xffff;",
           half + "shl.b32 %r1, %r41, 16;",
           half + "mov.b32 {%h2, %h3}, %r41; cvt.u32.u16 %r1, %h2;",
           half + "cvt.u32.u16 %r1, %r41;",
           half + "bfe.u32 %r1, %r41, 4, 12;",
           half + "bfi.b32 %r1, 9, %r41, 16, 16;",
           half + "prmt.b32 %r1, %r41, 0, 0x1010;",
           half + "shf.l.clamp.b32 %r1, %r41, 1, 0;",
           half + "brev.b32 %r2, %r41; shr.u32 %r1, %r2, 16;",
           half + "xor.b32 %r2, %r41, 1; and.b32 %r1, %r2, 0xff;",
           half + "mov.b32 %r1, 0; st.global.b16 [%o], %r41;",
           std::string(".reg .b128 %q; .reg .b64 %a; mov.b64 %a, 1; "
                       "mov.b128 %q, {%a, %d20}; mov.b128 {%d1, %d2}, %q; "
                       "cvt.u32.u64 %r1, %d1;"),
       }) {
    SCOPED_TRACE(text);
    Report report = reportOf(text + "\nst.global.b32 [%o], %r1;");
    EXPECT_TRUE(report.ok()) << report.str();
  }
  for (const std::string &text : {
           half + "and.b32 %r1, %r41, 0x1ffff;",
           half + "shr.u32 %r1, %r41, 16;",
           half + "prmt.b32 %r1, %r41, 0, 0x2010;",
           half + "mov.b32 {%h2, %h3}, %r41; cvt.u32.u16 %r1, %h3;",
           std::string("and.b32 %r1, %r40, %r42;"),
           std::string("shr.u32 %r2, 0xff0000, %r40; and.b32 %r1, %r2, 1;"),
           std::string("mul.lo.u32 %r1, %r40, 0;"), // may stay undefined
           std::string(".reg .b128 %q; .reg .b64 %a; mov.b64 %a, 1; "
                       "mov.b128 %q, {%a, %d20}; mov.b128 {%d1, %d2}, %q; "
                       "cvt.u32.u64 %r1, %d2;"),
       }) {
    SCOPED_TRACE(text);
    Report report = reportOf(text + "\nst.global.b32 [%o], %r1;");
    EXPECT_TRUE(has(report, ErrorKind::UninitialisedRegister)) << report.str();
  }
}

TEST(Undefined, PackedNumbersHandItOnEachByItself) {
  const std::string half = "mov.b16 %h1, 0x3c00; mov.b32 %r41, {%h1, %h10};\n";
  const std::string halves = "mov.b32 {%h2, %h3}, %r1; cvt.u32.u16 %r2, %h2; "
                             "cvt.u32.u16 %r3, %h3;";
  const std::string bytes = "and.b32 %r2, %r1, 0xff; and.b32 %r3, %r1, 0xff00;";
  const std::string predicates =
      "selp.b32 %r2, 1, 0, %p1; selp.b32 %r3, 1, 0, %p2;";
  // They define %r2 and leave %r3 undefined.
  for (const std::string &text : {
           half + "add.rn.f16x2 %r1, %r41, %r41;" + halves,
           half + "fma.rn.bf16x2 %r1, %r41, %r41, %r41;" + halves,
           half + "abs.f16x2 %r1, %r41;" + halves,
           half + "ex2.approx.f16x2 %r1, %r41;" + halves,
           half + "max.s16x2 %r1, %r41, %r41;" + halves,
           half + "add.u16x2 %r1, 3, %r41;" + halves,
           half + "vmax2.u32.u32.u32 %r1, %r41, %r41, 0;" + halves,
           half + "set.eq.f16x2.f16x2 %r1, %r41, %r41;" + halves,
           half + "setp.eq.f16x2 %p1|%p2, %r41, %r41;" + predicates,
           half +
               "cvt.rn.satfinite.e5m2x2.f16x2 %h4, %r41; "
               "cvt.u32.u16 %r1, %h4;" +
               bytes,
           "cvt.rn.bf16x2.f32 %r1, %f20, 0f3f800000;" + halves,
           // As Triton converts a single number.
           "cvt.rn.satfinite.e4m3x2.f32 %h4, %f20, 0f3f800000; "
           "cvt.u32.u16 %r1, %h4;" +
               bytes,
           "cvt.rn.satfinite.e4m3x2.f32 %h4, %f20, 0f3f800000; "
           "cvt.rn.f16x2.e4m3x2 %r1, %h4;" +
               halves,
           "mov.f32 %f1, 0f3f800000; cvt.rs.satfinite.e4m3x4.f32 %r1, "
           "{%f20, %f20, %f20, %f1}, 5;" +
               bytes,
           "cvt.pack.sat.s8.s32.b32 %r1, %r40, 5, 0;" + bytes,
           "cvt.pack.sat.s8.s32.b32 %r4, 6, 5, %r40; shr.u32 %r1, %r4, 8;" +
               bytes,
           std::string("mov.u32 %r5, 7; mov.b64 %d1, {%r5, %r40}; "
                       "add.rn.f32x2 %d2, %d1, %d1; mov.b64 {%r2, %r3}, %d2;"),
       }) {
    SCOPED_TRACE(text);
    Report report = reportOf(text + "\nst.global.b32 [%o], %r2;");
    EXPECT_TRUE(report.ok()) << report.str();
    report = reportOf(text + "\nst.global.b32 [%o], %r3;");
    ASSERT_EQ(report.errors.size(), 1u) << report.str();
    EXPECT_EQ(report.errors[0].kind, ErrorKind::UninitialisedRegister);
  }
  // What all numbers depend on: a predicate, random bits, a sum of them all.
  for (const std::string &text : {
           half + "setp.eq.and.f16x2 %p1|%p2, 1, 1, %p8;" + predicates,
           "cvt.rs.f16x2.f32 %r1, 0f3f800000, 0f3f800000, %r40;" + halves,
           half + "vadd2.u32.u32.u32.add %r1, %r41, %r41, 0;" + halves,
       }) {
    SCOPED_TRACE(text);
    EXPECT_TRUE(has(reportOf(text + "\nst.global.b32 [%o], %r2;"),
                    ErrorKind::UninitialisedRegister));
  }
}

TEST(Undefined, ShufflesHandOnWhatEachLaneReads) {
  // Lanes 16 to 31 are undefined.
  std::string body = R"(
  setp.lt.u32 %p0, %t, 16;
  @%p0 mov.u32 %r40, %t;
  shfl.sync.bfly.b32 %r1|%p1, %r40, 16, 0x1f, -1;
  shfl.sync.idx.b32 %r2, %r40, 3, 0x1f, -1;
  st.global.b32 [%o], %r2;
  selp.b32 %r3, 1, 0, %p1; st.global.b32 [%o+128], %r3;
)";
  Report report = reportOf(body + "@!%p0 st.global.b32 [%o], %r1;");
  EXPECT_TRUE(report.ok()) << report.str();
  report = reportOf(body + "@%p0 st.global.b32 [%o], %r1;");
  ASSERT_EQ(report.errors.size(), 1u) << report.str();
  EXPECT_EQ(report.errors[0].lane, 0);
}

// As CUTLASS's reductions over eight of the lanes do.
TEST(Undefined, ShufflesFromLanesThatDoNotExecuteThem) {
  std::string body = R"(
  setp.ge.u32 %p0, %t, 8; @%p0 exit;
  shfl.sync.down.b32 %r1|%p1, %t, 4, 31, 0xff; setp.lt.u32 %p2, %t, 4;
)";
  Report report = reportOf(body + "@%p2 st.global.b32 [%o], %r1;");
  EXPECT_TRUE(report.ok()) << report.str();
  report = reportOf(body + "st.global.b32 [%o], %r1;");
  ASSERT_EQ(report.errors.size(), 1u) << report.str();
  EXPECT_EQ(report.errors[0].lane, 4);
  ASSERT_EQ(report.errors[0].notes.size(), 1u);
  EXPECT_EQ(report.errors[0].notes[0].message,
            "'shfl.sync.down.b32' reads lane 8, which does not execute it");
}

TEST(Undefined, IsSaidOfTheLanesThatUseIt) {
  std::string body = "setp.lt.u32 %p0, %t, 16;\n"
                     "@%p0 mov.u32 %r40, 1;\nadd.u32 %r1, %r40, 1;\n";
  EXPECT_TRUE(reportOf(body + "@%p0 st.global.b32 [%o], %r1;").ok());
  Report report = reportOf(body + "st.global.b32 [%o], %r1;");
  ASSERT_EQ(report.errors.size(), 1u) << report.str();
  EXPECT_EQ(report.errors[0].lane, 16);
  // It was defined in the meantime.
  EXPECT_TRUE(reportOf("add.u32 %r1, %r40, 1; mov.u32 %r40, 1;\n"
                       "add.u32 %r1, %r40, 1; st.global.b32 [%o], %r1;")
                  .ok());
}

TEST(Undefined, TheNoteIsAtTheOrigin) {
  std::string lines = "\nadd.u32 %r1, %r40, 1;\nmul.hi.u32 %r2, %r1, 5;\n"
                      "mov.u32 %r3, %r2;\nst.global.b32 [%o], %r3;\n";
  Report report = reportOf(lines);
  ASSERT_EQ(report.errors.size(), 1u) << report.str();
  const SimulationError &e = report.errors[0];
  EXPECT_THAT(e.message, HasSubstr("'st.global.b32' stores register %r3, which "
                                   "is undefined; define it, or what it comes "
                                   "from, on every path to here"));
  ASSERT_EQ(e.notes.size(), 1u);
  EXPECT_EQ(e.notes[0].message, "register %r40 is read before it is written");
  EXPECT_EQ(e.notes[0].where.ptxLine + 3, e.where.ptxLine);
  // Of two, the one that was chosen; of one origin, one error.
  report = reportOf("add.u32 %r1, %r40, 1; add.u32 %r2, %r42, 1;\n"
                    "setp.ne.u32 %p0, 1, 1; selp.b32 %r3, %r1, %r2, %p0;\n"
                    "st.global.b32 [%o], %r3;\nst.global.b32 [%o+4], %r3;\n");
  ASSERT_EQ(report.errors.size(), 1u) << report.str();
  EXPECT_THAT(report.errors[0].notes[0].message, HasSubstr("%r42"));
}

TEST(Undefined, CoordinatesThatAFlagForbids) {
  // As CUTLASS's tile scheduler: the coordinates of a failed request are
  // computed with, and nothing comes of it.
  Report report = reportOf(R"(
  setp.ne.u32 %p0, %t, %t;
  @%p0 mov.u32 %r40, 1;
  mul.hi.u32 %r1, %r40, 77; shr.u32 %r2, %r1, 3;
  setp.eq.u32 %p1, %t, 5; selp.b32 %r3, %r40, %r2, %p1;
  mad.lo.u32 %r4, %r3, 5, %t; sub.u32 %r5, %r40, %r4;
  @%p0 st.global.b32 [%o], %r5;
  @%p0 bra L;
L:)");
  EXPECT_TRUE(report.ok()) << report.str();
}
