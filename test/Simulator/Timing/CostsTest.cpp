// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The classes of instructions, and the chips that have constants.

#include "ReplayTest.h"

using namespace fp8;
using namespace fp8::sim;
using namespace fp8::sim::test;

namespace {

TEST(CostsTest, OpcodesHaveTheirClasses) {
  auto kind = [](const char *opcode, std::vector<std::string> qualifiers) {
    ast::Instruction text;
    text.opcode = opcode;
    text.qualifiers = std::move(qualifiers);
    return classify(text);
  };
  EXPECT_EQ(kind("fma", {"rn", "f32"}), chip::IssueClass::Arithmetic);
  EXPECT_EQ(kind("add", {"rn", "bf16x2"}), chip::IssueClass::Arithmetic);
  EXPECT_EQ(kind("fma", {"rn", "f32x2"}), chip::IssueClass::Packed);
  EXPECT_EQ(kind("add", {"s32"}), chip::IssueClass::Integer);
  EXPECT_EQ(kind("setp", {"lt", "u32"}), chip::IssueClass::Integer);
  EXPECT_EQ(kind("mov", {"b32"}), chip::IssueClass::Free);
  EXPECT_EQ(kind("ld", {"param", "b32"}), chip::IssueClass::Free);
  EXPECT_EQ(kind("ld", {"shared", "b32"}), chip::IssueClass::SharedLoad);
  EXPECT_EQ(kind("ld", {"global", "b32"}), chip::IssueClass::GlobalLoad);
  EXPECT_EQ(kind("st", {"global", "b32"}), chip::IssueClass::GlobalStore);
  EXPECT_EQ(kind("wgmma", {"mma_async"}), chip::IssueClass::Tensor);
  EXPECT_EQ(kind("tcgen05", {"mma"}), chip::IssueClass::Tensor);
  EXPECT_EQ(kind("tcgen05", {"wait::ld"}), chip::IssueClass::Synchronise);
}

TEST(TimingTest, GpusAreFoundByTheirChips) {
  EXPECT_EQ(chip::lookupTiming("sm_90a"), chip::lookupTiming("sm_90a", "h200"));
  EXPECT_STREQ(chip::lookupTiming("sm_90a", "h100")->name, "NVIDIA H100");
  EXPECT_STREQ(chip::lookupTiming("sm_100a")->name, "NVIDIA B200");
  EXPECT_EQ(chip::lookupTiming("sm_100a", "h100"), nullptr);
  EXPECT_EQ(chip::lookupTiming("sm_110a"), nullptr);
}

TEST(TimingTest, ChipsWithoutConstantsAreRefused) {
  Device device;
  Options options;
  options.timing = true;
  Report report = run(device, kernel("", "ret;", "sm_103a"), {}, {}, options);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.errors[0].message, "Options::timing has no constants for "
                                      "sm_103a; it supports h200 (sm_90a), "
                                      "h100 (sm_90a), b200 (sm_100a)");
}

TEST(TimingTest, AChipIsNotThatOfTheGpu) {
  Device device;
  Options options;
  options.timing = true;
  options.timedGpu = "h100";
  Report report = run(device, kernel("", "ret;"), {}, {}, options);
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.errors[0].message.find("for h100 with sm_100a; it supports"),
            std::string::npos);
}

TEST(TimingTest, ThreeClustersRunForAll) {
  Device device;
  Options options;
  LaunchConfig config;
  config.grid = {100, 1, 1};
  std::string text = kernel("", "bar.sync 0;\nret;", "sm_90a");
  EXPECT_FALSE(run(device, text, {}, config, options).time);
  options.timing = true;
  Report report = run(device, text, {}, config, options);
  ASSERT_TRUE(report.time);
  EXPECT_EQ(report.statistics.blocks, 3u);
  EXPECT_GT(report.time->microseconds, report.time->launchUs);
}

} // namespace
