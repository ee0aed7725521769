// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each instruction of a program costs, which registers it reads and
// writes, and how many of these ptxas spills.

#ifndef FP8_LIB_SIMULATOR_TIMING_COSTS_H
#define FP8_LIB_SIMULATOR_TIMING_COSTS_H

#include "Program/Program.h"
#include "fp8/Chip/Timing.h"
#include "fp8/Simulator/Report.h"

#include <algorithm>
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
    /// Accesses to local memory, since registers do not suffice: the part of
    /// what it reads and writes that is expected to be spilled.
    double spills = 0;
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

  /// Where the program needs most registers.
  const RegisterNeed &mostRegisters() const { return most; }
  bool spills() const {
    return std::any_of(insts.begin(), insts.end(),
                       [](const Inst &inst) { return inst.spills > 0; });
  }

private:
  std::vector<Inst> insts;
  std::vector<uint32_t> rows;
  size_t count;
  RegisterNeed most;

  void findSpills(const Program &program, const chip::Timing &timing);
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_TIMING_COSTS_H
