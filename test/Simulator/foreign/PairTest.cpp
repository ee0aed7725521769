// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// pair_gemm.cu and pair_gemm_m128.cu: CTA pairs, multicast within a cluster,
// and what goes wrong with them.
#include "Gemm.h"

using namespace fp8::sim;
using namespace fp8::sim::test;

namespace {
class PairGemm : public testing::Test {
protected:
  Report run(const std::string &text, uint64_t seed = 0,
             Completion completion = Completion::Late) {
    LaunchConfig config;
    config.grid = {4, 2, 1};
    config.block = {128, 1, 1};
    config.cluster = {4, 1, 1};
    config.dynamicSharedBytes = 2 * (128 + 64) * 128;
    return problem.run(text, 64, 64, config, d, seed, completion);
  }

  /// The fault is found under every schedule; its first error's kind is one of
  /// `kinds` and one of its errors says each of `parts`.
  void expectFault(const std::string &text, std::vector<ErrorKind> kinds,
                   const std::vector<std::string> &parts = {}) {
    for (uint64_t seed = 0; seed < scheduleSeeds; ++seed) {
      Report report = run(text, seed);
      ASSERT_FALSE(report.ok()) << "seed " << seed;
      EXPECT_THAT(kinds, testing::Contains(report.errors[0].kind))
          << "seed " << seed << "\n"
          << report.str();
      for (const std::string &part : parts)
        EXPECT_THAT(report.str(), testing::HasSubstr(part)) << "seed " << seed;
    }
  }

  /// The producer leaves when it has issued its copies.
  std::string withoutDrain(std::string changed) {
    for (const auto &[barrier, parity] :
         {std::pair("%r19", "%r18"), std::pair("%r21", "%r20")})
      changed = replaced(
          changed,
          std::string("mbarrier.try_wait.parity.shared::cta.b64 p, [") +
              barrier + "], " + parity + ";",
          std::string("setp.eq.b32 p, ") + parity + ", " + parity + ";");
    return changed;
  }

  std::string text = readKernel("pair_gemm.ptx");
  const GemmProblem problem{512, 256, 5 * 128};
  std::vector<float> d;
};
} // namespace

TEST_F(PairGemm, RunsRight) {
  for (uint64_t seed = 0; seed < scheduleSeeds; ++seed) {
    Report report = run(text, seed);
    ASSERT_TRUE(report.ok()) << "seed " << seed << "\n" << report.str();
    EXPECT_LT(problem.worstError(d), 1e-5) << "seed " << seed;
    EXPECT_EQ(report.statistics.mmas, 2u * 2 * 5 * 4);
  }
  Report atIssue = run(text, 0, Completion::AtIssue);
  EXPECT_TRUE(atIssue.ok()) << atIssue.str();
  EXPECT_LT(problem.worstError(d), 1e-5);
}

TEST_F(PairGemm, WithM128RunsRight) {
  const GemmProblem small{256, 192, 4 * 128};
  LaunchConfig config;
  config.grid = {4, 2, 1};
  config.block = {128, 1, 1};
  config.cluster = {2, 1, 1};
  config.dynamicSharedBytes = 2 * (64 + 48) * 128;
  std::string folded = readKernel("pair_gemm_m128.ptx");
  for (uint64_t seed = 0; seed < scheduleSeeds; ++seed) {
    Report report =
        small.run(folded, 64, 48, config, d, seed, Completion::Late);
    ASSERT_TRUE(report.ok()) << "seed " << seed << "\n" << report.str();
    EXPECT_LT(small.worstError(d), 1e-5) << "seed " << seed;
  }
}

TEST_F(PairGemm, AMissingLastClusterBarrierIsCaught) {
  // A barrier of the CTA stands in its place, and the producer does not wait
  // for the last commits.
  std::string changed =
      replaced(withoutDrain(text), "barrier.cluster.arrive.release.aligned;",
               "bar.sync 0;", 1);
  changed = withoutLine(changed, "barrier.cluster.wait", 1);
  expectFault(changed, {ErrorKind::ExitedCta, ErrorKind::WorkInFlight},
              {"wait for the phase of the mbarrier in which it arrives"});
}

TEST_F(PairGemm, CommitsThatArriveAfterTheEndAreCaught) {
  // The last cluster barrier does not wait for arrivals under way: whether one
  // is still to come when its CTA ends or not, nothing says that it has.
  expectFault(withoutDrain(text),
              {ErrorKind::ExitedCta, ErrorKind::WorkInFlight},
              {"wait for the phase of the mbarrier in which it arrives"});
}

TEST_F(PairGemm, CommitsThatMissThePeerAreADeadlock) {
  // The peer's producer is never told that its stages are free.
  expectFault(
      replaced(text, "cluster.b64 [%r72], %rs3;", "cluster.b64 [%r72], 5;"),
      {ErrorKind::Deadlock}, {"empty"});
}

TEST_F(PairGemm, ALastCommitForOneCtaOnlyIsADeadlock) {
  // The odd CTA's epilogue is never told that the accumulator is done.
  expectFault(replaced(text, "mov.b32 \t%r85, 3;", "mov.b32 \t%r85, 1;"),
              {ErrorKind::Deadlock}, {"finished"});
}

TEST_F(PairGemm, AMissingFenceAfterTheWaitIsCaught) {
  // The third of four: between the last commit and the first load.
  expectFault(withoutLine(text, "tcgen05.fence::after_thread_sync", 2),
              {ErrorKind::MissingTcgen05Fence});
}

TEST_F(PairGemm, AStageTakenTooEarlyIsCaught) {
  // The copies do not wait for their stage.
  expectFault(
      replaced(text,
               "mbarrier.try_wait.parity.shared::cta.b64 p, [%r15], %r14;",
               "setp.eq.b32 p, %r14, %r14;"),
      {ErrorKind::MemoryInFlight, ErrorKind::Race,
       ErrorKind::TransactionOverrun, ErrorKind::TooManyArrivals});
}

TEST_F(PairGemm, HalfOfThePairsBytesAreCaught) {
  // The even CTA expects its own bytes only.
  expectFault(replaced(text, ", 49152;", ", 24576;"),
              {ErrorKind::EarlyArrival, ErrorKind::TransactionOverrun,
               ErrorKind::UninitialisedMemory, ErrorKind::MemoryInFlight,
               ErrorKind::Race});
}

TEST_F(PairGemm, ABarrierAddressOfTheOwnCtaIsCaught) {
  // Bit 24 stays: the odd CTA's copies signal its own barrier.
  Report report = run(replaced(text, ", -16777224;", ", -8;"));
  EXPECT_FALSE(report.ok());
}

TEST_F(PairGemm, CopiesWithoutCtaGroup2AreCaught) {
  std::string changed = replaced(text, "2d.cta_group::2.", "2d.", 1);
  Report report = run(changed);
  EXPECT_FALSE(report.ok());
}

TEST_F(PairGemm, MmasOfBothCtasAreCaught) {
  // Nothing selects the leader any more.
  std::string changed = withoutLine(text, "@%p5 bra", 0);
  expectFault(changed,
              {ErrorKind::Deadlock, ErrorKind::Race, ErrorKind::TooManyArrivals,
               ErrorKind::MemoryInFlight, ErrorKind::UninitialisedMemory,
               ErrorKind::MissingTcgen05Fence});
}

TEST_F(PairGemm, AnAllocationInOneCtaOnlyIsCaught) {
  auto without = [&](const std::string &rank) {
    return replaced(text, "@%p2 bra",
                    "setp.eq.or.s32 %p2, %r4, " + rank + ", %p2;\n@%p2 bra");
  };
  // The odd CTA waits for the even one, which goes on alone.
  expectFault(without("0"), {ErrorKind::Deadlock},
              {"waits in 'tcgen05.alloc.cta_group::2.sync.aligned.shared::cta."
               "b32' for a warp of the peer CTA, rank 0"});
  expectFault(
      without("1"),
      {ErrorKind::UninitialisedMemory, ErrorKind::TensorMemoryAllocation},
      {", has completed its tcgen05.alloc"});
}

TEST_F(PairGemm, AnAllocationBeforeThePeerStartsIsCaught) {
  // Without the first of three cluster barriers.
  std::string changed = withoutLine(text, "barrier.cluster.arrive", 0);
  expectFault(withoutLine(changed, "barrier.cluster.wait", 0),
              {ErrorKind::TensorMemoryAllocation}, {"has started"});
}

TEST_F(PairGemm, AllocationsThatDifferAreCaught) {
  std::string changed =
      replaced(text, "tcgen05.alloc",
               "shl.b32 %r44, %r4, 7; add.u32 %r44, %r44, 128;\ntcgen05.alloc");
  changed = replaced(changed, "[%r43], 128;", "[%r43], %r44;");
  expectFault(changed, {ErrorKind::TensorMemoryAllocation},
              {"columns, but the peer CTA names"});
}

TEST_F(PairGemm, AClusterWithoutAPeerIsCaught) {
  std::string changed = withoutLine(text, ".reqnctapercluster");
  changed = withoutLine(changed, ".explicitcluster");
  LaunchConfig config;
  config.grid = {1, 1, 1};
  config.block = {128, 1, 1};
  config.dynamicSharedBytes = 2 * (128 + 64) * 128;
  expectError(problem.run(changed, 64, 64, config, d, 0, Completion::Late),
              ErrorKind::InvalidOperation, {"needs a CTA pair"});
}

TEST_F(PairGemm, AWrongMOrNIsCaught) {
  // The instruction descriptor: N / 8 from bit 17, M / 16 from bit 24.
  auto descriptor = [](uint32_t m, uint32_t n) {
    return ", " + std::to_string(1u << 4 | n / 8 << 17 | m / 16 << 24) + ";";
  };
  for (auto [m, n, rule] :
       {std::tuple(64u, 128u, "128 or 256"), std::tuple(256u, 120u, "of 16")})
    expectError(run(replaced(text, descriptor(256, 128), descriptor(m, n))),
                ErrorKind::BadDescriptor, {rule});
}

TEST_F(PairGemm, AnMmaOnUndecodedTilesIsCaught) {
  // Without the wait for the full barrier.
  Report report = run(replaced(text, "[%r25], %r24;", "[%r25], 1;"));
  expectError(report, ErrorKind::Race);
}
