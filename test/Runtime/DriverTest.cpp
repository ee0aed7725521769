// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finding the driver, and what its errors say.
#include "FakeDriver.h"

using namespace fp8::runtime;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

using DriverTest = FakeDriver;

TEST_F(DriverTest, IsFoundByTheVariable) {
  auto driver = Driver::load();
  ASSERT_TRUE(driver) << driver.error();
  EXPECT_EQ((*driver)->path(), FP8_FAKE_LIBRARY);
}

TEST_F(DriverTest, AMissingLibrary) {
  // A path that the caller gives goes before the variable's.
  auto driver = Driver::load("/nowhere/libcuda.so.1");
  ASSERT_FALSE(driver);
  EXPECT_THAT(driver.error(),
              AllOf(StartsWith("no CUDA driver: cannot load "
                               "/nowhere/libcuda.so.1 (/nowhere/libcuda.so.1: "
                               "cannot open shared object file"),
                    HasSubstr("; install NVIDIA's driver, or name its library "
                              "in FP8_CUDA_LIBRARY")));
}

TEST_F(DriverTest, AMissingFunction) {
  auto driver = Driver::load(FP8_OLD_LIBRARY);
  ASSERT_FALSE(driver);
  EXPECT_EQ(
      driver.error(),
      "the CUDA driver " FP8_OLD_LIBRARY
      " has no function 'cuDriverGetVersion'; update it to CUDA 12.0 or later");
}

TEST_F(DriverTest, ErrorsSayWhatWasDoneAndWhatHelps) {
  auto driver = Driver::load();
  ASSERT_TRUE(driver);
  EXPECT_EQ(
      (*driver)
          ->failure("cuMemAlloc_v2", cu::outOfMemory, "cannot do it")
          .message,
      "cannot do it: cuMemAlloc_v2 fails with CUDA_ERROR_OUT_OF_MEMORY (2, as "
      "the test asked); choose smaller sizes, or end other programs that use "
      "the GPU");
  EXPECT_EQ((*driver)->failure("cuX", 4711, "cannot do it").message,
            "cannot do it: cuX fails with CUDA_ERROR_OF_THE_FAKE (4711, as the "
            "test asked)");
}
