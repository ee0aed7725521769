// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// divergent.cu, warp_reduce.cu, histogram.cu and sgemm.cu: what nvcc makes of
// ordinary CUDA C++.
#include "Foreign.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace fp8::sim;
using namespace fp8::sim::test;

namespace {
/// One lane's part of divergent.cu, up to the votes.
uint32_t walk(uint32_t value) {
  uint32_t sum = 0;
  for (uint32_t step = 0; value != 1; ++step) {
    value = value % 2 ? 3 * value + 1 : value / 2;
    if (step % 7 == 3)
      continue;
    if (step == 200)
      break;
    for (uint32_t rest = value; rest; rest /= 10) {
      sum += rest % 10;
      if (rest % 10 == 9)
        break;
    }
  }
  return sum;
}

/// What the lanes of one warp store.
std::vector<uint32_t> warpResult(const std::vector<uint32_t> &in, size_t begin,
                                 size_t end) {
  uint32_t odd = 0, first = 0;
  bool any = false, all = true, found = false;
  std::vector<uint32_t> sums;
  for (size_t at = begin; at < end; ++at) {
    uint32_t sum = in[at] ? walk(in[at]) : 0;
    sums.push_back(sum);
    if (!in[at])
      continue;
    odd += sum & 1;
    any |= sum > 5000;
    all &= sum > 0;
    first = found ? first : sum;
    found = true;
  }
  for (size_t i = 0; i < sums.size(); ++i) {
    uint32_t &sum = sums[i];
    if (!in[begin + i])
      sum = 0xdead;
    else if (sum % 4 == 0)
      sum += first;
    else if (sum % 4 == 1)
      sum = (sum ^ odd) * 2 + any;
    else if (sum % 4 == 2)
      sum = sum * 2 + any;
    else
      sum -= all;
  }
  return sums;
}
} // namespace

TEST(ForeignCompute, DivergentWarps) {
  constexpr uint32_t count = 237;
  std::vector<uint32_t> in(count), expected;
  for (uint32_t i = 0; i < count; ++i)
    in[i] = i % 11 == 5 ? 0 : (i * 2654435761u) >> 16;
  for (size_t begin = 0; begin < count; begin += 32) {
    std::vector<uint32_t> part =
        warpResult(in, begin, std::min<size_t>(begin + 32, count));
    expected.insert(expected.end(), part.begin(), part.end());
  }
  for (uint64_t seed = 0; seed < scheduleSeeds; ++seed) {
    Launcher launcher(readKernel("divergent.ptx"));
    uint64_t inAddress = launcher.input("in", in);
    uint64_t outAddress = launcher.output<uint32_t>("out", count, 1);
    LaunchConfig config;
    config.grid = {2, 1, 1};
    config.block = {128, 1, 1};
    Report report = launcher.run({KernelArgument::value(inAddress),
                                  KernelArgument::value(outAddress),
                                  KernelArgument::value<int32_t>(count)},
                                 config, seed);
    ASSERT_TRUE(report.ok()) << report.str();
    ASSERT_EQ(launcher.contents<uint32_t>(outAddress, count), expected)
        << "seed " << seed;
  }
}

TEST(ForeignCompute, AVoteOutsideItsMaskIsCaught) {
  // The first ballot's mask leaves out lane 0, which executes it.
  Launcher launcher(replaced(
      readKernel("divergent.ptx"), "vote.sync.ballot.b32 	%r4, %p7, %r31;",
      "vote.sync.ballot.b32 	%r4, %p7, 0xfffffffe;"));
  uint64_t inAddress = launcher.input("in", std::vector<uint32_t>(128, 7));
  uint64_t outAddress = launcher.output<uint32_t>("out", 128, 1);
  LaunchConfig config;
  config.block = {128, 1, 1};
  Report report = launcher.run({KernelArgument::value(inAddress),
                                KernelArgument::value(outAddress),
                                KernelArgument::value<int32_t>(128)},
                               config);
  EXPECT_FALSE(report.ok());
}

TEST(ForeignCompute, WarpShuffles) {
  constexpr int count = 700;
  std::vector<int32_t> in(count);
  for (int i = 0; i < count; ++i)
    in[i] = (i * 7919) % 1000 - 500;
  auto value = [&](int i) { return i < count ? in[i] : 0; };
  std::vector<int32_t> sums, prefixes, rotated;
  for (int i = 0; i < count; ++i) {
    int warp = i / 32 * 32, sum = 0, prefix = 0;
    for (int j = warp; j < warp + 32; ++j) {
      sum += value(j);
      prefix += j <= i ? value(j) : 0;
    }
    if (i == warp)
      sums.push_back(sum);
    prefixes.push_back(prefix);
    rotated.push_back(std::max(in[i], value(i % 8 == 7 ? i : i + 1)));
  }
  for (uint64_t seed = 0; seed < scheduleSeeds; ++seed) {
    Launcher launcher(readKernel("warp_reduce.ptx"));
    uint64_t inAddress = launcher.input("in", in);
    uint64_t sumsAddress = launcher.output<int32_t>("sums", sums.size(), 0);
    uint64_t prefixAddress = launcher.output<int32_t>("prefixes", count, 0);
    uint64_t rotatedAddress = launcher.output<int32_t>("rotated", count, 0);
    LaunchConfig config;
    config.grid = {3, 1, 1};
    config.block = {256, 1, 1};
    Report report = launcher.run({KernelArgument::value(inAddress),
                                  KernelArgument::value(sumsAddress),
                                  KernelArgument::value(prefixAddress),
                                  KernelArgument::value(rotatedAddress),
                                  KernelArgument::value<int32_t>(count)},
                                 config, seed);
    ASSERT_TRUE(report.ok()) << report.str();
    EXPECT_EQ(launcher.contents<int32_t>(sumsAddress, sums.size()), sums);
    EXPECT_EQ(launcher.contents<int32_t>(prefixAddress, count), prefixes);
    EXPECT_EQ(launcher.contents<int32_t>(rotatedAddress, count), rotated);
  }
}

TEST(ForeignCompute, HistogramByAtomics) {
  constexpr uint32_t count = 5000;
  std::vector<uint8_t> in(count);
  std::vector<uint32_t> bins(256);
  uint64_t sum = 0;
  for (uint32_t i = 0; i < count; ++i) {
    in[i] = uint8_t(i * i % 251);
    ++bins[in[i]];
    sum += in[i];
  }
  for (uint64_t seed = 0; seed < scheduleSeeds; ++seed) {
    Launcher launcher(readKernel("histogram.ptx"));
    uint64_t inAddress = launcher.input("in", in);
    uint64_t binsAddress = launcher.output<uint32_t>("bins", 256, 0);
    uint64_t largestAddress = launcher.output<uint32_t>("largest", 1, 0);
    uint64_t sumAddress = launcher.output<uint64_t>("sum", 1, 0);
    LaunchConfig config;
    config.grid = {4, 1, 1};
    config.block = {128, 1, 1};
    Report report = launcher.run({KernelArgument::value(inAddress),
                                  KernelArgument::value(binsAddress),
                                  KernelArgument::value(largestAddress),
                                  KernelArgument::value(sumAddress),
                                  KernelArgument::value<int32_t>(count)},
                                 config, seed);
    ASSERT_TRUE(report.ok()) << report.str();
    EXPECT_EQ(launcher.contents<uint32_t>(binsAddress, 256), bins);
    EXPECT_EQ(launcher.contents<uint32_t>(largestAddress, 1)[0],
              *std::max_element(in.begin(), in.end()));
    EXPECT_EQ(launcher.contents<uint64_t>(sumAddress, 1)[0], sum);
  }
}

TEST(ForeignCompute, HistogramWithoutABarrierIsARace) {
  // 0: between the zeros and the atomics; 1: between those and the reads.
  std::vector<uint8_t> in(5000);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = uint8_t((i * 2654435761u) >> 16);
  for (unsigned which : {0u, 1u}) {
    unsigned caught = 0;
    for (uint64_t seed = 0; seed < scheduleSeeds; ++seed) {
      Launcher launcher(
          withoutLine(readKernel("histogram.ptx"), "bar.sync", which));
      uint64_t inAddress = launcher.input("in", in);
      uint64_t binsAddress = launcher.output<uint32_t>("bins", 256, 0);
      uint64_t largestAddress = launcher.output<uint32_t>("largest", 1, 0);
      uint64_t sumAddress = launcher.output<uint64_t>("sum", 1, 0);
      LaunchConfig config;
      config.block = {128, 1, 1};
      Report report = launcher.run({KernelArgument::value(inAddress),
                                    KernelArgument::value(binsAddress),
                                    KernelArgument::value(largestAddress),
                                    KernelArgument::value(sumAddress),
                                    KernelArgument::value<int32_t>(5000)},
                                   config, seed);
      for (const SimulationError &error : report.errors)
        caught += error.kind == ErrorKind::Race;
    }
    EXPECT_GT(caught, 0u) << "barrier " << which;
  }
}

TEST(ForeignCompute, Sgemm) {
  constexpr int m = 70, n = 45, k = 83;
  std::vector<float> a(m * k), b(k * n);
  auto fill = [](std::vector<float> &values, int step) {
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = float(int(i * step % 101) - 50) / 16;
  };
  fill(a, 37);
  fill(b, 53);
  for (uint64_t seed = 0; seed < scheduleSeeds; ++seed) {
    Launcher launcher(readKernel("sgemm.ptx"));
    uint64_t aAddress = launcher.input("a", a);
    uint64_t bAddress = launcher.input("b", b);
    uint64_t cAddress = launcher.output<float>("c", m * n, 4.0f);
    LaunchConfig config;
    config.grid = {2, 3, 1};
    config.block = {128, 1, 1};
    Report report = launcher.run(
        {KernelArgument::value(aAddress), KernelArgument::value(bAddress),
         KernelArgument::value(cAddress), KernelArgument::value<int32_t>(m),
         KernelArgument::value<int32_t>(n), KernelArgument::value<int32_t>(k),
         KernelArgument::value(0.5f), KernelArgument::value(0.25f)},
        config, seed);
    ASSERT_TRUE(report.ok()) << report.str();
    std::vector<float> result = launcher.contents<float>(cAddress, m * n);
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        double sum = 0;
        for (int l = 0; l < k; ++l)
          sum += double(a[i * k + l]) * b[l * n + j];
        ASSERT_NEAR(result[i * n + j], 0.5 * sum + 1, 1e-4) << i << ", " << j;
      }
  }
}
