// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buffers as they were before a launch wrote to them.

#ifndef FP8_LIB_SIMULATOR_MACHINE_SNAPSHOT_H
#define FP8_LIB_SIMULATOR_MACHINE_SNAPSHOT_H

#include "fp8/Simulator/Device.h"

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace fp8::sim {

class Snapshot {
public:
  /// The caller is about to write to the buffer. Any thread may call it; who
  /// writes first waits until the bytes are copied.
  void keep(Buffer &buffer);
  /// Gives all buffers back what they had.
  void restore();

private:
  struct Content {
    std::vector<uint8_t> bytes, initialised;
  };
  std::mutex mutex;
  std::unordered_map<Buffer *, Content> contents;
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MACHINE_SNAPSHOT_H
