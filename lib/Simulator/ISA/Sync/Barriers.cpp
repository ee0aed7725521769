// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// bar, barrier.cta, barrier.cluster, bar.warp.sync, fences (PTX ISA 9.7.13.1
// to 9.7.13.6).

#include "ISA/Families.h"

#include "ISA/Alu/Alu.h"
#include "Machine/Machine.h"

using namespace fp8::sim;

namespace {

enum class Named { Sync, Arrive, RedAnd, RedOr, RedPopc };

/// Payload of bar and barrier.cta.
struct NamedUse {
  Named kind;
  bool counted; ///< a number of threads is given
};

/// One warp's part in a named barrier.
class NamedBarrierUse {
public:
  NamedBarrierUse(Warp &w, const Inst &i, uint32_t mask)
      : w(w), i(i), mask(mask), lane(__builtin_ctz(mask)), m(w.machine),
        use(i.get<NamedUse>()), id(uint32_t(w.row(i.s[0])[lane])) {}

  Flow run() {
    if (id >= w.cta.namedBarriers.size()) {
      bad("named barrier " + std::to_string(id) +
          " does not exist; there are 0 to 15");
      return Flow::Next;
    }
    NamedBarrier &barrier = w.cta.namedBarriers[id];
    LaneGroup &group = w.group();
    if (!group.arrived) {
      if (!arrive(barrier) || use.kind == Named::Arrive)
        return Flow::Next;
      group.arrived = true;
    }
    if (barrier.generation < group.ticket)
      return w.waitFor(WaitKind::Named);
    w.acquire(barrier.done);
    takeResult(barrier);
    return Flow::Next;
  }

private:
  Warp &w;
  const Inst &i;
  const uint32_t mask;
  const int lane;
  Machine &m;
  const NamedUse &use;
  const uint32_t id;

  SimulationError &bad(std::string message) {
    return m.error(ErrorKind::NamedBarrierMisuse, std::move(message), &w, &i,
                   lane, true);
  }

  /// Whether the number of threads is legal, and the same as in earlier
  /// arrivals.
  bool checkCount(const NamedBarrier &barrier, bool wholeCta,
                  uint32_t expected) {
    if (!wholeCta && (expected == 0 || expected % 32)) {
      bad("'" + Machine::mnemonic(&i) + "' expects " +
          std::to_string(expected) +
          " threads; the count must be a positive multiple of 32");
      return false;
    }
    if (!barrier.arrived ||
        (barrier.wholeCta == wholeCta && barrier.expected == expected))
      return true;
    auto count = [](bool whole, const std::string &threads) {
      return whole ? std::string("the whole CTA") : threads;
    };
    bad("named barrier " + std::to_string(id) + " expects " +
        count(barrier.wholeCta, std::to_string(barrier.expected) + " threads") +
        ", but '" + Machine::mnemonic(&i) + "' gives " +
        count(wholeCta, std::to_string(expected)) +
        "; all participants must give the same count")
        .notes.push_back(
            m.note(barrier.first, "the other count was given here"));
    return false;
  }

  /// False after an error.
  bool arrive(NamedBarrier &barrier) {
    bool wholeCta = !use.counted;
    uint32_t expected = wholeCta ? 0 : uint32_t(w.row(i.s[1])[lane]);
    if (!checkCount(barrier, wholeCta, expected))
      return false;
    if (!barrier.arrived)
      barrier.first = &i;
    barrier.wholeCta = wholeCta;
    barrier.expected = expected;
    // A warp counts as soon as its lanes that have not exited have all come
    // (PTX ISA 9.7.13.1).
    const bool isLast = w.isLastLiveOf(barrier.lanes, mask);
    if (isLast)
      barrier.count(w);
    if (!wholeCta && barrier.arrived > expected) {
      bad("named barrier " + std::to_string(id) + " expects " +
          std::to_string(expected) + " threads, but " +
          std::to_string(barrier.arrived) + " arrive");
      return false;
    }
    if (use.kind >= Named::RedAnd) {
      uint32_t p = w.predicate(i, 0) & mask;
      barrier.reduceAnd &= p == mask;
      barrier.reduceOr |= p != 0;
      barrier.reducePopc += uint32_t(__builtin_popcount(p));
    }
    m.progress();
    w.group().ticket = barrier.generation + 1;
    w.group().id = id;
    w.release(barrier.arriving, isLast);
    w.cta.tryCompleteNamed(barrier);
    return true;
  }

  void takeResult(const NamedBarrier &barrier) {
    if (use.kind == Named::RedPopc) {
      uint64_t *d = w.row(i.d[0]);
      forLanes(mask, [&](int l) { d[l] = barrier.resultPopc; });
    } else if (use.kind != Named::Sync) {
      uint32_t result =
          use.kind == Named::RedAnd ? barrier.resultAnd : barrier.resultOr;
      w.setPredicate(i, 0, mask, result ? ~0u : 0);
    }
  }
};

Flow namedBarrier(Warp &w, const Inst &i, uint32_t mask) {
  return NamedBarrierUse(w, i, mask).run();
}

Flow warpSync(Warp &w, const Inst &, uint32_t) {
  w.meet();
  w.machine.goOn();
  return Flow::Next;
}

/// Payload of barrier.cluster.
struct ClusterUse {
  bool relaxed; ///< carries only what came before a fence
};

Flow clusterArrive(Warp &w, const Inst &i, uint32_t mask) {
  Machine &m = w.machine;
  if (w.clusterArrived & mask) {
    m.error(ErrorKind::BarrierMisuse,
            "'" + Machine::mnemonic(&i) +
                "' arrives again before barrier.cluster.wait",
            &w, &i, __builtin_ctz(w.clusterArrived & mask), true);
    return Flow::Next;
  }
  w.clusterArrived |= mask;
  w.clusterCounted |= mask;
  forLanes(mask, [&](int l) {
    w.clusterTickets[size_t(l)] = m.clusterBarrier.phase + 1;
  });
  // What is under way to another CTA need not have come there: an H200 ended
  // such CTAs early (benchmark/NOTES.md).
  const bool isLast = !(w.live() & ~w.clusterCounted);
  if (i.get<ClusterUse>().relaxed)
    w.releaseFenced(m.clusterBarrier.arriving, Scope::Cluster, isLast);
  else
    w.release(m.clusterBarrier.arriving, isLast);
  m.clusterBarrier.arrived += uint32_t(__builtin_popcount(mask));
  m.progress();
  m.tryCompleteCluster();
  return Flow::Next;
}

Flow clusterWait(Warp &w, const Inst &i, uint32_t mask) {
  Machine &m = w.machine;
  if (mask & ~w.clusterArrived) {
    m.error(ErrorKind::BarrierMisuse,
            "'" + Machine::mnemonic(&i) +
                "' has no barrier.cluster.arrive before it",
            &w, &i, __builtin_ctz(mask & ~w.clusterArrived), true);
    return Flow::Next;
  }
  // Without .aligned each thread waits for itself: some may have arrived for
  // the next phase when others are still here.
  uint32_t late = 0;
  forLanes(mask, [&](int l) {
    late |= uint32_t(m.clusterBarrier.phase < w.clusterTickets[size_t(l)]) << l;
  });
  if (late == mask)
    return w.waitFor(WaitKind::ClusterBarrier);
  if (late)
    w.fork(late, w.executing().pc);
  w.clusterArrived &= ~(mask & ~late);
  w.acquire(m.clusterBarrier.done);
  m.progress();
  return Flow::Next;
}

bool decodeNamed(Decoder &d, Inst &i, bool aligned) {
  int kind = d.takeOneOf({"sync", "arrive", "red"});
  if (kind < 0)
    return d.fail("needs .sync, .arrive or .red");
  i.fn = namedBarrier;
  NamedUse &use = i.make<NamedUse>();
  use.kind = Named(kind);
  if (aligned)
    i.convergence = Convergence::Aligned;
  if (kind == 2) {
    int op = d.takeOneOf({"and", "or", "popc"});
    bool ok = op == 2 ? d.take("u32") && d.destination(i, Type::U32)
                      : d.take("pred") && d.predicateDestination(i);
    if (op < 0 || !ok)
      return d.fail("needs .and.pred, .or.pred or .popc.u32");
    use.kind = Named(int(Named::RedAnd) + op);
  }
  size_t extra = kind == 2 ? 1 : 0;
  if (!d.source(i, Type::U32))
    return false;
  if (d.operandsLeft() > extra) {
    use.counted = true;
    if (!d.source(i, Type::U32))
      return false;
  } else if (kind == 1) {
    return d.fail("needs a number of threads");
  }
  return kind != 2 || d.predicateSource(i);
}

bool decodeBar(Decoder &d, Inst &i) {
  if (d.take("warp")) {
    i.fn = warpSync;
    i.convergence = Convergence::Members;
    return d.take("sync") && d.source(i, Type::B32);
  }
  d.take("cta");
  return decodeNamed(d, i, true);
}

bool decodeBarrier(Decoder &d, Inst &i) {
  if (!d.take("cluster")) {
    d.take("cta");
    return decodeNamed(d, i, d.take("aligned"));
  }
  int kind = d.takeOneOf({"arrive", "wait"});
  if (kind < 0)
    return d.fail("needs .arrive or .wait");
  i.make<ClusterUse>().relaxed = d.take("relaxed");
  d.takeOneOf({"release", "acquire"});
  if (d.take("aligned"))
    i.convergence = Convergence::Aligned;
  i.fn = kind == 0 ? clusterArrive : clusterWait;
  return true;
}

Flow fenceThread(Warp &w, const Inst &i, uint32_t) {
  if (i.scope == Scope::Gpu)
    w.machine.fenceGrid(w);
  else
    w.fenceThread(i.scope);
  return Flow::Next;
}

/// Payload of fence.proxy.async: the state spaces that it is for.
struct ProxyFence {
  bool ofShared, ofGlobal;
};

Flow fenceProxyAsync(Warp &w, const Inst &i, uint32_t) {
  const ProxyFence &fence = i.get<ProxyFence>();
  w.machine.fenceProxy(w, fence.ofShared, fence.ofGlobal);
  return Flow::Next;
}

Flow fenceMbarrierInit(Warp &w, const Inst &, uint32_t) {
  w.fenceThread(Scope::Cluster);
  for (Mbarrier &barrier : w.cta.mbarriers)
    if (w.isOwnAccess(barrier.initAgent) ||
        w.knows(barrier.initAgent, barrier.initTime))
      barrier.initFenced = true;
  return Flow::Next;
}

Flow acquireTensorMap(Warp &w, const Inst &i, uint32_t mask) {
  const uint64_t *address = w.row(i.s[0]);
  w.machine.fenceGrid(w);
  forLanes(mask, [&](int l) {
    w.machine.acquireTensorMap(w, address[l] + uint64_t(i.offset));
  });
  return Flow::Next;
}

Flow releaseTensorMaps(Warp &w, const Inst &i, uint32_t) {
  w.machine.releaseTensorMaps(w, i);
  w.machine.fenceGrid(w);
  return Flow::Next;
}

bool decodeTensorMapFence(Decoder &d, Inst &i) {
  int direction = d.takeOneOf({"acquire", "release"});
  if (direction < 0)
    return d.fail("needs .acquire or .release");
  if (d.takeOneOf({"cta", "cluster", "gpu", "sys"}) < 0)
    return d.fail("needs a scope such as .gpu");
  i.fn = direction == 0 ? acquireTensorMap : releaseTensorMaps;
  uint64_t bytes = kTensorMapBytes;
  if (direction == 0 && (!d.address(i) || !d.immediate(bytes)))
    return false;
  return bytes == kTensorMapBytes || d.fail("takes a size of 128 bytes");
}

bool decodeFence(Decoder &d, Inst &i) {
  i.fn = fenceThread;
  if (d.take("mbarrier_init")) {
    i.fn = fenceMbarrierInit;
    d.take("release");
    return d.take("cluster");
  }
  if (d.take("proxy")) {
    if (d.takeOneOf({"async", "async::generic"}) >= 0) {
      i.fn = fenceProxyAsync;
      int space = d.takeOneOf({"global", "shared::cta", "shared::cluster"});
      if (d.take("acquire") || d.take("release")) {
        if (d.takeOneOf({"sync_restrict::shared::cluster",
                         "sync_restrict::shared::cta"}) >= 0)
          space = 1;
        d.take("cluster");
      }
      i.make<ProxyFence>() = {space != 0, space <= 0};
      return true;
    }
    if (d.take("alias"))
      return true;
    if (d.take("tensormap::generic"))
      return decodeTensorMapFence(d, i);
    return d.fail("is not supported with this proxy");
  }
  d.takeOneOf({"sc", "acq_rel", "acquire", "release"});
  d.takeOneOf({"sync_restrict::shared::cta", "sync_restrict::shared::cluster"});
  return d.takeScope(i) || d.fail("needs a scope such as .cta");
}

} // namespace

void fp8::sim::addBarriersOpcodes(OpcodeTable &t) {
  t.add("bar", decodeBar);
  t.add("barrier", decodeBarrier);
  t.add("fence", decodeFence);
  t.add("membar", [](Decoder &d, Inst &i) {
    const int scope = d.takeOneOf({"cta", "gl", "sys"});
    i.fn = fenceThread;
    i.scope = scope > 0 ? Scope::Gpu : Scope::Cta;
    return scope >= 0 || d.fail("needs .cta, .gl or .sys");
  });
}
