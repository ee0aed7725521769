// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Marks of reads: what they answer, and that they are bounded.

#include "Memory/ReadMarks.h"

#include <gtest/gtest.h>

using namespace fp8::sim;

namespace {

/// A warp whose lanes execute together.
struct Together : WarpOrder {
  explicit Together(uint32_t index) : WarpOrder(place(index), 2, ~0u) {
    execute(~0u);
  }
  static WarpPlace place(uint32_t index) {
    WarpPlace p{};
    p.id = p.globalIndex = index;
    return p;
  }
};

struct Warps {
  Together reader{0}, writer{1};
  ReadMarks marks{2};
  SyncClocks handed;

  /// Reads, and returns the time of the read.
  uint32_t read() {
    marks.note(reader);
    return reader.time();
  }
  void handOver() {
    reader.release(handed);
    writer.acquire(handed);
  }
};

} // namespace

TEST(ReadMarks, AskForAWaitBehindTheRead) {
  Warps w;
  w.reader.countWait();
  uint32_t first = w.read();
  w.handOver();
  EXPECT_FALSE(w.marks.hasWaitedSince(w.writer, 0, first));
  w.reader.countWait();
  uint32_t second = w.read();
  w.handOver();
  EXPECT_TRUE(w.marks.hasWaitedSince(w.writer, 0, first));
  EXPECT_FALSE(w.marks.hasWaitedSince(w.writer, 0, second));
}

TEST(ReadMarks, AreBounded) {
  Warps w;
  uint32_t last = 0;
  for (uint32_t phase = 0; phase < 20 * ReadMarks::kMost; ++phase) {
    uint32_t before = last;
    last = w.read();
    w.handOver();
    ASSERT_LE(w.marks.size(0), ReadMarks::kMost);
    ASSERT_FALSE(w.marks.hasWaitedSince(w.writer, 0, last));
    if (phase) {
      ASSERT_TRUE(w.marks.hasWaitedSince(w.writer, 0, before));
    }
    w.reader.countWait();
  }
  // Reads between the same two waits have one mark.
  size_t many = w.marks.size(0);
  for (uint32_t n = 0; n < 100; ++n) {
    w.read();
    w.handOver();
  }
  EXPECT_LE(w.marks.size(0), many + 1);
  // A read whose mark is gone has been waited for, too.
  EXPECT_TRUE(w.marks.hasWaitedSince(w.writer, 0, 1));
}
