// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tma_load.cu, tma_store.cu and bulk_copy.ptx: the asynchronous proxy, and what
// goes wrong with it.
#include "Foreign.h"

#include <numeric>

using namespace fp8::sim;
using namespace fp8::sim::test;

namespace {
class TmaLoad : public testing::Test {
protected:
  static constexpr uint32_t columns = 150, rows = 100, stride = 152;

  Report run(const std::string &text, uint64_t seed = 0,
             Completion completion = Completion::Late,
             Swizzle swizzle = Swizzle::B128) {
    Launcher launcher(text);
    std::vector<uint16_t> in(rows * stride);
    std::iota(in.begin(), in.end(), 1);
    uint64_t inAddress = launcher.input("in", in);
    constexpr uint32_t tilesX = 3, tilesY = 2, tile = 64;
    size_t count = tilesX * tilesY * tile * tile;
    uint64_t outAddress = launcher.output<uint16_t>("out", count, 0xdead);
    LaunchConfig config;
    config.grid = {tilesX, tilesY, 1};
    config.block = {128, 1, 1};
    TensorMap map = matrixMap(inAddress, ElementType::U16, columns, rows,
                              stride * 2, tile, tile, swizzle);
    Report report = launcher.run(
        {KernelArgument::tensorMap(map), KernelArgument::value(outAddress)},
        config, seed, completion);
    std::vector<uint16_t> out = launcher.contents<uint16_t>(outAddress, count);
    right = true;
    for (uint32_t y = 0; y < tilesY * tile; ++y)
      for (uint32_t x = 0; x < tilesX * tile; ++x) {
        size_t block = y / tile * tilesX + x / tile;
        uint16_t expected =
            x < columns && y < rows ? uint16_t(in[y * stride + x]) : 0;
        right &= out[(block * tile + y % tile) * tile + x % tile] == expected;
      }
    return report;
  }

  std::string text = readKernel("tma_load.ptx");
  bool right = false;
};
} // namespace

TEST_F(TmaLoad, RunsRight) {
  for (uint64_t seed = 0; seed < scheduleSeeds; ++seed) {
    Report report = run(text, seed);
    EXPECT_TRUE(report.ok()) << report.str();
    EXPECT_TRUE(right) << "seed " << seed;
    EXPECT_EQ(report.statistics.tmaLoads, 6u);
  }
}

TEST_F(TmaLoad, AnotherSwizzleGivesOtherNumbers) {
  // The kernel undoes swizzle 128B, so a map without any must show.
  Report report = run(text, 0, Completion::Late, Swizzle::None);
  EXPECT_TRUE(report.ok()) << report.str();
  EXPECT_FALSE(right);
}

TEST_F(TmaLoad, HalvedBytesAreCaught) {
  Report report = run(replaced(text, ", 8192;", ", 4096;"));
  expectError(report, ErrorKind::TransactionOverrun, {"full"});
}

TEST_F(TmaLoad, TooManyBytesAreADeadlock) {
  Report report = run(replaced(text, ", 8192;", ", 8320;"));
  expectError(report, ErrorKind::Deadlock, {"full", "128"});
}

TEST_F(TmaLoad, ASwappedParityReadsDataInFlight) {
  std::string wait = "mbarrier.try_wait.parity.shared::cta.b64 p, [%r24], ";
  std::string changed = replaced(text, wait + "%r25;", wait + "1;");
  expectError(run(changed), ErrorKind::Race,
              {"cp.async.bulk.tensor", "mbarrier"});
}

TEST_F(TmaLoad, ABoxThatBreaksTheSwizzleSpanIsRefused) {
  Launcher launcher(text);
  uint64_t address = launcher.output<uint16_t>("in", 100 * 152, 0);
  TensorMap map =
      matrixMap(address, ElementType::U16, 150, 100, 304, 64, 64, Swizzle::B64);
  LaunchConfig config;
  config.block = {128, 1, 1};
  Report report = launcher.run(
      {KernelArgument::tensorMap(map), KernelArgument::value(address)}, config);
  EXPECT_FALSE(report.ok());
}

namespace {
class TmaStore : public testing::Test {
protected:
  static constexpr uint32_t columns = 76, rows = 118;

  Report run(const std::string &text, uint64_t seed = 0,
             Completion completion = Completion::Late) {
    Launcher launcher(text);
    uint64_t outAddress = launcher.output<float>("out", columns * rows, -1.0f);
    LaunchConfig config;
    config.grid = {3, 2, 1};
    config.block = {128, 1, 1};
    TensorMap map = matrixMap(outAddress, ElementType::F32, columns, rows,
                              columns * 4, 32, 32, Swizzle::B128);
    Report report = launcher.run(
        {KernelArgument::tensorMap(map), KernelArgument::value(0.5f)}, config,
        seed, completion);
    std::vector<float> out =
        launcher.contents<float>(outAddress, columns * rows);
    right = true;
    for (uint32_t y = 0; y < rows; ++y)
      for (uint32_t x = 0; x < columns; ++x)
        right &= out[y * columns + x] == 0.5f * (y * 1000 + x);
    return report;
  }

  std::string text = readKernel("tma_store.ptx");
  bool right = false;
};
} // namespace

TEST_F(TmaStore, RunsRight) {
  for (uint64_t seed = 0; seed < scheduleSeeds; ++seed) {
    Report report = run(text, seed);
    EXPECT_TRUE(report.ok()) << report.str();
    EXPECT_TRUE(right) << "seed " << seed;
    EXPECT_EQ(report.statistics.tmaStores, 12u);
  }
}

TEST_F(TmaStore, AMissingProxyFenceIsCaught) {
  Report report = run(withoutLine(text, "fence.proxy.async"));
  expectError(report, ErrorKind::MissingProxyFence, {"fence.proxy.async"});
}

TEST_F(TmaStore, AnUndrainedStoreIsCaughtOnlyWhenItCompletesLate) {
  // The second pass's store is waited for by nobody.
  std::string wait = "cp.async.bulk.wait_group.read 0;";
  std::string changed = replaced(
      text, wait,
      "{.reg .pred q;\n\tsetp.eq.u32 q, %r155, 0;\n\t@q " + wait + "\n\t}");
  changed = withoutLine(changed, "cp.async.bulk.wait_group 0;");
  for (uint64_t seed = 0; seed < scheduleSeeds; ++seed)
    expectError(run(changed, seed), ErrorKind::WorkInFlight, {"wait_group"});
  Report atIssue = run(changed, 0, Completion::AtIssue);
  EXPECT_TRUE(atIssue.ok()) << atIssue.str();
  EXPECT_TRUE(right);
}

TEST_F(TmaStore, AStoreWhoseSourceWasReadNeedsNoMore) {
  // The writes to global memory are complete when the grid is.
  Report report = run(withoutLine(text, "cp.async.bulk.wait_group 0;"));
  EXPECT_TRUE(report.ok()) << report.str();
  EXPECT_TRUE(right);
}

TEST_F(TmaStore, AnEarlyOverwriteIsCaughtOnlyWhenItCompletesLate) {
  std::string changed = withoutLine(text, "cp.async.bulk.wait_group.read 0;");
  expectError(run(changed), ErrorKind::MemoryInFlight, {"shared"});
  Report atIssue = run(changed, 0, Completion::AtIssue);
  EXPECT_TRUE(atIssue.ok()) << atIssue.str();
}

TEST_F(TmaStore, AMissingBarrierIsARace) {
  // All threads stage; one stores without waiting for them.
  Report report = run(withoutLine(text, "bar.sync"));
  EXPECT_FALSE(report.ok());
}

namespace {
class BulkCopy : public testing::Test {
protected:
  Report run(const std::string &text, uint64_t seed = 0,
             Completion completion = Completion::Late) {
    constexpr uint32_t blocks = 5;
    Launcher launcher(text);
    std::vector<uint32_t> in(blocks * 256);
    std::iota(in.begin(), in.end(), 99);
    uint64_t inAddress = launcher.input("in", in);
    uint64_t outAddress = launcher.output<uint32_t>("out", in.size(), 0);
    LaunchConfig config;
    config.grid = {blocks, 1, 1};
    config.block = {256, 1, 1};
    Report report = launcher.run(
        {KernelArgument::value(inAddress), KernelArgument::value(outAddress)},
        config, seed, completion);
    for (uint32_t &value : in)
      ++value;
    right = launcher.contents<uint32_t>(outAddress, in.size()) == in;
    return report;
  }

  std::string text = readKernel("bulk_copy.ptx");
  bool right = false;
};
} // namespace

TEST_F(BulkCopy, RunsRight) {
  for (uint64_t seed = 0; seed < scheduleSeeds; ++seed) {
    Report report = run(text, seed);
    EXPECT_TRUE(report.ok()) << report.str();
    EXPECT_TRUE(right) << "seed " << seed;
  }
}

TEST_F(BulkCopy, HalvedBytesAreCaught) {
  Report report = run(replaced(text, "[%r4], 1024;", "[%r4], 512;"));
  expectError(report, ErrorKind::TransactionOverrun, {"full"});
}

TEST_F(BulkCopy, AGroupLeftUndrainedIsCaught) {
  // wait_group 1 alone leaves the second group.
  Report report = run(withoutLine(text, "cp.async.bulk.wait_group 0;"));
  expectError(report, ErrorKind::WorkInFlight);
}

TEST_F(BulkCopy, AMissingProxyFenceIsCaught) {
  Report report = run(withoutLine(text, "fence.proxy.async"));
  expectError(report, ErrorKind::MissingProxyFence);
}

TEST_F(BulkCopy, AMisalignedSourceIsCaught) {
  Report report =
      run(replaced(text, "add.u32 %r7, %r3, 512;", "add.u32 %r7, %r3, 504;"));
  expectError(report, ErrorKind::Misaligned, {"16"});
}

TEST_F(BulkCopy, AnAccessPastABufferNamesIt) {
  Report report = run(
      replaced(text, "add.u64 %rd5, %rd2, 512;", "add.u64 %rd5, %rd2, 4608;"));
  expectError(report, ErrorKind::OutOfBounds, {"out"});
}
