// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vectors of zeros that take memory only where they are used. A kernel of
// others may declare ten thousand registers a warp, and touch few of them.

#ifndef FP8_LIB_SIMULATOR_MACHINE_ZEROEDALLOCATOR_H
#define FP8_LIB_SIMULATOR_MACHINE_ZEROEDALLOCATOR_H

#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>

namespace fp8::sim {

/// Pages of zeros, `bytes` in whole ones. Those that are given back are used
/// again, and keep the memory that they had touched: the system takes longer to
/// find a new page than to zero it. At most kMostKept bytes are kept.
void *takeZeroedPages(std::size_t bytes);
void giveBackPages(void *pages, std::size_t bytes) noexcept;
constexpr std::size_t kMostKept = std::size_t(128) << 20;

/// Of numbers. Elements without an initial value are 0, as the memory is.
template <typename T>
struct ZeroedAllocator {
  using value_type = T;
  /// From this size on, memory is in pages.
  static constexpr std::size_t kMapped = std::size_t(1) << 16; // bytes

  ZeroedAllocator() = default;
  template <typename U>
  ZeroedAllocator(const ZeroedAllocator<U> &) {}

  T *allocate(std::size_t count) {
    std::size_t bytes = count * sizeof(T);
    void *memory = bytes < kMapped ? std::calloc(count, sizeof(T))
                                   : takeZeroedPages(bytes);
    if (!memory)
      throw std::bad_alloc();
    return static_cast<T *>(memory);
  }
  void deallocate(T *memory, std::size_t count) {
    if (count * sizeof(T) < kMapped)
      std::free(memory);
    else
      giveBackPages(memory, count * sizeof(T));
  }

  template <typename U>
  void construct(U *) {}
  template <typename U, typename V>
  void construct(U *at, V &&value) {
    new (at) U(std::forward<V>(value));
  }

  bool operator==(const ZeroedAllocator &) const { return true; }
  bool operator!=(const ZeroedAllocator &) const { return false; }
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MACHINE_ZEROEDALLOCATOR_H
