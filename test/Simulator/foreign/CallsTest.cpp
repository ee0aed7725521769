// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// calls.cu and mma_gemm.cu: functions that are not inlined, and products of
// single warps.
#include "Foreign.h"

#include <algorithm>
#include <cmath>
#include <random>

using namespace fp8::sim;
using namespace fp8::sim::test;

namespace {
constexpr uint32_t threads = 64;

std::vector<uint32_t> numbers() {
  std::mt19937 random(5);
  std::vector<uint32_t> values(threads * 16);
  for (uint32_t &value : values)
    value = random() % 1000000;
  return values;
}

/// The part of calls.cu up to the structure.
uint32_t sumOf(const std::vector<uint32_t> &in, uint32_t thread) {
  std::vector<uint32_t> values(in.begin() + thread * 16,
                               in.begin() + thread * 16 + 4 + thread % 13);
  std::sort(values.begin(), values.end());
  uint32_t sum = 0;
  for (uint32_t value : values)
    sum = sum * 31 + value;
  sum = thread % 3 == 0 ? 2 * sum : thread % 3 == 1 ? sum * sum : sum - 1;
  return sum + (thread & 4 ? thread * thread : 3 * thread);
}

Report runCalls(const std::vector<uint32_t> &in, std::vector<uint32_t> &out,
                uint32_t limit, uint64_t seed) {
  Launcher launcher(readKernel("calls.ptx"));
  uint64_t source = launcher.input("in", in),
           target = launcher.output<uint32_t>("out", threads, 0xdeadbeef);
  LaunchConfig config;
  config.block = {threads, 1, 1};
  Report report = launcher.run({KernelArgument::value(source),
                                KernelArgument::value(target),
                                KernelArgument::value(limit)},
                               config, seed);
  out = launcher.contents<uint32_t>(target, threads);
  return report;
}
} // namespace

TEST(Foreign, FunctionsThatAreNotInlined) {
  std::vector<uint32_t> in = numbers(), out;
  for (uint64_t seed = 0; seed < 3; ++seed) {
    Report report = runCalls(in, out, 1000000, seed);
    ASSERT_TRUE(report.ok()) << report.str();
    for (uint32_t thread = 0; thread < threads; ++thread)
      EXPECT_EQ(out[thread], (sumOf(in, thread) + 7) * 8 + 5) << thread;
    ASSERT_EQ(report.printed.size(), 2u);
    std::vector<std::string> lines;
    for (const PrintedText &printed : report.printed)
      lines.push_back(printed.str());
    std::sort(lines.begin(), lines.end());
    EXPECT_EQ(lines[0], "block (0,0,0) thread (41,0,0): thread 41 of calls: "
                        "20.50, 352187318272\n");
    EXPECT_EQ(lines[1], "block (0,0,0) thread (9,0,0): thread 9 of calls:  "
                        "4.50, 77309411328\n");
  }
}

TEST(Foreign, AnAssertionOfCudaFails) {
  std::vector<uint32_t> in = numbers(), out;
  std::fill_n(in.begin() + 16 * 20, 16, 5000000);
  expectError(runCalls(in, out, 1000000, 0), ErrorKind::Trap,
              {"calls.cu:71: ", "): thread (20,0,0): assertion 'values[0] < "
                                "limit' failed"});
}

namespace {
/// e4m3 or f16 codes with their values.
struct Operand {
  std::vector<uint8_t> bytes;
  std::vector<double> values;

  Operand(size_t count, bool float8, uint32_t seed) {
    std::mt19937 random(seed);
    for (size_t i = 0; i < count; ++i) {
      uint32_t bits = random();
      int mantissa = float8 ? int(bits & 7) : int(bits & 1023),
          exponent = int(bits >> 10 & 3);
      bool negative = bits >> 31;
      int width = float8 ? 3 : 10;
      values.push_back(std::ldexp((1 << width) + mantissa, exponent - width) *
                       (negative ? -1 : 1));
      uint32_t code = uint32_t(exponent + (float8 ? 7 : 15)) << width |
                      uint32_t(mantissa) |
                      uint32_t(negative) << (float8 ? 7 : 15);
      bytes.push_back(uint8_t(code));
      if (!float8)
        bytes.push_back(uint8_t(code >> 8));
    }
  }
};
} // namespace

TEST(Foreign, ProductsOfWarps) {
  constexpr int m = 64, n = 96, bytes = 256;
  for (bool float8 : {false, true}) {
    int k = float8 ? bytes : bytes / 2;
    Operand a(size_t(m * k), float8, 1), b(size_t(n * k), float8, 2);
    Launcher launcher(readKernel("mma_gemm.ptx"));
    uint64_t aAddress = launcher.input("a", a.bytes),
             bAddress = launcher.input("b", b.bytes),
             target = launcher.output<float>("d", m * n, NAN);
    LaunchConfig config;
    config.grid = {n / 32, m / 32, 1};
    config.block = {32, 1, 1};
    Report report = launcher.run(
        {KernelArgument::value(aAddress), KernelArgument::value(bAddress),
         KernelArgument::value(target), KernelArgument::value(n),
         KernelArgument::value(bytes), KernelArgument::value(int(float8))},
        config);
    ASSERT_TRUE(report.ok()) << report.str();
    std::vector<float> d = launcher.contents<float>(target, m * n);
    for (int row = 0; row < m; ++row)
      for (int column = 0; column < n; ++column) {
        double sum = 0, magnitude = 0;
        for (int at = 0; at < k; ++at) {
          double product = a.values[size_t(row * k + at)] *
                           b.values[size_t(column * k + at)];
          sum += product;
          magnitude += std::fabs(product);
        }
        ASSERT_NEAR(double(d[size_t(row * n + column)]), sum, magnitude * 4e-7)
            << float8 << " " << row << " " << column;
      }
  }
}
