// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The history of accesses, and overlaps, against models that keep every byte.

#include "Memory/AccessHistory.h"
#include "Memory/Async.h"
#include "Memory/Overlaps.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

using namespace fp8::sim;

namespace {
/// Around the end of a page.
constexpr uint64_t kFirst = 4096 - 96, kBytes = 192;

struct Range {
  uint64_t address, count;
};
Range randomRange(Random &random) {
  uint64_t at = random.below(kBytes);
  uint64_t count = 1 + random.below(random.below(2) ? 8 : 64);
  if (random.below(3) == 0) { // whole granules
    at = at / 16 * 16;
    count = (count + 15) / 16 * 16;
  }
  return {kFirst + at, std::min(count, kBytes - at)};
}
} // namespace

TEST(AccessHistory, KeepsTheLatestOfEachByte) {
  AccessHistory history;
  std::map<uint64_t, AccessHistory::Latest> model;
  Random random(7);
  for (uint32_t number = 1; number < 20000; ++number) {
    Range range = randomRange(random);
    bool write = random.below(2);
    for (uint64_t at = range.address; at < range.address + range.count; ++at)
      if (write)
        model[at] = {number, 0};
      else
        model[at].read = number;
    if (write)
      history.write(range.address, range.count, number);
    else
      history.read(range.address, range.count, number);

    Range asked = randomRange(random);
    uint64_t next = asked.address;
    history.forEach(
        asked.address, asked.count,
        [&](const AccessHistory::Latest &latest, uint64_t at, uint64_t n) {
          ASSERT_GE(at, next);
          for (; next < at; ++next)
            ASSERT_TRUE(model[next] == AccessHistory::Latest());
          for (; next < at + n; ++next)
            ASSERT_TRUE(model[next] == latest) << next;
        });
    ASSERT_LE(next, asked.address + asked.count);
    for (; next < asked.address + asked.count; ++next)
      ASSERT_TRUE(model[next] == AccessHistory::Latest());
  }
}

TEST(Overlaps, AreThoseOfTheBytes) {
  Random random(11);
  unsigned overlapping = 0;
  constexpr unsigned kRounds = 2000, kClusters = 3;
  for (unsigned round = 0; round < kRounds; ++round) {
    std::vector<ClusterAccesses> clusters;
    std::map<uint64_t, std::set<uint32_t>> readers, writers;
    for (uint32_t cluster = 0; cluster < kClusters; ++cluster) {
      clusters.emplace_back(cluster, /*warpsInCta=*/1, /*ctas=*/1);
      for (unsigned i = 0; i < 3; ++i) {
        Range range = randomRange(random);
        range.count = std::min<uint64_t>(range.count, 1 + random.below(24));
        GlobalRange global{range.address, range.count, random.below(3) == 0};
        for (uint64_t at = 0; at < range.count; ++at)
          (global.write ? writers : readers)[range.address + at].insert(
              cluster);
        GlobalActor actor;
        actor.tag = AccessTag(1, i + 1, i);
        clusters.back().record(actor, global);
      }
    }
    bool expected = false;
    for (const auto &[at, who] : writers) {
      std::set<uint32_t> all = who;
      all.insert(readers[at].begin(), readers[at].end());
      expected |= all.size() > 1;
    }
    Overlaps overlaps;
    bool found = false;
    for (uint32_t cluster = 0; cluster < kClusters; ++cluster)
      found |= overlaps.addWrites(cluster, clusters[cluster]);
    for (uint32_t cluster = 0; cluster < kClusters; ++cluster)
      found |= overlaps.hasReads(cluster, clusters[cluster]);
    ASSERT_EQ(found, expected) << "round " << round;
    overlapping += expected;
  }
  EXPECT_GT(overlapping, kRounds / 10);
  EXPECT_LT(overlapping, kRounds * 9 / 10);
}
