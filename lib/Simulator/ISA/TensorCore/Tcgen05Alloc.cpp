// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tcgen05.alloc, dealloc and relinquish_alloc_permit (PTX ISA 9.7.16.7), for
// one CTA and for a pair. By the letter a pair acts together (PTX
// ISA 9.7.16.5). In the machine code of sm_100 the even CTA allocates for both
// and goes on, the odd one waits for it, and each frees for itself.

#include "ISA/TensorCore/Tcgen05.h"

#include "ISA/Access/Access.h"

#include <cstring>
#include <optional>

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

std::string peerName(const Cta &peer) {
  return "the peer CTA, rank " + std::to_string(peer.rank);
}

/// Whether the odd CTA asks for what the even one has allocated; reports it if
/// not.
bool sameRequest(Warp &w, const Inst &i, const PairAllocation &mine,
                 const PairAllocation &other) {
  std::string what;
  if (mine.columns != other.columns)
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

/// Reports an allocation that the peer CTA may be too late for.
void checkPeerStarted(Warp &w, const Inst &i, const Cta &peer) {
  Machine &m = w.machine;
  if (!m.checksOrder)
    return;
  for (const auto &warp : peer.warps)
    for (Role role : {Role::Generic, Role::OneLane})
      if (w.isBehind(warp->agent(role), 1))
        return;
  m.error(Rule::UnstartedPeer,
          "'" + Machine::mnemonic(&i) + "' may come before " + peerName(peer) +
              ", has started, and allocates there, too (PTX ISA 9.7.16.5); "
              "execute a cluster barrier before it",
          &w, &i)
      .notes.push_back(m.note(&m.program.code.front(),
                              "nothing orders the allocation after the start "
                              "of the peer CTA"));
}

/// The column that an alloc found; nothing when it has to wait, or after an
/// error. The even CTA of a pair allocates for both and goes on; the odd one
/// waits for it.
std::optional<uint32_t> allocateForPair(Warp &w, const Inst &i,
                                        PairAllocation request) {
  Cta *peer = w.machine.pairPeer(w, i, -1);
  if (!peer)
    return std::nullopt;
  bool isFirst = !w.group().arrived;
  if (isFirst)
    checkPeerStarted(w, i, *peer);
  if (w.cta.rank % 2 == 0) {
    int column = w.cta.tensor.firstFree(request.columns, &peer->tensor);
    if (column < 0)
      return std::nullopt;
    request.column = uint32_t(column);
    w.cta.tensor.take(request.column, request.columns, i);
    peer->tensor.take(request.column, request.columns, i);
    w.cta.forPeer.push_back(request);
    w.machine.wakeAll(WaitKind::TensorAlloc);
    return request.column;
  }
  if (isFirst && w.cta.awaitsPair) {
    allocationError(w, i,
                    "is executed while another warp of the CTA is in '" +
                        Machine::mnemonic(w.cta.awaitsPair) +
                        "'; exactly one warp of each CTA must execute it");
    return std::nullopt;
  }
  w.cta.awaitsPair = peer->forPeer.empty() ? &i : nullptr;
  if (peer->forPeer.empty())
    return std::nullopt;
  PairAllocation made = peer->forPeer.front();
  peer->forPeer.pop_front();
  if (!sameRequest(w, i, request, made))
    return std::nullopt;
  // The even CTA may have freed it by now, with an error.
  if (TensorMemory::Allocation *a =
          peer->tensor.allocationAt(made.column, made.columns))
    a->peer = w.tag(i);
  return made.column;
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

/// Whether the CTA may allocate so many columns; reports it if not.
bool mayAllocate(Warp &w, const Inst &i, uint32_t count) {
  if (!validColumns(count))
    allocationError(w, i,
                    "asks for " + std::to_string(count) +
                        " columns; the rule is a power of two from 32 to 512");
  else if (!w.group().arrived && w.cta.tensor.relinquished)
    allocationError(w, i,
                    "follows tcgen05.relinquish_alloc_permit, after which the "
                    "CTA may not allocate");
  return !w.machine.stopped;
}

Flow alloc(Warp &w, const Inst &i, uint32_t mask) {
  Machine &m = w.machine;
  uint32_t count = sameInAllLanes(w, i, mask, i.s[1], "number of columns");
  int lane = __builtin_ctz(mask);
  if (m.stopped || !mayAllocate(w, i, count))
    return Flow::Next;
  if (!w.group().arrived)
    m.checkProgrammaticAllocation(w, i, lane);
  std::optional<uint32_t> found;
  if (i.get<Allocation>().pair) {
    PairAllocation request;
    request.columns = count;
    request.address =
        uint32_t(w.row(i.s[0])[lane] + uint64_t(i.offset)) & kSharedOffsetMask;
    request.inst = &i;
    found = allocateForPair(w, i, request);
  } else if (int column = w.cta.tensor.firstFree(count, nullptr); column >= 0) {
    w.cta.tensor.take(uint32_t(column), count, i);
    found = uint32_t(column);
  }
  if (m.stopped)
    return Flow::Next;
  if (!found) {
    w.group().arrived = true;
    return w.waitFor(WaitKind::TensorAlloc);
  }
  w.cta.tensor.checkSize(w, i, count);
  writeAddress(w, i, lane, *found);
  return Flow::Next;
}

/// Reports that the even CTA frees what the odd one may not have yet.
void checkPeerAllocated(Warp &w, const Inst &i, const Cta &peer,
                        const TensorMemory::Allocation &allocation) {
  Machine &m = w.machine;
  if (w.cta.rank % 2 ||
      (!allocation.peer.none() &&
       (!m.checksOrder ||
        w.isBehind(allocation.peer.agent(), allocation.peer.time()))))
    return;
  const Inst *other = allocation.peer.none()
                          ? allocation.inst
                          : &m.program.code[allocation.peer.instruction()];
  m.error(ErrorKind::TensorMemoryAllocation,
          "'" + Machine::mnemonic(&i) + "' may come before " + peerName(peer) +
              ", has completed its tcgen05.alloc: the even CTA of a pair "
              "allocates and goes on alone; wait at a cluster barrier that the "
              "peer's allocating warp arrives at behind its tcgen05.alloc",
          &w, &i)
      .notes.push_back(m.note(other, "the peer CTA allocates here"));
}

Flow dealloc(Warp &w, const Inst &i, uint32_t mask) {
  Machine &m = w.machine;
  uint32_t address = sameInAllLanes(w, i, mask, i.s[0], "address");
  uint32_t count = sameInAllLanes(w, i, mask, i.s[1], "number of columns");
  if (m.stopped)
    return Flow::Next;
  TensorMemory &tensor = w.cta.tensor;
  uint32_t column = address & 0xffff;
  const TensorMemory::Allocation *allocation =
      address >> 16 || !validColumns(count)
          ? nullptr
          : tensor.allocationAt(column, count);
  if (!allocation) {
    allocationError(w, i,
                    "frees " + std::to_string(count) + " columns at address " +
                        std::to_string(address) +
                        ", which no tcgen05.alloc of this CTA returned (or "
                        "which are free already)");
    return Flow::Next;
  }
  tensor.checkFree(w, i, column, count);
  // Each CTA frees for itself, but by the letter the two do so together.
  if (uint32_t rank = w.cta.rank ^ 1;
      i.get<Allocation>().pair && rank < m.ctas.size()) {
    Cta &peer = *m.ctas[rank];
    checkPeerAllocated(w, i, peer, *allocation);
    peer.tensor.checkFree(w, i, column, count);
    if (TensorMemory::Allocation *other =
            peer.tensor.allocationAt(column, count))
      other->freed = w.tag(i);
  }
  tensor.release(column, count);
  m.progress();
  m.wakeAll(WaitKind::TensorAlloc);
  return Flow::Next;
}

Flow relinquish(Warp &w, const Inst &i, uint32_t) {
  if (!w.cta.tensor.relinquished)
    w.cta.tensor.relinquished = &i;
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
