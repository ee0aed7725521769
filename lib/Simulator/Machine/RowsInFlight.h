// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers that tcgen05.ld has yet to fill, or whose wait is yet to come.

#ifndef FP8_LIB_SIMULATOR_MACHINE_ROWSINFLIGHT_H
#define FP8_LIB_SIMULATOR_MACHINE_ROWSINFLIGHT_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fp8::sim {

struct Inst;

struct RowInFlight {
  uint32_t row;
  uint32_t lanes; ///< that it defines
  const Inst *inst;
  uint32_t time; ///< of the load (Warp::tensorLoadTime)
  bool landed = false, read = false;
};

/// Destinations of tcgen05.ld that no tcgen05.wait::ld has covered. A read of
/// one waits until it has landed, and is an error where warnings are; a write
/// is an error even then, and a warning behind a read.
class RowsInFlight {
public:
  using iterator = std::vector<RowInFlight>::iterator;
  iterator begin() { return rows.begin(); }
  iterator end() { return rows.end(); }
  std::vector<RowInFlight>::const_iterator begin() const {
    return rows.begin();
  }
  std::vector<RowInFlight>::const_iterator end() const { return rows.end(); }
  bool empty() const { return rows.empty(); }

  /// Whether one of them is `row`; every instruction asks.
  bool holds(uint32_t row) const { return row < held.size() && held[row]; }

  void add(const RowInFlight &flight) {
    if (held.size() <= flight.row)
      held.resize(size_t(flight.row) + 1);
    ++held[flight.row];
    rows.push_back(flight);
  }
  void erase(iterator flight) {
    --held[flight->row];
    rows.erase(flight);
  }
  void clear() {
    for (const RowInFlight &flight : rows)
      held[flight.row] = 0;
    rows.clear();
  }

private:
  std::vector<RowInFlight> rows;
  std::vector<uint32_t> held; ///< by row: how many of `rows`
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MACHINE_ROWSINFLIGHT_H
