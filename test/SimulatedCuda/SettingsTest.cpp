// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fp8/SimulatedCuda/Settings.h"

#include "gmock/gmock.h"

using namespace fp8::cuda;

namespace {
TEST(Settings, GoThereAndBack) {
  Settings settings;
  settings.chip = "sm_90a";
  settings.schedules = 7;
  settings.strict = true;
  settings.capture = "a \"folder\"";
  auto read = parseSettings(toJson(settings));
  ASSERT_TRUE(read);
  EXPECT_EQ(toJson(*read), toJson(settings));
  EXPECT_EQ(read->schedules, 7u);
}

TEST(Settings, HaveDefaults) {
  auto read = parseSettings(R"({"multiprocessors": 3})");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->multiprocessors, 3u);
  EXPECT_EQ(read->chip, Settings().chip);
}

TEST(Settings, AreOneObjectOfJson) {
  for (const char *text : {"", "7", "[]", "{", R"({"chip": 7})"})
    EXPECT_FALSE(parseSettings(text)) << text;
}

TEST(Findings, GoThereAndBack) {
  Findings findings;
  findings.launches = 3;
  findings.errors = 2;
  auto read = parseFindings(toJson(findings));
  ASSERT_TRUE(read);
  EXPECT_EQ(toJson(*read), toJson(findings));
  EXPECT_FALSE(parseFindings(""));
}
} // namespace
