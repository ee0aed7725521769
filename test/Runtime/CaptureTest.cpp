// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a launch is told of its arguments while its stream captures a graph.
#include "FakeDriver.h"

using namespace fp8;
using namespace fp8::runtime;

namespace {
/// A kernel that writes argument 1 and is told whether argument 0 is constant.
/// The fake shows the first 8 bytes of the first parameter.
class CaptureTest : public FakeDriver {
protected:
  CaptureTest() {
    for (auto [name, access] :
         {std::pair("b", launch::Access::Read), {"d", launch::Access::Write}}) {
      launch::ArgumentSpec argument;
      argument.name = name;
      argument.shape = argument.strides = {std::nullopt};
      argument.access = access;
      manifest.arguments.push_back(argument);
    }
    for (launch::Expression &extent : manifest.launch.grid)
      extent = launch::Expression::constant(1);
    manifest.kernel = "told";
    manifest.launch.block = manifest.launch.cluster = {1, 1, 1};
    manifest.launch.programmatic = true;
    manifest.parameters = {launch::ConstancySpec{{0}}};
    auto created = Stream::create(device);
    EXPECT_TRUE(created);
    stream.emplace(std::move(*created));
  }

  PreparedLaunch prepare(LaunchOptions options = {}) {
    std::vector<launch::ArgumentValue> arguments(2);
    for (launch::ArgumentValue &argument : arguments) {
      argument.shape = {16}; // 64 bytes
      argument.strides = {&argument == &arguments[1] ? stride : 1};
      argument.address = 0x1000;
    }
    auto plan = launch::bindLaunch(manifest, arguments, device->properties());
    EXPECT_TRUE(plan) << plan.error();
    auto kernel = Kernel::load(device, "ptx", "k.ptx", manifest.kernel);
    EXPECT_TRUE(kernel) << kernel.error();
    auto prepared = PreparedLaunch::make(*kernel, manifest, *plan, options);
    EXPECT_TRUE(prepared) << prepared.error();
    return std::move(*prepared);
  }
  /// What a launch on `b` and `d` is told: 1 for constant.
  unsigned launch(const PreparedLaunch &prepared, uint64_t b, uint64_t d) {
    unsigned before = count(told(1));
    const uint64_t addresses[] = {b, d};
    EXPECT_FALSE(prepared.enqueueAt(stream->handle(), addresses));
    return count(told(1)) - before;
  }
  std::string told(int what) {
    return std::string("cuLaunchKernelEx grid=1x1x1 block=1x1x1 shared=0 ") +
           (manifest.launch.programmatic ? "programmatic=1 " : "") +
           "extra=0 first=" + (what ? "0x1" : "0\n");
  }
  void begin() {
    EXPECT_EQ(device->driver().streamBeginCapture.function(stream->handle(), 1),
              cu::success);
  }
  void captureMemset() {
    EXPECT_EQ(device->driver().memsetD8Async.function(
                  reinterpret_cast<cu::DevicePointer>(memory), 0,
                  sizeof(memory), stream->handle()),
              cu::success);
  }
  void end() {
    cu::Graph graph;
    EXPECT_EQ(
        device->driver().streamEndCapture.function(stream->handle(), &graph),
        cu::success);
  }

  launch::Manifest manifest;
  int64_t stride = 1; ///< of d
  std::shared_ptr<Device> device = open();
  std::optional<Stream> stream;
  char memory[8];
};
} // namespace

TEST_F(CaptureTest, NothingIsKnownOutsideOfACapture) {
  PreparedLaunch prepared = prepare();
  EXPECT_EQ(launch(prepared, 0x2000, 0x3000), 0u);
  EXPECT_EQ(launch(prepared, 0x2000, 0x3000), 0u);
}

TEST_F(CaptureTest, TheFirstNodeHasNoKernelInFront) {
  PreparedLaunch prepared = prepare();
  begin();
  EXPECT_EQ(launch(prepared, 0x2000, 0x3000), 1u);
}

TEST_F(CaptureTest, WhatTheLaunchInFrontWritesIsNotConstant) {
  PreparedLaunch prepared = prepare();
  begin();
  launch(prepared, 0x2000, 0x3000);
  EXPECT_EQ(launch(prepared, 0x2000, 0x4000), 1u) << "that one wrote 0x3000";
  EXPECT_EQ(launch(prepared, 0x4000, 0x5000), 0u) << "that one wrote it";
  EXPECT_EQ(launch(prepared, 0x503f, 0x6000), 0u) << "its last byte";
  EXPECT_EQ(launch(prepared, 0x6040, 0x7000), 1u) << "behind its last byte";
  EXPECT_EQ(launch(prepared, 0x6fc1, 0x8000), 0u) << "the first byte";
  // Two in front wrote it, and have ended when the one in front lets us start.
  EXPECT_EQ(launch(prepared, 0x7000, 0x9000), 1u);
}

TEST_F(CaptureTest, NothingIsKnownOfTheWorkOfOthers) {
  PreparedLaunch prepared = prepare();
  begin();
  launch(prepared, 0x2000, 0x3000);
  captureMemset();
  EXPECT_EQ(launch(prepared, 0x2000, 0x4000), 0u);
  EXPECT_EQ(launch(prepared, 0x2000, 0x5000), 1u);
}

TEST_F(CaptureTest, AnotherCaptureIsAnotherGraph) {
  PreparedLaunch prepared = prepare();
  begin();
  launch(prepared, 0x2000, 0x3000);
  end();
  EXPECT_EQ(launch(prepared, 0x2000, 0x3000), 0u);
  begin();
  captureMemset(); // its handle is that of the launch above
  EXPECT_EQ(launch(prepared, 0x2000, 0x4000), 0u);
  end();
  begin();
  EXPECT_EQ(launch(prepared, 0x3000, 0x4000), 1u) << "the first of its graph";
}

TEST_F(CaptureTest, ANodeMustBeOverForTheNext) {
  PreparedLaunch prepared = prepare();
  set("FP8_FAKE_EDGE", "1");
  begin();
  launch(prepared, 0x2000, 0x3000);
  EXPECT_EQ(launch(prepared, 0x2000, 0x4000), 0u);
}

TEST_F(CaptureTest, AKernelThatMaySignalAnywhereOrdersNothing) {
  manifest.launch.programmatic = false;
  PreparedLaunch serial = prepare();
  begin();
  launch(serial, 0x2000, 0x3000);
  EXPECT_EQ(launch(serial, 0x2000, 0x4000), 1u)
      << "it started when all had ended";
  LaunchOptions options;
  options.programmaticSerialization = true;
  manifest.launch.programmatic = true; // as the log has it
  PreparedLaunch told = prepare();
  manifest.launch.programmatic = false;
  PreparedLaunch forced = prepare(options);
  manifest.launch.programmatic = true;
  launch(forced, 0x2000, 0x5000);
  EXPECT_EQ(launch(told, 0x2000, 0x6000), 0u);
}

TEST_F(CaptureTest, APromiseHoldsEverywhere) {
  manifest.arguments[0].access = launch::Access::Constant;
  PreparedLaunch prepared = prepare();
  EXPECT_EQ(launch(prepared, 0x2000, 0x3000), 1u);
}

TEST_F(CaptureTest, StridesThatRunBackwardsMayReachAnything) {
  stride = -1;
  PreparedLaunch prepared = prepare();
  begin();
  launch(prepared, 0x2000, 0x3000);
  EXPECT_EQ(launch(prepared, 0x2000, 0x4000), 0u);
}

TEST_F(CaptureTest, OldDriversCannotTell) {
  fail("cuStreamGetCaptureInfo_v3=801"); // not supported
  PreparedLaunch prepared = prepare();
  begin();
  EXPECT_EQ(launch(prepared, 0x2000, 0x3000), 0u);
}
