// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tcgen05: waits and fences (PTX ISA 9.7.16.6), and what its instructions
// share.

#include "ISA/Families.h"

#include "ISA/TensorCore/Tcgen05.h"
#include "Machine/Machine.h"

using namespace fp8::sim;

uint32_t fp8::sim::sameInAllLanes(Warp &w, const Inst &i, uint32_t mask,
                                  uint32_t row, const char *what) {
  const uint64_t *values = w.row(row);
  uint32_t first = uint32_t(values[__builtin_ctz(mask)]);
  forLanes(mask, [&](int l) {
    if (uint32_t(values[l]) != first && !w.machine.stopped)
      w.machine.error(ErrorKind::InvalidOperation,
                      "'" + Machine::mnemonic(&i) + "' needs the same " + what +
                          " in all lanes",
                      &w, &i, l, true);
  });
  return first;
}

bool fp8::sim::takeCtaGroup(Decoder &d, bool &pair) {
  int index = d.takeOneOf({"cta_group::1", "cta_group::2"});
  if (index < 0)
    return d.fail("needs .cta_group::1 or .cta_group::2");
  pair = index == 1;
  unsigned group = unsigned(index) + 1;
  if (d.program.ctaGroup && d.program.ctaGroup != group)
    return d.fail(
        "has a different .cta_group from an earlier tcgen05 instruction; all "
        "tcgen05 instructions of a kernel must use the same");
  d.program.ctaGroup = group;
  return true;
}

bool fp8::sim::takeSyncAligned(Decoder &d, Inst &i) {
  i.convergence = Convergence::Whole;
  return (d.take("sync") && d.take("aligned")) || d.fail("needs .sync.aligned");
}

namespace {

Flow waitLoads(Warp &w, const Inst &, uint32_t) {
  if (w.tensorLoadsPending) {
    w.group().arrived = true;
    return w.waitFor(WaitKind::TensorLoads);
  }
  for (const RowInFlight &flight : w.rowsInFlight)
    w.ready[flight.row] = flight.lanes;
  w.rowsInFlight.clear();
  w.learnTensorLoads(w.tensorLoadTime);
  w.machine.progress();
  return Flow::Next;
}

Flow waitStores(Warp &w, const Inst &, uint32_t) {
  if (w.tensorStoresPending) {
    w.group().arrived = true;
    return w.waitFor(WaitKind::TensorStores);
  }
  w.learn(Role::TensorStoreWaited, w.tensorStoreTime);
  w.machine.progress();
  return Flow::Next;
}

Flow fenceBefore(Warp &w, const Inst &, uint32_t) {
  w.fenceTensorBefore();
  return Flow::Next;
}

Flow fenceAfter(Warp &w, const Inst &, uint32_t) {
  w.fenceTensorAfter();
  return Flow::Next;
}

bool decodeTcgen05(Decoder &d, Inst &i) {
  if (d.hasQualifier("alloc") || d.hasQualifier("dealloc") ||
      d.hasQualifier("relinquish_alloc_permit"))
    return decodeTcgen05Allocation(d, i);
  if (d.take("ld"))
    return decodeTcgen05Transfer(d, i, true);
  if (d.take("st"))
    return decodeTcgen05Transfer(d, i, false);
  int wait = d.takeOneOf({"wait::ld", "wait::st"});
  if (wait >= 0) {
    i.fn = wait == 0 ? waitLoads : waitStores;
    i.endsLateWrites = wait == 0;
    return takeSyncAligned(d, i);
  }
  int fence =
      d.takeOneOf({"fence::before_thread_sync", "fence::after_thread_sync"});
  if (fence >= 0) {
    i.fn = fence == 0 ? fenceBefore : fenceAfter;
    return true;
  }
  if (d.take("cp"))
    return decodeTcgen05Copy(d, i);
  if (d.take("shift"))
    return decodeTcgen05Shift(d, i);
  if (d.take("mma"))
    return decodeTcgen05Mma(d, i);
  if (d.take("commit"))
    return decodeTcgen05Commit(d, i);
  return d.fail("is not supported yet");
}

} // namespace

void fp8::sim::addTcgen05Opcodes(OpcodeTable &t) {
  t.add("tcgen05", decodeTcgen05);
}
