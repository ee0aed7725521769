// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pages of zeros that are used again. One launch follows another, and its warps
// have as many registers as those before.

#include "Machine/ZeroedAllocator.h"

#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

using namespace fp8::sim;

namespace {

size_t pageBytes() {
  static const size_t bytes = size_t(sysconf(_SC_PAGESIZE));
  return bytes;
}
size_t inPages(size_t bytes) {
  return (bytes + pageBytes() - 1) / pageBytes() * pageBytes();
}

/// What was given back, by size. Clusters end on any thread.
class Kept {
public:
  void *take(size_t bytes) {
    std::lock_guard<std::mutex> lock(mutex);
    auto found = pages.find(bytes);
    if (found == pages.end() || found->second.empty())
      return nullptr;
    void *memory = found->second.back();
    found->second.pop_back();
    total -= bytes;
    return memory;
  }
  /// Whether there is room.
  bool keep(void *memory, size_t bytes) {
    std::lock_guard<std::mutex> lock(mutex);
    if (total + bytes > kMostKept)
      return false;
    pages[bytes].push_back(memory);
    total += bytes;
    return true;
  }

private:
  std::mutex mutex;
  std::map<size_t, std::vector<void *>> pages;
  size_t total = 0;
};

Kept &kept() {
  static Kept &all = *new Kept; // outlives every vector
  return all;
}

/// Zeroes the pages that were touched: /proc/PID/pagemap says which are present
/// or swapped out (proc_pid_pagemap(5)). False where it cannot be read.
bool zeroTouched(uint8_t *memory, size_t bytes) {
  constexpr uint64_t present = uint64_t(1) << 63, swapped = uint64_t(1) << 62;
  std::vector<uint64_t> entries(bytes / pageBytes());
  const size_t size = entries.size() * sizeof(uint64_t);
  const int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return false;
  const off_t at = off_t(reinterpret_cast<uintptr_t>(memory) / pageBytes() *
                         sizeof(uint64_t));
  const bool known = pread(file, entries.data(), size, at) == ssize_t(size);
  close(file);
  for (size_t page = 0; known && page < entries.size(); ++page)
    if (entries[page] & (present | swapped))
      std::memset(memory + page * pageBytes(), 0, pageBytes());
  return known;
}

} // namespace

void *fp8::sim::takeZeroedPages(size_t bytes) {
  if (bytes > SIZE_MAX - pageBytes())
    return nullptr;
  bytes = inPages(bytes);
  if (void *memory = kept().take(bytes)) {
    if (zeroTouched(static_cast<uint8_t *>(memory), bytes))
      return memory;
    munmap(memory, bytes);
  }
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

void fp8::sim::giveBackPages(void *pages, size_t bytes) noexcept {
  bytes = inPages(bytes);
  try {
    if (kept().keep(pages, bytes))
      return;
  } catch (const std::bad_alloc &) {
  }
  munmap(pages, bytes);
}
