// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asynchronous operations in shared memory: what they come after, and what they
// own.

#include "Memory/SharedMemory.h"

#include "Memory/ClusterContext.h"

#include <algorithm>

using namespace fp8::sim;

/// Whether fence.proxy.async stands between a generic access and one of the
/// async proxy; reports it if not, and is false if that is an error.
bool SharedMemory::fenced(WarpOrder &warp, const Inst &inst, int lane,
                          uint32_t offset, AccessTag earlier,
                          bool earlierWrites, bool isWrite) {
  uint32_t genericAgents =
      (uint32_t(Role::CopyAsync) + 1) * context.warpsInCluster;
  if (earlier.none() || earlier.agent() >= genericAgents ||
      warp.clocks().proxy.get(earlier.agent()) >= earlier.time())
    return true;
  const Inst *other = &context.program.code[earlier.instruction()];
  SimulationError &error = context.error(
      context.isAllocation(shadow.at(offset).write) ? Rule::AllocatedAddress
      : !earlierWrites &&
              readMarks.hasWaitedSince(warp, context.warpOf(earlier.agent()),
                                       earlier.time())
          ? Rule::ReadBeforeWait
          : Rule::MissingProxyFence,
      "'" + ClusterContext::mnemonic(&inst) +
          (isWrite ? "' overwrites " : "' reads ") +
          context.sharedName(offset) + " through the async proxy, but '" +
          ClusterContext::mnemonic(other) +
          (earlierWrites ? "' wrote" : "' read") +
          " it through the generic proxy with no fence.proxy.async between the "
          "two; execute fence.proxy.async after the " +
          (earlierWrites ? "write" : "read") +
          ", before the barrier that hands the data over",
      &warp, &inst, lane);
  error.notes.push_back(
      context.note(other, std::string(earlierWrites ? "written" : "read") +
                              " here, " + context.agentName(earlier.agent())));
  if (error.severity != Severity::Error)
    return true;
  warp.assumeFenced(earlier.agent());
  return false;
}

/// The first undefined byte that the run accesses, or null.
static const std::pair<const uint32_t, OriginId> *
findInUse(const UndefinedPlaces &places, const SharedRun &run) {
  if (run.used == 16 || places.empty())
    return places.find(run.begin, run.size);
  for (uint32_t at = run.begin; at < run.begin + run.size; at += 16)
    if (auto *place = places.find(at, run.used))
      return place;
  return nullptr;
}

bool SharedMemory::checkAsync(WarpOrder &warp, const Inst &inst, int lane,
                              const Footprint &footprint, AccessTag tag,
                              int64_t pipe, Proxy proxy, bool *undefined) {
  if (!isClear(footprint)) {
    for (const SharedRun &run : footprint.runs())
      if (!checkAsync(warp, inst, lane, run, tag, pipe, proxy, undefined) ||
          context.stopped)
        return false;
    return true;
  }
  InOrder good;
  for (const SharedRun &run : footprint.runs()) {
    if (!run.write && run.used == AccessShadow::kGranule &&
        !good.write.none() &&
        shadow.markReadOf(good.write, run.begin, run.size, tag))
      continue;
    checkParts(warp, inst, lane, run, tag, proxy, Obstacle::None, good,
               undefined);
    if (context.stopped)
      return false;
  }
  return true;
}

void SharedMemory::checkParts(WarpOrder &warp, const Inst &inst, int lane,
                              const SharedRun &run, AccessTag tag, Proxy proxy,
                              Obstacle met, InOrder &good, bool *finds) {
  bool told = met == Obstacle::InUse; // one error an access
  auto meetUndefined = [&](uint32_t at) {
    if (finds) {
      *finds = true;
      return;
    }
    reportUndefined(warp, inst, lane, at);
    told = true;
  };
  if (run.write && !run.combines) {
    undefined.clear(run.begin, run.size);
  } else if (auto *place = findInUse(undefined, run); place && !told) {
    meetUndefined(place->first);
  }
  auto readsAreGood = [&](const Accesses &part) {
    const std::vector<AccessTag> &others = shadow.others(part);
    return part.read == good.read &&
           (others.empty() ||
            (others.size() == 1 && others[0] == good.otherRead));
  };
  shadow.eachPart(
      run.begin, run.size, run.used,
      [&](uint32_t at, uint32_t, Accesses &part) {
        if ((!run.write || run.combines) && part.write.none() && !told)
          meetUndefined(at);
        // Those that combine, in the same phase, are atomic.
        const bool joins =
            run.combines && part.write.agent() == tag.agent() &&
            part.write.time() == tag.time() &&
            context.program.code[part.write.instruction()].fn == inst.fn;
        if ((part.write != good.write || part.writers) && context.checksOrder &&
            !told && !joins)
          told =
              !checkWriteBefore(warp, inst, lane, at, part, run.write, proxy);
        good.write = part.write;
        if (run.write && !readsAreGood(part) && context.checksOrder && !told)
          told = !checkReadsBefore(warp, inst, lane, at, part, proxy);
        if (run.write) {
          good.read = part.read;
          good.otherRead =
              part.others ? shadow.others(part).back() : AccessTag();
          shadow.markWritten(part, tag);
        } else {
          shadow.markRead(part, tag);
        }
      });
  if (told) // later runs are judged by themselves
    good = {};
}

/// Before an asynchronous operation accesses a part: whether it comes after the
/// writes of the part, and a proxy fence after them. Reports it if not, and is
/// false if that is an error.
bool SharedMemory::checkWriteBefore(WarpOrder &warp, const Inst &inst, int lane,
                                    uint32_t offset, const Accesses &part,
                                    bool isWrite, Proxy proxy) {
  const std::vector<AccessTag> &writers = shadow.writers(part);
  for (size_t n = 0; n <= writers.size(); ++n) {
    AccessTag written = n ? writers[n - 1] : part.write;
    if (!ordered(warp, written) || !warp.knowsOwn(written))
      return !reportRace(Rule::Race, warp, inst, lane, offset, written, true,
                         isWrite);
    if (proxy == Proxy::Async &&
        !fenced(warp, inst, lane, offset, written, true, isWrite))
      return false;
  }
  return true;
}

/// The same, before it writes a part, of all reads of the part.
bool SharedMemory::checkReadsBefore(WarpOrder &warp, const Inst &inst, int lane,
                                    uint32_t offset, const Accesses &part,
                                    Proxy proxy) {
  const std::vector<AccessTag> &others = shadow.others(part);
  bool right = true;
  for (size_t n = 0; n <= others.size(); ++n) {
    AccessTag read = n ? others[n - 1] : part.read;
    if (!ordered(warp, read) || !warp.knowsOwn(read)) {
      // The reader's warp has signalled, but not the lane that read. A copy
      // overtakes such a load that no fence and no wait has held up.
      bool lanes = !warp.isOwnAccess(read.agent()) && warp.reached(read);
      if (lanes && proxy == Proxy::Async)
        right &= fenced(warp, inst, lane, offset, read, false, true);
      right =
          right && !reportRace(lanes ? Rule::LanesBehindArrival : Rule::Race,
                               warp, inst, lane, offset, read, false, true);
    } else if (proxy == Proxy::Async) {
      right &= fenced(warp, inst, lane, offset, read, false, true);
    }
    if (!right)
      return false;
  }
  return true;
}

void SharedMemory::own(const Footprint &footprint, const AsyncOp &op) {
  for (const GranuleSet &set : footprint.sets()) {
    Block &block = blocks[set.block];
    (footprint.writes() ? block.writers : block.readers)
        .push_back({&op, set.granules});
  }
}

void SharedMemory::disown(const Footprint &footprint, const AsyncOp &op) {
  for (const GranuleSet &set : footprint.sets()) {
    Block &block = blocks[set.block];
    std::vector<Owner> &owners =
        footprint.writes() ? block.writers : block.readers;
    *std::find_if(owners.begin(), owners.end(), [&](const Owner &owner) {
      return owner.op == &op && owner.granules == set.granules;
    }) = owners.back();
    owners.pop_back();
  }
}
