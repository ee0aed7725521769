// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Allocation of, and checks on, tensor memory.

#include "Memory/TensorMemory.h"

#include "Memory/ClusterContext.h"

#include <algorithm>

using namespace fp8::sim;

TensorMemory::TensorMemory(ClusterContext &context, uint32_t rank)
    : context(context), rank(rank) {}

static bool isFree(const std::vector<TensorMemory::Allocation> &live,
                   uint32_t column, uint32_t count) {
  return std::none_of(
      live.begin(), live.end(), [&](const TensorMemory::Allocation &a) {
        return a.column < column + count && column < a.column + a.count;
      });
}

int TensorMemory::firstFree(uint32_t count, const TensorMemory *other) const {
  for (uint32_t column = 0; column + count <= kTensorColumns; column += count)
    if (isFree(live, column, count) &&
        (!other || isFree(other->live, column, count)))
      return int(column);
  return -1;
}

void TensorMemory::take(uint32_t column, uint32_t count, const Inst &inst) {
  if (cells.empty()) {
    cells.resize(kTensorLanes * kTensorColumns);
    writes.resize(kTensorUnits * kTensorColumns);
    reads.resize(kTensorUnits * kTensorColumns);
    initialised.resize(kTensorUnits * kTensorColumns);
    busy.resize(kTensorUnits * kTensorColumns);
  }
  live.push_back({column, count, &inst});
  for (uint32_t unit = 0; unit < kTensorUnits; ++unit)
    std::fill_n(initialised.begin() + unit * kTensorColumns + column, count,
                uint8_t(0));
}

bool TensorMemory::isAllocation(uint32_t column, uint32_t count) const {
  return std::any_of(live.begin(), live.end(), [&](const Allocation &a) {
    return a.column == column && a.count == count;
  });
}

bool TensorMemory::release(uint32_t column, uint32_t count) {
  for (auto it = live.begin(); it != live.end(); ++it) {
    if (it->column != column || it->count != count)
      continue;
    live.erase(it);
    return true;
  }
  return false;
}

bool TensorMemory::inAllocation(uint32_t column, uint32_t count) const {
  // Neighbouring allocations of one CTA may be used as one.
  for (uint32_t c = column; c < column + count;) {
    auto it = std::find_if(live.begin(), live.end(), [&](const Allocation &a) {
      return a.column <= c && c < a.column + a.count;
    });
    if (it == live.end())
      return false;
    c = it->column + it->count;
  }
  return true;
}

bool TensorMemory::anyBusy(uint32_t column, uint32_t count) const {
  if (busy.empty())
    return false;
  for (uint32_t unit = 0; unit < kTensorUnits; ++unit)
    for (uint32_t c = column; c < column + count; ++c)
      if (busy[unit * kTensorColumns + c])
        return true;
  return false;
}

void TensorMemory::own(const TensorRegion &region, int change) {
  for (uint32_t unit = 0; unit < kTensorUnits; ++unit)
    if (region.units >> unit & 1)
      for (uint32_t c = region.column;
           c < uint32_t(region.column) + region.count; ++c)
        busy[unit * kTensorColumns + c] =
            uint16_t(busy[unit * kTensorColumns + c] + change);
}

/// The first undefined place among the region's cells of these lanes, or null.
static const std::pair<const uint32_t, OriginId> *
findStored(const UndefinedPlaces &places, const TensorRegion &region) {
  for (uint32_t lane = 0; !places.empty() && lane < kTensorLanes; ++lane)
    if (region.units >> lane / 16 & 1)
      if (auto *place =
              places.find(lane * kTensorColumns + region.column, region.count))
        return place;
  return nullptr;
}

bool TensorMemory::isDefined(const TensorRegion &region) const {
  for (uint32_t unit = 0; unit < kTensorUnits; ++unit)
    if (region.units >> unit & 1)
      for (uint32_t c = region.column;
           c < uint32_t(region.column) + region.count; ++c)
        if (isUnwritten(unit, c))
          return false;
  return !findStored(undefined, region);
}

static std::string cellName(uint32_t unit, uint32_t column) {
  return "tensor memory lanes " + std::to_string(unit * 16) + " to " +
         std::to_string(unit * 16 + 15) + ", column " + std::to_string(column);
}

static std::string describeUnwritten(const Inst &inst, uint32_t unit,
                                     uint32_t column) {
  return "'" + ClusterContext::mnemonic(&inst) + "' reads " +
         cellName(unit, column) +
         ", which nothing has written since its allocation";
}

OriginId TensorMemory::undefinedAt(const Inst &inst, uint32_t lane,
                                   uint32_t column) {
  if (isUnwritten(lane / 16, column))
    return context.origins.add(
        ErrorKind::UninitialisedMemory, inst, Origins::kMemory,
        [&] { return describeUnwritten(inst, lane / 16, column); });
  return undefined.at(lane * kTensorColumns + column);
}

void TensorMemory::markInitialised(const TensorRegion &region) {
  for (uint32_t unit = 0; unit < kTensorUnits; ++unit)
    if (region.units >> unit & 1)
      std::fill_n(initialised.begin() + unit * kTensorColumns + region.column,
                  region.count, uint8_t(1));
  for (uint32_t lane = 0; !undefined.empty() && lane < kTensorLanes; ++lane)
    if (region.units >> lane / 16 & 1)
      undefined.clear(lane * kTensorColumns + region.column, region.count);
}

bool TensorMemory::checkStored(WarpOrder &warp, const Inst &inst,
                               const TensorRegion &region) {
  auto *place = findStored(undefined, region);
  if (place)
    context.reportUndefined(
        place->second,
        "'" + ClusterContext::mnemonic(&inst) + "' reads tensor memory lane " +
            std::to_string(place->first / kTensorColumns) + ", column " +
            std::to_string(place->first % kTensorColumns) +
            ", to which undefined data was stored",
        &warp, &inst);
  return !place;
}

bool TensorMemory::checkBusy(WarpOrder &warp, const Inst &inst,
                             const TensorRegion &region, int64_t pipe) {
  for (const auto &op : context.queue().operations()) {
    if (pipe >= 0 && op->pipe == pipe)
      continue;
    for (const TensorRegion &other : op->tensor) {
      if (other.cta != rank)
        continue;
      uint32_t first = std::max(region.column, other.column);
      uint32_t last =
          std::min(region.column + region.count, other.column + other.count);
      if (!(region.units & other.units) || first >= last ||
          (!region.write && !other.write))
        continue;
      const char *cure =
          op->engine == Engine::Mma
              ? "wait for the mbarrier of its tcgen05.commit first"
          : other.write
              ? "execute tcgen05.wait::st and hand over by a barrier first"
              : "execute tcgen05.wait::ld and hand over by a barrier first";
      SimulationError &error = context.error(
          ErrorKind::MemoryInFlight,
          "'" + ClusterContext::mnemonic(&inst) +
              (region.write ? "' overwrites " : "' reads ") +
              "tensor memory columns " + std::to_string(first) + " to " +
              std::to_string(last - 1) + ", which an unfinished '" +
              ClusterContext::mnemonic(op->inst) +
              (other.write ? "' still writes; " : "' still reads; ") + cure,
          &warp, &inst, -1);
      error.notes.push_back(context.note(
          op->inst, "the unfinished operation was issued here, by warp " +
                        std::to_string(op->issuer->id)));
      return false;
    }
  }
  return true;
}

/// The agent that knows when a tcgen05.ld or .st of another agent was waited
/// for.
static uint32_t waitedAgent(const ClusterContext &context, uint32_t agent) {
  Role role = context.roleOf(agent);
  if (role != Role::TensorLoad && role != Role::TensorStore)
    return agent;
  Role waited = role == Role::TensorLoad ? Role::TensorLoadWaited
                                         : Role::TensorStoreWaited;
  return context.inRole(agent, waited);
}

/// Whether the two, issued by one thread, complete in the order of issue (PTX
/// ISA 9.7.16.6.2).
static bool arePipelined(TensorOp earlier, TensorOp later) {
  if (later == TensorOp::Mma)
    return true;
  if (later == TensorOp::Shift)
    return earlier == TensorOp::Mma;
  return later == TensorOp::CopyOfRows && earlier == TensorOp::Shift;
}

/// Whether `earlier` is ordered before an access by `warp`; reports it if not,
/// and is false if that is an error. Same-thread pairs
/// need the wait but no fence; others need tcgen05.fence on both sides (PTX
/// ISA 9.7.16.6).
bool TensorMemory::checkOrder(WarpOrder &warp, const Inst &inst,
                              AccessTag earlier, bool earlierWrites,
                              bool nowWrites, uint32_t unit, uint32_t column,
                              bool byMma) {
  if (earlier.none())
    return true;
  uint32_t agent = earlier.agent();
  bool own = context.warpOf(agent) == warp.globalIndex;
  Role role = context.roleOf(agent);
  const Inst *other = &context.program.code[earlier.instruction()];
  bool inPipe = own && role == Role::Mma && byMma;
  if (inPipe && arePipelined(other->tensorOp, inst.tensorOp))
    return true;
  if (warp.clocks().tensor.get(agent) >= earlier.time())
    return true;
  Rule broken = Rule::Race;
  if (warp.knows(earlier)) {
    if (own && role == Role::Mma)
      return true;
    broken = Rule::TensorFenceAfter; // the other side executed its own
  } else if (inPipe) {
    broken = Rule::TensorCoreOrder;
  } else if (warp.knows(waitedAgent(context, agent), earlier.time())) {
    if (own)
      return true;
    broken = Rule::TensorFenceBefore;
  }
  std::string verb = std::string(nowWrites ? "' overwrites " : "' reads ") +
                     cellName(unit, column);
  std::string what = "'" + ClusterContext::mnemonic(other) +
                     (earlierWrites ? "' wrote" : "' read");
  SimulationError &error =
      broken == Rule::TensorCoreOrder
          ? context.error(broken,
                          "'" + ClusterContext::mnemonic(&inst) + verb +
                              " that " + what +
                              ", and the two are not pipelined; wait for the "
                              "mbarrier of a tcgen05.commit between them",
                          &warp, &inst)
      : broken != Rule::Race
          ? context.error(
                broken,
                "'" + ClusterContext::mnemonic(&inst) + verb + " that " + what +
                    ", but the two are synchronised without tcgen05.fence; "
                    "execute tcgen05.fence::before_thread_sync before the "
                    "barrier's arrive (tcgen05.commit implies it) and "
                    "tcgen05.fence::after_thread_sync after its wait",
                &warp, &inst)
          : context.error(
                broken,
                "'" + ClusterContext::mnemonic(&inst) + verb +
                    " with no synchronisation after " + what +
                    " it; the other side must " +
                    (role == Role::Mma ? "execute tcgen05.commit, and this "
                                         "side must wait for its mbarrier"
                     : role == Role::TensorLoad
                         ? "execute tcgen05.wait::ld before it arrives"
                         : "execute tcgen05.wait::st before it arrives"),
                &warp, &inst);
  error.notes.push_back(context.note(other, "the other access is here, " +
                                                context.agentName(agent)));
  return error.severity != Severity::Error;
}

/// tcgen05.dealloc is synchronous (PTX ISA 9.7.16.6.1): what used the memory
/// must be over, and fences are for what is still under way.
void TensorMemory::checkFree(WarpOrder &warp, const Inst &inst, uint32_t column,
                             uint32_t count) {
  if (!context.checksOrder || cells.empty())
    return;
  for (uint32_t unit = 0; unit < kTensorUnits; ++unit)
    for (uint32_t c = column; c < column + count; ++c)
      for (bool write : {true, false}) {
        AccessTag earlier = (write ? writes : reads)[unit * kTensorColumns + c];
        uint32_t agent = earlier.agent(), waited = waitedAgent(context, agent);
        if (earlier.none() || warp.clocks().all.get(waited) >= earlier.time() ||
            context.warpOf(agent) == warp.globalIndex)
          continue;
        bool relaxed = warp.clocks().relaxed.get(waited) >= earlier.time();
        const Inst *other = &context.program.code[earlier.instruction()];
        SimulationError &error = context.error(
            relaxed ? Rule::RelaxedFree : Rule::Race,
            "'" + ClusterContext::mnemonic(&inst) + "' frees " +
                cellName(unit, c) + " with no synchronisation after '" +
                ClusterContext::mnemonic(other) +
                (write ? "' wrote" : "' read") +
                " it; the other side must wait for its operation and "
                "then arrive at a barrier, and this side must wait at "
                "that barrier",
            &warp, &inst);
        error.notes.push_back(context.note(
            other, "the other access is here, " + context.agentName(agent)));
        if (error.severity == Severity::Error)
          return;
      }
}

bool TensorMemory::check(WarpOrder &warp, const Inst &inst,
                         const TensorRegion &region, AccessTag tag,
                         int64_t pipe) {
  uint32_t end = uint32_t(region.column) + region.count;
  if (end > kTensorColumns || !inAllocation(region.column, region.count)) {
    context.error(ErrorKind::OutOfBounds,
                  "'" + ClusterContext::mnemonic(&inst) +
                      "' accesses tensor memory columns " +
                      std::to_string(region.column) + " to " +
                      std::to_string(end - 1) +
                      ", which lie outside the CTA's allocations",
                  &warp, &inst, -1, true);
    return false;
  }
  bool told = false; // one error an access
  const bool needed = !region.write && region.needed;
  bool anyFlight = false;
  AccessTag goodWrite, goodRead;
  for (uint32_t unit = 0; unit < kTensorUnits; ++unit) {
    if (!(region.units >> unit & 1))
      continue;
    for (uint32_t c = region.column; c < end; ++c) {
      size_t at = unit * kTensorColumns + c;
      anyFlight |= busy[at] != 0;
      if (needed && !told && isUnwritten(unit, c)) {
        context.error(ErrorKind::UninitialisedMemory,
                      describeUnwritten(inst, unit, c), &warp, &inst);
        initialised[at] = 1;
        told = true;
      }
    }
  }
  if (needed && !told)
    told = !checkStored(warp, inst, region);
  if (!context.checksOrder)
    return true;
  bool orderOk = !told;
  if (anyFlight && orderOk)
    orderOk = checkBusy(warp, inst, region, pipe);
  bool byMma = pipe >= 0;
  for (uint32_t unit = 0; unit < kTensorUnits; ++unit) {
    if (!(region.units >> unit & 1))
      continue;
    for (uint32_t c = region.column; c < end; ++c) {
      size_t at = unit * kTensorColumns + c;
      if (orderOk && writes[at] != goodWrite)
        orderOk = checkOrder(warp, inst, writes[at], true, region.write, unit,
                             c, byMma);
      goodWrite = writes[at];
      bool ownRead = reads[at] == tag; // it reads what it writes
      if (region.write && orderOk && reads[at] != goodRead && !ownRead)
        orderOk =
            checkOrder(warp, inst, reads[at], false, true, unit, c, byMma);
      goodRead = reads[at];
      (region.write ? writes : reads)[at] = tag;
    }
  }
  return true;
}
