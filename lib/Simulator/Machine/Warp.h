// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A warp: 32 lanes with a program counter each, grouped by where they are;
// registers as rows of 32 values.

#ifndef FP8_LIB_SIMULATOR_MACHINE_WARP_H
#define FP8_LIB_SIMULATOR_MACHINE_WARP_H

#include "Machine/CallStack.h"
#include "Machine/CopyGroups.h"
#include "Machine/LaneGroup.h"
#include "Machine/RowsInFlight.h"
#include "Machine/UndefinedRegisters.h"
#include "Machine/Warpgroup.h"
#include "Machine/ZeroedAllocator.h"
#include "Memory/LocalMemory.h"
#include "Memory/WarpOrder.h"
#include "Program/Program.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fp8::sim {

class Cta;
class Machine;

/// Executes instructions for up to 32 lanes. Handlers read and write its
/// registers, and say how its current group of lanes goes on.
class Warp : public WarpOrder {
public:
  Warp(Cta &cta, uint32_t id, uint32_t globalIndex, uint32_t lanes);

  Machine &machine;
  Cta &cta;

  /// The values of a row.
  uint64_t *row(uint32_t index) { return values.data() + places[index]; }
  const uint64_t *row(uint32_t index) const {
    return values.data() + places[index];
  }
  std::vector<uint32_t> ready; ///< by row: lanes whose value is defined

  /// Executes up to `quantum` instructions of one group.
  void run(unsigned quantum, bool preferLowest, uint64_t pick);
  /// Goes on with what Machine::hold was called for.
  void resume(unsigned quantum);
  bool runnable() const { return runnableGroups != 0; }
  bool finished() const { return !live(); }
  const std::vector<LaneGroup> &laneGroups() const { return groups; }

  // For what ends waits.
  /// Lets the groups go on whose wait is over.
  template <typename F>
  void wakeIf(F isOver) {
    bool any = false;
    for (LaneGroup &g : groups)
      if (!g.runnable() && isOver(g)) {
        g.wait = WaitKind::None;
        any = true;
      }
    if (any)
      recount();
  }
  void wake(WaitKind kind) {
    wakeIf([=](const LaneGroup &g) { return g.wait == kind; });
  }
  /// Lets every timed wait fail; false when there is none.
  bool timeOut();

  // For PollWatch (PollWatch.cpp).
  uint32_t lanesRun = 0; ///< lanes that have gone on since it was cleared
  uint64_t hashOfPlaces() const;    ///< where its lanes are
  uint64_t hashOfRegisters() const; ///< what they compute with

  // For handlers.
  LaneGroup &group() { return current; }
  const LaneGroup &executing() const { return current; }
  Flow waitFor(WaitKind kind) {
    current.wait = kind;
    return Flow::Wait;
  }
  /// Only these lanes stay in the group; the others go on behind the
  /// instruction.
  void split(uint32_t mask);
  /// These lanes go on at `target`, the group's others behind the branch.
  void branch(uint32_t mask, uint32_t target) {
    split(mask);
    current.pc = target;
  }
  /// These lanes of the group go on at `target` as one of their own.
  void fork(uint32_t mask, uint32_t target);
  void exitLanes(uint32_t mask);

  // Functions (CallStack.cpp).
  /// The lanes call a function, with the arguments of `site`; they go on behind
  /// `inst` when they return. The caller moves them. False after an error.
  bool enter(const Inst &inst, uint32_t mask, const CallSite &site,
             const Function &function);
  /// Ends the lane's innermost call; where the lane goes on.
  uint32_t leave(const Inst &inst, int lane);
  /// An argument or result.
  CallBytes readCallValue(const Inst &inst, int lane, const CallValue &value);
  void writeCallValue(int lane, const CallValue &value, const CallBytes &from);
  /// Makes the lane's local memory at least so large.
  void reserveLocal(int lane, uint64_t bytes);
  /// The first byte behind what the lane's calls use of local memory, and what
  /// alloca has given.
  uint64_t stackTop(int lane) const;
  /// The address of as many bytes; an error where there is no room.
  uint64_t allocateStack(const Inst &inst, int lane, uint64_t bytes,
                         uint64_t alignment);
  void restoreStack(const Inst &inst, int lane, uint64_t top);

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

  // Undefined registers (Undefined.cpp).
  /// Of these lanes, those in which one of the registers is undefined.
  uint32_t undefinedLanes(const uint32_t *rows, uint32_t count,
                          uint32_t mask) const {
    uint32_t defined = mask;
    for (uint32_t n = 0; n < count; ++n)
      defined &= ready[rows[n]];
    return mask & ~defined;
  }
  /// What is undefined of a register that `inst` reads.
  UndefinedBits undefinedBits(const Inst &inst, uint32_t row, int lane);
  /// Of a destination of the current instruction, these bits are undefined.
  void leaveUndefined(uint32_t row, int lane, const UndefinedBits &bits) {
    left.push_back({row, false, lane, bits});
  }
  /// Undefined data was written to these bits of a register in these lanes.
  void addUndefined(uint32_t row, uint32_t lanes, const UndefinedBits &bits);
  /// Whether undefined data was written to all of these lanes.
  bool isFromUndefined(uint32_t row, uint32_t lanes) const;
  /// All lanes of a register of 32 bits were written; the elements that were
  /// undefined of it still are where something was added.
  void land(uint32_t row, bool adds, unsigned elementBits);
  /// A register that is undefined or in flight, and used.
  void reportUndefined(const Inst &inst, uint32_t row, uint32_t lanes,
                       bool write);
  /// "'st.global.b32' stores register %r1, which is undefined" where `verb` is
  /// "stores".
  void reportUndefined(const Inst &inst, int lane, const char *verb,
                       uint32_t row, OriginId origin);

  uint32_t waitedForGrid = 0; ///< lanes behind their griddepcontrol.wait

  // Asynchronous work of this warp.
  std::vector<CopyGroups> bulk;   ///< by lane
  std::vector<CopyGroups> copies; ///< by lane, cp.async
  uint32_t bulkTime = 0, copyTime = 0;
  uint32_t tensorLoadTime = 0, tensorStoreTime = 0;
  uint32_t tensorLoadsPending = 0, tensorStoresPending = 0;
  RowsInFlight rowsInFlight;
  WgmmaState wgmma;
  uint32_t registers = 0; ///< that a thread has; 0: unknown (RegisterPool.cpp)
  bool registersKnown = false; ///< else it may have fewer
  /// By lane: the phase of the cluster barrier that it arrived for.
  std::array<uint64_t, 32> clusterTickets{};
  uint32_t clusterArrived = 0; ///< lanes that arrived and did not wait yet
  /// Of its tcgen05.commit to one CTA: how many have arrived there, and the
  /// agent whose time that is in clocks.
  struct Landing {
    uint32_t agent = 0, count = 0;
  };
  std::map<uint32_t, Landing> landings; ///< by rank of the CTA
  uint32_t clusterCounted = 0; ///< lanes that arrived in the current phase

  std::vector<LocalMemory> local; ///< by lane

private:
  std::vector<CallStack> stacks; ///< by lane
  void saveRegisters(int lane, const Function &function,
                     std::vector<uint64_t> &saved) const;
  void restoreRegisters(int lane, const Function &function,
                        const std::vector<uint64_t> &saved);
  const uint32_t *const places; ///< Program::places
  std::vector<uint64_t, ZeroedAllocator<uint64_t>> values;
  std::vector<uint32_t> predicates; ///< by register
  std::vector<uint32_t> predicateReady;
  UndefinedRegisters undefined; ///< predicates have rows, too
  /// What the current instruction leaves undefined.
  struct Left {
    uint32_t row; ///< of a predicate, its index
    bool predicate;
    int lane;
    UndefinedBits bits;
  };
  std::vector<Left> left;
  friend class BitSpread;
  std::vector<LaneGroup> groups;
  LaneGroup current;
  size_t currentIndex = 0;
  unsigned runnableGroups = 0;

  /// What asynchronous instruction keeps a register from being read or written.
  const Inst *owner(uint32_t row, bool write) const;
  /// The lanes in which an operand is undefined.
  uint32_t undefinedOperands(const Inst &inst, uint32_t mask) const;
  /// Reports undefined operands that must be defined.
  void checkOperands(const Inst &inst, uint32_t mask);
  /// Destinations of asynchronous instructions must not be written.
  void checkDestinations(const Inst &inst, uint32_t mask);
  void checkPredicate(uint32_t index, uint32_t mask, const Inst &inst,
                      const char *verb);
  OriginId predicateOrigin(const Inst &inst, uint32_t index, int lane);
  /// Before an instruction that computes: what is undefined of its results.
  void spread(const Inst &inst, uint32_t mask);
  void spreadElements(const Inst &inst, uint32_t mask);
  void leaveAll(const Inst &inst, int lane, OriginId origin);
  /// After the instruction: makes it so.
  void takeLeft();
  bool readsWhatIsLoading(const Inst &inst) const;
  void readLoaded(const Inst &inst);
  uint32_t nextMeeting() const;
  uint32_t placeOf(const LaneGroup &group) const;
  bool isAhead() const; ///< of lanes that can go on
  /// The destinations are defined.
  void define(const Inst &inst, uint32_t mask);
  void markReady(const Inst &inst, uint32_t mask);
  bool converged(const Inst &inst, uint32_t mask);
  /// Whether the lanes may execute it now; else they wait for the others.
  bool meetAt(const Inst &inst, uint32_t mask);
  uint32_t guarded(const Inst &inst);
  /// What an instruction did to the current group.
  enum class Step { Next, Regrouped, Stop };
  Step step(const Inst &inst, uint32_t mask);
  bool isQuiet() const;
  void compute(uint32_t stop);

  size_t chooseGroup(bool preferLowest, uint64_t pick) const;
  void storeCurrent();
  void mergeCurrent();
  void recount();
  uint64_t specialValue(const ConstantRow &constant, unsigned lane) const;
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MACHINE_WARP_H
