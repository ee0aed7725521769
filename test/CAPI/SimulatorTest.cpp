// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fp8SimulateLaunch: any kernel, on the caller's arrays.

#include "fp8-c/Simulator.h"

#include <gmock/gmock.h>

#include <cstring>
#include <vector>

using testing::Each;
using testing::HasSubstr;

namespace {

const char *const kTwice = R"(
.version 8.8
.target sm_90a
.address_size 64
.visible .entry twice(.param .u64 data) {
  .reg .b32 %r<2>; .reg .b64 %d<3>; .reg .f32 %f<2>;
  ld.param.u64 %d0, [data]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4;
  add.s64 %d0, %d0, %d1; ld.global.f32 %f0, [%d0]; add.f32 %f0, %f0, %f0;
  st.global.f32 [%d0], %f0; ret;
})";
const char *const kLaunch = R"({"version": 1, "grid": [1, 1, 1],
  "block": [32, 1, 1], "buffers": [{"name": "data"}],
  "arguments": [{"buffer": "data"}]})";

struct Attempt {
  std::vector<float> data = std::vector<float>(32, 1.5f);
  std::string report;
  Fp8SimulatorStatistics statistics = {};

  Fp8Status launch(const char *description, bool readOnly = false,
                   const Fp8SimulatorOptions *options = nullptr) {
    Fp8GivenArray array = {"data", data.data(), data.size() * 4, readOnly};
    Fp8Text *text = nullptr;
    Fp8Status status =
        fp8SimulateLaunch(kTwice, std::strlen(kTwice), "twice.ptx", description,
                          &array, 1, options, &statistics, &text);
    if (text)
      report = fp8TextData(text);
    fp8TextFree(text);
    return status;
  }
};

} // namespace

TEST(CSimulatorLaunch, WritesTheArrays) {
  Attempt run;
  ASSERT_EQ(run.launch(kLaunch), FP8_OK) << fp8LastError();
  EXPECT_THAT(run.data, Each(3.0f));
  EXPECT_EQ(run.report, R"({"warnings":[],"errors":[],"expected":[]})");
  EXPECT_EQ(run.statistics.ctas, 1u);
}

TEST(CSimulatorLaunch, ABrokenRuleIsAnErrorAndWritesNothing) {
  Attempt run;
  EXPECT_EQ(run.launch(kLaunch, /*readOnly=*/true), FP8_ERROR);
  EXPECT_THAT(fp8LastError(),
              HasSubstr("twice.ptx:9: error: 'st.global.f32' writes 4 bytes"));
  EXPECT_THAT(run.report, HasSubstr("in buffer 'data', which is read-only"));
  EXPECT_THAT(run.data, Each(1.5f));
}

TEST(CSimulatorLaunch, RefusesWhatDoesNotFit) {
  Attempt run;
  EXPECT_EQ(run.launch("{}"), FP8_ERROR);
  EXPECT_STREQ(fp8LastError(),
               "launch description: the top level: missing key 'version'");
  EXPECT_EQ(run.report, "");
  EXPECT_EQ(run.launch(nullptr), FP8_ERROR);
  Fp8SimulatorOptions options;
  fp8SimulatorOptionsInit(&options);
  options.memoryLimit = 100;
  EXPECT_EQ(run.launch(kLaunch, false, &options), FP8_ERROR);
  EXPECT_THAT(fp8LastError(), HasSubstr("no memory for 'data' (128 bytes)"));
  Fp8GivenArray nothing = {"data", nullptr, 4, 0};
  EXPECT_EQ(fp8SimulateLaunch(kTwice, std::strlen(kTwice), nullptr, kLaunch,
                              &nothing, 1, nullptr, nullptr, nullptr),
            FP8_ERROR);
  EXPECT_STREQ(fp8LastError(), "array 'data' has 4 bytes and is NULL");
}

TEST(SimulateLaunch, RefusesOptionsThatLeaveNothing) {
  Fp8SimulatorOptions options;
  fp8SimulatorOptionsInit(&options);
  options.maxErrors = 0;
  Attempt attempt;
  EXPECT_EQ(attempt.launch(kLaunch, /*readOnly=*/false, &options), FP8_ERROR);
  EXPECT_THAT(fp8LastError(), HasSubstr("maxErrors of the options is 0"));
  // Those of the GPU that stands for the kernel's chip.
  fp8SimulatorOptionsInit(&options);
  EXPECT_EQ(options.multiprocessors, 0u);
  EXPECT_EQ(attempt.launch(kLaunch, /*readOnly=*/false, &options), FP8_OK);
}

TEST(SimulateLaunch, RefusesNoArrays) {
  EXPECT_EQ(fp8SimulateLaunch(kTwice, std::strlen(kTwice), "twice.ptx", kLaunch,
                              nullptr, 1, nullptr, nullptr, nullptr),
            FP8_ERROR);
  EXPECT_THAT(fp8LastError(), HasSubstr("the arrays are null"));
}
