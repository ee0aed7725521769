// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who has shared memory when.

#include "Timing/SharedMemory.h"

#include <gtest/gtest.h>

using namespace fp8;
using namespace fp8::sim;

namespace {

/// 64 bytes a cycle, of which 50 cycles of copies may stand back.
class SharedMemoryTest : public testing::Test {
protected:
  chip::Timing timing = [] {
    chip::Timing t = *chip::lookupTiming("sm_90a");
    t.sharedBytes = 64;
    t.sharedBacklog = 50;
    return t;
  }();
  SharedMemory memory{timing};
};

TEST_F(SharedMemoryTest, ReadsFollowEachOther) {
  EXPECT_DOUBLE_EQ(memory.read(10, 640), 20);
  EXPECT_DOUBLE_EQ(memory.read(10, 640), 30);
  EXPECT_DOUBLE_EQ(memory.load(10, 1), 30);
  EXPECT_DOUBLE_EQ(memory.load(10, 2), 32);
  EXPECT_DOUBLE_EQ(memory.getBusy(), 26);
}

TEST_F(SharedMemoryTest, ACopyLandsInIdleCycles) {
  memory.land(0, 6400);
  EXPECT_DOUBLE_EQ(memory.read(100, 640), 110);
  EXPECT_DOUBLE_EQ(memory.getBusy(), 110);
}

TEST_F(SharedMemoryTest, ReadsWaitWhenTooMuchOfACopyStoodBack) {
  memory.land(0, 3200);
  EXPECT_DOUBLE_EQ(memory.read(0, 640), 10);
  memory.land(10, 1280);
  EXPECT_DOUBLE_EQ(memory.read(10, 640), 40); // 20 cycles of the copies first
}

TEST_F(SharedMemoryTest, ACopyAheadDelaysNothingBeforeIt) {
  memory.land(500, 64000);
  memory.land(300, 64000);
  EXPECT_DOUBLE_EQ(memory.read(100, 640), 110);
  // The first one has stood back for no longer than it may.
  EXPECT_DOUBLE_EQ(memory.read(300, 640), 300 + 950 + 10);
}

} // namespace
