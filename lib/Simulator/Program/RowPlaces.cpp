// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers that no lane needs at the same time share places, and rows without
// values share one, so that the others lie close together in the host's caches.

#include "Program/RowPlaces.h"

#include "Program/LiveRanges.h"

#include <map>
#include <numeric>
#include <utility>

using namespace fp8::sim;

namespace {

constexpr uint32_t kLanes = 32;

/// Places, given out in the order of the code.
class Places {
public:
  /// A place that is free from `range.first` on.
  uint32_t take(LiveRange range) {
    auto earliest = taken.begin();
    uint32_t place = next;
    if (earliest != taken.end() && earliest->first < range.first) {
      place = earliest->second;
      taken.erase(earliest);
    } else {
      next += kLanes;
    }
    taken.emplace(range.last, place);
    return place;
  }
  uint32_t takeForever() { return std::exchange(next, next + kLanes); }
  uint32_t end() const { return next; }

private:
  uint32_t next = 0;
  std::multimap<uint32_t, uint32_t> taken; ///< by the last instruction
};

} // namespace

void fp8::sim::placeRows(Program &program) {
  const std::vector<LiveRange> ranges = findLiveRanges(program);
  Places places;
  const uint32_t unused = places.takeForever();
  program.places.assign(program.registers, unused);
  std::vector<uint32_t> order(ranges.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(ranges[a].first, a) < std::pair(ranges[b].first, b);
  });
  for (uint32_t reg : order) {
    const unsigned bits = program.function->registers[reg].bits;
    if (bits == 1 || ranges[reg].isEmpty())
      continue;
    program.places[2 * reg] = places.take(ranges[reg]);
    if (bits > 64)
      program.places[2 * reg + 1] = places.take(ranges[reg]);
  }
  for (size_t i = 0; i < program.constants.size(); ++i)
    program.places.push_back(places.takeForever());
  program.placesEnd = places.end();
}
