// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Undefined rows of the operands of tcgen05.mma: rows and columns of D are
// undefined, and no others.

#include "ISA/TensorCore/MmaKernel.h"

#include <gmock/gmock.h>

#include <set>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

namespace {

/// An MMA, and which lanes of D are undefined if rows 56 to 63 of A are: eight
/// from `lane` on, again every `lanes`.
struct Form {
  MmaCase its;
  uint32_t lane, lanes = 128;
};

std::vector<Form> forms() {
  MmaCase plain;
  plain.kind = "f8f6f4";
  plain.scales = 0;
  plain.qualifiers = "";
  MmaCase sum = plain, half = plain, pair = plain, folded = plain,
          stationary = plain;
  sum.accumulate = true;
  half.m = 64;
  half.firstLane = 16;
  pair.pair = true;
  pair.m = 256;
  folded.pair = true;
  stationary.stationary = true;
  stationary.m = 64;
  stationary.n = 64;
  return {{plain, 56}, {sum, 56},        {half, 120},
          {pair, 56},  {folded, 56, 64}, {stationary, 56, 64}};
}

/// Leaves out the 256 bytes of the image from `at` on.
void leaveOut(std::string &text, uint32_t at) {
  const uint32_t size = 13824, end = at + 256;
  auto number = [](uint32_t n) { return std::to_string(n); };
  text =
      replaced(text, "[bar], " + number(size), "[bar], " + number(size - 256));
  const std::string copy =
      "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes ";
  text = replaced(text, copy + "[%r5], [%d0], " + number(size) + ", [bar];\n",
                  copy + "[%r5], [%d0], " + number(at) +
                      ", [bar];\n  add.s64 %d10, %d0, " + number(end) +
                      "; add.u32 %r12, %r5, " + number(end) + ";\n" + copy +
                      "[%r12], [%d10], " + number(size - end) + ", [bar];\n");
}

void expectUndefined(MmaRun &run, const MmaCase &form) {
  Report report = run.run();
  EXPECT_TRUE(has(report, ErrorKind::UninitialisedMemory)) << form.name();
  EXPECT_THAT(report.str(), HasSubstr("'st.global.b32' stores")) << form.name();
  EXPECT_THAT(report.str(), HasSubstr("which nothing has written"))
      << form.name();
}

/// All but `wrong` elements, which are not stored, are right.
void expectRight(MmaRun &run, const MmaCase &form, uint32_t wrong) {
  Report report = run.run();
  EXPECT_TRUE(report.ok()) << form.name() << report.str();
  EXPECT_EQ(run.countWrong(1e-5), wrong) << form.name();
}

/// Stores all lanes but eight from that of the form on, again every `lanes`.
std::string leavingLanes(std::string text, const Form &form, uint32_t lanes) {
  const std::string place = "  add.s64 %d9, %d9, %d1;\n",
                    guard = form.its.halfLanes() ? "  @%p7" : " ",
                    store = guard + " st.global.b32",
                    half = std::to_string(form.its.firstLane) + ";\n",
                    load = "  tcgen05.ld";
  text = replaced(text, place,
                  place + "  and.b32 %r12, %r0, " + std::to_string(lanes - 1) +
                      "; sub.u32 %r12, %r12, " + std::to_string(form.lane) +
                      "; setp.ge.u32 %p4, %r12, 8;\n");
  if (form.its.halfLanes())
    text = replaced(text, half + load,
                    half + "  and.pred %p4, %p4, %p7;\n" + load);
  for (size_t at = 0; (at = text.find(store, at)) != std::string::npos;
       at += store.size())
    text.replace(at, guard.size(), "  @%p4");
  return text;
}

} // namespace

TEST(Tcgen05Undefined, ARowOfAIsOneOfD) {
  for (const Form &form : forms()) {
    MmaRun run(form.its);
    leaveOut(run.text, 7 * 256);
    expectUndefined(run, form.its);
    const std::string whole = run.text;
    run.text = leavingLanes(whole, form, form.lanes);
    expectRight(run, form.its, 8 * form.its.ctas() * form.its.n);
    if (form.lanes == 128)
      continue;
    // The part of D that lies below is undefined, too.
    run.text = leavingLanes(whole, form, 128);
    expectUndefined(run, form.its);
  }
}

TEST(Tcgen05Undefined, ARowOfBIsAColumnOfD) {
  for (const Form &form : forms()) {
    const MmaCase &its = form.its;
    MmaRun run(its);
    leaveOut(run.text, 4096 + 256);
    expectUndefined(run, its);
    // Rows 8 to 15 of each CTA's half of B. The same columns of tensor memory
    // have others of D where these lie below each other.
    std::set<uint32_t> columns;
    for (uint32_t column = 8; column < its.n; column += its.n / its.ctas())
      columns.insert(column % its.dColumns());
    for (uint32_t column : columns)
      for (uint32_t c = column; c < column + 8; ++c)
        run.text = replaced(run.text,
                            "st.global.b32 [%d9+" + std::to_string(c * 4) +
                                "], %v" + std::to_string(c % 8) + ";\n",
                            "mov.b32 %r12, 0;\n");
    expectRight(run, its, 8 * its.m * uint32_t(columns.size()) * its.parts());
  }
}

TEST(Tcgen05Undefined, WhatIsAddedToStaysSo) {
  // The second MMA multiplies B by B, which is defined.
  MmaCase form = forms().front().its;
  form.accumulate = true;
  const std::string a = "], %d3, %d4, ";
  MmaRun run(form);
  leaveOut(run.text, 7 * 256);
  const size_t second = run.text.rfind(a);
  ASSERT_GT(second, run.text.find(a));
  run.text.replace(second, a.size(), "], %d4, %d4, ");
  expectUndefined(run, form);
  // What is overwritten does not.
  run.text = replaced(run.text, ", %p6;", ", %p3;");
  Report report = run.run();
  EXPECT_TRUE(report.ok()) << report.str();
}
