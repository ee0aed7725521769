// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps of processes.

#include "Machine.h"
#include "SkeletonBuilder.h"

#include <gtest/gtest.h>

using namespace fp8::proof;
using Kind = Statement::Kind;

namespace {

class MachineTest : public testing::Test {
protected:
  Machine &start(int64_t clusterSize = 1) {
    machine.emplace(builder.skeleton, atoms, clusterSize);
    state = machine->getInitial();
    return *machine;
  }
  StepKind step(unsigned process) {
    return machine->step(*state, process).kind;
  }

  SkeletonBuilder builder;
  AtomTable atoms{builder.skeleton.expressions};
  std::optional<Machine> machine;
  std::optional<State> state;
};

TEST_F(MachineTest, EndsWaitForOneAnother) {
  auto [producer, consumer] = builder.addRing(/*slots=*/1);
  builder.addProcess("fills", builder.use(producer) + builder.use(producer));
  builder.addProcess("empties", builder.use(consumer) + builder.use(consumer));
  start();
  EXPECT_EQ(step(1), StepKind::Blocked);
  EXPECT_EQ(
      machine->getAwaited(*state, consumer, builder.use(consumer)[0]).late,
      (llvm::SmallVector<unsigned>{producer}));
  EXPECT_EQ(step(0), StepKind::Moved); // slot 0 is free
  EXPECT_EQ(step(0), StepKind::Moved);
  EXPECT_EQ(step(0), StepKind::Blocked); // the one slot is full
  Awaited awaited =
      machine->getAwaited(*state, producer, builder.use(producer)[0]);
  EXPECT_EQ(awaited.slot, 0);
  EXPECT_EQ(awaited.late, (llvm::SmallVector<unsigned>{consumer}));
  EXPECT_EQ(step(1), StepKind::Moved);
  EXPECT_EQ(step(0), StepKind::Blocked); // it is held, and not yet handed back
  EXPECT_EQ(step(1), StepKind::Moved);
  EXPECT_EQ(step(0), StepKind::Moved);
}

TEST_F(MachineTest, ADrainWaitsForAllSlotsWithData) {
  for (bool holdsData : {true, false}) {
    SCOPED_TRACE(holdsData);
    builder.skeleton = {};
    auto [producer, consumer] = builder.addRing(/*slots=*/2, holdsData);
    builder.addProcess("fills", builder.use(producer) +
                                    Block{builder.step(Kind::Drain, producer)});
    builder.addProcess("empties", builder.use(consumer));
    start();
    EXPECT_EQ(step(0), StepKind::Moved);
    EXPECT_EQ(step(0), StepKind::Moved);
    EXPECT_EQ(step(0), holdsData ? StepKind::Blocked : StepKind::Moved);
    ASSERT_TRUE(machine->run(*state));
    EXPECT_TRUE(state->processes[0].isFinished());
  }
}

TEST_F(MachineTest, SlotsThatAreLeftAreFound) {
  auto [producer, consumer] = builder.addRing(/*slots=*/2);
  auto [signals, waits] = builder.addRing(/*slots=*/2, /*holdsData=*/false);
  builder.addProcess("fills", builder.use(producer) + builder.use(producer) +
                                  builder.use(signals));
  builder.addProcess("empties", builder.use(consumer));
  start();
  ASSERT_TRUE(machine->run(*state));
  std::optional<Leftover> left = machine->findLeftover(*state);
  ASSERT_TRUE(left);
  EXPECT_EQ(left->channel, &builder.skeleton.channels[0]);
  EXPECT_EQ(left->producer, producer);
  EXPECT_EQ(left->consumer, consumer);
  // Slots without data may be left.
  state->ends[consumer].signals = 2;
  EXPECT_FALSE(machine->findLeftover(*state));
}

TEST_F(MachineTest, ALoopGoesRoundUntilItsBound) {
  auto [producer, consumer] = builder.addRing(/*slots=*/9);
  builder.addProcess(
      "fills",
      {builder.loop(0, builder.constant(7), builder.use(producer), /*step=*/3)},
      3);
  start();
  ASSERT_TRUE(machine->run(*state));
  EXPECT_TRUE(state->processes[0].isFinished());
  EXPECT_EQ(state->ends[producer].signals, 3); // at 0, 3 and 6
}

TEST_F(MachineTest, AnUnknownBoundIsUndecidedUntilItIsAFact) {
  auto [producer, consumer] = builder.addRing(/*slots=*/9);
  builder.addProcess(
      "fills",
      {builder.loop(0, builder.argument("trips"), builder.use(producer))}, 3);
  start();
  ASSERT_TRUE(machine->run(*state));
  Step undecided = machine->step(*state, 0);
  ASSERT_EQ(undecided.kind, StepKind::Undecided);
  EXPECT_EQ(undecided.pivot, atoms.getParameter(0) - Linear(1));
  EXPECT_EQ(undecided.pivot, *machine->getGuard(*state, 0));
  state->facts.add(undecided.pivot);
  ASSERT_TRUE(machine->run(*state));
  EXPECT_EQ(state->ends[producer].signals, 1);
}

TEST_F(MachineTest, ABranchTakesTheArmOfItsCondition) {
  auto [producer, consumer] = builder.addRing(/*slots=*/9);
  ExprId isSmall = builder.binary(ExprKind::Less, builder.argument("trips"),
                                  builder.constant(3));
  builder.addProcess("fills", {builder.branch(isSmall, builder.use(producer))});
  for (int64_t trips : {2, 3}) {
    start().parameters = {{0, trips}};
    ASSERT_TRUE(machine->run(*state));
    EXPECT_EQ(state->ends[producer].signals, trips < 3);
  }
}

TEST_F(MachineTest, ThreadsOfARoleMustNotPart) {
  auto [producer, consumer] = builder.addRing(/*slots=*/1);
  Parameter lane;
  lane.name = "the lane's number";
  lane.scope = Scope::Thread;
  ExprId isFirst = builder.binary(
      ExprKind::Equal, builder.table().getParameter(lane), builder.constant(0));
  builder.addProcess("fills", {builder.branch(isFirst, builder.use(producer))});
  start();
  EXPECT_FALSE(machine->run(*state));
  EXPECT_TRUE(machine->isWrong);
  EXPECT_NE(machine->failure.find("the lane's number"), std::string::npos);
}

/// That it holds of some values by some facts does not say that it always does.
TEST_F(MachineTest, RequirementsAreAskedOfAllValuesAndFacts) {
  Statement statement{Kind::Require};
  statement.condition =
      builder.binary(ExprKind::Less, builder.table().getVariable(0),
                     builder.argument("trips"));
  builder.skeleton.rules = {"a turn must be one of the trips"};
  builder.addProcess("requires", {statement}, 1);
  start();
  auto holds = [&](int64_t turn, int64_t trips) {
    state = machine->getInitial();
    state->processes[0].values[0] = Linear(turn);
    state->facts.add(atoms.getParameter(0) - Linear(trips));
    machine->failure.clear();
    return step(0) == StepKind::Moved;
  };
  for (unsigned round : {0, 1}) {
    SCOPED_TRACE(round);
    EXPECT_TRUE(holds(/*turn=*/2, /*trips=*/3));
    EXPECT_FALSE(holds(/*turn=*/3, /*trips=*/3));
    EXPECT_FALSE(holds(/*turn=*/2, /*trips=*/2));
    EXPECT_TRUE(holds(/*turn=*/3, /*trips=*/4));
  }
}

/// The path is that of the CTA for which the fact holds.
TEST_F(MachineTest, CtasThatMeetMustNotHaveBeenToldApart) {
  auto [producer, consumer] = builder.addRing(/*slots=*/1);
  Parameter number;
  number.name = "CTA's number along x";
  number.scope = Scope::Cta;
  ExprId isFirst =
      builder.binary(ExprKind::Less, builder.table().getParameter(number),
                     builder.constant(1));
  Statement branch = builder.branch(isFirst, builder.use(producer));
  branch.meets = true;
  for (bool mayPart : {false, true}) {
    SCOPED_TRACE(mayPart);
    branch.mayPart = mayPart;
    builder.skeleton.processes.clear();
    builder.addProcess("fills", {branch});
    start(/*clusterSize=*/2);
    state->facts.add(atoms.getParameter(0) * -1);
    EXPECT_EQ(machine->run(*state), !mayPart);
    EXPECT_FALSE(machine->isWrong);
  }
}

} // namespace
