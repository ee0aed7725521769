// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wgmma_gemm.cu: a warp-specialised GEMM of Hopper's, and what goes wrong with
// it.
#include "Gemm.h"

using namespace fp8::sim;
using namespace fp8::sim::test;

namespace {
class WgmmaGemm : public testing::Test {
protected:
  Report run(const std::string &text, uint64_t seed = 0,
             Completion completion = Completion::Late) {
    LaunchConfig config;
    config.grid = {2, 2, 1};
    config.block = {384, 1, 1};
    config.dynamicSharedBytes = 3 * (128 + 64) * 128;
    return problem.run(text, 128, 64, config, d, seed, completion);
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

  std::string text = readKernel("wgmma_gemm.ptx");
  const GemmProblem problem{256, 128, 8 * 128};
  std::vector<float> d;
};
} // namespace

TEST_F(WgmmaGemm, RunsRight) {
  for (uint64_t seed = 0; seed < scheduleSeeds; ++seed) {
    Report report = run(text, seed);
    ASSERT_TRUE(report.ok()) << "seed " << seed << "\n" << report.str();
    // Hopper keeps few bits of its sums, here through 32 instructions
    // (Numerics.md).
    EXPECT_LT(problem.worstError(d), 1.0 / 512) << "seed " << seed;
    EXPECT_GT(problem.worstError(d), 1e-6) << "seed " << seed;
    EXPECT_EQ(report.statistics.mmas, 4u * 2 * 8 * 4);
  }
  Report atIssue = run(text, 0, Completion::AtIssue);
  EXPECT_TRUE(atIssue.ok()) << atIssue.str();
  EXPECT_LT(problem.worstError(d), 1.0 / 512);
}

TEST_F(WgmmaGemm, MissingFence) {
  expectFault(withoutLine(text, "wgmma.fence"), {ErrorKind::MissingWgmmaFence},
              {"execute wgmma.fence"});
}

TEST_F(WgmmaGemm, MissingLastWait) {
  expectFault(withoutLine(text, "wgmma.wait_group.sync.aligned 0"),
              {ErrorKind::RegisterInFlight},
              {"still owns it; execute wgmma.commit_group and a "
               "wgmma.wait_group that covers it"});
}

TEST_F(WgmmaGemm, MissingCommit) {
  expectFault(withoutLine(text, "wgmma.commit_group"),
              {ErrorKind::RegisterInFlight, ErrorKind::Race,
               ErrorKind::MemoryInFlight});
}

TEST_F(WgmmaGemm, StageGivenBackBeforeItsProductsAreOver) {
  // The wait for the block before leaves two groups in flight.
  std::string changed = replaced(text, "wgmma.wait_group.sync.aligned 1",
                                 "wgmma.wait_group.sync.aligned 2");
  expectFault(changed, {ErrorKind::Race, ErrorKind::MemoryInFlight},
              {"wgmma.mma_async"});
  EXPECT_TRUE(run(changed, 0, Completion::AtIssue).ok());
}

TEST_F(WgmmaGemm, WrongStride) {
  // 2048 bytes from 8 rows to the next; the descriptors' low bits say the K
  // block.
  std::string changed = text;
  for (uint64_t k = 0; k < 8; k += 2)
    for (int operand = 0; operand < 2; ++operand)
      changed = replaced(
          changed, std::to_string(4611686293305360384u + k),
          std::to_string(4611686293305360384u + (uint64_t(64) << 32) + k));
  // The tiles that it then reaches into are not there yet, or are not its own.
  expectFault(changed, {ErrorKind::UninitialisedMemory, ErrorKind::Race,
                        ErrorKind::MemoryInFlight, ErrorKind::OutOfBounds});
}

TEST_F(WgmmaGemm, NoWaitForTheData) {
  std::string changed =
      replaced(text, "mbarrier.try_wait.parity.shared::cta.b64 p, [%r7], %r5;",
               "setp.eq.b32 p, %r5, %r5;");
  expectFault(changed, {ErrorKind::UninitialisedMemory, ErrorKind::Race,
                        ErrorKind::MemoryInFlight});
}

TEST_F(WgmmaGemm, RegistersThatNobodyGivesUp) {
  // 128 threads keep 168 registers: 256 cannot have 232.
  expectFault(withoutLine(text, "setmaxnreg.dec"), {ErrorKind::Deadlock},
              {"waits in 'setmaxnreg.inc.sync.aligned.u32' for 64 registers "
               "per thread"});
  expectFault(replaced(text, "setmaxnreg.dec.sync.aligned.u32 40",
                       "setmaxnreg.dec.sync.aligned.u32 56"),
              {ErrorKind::Deadlock});
}
