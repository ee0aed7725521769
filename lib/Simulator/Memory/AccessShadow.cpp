// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Granules whose bytes differ, and parts that several agents have read.

#include "Memory/AccessShadow.h"

using namespace fp8::sim;

uint32_t AccessShadow::newList() {
  if (freeLists.empty()) {
    lists.emplace_back();
    return uint32_t(lists.size() - 1);
  }
  uint32_t list = freeLists.back();
  freeLists.pop_back();
  return list;
}

/// Before another agent's read takes its place.
void AccessShadow::keepRead(Accesses &part) {
  if (!part.others)
    part.others = newList();
  std::vector<AccessTag> &others = lists[part.others];
  for (AccessTag &other : others)
    if (other.agent() == part.read.agent()) {
      other = part.read;
      return;
    }
  others.push_back(part.read);
}

void AccessShadow::split(Granule &granule) {
  if (freePages.empty()) {
    pages.emplace_back();
    freePages.push_back(uint32_t(pages.size()));
  }
  granule.page = freePages.back();
  freePages.pop_back();
  Page &page = pages[granule.page - 1];
  page.fill(granule);
  if (!granule.others)
    return;
  for (uint32_t byte = 1; byte < kGranule; ++byte) {
    page[byte].others = newList();
    lists[page[byte].others] = lists[granule.others];
  }
}

void AccessShadow::merge(Granule &granule) {
  const Page &page = pages[granule.page - 1];
  for (uint32_t byte = kGranule - 1; byte > 0; --byte)
    if (page[byte].write != page[0].write || page[byte].read != page[0].read ||
        others(page[byte]) != others(page[0]))
      return;
  for (uint32_t byte = 1; byte < kGranule; ++byte)
    forgetOthers(page[byte]);
  static_cast<Accesses &>(granule) = page[0];
  freePages.push_back(granule.page);
  granule.page = 0;
}
