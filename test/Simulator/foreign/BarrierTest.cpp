// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mbarrier_ring.cu and named_barrier.ptx: hand-overs between warps, and what
// goes wrong with them.
#include "Foreign.h"

#include <numeric>
#include <set>

using namespace fp8::sim;
using namespace fp8::sim::test;

namespace {
constexpr int ringBlocks = 3, ringChunks = 11;

class MbarrierRing : public testing::Test {
protected:
  Report run(const std::string &text, uint64_t seed = 0,
             Completion completion = Completion::Late) {
    Launcher launcher(text);
    size_t count = ringBlocks * ringChunks * 32;
    std::vector<int32_t> in(count);
    std::iota(in.begin(), in.end(), 1000);
    uint64_t inAddress = launcher.input("in", in);
    uint64_t outAddress = launcher.output<int32_t>("out", count, -1);
    LaunchConfig config;
    config.grid = {ringBlocks, 1, 1};
    config.block = {64, 1, 1};
    Report report = launcher.run({KernelArgument::value(inAddress),
                                  KernelArgument::value(outAddress),
                                  KernelArgument::value<int32_t>(ringChunks)},
                                 config, seed, completion);
    out = launcher.contents<int32_t>(outAddress, count);
    for (int32_t &value : in)
      value = 3 * value + 1;
    right = out == in;
    return report;
  }

  std::string text = readKernel("mbarrier_ring.ptx");
  std::vector<int32_t> out;
  bool right = false;
};
} // namespace

TEST_F(MbarrierRing, RunsRight) {
  std::set<uint64_t> orders;
  for (uint64_t seed = 0; seed < scheduleSeeds; ++seed) {
    Report report = run(text, seed);
    EXPECT_TRUE(report.ok()) << report.str();
    EXPECT_TRUE(right) << "seed " << seed;
    EXPECT_EQ(report.statistics.blocks, uint64_t(ringBlocks));
    orders.insert(report.barrierEventHash);
  }
  EXPECT_GE(orders.size(), 8u);
}

TEST_F(MbarrierRing, RunsTheSameForTheSameSeed) {
  EXPECT_EQ(run(text, 5).barrierEventHash, run(text, 5).barrierEventHash);
}

TEST_F(MbarrierRing, ADroppedArriveOfTheConsumerIsADeadlock) {
  Report report =
      run(withoutLine(text, "mbarrier.arrive.shared::cta.b64 _", 0));
  expectError(report, ErrorKind::Deadlock, {"empty", "warp 0"});
}

TEST_F(MbarrierRing, ADroppedArriveOfTheProducerIsADeadlock) {
  Report report =
      run(withoutLine(text, "mbarrier.arrive.shared::cta.b64 _", 1));
  expectError(report, ErrorKind::Deadlock, {"full", "warp 1"});
}

TEST_F(MbarrierRing, ASwappedParityOfTheConsumerIsCaught) {
  // The consumer starts by waiting for the phase before the first.
  std::string changed = replaced(text, "%r71;\n\tselp", "%r12;\n\tselp");
  changed = replaced(changed, "@%p3 bra 	$L__BB0_9;",
                     "xor.b32 %r12, %r71, 1;\n\t@%p3 bra 	$L__BB0_9;");
  EXPECT_FALSE(run(changed).ok());
}

TEST_F(MbarrierRing, AnEarlyReleaseIsARace) {
  // The arrival at `empty` moves before the read of the stage.
  std::string arrive = "mbarrier.arrive.shared::cta.b64 _, [%r51];";
  std::string changed = replaced(text, arrive, "");
  changed = replaced(changed, "ld.shared.u32 	%r48",
                     "mov.u32 %r53, _ZZ13mbarrier_ringE5empty;\n\t"
                     "add.s32 %r51, %r53, %r38;\n\t"
                     "@!%p5 " +
                         arrive + "\n\tld.shared.u32 	%r48");
  unsigned caught = 0;
  for (uint64_t seed = 0; seed < scheduleSeeds; ++seed)
    caught += !run(changed, seed).ok();
  EXPECT_EQ(caught, scheduleSeeds) << "a race is one in every order";
  expectError(run(changed), ErrorKind::Race, {"shared"});
}

TEST_F(MbarrierRing, ADoubleArriveIsCaught) {
  std::string arrive = "mbarrier.arrive.shared::cta.b64 _, [%r51];";
  Report report = run(replaced(text, arrive, arrive + "\n\t" + arrive));
  EXPECT_FALSE(report.ok());
}

TEST_F(MbarrierRing, AnUninitialisedBarrierIsNamed) {
  Report report = run(withoutLine(text, "mbarrier.init", 5));
  expectError(report, ErrorKind::BarrierUninitialised, {"empty"});
}

namespace {
class NamedBarrier : public testing::Test {
protected:
  Report run(const std::string &text, uint64_t seed = 0) {
    constexpr uint32_t rounds = 9;
    Launcher launcher(text);
    std::vector<uint32_t> in(rounds * 64);
    std::iota(in.begin(), in.end(), 7);
    uint64_t inAddress = launcher.input("in", in);
    uint64_t outAddress = launcher.output<uint32_t>("out", in.size(), 0);
    LaunchConfig config;
    config.block = {128, 1, 1};
    Report report = launcher.run({KernelArgument::value(inAddress),
                                  KernelArgument::value(outAddress),
                                  KernelArgument::value(rounds)},
                                 config, seed);
    right = true;
    std::vector<uint32_t> out =
        launcher.contents<uint32_t>(outAddress, in.size());
    for (size_t i = 0; i < in.size(); ++i)
      right &= out[i] == in[i] * 2 + i / 64;
    return report;
  }

  std::string text = readKernel("named_barrier.ptx");
  bool right = false;
};
} // namespace

TEST_F(NamedBarrier, RunsRight) {
  for (uint64_t seed = 0; seed < scheduleSeeds; ++seed) {
    Report report = run(text, seed);
    EXPECT_TRUE(report.ok()) << report.str();
    EXPECT_TRUE(right) << "seed " << seed;
  }
}

TEST_F(NamedBarrier, ADroppedArriveIsADeadlockThatNamesTheBarrier) {
  Report report = run(withoutLine(text, "bar.arrive %r11, 128", 0));
  expectError(report, ErrorKind::Deadlock, {"barrier 1", "warp 2", "warp 3"});
}

TEST_F(NamedBarrier, CountsThatDisagreeAreCaught) {
  Report report =
      run(replaced(text, "bar.arrive %r11, 128;", "bar.arrive %r11, 96;"));
  expectError(report, ErrorKind::NamedBarrierMisuse, {"barrier 1"});
}

TEST_F(NamedBarrier, AMissingWaitForEmptyIsARace) {
  std::string changed = withoutLine(text, "bar.sync %r7, 128");
  changed = withoutLine(changed, "bar.arrive %r7, 128");
  expectError(run(changed), ErrorKind::Race, {"shared"});
}
