// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who has shared memory when.

#include "Timing/SharedMemory.h"

#include <gtest/gtest.h>

using namespace fp8;
using namespace fp8::sim;

namespace {

/// 100 bytes a cycle, of which 50 cycles of copies may stand back.
class SharedMemoryTest : public testing::Test {
protected:
  chip::Timing timing = [] {
    chip::Timing t = *chip::lookupTiming("sm_90a");
    t.sharedBytes = 100;
    t.sharedLoadCycles = 2;
    t.sharedBacklog = 50;
    return t;
  }();
  SharedMemory memory{timing};
};

TEST_F(SharedMemoryTest, ReadsFollowEachOther) {
  EXPECT_DOUBLE_EQ(memory.read(10, 1000), 20);
  EXPECT_DOUBLE_EQ(memory.read(10, 1000), 30);
  EXPECT_DOUBLE_EQ(memory.load(10), 30);
  EXPECT_DOUBLE_EQ(memory.load(10), 32);
  EXPECT_DOUBLE_EQ(memory.getBusy(), 24);
}

TEST_F(SharedMemoryTest, ACopyLandsInIdleCycles) {
  memory.land(0, 10000);
  EXPECT_DOUBLE_EQ(memory.read(100, 1000), 110);
  EXPECT_DOUBLE_EQ(memory.getBusy(), 110);
}

TEST_F(SharedMemoryTest, ReadsWaitWhenTooMuchOfACopyStoodBack) {
  memory.land(0, 5000);
  EXPECT_DOUBLE_EQ(memory.read(0, 1000), 10);
  memory.land(10, 2000);
  EXPECT_DOUBLE_EQ(memory.read(10, 1000), 40); // 20 cycles of the copies first
}

TEST_F(SharedMemoryTest, ACopyAheadDelaysNothingBeforeIt) {
  memory.land(500, 100000);
  memory.land(300, 100000);
  EXPECT_DOUBLE_EQ(memory.read(100, 1000), 110);
  // The first one has stood back for no longer than it may.
  EXPECT_DOUBLE_EQ(memory.read(300, 1000), 300 + 950 + 10);
}

} // namespace
