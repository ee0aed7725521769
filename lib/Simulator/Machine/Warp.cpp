// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interpreter's loop: groups of lanes, divergence and reconvergence, and
// which registers are defined.

#include "Machine/Warp.h"

#include "Machine/Machine.h"

#include <algorithm>

using namespace fp8::sim;

Warp::Warp(Cta &cta, uint32_t id, uint32_t globalIndex, uint32_t lanes)
    : WarpOrder({cta.index, cta.rank, id, globalIndex},
                cta.machine.warpsInCluster, lanes),
      machine(cta.machine), cta(cta), places(machine.program.places.data()) {
  const Program &program = machine.program;
  size_t rows = program.registers + program.constants.size();
  values.resize(program.placesEnd);
  ready.resize(rows);
  for (size_t i = 0; i < program.constants.size(); ++i) {
    const ConstantRow &constant = program.constants[i];
    ready[program.registers + i] = ~0u;
    uint64_t *target = row(uint32_t(program.registers + i));
    for (unsigned lane = 0; lane < 32; ++lane)
      target[lane] = constant.kind == ConstantRow::Kind::Value ? constant.value
                     : constant.kind == ConstantRow::Kind::Shared
                         ? constant.value | uint64_t(cta.rank)
                                                << kSharedRankShift
                         : specialValue(constant, lane);
  }
  predicates.resize(program.predicates);
  predicateReady.resize(program.predicates);
  bulk.resize(32);
  copies.resize(32);
  local.resize(32);
  stacks.resize(32);
  groups.emplace_back();
  groups.back().mask = lanes;
  recount();
}

void Warp::recount() {
  runnableGroups = 0;
  for (const LaneGroup &g : groups)
    runnableGroups += g.runnable();
}

bool Warp::timeOut() {
  bool any = false;
  for (LaneGroup &g : groups)
    if (g.wait == WaitKind::Mbarrier || g.wait == WaitKind::Sleep) {
      g.wait = WaitKind::None;
      g.timedOut = true;
      any = true;
    }
  recount();
  return any;
}

void Warp::exitLanes(uint32_t mask) {
  exit(mask);
  current.mask &= ~mask;
  // Groups that wait at an .aligned instruction check again.
  for (LaneGroup &g : groups)
    if (g.wait == WaitKind::Converge)
      g.wait = WaitKind::None;
  cta.lanesExited(*this);
  if (finished())
    checkWgmmaExit(*this);
}

static LaneGroup groupAt(uint32_t mask, uint32_t pc) {
  LaneGroup group;
  group.mask = mask;
  group.pc = pc;
  return group;
}

void Warp::split(uint32_t mask) {
  if (uint32_t rest = current.mask & ~mask)
    groups.push_back(groupAt(rest, current.pc + 1));
  current.mask = mask;
}

void Warp::fork(uint32_t mask, uint32_t target) {
  current.mask &= ~mask;
  groups.push_back(groupAt(mask, target));
}

/// The lowest place at or ahead of the current group where other lanes are that
/// it could join.
uint32_t Warp::nextMeeting() const {
  uint32_t best = ~0u;
  for (size_t i = 0; i < groups.size(); ++i)
    if (i != currentIndex &&
        (groups[i].runnable() || groups[i].wait == WaitKind::Converge) &&
        !groups[i].arrived && groups[i].pc >= current.pc)
      best = std::min(best, groups[i].pc);
  return best;
}

/// A trace has its own order: where the compiler has put a block far from
/// others, lanes that enter it would fall behind those that pass it.
uint32_t Warp::placeOf(const LaneGroup &group) const {
  return machine.timing ? machine.timing->placeOf(group.pc) : group.pc;
}

bool Warp::isAhead() const {
  for (size_t i = 0; i < groups.size(); ++i)
    if (i != currentIndex && groups[i].runnable() &&
        placeOf(groups[i]) < placeOf(current))
      return true;
  return false;
}

void Warp::mergeCurrent() {
  for (size_t i = groups.size(); i-- > 0;) {
    LaneGroup &g = groups[i];
    if (i == currentIndex || g.pc != current.pc || g.arrived ||
        (!g.runnable() && g.wait != WaitKind::Converge))
      continue;
    current.mask |= g.mask;
    groups.erase(groups.begin() + int64_t(i));
    if (currentIndex > i)
      --currentIndex;
  }
}

void Warp::storeCurrent() {
  if (current.mask)
    groups[currentIndex] = current;
  else
    groups.erase(groups.begin() + int64_t(currentIndex));
  recount();
}

const Inst *Warp::owner(uint32_t row, bool write) const {
  if (rowsInFlight.holds(row))
    for (const RowInFlight &flight : rowsInFlight)
      if (flight.row == row && (write || !flight.landed))
        return flight.inst;
  return wgmmaOwner(*this, row);
}

/// Whether the predicate holds for a register that the instruction reads.
template <typename F>
static bool anySource(const Program &program, const Inst &inst, F &&predicate) {
  return std::any_of(program.begin(inst.reads), program.end(inst.reads),
                     predicate);
}

/// Whether the instruction depends on a tcgen05.ld that has not landed: the
/// hardware lets it wait (PTX ISA 9.7.16.6.4.5).
bool Warp::readsWhatIsLoading(const Inst &inst) const {
  return anySource(machine.program, inst, [&](uint32_t row) {
    return rowsInFlight.holds(row) &&
           std::any_of(
               rowsInFlight.begin(), rowsInFlight.end(),
               [&](const RowInFlight &f) { return f.row == row && !f.landed; });
  });
}

/// The instruction reads these of the registers that tcgen05.ld has loaded.
void Warp::readLoaded(const Inst &inst) {
  if (!anySource(machine.program, inst,
                 [&](uint32_t row) { return rowsInFlight.holds(row); }))
    return;
  bool any = false;
  uint32_t over = tensorLoadTime;
  for (RowInFlight &flight : rowsInFlight) {
    if (!flight.read && flight.landed)
      any |= flight.read = anySource(machine.program, inst, [&](uint32_t row) {
        return row == flight.row;
      });
    if (!flight.read)
      over = std::min(over, flight.time - 1);
  }
  if (any)
    learn(Role::TensorLoadRead, over);
}

inline uint32_t Warp::undefinedOperands(const Inst &inst, uint32_t mask) const {
  uint32_t lanes =
      undefinedLanes(machine.program.begin(inst.reads), inst.reads.count, mask);
  for (unsigned i = 0; i < inst.predicateSources; ++i)
    lanes |= mask & ~predicateReady[inst.p[i]];
  return lanes;
}

inline void Warp::define(const Inst &inst, uint32_t mask) {
  const uint32_t *rows = machine.program.begin(inst.writes);
  for (uint32_t n = 0; n < inst.writes.count; ++n)
    ready[rows[n]] |= mask;
  for (uint32_t n = 0; !undefined.empty() && n < inst.writes.count; ++n)
    if (ready[rows[n]] == ~0u)
      undefined.forget(rows[n]);
}

void Warp::markReady(const Inst &inst, uint32_t mask) {
  if (!inst.keepsReady)
    define(inst, mask);
  if (!left.empty())
    takeLeft();
}

bool Warp::converged(const Inst &inst, uint32_t mask) {
  uint32_t needed = live();
  if (inst.convergence == Convergence::Members) {
    uint32_t members =
        uint32_t(row(inst.s[inst.sources - 1])[__builtin_ctz(mask)]);
    uint32_t outside = mask & ~members;
    if (outside)
      machine.error(ErrorKind::InvalidOperation,
                    "the lane executes '" + Machine::mnemonic(&inst) +
                        "', but its member mask does not name the lane",
                    this, &inst, __builtin_ctz(outside));
    needed &= members;
  }
  if (uint32_t gone = lanes & ~live();
      gone && inst.convergence == Convergence::Whole)
    machine.error(ErrorKind::DivergentAligned,
                  "'" + Machine::mnemonic(&inst) +
                      "' needs all lanes of warp " + std::to_string(id) +
                      ", but lane " + std::to_string(__builtin_ctz(gone)) +
                      " has exited; let the lanes exit behind it",
                  this, &inst, __builtin_ctz(mask));
  return (needed & ~mask) == 0;
}

/// The lanes of `mask` that name the same members as the first of them.
static uint32_t sameMembers(const Warp &w, const Inst &inst, uint32_t mask) {
  if (inst.convergence != Convergence::Members)
    return mask;
  const uint64_t *members = w.row(inst.s[inst.sources - 1]);
  const uint32_t first = uint32_t(members[__builtin_ctz(mask)]);
  uint32_t same = 0;
  for (uint32_t l = 0; l < 32; ++l)
    same |= uint32_t(uint32_t(members[l]) == first) << l;
  return same & mask;
}

/// The lanes of the current group that execute the instruction.
uint32_t Warp::guarded(const Inst &inst) {
  if (inst.guard < 0)
    return current.mask;
  if (current.mask & ~predicateReady[size_t(inst.guard)])
    checkPredicate(uint32_t(inst.guard), current.mask, inst, "is guarded by");
  uint32_t value = predicates[size_t(inst.guard)];
  return current.mask & (inst.guardNegated ? ~value : value);
}

bool Warp::meetAt(const Inst &inst, uint32_t mask) {
  if (!current.arrived && !converged(inst, mask)) {
    split(mask);
    current.wait = WaitKind::Converge;
    return false;
  }
  if (mask & (mask - 1))
    meetForWaits();
  return true;
}

inline Warp::Step Warp::step(const Inst &inst, uint32_t mask) {
  if (tensorLoadsPending && !machine.options.strict &&
      readsWhatIsLoading(inst)) {
    split(mask);
    current.wait = WaitKind::TensorLoads;
    return Step::Stop;
  }
  if (!rowsInFlight.empty())
    readLoaded(inst);
  const uint32_t operands = undefinedOperands(inst, mask);
  if (operands)
    checkOperands(inst, operands);
  if (!rowsInFlight.empty() || !wgmma.flights.empty())
    checkDestinations(inst, mask);
  if (machine.stopped)
    return Step::Stop;
  if (inst.touchesFragments)
    touchFragments(*this, inst);
  const size_t before = groups.size();
  uint32_t together = mask; // what executes it at once
  if (inst.convergence != Convergence::None) {
    together = sameMembers(*this, inst, mask);
    // Those that all their members have come to go on.
    uint32_t met = 0;
    for (uint32_t rest = together == mask ? 0 : mask; rest;) {
      const uint32_t same = sameMembers(*this, inst, rest);
      met |= converged(inst, same) ? same : 0;
      rest &= ~same;
    }
    if (met && met != mask)
      fork(mask & ~met, current.pc);
    if (together == mask) {
      if (!meetAt(inst, mask))
        return Step::Stop;
    } else if (!met) {
      split(mask);
      current.wait = WaitKind::Converge;
      return Step::Stop;
    } else {
      mask = met;
      together = sameMembers(*this, inst, mask);
      meetForWaits();
    }
  }
  execute(together);
  if (operands && inst.computes)
    spread(inst, mask);
  Flow flow = inst.fn(*this, inst, together);
  for (uint32_t rest = mask & ~together; rest; rest &= ~together) {
    together = sameMembers(*this, inst, rest);
    execute(together);
    inst.fn(*this, inst, together);
  }
  if (flow == Flow::Wait) {
    split(mask);
    return Step::Stop;
  }
  current.arrived = current.timedOut = false;
  if (machine.stopped)
    return Step::Stop;
  if (machine.timing)
    machine.timing->executed(*this, inst);
  if (flow == Flow::Next) {
    markReady(inst, mask);
    ++current.pc;
  } else if (!current.mask) {
    return Step::Stop;
  }
  return flow == Flow::Jump || groups.size() != before ? Step::Regrouped
                                                       : Step::Next;
}

/// Whether plain instructions ask for no more than that their operands are
/// defined: nothing asynchronous has registers.
bool Warp::isQuiet() const {
  return rowsInFlight.empty() && wgmma.flights.empty() && !machine.timing;
}

/// Executes plain instructions in front of `stop`, up to the first that needs
/// more attention.
void Warp::compute(uint32_t stop) {
  const Inst *code = machine.program.code.data();
  for (; current.pc < stop && code[current.pc].plain; ++current.pc) {
    const Inst &inst = code[current.pc];
    uint32_t mask = current.mask;
    if (inst.guard >= 0) {
      if (mask & ~predicateReady[size_t(inst.guard)])
        return;
      mask = guarded(inst);
    }
    if (!mask)
      continue;
    if (undefinedOperands(inst, mask))
      return;
    if (inst.touchesFragments)
      touchFragments(*this, inst);
    execute(mask);
    inst.fn(*this, inst, mask);
    define(inst, mask);
  }
}

/// The runnable group at the lowest place; or the `pick`-th, counted round.
size_t Warp::chooseGroup(bool preferLowest, uint64_t pick) const {
  size_t best = groups.size();
  uint64_t seen = 0;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (!groups[i].runnable())
      continue;
    if (preferLowest ? best == groups.size() ||
                           placeOf(groups[i]) < placeOf(groups[best])
                     : seen == pick % runnableGroups)
      best = i;
    ++seen;
  }
  return best;
}

void Warp::run(unsigned quantum, bool preferLowest, uint64_t pick) {
  currentIndex = chooseGroup(preferLowest, pick);
  resume(quantum);
}

void Warp::resume(unsigned quantum) {
  current = groups[currentIndex];
  if (groups.size() > 1 && !current.arrived)
    mergeCurrent();
  lanesRun |= current.mask;
  const Inst *code = machine.program.code.data();
  const uint32_t end = uint32_t(machine.program.code.size() - 1);
  uint32_t meeting = nextMeeting();
  uint64_t executed = 0;
  while (executed < quantum) {
    if (current.pc < meeting && code[current.pc].plain && isQuiet()) {
      const uint32_t begin = current.pc;
      compute(
          uint32_t(std::min<uint64_t>(meeting, begin + (quantum - executed))));
      executed += current.pc - begin;
      if (current.pc == meeting) {
        mergeCurrent();
        meeting = nextMeeting();
        continue;
      }
      if (executed == quantum)
        break;
    }
    ++executed;
    if (current.pc >= end) { // falling off the end returns
      exitLanes(current.mask);
      if (finished())
        cta.threadsExited();
      break;
    }
    const Inst &inst = code[current.pc];
    if (uint32_t mask = guarded(inst)) {
      if (machine.mustHold(inst)) {
        --executed;
        machine.hold(*this, quantum - unsigned(executed));
        break;
      }
      Step result = step(inst, mask);
      if (result == Step::Stop)
        break;
      if (result == Step::Regrouped) {
        // On a GPU lanes meet again behind a branch: none runs ahead in a
        // trace.
        if (machine.timing && isAhead())
          break;
        meeting = nextMeeting();
      }
    } else {
      ++current.pc;
    }
    if (current.pc == meeting) {
      mergeCurrent();
      meeting = nextMeeting();
    } else if (current.pc > meeting) {
      break; // others are behind now: let them catch up
    }
  }
  machine.pass(executed);
  machine.report.statistics.warpInstructions += executed;
  storeCurrent();
}
