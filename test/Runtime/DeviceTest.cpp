// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Devices, their memory and their modules.
#include "FakeDriver.h"

#include <thread>

using namespace fp8::runtime;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

using DeviceTest = FakeDriver;

TEST_F(DeviceTest, SaysWhatItIs) {
  auto device = open();
  EXPECT_EQ(device->info().name, "Fake GPU");
  EXPECT_EQ(device->str(), "Fake GPU (device 0)");
  EXPECT_EQ(device->info().capability.str(), "9.0");
  EXPECT_EQ(device->info().l2CacheBytes, 1 << 16);
  EXPECT_EQ(device->info().memoryBytes, uint64_t(1) << 30);
  EXPECT_EQ(device->info().driverVersion, 13000);
  // %nsmid of persistent kernels, and the limit on shared memory.
  EXPECT_EQ(device->properties().multiprocessorCount, 7);
  EXPECT_EQ(device->properties().maxSharedMemoryPerBlock, 232448);
}

TEST_F(DeviceTest, NoDevice) {
  auto driver = Driver::load();
  fail("cuInit=100");
  auto device = Device::open(*driver);
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error(), "cannot start the CUDA driver " FP8_FAKE_LIBRARY
                            ": cuInit fails with CUDA_ERROR_NO_DEVICE (100, as "
                            "the test asked); use a machine with a GPU that "
                            "nvidia-smi lists, and check CUDA_VISIBLE_DEVICES");
  fail("");
  device = Device::open(*driver, 1);
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error(),
            "there is no GPU number 1: the CUDA driver " FP8_FAKE_LIBRARY
            " lists 1 GPU");
}

TEST_F(DeviceTest, EveryStepOfOpeningMayFail) {
  auto driver = Driver::load();
  for (const char *function :
       {"cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetAttribute",
        "cuDevicePrimaryCtxRetain"}) {
    fail(std::string(function) + "=2");
    auto device = Device::open(*driver);
    ASSERT_FALSE(device) << function;
    EXPECT_THAT(device.error(), HasSubstr(std::string(function) +
                                          " fails with CUDA_ERROR_OUT_OF_"));
  }
}

TEST_F(DeviceTest, ReleasesItsContextAndModules) {
  {
    auto device = open();
    ASSERT_TRUE(Kernel::load(device, "one", "one.ptx", "gemm"));
    EXPECT_EQ(count("cuModuleUnload"), 0u);
  }
  EXPECT_EQ(count("cuModuleUnload"), 1u);
  EXPECT_EQ(count("cuDevicePrimaryCtxRelease_v2"), 1u);
}

TEST_F(DeviceTest, MemoryKeepsWhatIsPutThere) {
  auto device = open();
  {
    auto buffer = DeviceBuffer::allocate(device, "a", 8);
    ASSERT_TRUE(buffer);
    EXPECT_FALSE(buffer->fill(7));
    EXPECT_FALSE(buffer->upload("xy", 2, 3));
    char bytes[8];
    EXPECT_FALSE(buffer->download(bytes, 8));
    EXPECT_EQ(std::string(bytes, 8), "\7\7\7xy\7\7\7");
    DeviceBuffer moved = std::move(*buffer);
    EXPECT_EQ(moved.size(), 8u);
    EXPECT_EQ(buffer->address(), 0u);
    EXPECT_EQ(moved.upload("xy", 2, 7)->message,
              "cannot copy 2 bytes to offset 7 of 'a', which has 8");
    EXPECT_EQ(moved.download(bytes, 9)->message,
              "cannot copy 9 bytes from offset 0 of 'a', which has 8");
  }
  EXPECT_EQ(count("cuMemAlloc_v2"), 1u);
  EXPECT_EQ(count("cuMemFree_v2"), 1u);
}

TEST_F(DeviceTest, NoBytesAreABuffer) {
  auto buffer = DeviceBuffer::allocate(open(), "empty", 0);
  ASSERT_TRUE(buffer);
  EXPECT_FALSE(buffer->fill(0));
  EXPECT_FALSE(buffer->upload(nullptr, 0));
  EXPECT_EQ(count("cuMemAlloc_v2"), 0u);
}

TEST_F(DeviceTest, OutOfMemory) {
  auto device = open();
  fail("cuMemAlloc_v2=2");
  auto buffer = DeviceBuffer::allocate(device, "b_scale", 4096);
  ASSERT_FALSE(buffer);
  EXPECT_THAT(buffer.error(),
              StartsWith("cannot allocate 4096 bytes for 'b_scale' on Fake GPU "
                         "(device 0): cuMemAlloc_v2 fails with "
                         "CUDA_ERROR_OUT_OF_MEMORY (2"));
}

TEST_F(DeviceTest, CopiesThatFailNameTheBuffer) {
  auto buffer = DeviceBuffer::allocate(open(), "d", 16);
  fail("cuMemcpyDtoH_v2=719,cuMemcpyHtoD_v2=1,cuMemsetD8_v2=1");
  char bytes[16] = {};
  EXPECT_THAT(buffer->download(bytes, 16)->message,
              StartsWith("cannot copy 16 bytes back from 'd': cuMemcpyDtoH_v2 "
                         "fails with CUDA_ERROR_LAUNCH_FAILED (719"));
  EXPECT_THAT(buffer->upload(bytes, 16)->message,
              StartsWith("cannot copy 16 bytes to 'd': cuMemcpyHtoD_v2 fails"));
  EXPECT_THAT(buffer->fill(0)->message, StartsWith("cannot fill 'd': "));
}

TEST_F(DeviceTest, TheSameImageIsLoadedOnce) {
  auto device = open();
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(Kernel::load(device, "one", "one.ptx", "gemm"));
  EXPECT_EQ(count("cuModuleLoadDataEx"), 1u);
  ASSERT_TRUE(Kernel::load(device, "two", "one.ptx", "gemm"));
  EXPECT_EQ(count("cuModuleLoadDataEx"), 2u);
  EXPECT_EQ(device->loadedModules(), 2u);
}

TEST_F(DeviceTest, RejectedPtxComesWithTheLog) {
  auto device = open();
  fail("cuModuleLoadDataEx=218");
  auto kernel = Kernel::load(device, "nonsense", "k.ptx", "gemm");
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error(),
            "cannot load k.ptx on Fake GPU (device 0): cuModuleLoadDataEx "
            "fails with CUDA_ERROR_INVALID_PTX (218, as the test asked)\n"
            "note: the driver says: ptxas application ptx input, line 7; "
            "error: no such op");
  // What failed is not kept.
  fail("");
  EXPECT_TRUE(Kernel::load(device, "nonsense", "k.ptx", "gemm"));
}

TEST_F(DeviceTest, AKernelThatIsNotThere) {
  auto device = open();
  fail("cuModuleGetFunction=500");
  auto kernel = Kernel::load(device, "one", "k.ptx", "gemm");
  ASSERT_FALSE(kernel);
  EXPECT_THAT(
      kernel.error(),
      StartsWith("cannot find kernel 'gemm' in k.ptx: "
                 "cuModuleGetFunction fails with CUDA_ERROR_NOT_FOUND"));
}

TEST_F(DeviceTest, AKernelKnowsItsResources) {
  set("FP8_FAKE_PARAMETERS", "128,8,4");
  auto kernel = Kernel::load(open(), "one", "k.ptx", "gemm");
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel->registers, 168);
  EXPECT_EQ(kernel->localBytes, 16);
  EXPECT_EQ(kernel->staticSharedBytes, 1024);
  EXPECT_EQ(kernel->parameterBytes(), (std::vector<uint64_t>{128, 8, 4}));
}

TEST_F(DeviceTest, ThreadsThatAskAtOnceLoadOnce) {
  auto device = open();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      ContextScope scope(*device);
      for (int j = 0; j < 50; ++j)
        EXPECT_TRUE(Kernel::load(device, std::to_string(j), "k.ptx", "gemm"));
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(device->loadedModules(), 50u);
  EXPECT_EQ(count("cuModuleLoadDataEx"), 50u);
}

TEST_F(DeviceTest, AnyThreadMayFree) {
  auto device = open();
  auto buffer = DeviceBuffer::allocate(device, "a", 8);
  ASSERT_TRUE(buffer);
  ASSERT_TRUE(Kernel::load(device, "one", "one.ptx", "gemm"));
  std::thread([taken = std::move(*buffer)] {}).join();
  auto stream = Stream::create(device);
  std::thread([taken = std::move(*stream)] {}).join();
  EXPECT_FALSE(buffer->fill(0)) << "no bytes are left in it";
  std::thread([taken = std::move(device)] {}).join();
  EXPECT_EQ(count("cuMemFree_v2"), 1u);
  EXPECT_EQ(count("cuDevicePrimaryCtxRelease_v2"), 1u);
  EXPECT_EQ(count("no context"), 0u);
}

TEST_F(DeviceTest, AThreadThatDidNotOpenItIsTold) {
  auto device = open();
  std::optional<std::string> refused;
  bool allowed = false;
  std::thread([&] {
    auto buffer = DeviceBuffer::allocate(device, "a", 8);
    if (!buffer)
      refused = buffer.error();
    EXPECT_FALSE(device->makeCurrent());
    allowed = bool(DeviceBuffer::allocate(device, "a", 8));
  }).join();
  ASSERT_TRUE(refused);
  EXPECT_THAT(*refused, HasSubstr("cuMemAlloc_v2 fails with"));
  EXPECT_TRUE(allowed);
}
