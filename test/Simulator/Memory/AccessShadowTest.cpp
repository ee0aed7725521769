// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The shadow in granules against one that keeps every byte on its own.

#include "Memory/AccessShadow.h"

#include "Memory/Async.h"

#include <gtest/gtest.h>
#include <map>

using namespace fp8::sim;

namespace {

constexpr uint32_t kSize = 256;

/// A byte's accesses: the last write, the last read, and by agent the earlier
/// reads of others.
struct ByteModel {
  AccessTag write, read;
  std::map<uint32_t, AccessTag> others;

  void markRead(AccessTag tag) {
    if (!read.none() && read.agent() != tag.agent())
      others[read.agent()] = read;
    read = tag;
  }
  void markWritten(AccessTag tag) { *this = {tag, {}, {}}; }
};

class AccessShadowTest : public ::testing::TestWithParam<uint64_t> {
protected:
  AccessShadow shadow{kSize};
  ByteModel model[kSize];

  void access(uint32_t begin, uint32_t count, uint32_t used, bool write,
              AccessTag tag) {
    shadow.eachPart(begin, count, used,
                    [&](uint32_t, uint32_t, Accesses &part) {
                      if (write)
                        shadow.markWritten(part, tag);
                      else
                        shadow.markRead(part, tag);
                    });
    for (uint32_t at = begin; at < begin + count; ++at)
      if (at % 16 < used && write)
        model[at].markWritten(tag);
      else if (at % 16 < used)
        model[at].markRead(tag);
  }

  void compare() {
    for (uint32_t at = 0; at < kSize; ++at) {
      const Accesses &part = shadow.at(at);
      EXPECT_TRUE(part.write == model[at].write) << "byte " << at;
      EXPECT_TRUE(part.read == model[at].read) << "byte " << at;
      std::map<uint32_t, AccessTag> others;
      for (AccessTag other : shadow.others(part))
        EXPECT_TRUE(others.emplace(other.agent(), other).second);
      ASSERT_EQ(others.size(), model[at].others.size()) << "byte " << at;
      for (auto [agent, tag] : model[at].others)
        EXPECT_TRUE(others[agent] == tag) << "byte " << at;
    }
  }
};

TEST_P(AccessShadowTest, AgreesWithBytes) {
  Random random(GetParam());
  for (uint32_t step = 1; step <= 300; ++step) {
    // Of all sizes, most of them aligned to their size.
    uint32_t count = 1u << random.below(8);
    uint32_t begin = uint32_t(random.below(kSize - count + 1));
    if (random.below(4))
      begin -= begin % count;
    uint32_t used = random.below(4) ? 16 : 8;
    AccessTag tag(uint32_t(random.below(4)), step / 4 + 1, 7);
    access(begin, count, used, random.below(3) == 0, tag);
    compare();
    if (HasFatalFailure())
      return;
  }
}

TEST_P(AccessShadowTest, PartsCoverEachByteOnce) {
  Random random(GetParam());
  for (uint32_t step = 1; step <= 50; ++step) {
    uint32_t count = uint32_t(random.below(80)),
             begin = uint32_t(random.below(kSize - count));
    std::vector<uint32_t> covered(kSize);
    shadow.eachPart(begin, count, 16,
                    [&](uint32_t at, uint32_t bytes, Accesses &part) {
                      for (uint32_t byte = at; byte < at + bytes; ++byte)
                        ++covered[byte];
                      shadow.markWritten(part, AccessTag(1, step, 1));
                    });
    for (uint32_t at = 0; at < kSize; ++at)
      EXPECT_EQ(covered[at], at >= begin && at < begin + count);
  }
}

TEST(AccessShadowGranuleTest, IsOnePartAgainWhenItsBytesAreAlike) {
  AccessShadow shadow(16);
  auto countParts = [&](uint32_t begin, uint32_t count) {
    uint32_t parts = 0;
    shadow.eachPart(begin, count, 16, [&](uint32_t, uint32_t, Accesses &part) {
      shadow.markWritten(part, AccessTag(1, 1, 1));
      ++parts;
    });
    return parts;
  };
  EXPECT_EQ(countParts(0, 16), 1u);
  EXPECT_EQ(countParts(4, 4), 4u);
  EXPECT_EQ(countParts(0, 16), 1u) << "the same tag everywhere";
  shadow.eachPart(3, 1, 16, [&](uint32_t, uint32_t, Accesses &part) {
    shadow.markRead(part, AccessTag(2, 1, 1));
  });
  EXPECT_EQ(countParts(0, 16), 16u);
  EXPECT_EQ(countParts(0, 16), 1u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, AccessShadowTest,
                         ::testing::Range<uint64_t>(0, 20));

} // namespace
