// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A warp's place in the happens-before order: what it has done, what it knows
// of others, and what it hands on.

#ifndef FP8_LIB_SIMULATOR_MEMORY_WARPORDER_H
#define FP8_LIB_SIMULATOR_MEMORY_WARPORDER_H

#include "Memory/Clocks.h"
#include "Memory/TensorIssues.h"
#include "Program/Program.h"

#include <array>
#include <cstdint>
#include <map>

namespace fp8::sim {

/// What a signal from one thread to another orders.
enum class Order : uint8_t {
  Time,   ///< nothing else: the scope of one leaves the other out
  Fenced, ///< memory, together with fences: relaxed
  Memory, ///< release, or acquire
};

/// The lanes that have arrived in a phase of a barrier, by their warp's
/// WarpPlace::globalIndex.
using ArrivedLanes = std::map<uint32_t, uint32_t>;

/// Where a warp is.
struct WarpPlace {
  std::array<uint32_t, 3> block; ///< %ctaid of its CTA
  uint32_t ctaRank;              ///< of its CTA in the cluster
  uint32_t id;                   ///< in the CTA
  uint32_t globalIndex;          ///< in the cluster
};

/// The clocks of a warp are those of its lanes together. A lane that executes
/// an instruction alone knows of the others' accesses up to where the lanes
/// last met.
class WarpOrder : public WarpPlace {
public:
  /// `lanes`: the lanes that exist.
  WarpOrder(const WarpPlace &place, uint32_t warpsInCluster, uint32_t lanes)
      : WarpPlace(place), lanes(lanes), warpsInCluster(warpsInCluster),
        alive(lanes), atMeeting(lanes) {}

  const uint32_t lanes;
  TensorIssues tensorIssues; ///< of its lanes
  /// Lanes that have not exited.
  uint32_t live() const { return alive; }

  uint32_t agent(Role role) const {
    return uint32_t(role) * warpsInCluster + globalIndex;
  }
  /// Of accesses through the generic proxy by the current instruction.
  uint32_t accessAgent() const {
    return agent(oneLane() ? Role::OneLane : Role::Generic);
  }
  bool isOwnAccess(uint32_t other) const {
    return other == agent(Role::Generic) || other == agent(Role::OneLane);
  }
  /// The warp's own time: its accesses since it last handed something on.
  uint32_t time() const { return epoch; }
  /// Its time when the current instruction began.
  uint32_t timeOfInstruction() const { return begun; }
  /// tcgen05.alloc writes one word for all lanes: each comes behind it.
  AccessTag tag(const Inst &inst) const {
    return AccessTag(inst.allocates ? agent(Role::OneLane) : accessAgent(),
                     epoch, inst.index, inst.strong);
  }

  const SyncClocks &clocks() const { return known; }
  /// Whether what the agent did at `time` happens before what comes now.
  bool knows(uint32_t agent, uint32_t time) const {
    return known.all.get(agent) >= time;
  }
  bool knows(AccessTag tag) const { return knows(tag.agent(), tag.time()); }
  /// Whether what all lanes of a warp did together is over by now, be memory
  /// ordered or not.
  bool isBehind(uint32_t agent, uint32_t time) const {
    return known.reached.get(agent) >= time || known.relaxed.get(agent) >= time;
  }
  /// Whether a lane of the access's warp has told that it is over, though not
  /// the lane whose access it is.
  bool reached(AccessTag tag) const {
    return known.reached.get(tag.agent()) >= tag.time();
  }
  /// Whether the lanes that execute the current instruction know of this access
  /// of the warp's own.
  bool knowsOwn(AccessTag tag) const {
    return !oneLane() || tag.agent() != agent(Role::Generic) || metSince(tag);
  }
  /// Whether the lanes have met since this access of theirs.
  bool metSince(AccessTag tag) const {
    return met.get(agent(Role::Generic)) >= tag.time();
  }
  /// Accesses that come before what the current instruction issues.
  Clock knowledge() const;

  /// Asynchronous work of the warp, up to `time`, happens before what comes.
  void learn(Role role, uint32_t time) { known.all.raise(agent(role), time); }
  /// An agent's work up to `time` is over.
  void learnDone(uint32_t agent, uint32_t time) {
    known.all.raise(agent, time);
    known.reached.raise(agent, time);
  }
  /// These waits are over.
  void learnWaits(const Clock &others) { known.waits.join(others); }
  /// tcgen05.ld up to `time` has been waited for.
  void learnTensorLoads(uint32_t time);
  /// tcgen05.fence::before_thread_sync: hands on the tcgen05 accesses that were
  /// waited for.
  void fenceTensorBefore();
  /// tcgen05.fence::after_thread_sync.
  void fenceTensorAfter() { known.tensor.join(known.all); }

  /// What this warp has done becomes part of `into`; of a lane alone, what the
  /// others have done before they last met, unless the lane `isLast`: all
  /// others have arrived there before it, each behind what it has done.
  void release(SyncClocks &into, bool isLast = false);
  void acquire(const SyncClocks &from);
  /// The same of a signal whose two sides are in one `reach`: a fence of a
  /// narrower scope does not count.
  void release(SyncClocks &into, Order order, Scope reach, bool isLast = false);
  void acquire(const SyncClocks &from, Order order, Scope reach);
  /// These lanes arrive. Whether all have that may have accessed anything since
  /// the lanes last met, or all that have not exited.
  bool isLastOf(ArrivedLanes &arrived, uint32_t lanes) const {
    return !(atMeeting & ~(arrived[globalIndex] |= lanes));
  }
  bool isLastLiveOf(ArrivedLanes &arrived, uint32_t lanes) const {
    return !(alive & ~(arrived[globalIndex] |= lanes));
  }
  /// A flag in global memory hands this on. Of what it hands on nobody knows
  /// which fence.proxy.async it is behind: of all, if of any.
  void acquireFlag(const Clock &before, bool relaxed, bool isFenced);
  /// Of what went before, what a fence of that scope stands behind, and nothing
  /// else.
  void releaseFenced(SyncClocks &into, Scope reach, bool isLast = false);
  /// fence.proxy.async, of accesses to these state spaces.
  void fenceProxy(bool ofShared, bool ofGlobal);
  /// What the warp knows of an agent counts as fenced, though it is not: each
  /// missing fence is reported once.
  void assumeFenced(uint32_t agent) {
    known.proxy.raise(agent, known.all.get(agent));
  }
  void fenceThread(Scope scope);
  /// The lanes meet: each knows what the others have done (PTX ISA,
  /// bar.warp.sync).
  void meet();

  /// Its place in the clocks of waits: lanes together, or one alone.
  uint32_t waitAgent() const {
    return waitAgentOfLanes(globalIndex) + oneLane();
  }
  static uint32_t waitAgentOfLanes(uint32_t warp) { return warp * 2; }
  /// Waits for phases that have succeeded.
  uint32_t waited() const { return waits; }
  /// A wait for a phase has succeeded; returns its number.
  uint32_t countWait() { return ++waits; }
  /// Whether the executing lanes come behind the wait `number` of an agent.
  bool isBehindWait(uint32_t agent, uint32_t number) const {
    return (agent / 2 == globalIndex ? waitsMet : known.waits.get(agent)) >=
           number;
  }
  /// Adds the waits that the executing lanes have completed, or all lanes.
  void releaseWaits(Clock &into, bool ofAll = false) const;

protected:
  /// The lanes execute the next instruction.
  void execute(uint32_t mask) {
    executing = mask;
    begun = epoch;
  }
  /// All lanes execute a .sync instruction together: each waits there for the
  /// others, though only bar.warp.sync orders memory (PTX ISA, shfl.sync,
  /// elect.sync, bar.warp.sync).
  void meetForWaits() { waitsMet = waits; }
  void exit(uint32_t mask) { alive &= ~mask; }

private:
  const uint32_t warpsInCluster;
  uint32_t alive;
  uint32_t atMeeting; ///< lanes that had not exited when they last met
  uint32_t executing = 0;
  uint32_t epoch = 1;
  uint32_t begun = 1; ///< the epoch in which the current instruction began
  SyncClocks known;
  /// By the scope that a fence must have at least.
  struct {
    SyncClocks released; ///< what relaxed writes and arrivals after it carry
    SyncClocks observed; ///< by relaxed reads: known after the next one
    uint32_t lanes = 0;  ///< that have fenced, until all have
  } fences[kScopes];
  Clock met;             ///< of its own roles, when its lanes last met
  uint32_t waits = 0;    ///< for phases, that have succeeded
  uint32_t waitsMet = 0; ///< of these, those before the lanes last waited for
                         ///< one another

  bool oneLane() const {
    return !(executing & (executing - 1)) && executing != atMeeting;
  }
  void advance(); ///< to the next epoch; what was done in this is known here
  /// What went before is over in time.
  void releaseTime(SyncClocks &into, bool isLast);
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MEMORY_WARPORDER_H
