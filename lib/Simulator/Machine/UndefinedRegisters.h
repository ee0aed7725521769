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
#include <memory>
#include <vector>

namespace fp8::sim {

/// Of one lane's register; of one with 128 bits the lower and the upper half.
struct UndefinedBits {
  std::array<uint64_t, 2> bits{};
  OriginId origin = 0;

  bool any() const { return bits[0] | bits[1]; }
  static UndefinedBits all(OriginId origin) {
    return {{~uint64_t(0), ~uint64_t(0)}, origin};
  }
  /// Of a register of at most 64 bits, these.
  static UndefinedBits some(uint64_t bits, OriginId origin) {
    return {{bits, 0}, origin};
  }
  /// Of a register of 32 bits, the elements of `width` bits with any of these.
  UndefinedBits inElements(unsigned width) const {
    UndefinedBits whole = some(0, origin);
    const uint64_t element = (uint64_t(1) << width) - 1;
    for (unsigned at = 0; at < 32; at += width)
      if (bits[0] >> at & element)
        whole.bits[0] |= element << at;
    return whole;
  }
};

class UndefinedRegisters {
public:
  /// Of a row's lanes.
  using Row = std::array<UndefinedBits, 32>;

  bool empty() const { return !count; }
  /// Null where undefined data was not written to the lane.
  const UndefinedBits *find(uint32_t row, int lane) const {
    if (row >= rows.size() || !rows[row] || !(*rows[row])[size_t(lane)].any())
      return nullptr;
    return &(*rows[row])[size_t(lane)];
  }
  void set(uint32_t row, int lane, const UndefinedBits &bits) {
    get(row)[size_t(lane)] = bits;
  }
  /// The row, to change several lanes of it.
  Row &get(uint32_t row) {
    if (row >= rows.size())
      rows.resize(row + 1);
    if (!rows[row]) {
      rows[row] = std::make_unique<Row>();
      ++count;
    }
    return *rows[row];
  }
  /// The same; null where undefined data was written to no lane.
  Row *getIfAny(uint32_t row) {
    return row < rows.size() ? rows[row].get() : nullptr;
  }
  /// All lanes were written, with something else.
  void forget(uint32_t row) {
    if (!getIfAny(row))
      return;
    rows[row] = nullptr;
    --count;
  }

private:
  std::vector<std::unique_ptr<Row>> rows; ///< null: nothing was written
  size_t count = 0;                       ///< of those that are not null
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MACHINE_UNDEFINEDREGISTERS_H
