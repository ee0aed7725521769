// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Allocation of tensor memory: which columns are free, in what order of sizes
// they may be taken, and what must be over before they are given back.

#include "Memory/ClusterContext.h"
#include "Memory/TensorMemory.h"

#include <algorithm>

using namespace fp8::sim;

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
    cells.resize(kTensorLanes * kPitch);
    writes.resize(kTensorUnits * kTensorColumns);
    reads.resize(kTensorUnits * kTensorColumns);
    initialised.resize(kTensorUnits * kTensorColumns);
    busy.resize(kTensorUnits * kTensorColumns);
  }
  live.push_back({column, count, &inst, {}, {}});
  for (uint32_t unit = 0; unit < kTensorUnits; ++unit)
    std::fill_n(initialised.begin() + unit * kTensorColumns + column, count,
                uint8_t(0));
}

TensorMemory::Allocation *TensorMemory::allocationAt(uint32_t column,
                                                     uint32_t count) {
  auto it = std::find_if(live.begin(), live.end(), [&](const Allocation &a) {
    return a.column == column && a.count == count;
  });
  return it == live.end() ? nullptr : &*it;
}

void TensorMemory::release(uint32_t column, uint32_t count) {
  live.erase(live.begin() + (allocationAt(column, count) - live.data()));
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

const TensorMemory::Allocation *
TensorMemory::freedByPeer(uint32_t column, uint32_t count) const {
  auto it = std::find_if(live.begin(), live.end(), [&](const Allocation &a) {
    return !a.freed.none() && a.column < column + count &&
           column < a.column + a.count;
  });
  return it == live.end() ? nullptr : &*it;
}

void TensorMemory::checkSize(WarpOrder &warp, const Inst &inst,
                             uint32_t count) {
  auto report = [&](uint32_t other, AccessTag tag, const std::string &how) {
    context
        .error(ErrorKind::TensorMemoryAllocation,
               "'" + ClusterContext::mnemonic(&inst) + "' asks for " +
                   std::to_string(count) + " columns" + how +
                   " an allocation of " + std::to_string(other) +
                   " by the same CTA; sizes must not increase (PTX ISA "
                   "9.7.16.7): make the largest allocation first, or one for "
                   "all",
               &warp, &inst)
        .notes.push_back(context.note(&context.program.code[tag.instruction()],
                                      "the other allocation is here, " +
                                          context.agentName(tag.agent())));
  };
  for (const auto &[agent, other] : sizes)
    if (other.least < count)
      report(other.least, other.smallest, " after");
    else if (other.most > count && context.checksOrder &&
             !warp.isOwnAccess(agent) &&
             !warp.isBehind(agent, other.largest.time()))
      report(other.most, other.largest,
             ", and nothing says that it comes after");
  AccessTag tag = warp.tag(inst);
  Sizes &mine = sizes.try_emplace(tag.agent(), Sizes{count, count, tag, tag})
                    .first->second;
  if (count < mine.least) {
    mine.least = count;
    mine.smallest = tag;
  }
  if (count >= mine.most) {
    mine.most = count;
    mine.largest = tag;
  }
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

/// tcgen05.dealloc is synchronous (PTX ISA 9.7.16.6.1): what used the memory
/// must be over, and fences are for what is still under way.
void TensorMemory::checkFree(WarpOrder &warp, const Inst &inst, uint32_t column,
                             uint32_t count) {
  if (!context.checksOrder || cells.empty())
    return;
  const std::string of =
      rank == warp.ctaRank ? "" : " of CTA rank " + std::to_string(rank);
  // An access to cells in use that the warp does not know of.
  auto findUser = [&]() -> AccessTag {
    for (uint32_t unit = 0; unit < kTensorUnits; ++unit)
      for (uint32_t c = column; c < column + count; ++c) {
        const uint32_t cell = unit * kTensorColumns + c;
        for (AccessTag tag : {writes[cell], reads[cell]})
          if (busy[cell] && !tag.none() && !warp.knows(tag))
            return tag;
      }
    return {};
  };
  if (anyBusy(column, count)) {
    SimulationError &error = context.error(
        of.empty() ? ErrorKind::MemoryInFlight : ErrorKind::Race,
        "'" + ClusterContext::mnemonic(&inst) + "' frees tensor memory" + of +
            " that an unfinished operation still uses; wait for that "
            "operation first",
        &warp, &inst);
    if (AccessTag user = findUser(); !user.none())
      error.notes.push_back(context.note(
          &context.program.code[user.instruction()],
          "the operation is here, " + context.agentName(user.agent())));
    return;
  }
  AccessTag told[2]; // by kind: cells that one instruction accessed are many
  for (uint32_t unit = 0; unit < kTensorUnits; ++unit)
    for (uint32_t c = column; c < column + count; ++c)
      for (bool write : {true, false}) {
        AccessTag earlier = (write ? writes : reads)[unit * kTensorColumns + c];
        uint32_t agent = earlier.agent(), waited = context.whenWaited(agent);
        if (earlier.none() || earlier == told[write] ||
            warp.clocks().all.get(waited) >= earlier.time() ||
            context.warpOf(agent) == warp.globalIndex)
          continue;
        told[write] = earlier;
        bool relaxed = warp.clocks().relaxed.get(waited) >= earlier.time();
        bool drained = write && isBehindLoadOf(warp, unit, c, earlier);
        Rule broken = relaxed                            ? Rule::RelaxedFree
                      : drained                          ? Rule::TransferOrder
                      : context.knowsRead(warp, earlier) ? Rule::RegisterOrder
                                                         : Rule::Race;
        const Inst *other = &context.program.code[earlier.instruction()];
        SimulationError &error = context.error(
            broken,
            "'" + ClusterContext::mnemonic(&inst) + "' frees " +
                cellName(unit, c) + of + " with no synchronisation after '" +
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
