// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each instruction of a program costs, and which registers it reads and
// writes.

#ifndef FP8_LIB_SIMULATOR_TIMING_COSTS_H
#define FP8_LIB_SIMULATOR_TIMING_COSTS_H

#include "Program/Program.h"
#include "fp8/Chip/Timing.h"

#include <vector>

namespace fp8::sim {

chip::IssueClass classify(const ast::Instruction &text);

class Costs {
public:
  Costs(const Program &program, const chip::Timing &timing);

  struct Inst {
    chip::IssueCost cost;
    bool loadsGlobal = false; ///< its latency is that of the warp's last load
    bool loadsShared = false; ///< it takes shared memory's bandwidth
    bool loadsTensor = false; ///< its result is there when its transfer ends
    uint32_t reads, writes, end; ///< indices into `rows`
  };
  const Inst &operator[](uint32_t index) const { return insts[index]; }
  /// Calls `f` for each register that the instruction reads or writes.
  template <typename F>
  void forReads(const Inst &inst, F f) const {
    for (uint32_t n = inst.reads; n < inst.writes; ++n)
      f(rows[n]);
  }
  template <typename F>
  void forWrites(const Inst &inst, F f) const {
    for (uint32_t n = inst.writes; n < inst.end; ++n)
      f(rows[n]);
  }
  /// Registers of a warp, predicates among them.
  size_t registers() const { return count; }

private:
  std::vector<Inst> insts;
  std::vector<uint32_t> rows;
  size_t count;
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_TIMING_COSTS_H
