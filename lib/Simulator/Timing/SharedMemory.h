// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bandwidth of an SM's shared memory, which the operands of products, the
// copies that land and the loads of warps share.

#ifndef FP8_LIB_SIMULATOR_TIMING_SHAREDMEMORY_H
#define FP8_LIB_SIMULATOR_TIMING_SHAREDMEMORY_H

#include "fp8/Chip/Timing.h"

#include <cstdint>
#include <vector>

namespace fp8::sim {

/// Reads come first. Copies land in the cycles between them, until too many
/// have stood back: then reads wait. All times are in cycles of the SM's clock.
class SharedMemory {
public:
  SharedMemory() = default;
  explicit SharedMemory(const chip::Timing &t) : t(&t) {}

  /// So many bytes of a copy land at `at`, which may lie ahead.
  void land(double at, double bytes);
  /// When a product has read its operands, which asks at `at`.
  double read(double at, double bytes) {
    return take(at, bytes / t->sharedBytes);
  }
  /// When a warp's load of so many registers begins, which asks at `at`.
  double load(double at, uint32_t registers) {
    constexpr double kLanesBytes = 32 * sizeof(uint32_t);
    const double cycles = registers * kLanesBytes / t->sharedBytes;
    return take(at, cycles) - cycles;
  }
  double getBusy() const { return busy; }

private:
  struct Landing {
    double at, cycles;
    bool operator>(const Landing &other) const { return at > other.at; }
  };
  double take(double at, double cycles);
  /// Serves what has landed up to `at`, when nothing else is served.
  void serveLandings(double at);

  const chip::Timing *t = nullptr;
  std::vector<Landing> landings; ///< a heap, the first one in front
  double free = 0, busy = 0;
  double owed = 0; ///< cycles of what has landed and is not served
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_TIMING_SHAREDMEMORY_H
