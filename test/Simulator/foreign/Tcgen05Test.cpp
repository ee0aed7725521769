// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tcgen05_gemm.cu: tensor memory and the tensor cores, and what goes wrong with
// them.
#include "Gemm.h"

using namespace fp8::sim;
using namespace fp8::sim::test;

namespace {
class Tcgen05Gemm : public testing::Test {
protected:
  static constexpr uint32_t blocks = 5;

  Report run(const std::string &text, uint64_t seed = 0,
             Completion completion = Completion::Late) {
    LaunchConfig config;
    config.grid = {problem.n / 64, problem.m / 128, 1};
    config.block = {128, 1, 1};
    config.dynamicSharedBytes = 2 * (128 + 64) * 128;
    return problem.run(text, 128, 64, config, d, seed, completion);
  }
  double worstError() const { return problem.worstError(d); }

  std::string text = readKernel("tcgen05_gemm.ptx");
  const GemmProblem problem{256, 128, blocks * 128};
  std::vector<float> d;
};
} // namespace

TEST_F(Tcgen05Gemm, RunsRight) {
  for (uint64_t seed = 0; seed < scheduleSeeds; ++seed) {
    Report report = run(text, seed);
    EXPECT_TRUE(report.ok()) << report.str();
    EXPECT_LT(worstError(), 1e-5) << "seed " << seed;
    EXPECT_EQ(report.statistics.mmas, 4u * blocks * 4);
  }
}

TEST_F(Tcgen05Gemm, AMissingWaitAfterLoadIsCaughtOnlyWhenItCompletesLate) {
  for (unsigned which : {0u, 7u}) {
    std::string changed = withoutLine(text, "tcgen05.wait::ld", which);
    expectError(run(changed), ErrorKind::RegisterInFlight,
                {"tcgen05.wait::ld"});
    Report atIssue = run(changed, 0, Completion::AtIssue);
    EXPECT_TRUE(atIssue.ok()) << atIssue.str();
    EXPECT_LT(worstError(), 1e-5);
  }
}

TEST_F(Tcgen05Gemm, AReadBeforeTheMMAsAreDoneIsCaught) {
  // Waits for the phase before the first instead of the last commit.
  std::string changed = replaced(text, "[%r96], %r97;", "[%r96], 1;");
  EXPECT_FALSE(run(changed).ok());
}

TEST_F(Tcgen05Gemm, ADroppedCommitIsADeadlock) {
  Report report = run(withoutLine(text, "tcgen05.commit", 1));
  expectError(report, ErrorKind::Deadlock, {"finished"});
}

TEST_F(Tcgen05Gemm, AnEarlyReleaseOfAStageIsCaughtOnlyWhenItCompletesLate) {
  // An ordinary arrival frees the stage while the MMAs still read it.
  std::string changed = replaced(
      text,
      "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 "
      "[",
      "mbarrier.arrive.shared::cta.b64 _, [");
  unsigned caught = 0;
  for (uint64_t seed = 0; seed < scheduleSeeds; ++seed)
    caught += !run(changed, seed).ok();
  EXPECT_EQ(caught, scheduleSeeds);
  Report atIssue = run(changed, 0, Completion::AtIssue);
  EXPECT_TRUE(atIssue.ok()) << atIssue.str();
}

TEST_F(Tcgen05Gemm, AMissingFenceAfterTheWaitIsCaught) {
  // The second of three: between the last commit and the first load.
  Report report = run(withoutLine(text, "tcgen05.fence::after_thread_sync", 1));
  expectError(report, ErrorKind::MissingTcgen05Fence,
              {"tcgen05.fence::after_thread_sync"});
}

TEST_F(Tcgen05Gemm, ColumnsNeverFreedAreCaught) {
  Report report = run(withoutLine(text, "tcgen05.dealloc"));
  expectError(report, ErrorKind::TensorMemoryAllocation,
              {"columns 0 to 63", "tcgen05.dealloc"});
}

TEST_F(Tcgen05Gemm, AColumnCountThatIsNoPowerOfTwoIsCaught) {
  Report report = run(replaced(text, "], 64;", "], 48;"));
  expectError(report, ErrorKind::TensorMemoryAllocation, {"48"});
}

TEST_F(Tcgen05Gemm, ALoadPastTheAllocationIsCaught) {
  Report report = run(replaced(text, "], 64;", "], 32;"));
  expectError(report, ErrorKind::OutOfBounds);
}

TEST_F(Tcgen05Gemm, ALoadFromAnotherWarpsLanesIsCaught) {
  // Warp w reads lanes 32 * ((w + 1) % 4) and up.
  std::string changed = replaced(text, "tcgen05.ld.sync",
                                 "xor.b32 %r106, %r106, 0x200000;\n\t"
                                 "tcgen05.ld.sync");
  EXPECT_FALSE(run(changed).ok());
}

TEST_F(Tcgen05Gemm, AReservedDescriptorBitIsCaught) {
  // The instruction descriptor with its reserved bit 6 set.
  Report report = run(replaced(text, ", %r80, p;", ", 0x8100050, p;"));
  expectError(report, ErrorKind::BadDescriptor);
}

TEST_F(Tcgen05Gemm, HalvedBytesAreCaught) {
  Report report = run(replaced(text, ", 24576;", ", 12288;"));
  EXPECT_FALSE(report.ok());
}
