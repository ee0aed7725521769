// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Phases and laps of events that are written by hand.

#include "fp8/Proof/Miscounts.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace fp8::proof;
using Holds = Miscount::Holds;
using Kind = EventNode::Kind;
using Lanes = Doers::Lanes;

namespace {

constexpr Doers kAll{}, kElected{Lanes::Elected};
constexpr int64_t kFull = 0, kEmpty = 16;

using Fields = std::vector<std::pair<std::string, Quantity>>;

/// Two CTAs or one, a ring of two slots, and a role at each of its ends.
struct MiscountsTest : testing::Test {
  KernelEvents events;
  unsigned site = 0;

  MiscountsTest() {
    events.rings.push_back({2, kFull, kEmpty});
    events.rings.back().name = "the ring";
    count(1, 4);
    addRole("P", 1,
            {wait(kEmpty, 1), sync(), expect("arrive expecting", 256),
             copy(256), advance()});
    addRole("C", 4, {wait(kFull, 0), sync(), arrive(kEmpty), advance()});
  }

  void count(int64_t full, int64_t empty) {
    events.start.clear();
    for (int64_t at : {0, 8, 16, 24})
      events.start.push_back(
          event("init", kAll,
                {{"at", {at}}, {"count", {at < kEmpty ? full : empty}}}));
  }
  /// A role that goes round its slots any number of times.
  void addRole(std::string name, int64_t warps, EventBlock turn) {
    RoleEvents role{std::move(name), 0, warps, {{2}}, {}};
    EventNode loop{Kind::Repeat, site++};
    loop.arms = {std::move(turn)};
    role.body = {std::move(loop)};
    events.roles.push_back(std::move(role));
  }
  EventBlock &turnOf(unsigned role) {
    return events.roles[role].body.front().arms.front();
  }

  EventNode event(std::string kind, Doers doers, Fields fields) {
    EventNode node{Kind::Event, site++};
    node.event = {std::move(kind), doers, std::move(fields)};
    return node;
  }
  static Quantity at(int64_t offset) { return {offset, 0, 8}; }
  EventNode wait(int64_t offset, int64_t lag) {
    Quantity parity{lag, 0};
    parity.isParity = true;
    return event("wait", kAll, {{"at", at(offset)}, {"parity", parity}});
  }
  EventNode sync() { return event("warp sync", kAll, {}); }
  EventNode expect(std::string kind, int64_t bytes) {
    return event(std::move(kind), kElected,
                 {{"at", at(kFull)}, {"bytes", {bytes}}});
  }
  EventNode copy(int64_t bytes) {
    EventNode node = event("copy", kElected, {{"at", at(kFull)}});
    node.event.brings = bytes;
    return node;
  }
  EventNode arrive(int64_t offset) {
    return event("arrive", kElected, {{"at", at(offset)}});
  }
  EventNode advance() { return {Kind::Advance, site++}; }
  EventNode choice(std::vector<EventBlock> arms) {
    EventNode node{Kind::Choice, site++};
    node.arms = std::move(arms);
    return node;
  }

  EventNode inLeadingCta(EventBlock block) {
    EventNode leading{Kind::Ranks, site++};
    leading.ranks = {0};
    leading.arms = {std::move(block)};
    return leading;
  }
  /// Consumers of CTA 0 alone empty slots, and hand those of both CTAs back.
  void leadConsumers() {
    events.clusterSize = 2;
    turnOf(1)[2].event.kind = "commit to several";
    turnOf(1)[2].event.fields.push_back({"mask", {3}});
    turnOf(1) = {inLeadingCta(turnOf(1))};
  }
  /// The same with the second cursor, at a ring 32 bytes further on.
  static EventNode moved(EventNode node) {
    node.cursor = 1;
    for (EventBlock &arm : node.arms)
      for (EventNode &inner : arm)
        inner = moved(inner);
    for (auto &[name, quantity] : node.event.fields)
      if (quantity.cursor) {
        quantity.cursor = 1;
        quantity.constant += quantity.isParity ? 0 : 32;
      }
    return node;
  }

  static EventNode of(unsigned variable, EventNode node) {
    node.variable = variable;
    for (auto &[name, quantity] : node.event.fields)
      if (name == "at")
        quantity.variable = variable;
    return node;
  }
  /// Each role takes an end of a second ring, too, does the same with it, and
  /// may exchange the two.
  void exchangeEnds() {
    events.rings.push_back({2, 32, 48});
    events.rings.back().name = "the other ring";
    for (int64_t at : {32, 40, 48, 56})
      events.start.push_back(
          event("init", kAll, {{"at", {at}}, {"count", {at < 48 ? 1 : 4}}}));
    EventNode exchange{Kind::Move, site++};
    exchange.moves = {{0, 1}, {1, 0}};
    for (unsigned role : {0, 1}) {
      events.roles[role].variables = {{0, 0}, {0, 1}};
      EventBlock turn;
      for (unsigned variable : {0, 1})
        for (const EventNode &node : turnOf(role))
          turn.push_back(of(variable, node));
      turn.push_back(choice({{}, {exchange}}));
      turnOf(role) = std::move(turn);
    }
  }

  /// The rules that are broken, in lines.
  std::string find() {
    Miscounts found = findMiscounts(events);
    std::string text;
    for (const Miscount &fault : found.faults)
      text += fault.rule + "\n";
    if (found.obstacle)
      text += "obstacle: " + found.obstacle->rule + "\n";
    return text;
  }
};

TEST_F(MiscountsTest, EachLapIsAPhase) { EXPECT_EQ(find(), ""); }

TEST_F(MiscountsTest, BarriersCountWhatLapsBring) {
  count(1, 3);
  EXPECT_EQ(find(),
            "the empty barrier of the ring must get the 3 arrivals that "
            "it counts in each lap, but gets 4\n");
  count(2, 4);
  EXPECT_EQ(find(), "the full barrier of the ring must get the 2 arrivals that "
                    "it counts in each lap, but gets 1\n");
}

TEST_F(MiscountsTest, SlotsCountAlike) {
  events.start.back().event.fields.back().second.constant = 5;
  EXPECT_EQ(find(),
            "the empty barrier of the ring must count alike wherever it "
            "is told how often\n");
}

TEST_F(MiscountsTest, EachPathArrives) {
  turnOf(1)[2] = choice({{arrive(kEmpty)}, {}});
  EXPECT_EQ(find(), "role \"C\" must signal each slot that it takes\n");
  turnOf(1)[2] = choice({{arrive(kEmpty)}, {arrive(kEmpty), arrive(kEmpty)}});
  EXPECT_EQ(find(),
            "role \"C\" must arrive at the empty barrier of the ring as "
            "often in each lap, but arrives 4 times here, and 8 times "
            "elsewhere\n"
            "the empty barrier of the ring must get the 4 arrivals that "
            "it counts in each lap, but gets 8\n");
}

TEST_F(MiscountsTest, AnEndIsClosedWithoutSignals) {
  EventNode closing = wait(kEmpty, 1);
  EventBlock &body = events.roles[0].body;
  body.push_back(closing);
  body.push_back(advance());
  EXPECT_EQ(find(), "role \"P\" must signal each slot that it takes\n");
  body[1].event.drains = true;
  EXPECT_EQ(find(), "");
}

TEST_F(MiscountsTest, EachPathCopies) {
  turnOf(0)[3] = choice({{copy(256)}, {copy(128)}});
  EXPECT_EQ(find(), "copies of role \"P\" must bring the bytes that the full "
                    "barrier of the ring is to expect, but bring 128 less\n");
  // What each copy announces itself is brought on every path.
  turnOf(0) = {wait(kEmpty, 1), sync(),
               choice({{expect("expect", 256), copy(256)}, {}}), arrive(kFull),
               advance()};
  EXPECT_EQ(find(), "");
}

TEST_F(MiscountsTest, CopiesOfALoopAnnounceThemselves) {
  EventNode loop{Kind::Repeat, site++};
  loop.arms = {{expect("expect", 64), copy(64)}};
  turnOf(0) = {wait(kEmpty, 1), sync(), loop, arrive(kFull), advance()};
  EXPECT_EQ(find(), "");
  loop.arms = {{copy(64)}};
  turnOf(0)[2] = loop;
  EXPECT_EQ(find(), "obstacle: its turns signal a slot any number of times\n");
  loop.trips = 4;
  turnOf(0) = {wait(kEmpty, 1), sync(), expect("arrive expecting", 256), loop,
               advance()};
  EXPECT_EQ(find(), "");
}

TEST_F(MiscountsTest, AnArrivalFollowsTheAnnouncement) {
  turnOf(0) = {wait(kEmpty, 1),       sync(),    arrive(kFull),
               expect("expect", 256), copy(256), advance()};
  EXPECT_EQ(find(), "role \"P\" must arrive at the full barrier of the ring "
                    "behind its last announcement of bytes\n");
}

TEST_F(MiscountsTest, LanesMeetBetweenWaitAndSignal) {
  turnOf(1).erase(turnOf(1).begin() + 1);
  EXPECT_EQ(find(), "role \"C\", which waits at the full barrier of the ring, "
                    "must signal those who complete its next phase\n");
}

TEST_F(MiscountsTest, EachWarpThatWaitsSignals) {
  turnOf(1)[2].event.doers.everyWarp = 4;
  count(1, 1);
  EXPECT_EQ(find(), "role \"C\", which waits at the full barrier of the ring, "
                    "must signal those who complete its next phase\n");
}

TEST_F(MiscountsTest, ASignalFollowsThePhaseBefore) {
  turnOf(0) = {sync(), expect("arrive expecting", 256), copy(256),
               wait(kEmpty, 1), advance()};
  EXPECT_NE(find().find("role \"P\" must not signal the full barrier of the "
                        "ring before that has completed the phase of the lap "
                        "before\n"),
            std::string::npos);
}

TEST_F(MiscountsTest, BothSidesDoNotWaitForOneLap) {
  turnOf(0)[0] = wait(kEmpty, 0);
  EXPECT_NE(find(), "");
}

TEST_F(MiscountsTest, AnEndTakesOneSlotAtATime) {
  turnOf(1).insert(turnOf(1).begin(), wait(kFull, 0));
  EXPECT_EQ(find(),
            "obstacle: it waits twice before its end goes on to a next slot\n");
}

TEST_F(MiscountsTest, CopiesForOthersFollowTheirHandOver) {
  events.clusterSize = 2;
  EXPECT_EQ(find(), "");
  // Each CTA copies half for both, but hands its own slot back only.
  EventNode &copying = turnOf(0)[3];
  copying.event.brings = 128;
  copying.event.fields.push_back({"mask", {3}});
  EXPECT_NE(find().find("role \"P\" must not signal the full barrier of the "
                        "ring of CTA 1 of the cluster"),
            std::string::npos);
  // Two lanes tell both.
  EventNode &arriving = turnOf(1)[2];
  arriving.event.kind = "arrive remotely";
  arriving.event.doers = {Lanes::Below, 2};
  Quantity cta;
  cta.byLane = {{0, 1}, {0, 1}};
  arriving.event.fields.push_back({"cta", cta});
  count(1, 8);
  EXPECT_EQ(find(), "");
}

TEST_F(MiscountsTest, WhatOneCtaAloneSignalsIsHeldByNobody) {
  leadConsumers();
  EXPECT_NE(find().find("role \"P\", which waits at the empty barrier of the "
                        "ring of CTA 1 of the cluster, must signal those"),
            std::string::npos);
  // It copies into the slot of CTA 0, which expects the bytes of both.
  turnOf(0)[3].event.kind = "copy of pair";
  turnOf(0)[3].event.fields.push_back({"cta", {0}});
  turnOf(0)[2] = inLeadingCta({expect("arrive expecting", 512)});
  EXPECT_EQ(find(), "");
}

TEST_F(MiscountsTest, AnotherRingMayOrderWhatThisOneDoesNot) {
  leadConsumers();
  auto count = [&](Holds holds) {
    auto faults = findMiscounts(events).faults;
    return std::count_if(
        faults.begin(), faults.end(),
        [&](const Miscount &fault) { return fault.holds == holds; });
  };
  EXPECT_EQ(count(Holds::Always), 1);
  EXPECT_EQ(count(Holds::FromSecondLap), 1);
  // Each CTA fills a slot of CTA 0, too, for which its consumers wait.
  events.rings.push_back({2, 32, 48});
  events.rings.back().name = "the other ring";
  for (RoleEvents &role : events.roles) {
    role.cursors.push_back({2});
    EventBlock both;
    for (int64_t cursor : {0, 1})
      for (EventNode node : role.body.front().arms.front())
        both.push_back(cursor ? moved(node) : node);
    role.body.front().arms.front() = both;
  }
  for (int64_t at : {32, 40, 48, 56})
    events.start.push_back(
        event("init", kAll, {{"at", {at}}, {"count", {at < 48 ? 1 : 4}}}));
  // Copies of the other ring reach CTA 0.
  EventNode &copying = turnOf(0)[8];
  ASSERT_EQ(copying.event.kind, "copy");
  copying.event.kind = "copy of pair";
  copying.event.fields.push_back({"cta", {0}});
  EventNode announcing = turnOf(0)[7];
  announcing.event.fields.back().second.constant = 512;
  turnOf(0)[7] = inLeadingCta({announcing});
  EXPECT_EQ(count(Holds::Always), 0);
  EXPECT_EQ(count(Holds::FromSecondLap), 0);
  EXPECT_NE(count(Holds::Perhaps), 0);
}

TEST_F(MiscountsTest, EndsThatChangePlacesAreFollowed) {
  exchangeEnds();
  EXPECT_EQ(find(), "");
  events.start.back().event.fields.back().second.constant = 3;
  EXPECT_EQ(find(), "the empty barrier of the other ring must count alike "
                    "wherever it is told how often\n");
}

TEST_F(MiscountsTest, EndsThatChangePlacesDoSoWithWhatTheyOwe) {
  exchangeEnds();
  // A slot is held where its end changes places, and nobody hands it over.
  EventBlock &turn = turnOf(1);
  EventNode last = turn[6];
  ASSERT_EQ(last.event.kind, "arrive");
  turn.erase(turn.begin() + 6);
  EXPECT_NE(find(), "");
  // Behind the exchange the slot is in the other variable, or in the same.
  turn.push_back(last);
  EXPECT_NE(find(), "");
}

TEST_F(MiscountsTest, FaultsSayWhenTheyHold) {
  count(1, 3);
  Miscounts found = findMiscounts(events);
  ASSERT_EQ(found.faults.size(), 1u);
  EXPECT_EQ(found.faults.front().holds, Holds::Always);
}

} // namespace
