// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What follows from a text: values that count, and comparisons that repeat
// others.

#include "Counters.h"
#include "fp8/Simulator/PTXModule.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace fp8;
using namespace fp8::prooftext;
using Op = CodeStep::Op;

namespace {

/// A kernel with these instructions. Its one parameter is in %r0, and the
/// address of shared memory in %r9.
class CodeTest : public testing::Test {
protected:
  void read(const std::string &instructions) {
    parsed = sim::PTXModule::parse(
        ".version 8.8\n.target sm_100a\n.address_size 64\n"
        ".extern .shared .align 128 .b8 memory[];\n"
        ".visible .entry kernel(.param .u32 kernel_param_0) {\n"
        "  .reg .pred %p<9>;\n  .reg .b32 %r<20>;\n  .reg .b64 %rd<9>;\n"
        "  ld.param.b32 %r0, [kernel_param_0];\n  mov.b32 %r9, memory;\n" +
        instructions + "  ret;\n}\n");
    ASSERT_TRUE(parsed) << parsed.diagnostics.front().str("kernel");
    code = readCode(parsed.module.ast(),
                    *parsed.module.ast().findEntry("kernel"), 1);
    ASSERT_EQ(code.obstacle, "");
  }
  /// The steps that are events.
  std::vector<uint32_t> events() const {
    std::vector<uint32_t> found;
    for (const CodeStep &step : code.steps)
      if (step.op == Op::Event)
        found.push_back(step.instruction);
    return found;
  }

  sim::PTXModule::ParseResult parsed;
  Code code;
};

// Both slots begin as one zero, and count on their own from then on.
constexpr const char *kTwoRings = R"(
  mov.b32 %r1, 0;
  mov.b32 %r2, %r1;
  mov.b32 %r3, 0;
$again:
  shl.b32 %r4, %r1, 3;
  add.s32 %r5, %r9, %r4;
  mbarrier.arrive.shared.b64 %rd1, [%r5];
  shl.b32 %r6, %r2, 3;
  add.s32 %r7, %r9, %r6;
  mbarrier.arrive.shared.b64 %rd1, [%r7+64];
  add.s32 %r10, %r1, 1;
  setp.eq.b32 %p1, %r10, 3;
  selp.b32 %r1, 0, %r10, %p1;
  add.s32 %r11, %r2, 1;
  and.b32 %r2, %r11, 1;
  add.s32 %r3, %r3, 1;
  setp.ne.b32 %p2, %r3, %r0;
  @%p2 bra $again;
)";

TEST_F(CodeTest, CountersOfRingsAreApart) {
  read(kTwoRings);
  Counters counters(code);
  std::vector<Counters::Numbers> numbers;
  for (uint32_t event : events())
    counters.addOf(event, 1, numbers.emplace_back());
  ASSERT_EQ(numbers.size(), 2u);
  EXPECT_EQ(numbers[0].size(), 1u);
  EXPECT_EQ(numbers[1].size(), 1u);
  EXPECT_NE(numbers[0], numbers[1]);
}

/// A mask that is compared twice, and something in between. The second result
/// chooses the barrier.
std::string compareTwice(const std::string &between) {
  return "  and.b32 %r1, %r0, 7;\n  setp.eq.b32 %p1, %r1, 0;\n"
         "  @%p1 bra $other;\n  mbarrier.arrive.shared.b64 %rd1, [%r9];\n"
         "$other:\n" +
         between +
         "  setp.ne.b32 %p2, %r1, 0;\n  selp.b32 %r2, 8, 0, %p2;\n"
         "  add.s32 %r3, %r9, %r2;\n"
         "  mbarrier.arrive.shared.b64 %rd1, [%r3];\n";
}

unsigned countOps(const Code &code, Op op) {
  return std::count_if(code.steps.begin(), code.steps.end(),
                       [&](const CodeStep &step) { return step.op == op; });
}

TEST_F(CodeTest, AComparisonThatRepeatsAnotherIsItsResult) {
  read(compareTwice(""));
  EXPECT_EQ(countOps(code, Op::NotEqual), 0u);
  EXPECT_EQ(countOps(code, Op::Not), 1u);
  read(compareTwice("  and.b32 %r4, %r0, 3;\n  add.s32 %r1, %r1, 0;\n"));
  EXPECT_EQ(countOps(code, Op::NotEqual), 1u);
  EXPECT_EQ(countOps(code, Op::Not), 0u);
}

TEST_F(CodeTest, BitsOfAMaskAreReadFromItsResult) {
  const std::string mask = "  and.b32 %r1, %r0, 7;\n",
                    rest = "  shl.b32 %r3, %r2, 3;\n  add.s32 %r4, %r9, %r3;\n"
                           "  mbarrier.arrive.shared.b64 %rd1, [%r4];\n";
  auto getSource = [&] {
    for (const CodeStep &step : code.steps)
      if (step.op == Op::Extract)
        return step.sources[0].number;
    return ~uint32_t(0);
  };
  auto getName = [&] { return code.function->registers[getSource()].name; };
  read(mask + "  bfe.u32 %r2, %r0, 1, 2;\n" + rest);
  EXPECT_EQ(getName(), "%r1");
  read(mask + "  bfe.u32 %r2, %r0, 1, 3;\n" + rest);
  EXPECT_EQ(getName(), "%r0");
}

/// What is left over of %r0 when it is divided by `divisor`.
std::string takeRemainder(const std::string &factor, const std::string &shift,
                          const std::string &divisor) {
  return "  mul.hi.u32 %r1, %r0, " + factor + ";\n  shr.u32 %r2, %r1, " +
         shift + ";\n  mul.lo.s32 %r3, %r2, " + divisor +
         ";\n  sub.s32 %r4, %r0, %r3;\n  shl.b32 %r5, %r4, 3;\n"
         "  add.s32 %r6, %r9, %r5;\n"
         "  mbarrier.arrive.shared.b64 %rd1, [%r6];\n";
}

TEST_F(CodeTest, AProductWithTheInverseMakesARemainder) {
  for (auto [factor, shift, divisor] : {std::tuple{"-1431655765", "2", "6"},
                                        std::tuple{"-858993459", "3", "10"},
                                        std::tuple{"-1431655765", "1", "3"}}) {
    read(takeRemainder(factor, shift, divisor));
    EXPECT_EQ(countOps(code, Op::Remainder), 1u) << divisor;
  }
  // Another inverse, which is wrong for large numbers, and another multiple.
  for (auto [factor, shift, divisor] : {std::tuple{"-1431655766", "2", "6"},
                                        std::tuple{"-1431655765", "3", "6"},
                                        std::tuple{"-1431655765", "2", "5"}}) {
    read(takeRemainder(factor, shift, divisor));
    EXPECT_EQ(countOps(code, Op::Remainder), 0u) << factor << " " << divisor;
  }
}

TEST_F(CodeTest, ABranchMayBeFarFromItsComparison) {
  const std::string start = "  and.b32 %r1, %r0, 7;\n"
                            "  setp.eq.b32 %p1, %r1, 0;\n"
                            "  setp.eq.b32 %p2, %r0, 0;\n"
                            "  @%p2 bra $other;\n$other:\n",
                    rest = "  @%p1 bra $end;\n"
                           "  mbarrier.arrive.shared.b64 %rd1, [%r9];\n$end:\n";
  auto getCompared = [&] {
    int32_t found = -1;
    for (const CodeStep &step : code.steps)
      if (step.op == Op::Branch)
        found = step.isNumber;
    return found < 0 ? "" : code.function->registers[found].name;
  };
  read(start + rest);
  EXPECT_EQ(getCompared(), "%r1");
  // The register is another one by then.
  read(start + "  add.s32 %r1, %r1, 1;\n" + rest);
  EXPECT_EQ(getCompared(), "");
}

/// The op of the step that writes the register last.
Op getOp(const Code &code, const std::string &reg) {
  Op found = Op::Other;
  for (const CodeStep &step : code.steps)
    if (step.destination >= 0 &&
        code.function->registers[step.destination].name == reg)
      found = step.op;
  return found;
}

/// An event whose operand is the result of the instructions, in %r2.
std::string use(const std::string &instructions) {
  return instructions + "  add.s32 %r4, %r9, %r2;\n"
                        "  mbarrier.arrive.shared.b64 %rd1, [%r4];\n";
}

TEST_F(CodeTest, FormsThatAreNotKnownExactlyAreNotFollowed) {
  const std::string one = "  mov.b32 %r1, 33280;\n";
  read(use(one + "  min.s32 %r2, %r1, 5;\n"));
  EXPECT_EQ(getOp(code, "%r2"), Op::Minimum);
  read(use(one + "  min.relu.s32 %r2, %r1, 5;\n"));
  EXPECT_EQ(code.steps[3].op, Op::Other);
  read(use(one + "  bfe.u32 %r2, %r1, 0, 261;\n"));
  EXPECT_EQ(code.steps[3].sources[2].value, 5u);
  read(use(one + "  bfe.u32 %r2, %r1, 20, 20;\n"));
  EXPECT_EQ(code.steps[3].op, Op::Other);
  read(use(one + "  cvt.u8.u32 %r2, %r1;\n"));
  EXPECT_EQ(code.steps[3].sources[1].value, 255u);
}

TEST_F(CodeTest, ThePartnerOfAPredicateIsUnknown) {
  read("  setp.eq.u32 %p1, %r9, 0;\n  setp.ne.u32 %p1|%p2, %r9, 0;\n" +
       use("  selp.b32 %r2, 8, 0, %p1;\n"));
  EXPECT_EQ(code.steps[3].unknowns.size(), 1u);
}

TEST_F(CodeTest, OnlyTheNumberOfTheWarpIsBroadcast) {
  auto broadcast = [&](const std::string &number) {
    read(use(number + "  shr.u32 %r6, %r5, 5;\n"
                      "  shfl.sync.idx.b32 %r2, %r6, 0, 31, -1;\n"));
    return countOps(code, Op::Broadcast);
  };
  EXPECT_EQ(broadcast("  mov.u32 %r5, %tid.x;\n"), 1u);
  EXPECT_EQ(broadcast("  mov.u32 %r7, %laneid;\n  shl.b32 %r5, %r7, 5;\n"), 0u);
}

TEST_F(CodeTest, WhatNeedsAllLanesStandsWhereAllLanesAre) {
  auto countFaults = [&](const std::string &instructions) {
    read(instructions);
    return std::count_if(code.steps.begin(), code.steps.end(),
                         [](const CodeStep &step) { return *step.fault; });
  };
  const std::string elect = "  elect.sync %r1|%p1, -1;\n",
                    vote = "  vote.sync.all.pred %p2, %p1, -1;\n";
  EXPECT_EQ(countFaults(elect + vote), 0);
  EXPECT_EQ(countFaults("  elect.sync %r1|%p1, 1;\n"), 1);
  EXPECT_EQ(countFaults(elect + "  @%p1 bra $far;\n" + vote + "$far:\n"), 1);
  EXPECT_EQ(countFaults(elect + "  @%p1 bra $far;\n$far:\n" + vote), 0);
  // A branch that all lanes take alike.
  EXPECT_EQ(countFaults("  setp.eq.u32 %p3, %r0, 0;\n  @%p3 bra $far;\n" +
                        elect + "$far:\n"),
            0);
}

TEST_F(CodeTest, NobodyLooksWhereNobodyComes) {
  read(kTwoRings);
  size_t all = code.tracked.size();
  std::vector<bool> reached(code.steps.size(), true);
  uint32_t second = events()[1];
  reached[second] = false;
  code = readCode(parsed.module.ast(), *parsed.module.ast().findEntry("kernel"),
                  1, reached);
  EXPECT_EQ(events().size(), 1u);
  EXPECT_LT(code.tracked.size(), all);
}

} // namespace
