// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The times that the model gives to products in tensor memory.

#include "ReplayTest.h"

using namespace fp8;
using namespace fp8::sim;
using namespace fp8::sim::test;

namespace {

/// Products into tensor memory, of a B200.
class TensorMemoryTest : public ReplayTest {
protected:
  TensorMemoryTest() { gpu = chip::lookupTiming("sm_100a"); }

  TraceEvent product(uint32_t m, uint32_t n, bool pair) {
    TraceEvent e = event(TraceEvent::Kind::TensorMma);
    uint32_t ctas = pair ? 2 : 1;
    e.rows = uint16_t(m / ctas);
    e.columns = uint16_t(n);
    e.bytes = 32 * (m + n) / ctas;
    e.pair = pair;
    return e;
  }
  /// Cycles of a chain of so many products, to the end of the wait for them.
  double chain(uint32_t m, uint32_t n, bool pair, int count) {
    trace = Trace();
    trace.warps.push_back({0, 0, {}});
    launch.clusterCtas = pair ? 2 : 1;
    for (int at = 0; at < count; ++at)
      trace.add(0, product(m, n, pair));
    TraceEvent commit = event(TraceEvent::Kind::Commit, trace.phase(0, 0));
    trace.add(0, commit);
    trace.add(0, event(TraceEvent::Kind::Wait, commit.phase));
    return cycles();
  }
  double interval(uint32_t m, uint32_t n, bool pair = false) {
    return (chain(m, n, pair, 33) - chain(m, n, pair, 1)) / 32;
  }
};

// Published of a B200 (docs/Timing.md): operands in shared memory.
TEST_F(TensorMemoryTest, ProductsFollowEachOtherAsPublished) {
  EXPECT_DOUBLE_EQ(interval(128, 64), 48);
  EXPECT_DOUBLE_EQ(interval(128, 96), 56);
  EXPECT_DOUBLE_EQ(interval(128, 128), 64);
  EXPECT_DOUBLE_EQ(interval(128, 256), 128);
  EXPECT_DOUBLE_EQ(interval(64, 64), 32);
  EXPECT_DOUBLE_EQ(interval(64, 256), 128);
  EXPECT_DOUBLE_EQ(interval(256, 64, true), 43);
  EXPECT_DOUBLE_EQ(interval(256, 256, true), 128);
  EXPECT_NEAR(interval(128, 64, true), 25, 3);
  EXPECT_DOUBLE_EQ(interval(128, 256, true), 64);
}

TEST_F(TensorMemoryTest, AProductIsKnownToBeDoneAsPublished) {
  EXPECT_NEAR(chain(128, 128, false, 1), 136 + 64, 2);
  EXPECT_NEAR(chain(128, 256, false, 1), 136 + 128, 2);
  EXPECT_NEAR(chain(256, 128, true, 1), 170 + 64, 2);
}

TEST_F(TensorMemoryTest, AProductWaitsForTheCopiesInFrontOfIt) {
  double alone = chain(128, 256, false, 1);
  trace.warps[0].steps.insert(trace.warps[0].steps.begin(),
                              uint32_t(trace.events.size()) | Trace::kEvent);
  trace.events.push_back(event(TraceEvent::Kind::TensorCopy));
  EXPECT_DOUBLE_EQ(cycles(), alone + gpu->tensorMemory.copyCycles);
}

TEST_F(TensorMemoryTest, ACommitThatNeverArrivesKeepsNobody) {
  chain(128, 128, false, 1);
  trace.add(0, event(TraceEvent::Kind::Commit, TraceEvent::kNoPhase));
  cycles();
}

TEST_F(TensorMemoryTest, WarpsOfAPartitionShareItsWayToTensorMemory) {
  auto load = [&](uint32_t warp) {
    TraceEvent e = event(TraceEvent::Kind::Transfer);
    e.bytes = 32 * 32 * 4;
    trace.add(warp, e);
    trace.add(warp, event(TraceEvent::Kind::TransferWait));
    TraceEvent arrival = event(TraceEvent::Kind::Arrive, trace.phase(0, warp));
    trace.add(warp, arrival);
    trace.add(warp, event(TraceEvent::Kind::Wait, arrival.phase));
  };
  addWarps(5);
  load(0);
  const double one = cycles();
  EXPECT_DOUBLE_EQ(one, 4096 / gpu->tensorMemory.transferBytes +
                            gpu->tensorMemory.transferLatencyCycles +
                            gpu->arriveCycles + gpu->wakeCycles);
  load(1);
  EXPECT_DOUBLE_EQ(cycles(), one);
  load(4); // the partition of warp 0
  EXPECT_DOUBLE_EQ(cycles(), one + 4096 / gpu->tensorMemory.transferBytes);
}

TEST_F(TensorMemoryTest, AUseWaitsForItsLoad) {
  auto cyclesOfUse = [&](uint32_t row) {
    ast::Instruction load, use;
    load.opcode = "tcgen05";
    load.qualifiers = {"ld"};
    use.opcode = "fma";
    use.qualifiers = {"rn", "f32"};
    Program program;
    program.registers = 3;
    program.lists = {0};
    program.code.resize(2);
    program.code[0].text = &load;
    program.code[0].listIsDestination = true;
    program.code[0].listCount = 1;
    program.code[1].text = &use;
    program.code[1].sources = program.code[1].destinations = 1;
    program.code[1].s[0] = row;
    program.code[1].d[0] = 2;
    Trace one;
    one.warps.push_back({0, 0, {}});
    TraceEvent transfer = event(TraceEvent::Kind::Transfer);
    transfer.bytes = 4096;
    one.add(0, transfer);
    one.addInstruction(0, 0);
    one.add(0, event(TraceEvent::Kind::TransferWait));
    one.addInstruction(0, 1);
    return replay(one, Costs(program, *gpu), *gpu, launch)->cycles;
  };
  EXPECT_LT(cyclesOfUse(1), 4);
  EXPECT_GT(cyclesOfUse(0), 4096 / gpu->tensorMemory.transferBytes);
}

TEST_F(TensorMemoryTest, AnArrivalWaitsForTheCopiesOfItsThread) {
  addWarps(1);
  TraceEvent copy = event(TraceEvent::Kind::AsyncCopy);
  copy.count = 1;
  trace.add(0, copy);
  TraceEvent commit = event(TraceEvent::Kind::Commit, trace.phase(0, 0));
  trace.add(0, commit);
  trace.add(0, event(TraceEvent::Kind::Wait, commit.phase));
  EXPECT_DOUBLE_EQ(cycles(),
                   gpu->issue[size_t(chip::IssueClass::GlobalLoad)].latency +
                       gpu->arriveCycles + gpu->wakeCycles);
}

} // namespace
