// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Targets and the devices that can run them.
#include "fp8/Runtime/Target.h"

#include <gtest/gtest.h>

using namespace fp8::runtime;

TEST(Target, IsReadFromPtx) {
  EXPECT_EQ(ptxTarget(".version 9.0\n.target sm_90a\n.address_size 64\n"),
            "sm_90a");
  EXPECT_EQ(ptxTarget("// .target sm_10\r\n\t.target\tsm_100f, debug\r\n"),
            "sm_100f");
  EXPECT_EQ(ptxTarget(".targets sm_90\n"), "");
  EXPECT_EQ(ptxTarget(""), "");
  EXPECT_EQ(ptxTarget(".target"), "");
  EXPECT_EQ(ptxTarget(".target sm_90"), "sm_90");
  EXPECT_TRUE(isCubin(std::string("\x7f"
                                  "ELF\2\1")));
  EXPECT_FALSE(isCubin(".version 9.0"));
  EXPECT_FALSE(isCubin(""));
}

TEST(Target, DecidesWhoRunsIt) {
  auto runs = [](const char *target, int major, int minor, bool cubin = false) {
    return !whyNotRunnable(target, {major, minor}, cubin);
  };
  // The suffix a: that very device.
  EXPECT_TRUE(runs("sm_90a", 9, 0));
  EXPECT_FALSE(runs("sm_90a", 10, 0));
  EXPECT_FALSE(runs("sm_90a", 8, 9));
  EXPECT_TRUE(runs("sm_100a", 10, 0));
  EXPECT_FALSE(runs("sm_100a", 10, 3));
  EXPECT_FALSE(runs("sm_100a", 9, 0));
  EXPECT_TRUE(runs("sm_103a", 10, 3));
  EXPECT_TRUE(runs("sm_120a", 12, 0));
  // f: the family, from there on.
  EXPECT_TRUE(runs("sm_100f", 10, 0));
  EXPECT_TRUE(runs("sm_100f", 10, 3));
  EXPECT_FALSE(runs("sm_100f", 12, 0));
  EXPECT_FALSE(runs("sm_103f", 10, 0));
  // None: all later ones.
  EXPECT_TRUE(runs("sm_80", 9, 0));
  EXPECT_TRUE(runs("sm_90", 12, 1));
  EXPECT_TRUE(runs("sm_90", 9, 0));
  EXPECT_FALSE(runs("sm_90", 8, 9));
  EXPECT_FALSE(runs("sm_103", 10, 0));
  // A cubin without a suffix stays within its major version.
  EXPECT_TRUE(runs("sm_80", 8, 9, true));
  EXPECT_FALSE(runs("sm_80", 9, 0, true));
  EXPECT_FALSE(runs("sm_89", 8, 6, true));
}

TEST(Target, SaysWhyNot) {
  EXPECT_EQ(*whyNotRunnable("sm_100a", {9, 0}),
            "sm_100a runs on devices of compute capability 10.0 only, but this "
            "device has 9.0");
  EXPECT_EQ(*whyNotRunnable("sm_100f", {9, 0}),
            "sm_100f runs on devices of the family of compute capability 10.0, "
            "but this device has 9.0");
  EXPECT_EQ(*whyNotRunnable("sm_100", {9, 0}),
            "sm_100 runs on devices of compute capability 10.0 or later, but "
            "this device has 9.0");
  for (const char *strange :
       {"", "sm_", "sm_9", "compute_90", "sm_90b", "sm_90aa", "sm_99999"})
    EXPECT_EQ(*whyNotRunnable(strange, {9, 0}),
              "'" + std::string(strange) + "' is not a target such as sm_90a");
}
