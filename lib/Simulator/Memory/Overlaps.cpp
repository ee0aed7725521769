// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares the logs of clusters byte by byte.

#include "Memory/Overlaps.h"

#include <algorithm>

using namespace fp8::sim;

/// Calls `f(address of the granule, its bytes)`.
template <typename F>
void Overlaps::forGranules(const ClusterAccesses::Entry &entry, F f) {
  for (uint64_t at = entry.address, end = at + entry.count; at < end;) {
    uint64_t granule = at / kGranule * kGranule;
    uint64_t next = std::min(end, granule + kGranule);
    uint32_t upTo = (1u << (next - granule)) - 1;
    f(granule, uint16_t(upTo & ~((1u << (at - granule)) - 1)));
    at = next;
  }
}

bool Overlaps::addWrites(uint32_t cluster, const ClusterAccesses &accesses) {
  bool overlap = false;
  for (const ClusterAccesses::Entry &entry : accesses.log())
    if (entry.write)
      forGranules(entry, [&](uint64_t at, uint16_t bytes) {
        Granule &granule = pages[at / kPageBytes][at % kPageBytes / kGranule];
        Part &first = granule.first;
        if (!first.bytes || first.cluster == cluster) {
          first = {cluster, uint16_t(first.bytes | bytes)};
        } else {
          overlap |= (first.bytes & bytes) != 0;
          granule.isShared = true;
        }
        if (!granule.isShared)
          return;
        std::vector<Part> &parts = further[at];
        for (const Part &part : parts)
          overlap |= part.cluster != cluster && (part.bytes & bytes);
        parts.push_back({cluster, bytes});
      });
  return overlap;
}

bool Overlaps::touches(const ClusterAccesses::Entry &entry) const {
  for (uint64_t page = entry.address / kPageBytes,
                last = (entry.address + entry.count - 1) / kPageBytes;
       page <= last; ++page)
    if (pages.count(page))
      return true;
  return false;
}

bool Overlaps::hasReads(uint32_t cluster,
                        const ClusterAccesses &accesses) const {
  if (pages.empty())
    return false;
  bool overlap = false;
  for (const ClusterAccesses::Entry &entry : accesses.log())
    if (!entry.write && entry.count && touches(entry))
      forGranules(entry, [&](uint64_t at, uint16_t bytes) {
        auto page = pages.find(at / kPageBytes);
        if (page == pages.end())
          return;
        const Granule &granule = page->second[at % kPageBytes / kGranule];
        auto isForeign = [&](const Part &part) {
          return part.cluster != cluster && (part.bytes & bytes);
        };
        overlap |= isForeign(granule.first);
        if (!granule.isShared)
          return;
        const std::vector<Part> &parts = further.at(at);
        overlap |= std::any_of(parts.begin(), parts.end(), isForeign);
      });
  return overlap;
}
