// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory of the simulated GPU, as a CUDA program sees it.
#ifndef FP8_LIB_SIMULATEDCUDA_MEMORY_H
#define FP8_LIB_SIMULATEDCUDA_MEMORY_H

#include "fp8/Simulator/Device.h"

#include <map>
#include <optional>
#include <string>

namespace fp8::cuda {

/// Who reaches an allocation.
enum class Reach : uint8_t {
  Device,     ///< kernels only: cudaMalloc
  Managed,    ///< kernels and the host: cudaMallocManaged
  Pinned,     ///< likewise, and it lies on the host: cudaMallocHost
  Registered, ///< likewise, at another address: cudaHostRegister
};

/// What a copy or a fill asks of a range.
enum class Side : uint8_t {
  Any,    ///< the host or the device
  Device, ///< the device reaches it
};

struct Allocation {
  uint64_t address = 0;
  uint64_t bytes = 0;
  Reach reach = Reach::Device;
  unsigned number = 0; ///< of all allocations, from 1 on
  uint64_t host = 0;   ///< where the host reaches it, if it does
};

class Memory {
public:
  Memory(uint64_t limit, bool initcheck)
      : device(limit), initcheck(initcheck) {}
  ~Memory();

  /// The address of `bytes` bytes that hold a pattern which no kernel should
  /// read; nothing when the memory is exhausted. `maker` is the CUDA function,
  /// for messages.
  std::optional<uint64_t> allocate(uint64_t bytes, Reach reach,
                                   const std::string &maker);
  /// False where no allocation starts at `address`.
  bool release(uint64_t address);

  /// Lets the host reach `bytes` bytes of the device, such as a `__managed__`
  /// variable, at the same address. False where that place is taken.
  bool share(uint64_t address, uint64_t bytes);

  /// Lets kernels reach `bytes` bytes of the host; its address on the device,
  /// or nothing when the memory is exhausted.
  std::optional<uint64_t> registerHost(uint64_t host, uint64_t bytes);
  /// False where no registered memory starts at `host`.
  bool unregisterHost(uint64_t host);
  /// Whether the device reaches any of these bytes of the host already.
  bool meetsReached(uint64_t host, uint64_t bytes) const;
  /// Where the device reaches what the host reaches at `host`, if it does.
  std::optional<uint64_t> findOnDevice(uint64_t host) const;

  /// The allocation that has `address`, or null.
  const Allocation *find(uint64_t address) const;
  const std::map<uint64_t, Allocation> &allocations() const { return all; }

  /// What forbids a copy or a fill of the range, as the end of a sentence such
  /// as "is a null pointer"; nothing if it may go on. The host's memory is not
  /// checked.
  std::optional<std::string> findFault(uint64_t address, uint64_t bytes,
                                       Side side);

  /// Copies between any two places: of the host, of the device, or both. False
  /// where a range exceeds its buffer on the device.
  bool copy(uint64_t target, uint64_t source, uint64_t bytes);
  /// Writes a pattern of 1, 2 or 4 bytes `count` times.
  bool fill(uint64_t target, uint32_t pattern, unsigned patternBytes,
            uint64_t count);

  /// Brings what the host may have written to the device, before a launch, and
  /// what a launch wrote back.
  void publish();
  void collect();

  /// The bytes of all buffers of the device.
  using Snapshot =
      std::map<uint64_t, std::pair<std::vector<uint8_t>, std::vector<uint8_t>>>;
  Snapshot save();
  void restore(const Snapshot &snapshot);
  /// Where the memory differs from `snapshot`, as "buffer 'NAME' at byte N", or
  /// nothing.
  std::optional<std::string> compare(const Snapshot &snapshot);

  uint64_t freeBytes() const { return limit() - device.allocatedBytes(); }
  uint64_t limit() const { return device.limit(); }

  sim::Device device;

private:
  bool initcheck;
  unsigned made = 0;
  std::map<uint64_t, Allocation> all; ///< by address
  std::map<uint64_t, uint64_t>
      registered; ///< the address of memory of the host

  /// Where the host reads and writes the bytes at `address`, or null.
  uint8_t *onHost(uint64_t address, uint64_t bytes);
};

} // namespace fp8::cuda

#endif // FP8_LIB_SIMULATEDCUDA_MEMORY_H
