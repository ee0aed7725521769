// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What has accessed each byte of a memory. Most accesses cover granules of 16
// bytes, so that a granule is one part until its bytes differ.

#ifndef FP8_LIB_SIMULATOR_MEMORY_ACCESSSHADOW_H
#define FP8_LIB_SIMULATOR_MEMORY_ACCESSSHADOW_H

#include "Memory/Clocks.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace fp8::sim {

/// What has accessed a part.
struct Accesses {
  AccessTag write; ///< the last
  AccessTag read;  ///< the last since the last weak write
  /// Of a part that was read several times since the last weak write: the place
  /// of the other reads in a table; 0: there are none.
  uint32_t others = 0;
  /// Likewise of the writes before the last, if that is a strong one.
  uint32_t writers = 0;
};

class AccessShadow {
public:
  static constexpr uint32_t kGranule = 16;

  /// `size`: of the memory, in bytes.
  explicit AccessShadow(uint32_t size)
      : granules((size + kGranule - 1) / kGranule), lists(1) {}

  const Accesses &at(uint32_t offset) const {
    const Granule &granule = granules[offset / kGranule];
    return granule.page ? pages[granule.page - 1][offset % kGranule] : granule;
  }
  /// The reads before the last: of each agent at most a strong and a weak one.
  const std::vector<AccessTag> &others(const Accesses &part) const {
    return lists[part.others];
  }
  /// The writes before the last, likewise.
  const std::vector<AccessTag> &writers(const Accesses &part) const {
    return lists[part.writers];
  }

  /// Calls f(offset, bytes, part) for the parts of `count` bytes from `begin`
  /// on, of each granule the first `used` bytes. f may mark a part.
  template <typename F>
  void eachPart(uint32_t begin, uint32_t count, uint32_t used, F f) {
    for (uint32_t end = begin + count; begin < end;) {
      uint32_t first = begin % kGranule, left = end - begin;
      uint32_t last = std::min(kGranule, first + left);
      Granule &granule = granules[begin / kGranule];
      if (last - first == kGranule && used >= kGranule && !granule.page)
        f(begin, kGranule, static_cast<Accesses &>(granule));
      else
        eachByte(granule, begin - first, first, std::min(last, used), f);
      begin += last - first;
    }
  }

  /// Marks granules from `begin` on, up to the first that is no whole one with
  /// `written` as its last write; whether there was none.
  bool markReadOf(AccessTag written, uint32_t begin, uint32_t count,
                  AccessTag tag) {
    for (uint32_t at = begin / kGranule; at < (begin + count) / kGranule;
         ++at) {
      Granule &granule = granules[at];
      if (granule.page || granule.write != written || granule.writers)
        return false;
      markRead(granule, tag);
    }
    return (begin | count) % kGranule == 0;
  }

  void markRead(Accesses &part, AccessTag tag) {
    if (!part.read.none() && !isAlike(part.read, tag))
      keep(part.others, part.read);
    part.read = tag;
  }
  void markWritten(Accesses &part, AccessTag tag) {
    if (tag.strong())
      return markStrongWrite(part, tag);
    forget(part.others);
    forget(part.writers);
    part = {tag, {}, 0, 0};
  }

private:
  struct Granule : Accesses {
    uint32_t page = 0; ///< of its bytes, counted from 1; 0: they are alike
  };
  using Page = std::array<Accesses, kGranule>;

  std::vector<Granule> granules;
  std::vector<Page> pages;
  std::vector<uint32_t> freePages;
  /// Accesses by others. The first list is empty.
  std::vector<std::vector<AccessTag>> lists;
  std::vector<uint32_t> freeLists;

  void split(Granule &granule);
  /// Makes the granule one part if its bytes are alike.
  void merge(Granule &granule);
  uint32_t newList();
  static bool isAlike(AccessTag a, AccessTag b) {
    return a.agent() == b.agent() && a.strong() == b.strong();
  }
  /// Adds an access to a list, which has of each agent the last strong one and
  /// the last weak one.
  void keep(uint32_t &list, AccessTag tag);
  /// Strong accesses race with weak ones alone, and so hide none of these.
  void markStrongWrite(Accesses &part, AccessTag tag);
  void forget(uint32_t list) {
    if (!list)
      return;
    lists[list].clear();
    freeLists.push_back(list);
  }
  uint32_t copy(uint32_t list);

  template <typename F>
  void eachByte(Granule &granule, uint32_t begin, uint32_t first, uint32_t last,
                F f) {
    if (first >= last)
      return;
    if (!granule.page)
      split(granule);
    for (uint32_t byte = first; byte < last; ++byte)
      f(begin + byte, 1u, pages[granule.page - 1][byte]);
    merge(granule);
  }
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MEMORY_ACCESSSHADOW_H
