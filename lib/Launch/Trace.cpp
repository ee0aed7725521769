// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A timeline as a trace in Chrome's JSON format, which Perfetto opens.
#include "fp8/Launch/Profile.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace fp8::launch {
namespace {
using Json = nlohmann::ordered_json;
using Slice = Timeline::Slice;

/// What is known of one ring of one CTA.
struct RingUse {
  std::vector<double> acquired; ///< when the producer got a slot, in order
  size_t filled = 0;            ///< slots that a consumer got
  /// By role: when it handed slots back, in order.
  std::map<uint32_t, std::vector<double>> returned;
  uint32_t slots = 0;
};

std::vector<std::pair<double, uint32_t>> countSlots(RingUse &use) {
  // What a producer acquires behind the last slot that anybody used is its way
  // to wait until all are back.
  if (use.acquired.size() > use.filled)
    use.acquired.resize(use.filled);
  std::vector<std::pair<double, int>> steps;
  for (double time : use.acquired)
    steps.push_back({time, 1});
  size_t complete = use.returned.empty() ? 0 : use.acquired.size();
  for (const auto &[role, times] : use.returned)
    complete = std::min(complete, times.size());
  for (size_t i = 0; i < complete; ++i) {
    double last = 0;
    for (const auto &[role, times] : use.returned)
      last = std::max(last, times[i]);
    steps.push_back({last, -1});
  }
  std::stable_sort(steps.begin(), steps.end());
  std::vector<std::pair<double, uint32_t>> changes;
  int64_t now = 0;
  for (auto [time, step] : steps) {
    now = std::clamp<int64_t>(now + step, 0, use.slots);
    if (!changes.empty() && changes.back().first == time)
      changes.back().second = uint32_t(now);
    else
      changes.push_back({time, uint32_t(now)});
  }
  return changes;
}

const char *nameOf(Slice::Kind kind) {
  switch (kind) {
  case Slice::Start:
    return "start";
  case Slice::Work:
    return "work";
  case Slice::Wait:
    return "wait";
  case Slice::Unrecorded:
    return "not recorded";
  case Slice::Ended:
    return "ended";
  }
  return "";
}

Json describe(const Timeline &timeline, const Timeline::Track &track,
              const Slice &slice) {
  const char *kind = nameOf(slice.kind);
  Json event{{"ph", "X"},
             {"pid", track.cta},
             {"tid", track.role},
             {"ts", slice.begin / 1000},
             {"dur", (slice.end - slice.begin) / 1000}};
  event["cat"] = kind;
  if (slice.kind == Slice::Unrecorded) {
    event["name"] = std::to_string(track.lost) + " stamps dropped";
    return event;
  }
  if (slice.barrier == Timeline::kNone) {
    event["name"] = kind;
    return event;
  }
  const WaitTable::Barrier &barrier = timeline.table.barriers[slice.barrier];
  event["name"] = slice.kind == Slice::Wait
                      ? "wait for " + barrier.name + " of " + barrier.ring
                      : "work on " + barrier.ring;
  event["args"] = {{"ring", barrier.ring},
                   {"barrier", barrier.name},
                   {"stage", slice.stage}};
  return event;
}

void addNames(const Timeline &timeline, const Timeline::Track &track,
              Json &events) {
  if (track.role == 0 || events.empty() ||
      events.back().value("pid", Timeline::kNone) != track.cta)
    events.push_back(
        {{"ph", "M"},
         {"pid", track.cta},
         {"name", "process_name"},
         {"args",
          {{"name", "CTA " + std::to_string(track.cta) + " on SM " +
                        std::to_string(track.multiprocessor)}}}});
  events.push_back({{"ph", "M"},
                    {"pid", track.cta},
                    {"tid", track.role},
                    {"name", "thread_name"},
                    {"args",
                     {{"name", timeline.table.roles[track.role].name},
                      {"timed_us", track.timed / 1000}}}});
}
} // namespace

std::vector<Occupancy> findOccupancy(const Timeline &timeline) {
  std::map<std::pair<uint32_t, std::string>, RingUse> uses;
  auto find = [&](uint32_t cta, uint32_t barrier) -> RingUse & {
    const WaitTable::Barrier &found = timeline.table.barriers[barrier];
    RingUse &use = uses[{cta, found.ring}];
    use.slots = std::max(use.slots, found.depth);
    return use;
  };
  auto is = [&](uint32_t barrier, const char *name) {
    return barrier != Timeline::kNone &&
           timeline.table.barriers[barrier].name == name;
  };
  for (const Timeline::Track &track : timeline.tracks) {
    std::map<std::string, size_t> filled;
    for (const Slice &slice : track.slices) {
      if (slice.kind != Slice::Wait)
        continue;
      if (is(slice.barrier, "empty"))
        find(track.cta, slice.barrier).acquired.push_back(slice.end);
      else if (is(slice.barrier, "full")) {
        RingUse &use = find(track.cta, slice.barrier);
        size_t count = ++filled[timeline.table.barriers[slice.barrier].ring];
        use.filled = std::max(use.filled, count);
      }
    }
    for (const Timeline::HandOver &handOver : track.handOvers)
      if (is(handOver.barrier, "empty"))
        find(track.cta, handOver.barrier)
            .returned[track.role]
            .push_back(handOver.time);
  }
  std::vector<Occupancy> all;
  for (auto &[key, use] : uses)
    all.push_back({key.first, key.second, use.slots, countSlots(use)});
  return all;
}

std::string writeTrace(const Timeline &timeline, const std::string &kernel) {
  Json events = Json::array();
  for (const Timeline::Track &track : timeline.tracks) {
    addNames(timeline, track, events);
    for (const Slice &slice : track.slices)
      events.push_back(describe(timeline, track, slice));
  }
  for (const Occupancy &ring : findOccupancy(timeline))
    for (auto [time, slots] : ring.changes)
      events.push_back({{"ph", "C"},
                        {"pid", ring.cta},
                        {"name", "slots of " + ring.ring},
                        {"ts", time / 1000},
                        {"args", {{"in use", slots}}}});
  // A line an event: a diff or a grep finds its way.
  std::string text = "{\"displayTimeUnit\": \"ns\",\n \"otherData\": ";
  text += Json{{"kernel", kernel},
               {"duration_us", timeline.duration / 1000},
               {"clock_ghz", timeline.gigahertz},
               {"stamps_dropped", timeline.lost()}}
              .dump();
  text += ",\n \"traceEvents\": [";
  const char *separator = "\n";
  for (const Json &event : events) {
    text += separator + event.dump();
    separator = ",\n";
  }
  return text + "\n]}\n";
}

} // namespace fp8::launch
