// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machine that runs one cluster of CTAs: scheduling, virtual
// time, asynchronous completion, errors.

#ifndef FP8_LIB_SIMULATOR_MACHINE_MACHINE_H
#define FP8_LIB_SIMULATOR_MACHINE_MACHINE_H

#include "Machine/Cta.h"
#include "Machine/Grid.h"
#include "Machine/PollWatch.h"
#include "Machine/TimingHooks.h"
#include "Machine/Warp.h"
#include "Memory/ClusterContext.h"
#include "fp8/Simulator/Simulator.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace fp8::sim {

/// Arrivals of barrier.cluster.
struct ClusterBarrier {
  uint64_t phase = 0;
  uint32_t arrived = 0;
  SyncClocks arriving;
  SyncClocks done;
};

class Machine : public ClusterContext {
public:
  Machine(Grid &grid, ClusterIndex first, uint32_t ordinal);

  /// Lets up to `turns` warps go on. Unless it is `alone`, other clusters run
  /// at the same time, and it stops in front of what it must do alone.
  void run(unsigned turns, bool alone);
  /// It has stopped so.
  bool wantsToBeAlone() const { return held.op || held.warp; }
  /// Does it, and ends the turn of the warp.
  void runAlone();
  bool finished() const { return done; }
  /// No warp could go on, and only another cluster could help.
  bool isStuck() const { return stuck; }
  void retry() { stuck = false; }
  void reportDeadlock();
  /// Grows whenever something observable happens.
  uint64_t progressMade() const { return observable; }
  /// Grows whenever something happens that a poll may see.
  uint64_t changesMade() const { return changes; }
  PollWatch watch;
  void beginWatch() { watch.begin(warps.size()); }
  /// Whether no warp will ever do anything that it has not done.
  bool repeats() const;
  /// Whether a warp has read memory while it was watched.
  bool polls() const;
  /// All clusters repeat themselves, and `pending` have not started: an error
  /// at a poll of this one.
  SimulationError &reportEndlessPoll(size_t pending);
  /// Adds a note for each warp that waits or polls, until there are
  /// kMostWaiters.
  void describeWaiters(SimulationError &error);
  static constexpr size_t kMostWaiters = 256;
  /// For Warp: the next instruction is for later. Its warp may execute so many.
  bool mustHold(const Inst &inst) const { return inst.exclusive && !isAlone; }
  void hold(Warp &warp, unsigned quantum) { held.warp = {&warp, quantum}; }

  const std::vector<uint8_t> &parameters;
  std::vector<std::unique_ptr<Cta>> ctas; ///< by rank
  ClusterBarrier clusterBarrier;
  std::unique_ptr<TimingHooks> timing; ///< null where Options::timing is off

  /// Virtual time, in instructions.
  uint64_t time() const { return now; }
  uint64_t readClock() { ///< as a kernel does
    ++changes;
    return now;
  }
  void pass(uint64_t instructions) { now += instructions; }
  /// True once in `n` times, as the seed decides.
  bool oneIn(unsigned n) { return random.below(n) == 0; }

  // Asynchronous work.
  void issue(std::unique_ptr<AsyncOp> op);
  void progress() { ///< something observable happened
    goOn();
    ++changes;
  }
  void goOn() { ///< something did that changes nothing that others may poll
    stuckRounds = 0;
    ++observable;
  }
  void wakeAll(WaitKind kind);

  // mbarriers (Mbarrier.cpp).
  BarrierLog barrierLog;
  Mbarrier *barrierAt(Warp &warp, const Inst &inst, int lane,
                      uint64_t clusterAddress, bool async = false);
  bool arrive(Mbarrier &barrier, uint32_t count, Warp &warp, const Inst &inst,
              int lane, const SyncClocks *carried, Order order = Order::Memory);
  /// The agent of copies that `from` issues, that combine nothing, and that
  /// complete on the barrier.
  uint32_t copyAgent(Mbarrier &barrier, const Cta &from);
  bool expectTransactions(Mbarrier &barrier, int64_t bytes, Warp &warp,
                          const Inst &inst, int lane);
  /// Reports a signal that may land in the previous phase. `known`: what the
  /// signal comes after; `count`: its arrivals, 0 for other signals.
  void checkEarlyArrival(Mbarrier &barrier, const SyncClocks &known,
                         uint32_t count, Warp &warp, const Inst &inst,
                         int lane);
  /// `waits`: waits that had completed when the bytes' copy was issued.
  void completeTransactions(Mbarrier &barrier, int64_t bytes, uint64_t phase,
                            Warp &warp, const Inst &inst, int lane,
                            const Clock &waits);
  /// A lane's wait has found a phase complete.
  void sawPhase(Mbarrier &barrier, Warp &warp, const Inst &inst, int lane);
  /// What the lanes that wait by `inst` know after it.
  void waitSucceeded(Mbarrier &barrier, Warp &warp, const Inst &inst,
                     bool parity, Order order);

  /// Tells who listens (Options::onBarrierAccess).
  void tellAccess(const Mbarrier &barrier, const Warp &warp, const Inst &inst,
                  int lane, bool waits);

  // Other CTAs of the cluster (Remote.cpp).
  /// The other CTA of the warp's pair; null after an error.
  Cta *pairPeer(Warp &warp, const Inst &inst, int lane);
  /// Whether the CTA is still there to be accessed; reports it if not.
  bool checkPresent(const Cta &target, Warp &warp, const Inst &inst, int lane);
  /// The warp accesses `target`, which may end only when it knows that `agent`
  /// has reached `time`.
  void touchRemote(Cta &target, Warp &warp, const Inst &inst, uint32_t agent,
                   uint32_t time, uint32_t orderAgent = 0,
                   uint32_t orderTime = 0);
  /// Reports other CTAs' accesses that may reach a CTA after its end.
  void checkRemoteUse(Cta &cta);

  // Programmatic launches (ProgrammaticLaunch.cpp).
  /// griddepcontrol.wait. There is one kernel here, so it is over at once.
  void waitForGrid(Warp &warp, const Inst &inst, uint32_t mask);
  /// Reports an access that may come before the kernel in front has ended.
  bool checkBehindGridWait(Warp &warp, const Inst &inst, int lane);
  /// Reports an allocation that may deadlock with the kernel in front or
  /// behind.
  bool checkProgrammaticAllocation(Warp &warp, const Inst &inst, int lane);

  // Cluster launch control.
  /// A request of this cluster for one that has not started.
  std::optional<ClusterIndex> cancelCluster();
  /// A request has failed whose response completes on the mbarrier.
  void requestFails(const Mbarrier &barrier);

  // Addresses.
  /// Splits a shared::cluster address. False after an error.
  bool clusterAddress(Warp &warp, const Inst &inst, int lane, uint64_t address,
                      Cta *&cta, uint32_t &offset);
  /// Bytes that the calls of all lanes keep, against a limit.
  uint64_t callBytes = 0;
  uint32_t newAgent() {
    return nextAgent < kMaxAgents ? nextAgent++ : kMaxAgents - 1;
  }
  /// Of a lane's operations on the tensor core, which only its own commits tell
  /// of: Role::Mma of the first lane of the warp that asks, and a new one of
  /// each other.
  uint32_t mmaAgent(const WarpOrder &warp, int lane);
  void tryCompleteCluster();

  /// The buffer that the address lies in, or null.
  const Buffer *findBuffer(uint64_t address) const {
    return device.find(address, 1);
  }
  /// Global memory, without an access to it; null after an error (bounds).
  uint8_t *global(Warp &warp, const Inst &inst, int lane, uint64_t address,
                  uint64_t count, bool write);
  /// Global memory that `actor` is about to read or write; null after an
  /// error. `value`: what it is about to write, null for what it combines with
  /// the bytes there.
  uint8_t *accessGlobal(Warp &warp, const Inst &inst, int lane,
                        const GlobalActor &actor, uint64_t address,
                        uint64_t count, bool write,
                        const uint8_t *value = nullptr);
  /// The weak accesses of several lanes at once, `value` of a store: records
  /// them where all is as it should be. Else nothing changes, and it is null.
  uint8_t *accessOrdered(Warp &warp, const Inst &inst, uint32_t lanes,
                         uint64_t address, uint64_t count,
                         const uint8_t *value);
  /// Adds the bytes of the buffer accessed last that nothing has written to
  /// `part`, whose first is `address`; `inst` is their origin.
  void findUnwritten(const Inst &inst, uint64_t address, uint32_t count,
                     UndefinedPart &part);
  /// An operation combines such a byte with another.
  void reportUnwritten(Warp &warp, const Inst &inst, int lane,
                       uint64_t address);
  /// What a copy brings from there to shared memory is as undefined as it was.
  void landUnwritten(const Inst &inst, uint64_t address, uint64_t count,
                     const SharedPlace &target);
  /// ld.global.nc has read them from the buffer accessed last. The kernel may
  /// not have written them (PTX ISA 9.7.9.8).
  void checkNonCoherent(Warp &warp, const Inst &inst, int lane,
                        uint64_t address, uint64_t count);
  /// These bytes, where the last access lay in the same buffer and nothing that
  /// it has can change or is undefined: a further read of the same operation
  /// needs no check. Else null.
  const uint8_t *constantGlobal(uint64_t address, uint64_t count) const {
    bool constant = lastBuffer && lastBuffer->readOnly &&
                    lastBuffer->initialised.empty() &&
                    lastBuffer->contains(address, count);
    return constant ? lastBuffer->bytes.data() + (address - lastBuffer->address)
                    : nullptr;
  }
  /// A store instruction begins (ClusterAccesses::beginStore).
  void beginStore() { accesses.beginStore(); }
  ClusterAccesses accesses; ///< to global memory
  /// Synchronises by a strong access. A strong read of an address learns what
  /// came before the strong writes to it. Relaxed accesses carry what came
  /// before a fence of the writer to what follows a fence of the reader (PTX
  /// ISA 8.9).
  void synchroniseStrong(Warp &warp, const Inst &inst, uint64_t address,
                         bool write, Order order);
  /// A fence that orders clusters, too.
  void fenceGrid(Warp &warp);
  /// fence.proxy.async, of accesses to these state spaces.
  void fenceProxy(Warp &warp, bool ofShared, bool ofGlobal);

  // Tensor maps (TensorMaps.cpp).
  /// The map at a generic address, which an instruction uses, or only names for
  /// a prefetch; null after an error, and for what a prefetch may leave alone.
  const TensorMap *tensorMapAt(Warp &warp, const Inst &inst, int lane,
                               uint64_t address, bool isUsed = true);
  /// The next access writes a map in global memory.
  void writeTensorMap(uint64_t address);
  /// The latest write of the map is released to the tensor-map proxy.
  void releaseTensorMap(uint64_t address);
  /// All that the cluster has written is.
  void releaseTensorMaps(const Warp &warp, const Inst &inst);
  /// The CTA of the warp sees what was released before.
  void acquireTensorMap(Warp &warp, uint64_t address);

private:
  /// What a strong read brings from other clusters.
  void takeFlag(Warp &warp, uint64_t address, bool relaxed);
  /// What a strong write of the warp hands on to other clusters.
  std::shared_ptr<const Clock> handedOn(const WarpOrder &warp, bool relaxed);
  /// Whether the access happens before what the warp does now.
  bool comesBefore(const Warp &warp, const GlobalAccess &access) const;
  /// Enters an event into the hash of their order.
  void barrierEvent(unsigned what, const Mbarrier &barrier, const Warp *warp);
  /// Whether the kernel in front has ended when the lane goes on.
  bool isBehindGridWait(const Warp &warp, int lane) const;
  const uint8_t *globalTensorMap(Warp &warp, const Inst &inst, int lane,
                                 uint64_t address);
  OriginId unwrittenOrigin(const Inst &inst, uint64_t address);
  void markWritten(Warp &warp, const Inst &inst, int lane, uint64_t address,
                   uint64_t count, bool combines);
  void reportRace(Warp &warp, const Inst &inst, int lane, bool write,
                  const GlobalRace &race);
  /// Before what other clusters notice, or what notices them.
  void meetOthers();
  /// More bytes have completed on the barrier than its phase expects.
  void reportOverrun(const Mbarrier &barrier, const char *arrivals, Warp &warp,
                     const Inst &inst, int lane);
  void completePhaseIfDone(Mbarrier &barrier, Warp &warp, const Inst &inst,
                           int lane);
  void checkMissedPhase(Mbarrier &barrier, Warp &warp, const Inst &inst,
                        int lane);

  Grid &grid;
  Device &device;
  TensorMapDecoder decoder;
  bool isAlone = false;
  /// What waits until the cluster is alone.
  struct {
    std::unique_ptr<AsyncOp> op;
    std::optional<std::pair<Warp *, unsigned>> warp; ///< with its quantum
  } held;
  uint64_t observable = 0, changes = 0;
  Random random;
  uint64_t now = 0;
  /// What the writers of a flag (volatile, atomic, release) knew: for readers
  /// of the CTA of a rank, and for those of any.
  struct Flag {
    std::vector<SyncClocks> inCta;
    SyncClocks inCluster; ///< of several CTAs only
  };
  std::unordered_map<uint64_t, Flag> strongFlags; ///< by address
  bool anyFence = false;                          ///< fenceGrid has been called
  Clock fenced; ///< what is behind such a fence of any thread
  std::shared_ptr<const Clock> latest; ///< of handedOn
  std::vector<PhaseWait> gridWaits;    ///< each griddepcontrol.wait
  /// The mbarrier phase that the first failed request completes on; time 0:
  /// none has failed.
  struct {
    uint32_t offset = 0, time = 0;
  } failedRequest;
  Buffer *lastBuffer = nullptr;
  bool stuck = false;
  unsigned stuckRounds = 0;
  uint32_t nextAgent = 0;
  std::map<std::pair<uint32_t, int>, uint32_t> mmaAgents; ///< by warp and lane
  uint64_t globalReads = 0;
  uint64_t readsWhenStuck = 0; ///< globalReads when nothing could go on
  bool done = false;
  bool requestsFail = false; ///< from the first that failed on
  std::vector<Warp *> warps;
  std::vector<Warp *> runnable;
  /// By warp: the highest runnable rank goes first. Empty: all are equal.
  std::vector<uint64_t> ranks;

  void makeCtas(ClusterIndex first);
  Warp *choose(uint64_t r);
  void reportStepLimit();
  void complete(std::unique_ptr<AsyncOp> op);
  /// Completes it now, or holds it; false then.
  bool completeOrHold(std::unique_ptr<AsyncOp> op);
  bool unstick();
  void describeWaiter(SimulationError &error, const Warp &warp,
                      const LaneGroup &group);
  void describePoll(SimulationError &error, const Warp &warp, const Poll &poll);
  bool checkClusterEnd();
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MACHINE_MACHINE_H
