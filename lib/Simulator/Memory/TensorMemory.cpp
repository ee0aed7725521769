// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks on accesses to tensor memory.

#include "Memory/TensorMemory.h"

#include "Memory/ClusterContext.h"
#include "Numerics/Vectorised.h"

#include <algorithm>
#include <optional>

using namespace fp8::sim;

TensorMemory::TensorMemory(ClusterContext &context, uint32_t rank)
    : context(context), rank(rank) {}

void TensorMemory::own(const TensorRegion &region, int change) {
  for (uint32_t unit = 0; unit < kTensorUnits; ++unit)
    if (region.units >> unit & 1)
      for (uint16_t *at = &busy[unit * kTensorColumns + region.column],
                    *end = at + region.count;
           at != end; ++at)
        *at = uint16_t(*at + change);
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

std::string TensorMemory::cellName(uint32_t unit, uint32_t column) {
  return "tensor memory lanes " + std::to_string(unit * 16) + " to " +
         std::to_string(unit * 16 + 15) + ", column " + std::to_string(column);
}

std::string TensorMemory::describeUnwritten(const Inst &inst, uint32_t unit,
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
  if (region.adds || undefined.empty())
    return;
  for (uint32_t lane = 0; lane < kTensorLanes; ++lane)
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

/// Whether a tcgen05.ld or st was issued before what `warp` does now.
static bool knowsIssue(const ClusterContext &context, const WarpOrder &warp,
                       AccessTag transfer) {
  std::optional<uint32_t> issued = context.whenIssued(transfer.agent());
  return issued && warp.knows(*issued, transfer.time());
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
      // tcgen05.ld and st of the same lanes: checkOrder() judges their order.
      if (pipe < 0 && !op->tag.none() && knowsIssue(context, warp, op->tag))
        continue;
      const char *cure =
          op->engine == Engine::Mma
              ? "wait for the mbarrier of a tcgen05.commit of its thread first"
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

/// Whether the two, issued by one thread, complete in the order of issue (PTX
/// ISA 9.7.16.6.2). `alike`: of two MMAs, that they have the same accumulator,
/// shape and kind.
static bool arePipelined(TensorOp earlier, TensorOp later, bool alike) {
  if (later == TensorOp::Mma)
    return earlier != TensorOp::Mma || alike;
  if (later == TensorOp::Shift)
    return earlier == TensorOp::Mma;
  return later == TensorOp::CopyOfRows && earlier == TensorOp::Shift;
}

/// What an access by `warp` to what `earlier` accessed breaks; nothing where it
/// is ordered after it. Same-thread pairs need the wait but no fence; others
/// need tcgen05.fence on both sides (PTX ISA 9.7.16.6). `issue`: of the access,
/// if the tensor core makes it.
static std::optional<Rule> brokenRule(const ClusterContext &context,
                                      const WarpOrder &warp, const Inst &inst,
                                      AccessTag earlier,
                                      const TensorIssue *issue) {
  uint32_t agent = earlier.agent();
  bool own = context.warpOf(agent) == warp.globalIndex;
  bool ofMma = context.roleOf(agent) == Role::Mma;
  bool inPipe = own && ofMma && issue;
  if (inPipe) { // if one lane has issued both
    // Of one that is forgotten, the lane is taken to be the same.
    const TensorIssue *before = warp.tensorIssues.at(earlier.time());
    own = inPipe = !before || before->lane == issue->lane;
    const Inst &other = context.program.code[earlier.instruction()];
    if (inPipe && arePipelined(other.tensorOp, inst.tensorOp,
                               before && *before == *issue))
      return std::nullopt;
  }
  if (warp.clocks().tensor.get(agent) >= earlier.time())
    return std::nullopt;
  if (warp.knows(earlier)) // the other side executed its own fence
    return own && ofMma ? std::nullopt : std::optional(Rule::TensorFenceAfter);
  if (inPipe)
    return Rule::TensorCoreOrder;
  if (warp.knows(context.whenWaited(agent), earlier.time()))
    return own ? std::nullopt : std::optional(Rule::TensorFenceBefore);
  if (!issue && knowsIssue(context, warp, earlier))
    return Rule::TransferOrder;
  return context.knowsRead(warp, earlier) ? Rule::RegisterOrder : Rule::Race;
}

/// What was left out, and what to do.
static std::string orderCure(Rule broken, Role role) {
  std::string wait =
      role == Role::TensorLoad ? "tcgen05.wait::ld" : "tcgen05.wait::st";
  switch (broken) {
  case Rule::TensorFenceAfter:
  case Rule::TensorFenceBefore:
    return ", but the two are synchronised without tcgen05.fence; execute "
           "tcgen05.fence::before_thread_sync before the barrier's arrive "
           "(tcgen05.commit implies it) and tcgen05.fence::after_thread_sync "
           "after its wait";
  case Rule::TensorCoreOrder:
    return ", and the two are not pipelined, as MMAs are that have the same "
           "accumulator, shape and kind; wait for the mbarrier of a "
           "tcgen05.commit between them";
  case Rule::RegisterOrder:
    return ", and only reads of its registers say that this is over; execute "
           "tcgen05.wait::ld before the barrier's arrive";
  case Rule::TransferOrder:
    return ", and nothing waits for that; execute " + wait +
           " behind it, before a barrier hands the columns over";
  default:
    return role == Role::Mma
               ? "; the thread that issued it must execute tcgen05.commit, and "
                 "this side must wait for its mbarrier"
               : "; the other side must execute " + wait + " before it arrives";
  }
}

/// Whether a tcgen05.ld of what the tcgen05.st `store` wrote is over: then the
/// store is, too, for the two complete in the order of issue.
bool TensorMemory::isBehindLoadOf(const WarpOrder &warp, uint32_t unit,
                                  uint32_t column, AccessTag store) const {
  AccessTag load = reads[unit * kTensorColumns + column];
  return context.roleOf(store.agent()) == Role::TensorStore && !load.none() &&
         context.roleOf(load.agent()) == Role::TensorLoad &&
         (warp.knows(context.whenWaited(load.agent()), load.time()) ||
          context.knowsRead(warp, load));
}

/// Whether an access may come after `earlier`; reports what it breaks, and is
/// false if that is an error.
bool TensorMemory::checkOrder(WarpOrder &warp, const Inst &inst,
                              AccessTag earlier, bool earlierWrites,
                              bool nowWrites, uint32_t unit, uint32_t column,
                              const TensorIssue *issue) {
  if (earlier.none())
    return true;
  std::optional<Rule> broken = brokenRule(context, warp, inst, earlier, issue);
  if (!broken)
    return true;
  if (*broken == Rule::Race && earlierWrites &&
      isBehindLoadOf(warp, unit, column, earlier))
    broken = Rule::TransferOrder;
  const Inst *other = &context.program.code[earlier.instruction()];
  uint32_t agent = earlier.agent();
  SimulationError &error = context.error(
      *broken,
      "'" + ClusterContext::mnemonic(&inst) +
          (nowWrites ? "' overwrites " : "' reads ") + cellName(unit, column) +
          (*broken == Rule::Race ? " with no synchronisation after '"
                                 : " that '") +
          ClusterContext::mnemonic(other) +
          (earlierWrites ? "' wrote" : "' read") +
          (*broken == Rule::Race ? " it" : "") +
          orderCure(*broken, context.roleOf(agent)),
      &warp, &inst);
  error.notes.push_back(context.note(other, "the other access is here, " +
                                                context.agentName(agent)));
  return error.severity != Severity::Error;
}

/// Reports a free by the other CTA of the pair that does not wait for this
/// access: one error for all that it does not wait for.
void TensorMemory::checkPeersFree(const WarpOrder &warp, const Inst &inst,
                                  const TensorRegion &region) {
  const Allocation *a = freedByPeer(region.column, region.count);
  if (!a)
    return;
  const Inst *free = &context.program.code[a->freed.instruction()];
  context
      .error(ErrorKind::Race,
             "'" + ClusterContext::mnemonic(free) + "' " +
                 context.agentName(a->freed.agent()) +
                 " frees tensor memory of CTA rank " + std::to_string(rank) +
                 ", the other of the pair, which may still use it; execute a "
                 "cluster barrier before it",
             nullptr, free)
      .notes.push_back(context.note(
          &inst, "used here, by warp " + std::to_string(warp.id) +
                     " of CTA rank " + std::to_string(warp.ctaRank)));
}

static bool anyOf(const uint16_t *from, uint32_t count) {
  uint32_t any = 0;
  for (uint32_t n = 0; n < count; ++n)
    any |= from[n];
  return any;
}
static bool allOf(const uint8_t *from, uint32_t count) {
  uint32_t all = 1;
  for (uint32_t n = 0; n < count; ++n)
    all &= from[n];
  return all;
}

/// Whether the tags are all the same; `count`: at least 1.
FP8_VECTORISED
static bool areAlike(const AccessTag *tags, uint32_t count) {
  uint64_t differ = 0;
  for (uint32_t n = 1; n < count; ++n)
    differ |= uint64_t(tags[n] != tags[0]);
  return !differ;
}

FP8_VECTORISED
static void fill(AccessTag *tags, uint32_t count, AccessTag tag) {
  for (uint32_t n = 0; n < count; ++n)
    tags[n] = tag;
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
    const size_t first = unit * kTensorColumns + region.column;
    anyFlight |= anyOf(&busy[first], region.count);
    bool unwritten = needed && !allOf(&initialised[first], region.count);
    for (uint32_t c = region.column; c < end && unwritten && !told; ++c)
      if (isUnwritten(unit, c)) {
        context.error(ErrorKind::UninitialisedMemory,
                      describeUnwritten(inst, unit, c), &warp, &inst);
        initialised[unit * kTensorColumns + c] = 1;
        told = true;
      }
  }
  if (needed && !region.adds && !told)
    told = !checkStored(warp, inst, region);
  if (!context.checksOrder)
    return true;
  checkPeersFree(warp, inst, region);
  bool orderOk = !told;
  if (anyFlight && orderOk)
    orderOk = checkBusy(warp, inst, region, pipe);
  const TensorIssue *issue =
      pipe < 0 ? nullptr : warp.tensorIssues.at(tag.time());
  for (uint32_t unit = 0; unit < kTensorUnits; ++unit) {
    if (!(region.units >> unit & 1))
      continue;
    const size_t first = unit * kTensorColumns + region.column;
    AccessTag *const written = &writes[first], *const wasRead = &reads[first];
    const uint32_t count = region.count;
    // Cells that are alike are checked together.
    const bool alike = areAlike(written, count) && areAlike(wasRead, count);
    for (uint32_t n = 0, next; n < count; n = next) {
      const AccessTag write = written[n], read = wasRead[n];
      next = alike ? count : n + 1;
      while (next < count && written[next] == write && wasRead[next] == read)
        ++next;
      const uint32_t column = region.column + n;
      if (write != goodWrite && orderOk)
        orderOk = checkOrder(warp, inst, write, true, region.write, unit,
                             column, issue);
      goodWrite = write;
      bool ownRead = read == tag; // it reads what it writes
      if (read != goodRead && region.write && orderOk && !ownRead)
        orderOk =
            checkOrder(warp, inst, read, false, true, unit, column, issue);
      goodRead = read;
      if (region.write && !ownRead) // it came before, or was reported
        fill(wasRead + n, next - n, AccessTag());
    }
    fill(region.write ? written : wasRead, count, tag);
  }
  return true;
}
