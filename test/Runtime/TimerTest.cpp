// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two clocks. The fake's events are 0.5 ms, 1 ms, ... 6 ms apart, over and
// over.
#include "fp8/Runtime/Timer.h"

#include "FakeDriver.h"

#include <cmath>
#include <limits>

using namespace fp8;
using namespace fp8::runtime;
using testing::HasSubstr;

namespace {
class TimerTest : public FakeDriver {
protected:
  std::vector<PreparedLaunch> launches(unsigned count) {
    launch::Manifest manifest;
    manifest.arguments.emplace_back();
    manifest.parameters = {launch::PointerSpec{0}};
    launch::LaunchPlan plan;
    plan.grid = plan.block = plan.cluster = {1, 1, 1};
    auto kernel = Kernel::load(device, "ptx", "k.ptx", "tiny");
    std::vector<PreparedLaunch> launches;
    for (unsigned i = 0; i < count; ++i) {
      plan.parameters = {launch::BoundPointer{i + 1}};
      plan.arguments = {{i + 1, 1}};
      auto launch = PreparedLaunch::make(*kernel, manifest, plan);
      EXPECT_TRUE(launch);
      launches.push_back(std::move(*launch));
    }
    return launches;
  }
  std::shared_ptr<Device> device = open();
};
} // namespace

TEST_F(TimerTest, FlushesTheCacheBeforeEachLaunch) {
  TimerOptions options;
  options.clock = Clock::Flush;
  options.replays = 21; // 24 with those that warm up: the fake's times twice
  auto timing = timeLaunches(device, launches(2), options);
  ASSERT_TRUE(timing) << timing.error();
  // More than twice the fake's 64 KiB.
  EXPECT_EQ(count("cuMemsetD8Async " + std::to_string(2 * 65536 + (1 << 20))),
            24u);
  EXPECT_EQ(count("cuLaunchKernelEx"), 24u);
  EXPECT_EQ(timing->replays, 21u);
  EXPECT_EQ(timing->launchesPerReplay, 1u);
  // Of 2, 2.5, ... 6, 0.5, 1, ... 6 ms the middle one.
  EXPECT_EQ(timing->medianMicroseconds, 3500);
  EXPECT_EQ(timing->fastestMicroseconds, 500);
  EXPECT_EQ(timing->slowestMicroseconds, 6000);
}

TEST_F(TimerTest, ReplaysAGraphOverAllSets) {
  auto timing = timeLaunches(device, launches(4), {});
  ASSERT_TRUE(timing) << timing.error();
  // 4 sets thrice: the fewest rounds with 10 launches.
  EXPECT_EQ(timing->launchesPerReplay, 12u);
  EXPECT_EQ(timing->replays, 20u);
  EXPECT_EQ(count("cuLaunchKernelEx"), 12u);
  EXPECT_EQ(count("cuGraphLaunch"), 23u);
  for (const char *set : {"1", "2", "3", "4"})
    EXPECT_THAT(log(), HasSubstr("first=0x" + std::string(set) + "\n"));
  EXPECT_GE(timing->fastestMicroseconds, 500.0 / 12);
  EXPECT_LE(timing->slowestMicroseconds, 6000.0 / 12);
}

TEST_F(TimerTest, FailuresEndIt) {
  for (const char *function :
       {"cuStreamBeginCapture_v2", "cuStreamEndCapture",
        "cuGraphInstantiateWithFlags", "cuGraphLaunch", "cuEventElapsedTime",
        "cuEventRecord", "cuEventCreate", "cuStreamCreate",
        "cuLaunchKernelEx"}) {
    fail(std::string(function) + "=1");
    auto timing = timeLaunches(device, launches(1), {});
    ASSERT_FALSE(timing) << function;
    EXPECT_THAT(timing.error(), HasSubstr(std::string(function) + " fails"));
  }
  fail("");
  auto timing = timeLaunches(device, {}, {});
  ASSERT_FALSE(timing);
  EXPECT_EQ(timing.error(),
            "there is nothing to time; pass launches and a number of replays");
  TimerOptions options;
  options.replays = std::numeric_limits<unsigned>::max();
  timing = timeLaunches(device, launches(1), options);
  ASSERT_FALSE(timing);
  EXPECT_EQ(timing.error(),
            "4294967295 replays are too many; time at most 1000000");
}

TEST_F(TimerTest, AHangIsTold) {
  set("FP8_FAKE_HANG", "1");
  device->watchdog.seconds = 0.01;
  auto timing = timeLaunches(device, launches(1), {});
  ASSERT_FALSE(timing);
  EXPECT_THAT(timing.error(),
              HasSubstr("a graph of 10 launches of kernel 'tiny' (grid 1x1x1"));
}

TEST_F(TimerTest, NoNumberIsNoTimeToWait) {
  set("FP8_FAKE_HANG", "1");
  device->watchdog.seconds = std::nan("");
  EXPECT_FALSE(timeLaunches(device, launches(1), {}));
}

TEST_F(TimerTest, AHangBetweenFlushesIsTold) {
  set("FP8_FAKE_HANG", "1");
  device->watchdog.seconds = 0.01;
  TimerOptions options;
  options.clock = Clock::Flush;
  auto timing = timeLaunches(device, launches(1), options);
  ASSERT_FALSE(timing);
  EXPECT_THAT(timing.error(), HasSubstr("has not ended after 0.01 s"));
  EXPECT_EQ(count("cuMemFree_v2"), 0u);
}

TEST_F(TimerTest, SetsOutgrowTheCache) {
  DeviceInfo info;
  info.l2CacheBytes = 1000;
  EXPECT_EQ(operandSetsFor(info, 999, 100), 5u);
  EXPECT_EQ(operandSetsFor(info, 4000, 100), 2u);
  EXPECT_EQ(operandSetsFor(info, 4001, 100), 1u);
  EXPECT_EQ(operandSetsFor(info, 1, 100), 100u);
  EXPECT_EQ(operandSetsFor(info, 0, 100), 1u);
}
