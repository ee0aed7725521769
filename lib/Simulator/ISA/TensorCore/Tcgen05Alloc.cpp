// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tcgen05.alloc, dealloc and relinquish_alloc_permit (PTX ISA 9.7.16.7), for
// one CTA and for a pair. A pair acts together: the first warp waits until one
// of the peer CTA executes the same (PTX ISA 9.7.16.5).

#include "ISA/TensorCore/Tcgen05.h"

#include "ISA/Access/Access.h"

#include <cstring>
#include <optional>
#include <utility>

using namespace fp8::sim;

namespace {

/// Payload of the allocation instructions.
struct Allocation {
  bool pair;         ///< .cta_group::2
  AccessSpace space; ///< of the address that alloc writes to
};

bool validColumns(uint32_t count) {
  return count >= 32 && count <= kTensorColumns && !(count & (count - 1));
}

SimulationError &allocationError(Warp &w, const Inst &i, std::string message) {
  return w.machine.error(ErrorKind::TensorMemoryAllocation,
                         "'" + Machine::mnemonic(&i) + "' " +
                             std::move(message),
                         &w, &i, -1, true);
}

/// Whether both CTAs ask for the same; reports it if not.
bool sameRequest(Warp &w, const Inst &i, const PairRequest &mine,
                 const PairRequest &other) {
  std::string what;
  if (mine.kind != other.kind)
    what = "meets '" + Machine::mnemonic(other.inst) + "' of the peer CTA";
  else if (mine.columns != other.columns)
    what = "names " + std::to_string(mine.columns) +
           " columns, but the peer CTA names " + std::to_string(other.columns);
  else if (mine.address != other.address)
    what = "names address " + std::to_string(mine.address) +
           ", but the peer CTA names " + std::to_string(other.address);
  else
    return true;
  allocationError(w, i,
                  what + "; both CTAs of a pair must execute the same "
                         "allocation instructions with the same operands")
      .notes.push_back(w.machine.note(other.inst, "the peer CTA is here"));
  return false;
}

/// Does in both CTAs what both ask for. False when it must wait for columns.
bool actTogether(Warp &w, const Inst &i, Cta &peer) {
  PairRequest &mine = w.cta.pairRequest, &other = peer.pairRequest;
  switch (mine.kind) {
  case PairRequest::Kind::Alloc: {
    int column = w.cta.tensor.firstFree(mine.columns, &peer.tensor);
    if (column < 0)
      return false;
    w.cta.tensor.take(uint32_t(column), mine.columns, i);
    peer.tensor.take(uint32_t(column), mine.columns, *other.inst);
    mine.column = other.column = uint32_t(column);
    break;
  }
  case PairRequest::Kind::Dealloc:
    w.cta.tensor.release(mine.address & 0xffff, mine.columns);
    peer.tensor.release(mine.address & 0xffff, mine.columns);
    break;
  default:
    w.cta.tensor.permitRelinquished = peer.tensor.permitRelinquished = true;
  }
  mine.done = other.done = true;
  w.machine.progress();
  w.machine.wakeAll(WaitKind::TensorAlloc);
  return true;
}

/// One CTA's part of a pair's instruction. Nothing until the pair has acted;
/// then the column that an alloc found.
std::optional<uint32_t> pairActed(Warp &w, const Inst &i, PairRequest request) {
  LaneGroup &group = w.group();
  PairRequest &mine = w.cta.pairRequest;
  if (group.arrived) {
    if (mine.done)
      return std::exchange(mine, {}).column;
  } else if (mine.kind != PairRequest::Kind::None) {
    allocationError(w, i,
                    "is executed while another warp of the CTA is in '" +
                        Machine::mnemonic(mine.inst) +
                        "'; exactly one warp of each CTA must execute it");
    return std::nullopt;
  }
  Cta *peer = w.machine.pairPeer(w, i, -1);
  if (!peer)
    return std::nullopt;
  if (!group.arrived)
    mine = request;
  PairRequest &other = peer->pairRequest;
  group.arrived = true;
  if (other.kind != PairRequest::Kind::None && !other.done) {
    if (!sameRequest(w, i, mine, other))
      return std::nullopt;
    if (actTogether(w, i, *peer))
      return std::exchange(mine, {}).column;
  }
  w.waitFor(WaitKind::TensorAlloc);
  return std::nullopt;
}

void writeAddress(Warp &w, const Inst &i, int lane, uint32_t column) {
  uint64_t address = w.row(i.s[0])[lane] + uint64_t(i.offset);
  uint8_t bytes[4];
  std::memcpy(bytes, &column, 4);
  if (uint8_t *target = access(w, i, lane, i.get<Allocation>().space, address,
                               4, true, Strength::Weak, bytes))
    std::memcpy(target, bytes, 4);
  w.machine.progress();
}

Flow alloc(Warp &w, const Inst &i, uint32_t mask) {
  Machine &m = w.machine;
  uint32_t count = sameInAllLanes(w, i, mask, i.s[1], "number of columns");
  int lane = __builtin_ctz(mask);
  if (m.stopped)
    return Flow::Next;
  if (!validColumns(count)) {
    allocationError(w, i,
                    "asks for " + std::to_string(count) +
                        " columns; the rule is a power of two from 32 to 512");
    return Flow::Next;
  }
  if (!w.group().arrived && w.cta.tensor.permitRelinquished) {
    allocationError(w, i,
                    "follows tcgen05.relinquish_alloc_permit, after which the "
                    "CTA may not allocate");
    return Flow::Next;
  }
  if (!w.group().arrived)
    m.checkProgrammaticAllocation(w, i, lane);
  if (i.get<Allocation>().pair) {
    PairRequest request;
    request.kind = PairRequest::Kind::Alloc;
    request.columns = count;
    request.address =
        uint32_t(w.row(i.s[0])[lane] + uint64_t(i.offset)) & kSharedOffsetMask;
    request.inst = &i;
    std::optional<uint32_t> column = pairActed(w, i, request);
    if (!column)
      return m.stopped ? Flow::Next : Flow::Wait;
    writeAddress(w, i, lane, *column);
    return Flow::Next;
  }
  int column = w.cta.tensor.firstFree(count, nullptr);
  if (column < 0) {
    w.group().arrived = true;
    return w.waitFor(WaitKind::TensorAlloc);
  }
  w.cta.tensor.take(uint32_t(column), count, i);
  writeAddress(w, i, lane, uint32_t(column));
  return Flow::Next;
}

Flow dealloc(Warp &w, const Inst &i, uint32_t mask) {
  Machine &m = w.machine;
  uint32_t address = sameInAllLanes(w, i, mask, i.s[0], "address");
  uint32_t count = sameInAllLanes(w, i, mask, i.s[1], "number of columns");
  if (m.stopped)
    return Flow::Next;
  uint32_t column = address & 0xffff;
  if (!w.group().arrived) {
    if (address >> 16 || !validColumns(count) ||
        !w.cta.tensor.isAllocation(column, count)) {
      allocationError(w, i,
                      "frees " + std::to_string(count) +
                          " columns at address " + std::to_string(address) +
                          ", which no tcgen05.alloc of this CTA returned (or "
                          "which are free already)");
      return Flow::Next;
    }
    if (m.checksOrder && w.cta.tensor.anyBusy(column, count))
      m.error(ErrorKind::MemoryInFlight,
              "'" + Machine::mnemonic(&i) +
                  "' frees tensor memory that an unfinished operation still "
                  "uses; wait for that operation first",
              &w, &i);
    else
      w.cta.tensor.checkFree(w, i, column, count);
  }
  if (i.get<Allocation>().pair) {
    PairRequest request;
    request.kind = PairRequest::Kind::Dealloc;
    request.columns = count;
    request.address = address;
    request.inst = &i;
    return pairActed(w, i, request) || m.stopped ? Flow::Next : Flow::Wait;
  }
  w.cta.tensor.release(column, count);
  m.progress();
  m.wakeAll(WaitKind::TensorAlloc);
  return Flow::Next;
}

Flow relinquish(Warp &w, const Inst &i, uint32_t) {
  if (i.get<Allocation>().pair) {
    PairRequest request;
    request.kind = PairRequest::Kind::Relinquish;
    request.inst = &i;
    return pairActed(w, i, request) || w.machine.stopped ? Flow::Next
                                                         : Flow::Wait;
  }
  w.cta.tensor.permitRelinquished = true;
  w.machine.progress();
  return Flow::Next;
}

} // namespace

bool fp8::sim::decodeTcgen05Allocation(Decoder &d, Inst &i) {
  int kind = d.takeOneOf({"alloc", "dealloc", "relinquish_alloc_permit"});
  Allocation &allocation = i.make<Allocation>();
  if (!takeCtaGroup(d, allocation.pair) || !takeSyncAligned(d, i))
    return false;
  switch (kind) {
  case 0:
    allocation.space =
        d.take("shared::cta") ? AccessSpace::Shared : AccessSpace::Generic;
    i.fn = alloc;
    i.allocates = true;
    return d.take("b32") && d.address(i) && d.source(i, Type::U32);
  case 1:
    i.fn = dealloc;
    return d.take("b32") && d.source(i, Type::B32) && d.source(i, Type::U32);
  default:
    i.fn = relinquish;
    return true;
  }
}
