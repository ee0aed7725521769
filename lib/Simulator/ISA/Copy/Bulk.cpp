// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cp.async.bulk without tensors, and bulk groups (PTX ISA 9.7.9.25.4). Tensor
// copies are in Tma.cpp.

#include "ISA/Alu/Alu.h"
#include "ISA/Copy/Copy.h"

#include <algorithm>

using namespace fp8::sim;

namespace {

Flow bulkCommit(Warp &w, const Inst &, uint32_t mask) {
  forLanes(mask, [&](int l) { ++w.bulk[size_t(l)].open; });
  return Flow::Next;
}

Flow bulkWait(Warp &w, const Inst &i, uint32_t mask) {
  const GroupWait &wait = i.get<GroupWait>();
  uint32_t pending = uint32_t(wait.pending);
  bool complete = true;
  forLanes(mask, [&](int l) {
    complete &= w.bulk[size_t(l)].complete(pending, wait.readOnly);
  });
  if (!complete)
    return w.waitFor(WaitKind::BulkGroups);
  forLanes(mask, [&](int l) {
    uint32_t time = w.bulk[size_t(l)].observe(pending, wait.readOnly);
    w.learn(Role::BulkRead, time);
    if (!wait.readOnly)
      w.learn(Role::BulkWrite, time);
  });
  w.machine.progress();
  return Flow::Next;
}

struct BulkOperands {
  uint64_t target, source;
  uint32_t bytes;
};

/// Which bytes of each 16 a store writes: bit i is byte i (.cp_mask).
uint32_t byteMask(Warp &w, const Inst &i, int lane) {
  return i.sources > 3 ? uint32_t(w.row(i.s[3])[lane]) & 0xffff : 0xffff;
}

/// f(offset, bytes) for each run that the mask writes of a store, until one is
/// false.
template <typename F>
bool allRuns(uint32_t mask, uint32_t bytes, F f) {
  if (mask == 0xffff)
    return f(0u, bytes);
  for (uint32_t chunk = 0; chunk < bytes; chunk += 16)
    for (uint32_t begin = 0; begin < 16;) {
      uint32_t count = 0;
      while (begin + count < 16 && mask >> (begin + count) & 1)
        ++count;
      if (count && !f(chunk + begin, count))
        return false;
      begin += count + 1;
    }
  return true;
}

/// The addresses and the size of a bulk copy; false after an error.
bool bulkOperands(Warp &w, const Inst &i, int lane, BulkOperands &o) {
  if (w.machine.stopped)
    return false;
  o.target = w.row(i.s[0])[lane] + uint64_t(i.offset);
  o.source = w.row(i.s[1])[lane] + i.get<BulkCopy>().sourceOffset;
  o.bytes = uint32_t(w.row(i.s[2])[lane]);
  if (o.target % 16 == 0 && o.source % 16 == 0 && o.bytes % 16 == 0)
    return true;
  w.machine.error(ErrorKind::Misaligned,
                  "'" + Machine::mnemonic(&i) +
                      "' needs addresses and a size that are multiples of 16",
                  &w, &i, lane, true);
  return false;
}

BulkLoad loadOf(Warp &w, const Inst &i, int lane, const BulkOperands &o) {
  BulkLoad load;
  load.target = o.target;
  load.bytes = o.bytes;
  load.barrier = w.row(i.s[3])[lane] + i.get<BulkCopy>().barrierOffset;
  load.multicast = i.sources > 4;
  if (load.multicast)
    load.ctaMask = uint32_t(w.row(i.s[4])[lane]) & 0xffff;
  return load;
}

Flow bulkLoad(Warp &w, const Inst &i, uint32_t mask) {
  forLanes(mask, [&](int l) {
    BulkOperands o;
    if (!bulkOperands(w, i, l, o) ||
        !w.machine.global(w, i, l, o.source, o.bytes, false))
      return;
    Warp *warp = &w;
    BulkLoad load = loadOf(w, i, l, o);
    load.readsGlobal = true;
    load.global = o.source;
    load.inside.bytes = o.bytes;
    issueLoad(
        w, i, l, load,
        [warp, &i, l, o](const SharedPlace &to, const GlobalActor &actor) {
          const uint8_t *from = warp->machine.accessGlobal(
              *warp, i, l, actor, o.source, o.bytes, false);
          if (!from)
            return;
          std::copy_n(from, o.bytes, to.data());
          warp->machine.landUnwritten(i, o.source, o.bytes, to);
        });
  });
  return Flow::Next;
}

Flow nothing(Warp &, const Inst &, uint32_t) { return Flow::Next; }

bool decodeToShared(Decoder &d, Inst &i) {
  // The destination's state space comes first.
  bool fromShared =
      d.text().qualifiers[2] == "shared::cluster" && d.take("shared::cta");
  d.takeOneOf({"shared::cluster", "shared::cta"});
  if (!fromShared && !d.take("global"))
    return d.fail("copies only from .global to shared memory, or from "
                  ".shared::cta to .shared::cluster");
  if (!d.take("mbarrier::complete_tx::bytes"))
    return d.fail("needs .mbarrier::complete_tx::bytes");
  bool multicast = !fromShared && d.take("multicast::cluster");
  i.fn = fromShared ? bulkShared : bulkLoad;
  BulkCopy &copy = i.make<BulkCopy>();
  return d.address(i) && d.address(i, copy.sourceOffset) &&
         d.source(i, Type::U32) && d.address(i, copy.barrierOffset) &&
         (!multicast || d.source(i, Type::U16));
}

} // namespace

Flow fp8::sim::bulkShared(Warp &w, const Inst &i, uint32_t mask) {
  const BulkCopy &copy = i.get<BulkCopy>();
  forLanes(mask, [&](int l) {
    BulkOperands o;
    Cta *from;
    uint32_t offset;
    if (!bulkOperands(w, i, l, o) ||
        !w.machine.clusterAddress(w, i, l, o.source, from, offset))
      return;
    BulkLoad load = loadOf(w, i, l, o);
    load.source = {offset, o.bytes, false};
    load.sourceCta = from->rank;
    load.combines = copy.reduction != Reduction::None;
    issueLoad(w, i, l, load, [&copy, from, offset, o](auto &to, auto &) {
      reduceBytes(copy.type, copy.reduction, to.data(),
                  from->shared.data() + offset, o.bytes);
    });
  });
  return Flow::Next;
}

Flow fp8::sim::bulkStore(Warp &w, const Inst &i, uint32_t mask) {
  const BulkCopy &copy = i.get<BulkCopy>();
  const bool reduces = copy.reduction != Reduction::None;
  forLanes(mask, [&](int l) {
    BulkOperands o;
    if (!bulkOperands(w, i, l, o))
      return;
    const uint32_t mask = byteMask(w, i, l);
    if (!allRuns(mask, o.bytes, [&](uint32_t at, uint32_t bytes) {
          return w.machine.global(w, i, l, o.target + at, bytes, true);
        }))
      return;
    Warp *warp = &w;
    issueStore(
        w, i, l, o.source, o.bytes, {o.target, o.bytes}, reduces,
        [&](const SourceVisitor &visit) {
          allRuns(mask, o.bytes, [&](uint32_t at, uint32_t bytes) {
            visit(at, bytes);
            return true;
          });
        },
        [warp, &i, &copy, l, o, reduces, mask](const uint8_t *from,
                                               const GlobalActor &actor) {
          allRuns(mask, o.bytes, [&](uint32_t at, uint32_t bytes) {
            uint8_t *to = warp->machine.accessGlobal(
                *warp, i, l, actor, o.target + at, bytes, true,
                reduces ? nullptr : from + at);
            if (to)
              reduceBytes(copy.type, copy.reduction, to, from + at, bytes);
            return to != nullptr;
          });
        });
  });
  return Flow::Next;
}

bool fp8::sim::decodeBulk(Decoder &d, Inst &i) {
  if (d.take("commit_group")) {
    i.fn = bulkCommit;
    return true;
  }
  if (d.take("wait_group")) {
    i.fn = bulkWait;
    GroupWait &wait = i.make<GroupWait>();
    wait.readOnly = d.take("read");
    return d.immediate(wait.pending);
  }
  if (d.hasQualifier("tensor"))
    return decodeBulkTensor(d, i);
  if (d.take("prefetch")) {
    i.fn = nothing;
    if (!d.take("L2") || !d.take("global"))
      return d.fail("is not supported in this form");
    d.dropCacheHints();
    if (!d.address(i) || !d.source(i, Type::U32))
      return false;
    if (d.cacheHint)
      d.takeOperand();
    return true;
  }
  d.dropCacheHints();
  bool toShared = d.text().qualifiers.size() > 2 &&
                  d.text().qualifiers[2].rfind("shared", 0) == 0;
  if (toShared) {
    if (!decodeToShared(d, i))
      return false;
  } else {
    if (!d.take("global") || d.takeOneOf({"shared::cta"}) < 0 ||
        !d.take("bulk_group"))
      return d.fail("is not supported in this form");
    i.fn = bulkStore;
    const bool masked = d.take("cp_mask");
    if (masked && !d.requiresChip(100))
      return false;
    if (!d.address(i) || !d.address(i, i.make<BulkCopy>().sourceOffset) ||
        !d.source(i, Type::U32))
      return false;
    if (d.cacheHint)
      d.takeOperand();
    return !masked || d.source(i, Type::U16);
  }
  if (d.cacheHint)
    d.takeOperand();
  return true;
}
