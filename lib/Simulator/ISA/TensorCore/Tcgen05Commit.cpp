// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tcgen05.commit (PTX ISA 9.7.16.10): arrives at barriers behind the MMAs of
// the thread that executes it.

#include "ISA/TensorCore/Tcgen05.h"
#include "ISA/TensorCore/Tcgen05Issue.h"

#include "ISA/Access/Access.h"
#include "ISA/Alu/Alu.h"

using namespace fp8::sim;

namespace {

int64_t landingPipe(const Warp &w, uint32_t rank) {
  return int64_t(rank + 1) << 32 | w.globalIndex;
}

/// A commit arrives: those who learn of it know that the earlier ones of its
/// warp have reached the same CTA.
void land(Warp &w, const Inst &i, int lane, Mbarrier &barrier,
          const SyncClocks &carried, size_t ticket) {
  if (!barrier.live || barrier.cta->ended)
    return;
  if (w.machine.timing)
    w.machine.timing->landed(ticket, barrier);
  Warp::Landing &landing = w.landings[barrier.cta->rank];
  if (!landing.count++)
    landing.agent = w.machine.newAgent();
  w.machine.touchRemote(*barrier.cta, w, i, barrier.agent, barrier.time() + 1,
                        landing.agent, landing.count);
  SyncClocks known = carried;
  known.reached.raise(landing.agent, landing.count);
  w.machine.arrive(barrier, 1, w, i, lane, &known);
}

void issueArrival(Warp &w, const Inst &i, int lane, Mbarrier *barrier,
                  const std::shared_ptr<SyncClocks> &carried) {
  auto op = std::make_unique<AsyncOp>(i, w, lane, Engine::Arrival);
  op->pipe = tensorCorePipe(w, lane);
  op->signals = int32_t(barrier->cta->rank);
  // The pipe orders the MMAs. By the letter the arrivals that they trigger land
  // when they land, so that only the phase that one lands in says that it has;
  // hardware keeps those of one warp to one CTA in order.
  Warp *warp = &w;
  int32_t rank = op->signals;
  size_t ticket =
      w.machine.timing ? w.machine.timing->committed(w, *barrier) : 0;
  op->complete = [warp, &i, lane, barrier, carried, rank, ticket] {
    auto arrival = std::make_unique<AsyncOp>(i, *warp, lane, Engine::Arrival);
    arrival->signals = rank;
    if (!warp->machine.options.strict)
      arrival->pipe = landingPipe(*warp, uint32_t(rank));
    arrival->complete = [warp, &i, lane, barrier, carried, ticket] {
      land(*warp, i, lane, *barrier, *carried, ticket);
    };
    warp->machine.issue(std::move(arrival));
  };
  w.machine.issue(std::move(op));
}

/// Payload of tcgen05.commit.
struct Commit {
  bool pair;    ///< .cta_group::2
  bool generic; ///< the address is
  bool multicast;
};

Flow commit(Warp &w, const Inst &i, uint32_t mask) {
  const Commit &form = i.get<Commit>();
  Machine &m = w.machine;
  forLanes(mask, [&](int l) {
    if (m.stopped)
      return;
    uint64_t address = w.row(i.s[0])[l] + uint64_t(i.offset);
    if (form.generic)
      genericToShared(address, address);
    uint32_t ctas = form.multicast ? uint32_t(w.row(i.s[1])[l]) & 0xffff : 0;
    if (form.multicast && !ctas) {
      m.error(ErrorKind::InvalidOperation,
              "'" + Machine::mnemonic(&i) + "' has an empty CTA mask", &w, &i,
              l, true);
      return;
    }
    std::vector<Mbarrier *> targets;
    auto reach = [&](uint64_t target) {
      if (Mbarrier *barrier = m.barrierAt(w, i, l, target, true))
        targets.push_back(barrier);
    };
    if (!form.multicast)
      reach(address);
    for (uint32_t rank = 0; rank < 16 && !m.stopped; ++rank)
      if (ctas >> rank & 1)
        reach((address & kSharedOffsetMask) | uint64_t(rank)
                                                  << kSharedRankShift);
    auto carried = std::make_shared<SyncClocks>();
    w.release(*carried);
    w.releaseWaits(carried->waits);
    if (uint32_t last = w.tensorIssues.lastOf(l))
      for (Clock *clock : {&carried->all, &carried->reached})
        clock->raise(m.mmaAgent(w, l), last);
    for (Mbarrier *barrier : targets)
      issueArrival(w, i, l, barrier, carried);
  });
  return Flow::Next;
}

} // namespace

bool fp8::sim::decodeTcgen05Commit(Decoder &d, Inst &i) {
  Commit &form = i.make<Commit>();
  if (!takeCtaGroup(d, form.pair))
    return false;
  if (!d.take("mbarrier::arrive::one"))
    return d.fail("needs .mbarrier::arrive::one");
  form.generic = !d.take("shared::cluster");
  form.multicast = d.take("multicast::cluster");
  if (!d.take("b64"))
    return d.fail("needs .b64");
  i.fn = commit;
  return d.address(i) && (!form.multicast || d.source(i, Type::U16));
}
