// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A warp: 32 lanes with a program counter each, grouped by where they are;
// registers as rows of 32 values.

#ifndef FP8_LIB_SIMULATOR_MACHINE_WARP_H
#define FP8_LIB_SIMULATOR_MACHINE_WARP_H

#include "Machine/Warpgroup.h"
#include "Memory/Clocks.h"
#include "Program/Program.h"

#include <cstdint>
#include <string>
#include <vector>

namespace fp8::sim {

class Cta;
class Machine;
struct Mbarrier;

enum class WaitKind : uint8_t {
  None,
  Converge,       ///< other lanes must come to an .aligned or .sync instruction
  Mbarrier,       ///< a phase of `barrier`
  Named,          ///< generation `ticket` of named barrier `id`
  ClusterBarrier, ///< barrier.cluster.wait
  TensorLoads,    ///< tcgen05.wait::ld
  TensorStores,   ///< tcgen05.wait::st
  BulkGroups,     ///< cp.async.bulk.wait_group
  CopyGroups,     ///< cp.async.wait_group
  TensorAlloc,    ///< tcgen05.alloc
  Wgmma,          ///< wgmma.wait_group
  Registers,      ///< setmaxnreg.inc
  Sleep,          ///< a failed poll: goes on when something happens
};

/// Lanes at one program counter.
struct LaneGroup {
  uint32_t mask = 0;
  uint32_t pc = 0;
  WaitKind wait = WaitKind::None;
  Mbarrier *barrier = nullptr;
  uint64_t ticket = 0; ///< phase or generation waited for
  uint32_t id = 0;
  bool arrived =
      false; ///< resumes an instruction that has already taken effect
  bool timedOut = false; ///< resumes because nothing else could go on

  bool runnable() const { return wait == WaitKind::None; }
};

/// Groups of asynchronous copies of one lane (bulk and non-bulk alike).
struct CopyGroups {
  uint32_t open = 0; ///< number of groups committed
  struct Pending {
    uint32_t group;
    uint32_t reads = 0;  ///< sources not yet read
    uint32_t writes = 0; ///< not yet complete
    bool waitedRead = false;
    uint32_t time = 0; ///< the agent's time of the latest operation
    const Inst *inst = nullptr;
  };
  std::vector<Pending> groups;

  Pending &current(const Inst &inst);
  /// Whether all but the `latest` most recent groups are complete (or read).
  bool complete(uint32_t latest, bool readOnly) const;
  /// Forgets complete groups that a wait covered; returns the latest time among
  /// the covered.
  uint32_t observe(uint32_t latest, bool readOnly);
};

class Warp {
public:
  Warp(Cta &cta, uint32_t id, uint32_t globalIndex, uint32_t lanes);

  Machine &machine;
  Cta &cta;
  const uint32_t id;          ///< in the CTA
  const uint32_t globalIndex; ///< in the cluster
  uint32_t live;              ///< lanes that have not exited
  const uint32_t lanes;       ///< lanes that exist

  uint64_t *row(uint32_t index) { return &values[size_t(index) * 32]; }
  const uint64_t *row(uint32_t index) const {
    return &values[size_t(index) * 32];
  }
  std::vector<uint32_t> ready;      ///< by row: lanes whose value is defined
  std::vector<uint32_t> predicates; ///< by register
  std::vector<uint32_t> predicateReady;

  /// Executes up to `quantum` instructions of one group.
  void run(unsigned quantum, bool preferLowest, uint64_t pick);
  bool runnable() const { return runnableGroups != 0; }
  bool finished() const { return live == 0; }
  std::vector<LaneGroup> groups;
  void recount();

  // For handlers.
  LaneGroup &group() { return current; }
  Flow waitFor(WaitKind kind) {
    current.wait = kind;
    return Flow::Wait;
  }
  void branch(uint32_t mask, uint32_t target); ///< the other lanes of the group
                                               ///< go on behind the branch
  void exitLanes(uint32_t mask);
  uint32_t predicate(const Inst &inst, unsigned index) const {
    uint32_t value = predicates[inst.p[index]];
    return inst.predicateNegations >> index & 1 ? ~value : value;
  }
  void setPredicate(const Inst &inst, unsigned index, uint32_t mask,
                    uint32_t value) {
    if (inst.pd[index] < 0)
      return;
    uint32_t &p = predicates[size_t(inst.pd[index])];
    p = (p & ~mask) | (value & mask);
    predicateReady[size_t(inst.pd[index])] |= mask;
  }

  /// A register that is undefined or in flight, and used.
  void reportUndefined(const Inst &inst, uint32_t row, uint32_t lanes,
                       bool write);

  // Happens-before.
  SyncClocks clocks;
  uint32_t epoch = 1;
  uint32_t agent(Role role) const;
  uint32_t executing = 0; ///< lanes that execute the current instruction
  bool oneLane() const {
    return !(executing & (executing - 1)) && executing != live;
  }
  /// Of accesses through the generic proxy by the current instruction.
  uint32_t accessAgent() const {
    return agent(oneLane() ? Role::OneLane : Role::Generic);
  }
  bool isOwnAccess(uint32_t other) const {
    return other == agent(Role::Generic) || other == agent(Role::OneLane);
  }
  AccessTag tag(const Inst &inst) const {
    return AccessTag(accessAgent(), epoch, inst.index);
  }
  /// What this warp has done becomes part of `into`; of a lane alone, what the
  /// others have done before they last met.
  void release(SyncClocks &into);
  void acquire(const SyncClocks &from);
  /// Accesses that come before what the current instruction issues.
  Clock knowledge() const;
  /// The lanes meet: each knows what the others have done (PTX ISA,
  /// bar.warp.sync).
  void meet();
  /// Whether what the warp did at `time` is known to who executes the current
  /// instruction.
  bool knowsOwn(AccessTag tag) const {
    return !oneLane() || tag.agent() != agent(Role::Generic) ||
           tag.time() <= met.get(tag.agent());
  }
  /// The relaxed forms order memory only together with fences.
  void releaseRelaxed(SyncClocks &into);
  /// Of what went before, what a fence stands behind, and nothing else.
  void releaseFenced(SyncClocks &into);
  void acquireRelaxed(const SyncClocks &from) {
    clocks.reached.join(from.reached);
    clocks.waits.join(from.waits);
    observed.join(from);
  }
  void fenceProxy();
  void fenceThread();
  Clock met; ///< of the warp's own roles, as they were when its lanes last met
  /// Its place in the clocks of waits: lanes together, or one alone.
  uint32_t waitAgent() const { return globalIndex * 2 + oneLane(); }
  /// The waits that are over for who executes the current instruction.
  void releaseWaits(Clock &into) const;
  uint32_t waits = 0; ///< for phases, that have succeeded
  /// Of these, those before all lanes last executed a .sync instruction
  /// together: each waits there for the others, though only bar.warp.sync
  /// orders memory (PTX ISA, shfl.sync, elect.sync, bar.warp.sync).
  uint32_t waitsMet = 0;
  SyncClocks fenced;   ///< what relaxed writes and arrivals after a fence carry
  SyncClocks observed; ///< by relaxed reads: known after the next fence

  uint32_t waitedForGrid = 0; ///< lanes behind their griddepcontrol.wait

  // Asynchronous work of this warp.
  std::vector<CopyGroups> bulk;   ///< by lane
  std::vector<CopyGroups> copies; ///< by lane, cp.async
  uint32_t bulkTime = 0, copyTime = 0, mmaTime = 0;
  uint32_t tensorLoadTime = 0, tensorStoreTime = 0;
  uint32_t tensorLoadsPending = 0, tensorStoresPending = 0;
  struct RowInFlight {
    uint32_t row;
    uint32_t lanes; ///< that it defines
    const Inst *inst;
  };
  std::vector<RowInFlight> rowsInFlight;
  WgmmaState wgmma;
  uint32_t registers = 0; ///< that a thread has; 0: unknown (RegisterPool.cpp)
  /// Lanes that waited for a failed clusterlaunchcontrol.try_cancel.
  uint32_t sawFailedRequest = 0;
  uint64_t clusterTicket = 0;  ///< phase of the cluster barrier arrived at
  uint32_t clusterArrived = 0; ///< lanes that arrived and did not wait yet
  uint32_t clusterCounted = 0; ///< lanes that arrived in the current phase

  std::vector<std::vector<uint8_t>> local; ///< by lane
  void wake(WaitKind kind);

private:
  std::vector<uint64_t> values;
  LaneGroup current;
  size_t currentIndex = 0;
  unsigned runnableGroups = 0;

  void advance(); ///< to the next epoch; what was done in this is known here
  const Inst *owner(uint32_t row) const; ///< asynchronous, of a register
  uint32_t nextMeeting() const;
  bool checkReady(const Inst &inst, uint32_t mask);
  void markReady(const Inst &inst, uint32_t mask);
  bool converged(const Inst &inst, uint32_t mask);
  void storeCurrent();
  void mergeCurrent();
  uint64_t specialValue(const ConstantRow &constant, unsigned lane) const;
};

/// Executes a piece of code for each lane of a mask.
template <typename F>
inline void forLanes(uint32_t mask, F f) {
  while (mask) {
    int lane = __builtin_ctz(mask);
    mask &= mask - 1;
    f(lane);
  }
}

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MACHINE_WARP_H
