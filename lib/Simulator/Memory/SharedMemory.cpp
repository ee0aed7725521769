// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks on shared memory: bounds, initialisation, ownership, happens-before,
// proxy fences.

#include "Memory/SharedMemory.h"

#include "Memory/ClusterContext.h"

#include <algorithm>
#include <cstring>

using namespace fp8::sim;

/// The first run of the operation in the CTA that has one of these bytes, and
/// that such an access may not share with it; or null.
static const SharedRun *findRun(const AsyncOp &op, uint32_t cta,
                                uint32_t offset, uint32_t count, bool write) {
  for (const SharedAccess &access : op.shared)
    if (access.cta == cta && (write || access.footprint->writes()))
      for (const SharedRun &run : access.footprint->runs())
        if (run.begin < offset + count && offset < run.begin + run.size)
          return &run;
  return nullptr;
}

SharedMemory::SharedMemory(ClusterContext &context, uint32_t rank,
                           uint32_t size)
    : context(context), rank(rank), bytes(size), shadow(size),
      blocks(size / GranuleSet::kBlock + 1), readMarks(context.warpsInCluster) {
  // What is reserved holds zeros, and everybody knows of them.
  const AccessTag before(0, 0, 1);
  shadow.eachPart(0, std::min(size, kSharedReserved), AccessShadow::kGranule,
                  [&](uint32_t, uint32_t, Accesses &part) {
                    shadow.markWritten(part, before);
                  });
}

/// Whether the kernel asks where the memory is that CUDA reserves for
/// cooperative groups.
static bool usesReserved(const Program &program) {
  return std::any_of(program.constants.begin(), program.constants.end(),
                     [](const ConstantRow &row) {
                       return row.name == "%reserved_smem_offset_1";
                     });
}

bool SharedMemory::inBounds(WarpOrder &warp, const Inst &inst, int lane,
                            uint64_t offset, uint64_t count) {
  if (count <= bytes.size() && offset <= bytes.size() - count &&
      (offset >= kSharedReserved || usesReserved(context.program)))
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

bool SharedMemory::Block::isBusy(uint64_t granules, bool write) const {
  auto any = [&](const std::vector<Owner> &owners) {
    return std::any_of(owners.begin(), owners.end(), [&](const Owner &owner) {
      return owner.granules & granules;
    });
  };
  return barriers & granules || any(writers) || (write && any(readers));
}

bool SharedMemory::anyBusy(uint32_t offset, uint32_t count, bool write) const {
  return !GranuleSet::each(offset, count, [&](const GranuleSet &set) {
    return !blocks[set.block].isBusy(set.granules, write);
  });
}

bool SharedMemory::isClear(const Footprint &footprint) const {
  return undefined.empty() && footprint.begin() >= kSharedReserved &&
         footprint.end() <= bytes.size() &&
         std::none_of(footprint.sets().begin(), footprint.sets().end(),
                      [&](const GranuleSet &set) {
                        return blocks[set.block].isBusy(set.granules,
                                                        footprint.writes());
                      });
}

bool SharedMemory::ordered(const WarpOrder &warp, AccessTag tag) const {
  if (warp.isOwnAccess(tag.agent()))
    return true;
  return tag.none() || warp.knows(tag);
}

bool SharedMemory::mayMeet(const WarpOrder &warp, const Inst &inst,
                           AccessTag tag) const {
  return ordered(warp, tag) || context.isMorallyStrong(warp, inst, tag);
}

AccessTag SharedMemory::unorderedRead(const WarpOrder &warp, const Inst &inst,
                                      const Accesses &part) const {
  if (!mayMeet(warp, inst, part.read))
    return part.read;
  for (AccessTag other : shadow.others(part))
    if (!mayMeet(warp, inst, other))
      return other;
  return {};
}

AccessTag SharedMemory::unorderedWrite(const WarpOrder &warp, const Inst &inst,
                                       const Accesses &part,
                                       bool writes) const {
  if (!mayMeet(warp, inst, part.write))
    return part.write;
  // Behind an atomic of its own a warp may write what other atomics have
  // written: the last to arrive resets a counter so.
  bool resets =
      writes && part.write.strong() && warp.isOwnAccess(part.write.agent());
  for (AccessTag other : shadow.writers(part))
    if (!mayMeet(warp, inst, other) && !(resets && other.strong()))
      return other;
  return {};
}

const AsyncOp *SharedMemory::conflicting(uint32_t offset, uint32_t count,
                                         bool write, int64_t pipe) const {
  const AsyncOp *first = nullptr;
  GranuleSet::each(offset, count, [&](const GranuleSet &set) {
    auto look = [&](const std::vector<Owner> &owners) {
      for (const auto &[op, granules] : owners)
        if (granules & set.granules && !(pipe >= 0 && op->pipe == pipe) &&
            !(first && first->serial <= op->serial) &&
            findRun(*op, rank, offset, count, write))
          first = op;
    };
    look(blocks[set.block].writers);
    if (write)
      look(blocks[set.block].readers);
    return true;
  });
  return first;
}

/// Reports a conflict with an operation in flight, or an ordinary access to an
/// mbarrier.
bool SharedMemory::checkBusy(WarpOrder &warp, const Inst &inst, int lane,
                             uint32_t offset, uint32_t count, bool write,
                             int64_t pipe) {
  for (uint32_t at = offset & ~7u; at < offset + count; at += 8) {
    if (!(blocks[at / GranuleSet::kBlock].barriers &
          GranuleSet::of(at, at).granules))
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
  const SharedRun &run = *findRun(*op, rank, offset, count, write);
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

static std::string raceCure(const WarpOrder &warp, const Inst &inst,
                            AccessTag other) {
  if (warp.isOwnAccess(other.agent()))
    return " in other lanes of the warp; execute bar.warp.sync between the two";
  if (inst.strong && other.strong())
    return " in another CTA, which the scope of one of the two leaves out; "
           "give both the scope .cluster or a wider one";
  if (warp.isBehind(other.agent(), other.time()))
    return "; what orders the two in time is relaxed, or its scope leaves one "
           "of the CTAs out: use a barrier, or .release and .acquire of a "
           "scope "
           "with both";
  return "; order the two by a barrier that both sides take part in";
}

bool SharedMemory::reportRace(Rule rule, WarpOrder &warp, const Inst &inst,
                              int lane, uint32_t offset, AccessTag other,
                              bool otherWrites, bool writes) {
  const Inst *earlier = &context.program.code[other.instruction()];
  SimulationError &error = context.error(
      rule,
      "'" + ClusterContext::mnemonic(&inst) +
          (writes ? "' writes " : "' reads ") + context.sharedName(offset) +
          " with no synchronisation after '" +
          ClusterContext::mnemonic(earlier) +
          (otherWrites ? "' wrote it" : "' read it") +
          raceCure(warp, inst, other),
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
  return count && anyBusy(uint32_t(offset), count, write) &&
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
                                            uint32_t count) {
  Obstacle met = findObstacle(warp, inst, lane, wide, count, false, -1);
  if (met == Obstacle::Bounds)
    return Found::Nothing;
  bool told = met == Obstacle::InUse; // one error an access
  bool unwritten = false;
  uint32_t offset = uint32_t(wide);
  AccessTag mine = warp.tag(inst);
  if (context.checksOrder)
    readMarks.note(warp);
  AccessTag good;
  shadow.eachPart(offset, count, AccessShadow::kGranule,
                  [&](uint32_t at, uint32_t, Accesses &part) {
                    unwritten |= part.write.none();
                    if (context.checksOrder && !told &&
                        (part.write != good || part.writers))
                      if (AccessTag tag =
                              unorderedWrite(warp, inst, part, false);
                          !tag.none())
                        told = reportRace(raceOfRead(warp, tag), warp, inst,
                                          lane, at, tag, true, false);
                    good = part.write;
                    shadow.markRead(part, mine);
                  });
  if (!told && (unwritten || undefined.find(offset, count)))
    return Found::Undefined;
  return Found::Defined;
}

bool SharedMemory::checkWrite(WarpOrder &warp, const Inst &inst, int lane,
                              uint64_t wide, uint32_t count,
                              const uint8_t *value) {
  Obstacle met = findObstacle(warp, inst, lane, wide, count, true, -1);
  if (met == Obstacle::Bounds)
    return false;
  uint32_t offset = uint32_t(wide);
  AccessTag mine = warp.tag(inst);
  undefined.clear(offset, count);
  bool check = context.checksOrder && met == Obstacle::None;
  // Two warps that store the same value do no harm.
  auto firstChanged = [&](uint32_t at, uint32_t end) {
    while (value && at < end && bytes[at] == value[at - offset])
      ++at;
    return at;
  };
  shadow.eachPart(offset, count, AccessShadow::kGranule,
                  [&](uint32_t at, uint32_t size, Accesses &part) {
                    AccessTag write;
                    if (check)
                      write = unorderedWrite(warp, inst, part, true);
                    AccessTag other = write;
                    if (check && write.none())
                      other = unorderedRead(warp, inst, part);
                    uint32_t end = at + size;
                    if (!other.none())
                      if (uint32_t byte = firstChanged(at, end); byte < end)
                        check = !reportRace(Rule::Race, warp, inst, lane, byte,
                                            other, !write.none(), true);
                    shadow.markWritten(part, mine);
                  });
  return true;
}

bool SharedMemory::accessOrdered(WarpOrder &warp, const Inst &inst,
                                 uint32_t offset, uint32_t count, bool write) {
  if (offset < kSharedReserved || count > bytes.size() ||
      offset > bytes.size() - count || anyBusy(offset, count, write) ||
      !undefined.empty())
    return false;
  bool good = true;
  AccessTag before; // the latest write that comes before
  shadow.eachPart(offset, count, AccessShadow::kGranule,
                  [&](uint32_t, uint32_t, const Accesses &part) {
                    if (part.write != before) {
                      good &= !context.checksOrder ||
                              (ordered(warp, part.write) && !part.writers);
                      before = part.write;
                    }
                    good &= write ? !context.checksOrder ||
                                        unorderedRead(warp, inst, part).none()
                                  : !part.write.none();
                  });
  if (!good)
    return false;
  const AccessTag mine = warp.tag(inst);
  if (!write && context.checksOrder)
    readMarks.note(warp);
  shadow.eachPart(offset, count, AccessShadow::kGranule,
                  [&](uint32_t, uint32_t, Accesses &part) {
                    if (write)
                      shadow.markWritten(part, mine);
                    else
                      shadow.markRead(part, mine);
                  });
  return true;
}

AccessTag SharedMemory::lastWrite(uint32_t offset) {
  AccessTag tag;
  shadow.eachPart(
      offset, 1, AccessShadow::kGranule,
      [&](uint32_t, uint32_t, const Accesses &part) { tag = part.write; });
  return tag;
}

void SharedMemory::markBarrier(uint32_t offset, const Inst *init) {
  if (init)
    barriers[offset] = init;
  else
    barriers.erase(offset);
  uint32_t granule = offset / GranuleSet::kGranule * GranuleSet::kGranule;
  bool any = barriers.count(granule) || barriers.count(granule + 8);
  uint64_t &marked = blocks[offset / GranuleSet::kBlock].barriers;
  uint64_t mark = GranuleSet::of(granule, granule).granules;
  marked = any ? marked | mark : marked & ~mark;
}
