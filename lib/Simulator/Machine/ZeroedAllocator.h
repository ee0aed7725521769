// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vectors of zeros that take memory only where they are used. A kernel of
// others may declare ten thousand registers a warp, and touch few of them.

#ifndef FP8_LIB_SIMULATOR_MACHINE_ZEROEDALLOCATOR_H
#define FP8_LIB_SIMULATOR_MACHINE_ZEROEDALLOCATOR_H

#include <cstddef>
#include <cstdlib>
#include <new>
#include <sys/mman.h>
#include <utility>

namespace fp8::sim {

/// Of numbers. Elements without an initial value are 0, as the memory is.
template <typename T>
struct ZeroedAllocator {
  using value_type = T;
  /// From this size on, the system zeroes each page when it is first used.
  static constexpr std::size_t kMapped = std::size_t(1) << 20; // bytes

  ZeroedAllocator() = default;
  template <typename U>
  ZeroedAllocator(const ZeroedAllocator<U> &) {}

  T *allocate(std::size_t count) {
    std::size_t bytes = count * sizeof(T);
    void *memory = bytes < kMapped
                       ? std::calloc(count, sizeof(T))
                       : mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!memory || memory == MAP_FAILED)
      throw std::bad_alloc();
    return static_cast<T *>(memory);
  }
  void deallocate(T *memory, std::size_t count) {
    if (count * sizeof(T) < kMapped)
      std::free(memory);
    else
      munmap(memory, count * sizeof(T));
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
