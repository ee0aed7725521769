// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the replay knows of a phase of a barrier, and of a warp.

#ifndef FP8_LIB_SIMULATOR_TIMING_WARPSTATE_H
#define FP8_LIB_SIMULATOR_TIMING_WARPSTATE_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fp8::sim {

struct Phase {
  uint32_t pending = 0;          ///< arrivals that have not been given a time
  double time = 0;               ///< of the latest that have
  bool isBehindGridWait = false; ///< an arrival is
  std::vector<uint32_t> waiters;
};

struct WarpState {
  size_t step = 0;
  double clock = 0;
  bool blocked = false;
  bool isBehindGridWait = false; ///< it, or what it has waited for
  std::vector<double> ready;     ///< by register
  struct Store {
    double read, done;
  };
  std::vector<Store> stores;
  uint32_t pass = 0;      ///< that it copies for
  uint32_t filled = 0;    ///< its copies that had rows outside the tensor
  uint32_t ended = 0;     ///< products that it has waited for
  double loaded = 0;      ///< when what it loads from shared memory is there
  double loadLatency = 0; ///< of its last load from global memory
  double transferred = 0; ///< when its transfers end
  double waitedFor = 0;   ///< transfers that end before what it arrives for
  double started = 0;     ///< when what commits wait for ends
  std::vector<bool> maps; ///< by buffer: its tensor map was used
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_TIMING_WARPSTATE_H
