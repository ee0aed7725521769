// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches on arrays in the host's memory and the device's.
#include "fp8/Runtime/HostArguments.h"

#include "FakeDriver.h"
#include "NaiveProblem.h"

using namespace fp8;
using namespace fp8::runtime;
using testing::Each;

namespace {
/// The manifest test/Run/Inputs/naive.ptx.json: five pointers, and sizes.
class HostArguments : public FakeDriver {
protected:
  HostArguments() {
    for (const Fp8Argument &from : problem.arguments) {
      launch::ArgumentValue &value = arguments.emplace_back();
      value.dtype = *tensor::parseElementType(from.dtype);
      value.shape.assign(from.shape, from.shape + from.rank);
      value.strides.assign(from.strides, from.strides + from.rank);
      value.address = from.address;
    }
  }
  /// The error, or an empty string.
  std::string run() {
    auto kernel = Kernel::load(device, "ptx", "k.ptx", manifest.kernel);
    EXPECT_TRUE(kernel) << kernel.error();
    auto error = runOnHost(*kernel, manifest, arguments);
    return error ? error->message : "";
  }

  std::shared_ptr<Device> device = open();
  launch::Manifest manifest =
      test::readManifest(FP8_RUN_INPUTS "/naive.ptx.json");
  NaiveProblem problem{4, 12};
  std::vector<uint8_t> &a = problem.a;
  std::vector<uint16_t> &d = problem.d;
  std::vector<launch::ArgumentValue> arguments;
};
} // namespace

TEST_F(HostArguments, OfTheHostAreCopiedThereAndBack) {
  // The kernel writes 3 * 12 + 8 elements of D: gaps between its rows, too.
  set("FP8_FAKE_WRITE", "4:0:88");
  EXPECT_EQ(run(), "");
  for (size_t i = 0; i < d.size(); ++i)
    EXPECT_EQ(d[i], i % 12 < 8 ? 0 : 7) << i;
  EXPECT_EQ(count("cuMemAlloc_v2"), 5u);
  EXPECT_EQ(count("cuMemFree_v2"), 5u);
  EXPECT_EQ(count("cuMemAlloc_v2 88"), 1u);
}

TEST_F(HostArguments, ThatAreReadDoNotComeBack) {
  set("FP8_FAKE_WRITE", "0:0:64");
  EXPECT_EQ(run(), "");
  EXPECT_THAT(a, Each(0x38));
}

TEST_F(HostArguments, OfTheDeviceStayThere) {
  auto buffer = DeviceBuffer::allocate(device, "d", 256);
  ASSERT_TRUE(buffer) << buffer.error();
  ASSERT_FALSE(buffer->fill(1));
  // Memory that the device reaches may begin before the argument.
  arguments[4].address = buffer->address() + 64;
  set("FP8_FAKE_WRITE", "4:0:88");
  EXPECT_EQ(run(), "");
  std::vector<uint8_t> bytes(256);
  ASSERT_FALSE(buffer->download(bytes.data(), 256));
  for (size_t i = 0; i < 256; ++i)
    EXPECT_EQ(bytes[i], i >= 64 && i < 152 ? 0 : 1) << i;
  EXPECT_EQ(count("cuMemAlloc_v2"), 5u) << "four beside the buffer";
}

TEST_F(HostArguments, OfAnotherDeviceAreRefused) {
  auto buffer = DeviceBuffer::allocate(device, "d", 256);
  ASSERT_TRUE(buffer) << buffer.error();
  arguments[4].address = buffer->address();
  set("FP8_FAKE_ELSEWHERE", "1");
  EXPECT_EQ(run(), "argument 'd' is on a GPU that Fake GPU (device 0) cannot "
                   "reach; launch on that GPU");
}

TEST_F(HostArguments, ThatAreWrong) {
  arguments[0].address = 0;
  EXPECT_EQ(run(),
            "argument 'a' has elements but no memory: its address is null");
  arguments.pop_back();
  EXPECT_EQ(run(), "the kernel takes 5 arguments, got 4");
}

TEST_F(HostArguments, FailuresOfTheDriverAreErrors) {
  fail("cuPointerGetAttribute=201");
  EXPECT_EQ(run(),
            "cannot find the memory of argument 'a': cuPointerGetAttribute "
            "fails with CUDA_ERROR_OF_THE_FAKE (201, as the test "
            "asked)");
  fail("cuMemcpyDtoH_v2=719");
  EXPECT_EQ(run().rfind("cannot copy 88 bytes back from 'd'", 0), 0u) << run();
  EXPECT_THAT(d, Each(7));
}

TEST_F(HostArguments, AnEmptyGridLaunchesNothing) {
  for (auto [index, axis] : {std::pair(0, 0), {1, 1}, {4, 0}})
    arguments[index].shape[axis] = 0;
  for (int index : {0, 1, 4})
    arguments[index].address = 0;
  EXPECT_EQ(run(), "");
  EXPECT_EQ(count("cuLaunchKernelEx"), 0u);
  EXPECT_THAT(d, Each(7));
}
