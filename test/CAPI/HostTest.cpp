// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that are part of a program, on the driver without a GPU and on the
// simulator.
#include "fp8-c/Host.h"

#include "FakeDriver.h"
#include "NaiveProblem.h"

using fp8::test::readFile;
using testing::Each;

extern "C" void fp8HostLaunchFromC(Fp8HostKernel *kernel);

namespace {
/// The kernel that is part of the program, and its small problem.
class Host : public FakeDriver {
protected:
  Host() {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    useKernel("naive");
    unsetenv("FP8_BACKEND");
    unsetenv("FP8_DEVICE");
    unsetenv("FP8_WATCHDOG");
  }
  void useKernel(const std::string &name) {
    image = readFile(FP8_GPU_INPUTS "/" + name + ".sm_90a.ptx");
    manifest = readFile(FP8_GPU_INPUTS "/" + name + ".sm_90a.ptx.json");
    kernel = {image.data(), image.size(), manifest.c_str(), nullptr};
  }
  void launch(std::vector<uint16_t> &d, const char *type = "bf16") {
    NaiveProblem problem;
    problem.arguments[4].dtype = type;
    problem.arguments[4].address = reinterpret_cast<uint64_t>(d.data());
    fp8HostLaunch(&kernel, problem.arguments.data(), 5);
  }

  static constexpr uint16_t sixteen = NaiveProblem::sixteen;
  std::string image, manifest;
  Fp8HostKernel kernel;
  std::vector<uint16_t> d = std::vector<uint16_t>(32, 7);
};
using HostDeathTest = Host;
} // namespace

TEST_F(Host, RunsOnTheSimulator) {
  set("FP8_BACKEND", "sim");
  set("FP8_CUDA_LIBRARY", "no-such-library.so");
  launch(d);
  EXPECT_THAT(d, Each(sixteen));
  void *loaded = kernel.loaded;
  ASSERT_NE(loaded, nullptr);
  d.assign(32, 7);
  launch(d);
  EXPECT_THAT(d, Each(sixteen));
  EXPECT_EQ(kernel.loaded, loaded);
}

TEST_F(Host, RunsOnTheGpu) {
  set("FP8_FAKE_WRITE", "4:0:64");
  launch(d);
  EXPECT_THAT(d, Each(0));
  launch(d);
  EXPECT_EQ(count("cuModuleGetFunction naive"), 1u);
  EXPECT_EQ(count("cuLaunchKernelEx grid=1x1x1 block=128x1x1"), 2u);
  EXPECT_EQ(count("cuMemFree_v2"), 10u);
  EXPECT_EQ(count("no context"), 0u);
}

TEST_F(Host, AutoTakesTheSimulatorAndSaysSoOnce) {
  set("FP8_BACKEND", "auto");
  set("FP8_DEVICE", "1");
  testing::internal::CaptureStderr();
  launch(d);
  launch(d);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "fp8: kernel 'naive' runs on the simulator: there is no GPU number "
            "1: the CUDA driver " FP8_FAKE_LIBRARY " lists 1 GPU\n");
  EXPECT_THAT(d, Each(sixteen));
}

TEST_F(Host, AutoTakesTheGpuThatThereIs) {
  set("FP8_BACKEND", "auto");
  set("FP8_FAKE_WRITE", "4:0:64");
  launch(d);
  EXPECT_THAT(d, Each(0));
}

TEST_F(HostDeathTest, WithoutAGpu) {
  set("FP8_CUDA_LIBRARY", "no-such-library.so");
  EXPECT_DEATH(launch(d), "^fp8: error: kernel 'naive': no CUDA "
                          "driver: cannot load no-such-library.so "
                          "[^\n]*\nnote: with FP8_BACKEND=sim it runs on the "
                          "simulator\n");
}

TEST_F(HostDeathTest, OnTheWrongGpu) {
  set("FP8_FAKE_CAPABILITY", "10.0");
  EXPECT_DEATH(launch(d), "kernel 'naive': Fake GPU .device 0. "
                          "cannot run kernel 'naive': sm_90a runs on devices "
                          "of compute capability 9.0 only");
}

TEST_F(HostDeathTest, WrongVariables) {
  set("FP8_BACKEND", "gpu");
  EXPECT_DEATH(launch(d), "FP8_BACKEND is 'gpu'; it must be cuda, sim or auto");
  set("FP8_BACKEND", "auto");
  for (const char *number : {"", "-1", "0x", "one", "99999999999999999999"}) {
    set("FP8_DEVICE", number);
    EXPECT_DEATH(launch(d), "FP8_DEVICE is '" + std::string(number) +
                                "'; it must be the number of a GPU");
  }
}

TEST_F(HostDeathTest, WrongArguments) {
  set("FP8_BACKEND", "sim");
  EXPECT_DEATH(launch(d, "f7"), "argument 4 has no known type");
  EXPECT_DEATH(launch(d, "f16"), "argument 'd' has element type f16; the "
                                 "kernel was compiled for bf16");
  EXPECT_DEATH(fp8HostLaunchFromC(&kernel),
               "the kernel takes 5 arguments, got 0");
  EXPECT_DEATH(fp8HostLaunch(&kernel, nullptr, 5),
               "there are 5 arguments, and their array is NULL");
}

TEST_F(HostDeathTest, WrongKernels) {
  set("FP8_BACKEND", "sim");
  kernel.manifest = "{";
  EXPECT_DEATH(launch(d), "fp8: error: launch manifest: line 1");
  kernel.manifest = nullptr;
  EXPECT_DEATH(launch(d), "fp8: error: launch manifest: line 1");
  useKernel("naive");
  kernel.image = nullptr;
  EXPECT_DEATH(launch(d), "fp8: error: the image has [0-9]+ bytes and is NULL");
  EXPECT_DEATH(fp8HostLaunch(nullptr, nullptr, 0),
               "fp8: error: fp8HostLaunch has no kernel: it is NULL");
  useKernel("naive");
  image = "\177ELF and more";
  kernel.image = image.data();
  EXPECT_DEATH(launch(d), "the simulator reads PTX, and the program holds a "
                          "cubin; make it by --fp8-lower-launches=emit=ptx");
}

TEST_F(HostDeathTest, BrokenRulesHaveTheSimulatorsText) {
  set("FP8_BACKEND", "sim");
  useKernel("stray");
  EXPECT_DEATH(launch(d), "kernel 'stray': it breaks rules on the "
                          "simulator\nstray.ptx:[0-9]+: error: ");
}

TEST_F(HostDeathTest, AKernelThatHangs) {
  set("FP8_FAKE_HANG", "1");
  set("FP8_WATCHDOG", "0.05");
  EXPECT_DEATH(launch(d), "^fp8: error: kernel 'naive': kernel 'naive' .* has "
                          "not ended after 0.05 s");
  for (const char *seconds : {"", "0", "-1", "1s", "inf", "nan"}) {
    set("FP8_WATCHDOG", seconds);
    EXPECT_DEATH(launch(d), "FP8_WATCHDOG is '" + std::string(seconds) +
                                "'; it must be seconds, as in FP8_WATCHDOG=30");
  }
}

TEST_F(HostDeathTest, AKernelThatFails) {
  set("FP8_FAKE_FAIL", "cuEventQuery=719");
  EXPECT_DEATH(launch(d), "kernel 'naive' .* failed: cuEventQuery fails with "
                          "CUDA_ERROR_LAUNCH_FAILED");
}
