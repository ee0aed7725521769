// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels without a problem, on a backend made for the test.
#include "Run.h"

#include <gmock/gmock.h>
#include <sstream>

using namespace fp8;
using namespace fp8::run;
using testing::HasSubstr;

namespace {
/// Its kernels write the number of the schedule, divided by `same`, to the last
/// byte of the last buffer.
class ByteBackend : public Backend {
public:
  std::string name() const override { return "bytes"; }
  launch::DeviceProperties properties() const override { return {}; }
  std::optional<launch::Error>
  checkKernel(const launch::Manifest &) const override {
    return std::nullopt;
  }
  unsigned schedules() const override { return 3; }
  void reset() override { buffers.clear(); }
  launch::Expected<uint64_t> upload(const std::string &,
                                    const std::vector<uint8_t> &bytes,
                                    launch::Access) override {
    buffers.push_back(bytes);
    return uint64_t(buffers.size()) << 20;
  }
  Outcome launch(const launch::Manifest &, const launch::LaunchPlan &,
                 unsigned schedule) override {
    buffers.back().back() = uint8_t(schedule / same);
    Outcome outcome;
    outcome.scheduleHash = schedule;
    return outcome;
  }
  launch::Expected<std::vector<uint8_t>> download(uint64_t address,
                                                  uint64_t size) override {
    EXPECT_EQ(buffers[(address >> 20) - 1].size(), size);
    return buffers[(address >> 20) - 1];
  }

  unsigned same = 100;
  std::vector<std::vector<uint8_t>> buffers;
};

class RunBytes : public testing::Test {
protected:
  RunBytes() {
    auto parsed = launch::parseManifest(R"({
      "version": 1, "producer": "test", "chip": "sm_90a", "kernel": "k",
      "arguments": [
        {"name": "a", "dtype": "i8", "shape": [2, 5], "strides": [8, 1],
         "access": "read"},
        {"name": "b", "dtype": "i32", "shape": [2], "strides": [null],
         "access": "readwrite"},
        {"name": "c", "dtype": "i16", "shape": [3], "strides": [1],
         "access": "write"}],
      "constraints": [],
      "launch": {"grid": [1, 1, 1], "block": [32, 1, 1],
                 "cluster": [1, 1, 1], "shared_memory_bytes": 0,
                 "non_portable_cluster": false},
      "parameters": [{"kind": "pointer", "argument": "c"}]})");
    EXPECT_TRUE(parsed) << parsed.error();
    manifest = *parsed;
  }
  Summary run() {
    std::ostringstream stream;
    Options options;
    return runBytes(options, manifest, backend, stream);
  }
  launch::Manifest manifest;
  ByteBackend backend;
};
} // namespace

TEST_F(RunBytes, KeepsWhatIsWritten) {
  Summary summary = run();
  EXPECT_TRUE(summary.ok) << summary.error;
  EXPECT_EQ(summary.schedules, 3u);
  EXPECT_EQ(summary.distinctSchedules, 3u);
  // 13 bytes of a, whose words say that they are of the first argument.
  EXPECT_EQ(backend.buffers[0],
            (std::vector<uint8_t>{0, 0, 0, 1, 1, 0, 0, 1, 2, 0, 0, 1, 3}));
  EXPECT_EQ(summary.output, (std::vector<uint8_t>{0, 0, 0, 2, 1, 0, 0, 2, // b
                                                  255, 255, 255, 255, 255, 0}));
}

TEST_F(RunBytes, SchedulesMustAgree) {
  backend.same = 2;
  Summary summary = run();
  EXPECT_FALSE(summary.ok);
  EXPECT_FALSE(summary.output);
  EXPECT_EQ(summary.error,
            "schedule 3 writes 1 to byte 13 and schedule 1 0; the output of a "
            "kernel must not depend on the schedule");
}

TEST_F(RunBytes, ExtentsMustBeKnownAndFit) {
  manifest.arguments[0].shape[1] = std::nullopt;
  EXPECT_THAT(run().error, HasSubstr("argument 'a' leaves shape[1] open"));
  manifest.arguments[0].shape = {int64_t(1) << 62, int64_t(1) << 62};
  EXPECT_EQ(run().error, "argument 'a' is too large");
  manifest.arguments[0].shape = {0, 5};
  EXPECT_TRUE(run().ok);
  EXPECT_TRUE(backend.buffers[0].empty());
}
