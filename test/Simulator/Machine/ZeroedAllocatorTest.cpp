// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Machine/ZeroedAllocator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <unistd.h>
#include <vector>

using namespace fp8::sim;

namespace {
template <typename T>
using Zeroed = std::vector<T, ZeroedAllocator<T>>;

constexpr size_t kMapped = ZeroedAllocator<uint64_t>::kMapped;
/// Bytes on both sides of the size from which on the system maps pages.
constexpr size_t kSizes[] = {8, 4096, kMapped - 8, kMapped, kMapped + 8};

/// Pages of this process that lie in memory.
long residentPages() {
  long size = 0, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  EXPECT_TRUE(file && fscanf(file, "%ld %ld", &size, &resident) == 2);
  if (file)
    fclose(file);
  return resident;
}
} // namespace

TEST(ZeroedAllocator, MemoryThatWasUsedBeforeIsZeroAgain) {
  for (size_t bytes : kSizes)
    for (int again = 0; again < 3; ++again) {
      Zeroed<uint64_t> values(bytes / 8);
      EXPECT_EQ(std::count(values.begin(), values.end(), 0), bytes / 8);
      std::fill(values.begin(), values.end(), ~uint64_t(0));
    }
}

TEST(ZeroedAllocator, VectorsGrowWithZerosAndKeepValues) {
  Zeroed<uint64_t> values(3, 7);
  values.push_back(9);
  for (size_t bytes : kSizes) {
    values.resize(std::max(values.size(), bytes / 8));
    EXPECT_EQ(std::count(values.begin(), values.begin() + 3, 7), 3);
    EXPECT_EQ(values[3], 9u);
    EXPECT_EQ(std::count(values.begin() + 4, values.end(), 0),
              values.size() - 4);
  }
  Zeroed<uint64_t> copy = values;
  EXPECT_TRUE(copy == values);
}

TEST(ZeroedAllocator, PagesThatNobodyTouchesTakeNoMemory) {
  const size_t bytes = size_t(256) << 20;
  const long page = sysconf(_SC_PAGESIZE), before = residentPages();
  Zeroed<uint64_t> values(bytes / 8);
  values[bytes / 16] = 1;
  EXPECT_LT(residentPages() - before, long(bytes / size_t(page) / 8));
}

TEST(ZeroedAllocator, KeepsMemoryForVectorsOfTheSameSize) {
  const long page = sysconf(_SC_PAGESIZE), pages = 300;
  auto use = [&] {
    Zeroed<uint64_t> values(size_t(pages * page) / 8);
    for (size_t at = 0; at < values.size(); at += size_t(page) / 8)
      values[at + at / 512 % 500] = 1;
    return residentPages();
  };
  const long during = use();
  EXPECT_GT(residentPages(), during - pages / 2);
  EXPECT_LT(use(), during + pages / 2);
  // But not for ever more of them.
  const size_t many = 2 * kMostKept;
  const long before = residentPages();
  for (int again = 0; again < 2; ++again) {
    Zeroed<uint64_t> values(many / 8);
    for (size_t at = 0; at < values.size(); at += size_t(page) / 8)
      values[at] = 1;
  }
  EXPECT_LT(residentPages(), before + pages);
}

TEST(ZeroedAllocator, SaysWhenThereIsNoMemory) {
  ZeroedAllocator<uint64_t> allocator;
  EXPECT_THROW(allocator.allocate(std::numeric_limits<size_t>::max() / 16),
               std::bad_alloc);
}
