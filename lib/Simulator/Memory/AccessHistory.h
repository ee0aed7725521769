// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The latest write and the latest read of each byte of global memory.

#ifndef FP8_LIB_SIMULATOR_MEMORY_ACCESSHISTORY_H
#define FP8_LIB_SIMULATOR_MEMORY_ACCESSHISTORY_H

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace fp8::sim {

/// Accesses are numbers that the user gives, below 2^31; 0: there is none.
/// Granules of 16 bytes share an entry while their bytes agree.
class AccessHistory {
public:
  struct Latest {
    uint32_t write = 0, read = 0;
    bool operator==(const Latest &other) const {
      return write == other.write && read == other.read;
    }
  };

  /// A read of these bytes.
  void read(uint64_t address, uint64_t count, uint32_t number) {
    read(address, count, number, [](uint32_t) { return false; });
  }
  /// Likewise; reads that `stays` is true of remain the latest.
  template <typename F>
  void read(uint64_t address, uint64_t count, uint32_t number, F stays) {
    update(address, count, [&](Latest &latest) {
      if (!stays(latest.read))
        latest.read = number;
    });
  }
  /// A write of these bytes: the reads before it are forgotten.
  void write(uint64_t address, uint64_t count, uint32_t number) {
    update(address, count, [=](Latest &latest) { latest = {number, 0}; });
  }

  /// Calls `f(latest, address, count)` for runs of these bytes that share their
  /// latest accesses, in the order of addresses; bytes without an access may
  /// be left out.
  template <typename F>
  void forEach(uint64_t address, uint64_t count, F f) const {
    for (uint64_t at = address, end = address + count; at < end;) {
      const uint64_t stop = std::min(end, (at / kPageBytes + 1) * kPageBytes);
      auto page = pages.find(at / kPageBytes);
      if (page == pages.end()) {
        at = stop;
        continue;
      }
      while (at < stop) {
        const Latest &whole = (*page->second)[at % kPageBytes / kGranule];
        uint64_t next = std::min(stop, (at / kGranule + 1) * kGranule);
        if (!isSplit(whole)) {
          f(whole, at, next - at);
          at = next;
        }
        for (; at < next; ++at)
          f(splits[whole.read][at % kGranule], at, uint64_t(1));
      }
    }
  }

private:
  static constexpr uint64_t kGranule = 16, kPageBytes = 4096;
  static constexpr uint32_t kSplit = ~uint32_t(0);
  /// A granule whose bytes differ has kSplit for `write`, and an index into
  /// `splits` for `read`.
  using Page = std::array<Latest, kPageBytes / kGranule>;
  using Split = std::array<Latest, kGranule>;

  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages;
  uint64_t cachedIndex = ~uint64_t(0);
  Page *cached = nullptr;
  std::vector<Split> splits;
  std::vector<uint32_t> freeSplits;

  static bool isSplit(const Latest &latest) { return latest.write == kSplit; }
  Page &pageOf(uint64_t address);
  Split &split(Latest &whole);
  void join(Latest &whole);

  template <typename F>
  void update(uint64_t address, uint64_t count, F change) {
    for (uint64_t at = address, end = address + count; at < end;) {
      Latest &whole = pageOf(at)[at % kPageBytes / kGranule];
      uint64_t next = std::min(end, (at / kGranule + 1) * kGranule);
      if (next - at == kGranule && !isSplit(whole)) {
        change(whole);
        at = next;
        continue;
      }
      Split &bytes = split(whole);
      for (; at < next; ++at)
        change(bytes[at % kGranule]);
      if (std::equal(bytes.begin() + 1, bytes.end(), bytes.begin()))
        join(whole);
    }
  }
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MEMORY_ACCESSHISTORY_H
