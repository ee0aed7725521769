// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verdicts on skeletons that are built by hand.

#include "fp8/Proof/Prover.h"
#include "SkeletonBuilder.h"
#include "SymbolicRun.h"

#include <gtest/gtest.h>

using namespace fp8::proof;
using Kind = Statement::Kind;

namespace {

/// Two processes at the two ends of a ring.
Skeleton makePair(int64_t slots,
                  llvm::function_ref<Block(SkeletonBuilder &, unsigned)> fill,
                  llvm::function_ref<Block(SkeletonBuilder &, unsigned)> empty,
                  unsigned numVariables = 9) {
  SkeletonBuilder builder;
  auto [producer, consumer] = builder.addRing(slots);
  builder.addProcess("fills", fill(builder, producer), numVariables);
  builder.addProcess("empties", empty(builder, consumer), numVariables);
  return std::move(builder.skeleton);
}

/// As often as an argument says.
Block useOften(SkeletonBuilder &builder, unsigned end) {
  return {builder.loop(0, builder.argument("trips"), builder.use(end))};
}

TEST(ProverTest, EqualTripsEndAtEveryPace) {
  Skeleton skeleton = makePair(2, useOften, useOften);
  EXPECT_EQ(prove(skeleton, 1).verdict, Verdict::Proved);
  for (Pace pace : kPaces) {
    SCOPED_TRACE(static_cast<int>(pace));
    EXPECT_EQ(SymbolicRun(skeleton, 1, pace).prove().verdict, Verdict::Proved);
  }
}

TEST(ProverTest, AProofHasACertificate) {
  Skeleton skeleton = makePair(2, useOften, useOften);
  EXPECT_TRUE(prove(skeleton, 1, /*wantsCertificate=*/true).certificate);
  EXPECT_FALSE(prove(skeleton, 1).certificate);
}

TEST(ProverTest, UnequalTripsAreRefutedAtTheSmallestLaunch) {
  Skeleton skeleton =
      makePair(2, useOften, [](SkeletonBuilder &builder, unsigned end) {
        ExprId more = builder.binary(ExprKind::Add, builder.argument("trips"),
                                     builder.constant(1));
        return Block{builder.loop(0, more, builder.use(end))};
      });
  Outcome outcome = prove(skeleton, 1);
  ASSERT_EQ(outcome.verdict, Verdict::Refuted);
  EXPECT_EQ(outcome.arguments,
            (std::vector<std::pair<std::string, int64_t>>{{"trips", 0}}));
  ASSERT_EQ(outcome.stops.size(), 1u);
  EXPECT_EQ(outcome.stops[0].process, 1u);
}

TEST(ProverTest, SlotsThatAreLeftAreRefuted) {
  Skeleton skeleton = makePair(
      2,
      [](SkeletonBuilder &builder, unsigned end) { return builder.use(end); },
      [](SkeletonBuilder &, unsigned) { return Block(); });
  Outcome outcome = prove(skeleton, 1);
  ASSERT_EQ(outcome.verdict, Verdict::Refuted);
  EXPECT_EQ(outcome.reason, "producer fills 1 slots of ring 0, of which "
                            "consumer empties 0");
}

/// A slot for each `group` trips, which is handed over behind the last of them.
Block useInGroups(SkeletonBuilder &builder, unsigned end, int64_t group) {
  ExprId trips = builder.argument("trips"),
         number = builder.table().getVariable(0);
  ExprId isFirst = builder.binary(
      ExprKind::Equal,
      builder.binary(ExprKind::Remainder, number, builder.constant(group)),
      builder.constant(0));
  return {builder.loop(0, trips, {builder.branch(isFirst, builder.use(end))})};
}

TEST(ProverTest, TurnsOfSeveralTripsAreOneStepOfTheInduction) {
  auto byGroup = [](SkeletonBuilder &builder, unsigned end) {
    return Block{builder.loop(0, builder.argument("trips"), builder.use(end),
                              /*step=*/4)};
  };
  auto byTrip = [](SkeletonBuilder &builder, unsigned end) {
    return useInGroups(builder, end, 4);
  };
  EXPECT_EQ(prove(makePair(2, byGroup, byTrip), 1).verdict, Verdict::Proved);
  auto inOther = [](SkeletonBuilder &builder, unsigned end) {
    return useInGroups(builder, end, 3);
  };
  Outcome outcome = prove(makePair(2, byGroup, inOther), 1);
  ASSERT_EQ(outcome.verdict, Verdict::Refuted);
  EXPECT_EQ(outcome.arguments[0].second, 4);
}

/// The consumer goes round in groups of four, and how long a group is depends
/// on what is left. Whether a producer with nested loops of its own keeps up is
/// known only when each follows the other.
TEST(ProverTest, LoopsThatAreCutDifferentlyAreProved) {
  SkeletonBuilder builder;
  auto [producer, consumer] = builder.addRing(1);
  ExprId trips = builder.argument("trips"),
         number = builder.table().getVariable(0);
  builder.addProcess("fills", {builder.loop(0, trips, builder.use(producer))},
                     3);
  ExprId left = builder.binary(
      ExprKind::Add, trips,
      builder.binary(ExprKind::Multiply, number, builder.constant(-1)));
  ExprId size = builder.binary(ExprKind::Minimum, builder.constant(4), left);
  builder.addProcess(
      "empties",
      {builder.loop(0, trips, {builder.loop(3, size, builder.use(consumer))},
                    4)},
      6);
  EXPECT_EQ(prove(builder.skeleton, 1).verdict, Verdict::Proved);
}

TEST(ProverTest, ProductsOfArgumentsAreUnknown) {
  auto nested = [](SkeletonBuilder &builder, unsigned end) {
    Block inner = {builder.loop(3, builder.argument("more"), builder.use(end))};
    return Block{builder.loop(0, builder.argument("trips"), inner)};
  };
  auto flat = [](SkeletonBuilder &builder, unsigned end) {
    ExprId product =
        builder.binary(ExprKind::Multiply, builder.argument("trips"),
                       builder.argument("more"));
    return Block{builder.loop(0, product, builder.use(end))};
  };
  Outcome outcome = prove(makePair(2, nested, flat), 1);
  EXPECT_EQ(outcome.verdict, Verdict::Unknown);
  EXPECT_FALSE(outcome.reason.empty());
}

/// So many loops, each as often as an argument of its own says.
Skeleton makeLoops(unsigned number) {
  auto use = [&](SkeletonBuilder &builder, unsigned end) {
    Block loops;
    for (unsigned i = 0; i < number; ++i)
      loops.push_back(builder.loop(
          0, builder.argument("trips " + std::to_string(i)), builder.use(end)));
    return loops;
  };
  return makePair(2, use, use);
}

/// The same, each around the next one.
Skeleton makeNest(unsigned number) {
  auto use = [&](SkeletonBuilder &builder, unsigned end) {
    Block nest = builder.use(end);
    for (unsigned i = 0; i < number; ++i)
      nest = {builder.loop(3 * i,
                           builder.argument("trips " + std::to_string(i)),
                           std::move(nest))};
    return nest;
  };
  return makePair(2, use, use, /*numVariables=*/3 * number);
}

TEST(ProverTest, LoopsBehindAndAroundOneAnotherCostTheirSum) {
  for (auto make : {makeLoops, makeNest}) {
    Outcome outcomes[] = {prove(make(8), 1, /*wantsCertificate=*/true),
                          prove(make(16), 1, /*wantsCertificate=*/true)};
    for (const Outcome &outcome : outcomes) {
      EXPECT_EQ(outcome.verdict, Verdict::Proved);
      EXPECT_TRUE(outcome.certificate);
    }
    EXPECT_LE(outcomes[1].steps, 2 * outcomes[0].steps);
  }
}

TEST(ProverTest, ForecastsSaveStepsAndDecideNothing) {
  Skeleton nest = makeNest(4);
  SymbolicRun run(nest, 1, Pace::Entries), longer(nest, 1, Pace::Entries);
  longer.exploreAll();
  Outcome outcome = run.prove(), explored = longer.prove();
  EXPECT_EQ(outcome.verdict, Verdict::Proved);
  EXPECT_EQ(explored.verdict, Verdict::Proved);
  EXPECT_LT(outcome.steps, explored.steps);
  EXPECT_TRUE(run.hasForecasts());
  EXPECT_FALSE(longer.hasForecasts());
}

/// What one way through a turn does need not be what each turn does.
TEST(ProverTest, LoopsWhoseTurnsAreNotAsForecastAreProved) {
  auto use = [](SkeletonBuilder &builder, unsigned end) {
    // From the third turn on, it takes more slots.
    ExprId isEarly = builder.binary(
        ExprKind::Less, builder.table().getVariable(0), builder.constant(2));
    Block late = {builder.loop(3, builder.argument("more"), builder.use(end))};
    return Block{builder.loop(0, builder.argument("trips"),
                              builder.use(end) +
                                  Block{builder.branch(isEarly, {}, late)})};
  };
  EXPECT_EQ(prove(makePair(2, use, use), 1).verdict, Verdict::Proved);
}

/// A loop may only be left in two ways at once if its bound is at least 0.
TEST(ProverTest, ALoopWithANegativeBoundMakesNoTurn) {
  auto use = [](SkeletonBuilder &builder, unsigned end) {
    ExprId less = builder.binary(ExprKind::Add, builder.argument("trips"),
                                 builder.constant(-3));
    return Block{builder.loop(0, less, builder.use(end))};
  };
  EXPECT_EQ(prove(makePair(2, use, use), 1).verdict, Verdict::Proved);
  auto useMore = [](SkeletonBuilder &builder, unsigned end) {
    ExprId less = builder.binary(ExprKind::Add, builder.argument("trips"),
                                 builder.constant(-3));
    // Three more trips, however many there are.
    return Block{builder.loop(0, less, builder.use(end))} + builder.use(end) +
           builder.use(end) + builder.use(end);
  };
  Outcome outcome = prove(makePair(2, useMore, useOften), 1);
  ASSERT_EQ(outcome.verdict, Verdict::Refuted);
  EXPECT_EQ(outcome.arguments[0].second, 0);
}

TEST(ProverTest, OfSeveralOrdersAFailureIsUnknown) {
  SkeletonBuilder builder;
  auto [there, here] = builder.addRing(1);
  auto [back, forth] = builder.addRing(1);
  builder.addProcess("a", builder.use(forth) + builder.use(there));
  builder.addProcess("b", builder.use(here) + builder.use(back));
  builder.skeleton.isOneOrder = true;
  EXPECT_EQ(prove(builder.skeleton, 1).verdict, Verdict::Unknown);
}

TEST(ProverTest, OppositeOrdersAreRefuted) {
  SkeletonBuilder builder;
  auto [there, here] = builder.addRing(1);
  auto [back, forth] = builder.addRing(1);
  builder.addProcess("a", builder.use(forth) + builder.use(there));
  builder.addProcess("b", builder.use(here) + builder.use(back));
  Outcome outcome = prove(builder.skeleton, 1);
  ASSERT_EQ(outcome.verdict, Verdict::Refuted);
  EXPECT_EQ(outcome.stops.size(), 2u);
}

} // namespace
