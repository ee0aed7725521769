// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Warpgroups, and the fence, groups and waits of wgmma (PTX ISA 9.7.15.7).

#include "Machine/Warpgroup.h"

#include "Machine/Machine.h"
#include "Program/Decoder.h"

#include <algorithm>

using namespace fp8::sim;

uint32_t fp8::sim::warpgroupSize(const Warp &w) {
  return std::min(kWarpgroup, uint32_t(w.cta.warps.size()) -
                                  w.id / kWarpgroup * kWarpgroup);
}

Warpgroup::Step *
fp8::sim::joinWarpgroup(Warp &w, const Inst &i,
                        const std::array<uint64_t, 3> &operands) {
  Warpgroup &group = w.cta.warpgroups[w.id / kWarpgroup];
  Machine &m = w.machine;
  m.progress();
  size_t index = w.wgmma.steps++ - group.stepsDone;
  if (index == group.steps.size()) {
    group.steps.emplace_back();
    group.steps.back().inst = &i;
    group.steps.back().operands = operands;
    group.steps.back().first = w.id;
  }
  Warpgroup::Step &step = group.steps[index];
  ++step.warps;
  const char *rule = step.inst != &i ? "execute the same instructions"
                     : step.operands != operands ? "give the same operands"
                                                 : nullptr;
  if (!rule)
    return &step;
  SimulationError &e = m.error(
      ErrorKind::InvalidOperation,
      "'" + Machine::mnemonic(&i) + "' of warp " + std::to_string(w.id) +
          " meets '" + Machine::mnemonic(step.inst) + "' of warp " +
          std::to_string(step.first) + (step.inst == &i ? " with others" : "") +
          "; the four warps of a warpgroup must " + rule +
          " in the same order (descriptors, scale-d, wgmma and setmaxnreg)",
      &w, &i, -1, true);
  e.notes.push_back(m.note(step.inst, "the other warp was here"));
  return nullptr;
}

void fp8::sim::leaveWarpgroup(Warp &w) {
  Warpgroup &group = w.cta.warpgroups[w.id / kWarpgroup];
  while (!group.steps.empty() &&
         group.steps.front().warps >= warpgroupSize(w)) {
    group.steps.pop_front();
    ++group.stepsDone;
  }
}

const Inst *fp8::sim::wgmmaOwner(const Warp &w, uint32_t row) {
  const uint32_t *lists = w.machine.program.lists.data();
  for (const WgmmaState::Flight &flight : w.wgmma.flights) {
    const uint32_t *rows = lists + flight.inst->list;
    if (std::find(rows, rows + flight.inst->listCount, row) !=
        rows + flight.inst->listCount)
      return flight.inst;
  }
  return nullptr;
}

void fp8::sim::touchFragments(Warp &w, const Inst &i) {
  const Program &program = w.machine.program;
  WgmmaState &state = w.wgmma;
  if (state.touched.empty())
    state.touched.resize(program.registers);
  auto touch = [&](const uint32_t *rows, uint32_t count) {
    for (uint32_t n = 0; n < count; ++n)
      if (rows[n] < program.registers)
        state.touched[rows[n]] = state.fences + 1;
  };
  touch(i.d, i.destinations);
  touch(i.s, i.sources);
  touch(program.lists.data() + i.list, i.listCount);
}

void fp8::sim::checkWgmmaExit(Warp &w) {
  if (w.wgmma.flights.empty() || w.machine.stopped)
    return;
  const Inst *inst = w.wgmma.flights.back().inst;
  w.machine.error(ErrorKind::WorkInFlight,
                  "the warp exits and nothing has waited for '" +
                      Machine::mnemonic(inst) +
                      "'; execute wgmma.commit_group and wgmma.wait_group 0 "
                      "before",
                  &w, inst);
}

namespace {

Flow fence(Warp &w, const Inst &i, uint32_t) {
  if (joinWarpgroup(w, i, {}))
    leaveWarpgroup(w);
  ++w.wgmma.fences;
  return Flow::Next;
}

Flow commit(Warp &w, const Inst &i, uint32_t) {
  if (joinWarpgroup(w, i, {}))
    leaveWarpgroup(w);
  w.wgmma.commits.push_back(w.wgmma.issued);
  return Flow::Next;
}

/// The registers of what was waited for belong to the warp again, but for
/// those that a later operation has.
void landFlights(Warp &w, uint32_t upTo) {
  std::vector<WgmmaState::Flight> &flights = w.wgmma.flights;
  const uint32_t *lists = w.machine.program.lists.data();
  auto rest =
      std::find_if(flights.begin(), flights.end(),
                   [&](const auto &flight) { return flight.number > upTo; });
  auto setReady = [&](const Inst &inst, uint32_t value) {
    for (uint32_t n = 0; n < inst.listCount; ++n)
      w.ready[lists[inst.list + n]] = value;
  };
  for (auto it = flights.begin(); it != rest; ++it)
    setReady(*it->inst, ~0u);
  for (auto it = rest; it != flights.end(); ++it)
    setReady(*it->inst, 0);
  flights.erase(flights.begin(), rest);
}

/// imm: groups that may stay pending.
Flow wait(Warp &w, const Inst &i, uint32_t) {
  LaneGroup &lanes = w.group();
  if (!lanes.arrived && joinWarpgroup(w, i, {}))
    leaveWarpgroup(w);
  if (w.machine.stopped)
    return Flow::Next;
  const std::vector<uint32_t> &commits = w.wgmma.commits;
  uint32_t upTo =
      commits.size() > i.imm ? commits[commits.size() - 1 - i.imm] : 0;
  const Warpgroup &group = w.cta.warpgroups[w.id / kWarpgroup];
  if (group.complete < upTo) {
    lanes.arrived = true;
    return w.waitFor(WaitKind::Wgmma);
  }
  landFlights(w, upTo);
  // The first warp's agent stands for the whole warpgroup.
  uint32_t agent =
      w.cta.warps[w.id / kWarpgroup * kWarpgroup]->agent(Role::Mma);
  w.clocks.all.raise(agent, upTo);
  w.clocks.reached.raise(agent, upTo);
  // What was waited for began when all four warps had come.
  w.clocks.waits.join(group.waits);
  w.machine.progress();
  return Flow::Next;
}

bool decodeWgmma(Decoder &d, Inst &i) {
  if (d.module.target != "sm_90a")
    return d.fail("is for .target sm_90a only");
  int kind = d.takeOneOf({"fence", "commit_group", "wait_group", "mma_async"});
  if (kind < 0)
    return d.fail("needs .fence, .commit_group, .wait_group or .mma_async");
  i.convergence = Convergence::Aligned;
  if (!d.take("sync") || !d.take("aligned"))
    return d.fail("needs .sync.aligned");
  if (kind == 3)
    return decodeWgmmaMma(d, i);
  i.fn = kind == 0 ? fence : kind == 1 ? commit : wait;
  if (kind < 2)
    return true;
  return d.immediate(i.imm) && (i.imm < 8 || d.fail("waits for all but 0 to 7 "
                                                    "groups"));
}

} // namespace

void fp8::sim::addWgmmaDecoders(DecodeTable &t) { t["wgmma"] = decodeWgmma; }
