// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the lanes of a warp have issued to the tensor core.

#include "Memory/TensorIssues.h"

#include <gtest/gtest.h>

using namespace fp8::sim;

TEST(TensorIssues, KeepsTheLastOfEachLane) {
  TensorIssues issues;
  EXPECT_EQ(issues.lastOf(0), 0u);
  TensorIssue first, other;
  other.lane = 31;
  EXPECT_EQ(issues.add(first), 1u);
  EXPECT_EQ(issues.add(other), 2u);
  EXPECT_EQ(issues.add(other), 3u);
  EXPECT_EQ(issues.lastOf(0), 1u);
  EXPECT_EQ(issues.lastOf(31), 3u);
  EXPECT_EQ(issues.lastOf(5), 0u);
}

TEST(TensorIssues, FindsEachByItsTime) {
  TensorIssues issues;
  const uint32_t accumulators[] = {0, 0, 64, 0, 64, 64, 64};
  TensorIssue issue;
  for (uint32_t accumulator : accumulators) {
    issue.accumulator = accumulator;
    issues.add(issue);
  }
  for (uint32_t n = 0; n < 7; ++n)
    EXPECT_EQ(issues.at(n + 1)->accumulator, accumulators[n]) << n;
}

TEST(TensorIssues, AreBounded) {
  TensorIssues issues;
  TensorIssue issue;
  constexpr uint32_t kIssued = 3 * TensorIssues::kMost;
  for (uint32_t n = 0; n < kIssued; ++n) {
    issue.accumulator = n;
    issues.add(issue);
    EXPECT_LE(issues.size(), TensorIssues::kMost);
  }
  // The later half is there.
  for (uint32_t n = kIssued - TensorIssues::kMost / 2; n < kIssued; ++n)
    ASSERT_EQ(issues.at(n + 1)->accumulator, n);
  EXPECT_EQ(issues.at(1), nullptr);
}
