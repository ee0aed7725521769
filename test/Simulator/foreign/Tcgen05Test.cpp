// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tcgen05_gemm.cu: tensor memory and the tensor cores, and what goes wrong with
// them.
#include "Foreign.h"
#include "fp8/Reference/Float8.h"

#include <cmath>

using namespace fp8::sim;
using namespace fp8::sim::test;
using fp8::reference::decodeE4M3FN;

namespace {
double decoded(uint8_t code) {
  static const std::vector<double> table = [] {
    std::vector<double> values;
    for (unsigned i = 0; i < 256; ++i)
      values.push_back(decodeE4M3FN(uint8_t(i)));
    return values;
  }();
  return table[code];
}

class Tcgen05Gemm : public testing::Test {
protected:
  static constexpr uint32_t m = 256, n = 128, blocks = 5, k = blocks * 128;

  void SetUp() override {
    // Any code but NaN, and not so large that sums leave f32's exact range.
    uint32_t state = 12345;
    auto next = [&] {
      state = state * 1664525 + 1013904223;
      return uint8_t((state >> 24 & 0x80) | ((state >> 16) % 0x60));
    };
    for (uint8_t &code : a)
      code = next();
    for (uint8_t &code : b)
      code = next();
    sums.resize(m * n);
    magnitudes.resize(m * n);
    for (uint32_t i = 0; i < m; ++i)
      for (uint32_t j = 0; j < n; ++j)
        for (uint32_t l = 0; l < k; ++l) {
          double product = decoded(a[i * k + l]) * decoded(b[j * k + l]);
          sums[i * n + j] += product;
          magnitudes[i * n + j] += std::fabs(product);
        }
  }

  Report run(const std::string &text, uint64_t seed = 0,
             Completion completion = Completion::Late) {
    Launcher launcher(text);
    uint64_t aAddress = launcher.input("a", a);
    uint64_t bAddress = launcher.input("b", b);
    uint64_t dAddress = launcher.output<float>("d", m * n, NAN);
    LaunchConfig config;
    config.grid = {n / 64, m / 128, 1};
    config.block = {128, 1, 1};
    config.dynamicSharedBytes = 2 * (128 + 64) * 128;
    auto map = [&](uint64_t address, uint32_t rows, uint32_t boxRows) {
      return KernelArgument::tensorMap(matrixMap(
          address, ElementType::U8, k, rows, k, 128, boxRows, Swizzle::B128));
    };
    Report report = launcher.run({map(aAddress, m, 128), map(bAddress, n, 64),
                                  KernelArgument::value(dAddress),
                                  KernelArgument::value<int32_t>(n),
                                  KernelArgument::value<int32_t>(blocks)},
                                 config, seed, completion);
    d = launcher.contents<float>(dAddress, m * n);
    return report;
  }

  /// The largest error relative to the sum of magnitudes.
  double worstError() const {
    double worst = 0;
    for (uint32_t i = 0; i < m * n; ++i) {
      double error = std::fabs(d[i] - sums[i]) / magnitudes[i];
      if (!(error <= worst))
        worst = error;
    }
    return worst;
  }

  std::string text = readKernel("tcgen05_gemm.ptx");
  std::vector<uint8_t> a = std::vector<uint8_t>(m * k);
  std::vector<uint8_t> b = std::vector<uint8_t>(n * k);
  std::vector<float> d;
  std::vector<double> sums, magnitudes;
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
