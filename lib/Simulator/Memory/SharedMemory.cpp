// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks on shared memory: bounds, initialisation, ownership, happens-before,
// proxy fences.

#include "Memory/SharedMemory.h"

#include "Memory/ClusterContext.h"

#include <algorithm>
#include <cstring>

using namespace fp8::sim;

namespace {
constexpr uint16_t kBarrierFlag = 0x8000;
constexpr uint32_t kOwnerBlock = 1024;

bool overlaps(const SharedRun &run, uint32_t cta, uint32_t offset,
              uint32_t count) {
  return run.cta == cta && run.begin < offset + count &&
         offset < run.begin + run.size;
}
} // namespace

SharedMemory::SharedMemory(ClusterContext &context, uint32_t rank,
                           uint32_t size)
    : context(context), rank(rank), bytes(size), shadow(size),
      busy(size / 16 + 1), readers(size / kOwnerBlock + 1), writers(readers),
      readMarks(context.warpsInCluster) {}

bool SharedMemory::inBounds(WarpOrder &warp, const Inst &inst, int lane,
                            uint64_t offset, uint64_t count) {
  if (offset >= kSharedReserved && count <= bytes.size() &&
      offset <= bytes.size() - count)
    return true;
  context.error(ErrorKind::OutOfBounds,
                "'" + ClusterContext::mnemonic(&inst) + "' accesses " +
                    std::to_string(count) +
                    " bytes of shared memory at offset " +
                    std::to_string(offset) + ", outside the CTA's " +
                    std::to_string(bytes.size() - kSharedReserved) +
                    " bytes that start at " + std::to_string(kSharedReserved),
                &warp, &inst, lane, true);
  return false;
}

bool SharedMemory::anyBusy(uint32_t offset, uint32_t count) const {
  for (uint32_t g = offset / 16, last = (offset + count - 1) / 16; g <= last;
       ++g)
    if (busy[g])
      return true;
  return false;
}

bool SharedMemory::ordered(const WarpOrder &warp, AccessTag tag) const {
  if (warp.isOwnAccess(tag.agent()))
    return true;
  return tag.none() || warp.knows(tag);
}

AccessTag SharedMemory::unorderedRead(const WarpOrder &warp,
                                      const Accesses &part) const {
  if (!ordered(warp, part.read))
    return part.read;
  for (AccessTag other : shadow.others(part))
    if (!ordered(warp, other))
      return other;
  return {};
}

const AsyncOp *SharedMemory::conflicting(uint32_t offset, uint32_t count,
                                         bool write, int64_t pipe) const {
  const AsyncOp *first = nullptr;
  auto look = [&](const std::vector<const AsyncOp *> &ops) {
    for (const AsyncOp *op : ops) {
      if ((pipe >= 0 && op->pipe == pipe) ||
          (first && first->serial <= op->serial))
        continue;
      for (const SharedRun &run : op->shared)
        if (overlaps(run, rank, offset, count) && (run.write || write))
          first = op;
    }
  };
  for (uint32_t block = offset / kOwnerBlock,
                last = (offset + count - 1) / kOwnerBlock;
       block <= last; ++block) {
    look(writers[block]);
    if (write)
      look(readers[block]);
  }
  return first;
}

/// Reports a conflict with an operation in flight, or an ordinary access to an
/// mbarrier.
bool SharedMemory::checkBusy(WarpOrder &warp, const Inst &inst, int lane,
                             uint32_t offset, uint32_t count, bool write,
                             int64_t pipe) {
  for (uint32_t at = offset & ~7u; at < offset + count; at += 8) {
    if (!(busy[at / 16] & kBarrierFlag))
      continue;
    auto barrier = barriers.find(at);
    if (barrier == barriers.end())
      continue;
    SimulationError &error =
        context.error(ErrorKind::BarrierMisuse,
                      "'" + ClusterContext::mnemonic(&inst) + "' accesses " +
                          context.sharedName(at) +
                          ", which holds a live mbarrier; only mbarrier "
                          "operations may access it before mbarrier.inval",
                      &warp, &inst, lane);
    error.notes.push_back(
        context.note(barrier->second, "the mbarrier was initialised here"));
    return false;
  }
  if (!context.checksOrder)
    return true;
  const AsyncOp *op = conflicting(offset, count, write, pipe);
  if (!op)
    return true;
  const SharedRun &run =
      *std::find_if(op->shared.begin(), op->shared.end(), [&](const auto &r) {
        return overlaps(r, rank, offset, count) && (r.write || write);
      });
  std::string range =
      std::to_string(run.size) + " bytes at " + context.sharedName(run.begin);
  SimulationError &error = context.error(
      ErrorKind::MemoryInFlight,
      "'" + ClusterContext::mnemonic(&inst) +
          (write ? "' overwrites " : "' reads ") + range +
          ", which an unfinished '" + ClusterContext::mnemonic(op->inst) +
          (run.write ? "' still writes" : "' still reads") +
          "; wait for its completion first (" +
          (op->engine == Engine::BulkStore
               ? "cp.async.bulk.wait_group and a barrier"
           : op->engine == Engine::Mma ? "tcgen05.commit and its mbarrier"
           : op->engine == Engine::Wgmma
               ? "wgmma.commit_group, wgmma.wait_group and a barrier"
           : op->engine == Engine::CopyAsync
               ? "cp.async.wait_group and a barrier"
               : "the mbarrier it completes on") +
          ")",
      &warp, &inst, lane);
  error.notes.push_back(context.note(
      op->inst, "the unfinished operation was issued here, by warp " +
                    std::to_string(op->issuer->id) + " of CTA rank " +
                    std::to_string(op->issuer->ctaRank)));
  return false;
}

/// Returns whether it is an error.
static bool reportRace(ClusterContext &context, Rule rule, WarpOrder &warp,
                       const Inst &inst, int lane, uint32_t offset,
                       AccessTag other, bool otherWrites, bool writes) {
  const Inst *earlier = &context.program.code[other.instruction()];
  SimulationError &error = context.error(
      rule,
      "'" + ClusterContext::mnemonic(&inst) +
          (writes ? "' writes " : "' reads ") + context.sharedName(offset) +
          " with no synchronisation after '" +
          ClusterContext::mnemonic(earlier) +
          (otherWrites ? "' wrote it" : "' read it") +
          (warp.isOwnAccess(other.agent())
               ? " in other lanes of the warp; execute bar.warp.sync between "
                 "the two"
               : "; order the two by a barrier that both sides take part in"),
      &warp, &inst, lane);
  error.notes.push_back(
      context.note(earlier, std::string("the other access is here, ") +
                                context.agentName(other.agent())));
  return error.severity == Severity::Error;
}

SharedMemory::Obstacle SharedMemory::findObstacle(WarpOrder &warp,
                                                  const Inst &inst, int lane,
                                                  uint64_t offset,
                                                  uint32_t count, bool write,
                                                  int64_t pipe) {
  if (!inBounds(warp, inst, lane, offset, count))
    return Obstacle::Bounds;
  return count && anyBusy(uint32_t(offset), count) &&
                 !checkBusy(warp, inst, lane, uint32_t(offset), count, write,
                            pipe)
             ? Obstacle::InUse
             : Obstacle::None;
}

/// What a read breaks that no synchronisation orders after the write of a byte.
Rule SharedMemory::raceOfRead(const WarpOrder &warp, AccessTag written) const {
  return context.isAllocation(written) &&
                 warp.clocks().relaxed.get(written.agent()) >= written.time()
             ? Rule::RelaxedAllocation
             : Rule::Race;
}

SharedMemory::Found SharedMemory::checkRead(WarpOrder &warp, const Inst &inst,
                                            int lane, uint64_t wide,
                                            uint32_t count, Strength strength) {
  Obstacle met = findObstacle(warp, inst, lane, wide, count, false, -1);
  if (met == Obstacle::Bounds)
    return Found::Nothing;
  bool told = met == Obstacle::InUse; // one error an access
  bool unwritten = false;
  bool check = context.checksOrder && strength == Strength::Weak;
  uint32_t offset = uint32_t(wide);
  AccessTag mine = warp.tag(inst);
  if (context.checksOrder)
    readMarks.note(warp);
  AccessTag good;
  shadow.eachPart(offset, count, AccessShadow::kGranule,
                  [&](uint32_t at, uint32_t, Accesses &part) {
                    AccessTag tag = part.write;
                    unwritten |= tag.none();
                    if (tag != good && check && !told && !ordered(warp, tag))
                      told = reportRace(context, raceOfRead(warp, tag), warp,
                                        inst, lane, at, tag, true, false);
                    good = tag;
                    shadow.markRead(part, mine);
                  });
  if (!told && (unwritten || undefined.find(offset, count)))
    return Found::Undefined;
  return Found::Defined;
}

bool SharedMemory::checkWrite(WarpOrder &warp, const Inst &inst, int lane,
                              uint64_t wide, uint32_t count, Strength strength,
                              const uint8_t *value) {
  Obstacle met = findObstacle(warp, inst, lane, wide, count, true, -1);
  if (met == Obstacle::Bounds)
    return false;
  uint32_t offset = uint32_t(wide);
  AccessTag mine = warp.tag(inst);
  undefined.clear(offset, count);
  bool check = context.checksOrder && strength == Strength::Weak &&
               met == Obstacle::None;
  // Two warps that store the same value do no harm.
  auto firstChanged = [&](uint32_t at, uint32_t end) {
    while (value && at < end && bytes[at] == value[at - offset])
      ++at;
    return at;
  };
  shadow.eachPart(offset, count, AccessShadow::kGranule,
                  [&](uint32_t at, uint32_t size, Accesses &part) {
                    bool after = !check || ordered(warp, part.write);
                    AccessTag other = !after  ? part.write
                                      : check ? unorderedRead(warp, part)
                                              : AccessTag();
                    uint32_t end = at + size;
                    if (!other.none())
                      if (uint32_t byte = firstChanged(at, end); byte < end)
                        check = !reportRace(context, Rule::Race, warp, inst,
                                            lane, byte, other, !after, true);
                    shadow.markWritten(part, mine);
                  });
  return true;
}

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
  return error.severity != Severity::Error;
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
                              const SharedRun &run, AccessTag tag, int64_t pipe,
                              Proxy proxy) {
  Obstacle met =
      findObstacle(warp, inst, lane, run.begin, run.size, run.write, pipe);
  if (met == Obstacle::Bounds)
    return false;
  bool told = met == Obstacle::InUse; // one error an access
  if (run.write && !run.combines) {
    undefined.clear(run.begin, run.size);
  } else if (auto *place = findInUse(undefined, run); place && !told) {
    reportUndefined(warp, inst, lane, place->first);
    told = true;
  }
  AccessTag good, goodRead;
  shadow.eachPart(
      run.begin, run.size, run.used,
      [&](uint32_t at, uint32_t, Accesses &part) {
        if ((!run.write || run.combines) && part.write.none() && !told) {
          reportUndefined(warp, inst, lane, at);
          told = true;
        }
        // Those that combine, in the same phase, are atomic.
        const bool joins =
            run.combines && part.write.agent() == tag.agent() &&
            part.write.time() == tag.time() &&
            context.program.code[part.write.instruction()].fn == inst.fn;
        if (part.write != good && context.checksOrder && !told && !joins)
          told =
              !checkWriteBefore(warp, inst, lane, at, part, run.write, proxy);
        good = part.write;
        if (run.write && (part.read != goodRead || part.others) &&
            context.checksOrder && !told)
          told = !checkReadsBefore(warp, inst, lane, at, part, proxy);
        goodRead = part.read;
        if (run.write)
          shadow.markWritten(part, tag);
        else
          shadow.markRead(part, tag);
      });
  return true;
}

/// Before an asynchronous operation accesses a part: whether it comes after the
/// write of the part, and a proxy fence after that. Reports it if not, and is
/// false if that is an error.
bool SharedMemory::checkWriteBefore(WarpOrder &warp, const Inst &inst, int lane,
                                    uint32_t offset, const Accesses &part,
                                    bool isWrite, Proxy proxy) {
  AccessTag written = part.write;
  if (!ordered(warp, written) || !warp.knowsOwn(written))
    return !reportRace(context, Rule::Race, warp, inst, lane, offset, written,
                       true, isWrite);
  return proxy != Proxy::Async ||
         fenced(warp, inst, lane, offset, written, true, isWrite);
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
          right &&
          !reportRace(context, lanes ? Rule::LanesBehindArrival : Rule::Race,
                      warp, inst, lane, offset, read, false, true);
    } else if (proxy == Proxy::Async) {
      right &= fenced(warp, inst, lane, offset, read, false, true);
    }
    if (!right)
      return false;
  }
  return true;
}

void SharedMemory::own(const SharedRun &run, const AsyncOp &op) {
  if (!run.size)
    return;
  uint32_t last = run.begin + run.size - 1;
  for (uint32_t granule = run.begin / 16; granule <= last / 16; ++granule)
    ++busy[granule];
  for (uint32_t block = run.begin / kOwnerBlock; block <= last / kOwnerBlock;
       ++block)
    (run.write ? writers : readers)[block].push_back(&op);
}

void SharedMemory::disown(const SharedRun &run, const AsyncOp &op) {
  if (!run.size)
    return;
  uint32_t last = run.begin + run.size - 1;
  for (uint32_t granule = run.begin / 16; granule <= last / 16; ++granule)
    --busy[granule];
  for (uint32_t block = run.begin / kOwnerBlock; block <= last / kOwnerBlock;
       ++block) {
    std::vector<const AsyncOp *> &ops = (run.write ? writers : readers)[block];
    *std::find(ops.begin(), ops.end(), &op) = ops.back();
    ops.pop_back();
  }
}

void SharedMemory::markBarrier(uint32_t offset, const Inst *init) {
  if (init)
    barriers[offset] = init;
  else
    barriers.erase(offset);
  uint32_t granule = offset / 16;
  bool any = barriers.count(granule * 16) || barriers.count(granule * 16 + 8);
  busy[granule] = uint16_t(any ? busy[granule] | kBarrierFlag
                               : busy[granule] & ~kBarrierFlag);
}
