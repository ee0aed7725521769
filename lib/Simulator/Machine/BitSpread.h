// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Undefined bits through instructions that move bits.

#ifndef FP8_LIB_SIMULATOR_MACHINE_BITSPREAD_H
#define FP8_LIB_SIMULATOR_MACHINE_BITSPREAD_H

#include "Machine/Warp.h"

#include <array>
#include <map>
#include <vector>

namespace fp8::sim {

/// An instruction each bit of whose results depends on one bit at most of each
/// of its operands. It is executed with all undefined bits of an operand 0 and
/// 1: the bits that differ are undefined.
class BitSpread {
public:
  BitSpread(Warp &warp, const Inst &inst, uint32_t mask);

  /// Leaves the undefined bits of the lanes that are not in `whole`.
  void run(uint32_t whole);

private:
  using Values = std::array<uint64_t, 64>; ///< of a row and the one behind
  /// An operand with undefined bits. Those of one group vary together.
  struct Varied {
    uint32_t row; ///< of a predicate, its index
    bool predicate;
    uint32_t group;
    Values undefined{};
    std::array<OriginId, 32> origins{};

    bool any() const;
  };
  /// What the instruction writes.
  struct Outcome {
    std::vector<Values> rows;
    std::array<uint32_t, 2> predicates{};
  };
  /// One lane of a result.
  struct Place {
    uint32_t row; ///< of a predicate, its index
    bool predicate;
    int lane;
    bool operator<(const Place &other) const;
  };

  Warp &w;
  const Inst &inst;
  const uint32_t mask;
  std::vector<Varied> operands;
  uint32_t groups = 0;
  std::vector<uint32_t> results; ///< rows
  std::map<Place, UndefinedBits> found;
  std::vector<Values> savedOperands, savedResults;
  std::vector<uint32_t> savedPredicates, savedReady;

  uint32_t list(uint32_t n) const;
  Values read(uint32_t row) const;
  void write(uint32_t row, const Values &values);
  void add(uint32_t row, uint32_t group);
  void addPredicate(uint32_t index, uint32_t group);
  void save();
  void restore();
  /// Executes it with the undefined bits of the groups in `ones` 1, and all
  /// others 0.
  Outcome execute(uint32_t ones);
  /// The origin of what differs in a lane when `ones` do.
  OriginId originOf(int lane, uint32_t ones) const;
  void add(const Place &place, const std::array<uint64_t, 2> &bits,
           uint32_t ones);
  void compare(const Outcome &base, const Outcome &other, uint32_t ones);
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MACHINE_BITSPREAD_H
