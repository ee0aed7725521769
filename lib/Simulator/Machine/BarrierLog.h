// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who arrives at which mbarrier in which phase, summed up for the report.

#ifndef FP8_LIB_SIMULATOR_MACHINE_BARRIERLOG_H
#define FP8_LIB_SIMULATOR_MACHINE_BARRIERLOG_H

#include "fp8/Simulator/Report.h"

#include <map>
#include <tuple>

namespace fp8::sim {

struct Mbarrier;
struct Program;
struct Inst;
class Warp;

/// What the current phase of one mbarrier has seen.
struct PhaseLog {
  size_t use = 0; ///< its entry in the report
  std::vector<BarrierSource> sources;

  void add(BarrierSource::Kind kind, const Warp &warp, uint64_t amount);
};

/// Of one cluster.
class BarrierLog {
public:
  BarrierLog(std::vector<BarrierUse> &uses, const Program &program)
      : uses(uses), program(program) {}

  /// An mbarrier was initialised; those of other clusters at the same place and
  /// with the same count share its entry.
  void open(Mbarrier &barrier);
  void completePhase(Mbarrier &barrier);
  /// The mbarrier's life is over.
  void close(Mbarrier &barrier);
  /// What an arrival by this instruction is.
  static BarrierSource::Kind arrivalKind(const Inst &inst);

private:
  std::vector<BarrierUse> &uses;
  const Program &program;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, size_t> places;
};

/// Adds what a cluster's mbarriers have seen to those of others.
void addBarriers(std::vector<BarrierUse> &all,
                 const std::vector<BarrierUse> &cluster);
/// Puts the entries in order.
void sortBarriers(std::vector<BarrierUse> &uses);

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MACHINE_BARRIERLOG_H
