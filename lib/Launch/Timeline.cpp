// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stamps to a timeline: clocks of several multiprocessors become one time.
#include "fp8/Launch/Profile.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

namespace fp8::launch {
namespace {
constexpr uint32_t barrierBytes =
    8; // PTX ISA, "Size and alignment of mbarrier"

/// One unit's part of the variable.
struct Unit {
  uint32_t cta, role;
  StampHead head;
  std::vector<Stamp> stamps;
  uint64_t lost = 0;

  /// Cycles from the begin of the kernel to the role's end.
  uint32_t cycles() const { return head.endClock - head.kernelClock; }
  double span() const { return double(head.endTime - head.kernelTime); }
};

/// The units that have ended.
std::vector<Unit> readUnits(const ProfileTable &table,
                            const std::vector<uint8_t> &variable) {
  std::vector<Unit> units;
  const uint64_t count = table.units(), stride = count * sizeof(Stamp);
  const uint8_t *stamps = variable.data() + table.headsBytes();
  for (uint32_t unit = 0; unit < count; ++unit) {
    const uint32_t roles = uint32_t(table.roles.size());
    Unit read{unit / roles, unit % roles, {}, {}};
    auto headOf = [&](uint32_t of) {
      StampHead head;
      std::memcpy(&head, variable.data() + of * sizeof(head), sizeof(head));
      return head;
    };
    read.head = headOf(unit);
    if (!read.head.endTime)
      continue;
    const StampHead told = headOf(read.cta * roles + table.teller());
    read.head.kernelTime = told.kernelTime;
    read.head.kernelClock = told.kernelClock;
    read.head.multiprocessor = told.multiprocessor;
    read.head.sharedMemory = told.sharedMemory;
    read.stamps.resize(std::min(read.head.count, table.stamps));
    read.lost = read.head.count - read.stamps.size();
    for (size_t i = 0; i < read.stamps.size(); ++i)
      std::memcpy(&read.stamps[i], stamps + i * stride + unit * sizeof(Stamp),
                  sizeof(Stamp));
    units.push_back(std::move(read));
  }
  return units;
}

/// One CTA's clock as time. Its roles run on one multiprocessor; the timer
/// ticks more coarsely than the clock, so all its readings count together.
struct ClockMap {
  uint32_t origin = 0; ///< the clock where the CTA began
  uint64_t timer = 0;  ///< what the timer said
  double time = 0;     ///< ns then
  double rate = 1;     ///< ns a cycle

  /// Of a clock less than 2^31 cycles behind the origin.
  double operator()(uint32_t clock) const {
    return time + rate * double(clock - origin);
  }
};

double findRate(const std::vector<Unit> &units) {
  const Unit *longest = &units.front();
  for (const Unit &unit : units)
    if (unit.span() > longest->span())
      longest = &unit;
  return longest->cycles() && longest->span() > 0
             ? longest->span() / longest->cycles()
             : 1;
}

std::map<uint32_t, ClockMap> mapClocks(const std::vector<Unit> &units) {
  std::map<uint32_t, ClockMap> maps;
  std::map<uint32_t, std::vector<double>> offsets;
  const double rate = findRate(units);
  for (const Unit &unit : units) {
    const ClockMap map{unit.head.kernelClock, unit.head.kernelTime, 0, rate};
    maps.insert({unit.cta, map});
    offsets[unit.cta].push_back(double(unit.head.kernelTime) -
                                map(unit.head.kernelClock));
    offsets[unit.cta].push_back(double(unit.head.endTime) -
                                map(unit.head.endClock));
  }
  double first = 0;
  for (auto &[cta, map] : maps) {
    double sum = 0;
    // Less the first, since sums of timers would lose digits.
    for (double offset : offsets[cta])
      sum += offset - offsets[cta].front();
    map.time = offsets[cta].front() + sum / double(offsets[cta].size());
    first = first == 0 ? map.time : std::min(first, map.time);
  }
  for (auto &[cta, map] : maps)
    map.time -= first;
  return maps;
}

/// Makes slices of the stamps of one unit.
class TrackReader {
public:
  TrackReader(const ProfileTable &table, const Unit &unit, const ClockMap &map)
      : table(table), unit(unit), map(map),
        track{unit.cta,
              unit.head.multiprocessor,
              unit.role,
              {},
              {},
              unit.lost,
              double(unit.head.endTime - map.timer)} {}

  /// `end`: of the CTA.
  Timeline::Track read(double end) {
    now = map(map.origin);
    close(Timeline::Slice::Start, map(unit.head.beginClock));
    for (const Stamp &stamp : unit.stamps)
      take(stamp);
    close(unit.lost ? Timeline::Slice::Unrecorded : Timeline::Slice::Work,
          map(unit.head.endClock));
    barrier = Timeline::kNone;
    close(Timeline::Slice::Ended, end);
    return std::move(track);
  }

private:
  void take(const Stamp &stamp) {
    if (const uint32_t waited = stamp.word >> 16; waited & Stamp::kIsThere) {
      close(Timeline::Slice::Work,
            map(stamp.since ? stamp.since : stamp.until));
      std::tie(barrier, slot) = findBarrier(waited);
      close(Timeline::Slice::Wait, map(stamp.until));
    }
    if (const uint32_t handed = stamp.word & 0xffff; handed & Stamp::kIsThere) {
      auto [found, stage] = findBarrier(handed);
      track.handOvers.push_back({map(stamp.when), found, stage});
    }
  }

  /// The barrier and its stage, of half a word.
  std::pair<uint32_t, uint32_t> findBarrier(uint32_t half) const {
    // A CTA of a cluster may see its number in the upper bits of its addresses.
    constexpr uint32_t reach = Stamp::kIsThere * barrierBytes;
    const uint32_t offset =
        (half * barrierBytes - unit.head.sharedMemory) % reach;
    for (size_t i = 0; i < table.barriers.size(); ++i) {
      const WaitTable::Barrier &candidate = table.barriers[i];
      if ((offset - candidate.offset) / barrierBytes < candidate.depth)
        return {uint32_t(i), (offset - candidate.offset) / barrierBytes};
    }
    return {Timeline::kNone, 0};
  }

  /// Ends a slice that began where the last one ended.
  void close(Timeline::Slice::Kind kind, double end) {
    end = std::max(end, now);
    // A wait counts however short it is: it is how a slot changes hands.
    if (end > now || kind == Timeline::Slice::Wait)
      track.slices.push_back({kind, now, end, barrier, slot});
    now = end;
  }

  const ProfileTable &table;
  const Unit &unit;
  const ClockMap &map;
  Timeline::Track track;
  double now = 0;
  uint32_t barrier = Timeline::kNone, slot = 0;
};
} // namespace

uint32_t ProfileTable::teller() const {
  uint32_t most = 0;
  for (uint32_t role = 1; role < roles.size(); ++role)
    if (roles[role].warps > roles[most].warps)
      most = role;
  return most;
}

uint64_t ProfileTable::headsBytes() const {
  return units() * sizeof(StampHead);
}

uint64_t ProfileTable::bytes() const {
  return headsBytes() + units() * uint64_t(stamps) * sizeof(Stamp);
}

double Timeline::Track::sum() const {
  double sum = 0;
  for (const Slice &slice : slices)
    if (slice.kind != Slice::Ended)
      sum += slice.end - slice.begin;
  return sum;
}

double Timeline::Track::accuracy() const {
  return timed > 0 ? sum() / timed : 1;
}

uint64_t Timeline::lost() const {
  uint64_t all = 0;
  for (const Track &track : tracks)
    all += track.lost;
  return all;
}

Expected<Timeline> readTimeline(const ProfileTable &table,
                                const std::vector<uint8_t> &variable) {
  if (variable.size() != table.bytes())
    return Error{"the stamps in '" + table.variable + "' have " +
                 std::to_string(variable.size()) + " bytes instead of " +
                 std::to_string(table.bytes()) +
                 "; use the manifest that was written with the PTX"};
  std::vector<Unit> units = readUnits(table, variable);
  if (units.empty())
    return Error{"no role has written stamps to '" + table.variable +
                 "'; read them after the kernel has ended"};
  Timeline timeline;
  timeline.table = table;
  timeline.gigahertz = 1 / findRate(units);
  std::map<uint32_t, ClockMap> maps = mapClocks(units);
  std::map<uint32_t, double> ends;
  for (const Unit &unit : units) {
    double end = maps[unit.cta](unit.head.endClock);
    ends[unit.cta] = std::max(ends[unit.cta], end);
    timeline.duration = std::max(timeline.duration, end);
  }
  for (const Unit &unit : units)
    timeline.tracks.push_back(
        TrackReader(table, unit, maps[unit.cta]).read(ends[unit.cta]));
  return timeline;
}

} // namespace fp8::launch
