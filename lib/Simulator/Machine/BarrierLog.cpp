// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums up what mbarriers see.

#include "Machine/BarrierLog.h"

#include "Machine/Machine.h"

#include <algorithm>

using namespace fp8::sim;

static bool sameSource(const BarrierSource &a, const BarrierSource &b) {
  return a.kind == b.kind && a.rank == b.rank && a.warp == b.warp;
}

static void addSource(std::vector<BarrierSource> &sources,
                      const BarrierSource &seen) {
  auto known = std::find_if(
      sources.begin(), sources.end(),
      [&](const BarrierSource &other) { return sameSource(other, seen); });
  if (known == sources.end()) {
    sources.push_back(seen);
    return;
  }
  known->total += seen.total;
  known->least = std::min(known->least, seen.least);
  known->most = std::max(known->most, seen.most);
  known->phases += seen.phases;
}

void PhaseLog::add(BarrierSource::Kind kind, const Warp &warp,
                   uint64_t amount) {
  BarrierSource source;
  source.kind = kind;
  source.rank = warp.cta.rank;
  source.warp = warp.id;
  source.total = amount;
  for (BarrierSource &known : sources)
    if (sameSource(known, source)) {
      known.total += amount;
      return;
    }
  sources.push_back(source);
}

BarrierSource::Kind BarrierLog::arrivalKind(const Inst &inst) {
  const std::string &opcode = inst.text->opcode;
  return opcode == "tcgen05" ? BarrierSource::Kind::Commit
         : opcode == "cp"    ? BarrierSource::Kind::CopyAsync
                             : BarrierSource::Kind::Arrive;
}

void BarrierLog::open(Mbarrier &barrier) {
  auto [place, isNew] = places.try_emplace(
      {barrier.cta->rank, barrier.offset, barrier.expected}, uses.size());
  barrier.log = {};
  barrier.log.use = place->second;
  if (isNew) {
    BarrierUse use;
    use.rank = barrier.cta->rank;
    use.offset = use.symbolOffset = barrier.offset;
    use.count = barrier.expected;
    if (const SharedSymbol *symbol = program.symbolAt(barrier.offset)) {
      use.symbol = symbol->name;
      use.symbolOffset = uint32_t(barrier.offset - symbol->offset);
    }
    uses.push_back(use);
  }
  ++uses[barrier.log.use].inits;
}

void BarrierLog::completePhase(Mbarrier &barrier) {
  BarrierUse &use = uses[barrier.log.use];
  ++use.phases;
  for (BarrierSource &seen : barrier.log.sources) {
    seen.least = seen.most = seen.total;
    seen.phases = 1;
    addSource(use.sources, seen);
  }
  barrier.log.sources.clear();
}

void BarrierLog::close(Mbarrier &barrier) {
  uses[barrier.log.use].unfinished += !barrier.log.sources.empty();
  barrier.log.sources.clear();
}

void fp8::sim::addBarriers(std::vector<BarrierUse> &all,
                           const std::vector<BarrierUse> &cluster) {
  for (const BarrierUse &use : cluster) {
    auto known =
        std::find_if(all.begin(), all.end(), [&](const BarrierUse &other) {
          return other.rank == use.rank && other.offset == use.offset &&
                 other.count == use.count;
        });
    if (known == all.end()) {
      all.push_back(use);
      continue;
    }
    known->inits += use.inits;
    known->phases += use.phases;
    known->unfinished += use.unfinished;
    for (const BarrierSource &source : use.sources)
      addSource(known->sources, source);
  }
}

void fp8::sim::sortBarriers(std::vector<BarrierUse> &uses) {
  std::sort(uses.begin(), uses.end(),
            [](const BarrierUse &a, const BarrierUse &b) {
              return std::tie(a.rank, a.offset, a.count) <
                     std::tie(b.rank, b.offset, b.count);
            });
  for (BarrierUse &use : uses)
    std::sort(use.sources.begin(), use.sources.end(),
              [](const BarrierSource &a, const BarrierSource &b) {
                return std::tie(a.kind, a.rank, a.warp) <
                       std::tie(b.kind, b.rank, b.warp);
              });
}
