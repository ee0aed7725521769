// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The local memory of one lane: bytes, and which of them hold something.

#ifndef FP8_LIB_SIMULATOR_MEMORY_LOCALMEMORY_H
#define FP8_LIB_SIMULATOR_MEMORY_LOCALMEMORY_H

#include "Memory/Undefined.h"

#include <algorithm>

namespace fp8::sim {

class LocalMemory {
public:
  bool empty() const { return bytes.empty(); }
  void resize(uint64_t size) {
    bytes.resize(size);
    written.resize(size);
  }
  uint64_t size() const { return bytes.size(); }
  uint8_t *data() { return bytes.data(); }

  /// Before a store; `undefined`: what it stores that is not defined.
  void write(uint64_t offset, uint32_t count, const UndefinedPart *undefined) {
    std::fill_n(written.begin() + int64_t(offset), count, uint8_t(1));
    places.clear(uint32_t(offset), count);
    if (undefined)
      for (uint32_t byte = 0; byte < count; ++byte)
        if (undefined->bytes >> byte & 1)
          places.mark(uint32_t(offset) + byte, undefined->origins[byte]);
  }
  /// Adds the undefined bytes of a load to `undefined`. `unwritten` makes the
  /// origin of bytes that nothing has written.
  template <typename F>
  void read(uint64_t offset, uint32_t count, UndefinedPart &undefined,
            F unwritten) const {
    for (uint32_t byte = 0; byte < count; ++byte)
      if (!written[offset + byte])
        undefined.add(byte, unwritten());
      else if (OriginId origin =
                   places.empty() ? 0 : places.at(uint32_t(offset) + byte))
        undefined.add(byte, origin);
  }

private:
  std::vector<uint8_t> bytes, written;
  UndefinedPlaces places;
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MEMORY_LOCALMEMORY_H
