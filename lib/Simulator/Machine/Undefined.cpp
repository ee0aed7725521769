// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Undefined registers: how they spread through instructions that compute, and
// what is said where others use them.

#include "Machine/Machine.h"

#include <algorithm>
#include <map>
#include <tuple>

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
  SimulationError &error = machine.error(
      ErrorKind::RegisterInFlight,
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
  std::for_each(inst.d, inst.d + inst.destinations, check);
  if (inst.listIsDestination)
    for (uint32_t n = 0; n < inst.listCount; ++n)
      check(machine.program.lists[inst.list + n]);
}

void Warp::takeLeft() {
  for (const Left &l : left) {
    undefined.set(l.predicate ? 2 * l.row : l.row, l.lane, l.bits);
    (l.predicate ? predicateReady : ready)[l.row] &= ~(1u << l.lane);
  }
  left.clear();
}

void Warp::leaveAll(const Inst &inst, int lane, OriginId origin) {
  UndefinedBits all = UndefinedBits::all(origin);
  for (unsigned i = 0; i < inst.destinations; ++i)
    left.push_back({inst.d[i], false, lane, all});
  for (uint32_t n = 0; inst.listIsDestination && n < inst.listCount; ++n)
    left.push_back({machine.program.lists[inst.list + n], false, lane, all});
  for (unsigned i = 0; i < inst.predicateDestinations; ++i)
    if (inst.pd[i] >= 0)
      left.push_back({uint32_t(inst.pd[i]), true, lane, all});
}

namespace fp8::sim {

/// An instruction each bit of whose results depends on one bit at most of each
/// of its operands. It is executed with all undefined bits of an operand 0 and
/// 1: the bits that differ are undefined.
class BitSpread {
public:
  BitSpread(Warp &warp, const Inst &inst, uint32_t mask)
      : w(warp), inst(inst), mask(mask) {
    for (unsigned i = 0; i < inst.sources; ++i)
      if (!(inst.choosers >> i & 1))
        add(inst.s[i], groups++);
    if (!inst.listIsDestination && inst.listCount) {
      for (uint32_t n = 0; n < inst.listCount; ++n)
        add(list(n), groups);
      ++groups;
    }
    for (unsigned i = 0; i < inst.predicateSources; ++i)
      if (!(inst.choosingPredicates >> i & 1))
        addPredicate(inst.p[i], groups++);
    for (unsigned i = 0; i < inst.destinations; ++i)
      results.push_back(inst.d[i]);
    for (uint32_t n = 0; inst.listIsDestination && n < inst.listCount; ++n)
      results.push_back(list(n));
  }

  /// Leaves the undefined bits of the lanes that are not in `whole`.
  void run(uint32_t whole) {
    uint32_t varied = 0; // groups
    for (const Varied &v : operands)
      varied |= v.any() << v.group;
    if (!varied)
      return;
    save();
    const Outcome base = execute(0);
    for (uint32_t ones = varied; ones; ones = (ones - 1) & varied)
      compare(base, execute(ones), ones);
    restore();
    for (const auto &[key, bits] : found)
      if (!(whole >> key.lane & 1))
        w.left.push_back({key.row, key.predicate, key.lane, bits});
  }

private:
  using Values = std::array<uint64_t, 64>; ///< of a row and the one behind
  /// An operand with undefined bits. Those of one group vary together.
  struct Varied {
    uint32_t row; ///< of a predicate, its index
    bool predicate;
    uint32_t group;
    Values undefined{};
    std::array<OriginId, 32> origins{};

    uint32_t any() const {
      return std::any_of(origins.begin(), origins.end(),
                         [](OriginId origin) { return origin != 0; });
    }
  };
  /// What the instruction writes.
  struct Outcome {
    std::vector<Values> rows;
    std::array<uint32_t, 2> predicates{};
  };
  struct Key {
    uint32_t row;
    bool predicate;
    int lane;
    bool operator<(const Key &other) const {
      return std::tie(row, predicate, lane) <
             std::tie(other.row, other.predicate, other.lane);
    }
  };

  Warp &w;
  const Inst &inst;
  const uint32_t mask;
  std::vector<Varied> operands;
  uint32_t groups = 0;
  std::vector<uint32_t> results; ///< rows
  std::map<Key, UndefinedBits> found;
  std::vector<Values> savedOperands, savedResults;
  std::vector<uint32_t> savedPredicates, savedReady;

  uint32_t list(uint32_t n) const {
    return w.machine.program.lists[inst.list + n];
  }
  Values read(uint32_t row) const {
    Values values;
    std::copy_n(w.row(row), 64, values.begin());
    return values;
  }
  void write(uint32_t row, const Values &values) {
    std::copy(values.begin(), values.end(), w.row(row));
  }

  void add(uint32_t row, uint32_t group) {
    Varied v{row, false, group};
    forLanes(w.undefinedLanes(&row, 1, mask), [&](int l) {
      UndefinedBits bits = w.undefinedBits(inst, row, l);
      v.undefined[size_t(l)] = bits.bits[0];
      v.undefined[size_t(l) + 32] = bits.bits[1];
      v.origins[size_t(l)] = bits.origin;
    });
    if (v.any())
      operands.push_back(v);
  }
  void addPredicate(uint32_t index, uint32_t group) {
    Varied v{index, true, group};
    forLanes(mask, [&](int l) {
      v.origins[size_t(l)] = w.predicateOrigin(inst, index, l);
    });
    if (v.any())
      operands.push_back(v);
  }

  void save() {
    for (const Varied &v : operands)
      savedOperands.push_back(v.predicate ? Values() : read(v.row));
    for (uint32_t row : results)
      savedResults.push_back(read(row));
    savedPredicates = w.predicates;
    savedReady = w.predicateReady;
  }
  void restore() {
    for (size_t n = 0; n < results.size(); ++n)
      write(results[n], savedResults[n]);
    for (size_t n = 0; n < operands.size(); ++n)
      if (!operands[n].predicate)
        write(operands[n].row, savedOperands[n]);
    w.predicates = savedPredicates;
    w.predicateReady = savedReady;
  }

  /// Executes it with the undefined bits of the groups in `ones` 1, and all
  /// others 0.
  Outcome execute(uint32_t ones) {
    restore();
    for (size_t n = 0; n < operands.size(); ++n) {
      const Varied &v = operands[n];
      const bool one = ones >> v.group & 1;
      if (v.predicate) {
        forLanes(mask, [&](int l) {
          if (v.origins[size_t(l)])
            w.predicates[v.row] =
                (w.predicates[v.row] & ~(1u << l)) | uint32_t(one) << l;
        });
        continue;
      }
      uint64_t *values = w.row(v.row);
      for (size_t at = 0; at < v.undefined.size(); ++at)
        values[at] =
            one ? values[at] | v.undefined[at] : values[at] & ~v.undefined[at];
    }
    inst.fn(w, inst, mask);
    Outcome outcome;
    for (uint32_t row : results)
      outcome.rows.push_back(read(row));
    for (unsigned i = 0; i < inst.predicateDestinations; ++i)
      if (inst.pd[i] >= 0)
        outcome.predicates[i] = w.predicates[size_t(inst.pd[i])];
    return outcome;
  }

  /// The origin of what differs in a lane when `ones` do.
  OriginId originOf(int lane, uint32_t ones) const {
    for (const Varied &v : operands)
      if (ones >> v.group & 1 && v.origins[size_t(lane)])
        return v.origins[size_t(lane)];
    // Another lane's (shfl).
    for (const Varied &v : operands)
      if (ones >> v.group & 1)
        for (OriginId origin : v.origins)
          if (origin)
            return origin;
    return 0;
  }
  void add(const Key &key, std::array<uint64_t, 2> bits, uint32_t ones) {
    UndefinedBits &sum = found[key];
    sum.bits[0] |= bits[0];
    sum.bits[1] |= bits[1];
    // Of several, the origin of the one that differs by itself.
    if (!sum.origin || !(ones & (ones - 1)))
      sum.origin = originOf(key.lane, ones);
  }
  void compare(const Outcome &base, const Outcome &other, uint32_t ones) {
    forLanes(mask, [&](int l) {
      size_t at = size_t(l);
      for (size_t n = 0; n < results.size(); ++n) {
        const Values &a = base.rows[n], &b = other.rows[n];
        if (a[at] != b[at] || a[at + 32] != b[at + 32])
          add({results[n], false, l}, {a[at] ^ b[at], a[at + 32] ^ b[at + 32]},
              ones);
      }
      for (unsigned i = 0; i < inst.predicateDestinations; ++i)
        if ((base.predicates[i] ^ other.predicates[i]) >> l & 1)
          add({uint32_t(inst.pd[i]), true, l}, {~uint64_t(0), 0}, ones);
    });
  }
};

} // namespace fp8::sim

void Warp::spread(const Inst &inst, uint32_t mask) {
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
