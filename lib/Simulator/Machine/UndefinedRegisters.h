// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The undefined bits of a warp's registers to which undefined data was
// written. Of registers that nothing wrote all bits are undefined, and nothing
// is kept here.

#ifndef FP8_LIB_SIMULATOR_MACHINE_UNDEFINEDREGISTERS_H
#define FP8_LIB_SIMULATOR_MACHINE_UNDEFINEDREGISTERS_H

#include "Memory/Undefined.h"

#include <array>
#include <cstdint>
#include <unordered_map>

namespace fp8::sim {

/// Of one lane's register; of one with 128 bits the lower and the upper half.
struct UndefinedBits {
  std::array<uint64_t, 2> bits{};
  OriginId origin = 0;

  bool any() const { return bits[0] | bits[1]; }
  static UndefinedBits all(OriginId origin) {
    return {{~uint64_t(0), ~uint64_t(0)}, origin};
  }
};

class UndefinedRegisters {
public:
  bool empty() const { return rows.empty(); }
  /// Null where undefined data was not written to the lane.
  const UndefinedBits *find(uint32_t row, int lane) const {
    auto found = rows.find(row);
    if (found == rows.end() || !found->second[size_t(lane)].any())
      return nullptr;
    return &found->second[size_t(lane)];
  }
  void set(uint32_t row, int lane, const UndefinedBits &bits) {
    rows[row][size_t(lane)] = bits;
  }
  /// All lanes were written, with something else.
  void forget(uint32_t row) { rows.erase(row); }

private:
  std::unordered_map<uint32_t, std::array<UndefinedBits, 32>> rows;
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MACHINE_UNDEFINEDREGISTERS_H
