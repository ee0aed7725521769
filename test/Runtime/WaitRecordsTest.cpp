// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels whose waits give up: the memory for their records, and what is told
// when the kernel has trapped.
#include "FakeDriver.h"

using namespace fp8;
using namespace fp8::runtime;
using testing::HasSubstr;
using testing::StartsWith;

namespace {
/// The manifest test/Run/Inputs/blockwise.ptx.json with a table of waits.
class WaitRecordsTest : public FakeDriver {
protected:
  WaitRecordsTest() {
    launch::WaitTable table;
    table.variable = "waits";
    table.limitMs = 2000;
    table.roles = {{"load", 4, 1}, {"mma", 5, 1}};
    table.barriers = {
        {"pipeline a", "full", 1024, 3, {{"load", 1, "once"}}, 8},
        {"pipeline a", "empty", 1048, 3, {{"mma", 1, "once"}}, 0}};
    manifest.debugWaits = table;
    plan.grid = plan.block = plan.cluster = {1, 1, 1};
    manifest.parameters = {launch::PointerSpec{0}};
    plan.parameters = {launch::BoundPointer{0x10000}};
    plan.arguments.assign(manifest.arguments.size(), {0x10000});
  }
  /// Launches and waits; the error, or nothing.
  std::optional<Error> run() {
    auto kernel = Kernel::load(device, "ptx", "k.ptx", manifest.kernel);
    EXPECT_TRUE(kernel) << kernel.error();
    auto prepared = PreparedLaunch::make(*kernel, manifest, plan);
    if (!prepared)
      return prepared.takeError();
    auto stream = Stream::create(device);
    EXPECT_TRUE(stream) << stream.error();
    if (auto error = prepared->enqueue(*stream))
      return error;
    return stream->await(prepared->str());
  }

  launch::Manifest manifest =
      test::readManifest(FP8_RUN_INPUTS "/blockwise.ptx.json");
  launch::LaunchPlan plan;
  std::shared_ptr<Device> device = open();
};

const char *const launchText =
    "kernel 'blockwise' (grid 1x1x1, block 1x1x1, cluster 1x1x1, 0 bytes of "
    "dynamic shared memory)";
} // namespace

TEST_F(WaitRecordsTest, MemoryIsMappedOnceForAModule) {
  EXPECT_FALSE(run());
  EXPECT_FALSE(run());
  EXPECT_EQ(count("cuModuleGetGlobal_v2 waits"), 1u);
  EXPECT_EQ(count("cuMemHostAlloc 4096 2"), 1u);
  EXPECT_EQ(device->waitsGivenUp(), std::vector<std::string>());
  device.reset();
  EXPECT_EQ(count("cuMemFreeHost"), 1u);
  EXPECT_EQ(count("no context"), 0u);
}

TEST_F(WaitRecordsTest, NoneForAKernelWithoutATable) {
  manifest.debugWaits.reset();
  EXPECT_FALSE(run());
  EXPECT_EQ(count("cuModuleGetGlobal_v2"), 0u);
  EXPECT_EQ(count("cuMemHostAlloc"), 0u);
}

TEST_F(WaitRecordsTest, AKernelThatGaveUpIsToldInItsWords) {
  set("FP8_FAKE_WAITS", "1056:1:4:3,1024:0:5:3");
  fail("cuEventQuery=719,cuMemcpyDtoH_v2=719");
  EXPECT_EQ(run()->message,
            std::string(launchText) +
                " hangs: role 'load', warp 4 of CTA (3, 0, 0) "
                "waited 2.01 s for the empty barrier of 'pipeline a', stage 1, "
                "parity 1; it needs 1 arrival of 'mma' (once)\n"
                "note: role 'mma', warp 5 of CTA (3, 0, 0) "
                "waited 2.01 s for the full barrier of 'pipeline a', stage 0, "
                "parity 0; it needs 1 arrival of 'load' (once) and 8 bytes");
}

TEST_F(WaitRecordsTest, SeveralKernelsAreToldApart) {
  EXPECT_FALSE(run());
  manifest.debugWaits->roles[1].name = "other mma";
  ASSERT_FALSE(device->keepWaitRecords(reinterpret_cast<cu::Module>(&manifest),
                                       "other", *manifest.debugWaits));
  set("FP8_FAKE_WAITS", "1024:0:5:3");
  fail("cuEventQuery=719");
  EXPECT_THAT(run()->message,
              StartsWith(std::string(launchText) +
                         " hangs: in kernel 'other' role 'other mma', warp 5"));
}

TEST_F(WaitRecordsTest, AnotherFailureIsToldAsBefore) {
  fail("cuEventQuery=719");
  EXPECT_THAT(run()->message, StartsWith(std::string(launchText) +
                                         " failed: cuEventQuery fails with "
                                         "CUDA_ERROR_LAUNCH_FAILED"));
}

TEST_F(WaitRecordsTest, TheWatchdogTellsWhatIsThere) {
  set("FP8_FAKE_WAITS", "1056:1:4:0");
  set("FP8_FAKE_HANG", "1");
  device->watchdog.seconds = 0.01;
  EXPECT_THAT(run()->message,
              StartsWith(std::string(launchText) +
                         " has not ended after 0.01 s: it hangs, or needs a "
                         "longer time limit; role 'load', "
                         "warp 4 of CTA (0, 0, 0) waited"));
}

TEST_F(WaitRecordsTest, ImagesOfOtherManifestsAreRefused) {
  fail("cuModuleGetGlobal_v2=500");
  EXPECT_THAT(run()->message,
              StartsWith("cannot record the waits of kernel 'blockwise' "
                         "in 'waits': cuModuleGetGlobal_v2 fails with "
                         "CUDA_ERROR_NOT_FOUND"));
  fail("");
  set("FP8_FAKE_SMALL", "1");
  EXPECT_EQ(run()->message,
            "cannot record the waits of kernel 'blockwise' in 'waits': "
            "the variable has 4 bytes, too few for an address; use the "
            "manifest that was written with the PTX");
}

TEST_F(WaitRecordsTest, AFailureIsNoMemoryKept) {
  fail("cuMemHostGetDevicePointer_v2=1");
  EXPECT_THAT(run()->message, HasSubstr("cuMemHostGetDevicePointer_v2 fails"));
  EXPECT_EQ(count("cuMemFreeHost"), 1u);
  fail("");
  EXPECT_FALSE(run());
  EXPECT_EQ(count("cuMemHostAlloc"), 2u);
}

TEST_F(WaitRecordsTest, NoMemoryIsAnError) {
  fail("cuMemHostAlloc=2");
  EXPECT_THAT(run()->message, HasSubstr("cuMemHostAlloc fails with "
                                        "CUDA_ERROR_OUT_OF_MEMORY"));
}
