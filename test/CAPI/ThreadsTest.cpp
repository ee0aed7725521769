// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the headers of the C API promise to threads, on the driver without a GPU
// and on the simulator. threads.test runs it under ThreadSanitizer.
#include "fp8-c/Host.h"
#include "fp8-c/Simulator.h"

#include "FakeDriver.h"
#include "NaiveProblem.h"

#include <atomic>
#include <thread>

using fp8::test::readFile;
using testing::Each;

namespace {
constexpr size_t threadCount = 8;

/// Calls `work` with the number of each thread, in all of them at once.
template <typename Work>
void inThreads(const Work &work) {
  std::atomic<size_t> waiting{threadCount};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < threadCount; ++i)
    threads.emplace_back([&, i] {
      for (--waiting; waiting;)
        std::this_thread::yield();
      work(i);
    });
  for (std::thread &thread : threads)
    thread.join();
}

class Threads : public FakeDriver {
protected:
  void open() {
    ASSERT_EQ(fp8DeviceOpen(nullptr, 0, &device), FP8_OK) << fp8LastError();
  }
  /// Its arrays are reached through tensor maps.
  Fp8Status loadTiles(Fp8Kernel **kernel) {
    std::string ptx = readFile(tiles);
    return fp8KernelLoad(device, ptx.data(), ptx.size(),
                         readFile(tiles + ".json").c_str(), kernel);
  }

  const std::string naive = FP8_GPU_INPUTS "/naive.sm_90a.ptx",
                    tiles = FP8_GPU_INPUTS "/tiles.sm_90a.ptx";
  Fp8Device *device = nullptr;
};
} // namespace

TEST_F(Threads, HaveErrorsOfTheirOwn) {
  open();
  inThreads([&](size_t i) {
    for (unsigned turn = 0; turn < 20; ++turn) {
      std::string target = "sm_" + std::to_string(100 + i) + "a";
      EXPECT_EQ(fp8DeviceCanRun(device, target.c_str()), FP8_ERROR);
      EXPECT_THAT(fp8LastError(), testing::StartsWith(target));
    }
  });
  fp8DeviceClose(device);
}

TEST_F(Threads, OpenAndCloseDevices) {
  inThreads([&](size_t) {
    Fp8Device *own = nullptr;
    Fp8Buffer *buffer = nullptr;
    ASSERT_EQ(fp8DeviceOpen(nullptr, 0, &own), FP8_OK) << fp8LastError();
    EXPECT_EQ(fp8BufferAllocate(own, "a", 4, &buffer), FP8_OK);
    fp8DeviceClose(own);
    EXPECT_EQ(fp8BufferUpload(buffer, "fp8", 4), FP8_OK) << fp8LastError();
    fp8BufferFree(buffer);
  });
  EXPECT_EQ(count("cuDevicePrimaryCtxRelease_v2"), threadCount);
}

TEST_F(Threads, LoadAndPrepareOnOneDevice) {
  open();
  inThreads([&](size_t i) {
    Fp8Kernel *kernel = nullptr;
    Fp8Launch *launch = nullptr;
    NaiveProblem problem;
    ASSERT_EQ(loadTiles(&kernel), FP8_OK) << fp8LastError();
    ASSERT_EQ(fp8LaunchPrepare(kernel, problem.arguments.data(), 5, 0, &launch),
              FP8_OK)
        << fp8LastError();
    fp8DeviceSetWatchdog(device, 10 + i);
    EXPECT_EQ(fp8LaunchRun(launch), FP8_OK) << fp8LastError();
    fp8LaunchFree(launch);
    fp8KernelFree(kernel);
  });
  EXPECT_EQ(count("cuModuleLoadDataEx"), 1u);
  EXPECT_EQ(count("cuFuncSetAttribute 8 65536"), 1u);
  EXPECT_EQ(count("cuLaunchKernelEx"), threadCount);
  fp8DeviceClose(device);
}

TEST_F(Threads, ShareALaunchOnOtherArrays) {
  open();
  Fp8Kernel *kernel = nullptr;
  Fp8Launch *launch = nullptr;
  NaiveProblem problem;
  ASSERT_EQ(loadTiles(&kernel), FP8_OK) << fp8LastError();
  ASSERT_EQ(fp8LaunchPrepare(kernel, problem.arguments.data(), 5, 0, &launch),
            FP8_OK)
      << fp8LastError();
  inThreads([&](size_t i) {
    uint64_t addresses[5];
    for (size_t argument = 0; argument < 5; ++argument)
      addresses[argument] = 0x100000 * (i + 1) + 0x1000 * argument;
    for (unsigned turn = 0; turn < 20; ++turn)
      EXPECT_EQ(fp8LaunchEnqueueAt(launch, addresses, 5, nullptr), FP8_OK)
          << fp8LastError();
  });
  for (size_t i = 0; i < threadCount; ++i)
    EXPECT_EQ(count("cuLaunchKernelEx grid=2x1x1 block=128x1x1 shared=65536 "
                    "cluster=2x1x1 extra=0 first=0x" +
                    std::to_string(i + 1) + "00000"),
              20u);
  fp8LaunchFree(launch);
  fp8KernelFree(kernel);
  fp8DeviceClose(device);
}

TEST_F(Threads, Simulate) {
  const std::string ptx = readFile(naive), manifest = readFile(naive + ".json");
  inThreads([&](size_t i) {
    NaiveProblem problem;
    Fp8SimulatorOptions options;
    fp8SimulatorOptionsInit(&options);
    options.scheduleSeed = i;
    EXPECT_EQ(fp8Simulate(ptx.data(), ptx.size(), nullptr, manifest.c_str(),
                          problem.arguments.data(), 5, &options, nullptr),
              FP8_OK)
        << fp8LastError();
    EXPECT_THAT(problem.d, Each(NaiveProblem::sixteen));
  });
}

TEST_F(Threads, MayRaceForTheFirstLaunchOfAProgramsKernel) {
  const std::string image = readFile(naive);
  // Both halves of loading, reading and finding, take long enough to meet.
  const std::string manifest =
      readFile(naive + ".json") + std::string(8 << 20, ' ');
  set("FP8_FAKE_PAUSE", "20");
  set("FP8_FAKE_WRITE", "4:0:64");
  for (const char *backend : {"cuda", "sim"}) {
    set("FP8_BACKEND", backend);
    Fp8HostKernel kernel = {image.data(), image.size(), manifest.c_str(),
                            nullptr};
    inThreads([&](size_t) {
      NaiveProblem problem;
      fp8HostLaunch(&kernel, problem.arguments.data(), 5);
      EXPECT_THAT(problem.d, Each(*backend == 's' ? NaiveProblem::sixteen : 0));
    });
  }
  EXPECT_EQ(count("cuModuleGetFunction naive"), 1u);
  EXPECT_EQ(count("cuLaunchKernelEx"), threadCount);
}
