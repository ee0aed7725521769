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

void AccessShadow::keep(uint32_t &list, AccessTag tag) {
  if (!list)
    list = newList();
  for (AccessTag &other : lists[list])
    if (isAlike(other, tag)) {
      other = tag;
      return;
    }
  lists[list].push_back(tag);
}

void AccessShadow::markStrongWrite(Accesses &part, AccessTag tag) {
  if (!part.write.none() && !isAlike(part.write, tag))
    keep(part.writers, part.write);
  part.write = tag;
  // It ends strong reads, as a weak write does.
  if (part.read.strong())
    part.read = {};
  std::vector<AccessTag> &reads = lists[part.others];
  reads.erase(std::remove_if(reads.begin(), reads.end(),
                             [](AccessTag read) { return read.strong(); }),
              reads.end());
  if (!reads.empty())
    return;
  forget(part.others);
  part.others = 0;
}

uint32_t AccessShadow::copy(uint32_t list) {
  if (!list)
    return 0;
  uint32_t made = newList();
  lists[made] = lists[list];
  return made;
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
  for (uint32_t byte = 1; byte < kGranule; ++byte) {
    page[byte].others = copy(granule.others);
    page[byte].writers = copy(granule.writers);
  }
}

void AccessShadow::merge(Granule &granule) {
  const Page &page = pages[granule.page - 1];
  for (uint32_t byte = kGranule - 1; byte > 0; --byte)
    if (page[byte].write != page[0].write || page[byte].read != page[0].read ||
        others(page[byte]) != others(page[0]) ||
        writers(page[byte]) != writers(page[0]))
      return;
  for (uint32_t byte = 1; byte < kGranule; ++byte) {
    forget(page[byte].others);
    forget(page[byte].writers);
  }
  static_cast<Accesses &>(granule) = page[0];
  freePages.push_back(granule.page);
  granule.page = 0;
}
