// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interpreter's loop: groups of lanes, divergence and reconvergence, and
// the check that registers are defined.

#include "Machine/Warp.h"

#include "Machine/Machine.h"

#include <algorithm>

using namespace fp8::sim;

Warp::Warp(Cta &cta, uint32_t id, uint32_t globalIndex, uint32_t lanes)
    : WarpOrder({cta.index, cta.rank, id, globalIndex},
                cta.machine.warpsInCluster, lanes),
      machine(cta.machine), cta(cta) {
  const Program &program = machine.program;
  size_t rows = program.registers + program.constants.size();
  values.resize(rows * 32);
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
  LaneGroup group;
  group.mask = lanes;
  groups.push_back(group);
  recount();
}

void Warp::recount() {
  runnableGroups = 0;
  for (const LaneGroup &g : groups)
    runnableGroups += g.runnable();
}

void Warp::wake(WaitKind kind) {
  for (LaneGroup &g : groups)
    if (g.wait == kind)
      g.wait = WaitKind::None;
  recount();
}

void Warp::exitLanes(uint32_t mask) {
  exit(mask);
  current.mask &= ~mask;
  // Those who wait for the others at an aligned instruction look again.
  for (LaneGroup &g : groups)
    if (g.wait == WaitKind::Converge)
      g.wait = WaitKind::None;
  if (finished())
    checkWgmmaExit(*this);
}

void Warp::branch(uint32_t mask, uint32_t target) {
  uint32_t rest = current.mask & ~mask;
  if (!rest) {
    current.pc = target;
    return;
  }
  LaneGroup other;
  other.mask = rest;
  other.pc = current.pc + 1;
  current.mask = mask;
  current.pc = target;
  groups.push_back(other);
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

void Warp::reportUndefined(const Inst &inst, uint32_t row, uint32_t lanes,
                           bool write) {
  int lane = __builtin_ctz(lanes);
  std::string name = row < machine.program.rowNames.size()
                         ? machine.program.rowNames[row]
                         : "a constant";
  if (const Inst *flight = owner(row)) {
    SimulationError &error = machine.error(
        ErrorKind::RegisterInFlight,
        "register " + name + (write ? " is written" : " is read") + " while '" +
            Machine::mnemonic(flight) + "' still owns it; execute " +
            (flight->wgmma ? "wgmma.commit_group and a wgmma.wait_group that "
                             "covers it"
                           : "tcgen05.wait::ld") +
            " between the two",
        this, &inst, lane);
    error.notes.push_back(
        machine.note(flight, flight->wgmma ? "the wgmma was issued here"
                                           : "the load was issued here"));
    return;
  }
  machine.error(
      ErrorKind::UninitialisedRegister,
      "register " + name +
          " is read before anything wrote it; write it on every path to here",
      this, &inst, lane);
}

const Inst *Warp::owner(uint32_t row) const {
  for (const RowInFlight &flight : rowsInFlight)
    if (flight.row == row)
      return flight.inst;
  return wgmmaOwner(*this, row);
}

bool Warp::checkReady(const Inst &inst, uint32_t mask) {
  const std::vector<uint32_t> &lists = machine.program.lists;
  auto bad = [&](uint32_t index) { return mask & ~ready[index]; };
  auto source = [&](uint32_t index) {
    uint32_t lanes = bad(index);
    if (!lanes || (inst.copies && !owner(index)))
      return true;
    reportUndefined(inst, index, lanes, false);
    ready[index] |= lanes; // say it once
    return false;
  };
  bool ok = true;
  for (unsigned i = 0; i < inst.sources; ++i)
    ok &= source(inst.s[i]);
  if (inst.listCount && !inst.listIsDestination)
    for (uint32_t i = 0; i < inst.listCount; ++i)
      ok &= source(lists[inst.list + i]);
  for (unsigned i = 0; i < inst.predicateSources; ++i) {
    uint32_t lanes = mask & ~predicateReady[inst.p[i]];
    if (!lanes)
      continue;
    machine.error(
        ErrorKind::UninitialisedRegister,
        "predicate " + machine.program.rowNames[2 * inst.p[i]] +
            " is read before anything wrote it; write it on every path to here",
        this, &inst, __builtin_ctz(lanes));
    predicateReady[inst.p[i]] |= lanes;
    ok = false;
  }
  if ((rowsInFlight.empty() && wgmma.flights.empty()) || inst.wgmma)
    return ok;
  auto target = [&](uint32_t index) {
    uint32_t lanes = bad(index);
    if (lanes && owner(index))
      reportUndefined(inst, index, lanes, true);
  };
  for (unsigned i = 0; i < inst.destinations; ++i)
    target(inst.d[i]);
  if (inst.listCount && inst.listIsDestination)
    for (uint32_t i = 0; i < inst.listCount; ++i)
      target(lists[inst.list + i]);
  return ok;
}

void Warp::markReady(const Inst &inst, uint32_t mask) {
  if (inst.keepsReady)
    return;
  uint32_t undefined = 0;
  if (inst.copies) {
    for (unsigned i = 0; i < inst.sources; ++i)
      undefined |= ~ready[inst.s[i]];
    if (!inst.listIsDestination)
      for (uint32_t i = 0; i < inst.listCount; ++i)
        undefined |= ~ready[machine.program.lists[inst.list + i]];
  }
  uint32_t defined = mask & ~undefined;
  for (unsigned i = 0; i < inst.destinations; ++i)
    ready[inst.d[i]] = (ready[inst.d[i]] & ~mask) | defined;
  if (inst.listIsDestination)
    for (uint32_t i = 0; i < inst.listCount; ++i) {
      uint32_t &r = ready[machine.program.lists[inst.list + i]];
      r = (r & ~mask) | defined;
    }
}

bool Warp::converged(const Inst &inst, uint32_t mask) {
  uint32_t needed = live();
  if (inst.convergence == Convergence::Members) {
    uint32_t members =
        uint32_t(row(inst.s[inst.sources - 1])[__builtin_ctz(mask)]);
    uint32_t outside = mask & ~members;
    if (outside)
      machine.error(ErrorKind::InvalidOperation,
                    "lane executes '" + Machine::mnemonic(&inst) +
                        "' but its member mask does not name the lane",
                    this, &inst, __builtin_ctz(outside));
    needed &= members;
  }
  return (needed & ~mask) == 0;
}

void Warp::run(unsigned quantum, bool preferLowest, uint64_t pick) {
  size_t best = groups.size();
  uint64_t seen = 0;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (!groups[i].runnable())
      continue;
    bool take = preferLowest
                    ? best == groups.size() || groups[i].pc < groups[best].pc
                    : seen == pick % runnableGroups;
    if (take)
      best = i;
    ++seen;
  }
  currentIndex = best;
  current = groups[best];
  if (groups.size() > 1 && !current.arrived)
    mergeCurrent();
  const Inst *code = machine.program.code.data();
  const uint32_t end = uint32_t(machine.program.code.size() - 1);
  uint32_t meeting = groups.size() > 1 ? nextMeeting() : ~0u;
  uint64_t executed = 0;
  while (executed < quantum) {
    const Inst &inst = code[current.pc];
    ++executed;
    if (current.pc >= end) { // falling off the end returns
      exitLanes(current.mask);
      if (finished())
        cta.threadsExited();
      break;
    }
    uint32_t mask = current.mask;
    if (inst.guard >= 0) {
      uint32_t undefined = mask & ~predicateReady[size_t(inst.guard)];
      if (undefined) {
        machine.error(ErrorKind::UninitialisedRegister,
                      "predicate " +
                          machine.program.rowNames[2 * size_t(inst.guard)] +
                          " guards an instruction before anything wrote it",
                      this, &inst, __builtin_ctz(undefined));
        predicateReady[size_t(inst.guard)] |= undefined;
      }
      uint32_t value = predicates[size_t(inst.guard)];
      mask &= inst.guardNegated ? ~value : value;
    }
    if (mask) {
      if (!checkReady(inst, mask) && machine.stopped)
        break;
      if (inst.touchesFragments)
        fp8::sim::touchFragments(*this, inst);
      if (inst.convergence != Convergence::None) {
        if (!current.arrived && !converged(inst, mask)) {
          if (uint32_t rest = current.mask & ~mask) {
            LaneGroup other;
            other.mask = rest;
            other.pc = current.pc + 1;
            groups.push_back(other);
          }
          current.mask = mask;
          current.wait = WaitKind::Converge;
          break;
        }
        if (mask & (mask - 1))
          meetForWaits();
      }
      uint32_t before = uint32_t(groups.size());
      execute(mask);
      Flow flow = inst.fn(*this, inst, mask);
      if (flow == Flow::Wait) {
        if (uint32_t rest = current.mask & ~mask) {
          LaneGroup other;
          other.mask = rest;
          other.pc = current.pc + 1;
          groups.push_back(other);
        }
        current.mask = mask;
        break;
      }
      current.arrived = current.timedOut = false;
      if (machine.stopped)
        break;
      if (flow == Flow::Next) {
        markReady(inst, mask);
        ++current.pc;
      } else if (!current.mask) {
        break;
      }
      if (flow == Flow::Jump || groups.size() != before)
        meeting = groups.size() > 1 ? nextMeeting() : ~0u;
    } else {
      ++current.pc;
    }
    if (current.pc == meeting) {
      mergeCurrent();
      meeting = groups.size() > 1 ? nextMeeting() : ~0u;
    } else if (current.pc > meeting) {
      break; // others are behind now: let them catch up
    }
  }
  machine.now += executed;
  machine.report.statistics.warpInstructions += executed;
  storeCurrent();
}
