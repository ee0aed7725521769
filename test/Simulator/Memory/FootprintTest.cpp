// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Footprints: the granules that runs lie in, against a look at every byte.

#include "Memory/Footprint.h"

#include <gtest/gtest.h>
#include <map>
#include <random>

using namespace fp8::sim;

namespace {

std::map<uint32_t, uint64_t> granulesOf(const std::vector<SharedRun> &runs) {
  std::map<uint32_t, uint64_t> blocks;
  for (const SharedRun &run : runs)
    for (uint32_t at = run.begin; at < run.begin + run.size; ++at)
      blocks[at / GranuleSet::kBlock] |= uint64_t(1)
                                         << at % GranuleSet::kBlock / 16;
  return blocks;
}

} // namespace

TEST(Footprint, HasTheGranulesOfItsRuns) {
  std::mt19937 random(3);
  for (int repeat = 0; repeat < 200; ++repeat) {
    std::vector<SharedRun> runs(1 + random() % 5);
    uint32_t first = ~0u, end = 0;
    for (SharedRun &run : runs) {
      run = {uint32_t(random() % 8192), uint32_t(1 + random() % 3000), false};
      first = std::min(first, run.begin);
      end = std::max(end, run.begin + run.size);
    }
    Footprint footprint(runs);
    std::map<uint32_t, uint64_t> found;
    for (const GranuleSet &set : footprint.sets())
      EXPECT_TRUE(found.emplace(set.block, set.granules).second);
    EXPECT_EQ(found, granulesOf(runs));
    EXPECT_EQ(footprint.begin(), first);
    EXPECT_EQ(footprint.end(), end);
    EXPECT_FALSE(footprint.writes());
  }
}

TEST(Footprint, OfNothingHasNoGranules) {
  Footprint footprint(std::vector<SharedRun>{{2048, 0, true}});
  EXPECT_TRUE(footprint.sets().empty());
  EXPECT_TRUE(footprint.writes());
}
