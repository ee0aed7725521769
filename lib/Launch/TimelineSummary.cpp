// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A timeline in words: what each role waited for, and what that means.
#include "fp8/Launch/CriticalPath.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

namespace fp8::launch {
namespace {
using Slice = Timeline::Slice;

/// Smaller parts of the critical path are left out of its line.
constexpr double kLeastShare = 0.01;

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
    const std::vector<PathPart> path = findCriticalPath(timeline);
    if (path.empty())
      return all;
    all.push_back(describePath(path));
    if (std::string verdict = judge(path); !verdict.empty())
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

  /// The critical path in words, its largest parts first.
  std::string describePath(const std::vector<PathPart> &path) const {
    std::string text;
    for (const PathPart &part : path)
      if (shareOf(part, path) >= kLeastShare)
        text += (text.empty() ? "critical path: " : ", ") + describe(part) +
                " " + percent(shareOf(part, path));
    return text;
  }

  std::string describe(const PathPart &part) const {
    const std::string role = "'" + nameOfRole(part.role) + "'";
    switch (part.kind) {
    case PathPart::Start:
      return role + " starts";
    case PathPart::Work:
      return role + " works";
    case PathPart::Transfer:
      return "what " + role + " issued for " + nameOf(part.barrier) +
             " is under way";
    case PathPart::Wait:
      return role + " waits for " + nameOf(part.barrier);
    case PathPart::Unrecorded:
      return role + " is not recorded";
    }
    return "";
  }

  static double shareOf(const PathPart &part,
                        const std::vector<PathPart> &path) {
    double all = 0;
    for (const PathPart &other : path)
      all += other.time;
    return all > 0 ? part.time / all : 0;
  }

  /// What the largest part of the path means.
  std::string judge(const std::vector<PathPart> &path) const {
    const PathPart &part = path.front();
    const std::string share =
        percent(shareOf(part, path)) + " of the critical path";
    switch (part.kind) {
    case PathPart::Start:
      return "the start, " + share +
             ": let a CTA do more, or start while the kernel in front ends";
    case PathPart::Work:
      return "role '" + nameOfRole(part.role) + "' works for " + share +
             ": it sets the pace; make its work on a stage shorter, or let "
             "more warps or CTAs share it";
    case PathPart::Transfer:
      return judgeTransfer(part, share);
    case PathPart::Wait:
      return describe(part) + " for " + share +
             ", and no sampled role arrives there: sample the CTAs that do "
             "(--fp8-profile=ctas=N)";
    case PathPart::Unrecorded:
      return "";
    }
    return "";
  }

  std::string judgeTransfer(const PathPart &part,
                            const std::string &share) const {
    const WaitTable::Barrier &barrier = timeline.table.barriers[part.barrier];
    std::string text = "ring '" + barrier.ring + "' with " +
                       std::to_string(barrier.depth) + " slot" +
                       (barrier.depth == 1 ? "" : "s") + ": " + describe(part) +
                       " for " + share;
    return text + (barrier.bytes
                       ? "; raise `stages`, and where shared memory is full, "
                         "or no more bytes come, bring fewer or use more CTAs"
                       : "; make what it issues for a stage shorter");
  }

  const Timeline &timeline;
  std::vector<RoleTime> roles;
};
} // namespace

std::vector<std::string> summarise(const Timeline &timeline) {
  return Summary(timeline).lines();
}

} // namespace fp8::launch
