// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// setmaxnreg: who may give and take how many registers.

#include "Kernels.h"

#include <gmock/gmock.h>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

namespace {

/// Three warpgroups, of which the first executes `first` and the others
/// `others`, and the launch bounds.
Report runGroups(const std::string &first, const std::string &others,
                 const std::string &bounds = ".maxntid 384",
                 uint64_t seed = 0) {
  std::string text = kernel("",
                            R"(
  .reg .pred %p<3>;
  .reg .b32 %t;
  mov.u32 %t, %tid.x;
  setp.lt.u32 %p0, %t, 128;
  setp.lt.u32 %p1, %t, 32;
  setp.lt.u32 %p2, %t, 352;
  @!%p0 bra OTHERS;
)" + first + "  ret;\nOTHERS:\n" +
                                others + "  ret;",
                            "sm_90a");
  text = replaced(text, "k()\n", "k()\n" + bounds + "\n");
  Device device;
  LaunchConfig config;
  config.block = {384, 1, 1};
  Options options;
  options.scheduleSeed = seed;
  return run(device, text, {}, config, options);
}

std::string change(const std::string &action, unsigned count) {
  return "  setmaxnreg." + action + ".sync.aligned.u32 " +
         std::to_string(count) + ";\n";
}

} // namespace

TEST(RegisterPool, WhatIsGivenUpMayBeTaken) {
  // 65536 / 384, rounded down to a multiple of 8, is 168; 40 + 2 * 232 is
  // three times that.
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Report report =
        runGroups(change("dec", 40), change("inc", 232), ".maxntid 384", seed);
    EXPECT_TRUE(report.ok()) << report.str();
  }
  EXPECT_TRUE(
      runGroups(change("dec", 24) + change("inc", 40), change("inc", 232))
          .ok());
}

TEST(RegisterPool, WhatNobodyGivesUpIsWaitedForInVain) {
  for (const auto &[first, others] :
       {std::pair(change("dec", 40), change("inc", 240)),
        std::pair(std::string(), change("inc", 176))}) {
    Report report = runGroups(first, others);
    EXPECT_TRUE(has(report, ErrorKind::Deadlock));
    EXPECT_THAT(report.str(),
                HasSubstr("another warp must execute setmaxnreg.dec"));
  }
}

TEST(RegisterPool, TheLaunchBoundsSayWhatThereIs) {
  auto takes = [](unsigned count, const std::string &bounds) {
    Report report = runGroups(change("dec", 24), change("inc", count), bounds);
    EXPECT_EQ(report.ok(), !has(report, ErrorKind::Deadlock)) << report.str();
    return report.ok();
  };
  EXPECT_TRUE(takes(128, ".maxntid 384\n.maxnreg 96")); // 72 for 2 * 32
  EXPECT_FALSE(takes(136, ".maxntid 384\n.maxnreg 96"));
  // 80 where two CTAs share the registers.
  EXPECT_TRUE(takes(104, ".maxntid 384\n.minnctapersm 2"));
  EXPECT_FALSE(takes(112, ".maxntid 384\n.minnctapersm 2"));
  // Where nothing is known, nothing happens.
  EXPECT_TRUE(runGroups("", change("inc", 256), "").ok());
}

TEST(RegisterPool, IncAndDecGoTheirWays) {
  const std::string known = ".maxntid 384\n.maxnreg 168";
  Report report = runGroups(change("dec", 176), "", known);
  EXPECT_TRUE(has(report, ErrorKind::InvalidOperation));
  EXPECT_THAT(report.str(),
              HasSubstr("asks for 176 registers per thread, more than the 168 "
                        "that it has; use setmaxnreg.inc"));
  report = runGroups(change("inc", 160), "", known);
  EXPECT_THAT(report.str(),
              HasSubstr("asks for 160 registers per thread, fewer than the 168 "
                        "that it has; use setmaxnreg.dec"));
  report = runGroups(change("dec", 28), "");
  EXPECT_THAT(report.str(), HasSubstr("needs a multiple of 8 from 24 to 256"));
}

TEST(RegisterPool, PtxasChoosesWhatAThreadBeginsWith) {
  // At most 168, so that more of it may be fewer than it has; what a warp once
  // asked for it has.
  EXPECT_TRUE(runGroups(change("inc", 160), "").ok());
  Report report = runGroups(change("inc", 160) + change("inc", 152), "");
  EXPECT_THAT(report.str(),
              HasSubstr("asks for 152 registers per thread, fewer "
                        "than the 160 that it has"));
  report = runGroups(change("dec", 176), "");
  EXPECT_TRUE(report.ok()) << report.str();
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_EQ(report.warnings[0].rule, Rule::RegisterCounts);
  EXPECT_THAT(report.warnings[0].message,
              HasSubstr("more than the 168 that it can have"));
}

TEST(RegisterPool, AWarpgroupDoesItTogether) {
  Report report = runGroups("  @%p1" + change("dec", 40), "");
  EXPECT_TRUE(has(report, ErrorKind::InvalidOperation)) << report.str();
  EXPECT_THAT(
      report.str(),
      HasSubstr("only 1 of the warps of a warpgroup have executed "
                "'setmaxnreg.dec.sync.aligned.u32'; all four must execute it"));
  report =
      runGroups("  @%p1" + change("dec", 40) + "  @!%p1" + change("inc", 232),
                change("dec", 24));
  EXPECT_THAT(report.str(), HasSubstr("must execute the same wgmma and "
                                      "setmaxnreg instructions"));
}

TEST(RegisterPool, AWarpgroupMayDoItAtSeveralPlaces) {
  auto atTwo = [](unsigned first, unsigned others) {
    return runGroups("  @%p1" + change("dec", first) + "  @!%p1" +
                         change("dec", others),
                     change("inc", 200));
  };
  Report report = atTwo(40, 40);
  EXPECT_TRUE(report.ok() && report.warnings.empty()) << report.str();
  report = atTwo(40, 32);
  EXPECT_TRUE(report.ok()) << report.str();
  ASSERT_FALSE(report.warnings.empty());
  for (const SimulationError &warning : report.warnings)
    EXPECT_EQ(warning.rule, Rule::RegisterCounts);
  EXPECT_THAT(report.warnings[0].message, HasSubstr("must ask for the same"));
}
