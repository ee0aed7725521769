// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report of a deadlock: every waiter and what it waits for.

#include "Machine/Machine.h"

#include <algorithm>
#include <cstring>

using namespace fp8::sim;

static std::string laneList(uint32_t mask) {
  if (mask == ~0u)
    return "all lanes";
  std::string text = (mask & (mask - 1)) ? "lanes " : "lane ";
  bool first = true;
  for (int lane = 0; lane < 32; ++lane) {
    if (!(mask >> lane & 1))
      continue;
    int last = lane;
    while (last < 31 && mask >> (last + 1) & 1)
      ++last;
    text += (first ? "" : ",") + std::to_string(lane) +
            (last > lane ? "-" + std::to_string(last) : "");
    first = false;
    lane = last;
  }
  return text;
}

void Machine::describeWaiter(SimulationError &report, const Warp &warp,
                             const LaneGroup &group) {
  const Inst *inst = &program.code[group.pc];
  std::string text = "block (" + std::to_string(warp.cta.index[0]) + "," +
                     std::to_string(warp.cta.index[1]) + "," +
                     std::to_string(warp.cta.index[2]) + ") warp " +
                     std::to_string(warp.id) + " " + laneList(group.mask) +
                     ": ";
  auto barrierState = [&](const Mbarrier &b) {
    return "the mbarrier at " + sharedName(b.offset) + " (initialised at " +
           point(b.initInst).str() + "): current phase " +
           std::to_string(b.phase) + ", " + std::to_string(b.pending) + " of " +
           std::to_string(b.expected) + " arrivals pending, " +
           std::to_string(b.transactions) + " bytes pending";
  };
  switch (group.wait) {
  case WaitKind::None:
  case WaitKind::Sleep:
  case WaitKind::Mbarrier:
    if (group.barrier)
      text += "waits for phase " + std::to_string(group.ticket) + " (parity " +
              std::to_string(group.ticket & 1) + ") of " +
              barrierState(*group.barrier);
    else
      text += "is at '" + mnemonic(inst) + "'";
    break;
  case WaitKind::Converge:
    text += "waits at '" + mnemonic(inst) +
            "' for the warp's other lanes, which are elsewhere or also wait";
    break;
  case WaitKind::Named: {
    const NamedBarrier &b = warp.cta.namedBarriers[group.id];
    text += "waits at named barrier " + std::to_string(group.id) + ": " +
            std::to_string(b.arrived) + " of " +
            std::to_string(b.wholeCta ? warp.cta.liveThreads() : b.expected) +
            " threads have arrived";
    if (b.lanes.count(warp.globalIndex))
      text += ", without this warp, since other lanes of it have not come";
    break;
  }
  case WaitKind::ClusterBarrier:
    text += "waits at the cluster barrier: " +
            std::to_string(clusterBarrier.arrived) + " threads have arrived";
    break;
  case WaitKind::TensorLoads:
    text += "waits for tcgen05.ld";
    break;
  case WaitKind::TensorStores:
    text += "waits for tcgen05.st";
    break;
  case WaitKind::BulkGroups:
    text += "waits for bulk copy groups";
    break;
  case WaitKind::CopyGroups:
    text += "waits for cp.async groups";
    break;
  case WaitKind::Wgmma: {
    const Warpgroup &g = warp.cta.warpgroups[warp.id / kWarpgroup];
    text += "waits for wgmma";
    if (!g.steps.empty())
      text += ": " + std::to_string(g.steps.front().warps) + " of the " +
              std::to_string(warpgroupSize(warp)) +
              " warps of the warpgroup have executed '" +
              mnemonic(g.steps.front().inst) + "' at " +
              point(g.steps.front().inst).str();
    break;
  }
  case WaitKind::Registers:
    text +=
        "waits in '" + mnemonic(inst) + "' for " +
        std::to_string(group.ticket - warp.registers) +
        " registers per thread, but the CTA's other warps have released only " +
        std::to_string(warp.cta.freeRegisters) +
        "; another warp must execute setmaxnreg.dec";
    break;
  case WaitKind::TensorAlloc:
    if (warp.cta.awaitsPair) {
      text += "waits in '" + mnemonic(inst) +
              "' for a warp of the peer CTA, rank " +
              std::to_string(warp.cta.rank ^ 1) + ", to execute it too";
      break;
    }
    text += "waits in tcgen05.alloc for free tensor memory columns, or because "
            "the CTA gave up its right to allocate";
    break;
  }
  report.notes.push_back(note(inst, std::move(text)));
}

void Machine::reportDeadlock() {
  bool onlyDivergence = true;
  const Inst *first = nullptr;
  const Warp *firstWarp = nullptr;
  for (const Warp *warp : warps) {
    bool aligned = false;
    for (const LaneGroup &group : warp->laneGroups()) {
      if (!first) {
        first = &program.code[group.pc];
        firstWarp = warp;
      }
      aligned |= group.wait == WaitKind::Converge;
    }
    onlyDivergence &= aligned || warp->finished();
  }
  SimulationError &e =
      onlyDivergence
          ? error(ErrorKind::DivergentAligned,
                  "lanes of a warp cannot meet at '" + mnemonic(first) +
                      "': an .aligned instruction must be executed by all live "
                      "lanes of the warp together, and a .sync instruction by "
                      "all lanes that its mask names",
                  firstWarp, first, -1, true)
          : error(ErrorKind::Deadlock,
                  "deadlock: no warp can go on and no asynchronous work is "
                  "pending; the notes list every waiter",
                  firstWarp, first, -1, true);
  describeWaiters(e);
}

void Machine::describeWaiters(SimulationError &report) {
  for (const Warp *warp : warps) {
    for (const LaneGroup &group : warp->laneGroups())
      if (report.notes.size() < kMostWaiters)
        describeWaiter(report, *warp, group);
    for (const Poll &poll : watch.polls(*warp))
      if (report.notes.size() < kMostWaiters)
        describePoll(report, *warp, poll);
  }
}

/// What the warp reads again and again, what it finds there, and who has
/// written that.
void Machine::describePoll(SimulationError &report, const Warp &warp,
                           const Poll &poll) {
  std::string place;
  const uint8_t *bytes = nullptr;
  const Inst *writer = nullptr;
  if (poll.isShared) {
    const uint32_t rank = uint32_t(poll.address >> kSharedRankShift),
                   offset = uint32_t(poll.address) & kSharedOffsetMask;
    if (rank >= ctas.size() || offset + poll.bytes > ctas[rank]->shared.size())
      return;
    place = sharedName(offset);
    if (ctas.size() > 1)
      place += " of CTA rank " + std::to_string(rank);
    bytes = ctas[rank]->shared.data() + offset;
    if (AccessTag tag = ctas[rank]->shared.lastWrite(offset); !tag.none())
      writer = &program.code[tag.instruction()];
  } else {
    const Buffer *buffer = device.find(poll.address, poll.bytes);
    if (!buffer)
      return;
    place = "buffer '" + buffer->name + "' at offset " +
            std::to_string(poll.address - buffer->address);
    bytes = buffer->bytes.data() + (poll.address - buffer->address);
    if (uint32_t write = grid.memory.lastWrite(poll.address, poll.bytes))
      writer = &program.code[grid.memory.accessAt(write).tag.instruction()];
  }
  // Of an atomic operation, each poll counts as a write.
  const bool isOwn = writer && writer == poll.inst;
  uint64_t value = 0;
  std::memcpy(&value, bytes, std::min(poll.bytes, 8u));
  std::string text =
      "warp " + std::to_string(warp.id) + " polls " + place + ", which holds " +
      std::to_string(value) +
      (isOwn    ? ", and leaves it as it is"
       : writer ? "; it was written last by '" + mnemonic(writer) + "' at " +
                      point(writer).str()
                : "; nothing has written it in this launch");
  report.notes.push_back(note(poll.inst, std::move(text)));
}

bool Machine::repeats() const {
  return queue().operations().empty() && !wantsToBeAlone() &&
         std::all_of(warps.begin(), warps.end(),
                     [&](const Warp *warp) { return watch.repeats(*warp); });
}

static const Warp *findPoller(const std::vector<Warp *> &warps,
                              const PollWatch &watch) {
  for (const Warp *warp : warps)
    if (!watch.polls(*warp).empty())
      return warp;
  return nullptr;
}

bool Machine::polls() const { return findPoller(warps, watch); }

SimulationError &Machine::reportEndlessPoll(size_t pending) {
  const Warp *poller = findPoller(warps, watch);
  const Inst *inst = watch.polls(*poller).front().inst;
  std::string message =
      "deadlock: '" + mnemonic(inst) +
      "' polls for ever what nobody will store: every warp waits, or repeats a "
      "loop that stores nothing; the notes list them";
  if (pending)
    message += "; " + std::to_string(pending) +
               " clusters have not started, because those that run " +
               (options.residentClusters
                    ? "are as many as " + options.names.residentClusters +
                          " says; raise it"
                    : "fill the multiprocessors; raise " +
                          options.names.multiprocessors) +
               " if a GPU runs them all at the same time";
  return error(ErrorKind::Deadlock, std::move(message), poller, inst, -1, true);
}
