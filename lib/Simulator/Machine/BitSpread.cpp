// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Executes an instruction with other undefined bits, and compares.

#include "Machine/BitSpread.h"

#include "Machine/Machine.h"

#include <algorithm>
#include <tuple>

using namespace fp8::sim;

bool BitSpread::Varied::any() const {
  return std::any_of(origins.begin(), origins.end(),
                     [](OriginId origin) { return origin != 0; });
}

bool BitSpread::Place::operator<(const Place &other) const {
  return std::tie(row, predicate, lane) <
         std::tie(other.row, other.predicate, other.lane);
}

BitSpread::BitSpread(Warp &warp, const Inst &inst, uint32_t mask)
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

void BitSpread::run(uint32_t whole) {
  uint32_t varied = 0; // groups
  for (const Varied &v : operands)
    varied |= 1u << v.group;
  if (!varied)
    return;
  save();
  const Outcome base = execute(0);
  for (uint32_t ones = varied; ones; ones = (ones - 1) & varied)
    compare(base, execute(ones), ones);
  restore();
  for (const auto &[place, bits] : found)
    if (!(whole >> place.lane & 1))
      w.left.push_back({place.row, place.predicate, place.lane, bits});
}

uint32_t BitSpread::list(uint32_t n) const {
  return w.machine.program.lists[inst.list + n];
}

/// Whether the next row has the upper half of the register's values.
static bool hasUpperHalf(const Program &program, uint32_t row) {
  return row < program.registers &&
         program.function->registers[row / 2].bits > 64;
}

BitSpread::Values BitSpread::read(uint32_t row) const {
  Values values{};
  std::copy_n(w.row(row), 32, values.begin());
  if (hasUpperHalf(w.machine.program, row))
    std::copy_n(w.row(row + 1), 32, values.begin() + 32);
  return values;
}

void BitSpread::write(uint32_t row, const Values &values) {
  std::copy_n(values.begin(), 32, w.row(row));
  if (hasUpperHalf(w.machine.program, row))
    std::copy_n(values.begin() + 32, 32, w.row(row + 1));
}

void BitSpread::add(uint32_t row, uint32_t group) {
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

void BitSpread::addPredicate(uint32_t index, uint32_t group) {
  Varied v{index, true, group};
  forLanes(mask, [&](int l) {
    v.origins[size_t(l)] = w.predicateOrigin(inst, index, l);
  });
  if (v.any())
    operands.push_back(v);
}

void BitSpread::save() {
  for (const Varied &v : operands)
    savedOperands.push_back(v.predicate ? Values() : read(v.row));
  for (uint32_t row : results)
    savedResults.push_back(read(row));
  savedPredicates = w.predicates;
  savedReady = w.predicateReady;
}

void BitSpread::restore() {
  for (size_t n = 0; n < results.size(); ++n)
    write(results[n], savedResults[n]);
  for (size_t n = 0; n < operands.size(); ++n)
    if (!operands[n].predicate)
      write(operands[n].row, savedOperands[n]);
  w.predicates = savedPredicates;
  w.predicateReady = savedReady;
}

BitSpread::Outcome BitSpread::execute(uint32_t ones) {
  restore();
  for (const Varied &v : operands) {
    const bool one = ones >> v.group & 1;
    if (v.predicate) {
      uint32_t &value = w.predicates[v.row];
      forLanes(mask, [&](int l) {
        if (v.origins[size_t(l)])
          value = (value & ~(1u << l)) | uint32_t(one) << l;
      });
      continue;
    }
    Values values = read(v.row);
    for (size_t at = 0; at < v.undefined.size(); ++at)
      values[at] =
          one ? values[at] | v.undefined[at] : values[at] & ~v.undefined[at];
    write(v.row, values);
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

OriginId BitSpread::originOf(int lane, uint32_t ones) const {
  OriginId other = 0; // another lane's (shfl)
  for (const Varied &v : operands) {
    if (!(ones >> v.group & 1))
      continue;
    if (OriginId origin = v.origins[size_t(lane)])
      return origin;
    for (OriginId origin : v.origins)
      other = other ? other : origin;
  }
  return other;
}

void BitSpread::add(const Place &place, const std::array<uint64_t, 2> &bits,
                    uint32_t ones) {
  UndefinedBits &sum = found[place];
  sum.bits[0] |= bits[0];
  sum.bits[1] |= bits[1];
  // Of several, the origin of the one that differs by itself.
  if (!sum.origin || !(ones & (ones - 1)))
    sum.origin = originOf(place.lane, ones);
}

void BitSpread::compare(const Outcome &base, const Outcome &other,
                        uint32_t ones) {
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
