// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stamps to timelines, traces and summaries.
#include "ManifestInputs.h"
#include "fp8/Launch/Manifest.h"

#include <cstring>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace fp8::launch;

namespace {
/// Two roles, of which up to four stamps in each of two CTAs: load fills a ring
/// of three slots, mma empties it. CTA 1 stays unwritten unless a test fills
/// it.
class Stamps : public testing::Test {
protected:
  static constexpr uint32_t kShared = 4096, kFull = 1024, kEmpty = 1048;

  Stamps() {
    auto read = parseManifest(readInput("valid/profile.json"));
    EXPECT_TRUE(read) << read.error();
    table = *read->profile;
    variable.resize(table.bytes(), 0xee);
    for (uint32_t unit = 0; unit < table.units(); ++unit)
      put(headOf(unit), StampHead());
    // The clock wraps while the roles run; it ticks twice a ns.
    open(0, 0, 0xfffffff0u, 1000, 400);
    open(0, 1, 0xfffffff0u, 1000, 400);
  }
  uint64_t headOf(uint32_t unit) const { return unit * sizeof(StampHead); }
  template <typename T>
  void put(uint64_t at, const T &value) {
    std::memcpy(&variable[at], &value, sizeof(value));
  }
  /// A role that begins 10 cycles behind its kernel, 5 ns before `time`, and
  /// lasts `cycles`.
  void open(uint32_t cta, uint32_t role, uint32_t clock, uint64_t time,
            uint32_t cycles) {
    StampHead head = {};
    head.beginClock = clock;
    if (role == table.teller()) {
      head.kernelTime = time - 5;
      head.kernelClock = clock - 10;
      head.multiprocessor = 7;
      head.sharedMemory = kShared;
    }
    head.endTime = time + cycles / 2;
    head.endClock = clock + cycles;
    uint32_t unit = cta * 2 + role;
    put(headOf(unit), head);
  }
  /// A hand-over so many cycles behind the begin of the role.
  void handOver(uint32_t cta, uint32_t role, uint32_t cycles, uint32_t offset) {
    write(cta, role, {0xeeeeeeee, 0xeeeeeeee, cycles, half(offset)});
  }
  /// A wait, from and until so many cycles behind the begin of the role; one
  /// that takes no time does not tell when it began.
  void wait(uint32_t cta, uint32_t role, uint32_t begin, uint32_t end,
            uint32_t offset) {
    write(cta, role, {begin, end, 0xeeeeeeee, half(offset) << 16});
  }
  Timeline read() const {
    auto timeline = readTimeline(table, variable);
    EXPECT_TRUE(timeline) << timeline.error();
    return *timeline;
  }

  ProfileTable table;
  std::vector<uint8_t> variable;

  /// A wait that takes no time, and a hand-over, in one stamp.
  void passAndHandOver(uint32_t cta, uint32_t role, uint32_t passed,
                       uint32_t handed, uint32_t full, uint32_t empty) {
    write(cta, role, {passed, passed, handed, half(full) << 16 | half(empty)});
  }

private:
  static uint32_t half(uint32_t offset) {
    return (kShared + offset) / 8 + Stamp::kIsThere;
  }
  /// Clocks are behind the begin of the role.
  void write(uint32_t cta, uint32_t role, Stamp stamp) {
    uint32_t unit = cta * 2 + role;
    StampHead head;
    std::memcpy(&head, &variable[headOf(unit)], sizeof(head));
    stamp.since =
        stamp.since == stamp.until ? 0 : stamp.since + head.beginClock;
    stamp.until += head.beginClock;
    stamp.when += head.beginClock;
    if (head.count < table.stamps)
      put(table.headsBytes() +
              (head.count * table.units() + unit) * sizeof(Stamp),
          stamp);
    ++head.count;
    put(headOf(unit), head);
  }
};
using Slice = Timeline::Slice;
} // namespace

TEST_F(Stamps, BecomeSlicesWithoutGaps) {
  wait(0, 1, 20, 120, kFull + 16);
  handOver(0, 1, 220, kEmpty + 16);
  Timeline timeline = read();
  EXPECT_DOUBLE_EQ(timeline.gigahertz, 2);
  EXPECT_DOUBLE_EQ(timeline.duration, 205);
  ASSERT_EQ(timeline.tracks.size(), 2u);
  const Timeline::Track &mma = timeline.tracks[1];
  EXPECT_EQ(mma.role, 1u);
  EXPECT_EQ(mma.multiprocessor, 7u);
  ASSERT_EQ(mma.slices.size(), 4u);
  const Slice::Kind kinds[] = {Slice::Start, Slice::Work, Slice::Wait,
                               Slice::Work};
  const double ends[] = {5, 15, 65, 205};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(mma.slices[i].kind, kinds[i]);
    EXPECT_DOUBLE_EQ(mma.slices[i].begin, i ? ends[i - 1] : 0);
    EXPECT_DOUBLE_EQ(mma.slices[i].end, ends[i]);
  }
  EXPECT_EQ(mma.slices[2].barrier, 0u);
  EXPECT_EQ(mma.slices[2].stage, 2u);
  ASSERT_EQ(mma.handOvers.size(), 1u);
  EXPECT_DOUBLE_EQ(mma.handOvers[0].time, 115);
  EXPECT_EQ(mma.handOvers[0].barrier, 1u);
}

TEST_F(Stamps, HoldAWaitAndAHandOver) {
  passAndHandOver(0, 1, 120, 220, kFull + 16, kEmpty + 8);
  const Timeline timeline = read();
  const Timeline::Track &mma = timeline.tracks[1];
  ASSERT_EQ(mma.slices.size(), 4u);
  EXPECT_EQ(mma.slices[2].kind, Slice::Wait);
  EXPECT_DOUBLE_EQ(mma.slices[2].begin, 65);
  EXPECT_DOUBLE_EQ(mma.slices[2].end, 65);
  EXPECT_EQ(mma.slices[2].barrier, 0u);
  EXPECT_EQ(mma.slices[2].stage, 2u);
  ASSERT_EQ(mma.handOvers.size(), 1u);
  EXPECT_DOUBLE_EQ(mma.handOvers[0].time, 115);
  EXPECT_EQ(mma.handOvers[0].barrier, 1u);
  EXPECT_EQ(mma.handOvers[0].stage, 1u);
}

TEST_F(Stamps, NeedNoUpperBitsOfAddresses) {
  // As a CTA of a cluster may have.
  constexpr uint32_t number = 3 << 24;
  const uint64_t at = headOf(0) + offsetof(StampHead, sharedMemory);
  put(at, kShared + number);
  passAndHandOver(0, 1, 120, 220, kFull + 16, kEmpty + 8);
  const Timeline timeline = read();
  EXPECT_EQ(timeline.tracks[1].slices[2].barrier, 0u);
  EXPECT_EQ(timeline.tracks[1].handOvers[0].barrier, 1u);
}

TEST_F(Stamps, MapMultiprocessorsToOneTime) {
  // Another clock, 100 ns later.
  open(1, 0, 77, 1100, 400);
  open(1, 1, 77, 1100, 400);
  Timeline timeline = read();
  ASSERT_EQ(timeline.tracks.size(), 4u);
  EXPECT_DOUBLE_EQ(timeline.tracks[2].slices.front().begin, 100);
  EXPECT_DOUBLE_EQ(timeline.duration, 305);
}

TEST_F(Stamps, CountWhatFoundNoRoom) {
  for (uint32_t i = 0; i < 6; ++i)
    wait(0, 0, 10 * (i + 1), 10 * (i + 1) + 5, kEmpty);
  Timeline timeline = read();
  EXPECT_EQ(timeline.tracks[0].lost, 2u);
  const Slice &last = timeline.tracks[0].slices.back();
  EXPECT_EQ(last.kind, Slice::Unrecorded);
  EXPECT_DOUBLE_EQ(last.begin, 27.5);
  EXPECT_DOUBLE_EQ(last.end, 205);
  EXPECT_EQ(timeline.lost(), 2u);
  EXPECT_EQ(summarise(timeline)[4], "2 stamps dropped: profile with room for "
                                    "all (--fp8-profile=stamps=6)");
  auto trace = nlohmann::json::parse(writeTrace(timeline, "k"));
  EXPECT_EQ(trace["otherData"]["stamps_dropped"], 2);
  EXPECT_NE(trace.dump().find("\"2 stamps dropped\""), std::string::npos);
}

TEST_F(Stamps, AddUpToTheTimer) {
  wait(0, 1, 20, 120, kFull);
  Timeline timeline = read();
  for (const Timeline::Track &track : timeline.tracks) {
    EXPECT_DOUBLE_EQ(track.timed, 205);
    EXPECT_DOUBLE_EQ(track.sum(), 205);
  }
  EXPECT_EQ(summarise(timeline)[3], "the slices of each role add up to 100.0 % "
                                    "to 100.0 % of its time by the timer");
  // A role of the same cycles that lasts longer by the timer sets the rate.
  StampHead head;
  std::memcpy(&head, &variable[headOf(0)], sizeof(head));
  head.endTime += 41;
  put(headOf(0), head);
  timeline = read();
  EXPECT_DOUBLE_EQ(timeline.tracks[0].accuracy(), 1);
  EXPECT_DOUBLE_EQ(timeline.tracks[1].accuracy(), 1.2);
  EXPECT_EQ(summarise(timeline)[3], "the slices of each role add up to 100.0 % "
                                    "to 120.0 % of its time by the timer");
}

TEST_F(Stamps, CountSlotsInUse) {
  wait(0, 0, 0, 10, kEmpty);
  // Behind the last slot that is used: the producer waits until all are back.
  wait(0, 0, 10, 300, kEmpty + 8);
  wait(0, 1, 0, 100, kFull);
  handOver(0, 1, 200, kEmpty);
  std::vector<Occupancy> rings = findOccupancy(read());
  ASSERT_EQ(rings.size(), 1u);
  EXPECT_EQ(rings[0].ring, "pipeline a, b");
  EXPECT_EQ(rings[0].slots, 3u);
  using Changes = std::vector<std::pair<double, uint32_t>>;
  EXPECT_EQ(rings[0].changes, (Changes{{10, 1}, {105, 0}}));
}

TEST_F(Stamps, MakeATrace) {
  wait(0, 1, 20, 120, kFull + 8);
  auto trace = nlohmann::json::parse(writeTrace(read(), "k"));
  EXPECT_EQ(trace["otherData"]["kernel"], "k");
  std::vector<std::string> names;
  for (const auto &event : trace["traceEvents"]) {
    if (event["ph"] == "M")
      names.push_back(event["args"]["name"]);
    if (event["name"] != "wait for full of pipeline a, b")
      continue;
    EXPECT_EQ(event["args"]["stage"], 1);
    EXPECT_DOUBLE_EQ(event["ts"], 0.015); // us
    EXPECT_DOUBLE_EQ(event["dur"], 0.05);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"CTA 0 on SM 7", "load", "mma"}));
}

TEST_F(Stamps, NameTheBottleneck) {
  open(0, 0, 0xfffffff0u, 1000, 300);
  wait(0, 0, 0, 4, kEmpty);
  handOver(0, 0, 10, kFull);
  wait(0, 1, 0, 240, kFull);
  std::vector<std::string> lines = summarise(read());
  EXPECT_EQ(lines[lines.size() - 2],
            "critical path: what 'load' issued for full of 'pipeline a, b' is "
            "under way 56.1 %, 'mma' works 39.0 %, 'load' starts 2.4 %, 'load' "
            "works 2.4 %");
  EXPECT_EQ(lines.back(),
            "bottleneck: ring 'pipeline a, b' with 3 slots: what 'load' issued "
            "for full of 'pipeline a, b' is under way for 56.1 % of the "
            "critical path; raise `stages`, and where shared memory is full, "
            "or no more bytes come, bring fewer or use more CTAs");
}

TEST_F(Stamps, RefuseWhatIsNoVariable) {
  variable.pop_back();
  auto timeline = readTimeline(table, variable);
  ASSERT_FALSE(timeline);
  EXPECT_EQ(
      timeline.error(),
      "the stamps in 'fp8_profile' have 447 bytes instead of 448; use the "
      "manifest that was written with the PTX");
  variable.assign(448, 0);
  auto none = readTimeline(table, variable);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error(), "no role has written stamps to 'fp8_profile'; read "
                          "them after the kernel has ended");
}
