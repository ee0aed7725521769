// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order in which asynchronous operations leave their list: that of a list
// which is searched from its front.

#include "Memory/Async.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace fp8::sim;

TEST(DueList, IsInOrderOfAppearance) {
  Random random(7);
  DueList list;
  std::vector<std::unique_ptr<AsyncOp>> all;
  std::vector<AsyncOp *> expected;
  auto isDue = [](uint64_t now) {
    return [now](const AsyncOp *op) { return op->due <= now; };
  };
  for (unsigned step = 0; step < 20000; ++step) {
    // It grows, and shrinks again.
    bool adds = random.below(100) < (step / 2000 % 2 ? 35 : 65);
    if (adds) {
      all.push_back(std::make_unique<AsyncOp>());
      all.back()->due = random.below(1000);
      list.add(all.back().get());
      expected.push_back(all.back().get());
    } else if (random.below(2) && !expected.empty()) {
      size_t index = random.below(expected.size());
      ASSERT_EQ(list.take(index), expected[index]);
      expected.erase(expected.begin() + int64_t(index));
    } else {
      uint64_t now = random.below(1000);
      auto first = std::find_if(expected.begin(), expected.end(), isDue(now));
      AsyncOp *taken = list.takeDue(now);
      ASSERT_EQ(taken, first == expected.end() ? nullptr : *first);
      if (taken)
        expected.erase(first);
    }
    ASSERT_EQ(list.size(), expected.size());
    uint64_t earliest = ~uint64_t(0);
    for (const AsyncOp *op : expected)
      earliest = std::min(earliest, op->due);
    ASSERT_EQ(list.earliest(), earliest);
  }
}
