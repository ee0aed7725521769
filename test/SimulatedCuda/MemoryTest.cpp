// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Memory.h"

#include "gmock/gmock.h"

#include <array>
#include <cstring>

using namespace fp8::cuda;

namespace {
uint64_t at(const void *pointer) { return reinterpret_cast<uint64_t>(pointer); }

TEST(Memory, CopiesBetweenHostAndDevice) {
  Memory memory(1 << 20, /*initcheck=*/true);
  uint64_t a = *memory.allocate(64, Reach::Device, "cudaMalloc");
  uint64_t b = *memory.allocate(64, Reach::Device, "cudaMalloc");
  uint32_t in[4] = {1, 2, 3, 4}, out[4] = {};
  EXPECT_TRUE(memory.copy(a + 8, at(in), sizeof(in)));
  EXPECT_TRUE(memory.copy(b, a + 8, sizeof(in)));
  EXPECT_TRUE(memory.copy(at(out), b, sizeof(out)));
  EXPECT_THAT(out, testing::ElementsAre(1, 2, 3, 4));
  EXPECT_TRUE(memory.fill(b, 0x11223344, 4, 2));
  EXPECT_TRUE(memory.copy(at(out), b, sizeof(out)));
  EXPECT_THAT(out, testing::ElementsAre(0x11223344, 0x11223344, 3, 4));
  // Only what was written is initialised.
  const auto &initialised = memory.device.find(a, 1)->initialised;
  EXPECT_EQ(std::count(initialised.begin(), initialised.end(), 1), 16);
  EXPECT_EQ(initialised[7], 0);
  EXPECT_EQ(initialised[8], 1);
}

TEST(Memory, RefusesWhatExceedsAnAllocation) {
  Memory memory(1 << 20, /*initcheck=*/false);
  uint64_t a = *memory.allocate(64, Reach::Device, "cudaMalloc");
  uint8_t host[65] = {};
  EXPECT_FALSE(memory.copy(a, at(host), 65));
  EXPECT_FALSE(memory.copy(at(host), a + 1, 64));
  EXPECT_FALSE(memory.fill(a + 60, 0, 4, 2));
  EXPECT_FALSE(memory.allocate(1 << 20, Reach::Device, "cudaMalloc"));
  EXPECT_FALSE(memory.release(a + 1));
  EXPECT_TRUE(memory.release(a));
  EXPECT_FALSE(memory.release(a));
  EXPECT_FALSE(memory.copy(a, at(host), 1));
  EXPECT_EQ(memory.find(a), nullptr);
}

TEST(Memory, SaysWhyARangeIsWrong) {
  Memory memory(1 << 20, /*initcheck=*/false);
  uint64_t a = *memory.allocate(64, Reach::Device, "cudaMalloc");
  uint8_t host[64] = {};
  for (Side side : {Side::Any, Side::Device}) {
    EXPECT_EQ(memory.findFault(a, 64, side), std::nullopt);
    EXPECT_EQ(memory.findFault(0, 0, side), std::nullopt);
    EXPECT_EQ(memory.findFault(0, 1, side), "is a null pointer");
    EXPECT_EQ(memory.findFault(a + 1, 64, side),
              "exceeds 'cudaMalloc #1' of 64 bytes");
  }
  EXPECT_EQ(memory.findFault(at(host), 64, Side::Any), std::nullopt);
  EXPECT_EQ(memory.findFault(at(host), 64, Side::Device),
            "is not on the device");
  ASSERT_TRUE(memory.release(a));
  EXPECT_EQ(memory.findFault(a, 64, Side::Any),
            "lies in 'cudaMalloc #1' of 64 bytes, which has been freed; free "
            "it after its last use");
}

// Else a recorded buffer of numbers has fields that are no addresses.
TEST(Memory, PairsOfNumbersAreNoAddresses) {
  Memory memory(1 << 24, /*initcheck=*/false);
  uint64_t first = *memory.allocate(1 << 20, Reach::Device, "cudaMalloc");
  memory.allocate(1 << 20, Reach::Device, "cudaMalloc");
  ASSERT_NE(memory.find(first + 5), nullptr);
  auto isAddress = [&](const auto &pair) {
    uint64_t word;
    static_assert(sizeof(pair) == sizeof(word));
    std::memcpy(&word, pair.data(), sizeof(word));
    return memory.find(word) != nullptr;
  };
  for (int32_t high = -1000; high <= 10000; ++high)
    for (int32_t low : {-1000000, -1, 0, 1, 1000, 1 << 20, 1 << 30})
      EXPECT_FALSE(isAddress(std::array{low, high})) << low << " " << high;
  for (float high = -8; high <= 8; high += 0.125f)
    for (float low : {-8.0f, -0.1f, -0.0f, 0.0f, 0.1f, 8.0f})
      EXPECT_FALSE(isAddress(std::array{low, high})) << low << " " << high;
}

TEST(Memory, SharesWhatTheHostReaches) {
  Memory memory(1 << 20, /*initcheck=*/false);
  uint64_t address = *memory.allocate(5000, Reach::Managed, "managed");
  auto *view = reinterpret_cast<uint8_t *>(address);
  view[4999] = 7;
  memory.publish();
  EXPECT_EQ(memory.device.data(address)[4999], 7);
  memory.device.data(address)[0] = 9;
  memory.collect();
  EXPECT_EQ(view[0], 9);
  EXPECT_EQ(memory.find(address + 4999)->reach, Reach::Managed);
  EXPECT_EQ(memory.find(address + 5000), nullptr);
  // It is unmapped, so that the place can be mapped again.
  EXPECT_TRUE(memory.release(address));
  EXPECT_TRUE(memory.allocate(1, Reach::Pinned, "pinned"));
}

TEST(Memory, RegistersWhatTheHostHas) {
  Memory memory(1 << 20, /*initcheck=*/false);
  uint32_t host[4] = {1, 2, 3, 4}, out = 0;
  uint64_t address = *memory.registerHost(at(host), sizeof(host));
  EXPECT_EQ(memory.findOnDevice(at(host + 3)), address + 12);
  EXPECT_EQ(memory.findOnDevice(at(host + 4)), std::nullopt);
  memory.publish();
  EXPECT_EQ(memory.device.data(address)[8], 3);
  memory.device.data(address)[8] = 9;
  memory.collect();
  EXPECT_EQ(host[2], 9u);
  EXPECT_TRUE(memory.copy(at(&out), address + 8, sizeof(out)));
  EXPECT_EQ(out, 9u);
  EXPECT_FALSE(memory.release(address)); // it is no allocation
  EXPECT_TRUE(memory.unregisterHost(at(host)));
  EXPECT_FALSE(memory.unregisterHost(at(host)));
  EXPECT_EQ(memory.findOnDevice(at(host)), std::nullopt);
}

TEST(Memory, KnowsWhatOverlapsReachedMemory) {
  Memory memory(1 << 20, /*initcheck=*/false);
  uint8_t host[16] = {};
  ASSERT_TRUE(memory.allocate(64, Reach::Device, "cudaMalloc"));
  ASSERT_TRUE(memory.registerHost(at(host + 4), 8));
  EXPECT_FALSE(memory.meetsReached(at(host), 4));
  EXPECT_TRUE(memory.meetsReached(at(host), 5));
  EXPECT_TRUE(memory.meetsReached(at(host), 16));
  EXPECT_TRUE(memory.meetsReached(at(host + 11), 1));
  EXPECT_FALSE(memory.meetsReached(at(host + 12), 4));
  uint64_t pinned = *memory.allocate(64, Reach::Pinned, "cudaMallocHost");
  EXPECT_TRUE(memory.meetsReached(pinned - 8, 16));
}

TEST(Memory, FindsDifferencesFromASnapshot) {
  Memory memory(1 << 20, /*initcheck=*/false);
  uint64_t a = *memory.allocate(16, Reach::Device, "cudaMalloc");
  ASSERT_TRUE(memory.fill(a, 0, 1, 16));
  Memory::Snapshot before = memory.save();
  EXPECT_EQ(memory.compare(before), std::nullopt);
  ASSERT_TRUE(memory.fill(a + 9, 1, 1, 1));
  EXPECT_EQ(memory.compare(before), "buffer 'cudaMalloc #1' at byte 9");
  memory.restore(before);
  EXPECT_EQ(memory.compare(before), std::nullopt);
}
} // namespace
