// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fence, groups and waits of wgmma (PTX ISA 9.7.15.7).

#include "ISA/Families.h"

#include "ISA/TensorCore/WgmmaOperation.h"
#include "Machine/Machine.h"
#include "Program/Decoder.h"
#include "fp8/Chip/Chip.h"

#include <algorithm>

using namespace fp8;
using namespace fp8::sim;

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

} // namespace

void WgmmaState::Flight::land(Warp &warp, const uint32_t *rows) const {
  for (uint32_t n = 0; n < results; ++n)
    warp.land(rows[n], adds, elementBits);
  for (const Undefined &its : undefined)
    warp.addUndefined(its.row, its.lanes, its.bits);
}

namespace {

/// Gives the registers of completed operations back to the warp, except those
/// that a later operation owns.
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
  for (auto it = flights.begin(); it != rest; ++it) {
    setReady(*it->inst, ~0u);
    it->land(w, &lists[it->inst->list]);
  }
  for (auto it = rest; it != flights.end(); ++it)
    setReady(*it->inst, 0);
  flights.erase(flights.begin(), rest);
}

/// Payload of wgmma.wait_group: groups that may stay pending.
struct PendingGroups {
  uint64_t count;
};

Flow wait(Warp &w, const Inst &i, uint32_t) {
  LaneGroup &lanes = w.group();
  if (!lanes.arrived && joinWarpgroup(w, i, {}))
    leaveWarpgroup(w);
  if (w.machine.stopped)
    return Flow::Next;
  uint64_t pending = i.get<PendingGroups>().count;
  const std::vector<uint32_t> &commits = w.wgmma.commits;
  uint32_t upTo =
      commits.size() > pending ? commits[commits.size() - 1 - pending] : 0;
  const Warpgroup &group = w.cta.warpgroups[w.id / kWarpgroup];
  if (group.complete < upTo) {
    lanes.arrived = true;
    return w.waitFor(WaitKind::Wgmma);
  }
  landFlights(w, upTo);
  // The first warp's agent stands for the whole warpgroup.
  uint32_t agent =
      w.cta.warps[w.id / kWarpgroup * kWarpgroup]->agent(Role::Mma);
  w.learnDone(agent, upTo);
  // What was waited for began when all four warps had come.
  w.learnWaits(group.waits);
  w.machine.progress();
  return Flow::Next;
}

bool decodeWgmma(Decoder &d, Inst &i) {
  const chip::Chip *chip = chip::lookup(d.module.target);
  if (!chip || !chip->has(chip::Feature::WarpgroupMma))
    return d.fail("is for .target " +
                  chip::getNames(chip::Feature::WarpgroupMma) + " only");
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
  PendingGroups &pending = i.make<PendingGroups>();
  return d.immediate(pending.count) &&
         (pending.count < 8 || d.fail("needs a number of groups from 0 to 7"));
}

} // namespace

void fp8::sim::addWgmmaOpcodes(OpcodeTable &t) { t.add("wgmma", decodeWgmma); }
