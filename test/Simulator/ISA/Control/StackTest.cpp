// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// alloca, stacksave and stackrestore.

#include "Kernels.h"

#include <gmock/gmock.h>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

namespace {

std::string messageOf(const std::string &body,
                      const std::string &variables = "") {
  Report report;
  compute(body, 32, 32, variables, &report);
  EXPECT_EQ(report.errors.size(), 1u) << report.str();
  return report.errors.empty() ? "" : report.errors[0].message;
}

} // namespace

TEST(Stack, EachThreadHasItsOwnMemory) {
  // As many words as the thread's number and one; the last is read again.
  std::string body = R"(
  .local .b32 before[3];
  mov.b32 %r9, 77; st.local.b32 [before+8], %r9;
  add.u32 %r0, %t, 1; mul.wide.u32 %d0, %r0, 4;
  alloca.u64 %d1, %d0, 16;
  and.b64 %d2, %d1, 15; cvt.u32.u64 %r8, %d2;
  mov.u32 %r1, 0; mov.b64 %d3, %d1;
loop:
  mul.lo.u32 %r2, %r1, 5; add.u32 %r2, %r2, %t;
  st.local.b32 [%d3], %r2;
  add.u64 %d3, %d3, 4; add.u32 %r1, %r1, 1;
  setp.lt.u32 %p0, %r1, %r0;
  @%p0 bra loop;
  cvta.local.u64 %d4, %d3;
  ld.b32 %r3, [%d4+-4];
  ld.local.b32 %r4, [before+8]; sub.u32 %r4, %r4, 77;
  add.u32 %r3, %r3, %r4; add.u32 %r3, %r3, %r8;
  st.global.b32 [%o], %r3;)";
  std::vector<uint32_t> words = compute(body, 32, 32);
  for (uint32_t t = 0; t < 32; ++t)
    EXPECT_EQ(words[t], 5 * t + t);
}

TEST(Stack, RestoreFreesWhatCameBehindSave) {
  std::string body = R"(
  alloca.u64 %d0, 64; stacksave.u64 %d1;
  alloca.u64 %d2, 32; stackrestore.u64 %d1;
  alloca.u64 %d3, 8;
  sub.u64 %d4, %d2, %d3; sub.u64 %d5, %d2, %d0;
  cvt.u32.u64 %r0, %d4; cvt.u32.u64 %r1, %d5;
  mad.lo.u32 %r0, %r0, 1000, %r1;
  st.global.b32 [%o], %r0;)";
  EXPECT_EQ(compute(body, 32, 32)[3], 64u);
}

TEST(Stack, ReturnFreesWhatACallHasAllocated) {
  std::string functions = R"(
.func (.reg .b64 %result) take()
{
  alloca.u64 %result, 1024;
  ret;
}
)";
  std::string body = R"(
  call (%d0), take, (); call (%d1), take, ();
  sub.u64 %d2, %d1, %d0; cvt.u32.u64 %r0, %d2;
  st.global.b32 [%o], %r0;)";
  EXPECT_EQ(compute(body, 32, 32, functions)[3], 0u);
}

TEST(Stack, HasAnEnd) {
  EXPECT_THAT(messageOf("alloca.u64 %d0, 1048576; st.global.b64 [%out], %d0;"),
              HasSubstr("wants 1048576 bytes of the stack"));
  EXPECT_THAT(messageOf("stackrestore.u64 4096;"),
              HasSubstr("sets the stack's end to 4096, but it is at 0"));
  EXPECT_THAT(messageOf("alloca.u64 %d0, 8, 12;"),
              HasSubstr("needs an alignment that is a power of two"));
}

TEST(Stack, WhatWasNotWrittenIsUndefined) {
  EXPECT_THAT(messageOf("alloca.u64 %d0, 8; ld.local.b32 %r0, [%d0]; "
                        "st.global.b32 [%o], %r0;"),
              HasSubstr("stores register %r0, which is undefined"));
}
