// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Described launches: buffers, fields, variables and files reach the kernel,
// and what it leaves is judged.

#include "fp8/SimulatedLaunch/DescribedLaunch.h"

#include <gmock/gmock.h>

#include <cstring>
#include <filesystem>
#include <fstream>

using namespace fp8;
using namespace fp8::simulated;
using testing::HasSubstr;

namespace {

// out[i] = table.in[i] + addend + offset, for i below 32; `table` holds the
// address of in at 8, and `offset` is a variable.
const char *const kSum = R"(
.version 8.8
.target sm_90a
.address_size 64
.global .align 4 .f32 offset;
.visible .entry sum(.param .u64 table, .param .align 8 .b8 job[16]) {
  .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d<6>; .reg .f32 %f<4>;
  ld.param.u64 %d0, [table]; ld.global.u64 %d1, [%d0+8];
  ld.param.u64 %d2, [job]; ld.param.f32 %f0, [job+8];
  mov.u32 %r0, %tid.x; mul.wide.u32 %d3, %r0, 4;
  add.s64 %d1, %d1, %d3; add.s64 %d2, %d2, %d3;
  ld.global.f32 %f1, [%d1]; ld.global.f32 %f2, [offset];
  add.f32 %f1, %f1, %f0; add.f32 %f1, %f1, %f2;
  ld.param.u32 %r1, [job+12]; setp.lt.u32 %p, %r0, %r1;
  @%p st.global.f32 [%d2], %f1; ret;
})";

class DescribedLaunchTest : public testing::Test {
protected:
  DescribedLaunchTest()
      : directory(
            testing::TempDir() + "described-" +
            testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::create_directories(directory);
    for (int i = 0; i < 32; ++i) {
      in[i] = float(i);
      right[i] = float(i) + 2.5f - 1.0f;
    }
    write("in.bin", in, sizeof(in));
    write("right.bin", right, sizeof(right));
  }
  ~DescribedLaunchTest() override { std::filesystem::remove_all(directory); }

  void write(const std::string &name, const void *data, size_t bytes) {
    std::ofstream(directory + "/" + name, std::ios::binary)
        .write(static_cast<const char *>(data), std::streamsize(bytes));
  }
  void writeNumpy(const std::string &name, const std::string &header,
                  const void *data, size_t bytes) {
    std::string text = header;
    text.resize(118, ' ');
    std::string file = std::string("\x93NUMPY\x01\x00\x76\x00", 10) + text;
    file.append(static_cast<const char *>(data), bytes);
    write(name, file.data(), file.size());
  }

  /// The description, with `written` elements written, and that expectation.
  std::string text(const std::string &in, const std::string &expectation,
                   int written = 32) {
    return R"({"version": 1, "grid": [1, 1, 1], "block": [32, 1, 1],
      "buffers": [)" +
           in + R"(,
        {"name": "table", "bytes": 16, "fill": "zeros",
         "fields": [{"offset": 8, "value": {"buffer": "in"}}]},
        {"name": "out", "dtype": "f32", "shape": [32], "access": "write",
         "fill": "zeros"}],
      "arguments": [{"buffer": "table"}, {"struct": {"bytes": 16, "fields": [
        {"offset": 0, "value": {"buffer": "out"}},
        {"offset": 8, "value": {"f32": 2.5}},
        {"offset": 12, "value": {"u32": )" +
           std::to_string(written) + R"(}}]}}],
      "variables": {"offset": {"f32": -1}},
      "expected": [)" +
           expectation + "]}";
  }

  launch::Expected<DescribedOutcome>
  run(const std::string &description,
      const std::vector<GivenArray> &arrays = {}) {
    auto parsed = parseDescription(description);
    if (!parsed)
      return parsed.takeError();
    auto kernel = Kernel::parse(kSum, "sum.ptx");
    if (!kernel)
      return kernel.takeError();
    auto launch = DescribedLaunch::make(*kernel, *parsed, directory, arrays);
    if (!launch)
      return launch.takeError();
    return launch->run(sim::Options());
  }

  const std::string directory;
  float in[32], right[32];
  const std::string file = R"({"name": "in", "bytes": 128, "file": "in.bin"})";
  const std::string exact = R"({"buffer": "out", "file": "right.bin"})";
};

} // namespace

TEST_F(DescribedLaunchTest, GivesTheKernelAllThatItNames) {
  auto outcome = run(text(file, exact));
  ASSERT_TRUE(outcome) << outcome.error();
  ASSERT_TRUE(outcome->ok()) << outcome->report.str();
  ASSERT_EQ(outcome->comparisons.size(), 1u);
  EXPECT_TRUE(outcome->comparisons[0].ok) << outcome->comparisons[0].str();
  EXPECT_EQ(outcome->written.back().first, "out");
  EXPECT_EQ(std::memcmp(outcome->written.back().second.data(), right, 128), 0);
}

TEST_F(DescribedLaunchTest, CtasOfACooperativeLaunchMayMeet) {
  // Each of 20 CTAs counts itself in the word that the driver gives, and waits
  // for the others.
  auto kernel = Kernel::parse(R"(
.version 8.8
.target sm_90a
.address_size 64
.visible .entry meet() {
  .reg .pred %p; .reg .b32 %r<5>; .reg .b64 %d<3>;
  mov.u32 %r0, %envreg1; mov.u32 %r1, %envreg2; mov.b64 %d0, {%r1, %r0};
  setp.eq.u64 %p, %d0, 0; @%p trap;
  atom.global.add.u32 %r2, [%d0], 1;
P: ld.relaxed.gpu.global.u32 %r3, [%d0]; setp.lt.u32 %p, %r3, 20; @%p bra P;
  ret;
})",
                              "meet.ptx");
  ASSERT_TRUE(kernel) << kernel.error();
  const std::string plain = R"({"version": 1, "grid": [20, 1, 1],
    "block": [1, 1, 1], "arguments": [])";
  for (bool cooperative : {true, false}) {
    auto parsed = parseDescription(
        plain + (cooperative ? R"(, "cooperative": true})" : "}"));
    ASSERT_TRUE(parsed) << parsed.error();
    auto launch = DescribedLaunch::make(*kernel, *parsed, directory, {});
    ASSERT_TRUE(launch) << launch.error();
    auto outcome = launch->run(sim::Options());
    ASSERT_TRUE(outcome) << outcome.error();
    EXPECT_EQ(outcome->ok(), cooperative) << outcome->report.str();
  }
}

TEST_F(DescribedLaunchTest, TakesAndFillsArrays) {
  float out[32] = {};
  auto outcome = run(text(R"({"name": "in"})", exact),
                     {{"in", in, sizeof(in), true}, {"out", out, sizeof(out)}});
  ASSERT_TRUE(outcome) << outcome.error();
  ASSERT_TRUE(outcome->ok()) << outcome->report.str();
  EXPECT_EQ(std::memcmp(out, right, sizeof(out)), 0);
}

TEST_F(DescribedLaunchTest, ReadsFilesOfNumpy) {
  // 4 x 8, of which the first index runs fastest.
  double turned[32];
  for (int i = 0; i < 32; ++i)
    turned[i % 8 * 4 + i / 8] = right[i];
  writeNumpy("turned.npy",
             "{'descr': '<f8', 'fortran_order': True, 'shape': (4, 8), }",
             turned, sizeof(turned));
  writeNumpy("in.npy",
             "{'descr': '<f4', 'fortran_order': False, 'shape': (32,), }", in,
             sizeof(in));
  auto outcome = run(text(R"({"name": "in", "file": "in.npy"})",
                          R"({"buffer": "out", "file": "turned.npy"})"));
  ASSERT_TRUE(outcome) << outcome.error();
  EXPECT_TRUE(outcome->comparisons[0].ok) << outcome->comparisons[0].str();
}

TEST_F(DescribedLaunchTest, FindsWrongAndUnwrittenElements) {
  right[3] += 0.5f;
  write("wrong.bin", right, sizeof(right));
  auto verdict = [&](const std::string &rest, int written = 32) {
    auto outcome =
        run(text(file, R"({"buffer": "out", "file": "wrong.bin")" + rest + "}",
                 written));
    EXPECT_TRUE(outcome && outcome->ok());
    return outcome->comparisons[0];
  };
  EXPECT_FALSE(verdict("").ok);
  EXPECT_EQ(verdict("").most, 0.5);
  Comparison strict = verdict(R"(, "tolerance": {"max": 0.25})");
  EXPECT_FALSE(strict.ok);
  EXPECT_EQ(strict.wrong, 1u);
  EXPECT_TRUE(verdict(R"(, "tolerance": {"max": 0.5})").ok);
  EXPECT_TRUE(verdict(R"(, "tolerance": {"frobenius": 0.01})").ok);
  EXPECT_FALSE(verdict(R"(, "tolerance": {"frobenius": 0.001})").ok);
  Comparison partial = verdict(R"(, "tolerance": {"frobenius": 10})", 30);
  EXPECT_FALSE(partial.ok);
  EXPECT_EQ(partial.unwritten, 2u);
  std::vector<float> mask(32, 1.0f);
  mask[3] = mask[30] = mask[31] = 0;
  write("mask.bin", mask.data(), 128);
  Comparison masked = verdict(R"(, "mask": "mask.bin")", 30);
  EXPECT_TRUE(masked.ok) << masked.str();
  EXPECT_EQ(masked.elements, 29u);
}

TEST_F(DescribedLaunchTest, AMaskLeavesSomethingToCompare) {
  write("exact.bin", right, sizeof(right));
  std::vector<float> none(32);
  write("none.bin", none.data(), 128);
  auto outcome = run(text(
      file, R"({"buffer": "out", "file": "exact.bin", "mask": "none.bin"})"));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error(),
            "the mask 'none.bin' is 0 everywhere, so that nothing of buffer "
            "'out' counts; let an element count, or expect nothing of it");
}

TEST_F(DescribedLaunchTest, ABrokenRuleLeavesArraysAlone) {
  float out[32] = {};
  auto outcome =
      run(text(R"({"name": "in", "bytes": 128, "fill": "poison"})", exact),
          {{"out", out, sizeof(out)}});
  ASSERT_TRUE(outcome) << outcome.error();
  EXPECT_FALSE(outcome->ok());
  EXPECT_THAT(outcome->errors[0], HasSubstr("uninitialised-memory"));
  EXPECT_EQ(out[5], 0.0f);
  EXPECT_TRUE(outcome->comparisons.empty() && outcome->written.empty());
}

TEST_F(DescribedLaunchTest, SaysWhatIsMissing) {
  auto problem = [&](const std::string &in, const std::string &expectation,
                     const std::vector<GivenArray> &arrays = {}) {
    auto outcome = run(text(in, expectation), arrays);
    return outcome ? "nothing" : outcome.error();
  };
  EXPECT_EQ(problem(R"({"name": "in"})", exact),
            "buffer 'in' has no contents; give it a file, a fill or an array");
  EXPECT_THAT(
      problem(R"({"name": "in", "bytes": 99999999999, "fill": "zeros"})",
              exact),
      HasSubstr("bytes, but the limit is 8589934592"));
  EXPECT_THAT(problem(R"({"name": "in", "file": "no.bin"})", exact),
              HasSubstr("no.bin': No such file or directory"));
  EXPECT_EQ(problem(R"({"name": "in", "bytes": 64, "file": "in.bin"})", exact),
            "the file 'in.bin' has 128 bytes, but buffer 'in' has 64");
  write("short.bin", in, 64);
  EXPECT_EQ(problem(file, R"({"buffer": "out", "file": "short.bin"})"),
            "the file 'short.bin' has 16 elements, but buffer 'out' has 32");
  EXPECT_EQ(problem(file, exact, {{"z", in, 4}}),
            "an array is given for 'z', but the description has no such "
            "buffer");
  writeNumpy("big.npy",
             "{'descr': '>f4', 'fortran_order': False, 'shape': (32,), }", in,
             sizeof(in));
  EXPECT_THAT(problem(R"({"name": "in", "file": "big.npy"})", exact),
              HasSubstr("it has elements of type '>f4'; they must be "
                        "little-endian"));
}

TEST_F(DescribedLaunchTest, FindsTheKernel) {
  auto problem = [&](const std::string &entry) {
    std::string named = text(file, exact);
    named.insert(1, "\"entry\": \"" + entry + "\", ");
    auto outcome = run(named);
    return outcome ? "nothing" : outcome.error();
  };
  EXPECT_EQ(problem("sum"), "nothing");
  EXPECT_EQ(problem("total"), "sum.ptx has no .entry named 'total', which the "
                              "description launches; it has sum");
}

TEST_F(DescribedLaunchTest, RandomNumbersFollowTheSeed) {
  auto contents = [&](const std::string &seed) {
    auto outcome = run(text(
        R"({"name": "in", "dtype": "f32", "shape": [32], "fill": {"random": )" +
            seed + "}}",
        R"({"buffer": "out", "file": "right.bin", "tolerance": {"max": 99}})"));
    EXPECT_TRUE(outcome && outcome->ok());
    std::vector<float> values(32);
    std::memcpy(values.data(), outcome->written[0].second.data(), 128);
    return values;
  };
  EXPECT_EQ(contents("1"), contents("1"));
  EXPECT_NE(contents("1"), contents("2"));
  for (float value : contents("3"))
    EXPECT_TRUE(value >= -1 && value <= 1 && value != 0) << value;
}
