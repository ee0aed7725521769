// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bottlenecks planted in a model of pipelines, found on the critical path.
#include "fp8/Launch/CriticalPath.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace fp8::launch;

namespace {
using Slice = Timeline::Slice;

/// A loader fills a ring; what it issues is under way for a while. `mma`
/// empties it and, every so many stages, fills a slot of accumulators, which
/// `epilogue` empties. Times are ns.
struct Model {
  uint32_t slots = 4, accumulators = 2, blocks = 48, blocksOfTile = 8;
  double issue = 10, flight = 200, spacing = 0; ///< of copies
  double multiply = 100, store = 100;

  Timeline run() const;
};

constexpr double kPoll = 5;   ///< what a wait takes that need not wait
constexpr double kArrive = 2; ///< until those who wait see an arrival
enum Role : uint32_t { Load, Mma, Epilogue };
enum Barrier : uint32_t { Full, Empty, SumFull, SumEmpty };

/// Writes the slices of one role.
class Actor {
public:
  explicit Actor(Timeline::Track &track) : track(track) {
    work(20, Slice::Start);
  }
  double now = 0;

  void work(double time, Slice::Kind kind = Slice::Work) {
    track.slices.push_back({kind, now, now + time});
    now += time;
  }
  void wait(Barrier barrier, uint32_t slot, double until) {
    double end = std::max(now + kPoll, until);
    track.slices.push_back({Slice::Wait, now, end, barrier, slot});
    now = end;
  }
  void handOver(Barrier barrier, uint32_t slot) {
    track.handOvers.push_back({now, barrier, slot});
  }

private:
  Timeline::Track &track;
};

Timeline Model::run() const {
  Timeline timeline;
  WaitTable::Arrival none;
  timeline.table.roles = {{"load", 4, 1}, {"mma", 5, 1}, {"epilogue", 0, 4}};
  timeline.table.barriers = {{"ring a, b", "full", 0, slots, {none}, 4096},
                             {"ring a, b", "empty", 64, slots, {none}, 0},
                             {"sums", "full", 128, accumulators, {none}, 0},
                             {"sums", "empty", 192, accumulators, {none}, 0}};
  for (uint32_t role : {Load, Mma, Epilogue})
    timeline.tracks.push_back({0, 0, role, {}, {}, 0, 0});
  Actor load(timeline.tracks[Load]), mma(timeline.tracks[Mma]),
      epilogue(timeline.tracks[Epilogue]);
  std::vector<double> freed(slots), summed(accumulators), taken(accumulators);
  double arrived = 0;
  for (uint32_t block = 0; block < blocks; ++block) {
    uint32_t slot = block % slots, sum = block / blocksOfTile % accumulators;
    load.wait(Empty, slot, freed[slot]);
    load.handOver(Full, slot);
    arrived = std::max(load.now + flight, arrived + spacing);
    load.work(issue);
    if (block % blocksOfTile == 0)
      mma.wait(SumEmpty, sum, taken[sum]);
    mma.wait(Full, slot, arrived);
    mma.work(multiply);
    mma.handOver(Empty, slot);
    freed[slot] = mma.now + kArrive;
    if (block % blocksOfTile != blocksOfTile - 1)
      continue;
    mma.handOver(SumFull, sum);
    epilogue.wait(SumFull, sum, mma.now + kArrive);
    epilogue.work(store);
    epilogue.handOver(SumEmpty, sum);
    taken[sum] = epilogue.now + kArrive;
  }
  return timeline;
}

/// The bottleneck that the summary names, without the cure.
std::string judge(const Timeline &timeline) {
  std::string last = summarise(timeline).back();
  return last.substr(0, last.find(';'));
}

double shareOf(const std::vector<PathPart> &path, PathPart::Kind kind,
               uint32_t role, uint32_t barrier = Timeline::kNone) {
  double found = 0, all = 0;
  for (const PathPart &part : path) {
    all += part.time;
    if (part.kind == kind && part.role == role && part.barrier == barrier)
      found += part.time;
  }
  return found / all;
}
} // namespace

TEST(CriticalPath, CoversTheWholeTime) {
  for (uint32_t slots : {1u, 2u, 5u}) {
    Model model;
    model.slots = slots;
    Timeline timeline = model.run();
    double all = 0;
    for (const PathPart &part : findCriticalPath(timeline))
      all += part.time;
    EXPECT_DOUBLE_EQ(all, timeline.tracks[Epilogue].slices.back().end);
  }
}

TEST(CriticalPath, FindsTooFewSlots) {
  Model model;
  model.slots = 2;
  model.flight = 400;
  Timeline timeline = model.run();
  std::vector<PathPart> path = findCriticalPath(timeline);
  EXPECT_GT(shareOf(path, PathPart::Transfer, Load, Full), 0.55);
  EXPECT_NE(judge(timeline).find("bottleneck: ring 'ring a, b' with 2 slots: "
                                 "what 'load' issued for full of 'ring a, b' "
                                 "is under way for "),
            std::string::npos)
      << judge(timeline);
  // With enough of them the multiplications set the pace.
  model.slots = 8;
  path = findCriticalPath(model.run());
  EXPECT_GT(shareOf(path, PathPart::Work, Mma), 0.8);
}

TEST(CriticalPath, FindsASlowLoader) {
  Model model;
  model.issue = 150;
  Timeline timeline = model.run();
  EXPECT_GT(shareOf(findCriticalPath(timeline), PathPart::Work, Load), 0.8);
  EXPECT_NE(judge(timeline).find("bottleneck: role 'load' works for "),
            std::string::npos)
      << judge(timeline);
}

TEST(CriticalPath, FindsSlowMultiplications) {
  Model model;
  model.multiply = 300;
  Timeline timeline = model.run();
  EXPECT_GT(shareOf(findCriticalPath(timeline), PathPart::Work, Mma), 0.9);
  EXPECT_NE(judge(timeline).find("bottleneck: role 'mma' works for "),
            std::string::npos)
      << judge(timeline);
}

TEST(CriticalPath, FindsStarvedMultiplications) {
  // Copies come one after the other, however many are under way.
  Model model;
  model.slots = 6;
  model.spacing = 250;
  Timeline timeline = model.run();
  EXPECT_GT(shareOf(findCriticalPath(timeline), PathPart::Transfer, Load, Full),
            0.55);
  EXPECT_NE(judge(timeline).find("bottleneck: ring 'ring a, b' with 6 slots"),
            std::string::npos)
      << judge(timeline);
}

TEST(CriticalPath, FindsSlowStores) {
  Model model;
  model.store = 2000;
  Timeline timeline = model.run();
  EXPECT_GT(shareOf(findCriticalPath(timeline), PathPart::Work, Epilogue), 0.8);
  EXPECT_NE(judge(timeline).find("bottleneck: role 'epilogue' works for "),
            std::string::npos)
      << judge(timeline);
  // Stores that fit beside the next tile are not on the path, but for the last.
  model.store = 600;
  EXPECT_LT(shareOf(findCriticalPath(model.run()), PathPart::Work, Epilogue),
            0.2);
}

TEST(CriticalPath, DoesNotFollowWaitsThatDoNotBlock) {
  // Every wait finds its barrier complete: the consumer is never held up.
  Model model;
  model.flight = 20;
  model.slots = 8;
  std::vector<PathPart> path = findCriticalPath(model.run());
  EXPECT_LT(shareOf(path, PathPart::Transfer, Load, Full), 0.02);
  EXPECT_EQ(path.front().kind, PathPart::Work);
  EXPECT_EQ(path.front().role, uint32_t(Mma));
}

TEST(CriticalPath, SaysWhereNobodyArrives) {
  Timeline timeline = Model().run();
  timeline.tracks.erase(timeline.tracks.begin());
  std::vector<PathPart> path = findCriticalPath(timeline);
  EXPECT_GT(shareOf(path, PathPart::Wait, Mma, Full), 0);
  EXPECT_EQ(shareOf(path, PathPart::Transfer, Load, Full), 0);
}

TEST(CriticalPath, FollowsArrivalsInACluster) {
  // The loader of another CTA fills this one's ring.
  Model model;
  model.issue = 150;
  Timeline timeline = model.run();
  timeline.tracks[Load].cta = 1;
  std::vector<PathPart> path = findCriticalPath(timeline);
  EXPECT_EQ(shareOf(path, PathPart::Wait, Mma, Full), 0);
  EXPECT_GT(shareOf(path, PathPart::Work, Load), 0.8);
}

TEST(CriticalPath, NamesWorkWhereWaitsAreShort) {
  // Each wait is blocked, for a little: more slots would gain that little.
  Model model;
  model.slots = 2;
  model.multiply = 300;
  model.flight = 320;
  std::vector<PathPart> path = findCriticalPath(model.run());
  EXPECT_GT(shareOf(path, PathPart::Transfer, Load, Full), 0.02);
  EXPECT_GT(shareOf(path, PathPart::Work, Mma), 0.85);
}
