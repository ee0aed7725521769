// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What CTAs of a cluster do to each other, and that a CTA must not end before
// (PTX ISA 9.7.16.5; CUDA C++ Programming Guide, distributed shared memory).
// An access that did not meet an exited CTA in this schedule may do so in
// another: it must happen before the end of the CTA that it goes to.

#include "Machine/Machine.h"

#include <tuple>

using namespace fp8::sim;

static std::string rankName(uint32_t rank) {
  return "CTA rank " + std::to_string(rank);
}

Cta *Machine::pairPeer(Warp &warp, const Inst &inst, int lane) {
  uint32_t rank = warp.cta.rank ^ 1;
  if (rank >= ctas.size()) {
    error(ErrorKind::InvalidOperation,
          "'" + mnemonic(&inst) + "' needs a CTA pair, but " +
              rankName(warp.cta.rank) + " has no peer in a cluster of " +
              std::to_string(ctas.size()) +
              "; launch clusters of an even number of CTAs",
          &warp, &inst, lane, true);
    return nullptr;
  }
  Cta *peer = ctas[rank].get();
  return checkPresent(*peer, warp, inst, lane) ? peer : nullptr;
}

bool Machine::checkPresent(const Cta &target, Warp &warp, const Inst &inst,
                           int lane) {
  if (!target.ended || &target == &warp.cta)
    return true;
  error(ErrorKind::ExitedCta,
        "'" + mnemonic(&inst) + "' of " + rankName(warp.cta.rank) +
            " accesses " + rankName(target.rank) + ", which has exited" +
            "; end the kernel with a cluster barrier",
        &warp, &inst, lane, true);
  return false;
}

void Machine::touchRemote(Cta &target, Warp &warp, const Inst &inst,
                          uint32_t agent, uint32_t time, uint32_t orderAgent,
                          uint32_t orderTime) {
  if (&target == &warp.cta || !checksOrder)
    return;
  target.remote[agent] = {time, warp.cta.rank, &inst, orderAgent, orderTime};
}

void Machine::checkRemoteUse(Cta &cta) {
  if (!checksOrder || ctas.size() < 2)
    return;
  const char *const cure = "; end the kernel with a cluster barrier";
  // Which says nothing of when asynchronous work lands.
  const char *const asyncCure =
      "; wait for the phase of the mbarrier in which it arrives";
  for (const auto &op : async.operations()) {
    uint32_t from = op->issuer->ctaRank;
    if (op->signals != int32_t(cta.rank) || from == cta.rank)
      continue;
    error(ErrorKind::WorkInFlight,
          rankName(cta.rank) + " ends while '" + mnemonic(op->inst) + "' of " +
              rankName(from) + " has yet to arrive at one of its mbarriers" +
              asyncCure,
          op->issuer, op->inst, op->lane);
    return;
  }
  Clock known;
  for (const auto &warp : cta.warps)
    known.join(warp->clocks().reached);
  auto inOrder = [&](const RemoteAccess &access) {
    return access.orderTime && known.get(access.orderAgent) >= access.orderTime;
  };
  // Errors before warnings, then the first in program order, so that reports do
  // not depend on hashing.
  auto key = [&](const RemoteAccess &access) {
    return std::tuple(inOrder(access), access.inst->index, access.rank);
  };
  const RemoteAccess *worst = nullptr;
  bool lands = false; ///< an arrival at a barrier, whose phase tells of it
  for (const auto &[agent, access] : cta.remote)
    if (known.get(agent) < access.time &&
        (!worst || key(access) < key(*worst))) {
      worst = &access;
      lands = !isWarp(agent);
    }
  if (!worst)
    return;
  error(inOrder(*worst) ? Rule::CommitOrder : Rule::ExitedCta,
        rankName(cta.rank) + " may end before '" + mnemonic(worst->inst) +
            "' of " + rankName(worst->rank) +
            " reaches it, since the CTA waits for nothing that is ordered "
            "after that access" +
            (lands ? asyncCure : cure),
        nullptr, worst->inst)
      .block = cta.index;
}
