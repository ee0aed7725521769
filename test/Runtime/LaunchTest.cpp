// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches: attributes, parameters, failures and hangs.
#include "FakeDriver.h"

#include <chrono>

using namespace fp8;
using namespace fp8::runtime;
using testing::HasSubstr;
using testing::StartsWith;

namespace {
/// The manifest test/Run/Inputs/blockwise.ptx.json: two tensor maps, pointers,
/// scalars.
class LaunchTest : public FakeDriver {
protected:
  launch::LaunchPlan plan() {
    auto matrix = [](tensor::ElementType type, int64_t rows, int64_t columns,
                     uint64_t address) {
      launch::ArgumentValue value;
      value.dtype = type;
      value.shape = {rows, columns};
      value.strides = {columns, 1};
      value.address = address;
      return value;
    };
    using Type = tensor::ElementType;
    launch::ArgumentValue a = matrix(Type::F8E4M3FN, 256, 384, 0x10000);
    a.strides[0] = aStride;
    auto bound = launch::bindLaunch(manifest,
                                    {a, matrix(Type::F32, 3, 256, 0x20000),
                                     matrix(Type::F8E4M3FN, 192, 384, 0x30000),
                                     matrix(Type::F32, 2, 3, 0x40000),
                                     matrix(Type::BF16, 256, 192, 0x50000)},
                                    device->properties());
    EXPECT_TRUE(bound) << bound.error();
    return *bound;
  }
  Kernel kernel() {
    auto loaded = Kernel::load(device, "ptx", "k.ptx", manifest.kernel);
    EXPECT_TRUE(loaded) << loaded.error();
    return *loaded;
  }
  /// Launches and waits; the error, or nothing.
  std::optional<Error> run(LaunchOptions options = {}) {
    auto prepared = PreparedLaunch::make(kernel(), manifest, plan(), options);
    if (!prepared)
      return prepared.takeError();
    auto stream = Stream::create(device);
    if (!stream)
      return stream.takeError();
    if (auto error = prepared->enqueue(*stream))
      return error;
    return stream->await(prepared->str());
  }

  launch::Manifest manifest =
      test::readManifest(FP8_RUN_INPUTS "/blockwise.ptx.json");
  std::shared_ptr<Device> device = open();
  int64_t aStride = 384; ///< elements from one row of A to the next
};
} // namespace

TEST_F(LaunchTest, IsAsTheManifestSays) {
  EXPECT_FALSE(run());
  EXPECT_THAT(log(), HasSubstr("\ncuLaunchKernelEx grid=3x2x1 block=160x1x1 "
                               "shared=49216 extra=0 first=0x10000\n"));
  EXPECT_THAT(log(), HasSubstr("type=0 rank=2 address=0x10000 dims=[384,256] "
                               "strides=[384] box=[128,128] steps=[1,1] "
                               "interleave=0 swizzle=3 promotion=3 fill=0\n"));
  EXPECT_THAT(log(), HasSubstr("type=0 rank=2 address=0x30000 dims=[384,192] "
                               "strides=[384] box=[128,64] "));
  // 49216 + 1024 static bytes are more than 48 KiB.
  EXPECT_THAT(log(), HasSubstr("cuFuncSetAttribute 8 49216\n"));
  EXPECT_EQ(count("cuFuncSetAttribute 14"), 0u);
}

TEST_F(LaunchTest, WaitsForCopiesOfTheNullStream) {
  EXPECT_FALSE(run());
  EXPECT_EQ(count("cuStreamCreate 0"), 1u);
}

TEST_F(LaunchTest, AsksForMuchSharedMemoryOnly) {
  manifest.launch.sharedMemoryBytes = 47 << 10;
  EXPECT_FALSE(run());
  EXPECT_EQ(count("cuFuncSetAttribute"), 0u);
  manifest.launch.sharedMemoryBytes += 1;
  EXPECT_FALSE(run());
  EXPECT_EQ(count("cuFuncSetAttribute 8 48129"), 1u);
}

TEST_F(LaunchTest, OneThatTakesLessDoesNotForbidMore) {
  auto large = PreparedLaunch::make(kernel(), manifest, plan());
  ASSERT_TRUE(large);
  manifest.launch.sharedMemoryBytes = 48 << 10;
  auto small = PreparedLaunch::make(kernel(), manifest, plan());
  ASSERT_TRUE(small);
  EXPECT_FALSE(small->enqueue(nullptr));
  EXPECT_FALSE(large->enqueue(nullptr));
  EXPECT_EQ(count("cuFuncSetAttribute"), 1u);
}

TEST_F(LaunchTest, Clusters) {
  manifest.launch.cluster = {3, 2, 1};
  EXPECT_FALSE(run());
  EXPECT_THAT(log(), HasSubstr("shared=49216 cluster=3x2x1 extra=0"));
  manifest.launch.cluster = {1, 2, 1};
  manifest.launch.nonPortableCluster = true;
  EXPECT_FALSE(run());
  EXPECT_THAT(log(), HasSubstr("cluster=1x2x1 extra=0"));
  EXPECT_EQ(count("cuFuncSetAttribute 14 1"), 1u);
}

TEST_F(LaunchTest, ProgrammaticDependentLaunch) {
  LaunchOptions options;
  options.programmaticSerialization = true;
  EXPECT_FALSE(run(options));
  EXPECT_THAT(log(), HasSubstr("shared=49216 programmatic=1 extra=0"));
  manifest.launch.cluster = {3, 1, 1};
  EXPECT_FALSE(run(options));
  EXPECT_THAT(log(), HasSubstr("cluster=3x1x1 programmatic=1 extra=0"));
}

TEST_F(LaunchTest, TheManifestAsksForAProgrammaticLaunch) {
  manifest.launch.programmatic = true;
  EXPECT_FALSE(run());
  EXPECT_THAT(log(), HasSubstr("shared=49216 programmatic=1 extra=0"));
}

TEST_F(LaunchTest, GraphsOfOldDriversCannotHoldProgrammaticLaunches) {
  set("FP8_FAKE_VERSION", "12020");
  device = open();
  manifest.launch.programmatic = true;
  EXPECT_FALSE(run());
  EXPECT_THAT(log(), HasSubstr("shared=49216 extra=0"));
  LaunchOptions options;
  options.programmaticSerialization = true;
  EXPECT_FALSE(run(options));
  EXPECT_THAT(log(), HasSubstr("shared=49216 programmatic=1 extra=0"));
}

TEST_F(LaunchTest, PersistentGridsFollowTheDevice) {
  manifest.launch.grid[0] = launch::Expression::multiprocessorCount();
  EXPECT_FALSE(run());
  EXPECT_THAT(log(), HasSubstr("cuLaunchKernelEx grid=7x2x1"));
}

TEST_F(LaunchTest, ScalarsArriveWhole) {
  // The fake shows the first 8 bytes of the first parameter.
  manifest.parameters = {launch::ScalarSpec{
      tensor::ElementType::I64, launch::Expression::constant(0x123456789ab)}};
  EXPECT_FALSE(run());
  EXPECT_THAT(log(), HasSubstr("first=0x123456789ab\n"));
}

TEST_F(LaunchTest, GoesToOtherArraysOfTheSameShapes) {
  auto prepared = PreparedLaunch::make(kernel(), manifest, plan());
  ASSERT_TRUE(prepared) << prepared.error();
  const uint64_t other[] = {0x910000, 0x920000, 0x930000, 0x940000, 0x950000};
  EXPECT_FALSE(prepared->enqueueAt(nullptr, other));
  const std::string launched =
      "cuLaunchKernelEx grid=3x2x1 block=160x1x1 shared=49216 extra=0 first=";
  EXPECT_EQ(count(launched + "0x910000"), 1u);
  EXPECT_EQ(count("cuTensorMapReplaceAddress address=0x930000"), 1u);
  EXPECT_EQ(count("cuTensorMapEncodeTiled"), 2u) << "encoded again";
  EXPECT_FALSE(prepared->enqueue(nullptr));
  EXPECT_EQ(count(launched + "0x10000"), 1u) << "the launch itself has changed";
  const uint64_t odd[] = {0x910008, 0x920000, 0x930000, 0x940000, 0x950000};
  EXPECT_THAT(prepared->enqueueAt(nullptr, odd)->message,
              testing::StrEq("cannot create the tensor map of 'a': the address "
                             "is not aligned to 16 bytes"));
}

TEST_F(LaunchTest, MovesNoMapOfAnArrayThatStaysWhereItIs) {
  auto prepared = PreparedLaunch::make(kernel(), manifest, plan());
  ASSERT_TRUE(prepared) << prepared.error();
  uint64_t addresses[] = {0x10000, 0x20000, 0x30000, 0x40000, 0x50000};
  EXPECT_FALSE(prepared->enqueueAt(nullptr, addresses));
  EXPECT_EQ(count("cuTensorMapReplaceAddress"), 0u);
  addresses[2] = 0x930000;
  EXPECT_FALSE(prepared->enqueueAt(nullptr, addresses));
  EXPECT_EQ(count("cuTensorMapReplaceAddress"), 1u);
  EXPECT_EQ(count("cuLaunchKernelEx"), 2u);
}

TEST_F(LaunchTest, MapsOfSmallTensorsWithGapsLackBit85OnBlackwell) {
  set("FP8_FAKE_WORD", "1");
  set("FP8_FAKE_CAPABILITY", "10.0");
  device = open();
  // A's rows have 384 of 400 bytes: 102384 from the first to the last.
  aStride = 400;
  auto prepared = PreparedLaunch::make(kernel(), manifest, plan());
  ASSERT_TRUE(prepared) << prepared.error();
  EXPECT_FALSE(prepared->enqueue(nullptr));
  EXPECT_EQ(count("word=0xffffffffffdfffff"), 1u);
  const uint64_t other[] = {0x910000, 0x920000, 0x930000, 0x940000, 0x950000};
  EXPECT_FALSE(prepared->enqueueAt(nullptr, other));
  EXPECT_EQ(count("word=0xffffffffffdfffff"), 2u);
}

TEST_F(LaunchTest, ALaunchThatIsRefused) {
  fail("cuLaunchKernelEx=2");
  EXPECT_THAT(
      run()->message,
      StartsWith("cannot launch kernel 'blockwise' (grid 3x2x1, block "
                 "160x1x1, cluster 1x1x1, 49216 bytes of dynamic shared "
                 "memory): cuLaunchKernelEx fails with"));
}

TEST_F(LaunchTest, AKernelThatFails) {
  fail("cuEventQuery=719");
  EXPECT_EQ(run()->message,
            "kernel 'blockwise' (grid 3x2x1, block 160x1x1, cluster 1x1x1, "
            "49216 bytes of dynamic shared memory) failed: cuEventQuery fails "
            "with CUDA_ERROR_LAUNCH_FAILED (719, as the test asked); run "
            "compute-sanitizer to find the instruction, and the simulator "
            "(fp8-run --backend=sim) to find the broken rule");
}

TEST_F(LaunchTest, TooMuchSharedMemory) {
  fail("cuFuncSetAttribute=1");
  EXPECT_THAT(
      run()->message,
      StartsWith("cannot give kernel 'blockwise' 49216 bytes of dynamic "
                 "shared memory besides 1024 static bytes (Fake GPU "
                 "(device 0) has 232448 per block): "
                 "cuFuncSetAttribute fails with "
                 "CUDA_ERROR_INVALID_VALUE"));
}

TEST_F(LaunchTest, AKernelThatHangs) {
  set("FP8_FAKE_HANG", "1");
  device->watchdog.seconds = 0.05;
  unsigned calls = 0;
  std::string told;
  device->watchdog.onHang = [&](const std::string &message) {
    ++calls;
    told = message;
  };
  auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(run()->message, told);
  std::chrono::duration<double> waited =
      std::chrono::steady_clock::now() - start;
  EXPECT_GE(waited.count(), 0.05);
  EXPECT_LT(waited.count(), 4);
  EXPECT_EQ(calls, 1u);
  EXPECT_EQ(told,
            "kernel 'blockwise' (grid 3x2x1, block 160x1x1, cluster 1x1x1, "
            "49216 bytes of dynamic shared memory) has not ended after 0.05 s: "
            "it hangs, or needs a longer time limit; to see what it waits for, "
            "run it on the simulator (fp8-run --backend=sim), or lower it with "
            "debug-waits=MS, less than this limit");
}
