// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The granules that runs of shared memory lie in.

#include "Memory/Footprint.h"

#include <algorithm>
#include <cassert>
#include <utility>

using namespace fp8::sim;

Footprint::Footprint(std::vector<SharedRun> runs) : list(std::move(runs)) {
  for (const SharedRun &run : list) {
    assert(run.write == list[0].write && "a footprint is read or written");
    if (!run.size)
      continue;
    first = std::min(first, run.begin);
    behind = std::max(behind, uint64_t(run.begin) + run.size);
    GranuleSet::each(run.begin, run.size, [&](const GranuleSet &set) {
      add(set);
      return true;
    });
  }
}

void Footprint::add(const GranuleSet &set) {
  // The runs of an operand stay near each other.
  auto same =
      std::find_if(blocks.rbegin(), blocks.rend(),
                   [&](const GranuleSet &b) { return b.block == set.block; });
  if (same == blocks.rend())
    blocks.push_back(set);
  else
    same->granules |= set.granules;
}
