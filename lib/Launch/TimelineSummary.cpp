// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A timeline in words: what each role waited for, and what that means.
#include "fp8/Launch/Profile.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <set>

namespace fp8::launch {
namespace {
using Slice = Timeline::Slice;

/// Above this share of its time, the role that waits least waits too long to
/// be what the others wait for.
constexpr double kIdleShare = 0.1;

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f %%", 100 * share);
  return text;
}

std::string microseconds(double ns) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f us", ns / 1000);
  return text;
}

/// One role, over all sampled CTAs.
struct RoleTime {
  double total = 0, kinds[5] = {};
  std::map<uint32_t, double> waits; ///< by barrier
  const Slice *longest = nullptr;
  uint32_t longestCta = 0;

  double share(double time) const { return total > 0 ? time / total : 0; }
  double waiting() const { return share(kinds[Slice::Wait]); }
  /// The share of the time that it waits for that barrier.
  double waitingFor(uint32_t barrier) const {
    auto found = waits.find(barrier);
    return found == waits.end() ? 0 : share(found->second);
  }
  /// The barriers, the longest waits first.
  std::vector<uint32_t> byTime() const {
    std::vector<uint32_t> order;
    for (const auto &[barrier, time] : waits)
      order.push_back(barrier);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return waits.at(a) > waits.at(b);
    });
    return order;
  }
};

class Summary {
public:
  explicit Summary(const Timeline &timeline)
      : timeline(timeline), roles(timeline.table.roles.size()) {
    for (const Timeline::Track &track : timeline.tracks)
      add(track);
  }

  std::vector<std::string> lines() const {
    std::vector<std::string> all{begin()};
    for (size_t i = 0; i < roles.size(); ++i)
      if (roles[i].total > 0)
        all.push_back(describe(i));
    all.push_back(compareTimer());
    if (timeline.lost())
      all.push_back(countLost());
    if (std::string verdict = judge(); !verdict.empty())
      all.push_back("bottleneck: " + verdict);
    return all;
  }

private:
  void add(const Timeline::Track &track) {
    RoleTime &role = roles[track.role];
    for (const Slice &slice : track.slices) {
      double time = slice.end - slice.begin;
      role.total += time;
      role.kinds[slice.kind] += time;
      if (slice.kind != Slice::Wait)
        continue;
      role.waits[slice.barrier] += time;
      if (!role.longest || time > role.longest->end - role.longest->begin) {
        role.longest = &slice;
        role.longestCta = track.cta;
      }
    }
  }

  std::string nameOf(uint32_t barrier) const {
    if (barrier == Timeline::kNone)
      return "another barrier";
    const WaitTable::Barrier &found = timeline.table.barriers[barrier];
    return found.name + " of '" + found.ring + "'";
  }
  const std::string &nameOfRole(size_t role) const {
    return timeline.table.roles[role].name;
  }

  std::string begin() const {
    std::set<uint32_t> ctas;
    for (const Timeline::Track &track : timeline.tracks)
      ctas.insert(track.cta);
    char clock[32];
    std::snprintf(clock, sizeof(clock), "%.3g", timeline.gigahertz);
    return std::to_string(ctas.size()) + " CTA" +
           (ctas.size() == 1 ? "" : "s") + " in " +
           microseconds(timeline.duration) + ", at " + clock +
           " cycles a ns; stamps take " +
           std::to_string((timeline.table.bytesPerCta() + 1023) / 1024) +
           " KiB a CTA";
  }

  std::string describe(size_t index) const {
    const RoleTime &role = roles[index];
    std::string text = "role '" + nameOfRole(index) + "': works " +
                       percent(role.share(role.kinds[Slice::Work]));
    for (uint32_t barrier : role.byTime())
      text += ", waits " + percent(role.waitingFor(barrier)) + " for " +
              nameOf(barrier);
    const std::pair<Slice::Kind, const char *> others[] = {
        {Slice::Start, "starts"},
        {Slice::Unrecorded, "is not recorded"},
        {Slice::Ended, "has ended"}};
    for (auto [kind, name] : others)
      if (role.kinds[kind] > 0)
        text += std::string(", ") + name + " " +
                percent(role.share(role.kinds[kind]));
    if (role.longest)
      text += "; longest wait " +
              microseconds(role.longest->end - role.longest->begin) + ", for " +
              nameOf(role.longest->barrier) + ", stage " +
              std::to_string(role.longest->stage) + ", in CTA " +
              std::to_string(role.longestCta) + " at " +
              microseconds(role.longest->begin);
    return text;
  }

  /// How well the slices, which clocks measure, fit the timer.
  std::string compareTimer() const {
    double least = 1, most = 1;
    for (const Timeline::Track &track : timeline.tracks) {
      least = std::min(least, track.accuracy());
      most = std::max(most, track.accuracy());
    }
    return "the slices of each role add up to " + percent(least) + " to " +
           percent(most) + " of its time by the timer";
  }

  std::string countLost() const {
    uint64_t most = 0;
    for (const Timeline::Track &track : timeline.tracks)
      most = std::max(most, track.lost);
    return std::to_string(timeline.lost()) +
           " stamps dropped: profile with room for all (--fp8-profile=stamps=" +
           std::to_string(timeline.table.stamps + most) + ")";
  }

  /// Whether the role is one of those that complete the barrier's phases.
  bool arrivesAt(size_t role, uint32_t barrier) const {
    if (barrier == Timeline::kNone)
      return false;
    for (const WaitTable::Arrival &arrival :
         timeline.table.barriers[barrier].arrivals)
      if (arrival.role == nameOfRole(role))
        return true;
    return false;
  }

  /// How long other roles wait for this one: the longest share.
  std::pair<double, size_t> waitedFor(size_t role) const {
    std::pair<double, size_t> most{0, role};
    for (size_t other = 0; other < roles.size(); ++other)
      for (const auto &[barrier, time] : roles[other].waits)
        if (other != role && arrivesAt(role, barrier))
          most = std::max(most, {roles[other].share(time), other});
    return most;
  }

  std::string judge() const {
    std::optional<size_t> least;
    for (size_t i = 0; i < roles.size(); ++i)
      if (roles[i].total > 0 && waitedFor(i).first > 0 &&
          (!least || roles[i].waiting() < roles[*least].waiting()))
        least = i;
    if (!least)
      return "";
    const RoleTime &role = roles[*least];
    auto [share, other] = waitedFor(*least);
    std::vector<uint32_t> waits = role.byTime();
    uint32_t longest = waits.empty() ? Timeline::kNone : waits.front();
    if (role.waitingFor(longest) < kIdleShare || longest == Timeline::kNone)
      return "role '" + nameOfRole(*least) + "' waits least, " +
             percent(role.waiting()) + " of the time, and '" +
             nameOfRole(other) + "' waits " + percent(share) +
             " for it; it sets the pace: make its work on a stage shorter, or "
             "let more warps or CTAs share it";
    return explainRing(*least, longest);
  }

  /// Nobody works all the time: the ring between the role and those that it
  /// waits for is too short, or what fills it too slow.
  std::string explainRing(size_t role, uint32_t barrier) const {
    const WaitTable::Barrier &found = timeline.table.barriers[barrier];
    std::string text =
        "ring '" + found.ring + "' with " + std::to_string(found.depth) +
        " slot" + (found.depth == 1 ? "" : "s") + ": role '" +
        nameOfRole(role) + "' waits " +
        percent(roles[role].waitingFor(barrier)) + " for " + found.name;
    for (size_t other = 0; other < roles.size(); ++other)
      if (other != role && arrivesAt(other, barrier))
        text += ", '" + nameOfRole(other) + "' itself waits " +
                percent(roles[other].waiting());
    return text + "; a slot is refilled too late: raise `stages`, and where "
                  "shared memory is full, bring fewer bytes or use more CTAs";
  }

  const Timeline &timeline;
  std::vector<RoleTime> roles;
};
} // namespace

std::vector<std::string> summarise(const Timeline &timeline) {
  return Summary(timeline).lines();
}

} // namespace fp8::launch
