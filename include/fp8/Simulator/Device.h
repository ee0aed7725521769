// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The global memory of the simulated device: named buffers with guard gaps
// between them. A kernel's access outside a buffer is an error that says what
// is there, or was.

#ifndef FP8_SIMULATOR_DEVICE_H
#define FP8_SIMULATOR_DEVICE_H

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fp8::sim {

/// One allocation of global memory.
struct Buffer {
  std::string name;
  uint64_t address = 0; ///< 64-bit global (and generic) address of the first
                        ///< byte; a multiple of 256.
  uint64_t size = 0;    ///< bytes
  bool readOnly = false;
  std::vector<uint8_t> bytes;
  /// One flag for each byte, 1 if written; empty if the whole buffer counts as
  /// initialised.
  std::vector<uint8_t> initialised;

  bool contains(uint64_t at, uint64_t count) const {
    return at >= address && count <= size && at - address <= size - count;
  }
};

/// The properties of a buffer.
struct BufferOptions {
  bool readOnly = false; ///< a store to it is an error
  /// What is read of a byte that nobody wrote is undefined: an error where it
  /// has an effect.
  bool uninitialised = false;
  uint64_t alignment = 256; ///< bytes; a power of two, at least 256
};

class Device {
public:
  /// `memoryLimit`: the limit for all buffers together, in bytes.
  explicit Device(uint64_t memoryLimit = uint64_t(8) << 30)
      : memoryLimit(memoryLimit) {}

  /// Allocates `size` zero bytes (a size of 0 is a valid, empty buffer).
  /// Returns the address, or nothing when the memory limit is exceeded.
  std::optional<uint64_t> allocate(std::string name, uint64_t size,
                                   BufferOptions options = {});
  /// False when no buffer starts at `address`.
  bool release(uint64_t address);

  /// Host-side copies. False when the range is not inside one buffer.
  bool write(uint64_t address, const void *source, uint64_t count);
  bool read(uint64_t address, void *target, uint64_t count) const;
  /// The host's view of the bytes from `address` to the end of its buffer; null
  /// outside any buffer.
  uint8_t *data(uint64_t address);

  Buffer *find(uint64_t address, uint64_t count);
  /// What `address`, which lies in no buffer, is instead, as the end of a
  /// sentence: "outside every buffer; the nearest is 'a' of 64 bytes, ...".
  std::string describeOutside(uint64_t address) const;
  /// The name and the size in bytes of a buffer that was released, if `address`
  /// lay in it: addresses are not used again.
  std::optional<std::pair<std::string_view, uint64_t>>
  findReleased(uint64_t address) const;
  uint64_t allocatedBytes() const { return allocated; }
  uint64_t limit() const { return memoryLimit; }

  /// Every address that a buffer can have is in this range. The windows of the
  /// other state spaces lie above. No two numbers that data are made of look
  /// like an address: neither integers up to 11067, nor numbers of float, nor
  /// small ones of half, for the lower half is a denormal below zero.
  static constexpr uint64_t kFirstAddress = 0x2b3c80000000;
  static constexpr uint64_t kAddressEnd = uint64_t(1) << 46;

  /// By address.
  const std::vector<std::unique_ptr<Buffer>> &allBuffers() const {
    return buffers;
  }

private:
  uint64_t memoryLimit;
  uint64_t allocated = 0;
  uint64_t nextAddress = kFirstAddress;
  std::vector<std::unique_ptr<Buffer>> buffers; ///< by address
  /// Name and size, by address.
  std::map<uint64_t, std::pair<std::string, uint64_t>> released;

  const Buffer *nearest(uint64_t address) const;
};

} // namespace fp8::sim

#endif // FP8_SIMULATOR_DEVICE_H
