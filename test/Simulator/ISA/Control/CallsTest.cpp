// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions: parameters, results, frames, recursion, addresses, and those of
// the driver.

#include "Kernels.h"

#include "ISA/Control/Printf.h"

#include <gmock/gmock.h>

#include <cstring>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// As nvcc and LLVM write a function that is not inlined.
const char *kSquareSum = R"(
.func (.param .b32 result) square_sum(.param .b32 a, .param .b32 b) {
  .reg .b32 %r<4>;
  ld.param.b32 %r0, [a]; ld.param.b32 %r1, [b];
  mul.lo.s32 %r2, %r0, %r0; mad.lo.s32 %r3, %r1, %r1, %r2;
  st.param.b32 [result], %r3;
  ret;
}
)";

std::string call(const std::string &function, const std::string &a,
                 const std::string &b, const std::string &result) {
  return "{ .param .b32 p0; .param .b32 p1; .param .b32 r;\n"
         "st.param.b32 [p0], " +
         a + "; st.param.b32 [p1], " + b + "; call.uni (r), " + function +
         ", (p0, p1);\nld.param.b32 " + result + ", [r]; }\n";
}

std::string messageOf(const std::string &body,
                      const std::string &variables = "", ErrorKind kind = {}) {
  Report report;
  compute(body, 32, 32, variables, &report);
  EXPECT_EQ(report.errors.size(), 1u) << report.str();
  if (report.errors.empty())
    return "";
  EXPECT_EQ(report.errors[0].kind, kind) << report.str();
  return report.errors[0].message;
}

} // namespace

TEST(Calls, PassValuesAndReturnThem) {
  auto out = compute(call("square_sum", "%t", "7", "%r0") +
                         call("square_sum", "%r0", "%t", "%r1") +
                         "st.global.b32 [%o], %r1;",
                     64, 64, kSquareSum);
  for (uint32_t i = 0; i < 64; ++i) {
    uint32_t first = i * i + 49;
    EXPECT_EQ(out[i], first * first + i * i);
  }
}

TEST(Calls, LanesReturnToWhereTheyCalled) {
  auto out = compute("and.b32 %r5, %t, 1; setp.eq.u32 %p0, %r5, 0;\n"
                     "mov.b32 %r4, 0; @%p0 bra EVEN;\n" +
                         call("square_sum", "%t", "1", "%r4") +
                         "add.s32 %r4, %r4, 1000; bra JOIN;\nEVEN:\n" +
                         call("square_sum", "%t", "2", "%r4") +
                         "JOIN: shfl.sync.idx.b32 %r3, %r4, %t, 0x1f, -1;\n"
                         "st.global.b32 [%o], %r3;",
                     32, 32, kSquareSum);
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], i * i + (i % 2 ? 1001 : 4));
}

TEST(Calls, AGuardCallsForItsLanesOnly) {
  auto out = compute(R"(
  .param .b32 p0; .param .b32 p1; .param .b32 r;
  st.param.b32 [p0], %t; st.param.b32 [p1], %t; st.param.b32 [r], 5;
  setp.lt.u32 %p0, %t, 10;
  @%p0 call (r), square_sum, (p0, p1);
  ld.param.b32 %r0, [r]; st.global.b32 [%o], %r0;)",
                     32, 32, kSquareSum);
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], i < 10 ? 2 * i * i : 5);
}

TEST(Calls, StructuresArePassedByValue) {
  auto out = compute(R"(
  .param .align 8 .b8 p[16]; .param .align 8 .b8 r[16];
  mul.wide.u32 %d0, %t, 3;
  st.param.b64 [p], %d0; st.param.b32 [p+8], 9; st.param.b8 [p+12], 200;
  call.uni (r), swap, (p);
  ld.param.b64 %d1, [p]; ld.param.b64 %d2, [r+8]; ld.param.b32 %r1, [r];
  cvt.u32.u64 %r2, %d1; cvt.u32.u64 %r3, %d2;
  mad.lo.u32 %r4, %r3, 1000, %r1; sub.u32 %r4, %r4, %r2;
  st.global.b32 [%o], %r4;)",
                     32, 32, R"(
.func (.param .align 8 .b8 r[16]) swap(.param .align 8 .b8 p[16]) {
  .reg .b32 %r<3>; .reg .b64 %d;
  ld.param.b64 %d, [p]; ld.param.b32 %r0, [p+8]; ld.param.u8 %r1, [p+12];
  st.param.b64 [p], 0;
  add.u32 %r2, %r0, %r1;
  st.param.b64 [r+8], %d; st.param.b32 [r], %r2;
})");
  for (uint32_t i = 0; i < 32; ++i) // the caller's copy stays as it was
    EXPECT_EQ(out[i], 3 * i * 1000 + 209 - 3 * i);
}

TEST(Calls, RegistersMayBeParameters) {
  auto out = compute("call (%r0), diff, (%t, 100); call (_), diff, (1, 2);\n"
                     "st.global.b32 [%o], %r0;",
                     32, 32, R"(
.func (.reg .s32 %result) diff(.reg .s32 %a, .reg .s32 %b) {
  sub.s32 %result, %b, %a; ret.uni;
})");
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], 100 - i);
}

/// Fibonacci numbers, with a variable of each call whose address is taken.
const char *kFibonacci = R"(
.func (.param .b32 result) fib(.param .b32 n) {
  .local .align 4 .b8 depot[8];
  .reg .b32 %r<8>; .reg .b64 %d<3>; .reg .pred %p;
  mov.u64 %d0, depot; cvta.local.u64 %d1, %d0;
  ld.param.b32 %r0, [n];
  st.u32 [%d1+4], %r0;
  setp.lt.u32 %p, %r0, 2; @%p bra SMALL;
  { .param .b32 p0; .param .b32 r0;
    sub.u32 %r1, %r0, 1; st.param.b32 [p0], %r1;
    call.uni (r0), fib, (p0); ld.param.b32 %r2, [r0]; }
  ld.u32 %r5, [%d1+4];
  { .param .b32 p0; .param .b32 r0;
    sub.u32 %r3, %r5, 2; st.param.b32 [p0], %r3;
    call.uni (r0), fib, (p0); ld.param.b32 %r4, [r0]; }
  add.u32 %r0, %r2, %r4;
SMALL: st.param.b32 [result], %r0;
}
)";

TEST(Calls, RecursionKeepsRegistersAndFrames) {
  auto out = compute(R"(
  .param .b32 p0; .param .b32 r0;
  and.b32 %r0, %t, 15; st.param.b32 [p0], %r0;
  call.uni (r0), fib, (p0); ld.param.b32 %r1, [r0];
  st.global.b32 [%o], %r1;)",
                     32, 32, kFibonacci);
  uint32_t a = 0, b = 1;
  for (uint32_t i = 0; i < 16; ++i) {
    EXPECT_EQ(out[i], a);
    EXPECT_EQ(out[i + 16], a);
    b += a;
    a = b - a;
  }
}

TEST(Calls, EndlessRecursionEnds) {
  EXPECT_THAT(messageOf("call forever, ();",
                        ".func forever() { .reg .b64 %d<9>; .local .b8 x[100]; "
                        "call forever, (); ret; }\n",
                        ErrorKind::LimitExceeded),
              HasSubstr("the call of 'forever' leaves no memory for the "
                        "stack"));
}

TEST(Calls, OneFrameIsNotTheNext) {
  // A second call finds nothing of the first in its registers.
  Report report;
  compute("call f, (1); call f, (0);", 32, 32,
          ".func f(.reg .b32 %n) { .reg .b32 %x; .reg .pred %p;\n"
          "setp.eq.u32 %p, %n, 0; @%p bar.warp.sync %x; mov.b32 %x, -1; }\n",
          &report);
  ASSERT_EQ(report.errors.size(), 1u) << report.str();
  EXPECT_EQ(report.errors[0].kind, ErrorKind::UninitialisedRegister);
  EXPECT_THAT(report.errors[0].message, HasSubstr("register %x"));
}

const char *kTable = R"(
.func (.param .b32 r) twice(.param .b32 a) { .reg .b32 %r;
  ld.param.b32 %r, [a]; shl.b32 %r, %r, 1; st.param.b32 [r], %r; ret; }
.func (.param .b32 r) square(.param .b32 a) { .reg .b32 %r;
  ld.param.b32 %r, [a]; mul.lo.u32 %r, %r, %r; st.param.b32 [r], %r; ret; }
.func (.param .b32 r) sum(.param .b32 a, .param .b32 b) { ret; }
.global .align 8 .u64 table[3] = {twice, square, sum};
)";
const std::string kThroughTable = R"(
  proto: .callprototype (.param .b32 _) _ (.param .b32 _);
  .param .b32 p0; .param .b32 r0;
  and.b32 %r0, %t, 1; mul.wide.u32 %d0, %r0, 8; mov.u64 %d1, table;
  add.u64 %d1, %d1, %d0; ld.global.u64 %d2, [%d1];
  st.param.b32 [p0], %t;
  call (r0), %d2, (p0), proto;
  ld.param.b32 %r1, [r0]; st.global.b32 [%o], %r1;)";

TEST(Calls, GoThroughTables) {
  auto out = compute(kThroughTable, 32, 32, kTable);
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], i % 2 ? i * i : 2 * i);
  out = compute(R"(
  targets: .calltargets twice, square;
  .param .b32 p0; .param .b32 r0;
  mov.u64 %d2, square; st.param.b32 [p0], %t;
  call (r0), %d2, (p0), targets;
  ld.param.b32 %r1, [r0]; st.global.b32 [%o], %r1;)",
                32, 32, kTable);
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], i * i);
}

TEST(Calls, GoToTheTargetsOfAList) {
  auto out = compute(R"(
  mov.u64 %d0, twice; setp.gt.u32 %p0, %t, 3; @%p0 mov.u64 %d0, more;
  targets: .calltargets twice, more;
  call (%r0), %d0, (%t), targets; st.global.b32 [%o], %r0;)",
                     6, 6, R"(
.func (.reg .b32 r) twice(.reg .b32 a) { add.u32 r, a, a; ret; }
.func (.reg .b32 r) more(.reg .b32 a) { add.u32 r, a, 100; ret; }
)");
  EXPECT_THAT(out, ElementsAre(0, 2, 4, 6, 104, 105));
  // An address from elsewhere, so that the list alone names the function.
  EXPECT_THAT(messageOf("mov.u64 %d0, 0; targets: .calltargets square_sum;\n"
                        "call (%r0), %d0, (%t, %t), targets;",
                        kSquareSum, ErrorKind::InvalidOperation),
              HasSubstr("where no function is"));
}

TEST(Calls, GoThroughAliases) {
  auto out = compute("mov.u64 %d0, h; mov.u64 %d1, f; sub.u64 %d0, %d0, %d1;\n"
                     "cvt.u32.u64 %r1, %d0; call (%r0), h, (%t);\n"
                     "add.u32 %r0, %r0, %r1; st.global.b32 [%o], %r0;",
                     3, 3, R"(
.visible .func (.reg .b32 r) h(.reg .b32 a);
.visible .func (.reg .b32 r) f(.reg .b32 a) { add.u32 r, a, 7; ret; }
.alias h, f;
)");
  EXPECT_THAT(out, ElementsAre(7, 8, 9));
}

TEST(Calls, OfWhatIsNoFunctionAreErrors) {
  EXPECT_THAT(messageOf(replaced(kThroughTable, "[%d1];", "[%d1+8];"), kTable,
                        ErrorKind::InvalidOperation),
              HasSubstr("calls 'sum', whose parameters or results are not "
                        "those of the call"));
  EXPECT_THAT(messageOf(replaced(kThroughTable, "mov.u64 %d1, table;",
                                 "mov.u64 %d1, table; mov.b64 %d2, 8;") +
                            "call (r0), %d1, (p0), proto;",
                        kTable, ErrorKind::InvalidOperation),
              HasSubstr("where no function is"));
}

TEST(Calls, WhatCannotBeCalledIsNamed) {
  auto refused = [](const std::string &body, const std::string &variables) {
    return messageOf(body, variables, ErrorKind::Unsupported);
  };
  EXPECT_THAT(refused("call foo;", ".extern .func foo();\n"),
              HasSubstr("calls 'foo', which the module does not define"));
  EXPECT_THAT(refused("mov.u64 %d1, 8; call (%d0), malloc, (%d1);", ""),
              HasSubstr("no function 'malloc'; allocate on the host"));
  EXPECT_THAT(refused("call square_sum, (%t, %t);", kSquareSum),
              HasSubstr("gives 0 result(s), but the function has 1"));
  EXPECT_THAT(
      refused(".param .b64 p; call (%r0), square_sum, (p, %t);", kSquareSum),
      HasSubstr("argument 0 has 8 bytes, but the function's has 4"));
  EXPECT_THAT(refused("call (%r0), %d0, (%t);", kSquareSum),
              HasSubstr("needs the label of a .callprototype"));
  // What is unknown in a function is found before anything runs.
  EXPECT_THAT(refused("call f, ();", ".func f() { frobnicate; }\n"),
              HasSubstr("unknown instruction 'frobnicate'"));
}

TEST(Calls, WhatIsMissingMayStayUncalled) {
  // As the table of a class with a virtual destructor: nobody deletes one.
  auto out = compute(R"(
  mov.u64 %d1, table; ld.global.u64 %d2, [%d1];
  proto: .callprototype (.reg .b32 _) _ (.reg .b32 _);
  call (%r0), %d2, (%t), proto; st.global.b32 [%o], %r0;)",
                     2, 2, R"(
.extern .func free(.param .b64 p);
.func (.reg .b32 r) get(.reg .b32 a) { add.u32 r, a, 1; ret; }
.func (.reg .b32 r) destroy(.reg .b32 a) {
  .reg .b64 %p; mov.u64 %p, 0; call free, (%p); mov.u32 r, 0; ret;
}
.global .u64 table[2] = {get, destroy};
)");
  EXPECT_THAT(out, ElementsAre(1, 2));
}

TEST(Calls, AssertionsFailWithTheirMessage) {
  std::string text = messageOf(R"(
  setp.ne.u32 %p0, %t, 5; @%p0 bra GOOD;
  mov.u64 %d0, text; cvta.global.u64 %d0, %d0; add.u64 %d1, %d0, 6;
  call.uni __assertfail, (%d0, %d1, 12, %d1, 1);
GOOD: brkpt;)",
                               ".global .align 1 .b8 text[12] = {120, 32, 62, "
                               "32, 48, 0, 97, 46, 99, 117};\n",
                               ErrorKind::Trap);
  EXPECT_THAT(text, HasSubstr("a.cu:12: a.cu: thread (5,0,0): assertion 'x > "
                              "0' failed"));
}

TEST(Printf, PrintsWithThreadAndBlock) {
  // "%d of %s: %f\n" and "abc"
  const std::string body = R"(
  .local .align 8 .b8 depot[24];
  mov.u64 %d0, depot; cvta.local.u64 %d1, %d0;
  st.local.u32 [depot], %t; mov.u64 %d2, text; cvta.global.u64 %d2, %d2;
  add.u64 %d3, %d2, 14; st.u64 [%d1+8], %d3;
  mov.f64 %e0, 0d3ff8000000000000; st.f64 [%d1+16], %e0;
  { .param .b64 p0; .param .b64 p1; .param .b32 r0;
  st.param.b64 [p0], %d2; st.param.b64 [p1], %d1;
  setp.lt.u32 %p0, %t, 30; @%p0 bra SKIP;
  call.uni (r0), vprintf, (p0, p1);
  ld.param.b32 %r0, [r0]; st.global.b32 [%o], %r0; }
SKIP:)";
  const std::string text =
      ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
      ".global .align 1 .b8 text[18] = {37, 100, 32, 111, 102, 32, 37, 115, "
      "58, 32, 37, 102, 10, 0, 97, 98, 99, 0};\n";
  Report report;
  Options options;
  std::vector<std::string> heard;
  options.onPrint = [&](const PrintedText &printed) {
    heard.push_back(printed.text);
  };
  auto out = compute(body, 32, 32, text, &report, options);
  EXPECT_TRUE(report.ok()) << report.str();
  EXPECT_EQ(out[31], 3u);
  ASSERT_EQ(report.printed.size(), 2u);
  EXPECT_EQ(report.printed[0].str(),
            "block (0,0,0) thread (30,0,0): 30 of abc: 1.500000\n");
  EXPECT_THAT(heard,
              ElementsAre("30 of abc: 1.500000\n", "31 of abc: 1.500000\n"));
  EXPECT_EQ(report.printedBytes, 40u);
}

namespace {
/// The values of a printf, in order.
PrintfResult format(const std::string &text, std::vector<uint64_t> values) {
  PrintfSource source;
  size_t at = 0;
  source.next = [&](unsigned bytes) {
    EXPECT_LT(at, values.size()) << text;
    uint64_t value = at < values.size() ? values[at++] : 0;
    return bytes == 4 ? uint64_t(uint32_t(value)) : value;
  };
  source.text = [](uint64_t address) {
    return std::string(size_t(address), 'x');
  };
  return formatPrintf(text, source);
}
uint64_t bits(double value) {
  uint64_t result;
  std::memcpy(&result, &value, 8);
  return result;
}
} // namespace

TEST(Printf, ConvertsAsC) {
  struct {
    const char *format;
    std::vector<uint64_t> values;
    const char *text;
    uint32_t arguments;
  } rows[] = {
      {"plain", {}, "plain", 0},
      {"100%%", {}, "100%", 0},
      {"[%5d|%-5d|%05d|%+d]", {7, 7, 7, 7}, "[    7|7    |00007|+7]", 4},
      {"%d %i", {~0ull, 0x80000000ull}, "-1 -2147483648", 2},
      {"%u %x %X %#o", {~0ull, 255, 255, 8}, "4294967295 ff FF 010", 4},
      {"%lld %llu %lx %zu",
       {~0ull, ~0ull, ~0ull, 5},
       "-1 18446744073709551615 ffffffffffffffff 5",
       4},
      {"%hd %hhd %hhu", {0x18000, 0x180, 0x1ff}, "-32768 -128 255", 3},
      {"%c%c", {65, 0x142}, "AB", 2},
      {"%s|%3s|%.2s|%-6s|", {4, 1, 4, 4}, "xxxx|  x|xx|xxxx  |", 4},
      {"%*d|%-*d|%.*f", {4, 9, 3, 9, 2, bits(1.5)}, "   9|9  |1.50", 6},
      {"%*d|", {uint64_t(-4), 9}, "9   |", 2},
      {"%f %.3e %g %G %a",
       {bits(2.5), bits(12345), bits(1e-9), bits(1e20), bits(1)},
       "2.500000 1.234e+04 1e-09 1E+20 0x1p+0",
       5},
      {"%p", {0x7f00}, "0x7f00", 1},
      {"%y %d", {3}, "%y 3", 1},
      {"%", {}, "%", 0},
      {"%n%d", {0, 1}, "1", 2},
  };
  for (const auto &row : rows) {
    PrintfResult result = format(row.format, row.values);
    EXPECT_EQ(result.text, row.text) << row.format;
    EXPECT_EQ(result.arguments, row.arguments) << row.format;
  }
  EXPECT_EQ(format("%99999d", {1}).text.size(), 4095u);
  EXPECT_EQ(format("%99999.99999f", {bits(1)}).text.size(), 4097u);
}
