// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The run itself, on a backend made for the test.
#include "Run.h"

#include "GemmManifest.h"
#include "fp8/Reference/Gemm.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace fp8;
using namespace fp8::run;
using testing::HasSubstr;

namespace {
/// Answers with the reference, or as the test says.
class FakeBackend : public Backend {
public:
  explicit FakeBackend(const Options &options) : options(options) {}

  std::string name() const override { return "fake"; }
  std::string device() const override { return deviceName; }
  launch::DeviceProperties properties() const override { return {}; }
  std::optional<launch::Error>
  checkKernel(const launch::Manifest &) const override {
    return std::nullopt;
  }
  unsigned schedules() const override { return options.schedules; }
  void reset() override { buffers.clear(); }

  launch::Expected<uint64_t> upload(const std::string &,
                                    const std::vector<uint8_t> &bytes,
                                    launch::Access) override {
    if (buffers.size() == failingUpload)
      return launch::Error{"the device is full"};
    buffers.push_back(bytes);
    return uint64_t(buffers.size()) << 20;
  }

  Outcome launch(const launch::Manifest &, const launch::LaunchPlan &plan,
                 unsigned schedule) override {
    ++launches;
    Outcome outcome;
    outcome.microseconds = 100 - schedule;
    outcome.scheduleHash = schedule / 2;
    if (int(schedule) == failingSchedule) {
      outcome.errors.push_back("gemm.mlir:1: error: a planted error");
      return outcome;
    }
    auto pointer = std::get<launch::BoundPointer>(plan.parameters[4]);
    EXPECT_EQ(pointer.address, uint64_t(5) << 20);
    auto data = reference::makeBlockwiseData(*options.m, *options.n, *options.k,
                                             options.seed);
    auto result = reference::computeReference(data);
    for (size_t i = 0; i < result.value.size(); ++i)
      reference::store(tensor::ElementType::BF16, buffers[4].data(), i,
                       result.value[i]);
    if (int(schedule) == wrongSchedule)
      reference::store(tensor::ElementType::BF16, buffers[4].data(), 3,
                       result.value[3] * 2 + 1);
    return outcome;
  }

  launch::Expected<std::vector<uint8_t>> download(uint64_t address,
                                                  uint64_t size) override {
    std::vector<uint8_t> &buffer = buffers[(address >> 20) - 1];
    EXPECT_EQ(buffer.size(), size);
    return buffer;
  }

  unsigned operandSets(uint64_t bytes) const override {
    EXPECT_GT(bytes, 0u);
    return 3;
  }
  launch::Expected<runtime::Timing>
  time(const launch::Manifest &manifest,
       const std::vector<launch::LaunchPlan> &plans) override {
    EXPECT_EQ(plans.size(), 3u);
    EXPECT_EQ(buffers.size(), 3 * manifest.arguments.size());
    // The result that is judged is that of the last set.
    if (!forgetful) {
      std::vector<uint8_t> result(buffers.back().size());
      auto data = reference::makeBlockwiseData(*options.m, *options.n,
                                               *options.k, options.seed);
      auto expected = reference::computeReference(data);
      for (size_t i = 0; i < expected.value.size(); ++i)
        reference::store(tensor::ElementType::BF16, result.data(), i,
                         expected.value[i]);
      buffers.back() = result;
    }
    runtime::Timing timing;
    timing.medianMicroseconds = 2;
    timing.replays = options.replays;
    timing.launchesPerReplay = 12;
    return timing;
  }

  bool forgetful = false; ///< launches that are timed store nothing
  std::string deviceName = "Fake GPU";
  size_t failingUpload = 99;
  int failingSchedule = -1, wrongSchedule = -1;
  unsigned launches = 0;

private:
  Options options;
  std::vector<std::vector<uint8_t>> buffers;
};

class Run : public testing::Test {
protected:
  Run() {
    options.m = 12;
    options.n = 24;
    options.k = 160;
    options.seed = 77;
    options.schedules = 5;
  }
  void run(FakeBackend &backend) {
    std::ostringstream stream;
    summary = runProblem(options, gemmManifest(), backend, stream);
    log = stream.str();
    json = nlohmann::json::parse(summary.json());
  }

  Options options;
  Summary summary;
  std::string log;
  nlohmann::json json;
};
} // namespace

TEST_F(Run, ReportsSuccess) {
  FakeBackend backend(options);
  run(backend);
  EXPECT_TRUE(summary.ok) << log;
  EXPECT_EQ(json["ok"], true);
  EXPECT_EQ(json["backend"], "fake");
  EXPECT_EQ(json["m"], 12);
  EXPECT_EQ(json["schedules"], 5);
  EXPECT_EQ(json["distinct_schedules"], 3);
  EXPECT_EQ(json["us"], 96.0);
  EXPECT_FALSE(json.contains("host_us"));
  EXPECT_EQ(json["elements"], 288);
  EXPECT_EQ(json["wrong"], 0);
  EXPECT_EQ(json["frobenius"], 0.0);
  EXPECT_LT(json["rel_err"], 0.003);
  EXPECT_GT(json["rel_err"], 0.0);
  EXPECT_LE(json["max_bound_ratio"], 1.0);
  EXPECT_EQ(summary.json().find('\n'), std::string::npos);
  EXPECT_THAT(log, HasSubstr("schedule 5/5"));
}

TEST_F(Run, TheHostsTimeIsNotTheKernels) {
  FakeBackend backend(options);
  backend.deviceName = "";
  run(backend);
  EXPECT_TRUE(json["us"].is_null());
  EXPECT_EQ(json["host_us"], 96.0);
}

TEST_F(Run, StopsAtABrokenRule) {
  FakeBackend backend(options);
  backend.failingSchedule = 2;
  run(backend);
  EXPECT_FALSE(summary.ok);
  EXPECT_EQ(backend.launches, 3u);
  EXPECT_EQ(json["ok"], false);
  EXPECT_EQ(json["errors"], 1);
  EXPECT_THAT(log, HasSubstr("gemm.mlir:1: error: a planted error\n"));
  EXPECT_THAT(log, HasSubstr("1 broken rule, so the numbers are meaningless"));
}

TEST_F(Run, MeasuresAfterwards) {
  options.schedules = 1;
  options.replays = 33;
  FakeBackend backend(options);
  run(backend);
  EXPECT_TRUE(summary.ok) << log;
  EXPECT_EQ(json["us"], 2.0);
  EXPECT_DOUBLE_EQ(json["tflops"], 2.0 * 12 * 24 * 160 / 2 * 1e-6);
  EXPECT_EQ(json["replays"], 33);
  EXPECT_EQ(json["launches_per_replay"], 12);
  EXPECT_EQ(json["operand_sets"], 3);
  EXPECT_THAT(log, HasSubstr("2.00 us, the median of 33 replays"));
}

TEST_F(Run, JudgesWhatWasMeasured) {
  options.schedules = 1;
  options.replays = 20;
  FakeBackend backend(options);
  backend.forgetful = true;
  run(backend);
  EXPECT_FALSE(summary.ok);
  EXPECT_EQ(json["ok"], false);
  EXPECT_THAT(std::string(json["error"]),
              HasSubstr("wrong result after the measurement: 288 of 288"));
}

TEST_F(Run, DoesNotMeasureWhatIsWrong) {
  options.replays = 20;
  FakeBackend backend(options);
  backend.wrongSchedule = 0;
  run(backend);
  EXPECT_FALSE(summary.ok);
  EXPECT_FALSE(json.contains("replays"));
}

TEST_F(Run, StopsAtAWrongElement) {
  FakeBackend backend(options);
  backend.wrongSchedule = 1;
  run(backend);
  EXPECT_FALSE(summary.ok);
  EXPECT_EQ(backend.launches, 2u);
  EXPECT_EQ(json["wrong"], 1);
  EXPECT_GT(json["max_bound_ratio"], 1.0);
  EXPECT_THAT(log, HasSubstr("wrong result: 1 of 288 elements wrong"));
  EXPECT_THAT(log, HasSubstr("d(0, 3)"));
}

TEST_F(Run, ReportsAnUploadThatFails) {
  FakeBackend backend(options);
  backend.failingUpload = 3;
  run(backend);
  EXPECT_FALSE(summary.ok);
  EXPECT_EQ(json["error"], "the device is full");
  EXPECT_EQ(backend.launches, 0u);
}

TEST_F(Run, ChecksConstraintsBeforeAnything) {
  options.k = 40;
  FakeBackend backend(options);
  run(backend);
  EXPECT_FALSE(summary.ok);
  EXPECT_THAT(std::string(json["error"]),
              HasSubstr("K must be a multiple of 16"));
}

TEST_F(Run, NothingToLaunchIsSuccess) {
  for (bool emptyRows : {true, false}) {
    (emptyRows ? options.m : options.n) = 0;
    FakeBackend backend(options);
    run(backend);
    EXPECT_TRUE(summary.ok) << log;
    EXPECT_EQ(json["launched"], false);
    EXPECT_EQ(json["elements"], 0);
    EXPECT_EQ(backend.launches, 0u);
    options.m = 12;
  }
}

TEST_F(Run, AnUnlaunchedKernelWithWorkIsWrong) {
  // A manifest whose grid is empty although D is not.
  launch::Manifest manifest = gemmManifest();
  manifest.launch.grid[0] = launch::Expression::constant(0);
  FakeBackend backend(options);
  std::ostringstream stream;
  Summary result = runProblem(options, manifest, backend, stream);
  EXPECT_FALSE(result.ok);
  EXPECT_EQ(result.verdict->result.unwritten, 288);
}
