// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The critical path of a timeline, walked from its end to its begin.
#include "fp8/Launch/CriticalPath.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace fp8::launch {
namespace {
using Slice = Timeline::Slice;
using Track = Timeline::Track;

/// The most that a wait takes whose barrier is complete, as producers' first
/// waits for each slot find it; without any, the shortest wait. A role's first
/// wait of all also fetches instructions, and does not count.
double findPlainWait(const Timeline &timeline) {
  double longest = 0, shortest = timeline.duration;
  for (const Track &track : timeline.tracks) {
    std::set<std::pair<uint32_t, uint32_t>> seen;
    for (const Slice &slice : track.slices) {
      if (slice.kind != Slice::Wait || slice.barrier == Timeline::kNone)
        continue;
      const double time = slice.end - slice.begin;
      shortest = std::min(shortest, time);
      if (timeline.table.barriers[slice.barrier].name == "empty" &&
          seen.insert({slice.barrier, slice.stage}).second && seen.size() > 1)
        longest = std::max(longest, time);
    }
  }
  return longest > 0 ? longest : shortest;
}

/// A walk that begins in one CTA.
class Walk {
public:
  using Key = std::tuple<PathPart::Kind, uint32_t, uint32_t>;

  Walk(const Timeline &timeline, uint32_t cta, double plainWait,
       std::map<Key, double> &parts)
      : timeline(timeline), plainWait(plainWait), parts(parts) {
    for (const Track &candidate : timeline.tracks)
      if (double end = endOf(candidate);
          candidate.cta == cta && (!track || end > now))
        track = &candidate, now = end;
  }

  void run() {
    while (const Slice *slice = findSlice())
      take(*slice);
  }

private:
  struct Arrival {
    const Track *track = nullptr;
    double time = 0;
  };

  static double endOf(const Track &track) {
    double end = 0;
    for (const Slice &slice : track.slices)
      if (slice.kind != Slice::Ended)
        end = slice.end;
    return end;
  }

  /// The track's slice that lies in front of now.
  const Slice *findSlice() const {
    auto behind = std::lower_bound(
        track->slices.begin(), track->slices.end(), now,
        [](const Slice &slice, double time) { return slice.begin < time; });
    return behind == track->slices.begin() ? nullptr : &*std::prev(behind);
  }

  void take(const Slice &slice) {
    switch (slice.kind) {
    case Slice::Start:
      return addUntil(slice.begin, PathPart::Start);
    case Slice::Unrecorded:
      return addUntil(slice.begin, PathPart::Unrecorded);
    case Slice::Work:
    case Slice::Ended:
      return addUntil(slice.begin, PathPart::Work);
    case Slice::Wait:
      break;
    }
    if (slice.end - slice.begin <= kRounding * plainWait)
      return addUntil(slice.begin, PathPart::Work);
    Arrival last = findArrival(slice);
    if (!last.track)
      return addUntil(slice.begin, PathPart::Wait, slice.barrier);
    addWaited(slice.barrier, last);
    track = last.track;
    now = last.time;
  }

  /// Adds the time since the arrival: as the role's work where it worked, and
  /// where it waited as the transfer. Without an engine that is work of others:
  /// warps of the arriving role come later than the one with stamps.
  void addWaited(uint32_t barrier, const Arrival &last) {
    const Walk::Key waited =
        isAsynchronous(barrier)
            ? Key{PathPart::Transfer, last.track->role, barrier}
            : Key{PathPart::Work, last.track->role, Timeline::kNone};
    const Walk::Key worked{PathPart::Work, track->role, Timeline::kNone};
    for (const Slice &slice : track->slices) {
      double time = std::min(slice.end, now) - std::max(slice.begin, last.time);
      bool isBlocked = slice.kind == Slice::Wait &&
                       slice.end - slice.begin > kRounding * plainWait;
      if (time > 0)
        parts[isBlocked ? waited : worked] += time;
    }
  }

  /// Whether engines complete the barrier's phases, when the hand-over is past:
  /// bytes, or an instruction that arrives when what it tracks is complete.
  bool isAsynchronous(uint32_t barrier) const {
    const WaitTable::Barrier &found = timeline.table.barriers[barrier];
    bool tracks = found.bytes != 0;
    for (const WaitTable::Arrival &arrival : found.arrivals)
      for (const char *instruction : {"tcgen05.commit", "cp.async"})
        tracks |= arrival.how.rfind(instruction, 0) == 0;
    return tracks;
  }

  void addUntil(double begin, PathPart::Kind kind,
                uint32_t barrier = Timeline::kNone) {
    parts[{kind, track->role, barrier}] += now - begin;
    now = begin;
  }

  /// The last arrival at the barrier that the wait was for, behind the role's
  /// wait for its phase before: in its CTA; else in the smallest cluster that
  /// it may be in, since CTAs of clusters arrive at one another's barriers.
  Arrival findArrival(const Slice &wait) const {
    if (wait.barrier == Timeline::kNone)
      return {};
    double after = 0;
    for (const Slice &slice : track->slices)
      if (&slice < &wait && slice.kind == Slice::Wait &&
          slice.barrier == wait.barrier && slice.stage == wait.stage)
        after = slice.end;
    Arrival last;
    for (uint32_t ctas = 1; !last.track && ctas <= kMostCtas; ctas *= 2)
      for (const Track &candidate : timeline.tracks)
        if (candidate.cta / ctas == track->cta / ctas)
          findArrival(candidate, wait, after, last);
    return last;
  }

  void findArrival(const Track &candidate, const Slice &wait, double after,
                   Arrival &last) const {
    for (const Timeline::HandOver &handOver : candidate.handOvers)
      if (handOver.barrier == wait.barrier && handOver.stage == wait.stage &&
          handOver.time > std::max(after, last.time) && handOver.time < now)
        last = {&candidate, handOver.time};
  }

  static constexpr uint32_t kMostCtas = 16;  // of a cluster, not portable
  static constexpr double kRounding = 1.001; // times are sums of doubles

  const Timeline &timeline;
  const double plainWait;
  std::map<Key, double> &parts;
  const Track *track = nullptr;
  double now = 0;
};
} // namespace

std::vector<PathPart> findCriticalPath(const Timeline &timeline) {
  std::map<Walk::Key, double> parts;
  std::set<uint32_t> ctas;
  const double plainWait = findPlainWait(timeline);
  for (const Track &track : timeline.tracks)
    if (ctas.insert(track.cta).second)
      Walk(timeline, track.cta, plainWait, parts).run();
  std::vector<PathPart> all;
  for (const auto &[key, time] : parts)
    if (time > 0)
      all.push_back(
          {std::get<0>(key), std::get<1>(key), std::get<2>(key), time});
  std::stable_sort(
      all.begin(), all.end(),
      [](const PathPart &a, const PathPart &b) { return a.time > b.time; });
  return all;
}

} // namespace fp8::launch
