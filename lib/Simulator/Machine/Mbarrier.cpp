// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What happens to an mbarrier: arrivals, transactions, phase completion.

#include "Machine/Mbarrier.h"

#include "Machine/Machine.h"

#include <algorithm>

using namespace fp8::sim;

static std::string state(const Mbarrier &b) {
  return "phase " + std::to_string(b.phase) + ", " + std::to_string(b.pending) +
         " of " + std::to_string(b.expected) + " arrivals pending, " +
         std::to_string(b.transactions) + " bytes pending";
}

void Machine::barrierEvent(unsigned what, const Mbarrier &barrier,
                           const Warp *warp) {
  uint64_t event = what | uint64_t(warp ? warp->id + 1 : 0) << 4 |
                   uint64_t(barrier.offset) << 16 |
                   uint64_t(barrier.cta->rank) << 48;
  report.barrierEventHash =
      (report.barrierEventHash ^ event) * 0x100000001b3u + 0x9e3779b97f4a7c15u;
  ++report.barrierEventCount;
}

Mbarrier *Machine::barrierAt(Warp &warp, const Inst &inst, int lane,
                             uint64_t address, bool asyncUse) {
  Cta *cta;
  uint32_t offset;
  if (!clusterAddress(warp, inst, lane, address, cta, offset) ||
      !checkPresent(*cta, warp, inst, lane))
    return nullptr;
  if (!asyncUse)
    touchRemote(*cta, warp, inst, warp.accessAgent(), warp.time());
  Mbarrier *barrier = offset % 8 == 0 ? cta->findBarrier(offset) : nullptr;
  if (!barrier || !barrier->live) {
    std::string why = offset % 8 ? "is not aligned to 8 bytes"
                      : barrier
                          ? "was invalidated by mbarrier.inval"
                          : "holds no mbarrier; execute mbarrier.init first";
    error(ErrorKind::BarrierUninitialised,
          "'" + mnemonic(&inst) + "' uses " + sharedName(offset) + ", which " +
              why,
          &warp, &inst, lane, true);
    return nullptr;
  }
  if (asyncUse)
    tellAccess(*barrier, warp, inst, lane, /*waits=*/false);
  if (!checksOrder)
    return barrier;
  bool own = warp.isOwnAccess(barrier->initAgent);
  if (!own && !warp.knows(barrier->initAgent, barrier->initTime)) {
    SimulationError &e = error(
        ErrorKind::Race,
        "'" + mnemonic(&inst) + "' uses the mbarrier at " + sharedName(offset) +
            " with no synchronisation after its mbarrier.init; put a CTA or "
            "cluster barrier "
            "between the two",
        &warp, &inst, lane);
    e.notes.push_back(
        note(barrier->initInst,
             "initialised here, " + agentName(barrier->initAgent)));
    barrier->initTime = 0;
  } else if (asyncUse && !barrier->initFenced &&
             warp.clocks().proxy.get(barrier->initAgent) < barrier->initTime) {
    // With a barrier or the like between the two, which orders memory.
    bool harmless = warp.knows(barrier->initAgent, barrier->initTime);
    SimulationError &e = error(
        harmless ? Rule::UnfencedInit : Rule::MissingProxyFence,
        "'" + mnemonic(&inst) + "' makes the async proxy use the mbarrier at " +
            sharedName(offset) +
            " before a fence makes its mbarrier.init visible to that proxy; "
            "execute fence.mbarrier_init or fence.proxy.async after "
            "mbarrier.init",
        &warp, &inst, lane);
    e.notes.push_back(
        note(barrier->initInst,
             "initialised here, " + agentName(barrier->initAgent)));
    barrier->initFenced = e.severity == Severity::Error;
  }
  return barrier;
}

// A wait by parity that comes only after the next phase has completed takes
// that for the phase before its own, and waits for one too late or for ever
// (PTX ISA, mbarrier.test_wait, .parity). So what completes a phase must come
// after all waits for the one before. In this schedule it did; in another only
// if clocks say so.
void Machine::checkMissedPhase(Mbarrier &barrier, Warp &warp, const Inst &inst,
                               int lane) {
  for (const PhaseWait &wait : barrier.waits) {
    if (barrier.arriving.waits.get(wait.agent) >= wait.time || !checksOrder)
      continue;
    uint32_t waiter = wait.agent / 2;
    std::string who =
        (wait.agent % 2 ? "one lane of warp " : "lanes of warp ") +
        std::to_string(waiter % warpsInCta);
    // One lane of the waiting warp has gone on, and told.
    bool behind = !(wait.agent % 2) &&
                  barrier.arriving.waits.get(wait.agent + 1) >= wait.time;
    SimulationError &e =
        error(behind ? Rule::LanesBehindWait : Rule::MissedPhase,
              "'" + mnemonic(&inst) + "' completes phase " +
                  std::to_string(barrier.phase) + " of the mbarrier at " +
                  sharedName(barrier.offset) +
                  (ctas.size() > 1
                       ? " of CTA rank " + std::to_string(barrier.cta->rank)
                       : "") +
                  " while " + who + " may still wait for " +
                  (barrier.phase ? "phase " + std::to_string(barrier.phase - 1)
                                 : "the phase before phase 0") +
                  ", which has the same parity as phase " +
                  std::to_string(barrier.phase + 1) +
                  "; arrive only after that wait: execute bar.warp.sync before "
                  "one lane signals for all, or let each lane signal",
              &warp, &inst, lane);
    e.notes.push_back(note(wait.inst, who + " waited here"));
  }
  barrier.waits.clear();
}

/// Whether what is known includes the completion of the latest phase: by a wait
/// for it, or by knowing of all arrivals that completed it.
static bool knowsCompletion(const Mbarrier &barrier, const SyncClocks &known) {
  if (!barrier.phase || known.waits.get(barrier.agent) >= barrier.time())
    return true;
  return !barrier.earlier.landed &&
         std::all_of(barrier.earlier.made.begin(), barrier.earlier.made.end(),
                     [&](const PhaseArrivals::Arrival &a) {
                       return known.reached.get(a.agent) >= a.time;
                     });
}

/// Whether `count` arrivals may take the place of any of the latest phase,
/// whose own then take theirs: as many, by instructions that are known to have
/// begun, for they have arrived at other barriers, too.
static bool mayChangePlaces(const Mbarrier &barrier, const SyncClocks &known,
                            uint32_t count) {
  return !barrier.earlier.landed &&
         std::all_of(barrier.earlier.made.begin(), barrier.earlier.made.end(),
                     [&](const PhaseArrivals::Arrival &a) {
                       return a.count == count &&
                              known.reached.get(a.agent) >= a.begun;
                     });
}

static bool isCommit(const Inst &inst) {
  return BarrierLog::arrivalKind(inst) == BarrierSource::Kind::Commit;
}

// What does not come after the completion of the phase before may land in it,
// and that phase then completes too early, or has an arrival too many.
void Machine::checkEarlyArrival(Mbarrier &barrier, const SyncClocks &known,
                                uint32_t count, Warp &warp, const Inst &inst,
                                int lane) {
  if (!checksOrder || knowsCompletion(barrier, known))
    return;
  // A commit stands for all that the earlier ones of its thread stand for: the
  // two may change places.
  const PhaseArrivals::Committer thread{&warp, lane};
  if (isCommit(inst) && barrier.earlier.committer == thread)
    return;
  std::string before = std::to_string(barrier.phase - 1);
  error(mayChangePlaces(barrier, known, count) ? Rule::SwappedArrival
                                               : Rule::EarlyArrival,
        "'" + mnemonic(&inst) + "' signals phase " +
            std::to_string(barrier.phase) + " of the mbarrier at " +
            sharedName(barrier.offset) +
            (ctas.size() > 1
                 ? " of CTA rank " + std::to_string(barrier.cta->rank)
                 : "") +
            ", possibly before phase " + before +
            " has completed; first wait for phase " + before +
            ", or for a thread that has waited for it",
        &warp, &inst, lane);
}

void Machine::reportOverrun(const Mbarrier &barrier, const char *arrivals,
                            Warp &warp, const Inst &inst, int lane) {
  error(ErrorKind::TransactionOverrun,
        "the mbarrier at " + sharedName(barrier.offset) + " has received " +
            std::to_string(-barrier.transactions) +
            " bytes more than its phase expects" + arrivals +
            "; expect_tx must announce every byte of the copies that complete "
            "on it",
        &warp, &inst, lane, true);
}

void Machine::completePhaseIfDone(Mbarrier &barrier, Warp &warp,
                                  const Inst &inst, int lane) {
  if (barrier.pending || barrier.transactions)
    return;
  checkMissedPhase(barrier, warp, inst, lane);
  ++barrier.phase;
  std::swap(barrier.earlier, barrier.arrivals);
  barrier.arrivals.made.clear();
  barrier.arrivals.lanes.clear();
  barrier.arrivals.landed = false;
  barrier.arrivals.committer = {};
  barrier.pending = barrier.expected;
  barrier.arriving.all.raise(barrier.agent, barrier.time());
  barrier.arriving.reached.raise(barrier.agent, barrier.time());
  barrier.arriving.waits.raise(barrier.agent, barrier.time());
  if (uint32_t others = barrier.agentOfOthers) {
    barrier.arrivingFromOthers.all.raise(others, barrier.time());
    barrier.arriving.reached.raise(others, barrier.time());
  }
  barrier.done.join(barrier.arriving);
  barrier.doneFromOthers.join(barrier.arrivingFromOthers);
  ++report.statistics.barrierPhases;
  barrierLog.completePhase(barrier);
  barrierEvent(2, barrier, nullptr);
  progress();
  for (Warp *waiter : warps)
    waiter->wakeIf([&](const LaneGroup &group) {
      return group.wait == WaitKind::Mbarrier && group.barrier == &barrier;
    });
  wakeAll(WaitKind::Sleep);
}

bool Machine::arrive(Mbarrier &barrier, uint32_t count, Warp &warp,
                     const Inst &inst, int lane, const SyncClocks *carried,
                     Order order) {
  if (barrier.pending < count) {
    error(ErrorKind::TooManyArrivals,
          "'" + mnemonic(&inst) + "' arrives " + std::to_string(count) +
              " time(s) at the mbarrier at " + sharedName(barrier.offset) +
              ", which is in " + state(barrier) +
              "; no phase may see more arrivals than mbarrier.init announced",
          &warp, &inst, lane, true);
    return false;
  }
  checkEarlyArrival(barrier, carried ? *carried : warp.clocks(),
                    carried ? 0 : count, warp, inst, lane);
  bool alone = barrier.arrivals.made.empty() && !barrier.arrivals.landed;
  const PhaseArrivals::Committer thread{&warp, lane};
  if (!isCommit(inst) || !(alone || barrier.arrivals.committer == thread))
    barrier.arrivals.committer = {};
  else
    barrier.arrivals.committer = thread;
  if (carried)
    barrier.arrivals.landed = true;
  else
    barrier.arrivals.made.push_back(
        {warp.accessAgent(), warp.time(), warp.timeOfInstruction(), count});
  barrierEvent(1, barrier, &warp);
  barrier.log.add(BarrierLog::arrivalKind(inst), warp, count);
  const bool isLast =
      !carried && warp.isLastOf(barrier.arrivals.lanes, 1u << lane);
  const bool isOwn = barrier.cta == &warp.cta;
  SyncClocks &arriving = isOwn ? barrier.arriving : barrier.arrivingFromOthers;
  if (carried)
    arriving.join(*carried);
  else if (isOwn)
    warp.release(arriving, order, Scope::Cta, isLast);
  else
    warp.release(arriving, inst.scope == Scope::Cta ? Order::Time : order,
                 Scope::Cluster, isLast);
  if (!isOwn)
    barrier.arriving.joinTime(arriving);
  // What an engine brings was traced when it was asked for.
  if (timing && !carried)
    timing->arrived(warp, barrier);
  barrier.pending -= count;
  if (!barrier.pending && barrier.transactions < 0) {
    reportOverrun(barrier, " (no arrivals are pending)", warp, inst, lane);
    return false;
  }
  progress();
  completePhaseIfDone(barrier, warp, inst, lane);
  return true;
}

uint32_t Machine::copyAgent(Mbarrier &barrier, const Cta &from) {
  if (&from == barrier.cta)
    return barrier.agent;
  if (!barrier.agentOfOthers)
    barrier.agentOfOthers = newAgent();
  return barrier.agentOfOthers;
}

bool Machine::expectTransactions(Mbarrier &barrier, int64_t bytes, Warp &warp,
                                 const Inst &inst, int lane) {
  barrier.transactions += bytes;
  warp.releaseWaits(barrier.arriving.waits);
  barrier.log.add(BarrierSource::Kind::Expect, warp, uint64_t(bytes));
  progress();
  if (bytes > kMaxTransactions || barrier.transactions > kMaxTransactions) {
    error(ErrorKind::TransactionOverrun,
          "the mbarrier at " + sharedName(barrier.offset) + " would expect " +
              std::to_string(barrier.transactions) +
              " bytes; the limit of its tx-count is 2^20 - 1",
          &warp, &inst, lane, true);
    return false;
  }
  return true;
}

void Machine::completeTransactions(Mbarrier &barrier, int64_t bytes,
                                   uint64_t phase, Warp &warp, const Inst &inst,
                                   int lane, const Clock &waits) {
  progress();
  if (!barrier.live)
    return; // reported when the barrier was invalidated
  if (barrier.phase != phase) {
    error(ErrorKind::TransactionOverrun,
          std::to_string(bytes) + " bytes of '" + mnemonic(&inst) +
              "' reach the mbarrier at " + sharedName(barrier.offset) +
              " after the phase they were issued in (" + std::to_string(phase) +
              ") has completed; it is in " + state(barrier) +
              "; expect_tx must announce every byte of the copies that "
              "complete on it",
          &warp, &inst, lane, true);
    return;
  }
  barrier.transactions -= bytes;
  barrier.log.add(BarrierSource::Kind::Bytes, warp, uint64_t(bytes));
  // Of what the issuer knew, only its waits: a complete-tx orders nothing but
  // the accesses of its own operation (PTX ISA 8.9.1.1).
  barrier.arriving.waits.join(waits);
  barrier.arrivals.landed = true;
  barrier.arrivals.committer = {};
  if (barrier.transactions < -kMaxTransactions ||
      (barrier.transactions < 0 && !barrier.pending)) {
    reportOverrun(barrier, "", warp, inst, lane);
    return;
  }
  completePhaseIfDone(barrier, warp, inst, lane);
}

void Machine::tellAccess(const Mbarrier &barrier, const Warp &warp,
                         const Inst &inst, int lane, bool waits) {
  if (!grid.options.onBarrierAccess)
    return;
  BarrierAccess access;
  access.waits = waits;
  access.block = warp.cta.index;
  access.warp = warp.id;
  access.lane = lane;
  access.rank = barrier.cta->rank;
  access.offset = barrier.offset;
  if (const SharedSymbol *symbol = grid.program.symbolAt(barrier.offset)) {
    access.symbol = symbol->name;
    access.offset -= symbol->offset;
  }
  access.ptxLine = inst.text->line;
  grid.options.onBarrierAccess(access);
}

void Machine::sawPhase(Mbarrier &barrier, Warp &warp, const Inst &inst,
                       int lane) {
  if (failedRequest.time && barrier.offset == failedRequest.offset &&
      barrier.time() >= failedRequest.time) {
    FailureSeen &seen = warp.cta.failuresSeen[warp.accessAgent()];
    if (seen.wait.none())
      seen.wait = warp.tag(inst);
    seen.lanes |= 1u << lane;
  }
  barrierEvent(3, barrier, &warp);
  goOn();
}

void Machine::waitSucceeded(Mbarrier &barrier, Warp &warp, const Inst &inst,
                            bool parity, Order order) {
  warp.acquire(barrier.done, order, Scope::Cta);
  if (inst.scope != Scope::Cta)
    warp.acquire(barrier.doneFromOthers, order, Scope::Cluster);
  if (timing)
    timing->waited(warp, barrier);
  uint32_t number = warp.countWait();
  if (!parity)
    return;
  for (PhaseWait &wait : barrier.waits)
    if (wait.agent == warp.waitAgent()) {
      wait = {warp.waitAgent(), number, &inst};
      return;
    }
  barrier.waits.push_back({warp.waitAgent(), number, &inst});
}
