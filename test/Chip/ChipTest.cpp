// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tables of chips and features.
#include "fp8/Chip/Chip.h"
#include "fp8/Chip/Machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

using namespace fp8::chip;
using testing::IsEmpty;

namespace {

TEST(Chip, NamesAreDistinctAndFound) {
  std::set<std::string> names;
  for (const Chip &chip : getChips()) {
    EXPECT_TRUE(names.insert(chip.name).second) << chip.name;
    EXPECT_EQ(lookup(chip.name), &chip);
  }
  EXPECT_EQ(lookup("sm_9"), nullptr);
  EXPECT_EQ(lookup("sm_90"), nullptr) << "it has no tensor-core instructions";
}

TEST(Chip, MultiprocessorsGoWithTheNumber) {
  for (const Chip &chip : getChips())
    EXPECT_EQ(getMultiprocessors(chip.name), chip.machine->multiprocessors)
        << chip.name;
  for (const char *hopper : {"sm_90", "sm_90a", "sm_90f"})
    EXPECT_EQ(getMultiprocessors(hopper), 132) << hopper;
  for (const char *blackwell : {"sm_100", "sm_103", "sm_103f", "sm_80", ""})
    EXPECT_EQ(getMultiprocessors(blackwell), 148) << blackwell;
  EXPECT_EQ(getMultiprocessors("sm_110f"), 20);
}

TEST(Chip, BudgetsGoWithTheEngine) {
  for (const Chip &chip : getChips()) {
    SCOPED_TRACE(chip.name);
    bool isTensorMemory = chip.engine == MmaEngine::TensorMemory;
    EXPECT_EQ(chip.has(Feature::TensorMemory), isTensorMemory);
    EXPECT_EQ(chip.has(Feature::WarpgroupMma), !isTensorMemory);
    EXPECT_EQ(chip.tensorMemoryColumns > 0, isTensorMemory);
    EXPECT_LE(chip.sharedMemoryPerCta, getMostSharedMemory());
    EXPECT_LE(chip.tensorMemoryColumns, getMostTensorMemoryColumns());
    ASSERT_NE(chip.machine, nullptr);
    EXPECT_GT(chip.machine->multiprocessors, 0);
  }
}

TEST(Chip, EachFeatureHasAChipAndWords) {
  for (const FeatureInfo &info : getFeatures()) {
    SCOPED_TRACE(info.name);
    EXPECT_THAT(getNames(info.feature), Not(IsEmpty()));
    EXPECT_EQ(info.mnemonic.back(), '.');
  }
}

TEST(Chip, ALackNamesTheFeatureTheChipAndTheCure) {
  EXPECT_EQ(
      describeLack(Feature::TensorMemory, *lookup("sm_90a")),
      "requires tensor memory, which sm_90a lacks; lower for " + [] {
        std::string names = getNames(Feature::TensorMemory);
        return names.replace(names.rfind(", "), 2, " or ");
      }());
  EXPECT_EQ(describeLack(Feature::WarpgroupMma, *lookup("sm_100a")),
            "requires matrix products of warpgroups, which sm_100a lacks; "
            "lower for sm_90a");
  EXPECT_THAT(describeLack(Feature::ClusterLaunchControl, *lookup("sm_90a")),
              testing::StartsWith("requires cluster launch control, which "
                                  "sm_90a lacks; use another scheduler, or "
                                  "lower for sm_100a"));
  EXPECT_THAT(describeLack(Feature::TensorMemory, *lookup("sm_100f")),
              IsEmpty());
  EXPECT_THAT(describeLack({}, *lookup("sm_90a")), IsEmpty());
}

} // namespace
