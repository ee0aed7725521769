// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C API, on the driver without a GPU.
#include "fp8-c/Runtime.h"

#include "FakeDriver.h"
#include "NaiveProblem.h"
#include "fp8-c/Python.h"

#include <cmath>
#include <thread>

using fp8::test::readFile;
using testing::HasSubstr;

extern "C" const char *fp8LastErrorFromC(void);

namespace {
class CRuntime : public FakeDriver {
protected:
  CRuntime() {
    EXPECT_EQ(fp8DeviceOpen(nullptr, 0, &device), FP8_OK) << fp8LastError();
  }
  ~CRuntime() override {
    fp8LaunchFree(launch);
    fp8KernelFree(kernel);
    fp8DeviceClose(device);
  }
  Fp8Status load(const std::string &path) {
    std::string ptx = readFile(path);
    return fp8KernelLoad(device, ptx.data(), ptx.size(),
                         readFile(path + ".json").c_str(), &kernel);
  }
  /// Of naive, at addresses that nothing has.
  Fp8Status prepare(int64_t rows = 4, int programmatic = 0) {
    NaiveProblem problem(rows);
    for (uint64_t i = 0; i < 5; ++i)
      problem.arguments[i].address = 0x1000 * (i + 1);
    return fp8LaunchPrepare(kernel, problem.arguments.data(), 5, programmatic,
                            &launch);
  }

  const std::string naive = FP8_GPU_INPUTS "/naive.sm_90a.ptx";
  Fp8Device *device = nullptr;
  Fp8Kernel *kernel = nullptr;
  Fp8Launch *launch = nullptr;
};
} // namespace

TEST_F(CRuntime, TellsOfTheDevice) {
  Fp8DeviceInfo info;
  fp8DeviceGetInfo(device, &info);
  EXPECT_STREQ(info.name, "Fake GPU");
  EXPECT_EQ(info.major, 9);
  EXPECT_EQ(info.minor, 0);
  EXPECT_EQ(info.multiprocessorCount, 7);
  EXPECT_EQ(info.l2CacheBytes, 65536);
  EXPECT_EQ(fp8DeviceCanRun(device, "sm_90a"), FP8_OK);
  EXPECT_EQ(fp8DeviceCanRun(device, "sm_100a"), FP8_ERROR);
  EXPECT_THAT(fp8LastErrorFromC(), HasSubstr("compute capability 10.0 only"));
}

TEST_F(CRuntime, MovesBytes) {
  Fp8Buffer *buffer = nullptr;
  ASSERT_EQ(fp8BufferAllocate(device, "a", 4, &buffer), FP8_OK);
  EXPECT_NE(fp8BufferAddress(buffer), 0u);
  EXPECT_EQ(fp8BufferUpload(buffer, "fp8", 4), FP8_OK);
  // Streams that do not wait for the default one see the bytes, too.
  EXPECT_EQ(count("cuEventRecord (nil)"), 1u);
  char back[4] = {};
  EXPECT_EQ(fp8BufferDownload(buffer, back, 4), FP8_OK);
  EXPECT_STREQ(back, "fp8");
  EXPECT_EQ(fp8BufferUpload(buffer, "fp8", 5), FP8_ERROR);
  EXPECT_STREQ(fp8LastError(),
               "cannot copy 5 bytes to offset 0 of 'a', which has 4");
  fp8BufferFree(buffer);
}

TEST_F(CRuntime, AnyThreadMayCall) {
  // Threads begin without a context, and end without one.
  std::thread([&] {
    Fp8Buffer *buffer = nullptr;
    ASSERT_EQ(fp8BufferAllocate(device, "a", 4, &buffer), FP8_OK);
    EXPECT_EQ(load(naive), FP8_OK) << fp8LastError();
    std::thread([&] {
      char back[4] = "";
      EXPECT_EQ(fp8BufferUpload(buffer, "fp8", 4), FP8_OK);
      EXPECT_EQ(fp8BufferDownload(buffer, back, 4), FP8_OK);
      EXPECT_EQ(prepare(), FP8_OK) << fp8LastError();
    }).join();
    EXPECT_EQ(fp8LaunchRun(launch), FP8_OK) << fp8LastError();
    EXPECT_EQ(fp8LaunchEnqueue(launch, nullptr), FP8_OK) << fp8LastError();
    Fp8Timing timing;
    EXPECT_EQ(fp8LaunchTime(&launch, 1, 20, 0, &timing), FP8_OK);
    fp8BufferFree(buffer);
  }).join();
  EXPECT_EQ(count("cuMemFree_v2"), 1u);
  EXPECT_EQ(count("no context"), 0u);
}

TEST_F(CRuntime, LeavesTheCallersContextAlone) {
  auto driver = fp8::runtime::Driver::load();
  ASSERT_TRUE(driver);
  fp8::runtime::cu::Context current;
  (*driver)->ctxGetCurrent.function(&current);
  EXPECT_EQ(current, nullptr) << "fp8DeviceOpen left its own";
  int other = 0;
  auto *mine = reinterpret_cast<fp8::runtime::cu::Context>(&other);
  (*driver)->ctxSetCurrent.function(mine);
  Fp8Buffer *buffer = nullptr;
  ASSERT_EQ(fp8BufferAllocate(device, "a", 4, &buffer), FP8_OK);
  fp8BufferFree(buffer);
  (*driver)->ctxGetCurrent.function(&current);
  EXPECT_EQ(current, mine);
  (*driver)->ctxSetCurrent.function(nullptr);
}

TEST_F(CRuntime, NoStringIsAnErrorToo) {
  EXPECT_EQ(fp8DeviceCanRun(device, nullptr), FP8_ERROR);
  EXPECT_EQ(fp8KernelLoad(device, "", 0, nullptr, &kernel), FP8_ERROR);
  EXPECT_EQ(kernel, nullptr);
  Fp8Argument argument = {nullptr, 0, 0, nullptr, nullptr};
  ASSERT_EQ(load(naive), FP8_OK);
  EXPECT_EQ(fp8LaunchPrepare(kernel, &argument, 1, 0, &launch), FP8_ERROR);
}

TEST_F(CRuntime, NoArrayIsAnErrorToo) {
  std::string manifest = readFile(naive + ".json");
  EXPECT_EQ(fp8KernelLoad(device, nullptr, 7, manifest.c_str(), &kernel),
            FP8_ERROR);
  EXPECT_STREQ(fp8LastError(), "the image has 7 bytes and is NULL");
  ASSERT_EQ(load(naive), FP8_OK);
  EXPECT_EQ(fp8LaunchPrepare(kernel, nullptr, 5, 0, &launch), FP8_ERROR);
  EXPECT_STREQ(fp8LastError(),
               "there are 5 arguments, and their array is NULL");
  const int64_t sizes[] = {4, 16};
  Fp8Argument arguments[] = {{"f32", 0, 0, nullptr, nullptr},
                             {"f32", 0x1000, 2, nullptr, sizes}};
  EXPECT_EQ(fp8LaunchPrepare(kernel, arguments, 2, 0, &launch), FP8_ERROR);
  EXPECT_STREQ(fp8LastError(), "argument 1 has rank 2 and no shape");
  arguments[1] = {"f32", 0x1000, 2, sizes, nullptr};
  EXPECT_EQ(fp8LaunchPrepare(kernel, arguments, 2, 0, &launch), FP8_ERROR);
  EXPECT_STREQ(fp8LastError(), "argument 1 has rank 2 and no strides");
  ASSERT_EQ(prepare(), FP8_OK);
  EXPECT_EQ(fp8LaunchEnqueueAt(launch, nullptr, 5, nullptr), FP8_ERROR);
  EXPECT_STREQ(fp8LastError(),
               "there are 5 addresses, and their array is NULL");
  Fp8Timing timing;
  EXPECT_EQ(fp8LaunchTime(nullptr, 1, 20, 0, &timing), FP8_ERROR);
  Fp8Buffer *buffer = nullptr;
  ASSERT_EQ(fp8BufferAllocate(device, "a", 4, &buffer), FP8_OK);
  EXPECT_EQ(fp8BufferUpload(buffer, nullptr, 4), FP8_ERROR);
  EXPECT_STREQ(fp8LastError(),
               "what is to be uploaded has 4 bytes and is NULL");
  EXPECT_EQ(fp8BufferDownload(buffer, nullptr, 4), FP8_ERROR);
  EXPECT_STREQ(fp8LastError(),
               "the place to download to has 4 bytes and is NULL");
  fp8BufferFree(buffer);
}

TEST_F(CRuntime, TimesLaunchesOfOneDeviceOnly) {
  ASSERT_EQ(load(naive), FP8_OK);
  ASSERT_EQ(prepare(), FP8_OK);
  Fp8Device *first = std::exchange(device, nullptr);
  Fp8Kernel *firstKernel = std::exchange(kernel, nullptr);
  Fp8Launch *launches[] = {std::exchange(launch, nullptr), nullptr};
  ASSERT_EQ(fp8DeviceOpen(nullptr, 0, &device), FP8_OK);
  ASSERT_EQ(load(naive), FP8_OK);
  ASSERT_EQ(prepare(), FP8_OK);
  launches[1] = launch;
  Fp8Timing timing;
  EXPECT_EQ(fp8LaunchTime(launches, 2, 20, 0, &timing), FP8_ERROR);
  EXPECT_THAT(fp8LastError(), HasSubstr("launch 1 is on another device"));
  fp8LaunchFree(launches[0]);
  fp8KernelFree(firstKernel);
  fp8DeviceClose(first);
}

TEST_F(CRuntime, Launches) {
  ASSERT_EQ(load(naive), FP8_OK) << fp8LastError();
  ASSERT_EQ(prepare(4, 1), FP8_OK) << fp8LastError();
  EXPECT_EQ(fp8LaunchRun(launch), FP8_OK) << fp8LastError();
  EXPECT_EQ(fp8LaunchEnqueue(launch, nullptr), FP8_OK);
  EXPECT_EQ(count("cuLaunchKernelEx grid=1x1x1 block=128x1x1 shared=0 "
                  "programmatic=1 extra=0 first=0x1000"),
            2u);
  Fp8Timing timing;
  ASSERT_EQ(fp8LaunchTime(&launch, 1, 20, 0, &timing), FP8_OK);
  EXPECT_EQ(timing.replays, 20u);
  EXPECT_EQ(timing.launchesPerReplay, 10u);
  EXPECT_GT(timing.medianMicroseconds, 0);
  EXPECT_EQ(fp8LaunchTime(nullptr, 0, 20, 0, &timing), FP8_ERROR);
}

TEST_F(CRuntime, EnqueuesOnOtherArrays) {
  ASSERT_EQ(load(naive), FP8_OK) << fp8LastError();
  ASSERT_EQ(prepare(), FP8_OK) << fp8LastError();
  const uint64_t other[] = {0x9000, 0xa000, 0xb000, 0xc000, 0xd000};
  EXPECT_EQ(fp8LaunchEnqueueAt(launch, other, 5, nullptr), FP8_OK);
  const std::string launched =
      "cuLaunchKernelEx grid=1x1x1 block=128x1x1 shared=0 extra=0 first=";
  EXPECT_EQ(count(launched + "0x9000"), 1u);
  EXPECT_EQ(fp8LaunchEnqueueAt(launch, other, 4, nullptr), FP8_ERROR);
  EXPECT_STREQ(fp8LastError(), "the launch was prepared with 5 arguments and "
                               "is given 4 addresses");
  EXPECT_EQ(fp8LaunchEnqueue(launch, nullptr), FP8_OK);
  EXPECT_EQ(count(launched + "0x1000"), 1u) << "the launch itself has changed";
  const uint64_t none[] = {0x9000, 0xa000, 0, 0xc000, 0xd000};
  EXPECT_EQ(fp8LaunchEnqueueAt(launch, none, 5, nullptr), FP8_ERROR);
  EXPECT_STREQ(fp8LastError(), "argument 'b' has elements but no memory: its "
                               "address is null");
}

TEST_F(CRuntime, ProfilesWhatWritesStampsOnly) {
  ASSERT_EQ(load(naive), FP8_OK) << fp8LastError();
  ASSERT_EQ(prepare(), FP8_OK) << fp8LastError();
  Fp8Timeline timeline;
  EXPECT_EQ(fp8LaunchProfile(launch, &timeline), FP8_ERROR);
  EXPECT_THAT(fp8LastError(), HasSubstr("writes no stamps; compile it with"));
  EXPECT_EQ(timeline.summary, nullptr);
  EXPECT_EQ(timeline.trace, nullptr);
}

TEST_F(CRuntime, AnEmptyGridIsSuccess) {
  ASSERT_EQ(load(naive), FP8_OK);
  ASSERT_EQ(prepare(0), FP8_OK) << fp8LastError();
  EXPECT_EQ(fp8LaunchRun(launch), FP8_OK);
  EXPECT_EQ(fp8LaunchEnqueue(launch, nullptr), FP8_OK);
  EXPECT_EQ(count("cuLaunchKernelEx"), 0u);
}

TEST_F(CRuntime, RefusesWhatTheDeviceCannotRun) {
  EXPECT_EQ(load(FP8_RUN_INPUTS "/naive.ptx"), FP8_ERROR);
  EXPECT_THAT(
      fp8LastError(),
      HasSubstr("Fake GPU (device 0) cannot run kernel 'naive': sm_100a "
                "runs on devices of compute capability 10.0 only"));
  EXPECT_EQ(fp8KernelLoad(device, "", 0, "{", &kernel), FP8_ERROR);
  EXPECT_THAT(fp8LastError(), HasSubstr("launch manifest: line 1"));
}

TEST_F(CRuntime, RefusesWrongArguments) {
  ASSERT_EQ(load(naive), FP8_OK);
  Fp8Argument argument = {"f7", 0, 0, nullptr, nullptr};
  EXPECT_EQ(fp8LaunchPrepare(kernel, &argument, 1, 0, &launch), FP8_ERROR);
  EXPECT_THAT(fp8LastError(),
              HasSubstr("argument 0 has no known type; there are f8E4M3FN"));
  argument.dtype = "f32";
  EXPECT_EQ(fp8LaunchPrepare(kernel, &argument, 1, 0, &launch), FP8_ERROR);
  EXPECT_STREQ(fp8LastError(), "the kernel takes 5 arguments, got 1");
}

TEST_F(CRuntime, AwaitsAStreamOfTheCallers) {
  EXPECT_EQ(fp8DeviceAwait(device, reinterpret_cast<void *>(0x77)), FP8_OK);
  EXPECT_EQ(count("cuEventRecord 0x77"), 1u);
  fail("cuEventRecord=400");
  EXPECT_EQ(fp8DeviceAwait(device, nullptr), FP8_ERROR);
  EXPECT_THAT(fp8LastError(), HasSubstr("cannot record an event"));
}

TEST_F(CRuntime, TellsWhichDeviceAnAddressIsOn) {
  int32_t ordinal = 7;
  EXPECT_EQ(fp8AddressOrdinal(nullptr, 0x1000, &ordinal), FP8_OK);
  EXPECT_EQ(ordinal, 0);
  fail("cuPointerGetAttribute=1");
  EXPECT_EQ(fp8AddressOrdinal(nullptr, 0x1000, &ordinal), FP8_ERROR);
  EXPECT_THAT(fp8LastError(), HasSubstr("cannot tell which GPU an address is"));
}

TEST_F(CRuntime, TellsAHangFromAnError) {
  ASSERT_EQ(load(naive), FP8_OK);
  ASSERT_EQ(prepare(), FP8_OK);
  Fp8Buffer *buffer = nullptr;
  ASSERT_EQ(fp8BufferAllocate(device, "a", 4, &buffer), FP8_OK);
  EXPECT_EQ(fp8DeviceSetWatchdog(device, 0.01), FP8_OK);
  EXPECT_EQ(fp8DeviceSetWatchdog(device, std::nan("")), FP8_ERROR);
  EXPECT_THAT(fp8LastError(), HasSubstr("the watchdog's limit is no number"));
  set("FP8_FAKE_HANG", "1");
  EXPECT_EQ(fp8LaunchRun(launch), FP8_HANG);
  EXPECT_THAT(fp8LastError(), HasSubstr("has not ended after 0.01 s"));
  fp8BufferFree(buffer); // returns
  fail("cuEventQuery=719");
  EXPECT_EQ(fp8LaunchRun(launch), FP8_ERROR);
  EXPECT_THAT(fp8LastError(), HasSubstr("CUDA_ERROR_LAUNCH_FAILED"));
}

TEST_F(CRuntime, HasNoBuiltinsWithoutPython) {
  const uint64_t table[] = {1, 0, 0, 0, 0, 1, 0};
  EXPECT_EQ(fp8PythonDescribe(table), nullptr);
  EXPECT_EQ(fp8PythonEnqueue(), nullptr);
}
