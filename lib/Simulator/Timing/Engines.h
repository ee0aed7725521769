// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The engines of an SM, each a queue.

#ifndef FP8_LIB_SIMULATOR_TIMING_ENGINES_H
#define FP8_LIB_SIMULATOR_TIMING_ENGINES_H

#include <algorithm>
#include <vector>

namespace fp8::sim {

/// Serves one after another.
struct Queue {
  double free = 0, busy = 0;
  /// What asks at `at` for `duration` cycles; when it ends.
  double take(double at, double duration) {
    free = std::max(free, at) + duration;
    busy += duration;
    return free;
  }
};

/// The engines of one CTA's SM.
struct Multiprocessor {
  std::vector<Queue> partitions;
  std::vector<Queue> transfers; ///< by partition: from and to tensor memory
  Queue tensor, shared, copies, l2, dram, stores, remote, tensorCopies;
  Queue loads; ///< of warps, from shared memory
};

/// The products of a warpgroup, in order.
struct Products {
  struct One {
    uint32_t warps = 0;
    double issued = 0, done = 0;
  };
  std::vector<One> all;
  uint32_t started = 0;
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_TIMING_ENGINES_H
