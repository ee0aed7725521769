// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pages and split granules of a history.

#include "Memory/AccessHistory.h"

using namespace fp8::sim;

AccessHistory::Page &AccessHistory::pageOf(uint64_t address) {
  uint64_t index = address / kPageBytes;
  if (index == cachedIndex)
    return *cached;
  std::unique_ptr<Page> &page = pages[index];
  if (!page)
    page = std::make_unique<Page>();
  cachedIndex = index;
  cached = page.get();
  return *page;
}

AccessHistory::Split &AccessHistory::split(Latest &whole) {
  if (!isSplit(whole)) {
    uint32_t index;
    if (freeSplits.empty()) {
      index = uint32_t(splits.size());
      splits.emplace_back();
    } else {
      index = freeSplits.back();
      freeSplits.pop_back();
    }
    splits[index].fill(whole);
    whole = {kSplit, index};
  }
  return splits[whole.read];
}

void AccessHistory::join(Latest &whole) {
  freeSplits.push_back(whole.read);
  whole = splits[whole.read][0];
}
