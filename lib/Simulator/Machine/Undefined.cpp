// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Undefined registers: how they spread through instructions that compute, and
// what is said where others use them.

#include "Machine/BitSpread.h"
#include "Machine/Machine.h"

#include <algorithm>
#include <array>
#include <iterator>

using namespace fp8::sim;

static std::string rowName(const Program &program, uint32_t row) {
  return row < program.rowNames.size() ? program.rowNames[row] : "a constant";
}

UndefinedBits Warp::undefinedBits(const Inst &inst, uint32_t row, int lane) {
  if (ready[row] >> lane & 1)
    return {};
  if (const UndefinedBits *bits = undefined.find(row, lane))
    return *bits;
  return UndefinedBits::all(
      machine.origins.add(ErrorKind::UninitialisedRegister, inst, row, [&] {
        return "register " + rowName(machine.program, row) +
               " is read before it is written";
      }));
}

OriginId Warp::predicateOrigin(const Inst &inst, uint32_t index, int lane) {
  if (predicateReady[index] >> lane & 1)
    return 0;
  if (const UndefinedBits *bits = undefined.find(2 * index, lane))
    return bits->origin;
  return machine.origins.add(
      ErrorKind::UninitialisedRegister, inst, 2 * index, [&] {
        return "predicate " + rowName(machine.program, 2 * index) +
               " is read before it is written";
      });
}

static constexpr const char *kCure =
    ", which is undefined; define it, or what it comes from, on every path to "
    "here";

void Warp::reportUndefined(const Inst &inst, int lane, const char *verb,
                           uint32_t row, OriginId origin) {
  machine.reportUndefined(origin,
                          "'" + Machine::mnemonic(&inst) + "' " + verb +
                              " register " + rowName(machine.program, row) +
                              kCure,
                          this, &inst, lane);
}

void Warp::reportUndefined(const Inst &inst, uint32_t row, uint32_t lanes,
                           bool write) {
  int lane = __builtin_ctz(lanes);
  const Inst *flight = owner(row, write);
  if (!flight) {
    const bool isAddress =
        std::any_of(inst.s, inst.s + inst.sources, [&](const uint32_t &s) {
          return s == row && inst.addresses >> (&s - inst.s) & 1;
        });
    reportUndefined(inst, lane, isAddress ? "takes an address from" : "needs",
                    row, undefinedBits(inst, row, lane).origin);
    return;
  }
  auto loaded = std::find_if(
      rowsInFlight.begin(), rowsInFlight.end(),
      [&](const RowInFlight &f) { return f.row == row && f.read; });
  const bool wasRead = write && loaded != rowsInFlight.end();
  if (wasRead)
    rowsInFlight.erase(loaded);
  SimulationError &error = machine.error(
      wasRead ? Rule::OverwrittenLoad : Rule::RegisterInFlight,
      "register " + rowName(machine.program, row) +
          (write ? " is written" : " is read") + " while '" +
          Machine::mnemonic(flight) + "' still owns it; execute " +
          (flight->wgmma ? "wgmma.commit_group and a wgmma.wait_group that "
                           "covers it"
                         : "tcgen05.wait::ld") +
          " between the two",
      this, &inst, lane);
  error.notes.push_back(machine.note(flight, flight->wgmma
                                                 ? "the wgmma was issued here"
                                                 : "the load was issued here"));
}

void Warp::checkPredicate(uint32_t index, uint32_t mask, const Inst &inst,
                          const char *verb) {
  uint32_t lanes = mask & ~predicateReady[index];
  if (!lanes)
    return;
  int lane = __builtin_ctz(lanes);
  machine.reportUndefined(predicateOrigin(inst, index, lane),
                          "'" + Machine::mnemonic(&inst) + "' " + verb +
                              " predicate " +
                              rowName(machine.program, 2 * index) + kCure,
                          this, &inst, lane);
  predicateReady[index] |= lanes; // say it once
}

void Warp::checkOperands(const Inst &inst, uint32_t mask) {
  auto check = [&](uint32_t row, bool needed) {
    uint32_t lanes = mask & ~ready[row];
    if (!lanes || (!needed && !owner(row, false)))
      return;
    reportUndefined(inst, row, lanes, false);
    ready[row] |= lanes; // say it once
  };
  for (unsigned i = 0; i < inst.sources; ++i)
    check(inst.s[i], !inst.computes || inst.needed >> i & 1);
  if (!inst.listIsDestination)
    for (uint32_t n = 0; n < inst.listCount; ++n)
      check(machine.program.lists[inst.list + n],
            !inst.computes && !inst.checksList);
  // The handler says what becomes of undefined ones.
  for (uint32_t n = 0; n < inst.sourceListCount; ++n)
    check(machine.program.lists[inst.sourceList + n], inst.needsSourceList);
  for (unsigned i = 0; i < inst.predicateSources && !inst.computes; ++i)
    checkPredicate(inst.p[i], mask, inst, "depends on");
}

void Warp::checkDestinations(const Inst &inst, uint32_t mask) {
  if (inst.wgmma)
    return;
  auto check = [&](uint32_t row) {
    const Inst *flight = owner(row, true);
    if (flight && (mask & ~ready[row] || !flight->wgmma))
      reportUndefined(inst, row, mask, true);
  };
  const Program &program = machine.program;
  std::for_each(program.begin(inst.writes), program.end(inst.writes), check);
}

void Warp::takeLeft() {
  for (const Left &l : left) {
    undefined.set(l.predicate ? 2 * l.row : l.row, l.lane, l.bits);
    (l.predicate ? predicateReady : ready)[l.row] &= ~(1u << l.lane);
  }
  left.clear();
}

void Warp::addUndefined(uint32_t row, uint32_t lanes,
                        const UndefinedBits &bits) {
  UndefinedRegisters::Row &its = undefined.get(row);
  forLanes(lanes, [&](int lane) {
    UndefinedBits &now = its[size_t(lane)];
    if (ready[row] >> lane & 1)
      now = {};
    for (size_t half = 0; half < now.bits.size(); ++half)
      now.bits[half] |= bits.bits[half];
    now.origin = bits.origin;
  });
  ready[row] &= ~lanes;
}

bool Warp::isFromUndefined(uint32_t row, uint32_t lanes) const {
  bool all = true;
  forLanes(lanes,
           [&](int lane) { all &= undefined.find(row, lane) != nullptr; });
  return all;
}

void Warp::land(uint32_t row, bool adds, unsigned elementBits) {
  ready[row] = ~0u;
  if (undefined.empty())
    return;
  if (!adds)
    return undefined.forget(row);
  UndefinedRegisters::Row *its = undefined.getIfAny(row);
  for (int lane = 0; lane < 32 && its; ++lane)
    if (UndefinedBits &bits = (*its)[size_t(lane)]; bits.any()) {
      bits = bits.inElements(elementBits);
      ready[row] &= ~(1u << lane);
    }
}

void Warp::leaveAll(const Inst &inst, int lane, OriginId origin) {
  UndefinedBits all = UndefinedBits::all(origin);
  const Program &program = machine.program;
  std::for_each(program.begin(inst.writes), program.end(inst.writes),
                [&](uint32_t row) { left.push_back({row, false, lane, all}); });
  for (unsigned i = 0; i < inst.predicateDestinations; ++i)
    if (inst.pd[i] >= 0)
      left.push_back({uint32_t(inst.pd[i]), true, lane, all});
}

/// The elements of a result that undefined bits of a source decide, a bit each.
static uint32_t decided(const Elements &elements, Elements::Source source,
                        uint64_t undefined) {
  if (!source.bits)
    return (1u << elements.count) - 1;
  uint32_t found = 0;
  const unsigned count =
      std::min(elements.count - source.first, 64 / source.bits);
  for (unsigned n = 0; n < count; ++n)
    if (undefined >> (n * source.bits) << (64 - source.bits))
      found |= 1u << (n + source.first);
  return found;
}

void Warp::spreadElements(const Inst &inst, uint32_t mask) {
  const Elements &elements = inst.elements;
  std::array<uint32_t, 32> found{};
  std::array<OriginId, 32> origins{};
  auto add = [&](int l, uint32_t which, OriginId origin) {
    found[size_t(l)] |= which;
    if (which && !origins[size_t(l)])
      origins[size_t(l)] = origin;
  };
  auto addRow = [&](uint32_t row, Elements::Source source) {
    forLanes(undefinedLanes(&row, 1, mask), [&](int l) {
      const UndefinedBits bits = undefinedBits(inst, row, l);
      add(l, decided(elements, source, bits.bits[0]), bits.origin);
    });
  };
  for (unsigned i = 0; i < inst.sources; ++i)
    addRow(inst.s[i], i < std::size(elements.sources) ? elements.sources[i]
                                                      : Elements::Source{});
  for (uint32_t n = 0; n < inst.listCount; ++n)
    addRow(machine.program.lists[inst.list + n],
           {64, uint8_t(elements.count - 1 - n)});
  for (unsigned i = 0; i < inst.predicateSources; ++i)
    forLanes(mask, [&](int l) {
      if (OriginId origin = predicateOrigin(inst, inst.p[i], l))
        add(l, decided(elements, {}, 0), origin);
    });
  const uint64_t element = ~uint64_t(0) >> (64 - elements.bits);
  forLanes(mask, [&](int l) {
    const UndefinedBits all = UndefinedBits::all(origins[size_t(l)]);
    UndefinedBits some{{}, all.origin};
    for (unsigned n = 0; n < elements.count; ++n) {
      if (!(found[size_t(l)] >> n & 1))
        continue;
      some.bits[0] |= element << (n * elements.bits);
      if (n < inst.predicateDestinations && inst.pd[n] >= 0)
        left.push_back({uint32_t(inst.pd[n]), true, l, all});
    }
    if (inst.destinations && some.any())
      left.push_back({inst.d[0], false, l, some});
  });
}

void Warp::spread(const Inst &inst, uint32_t mask) {
  if (inst.elements.count)
    return spreadElements(inst, mask);
  uint32_t whole = 0; // lanes in which all results are undefined
  auto make = [&](int lane, OriginId origin) {
    if (origin && !(whole >> lane & 1)) {
      whole |= 1u << lane;
      leaveAll(inst, lane, origin);
    }
  };
  auto checkRow = [&](uint32_t row) {
    forLanes(undefinedLanes(&row, 1, mask),
             [&](int l) { make(l, undefinedBits(inst, row, l).origin); });
  };
  for (unsigned i = 0; i < inst.sources; ++i)
    if (!inst.bitwise || inst.choosers >> i & 1)
      checkRow(inst.s[i]);
  for (uint32_t n = 0;
       !inst.bitwise && !inst.listIsDestination && n < inst.listCount; ++n)
    checkRow(machine.program.lists[inst.list + n]);
  for (unsigned i = 0; i < inst.predicateSources; ++i)
    if (!inst.bitwise || inst.choosingPredicates >> i & 1)
      forLanes(mask,
               [&](int l) { make(l, predicateOrigin(inst, inst.p[i], l)); });
  if (inst.bitwise)
    BitSpread(*this, inst, mask).run(whole);
}
