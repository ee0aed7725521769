// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an asynchronous operation accesses of shared memory.

#ifndef FP8_LIB_SIMULATOR_MEMORY_FOOTPRINT_H
#define FP8_LIB_SIMULATOR_MEMORY_FOOTPRINT_H

#include <cstdint>
#include <memory>
#include <vector>

namespace fp8::sim {

struct SharedRun {
  uint32_t begin;
  uint32_t size;
  bool write;
  uint32_t used = 16; ///< of each 16 bytes, the first ones that are accessed
  /// Of a write: it combines with the bytes there, atomically. Those of one
  /// phase of an mbarrier may do so in any order.
  bool combines = false;
};

/// Some of the granules, of 16 bytes, of a block of 64 granules.
struct GranuleSet {
  static constexpr uint32_t kGranule = 16, kBlock = 64 * kGranule;

  uint32_t block; ///< its address / kBlock
  uint64_t granules;

  /// Those that hold one of the bytes from `begin` to `last`, of the block that
  /// `begin` lies in.
  static GranuleSet of(uint32_t begin, uint32_t last) {
    const uint32_t block = begin / kBlock;
    const uint64_t from = ~uint64_t(0) << begin % kBlock / kGranule;
    const uint64_t to = last / kBlock == block
                            ? ~uint64_t(0) >> (63 - last % kBlock / kGranule)
                            : ~uint64_t(0);
    return {block, from & to};
  }
  /// Calls f for the sets that hold the `count` bytes from `begin` on, while it
  /// returns true; returns whether it always did.
  template <typename F>
  static bool each(uint32_t begin, uint32_t count, F f) {
    for (uint32_t last = begin + count - 1; count && begin <= last;
         begin = (begin / kBlock + 1) * kBlock)
      if (!f(of(begin, last)))
        return false;
    return true;
  }
};

/// The runs that an operation accesses in one CTA, all of which it reads or all
/// of which it writes; in the order in which they are checked.
class Footprint {
public:
  Footprint() = default;
  explicit Footprint(std::vector<SharedRun> runs);

  const std::vector<SharedRun> &runs() const { return list; }
  /// The same, roughly: at most one for each block.
  const std::vector<GranuleSet> &sets() const { return blocks; }
  bool writes() const { return !list.empty() && list[0].write; }
  /// All bytes lie in these.
  uint32_t begin() const { return first; }
  uint64_t end() const { return behind; }

private:
  std::vector<SharedRun> list;
  std::vector<GranuleSet> blocks;
  uint32_t first = ~0u;
  uint64_t behind = 0;

  void add(const GranuleSet &set);
};

/// A footprint in the CTA of a rank.
struct SharedAccess {
  uint32_t cta;
  std::shared_ptr<const Footprint> footprint;

  static SharedAccess of(uint32_t cta, const SharedRun &run) {
    return {cta, std::make_shared<Footprint>(std::vector<SharedRun>{run})};
  }
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MEMORY_FOOTPRINT_H
