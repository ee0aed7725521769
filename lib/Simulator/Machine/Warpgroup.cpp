// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The common sequence of a warpgroup's warps, and the registers that wgmma
// owns.

#include "Machine/Warpgroup.h"

#include "Machine/Machine.h"

#include <algorithm>

using namespace fp8::sim;

uint32_t fp8::sim::warpgroupSize(const Warp &w) {
  return std::min(kWarpgroup, uint32_t(w.cta.warps.size()) -
                                  w.id / kWarpgroup * kWarpgroup);
}

Warpgroup::Step *
fp8::sim::joinWarpgroup(Warp &w, const Inst &i,
                        const std::array<uint64_t, 3> &operands,
                        Common common) {
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
  bool same = common == Common::Place
                  ? step.inst == &i
                  : step.inst->fn == i.fn && step.operands[0] == operands[0];
  const char *rule = !same ? "execute the same wgmma and setmaxnreg "
                             "instructions in the same order"
                     : common == Common::Place && step.operands != operands
                         ? "give the same descriptors and the same scale-d"
                         : nullptr;
  if (!rule)
    return &step;
  SimulationError &e = m.error(
      ErrorKind::InvalidOperation,
      "'" + Machine::mnemonic(&i) + "' of warp " + std::to_string(w.id) +
          " meets '" + Machine::mnemonic(step.inst) + "' of warp " +
          std::to_string(step.first) +
          (step.inst == &i ? " with other operands" : "") +
          "; the four warps of a warpgroup must " + rule,
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
  for (RowRange range : {i.reads, i.writes})
    std::for_each(program.begin(range), program.end(range), [&](uint32_t row) {
      if (row < program.registers)
        state.touched[row] = state.fences + 1;
    });
}

void fp8::sim::checkWgmmaExit(Warp &w) {
  if (w.wgmma.flights.empty() || w.machine.stopped)
    return;
  const Inst *inst = w.wgmma.flights.back().inst;
  w.machine.error(
      ErrorKind::WorkInFlight,
      "the warp exits, but nothing has waited for '" + Machine::mnemonic(inst) +
          "'; execute wgmma.commit_group and wgmma.wait_group 0 first",
      &w, inst);
}
