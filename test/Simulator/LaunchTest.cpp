// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches that do not fit, limits, and instructions that the simulator does
// not know.

#include "GemmKernel.h"
#include "fp8/Simulator/LoadedModule.h"

#include <algorithm>
#include <gmock/gmock.h>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

namespace {

std::string errorOf(const std::string &text, LaunchConfig config = {},
                    std::vector<KernelArgument> arguments = {},
                    Options options = {}) {
  Device device;
  return run(device, text, arguments, config, options).str();
}

std::string unsupported(const std::string &instruction) {
  std::string error =
      errorOf(kernel("", ".reg .b32 %r<5>; .reg .b64 %d<5>; .reg .f32 %f<5>; "
                         ".reg .pred %p;\nret;\n" +
                             instruction));
  EXPECT_THAT(error, HasSubstr("[unsupported] at ptx line 8"));
  return error;
}

} // namespace

TEST(Launch, ChecksTheConfiguration) {
  std::string text = kernel(".param .u32 a", "ret;");
  std::vector<KernelArgument> argument{KernelArgument::value(uint32_t(1))};
  EXPECT_EQ(errorOf(text, {}, argument), "");
  EXPECT_THAT(errorOf(text),
              HasSubstr("takes 1 parameters, but the launch passes 0"));
  EXPECT_THAT(errorOf(text, {}, {KernelArgument::value(uint64_t(1))}),
              HasSubstr("has 4 bytes, but the launch passes 8"));
  LaunchConfig config;
  config.block = {1025, 1, 1};
  EXPECT_THAT(errorOf(text, config, argument),
              HasSubstr("at most 1024 threads"));
  config.block = {1, 1, 128};
  EXPECT_THAT(
      errorOf(text, config, argument),
      HasSubstr("a block has at most 64 threads in dimension z, not 128"));
  config.block = {32, 1, 1};
  config.grid = {1, 65536, 1};
  EXPECT_THAT(
      errorOf(text, config, argument),
      HasSubstr("a grid has at most 65535 CTAs in dimension y, not 65536"));
  config.grid = {3, 1, 1};
  config.cluster = {2, 1, 1};
  EXPECT_THAT(errorOf(text, config, argument),
              HasSubstr("not a multiple of the cluster"));
  // A launch that names no cluster has the kernel's own.
  std::string own = replaced(text, ")\n{", ")\n.reqnctapercluster 2, 1, 1\n{");
  config.cluster = {1, 1, 1};
  EXPECT_THAT(errorOf(own, config, argument),
              HasSubstr("not a multiple of the cluster"));
  config.grid = {4, 1, 1};
  EXPECT_EQ(errorOf(own, config, argument), "");
  config.cluster = {4, 1, 1};
  EXPECT_THAT(errorOf(own, config, argument),
              HasSubstr("the dimensions of .reqnctapercluster"));
  config.cluster = {1, 1, 1};
  config.dynamicSharedBytes = 300000;
  EXPECT_THAT(
      errorOf(text, config, argument),
      HasSubstr("300000 bytes of shared memory, but the limit is 232448"));
  Device device;
  EXPECT_THAT(launch(device, parseOk(text), "nobody", {}, {}).str(),
              HasSubstr("no kernel 'nobody'"));
}

TEST(Launch, RefusesWhatIsHalfDecoded) {
  // The load has a list of registers, of which none fits, and is the first.
  Device device;
  std::string report =
      run(device,
          kernel(".param .u64 out", ".reg .b32 %r0; ld.param.u64 %r0, [out];"),
          {KernelArgument::value(uint64_t(0))})
          .str();
  EXPECT_THAT(report, HasSubstr("'ld.param.u64'"));
  EXPECT_THAT(report, HasSubstr("[unsupported]"));
}

TEST(Launch, GivesVariablesTheirFirstBytes) {
  std::string text =
      kernel(".param .u64 out",
             ".reg .b64 %d<3>;\n"
             "ld.param.u64 %d0, [out];\n"
             "ld.global.u64 %d1, [given];\n"
             "st.global.u64 [%d0], %d1;\nret;",
             "sm_100a", ".visible .global .align 8 .b8 given[16];\n");
  PTXModule module = parseOk(text);
  Device device;
  uint64_t out = *device.allocate("out", 8), value = 0;
  Variables variables;
  auto run = [&] {
    return launch(device, module, "k", {KernelArgument::value(out)}, {}, {},
                  variables)
        .str();
  };
  variables["given"] = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(run(), "");
  device.read(out, &value, 8);
  EXPECT_EQ(value, 0x0807060504030201u);
  variables["given"].resize(17);
  EXPECT_THAT(
      run(),
      HasSubstr("variable 'given' has 16 bytes, but the launch gives it 17"));
}

TEST(LoadedModule, KeepsVariablesFromLaunchToLaunch) {
  std::string text = kernel(".param .u64 out",
                            ".reg .b64 %d<2>;\n.reg .b32 %r<2>;\n"
                            "ld.param.u64 %d0, [out];\n"
                            "atom.global.add.u32 %r0, [count], 2;\n"
                            "st.global.u32 [%d0], %r0;\nret;",
                            "sm_100a",
                            ".visible .global .align 4 .u32 count = 5;\n"
                            ".visible .global .align 8 .u64 place = count;\n");
  Device device;
  std::vector<SimulationError> errors;
  auto module = LoadedModule::load(device, parseOk(text), {}, errors);
  ASSERT_TRUE(module);
  uint64_t out = *device.allocate("out", 4), place = 0;
  for (uint32_t expected : {5u, 7u, 9u}) {
    EXPECT_EQ(launch(*module, "k", {KernelArgument::value(out)}, {}).str(), "");
    uint32_t value = 0;
    device.read(out, &value, 4);
    EXPECT_EQ(value, expected);
  }
  device.read(module->find("place")->address, &place, 8);
  EXPECT_EQ(place, module->find("count")->address);
  EXPECT_EQ(module->find("nothing"), nullptr);
  uint64_t used = device.allocatedBytes();
  module.reset();
  EXPECT_EQ(device.allocatedBytes(), used - 12);
}

TEST(LoadedModule, SaysWhyItDoesNotLoad) {
  Device small(8), device;
  std::vector<SimulationError> errors;
  PTXModule large = parseOk(
      kernel("", "ret;", "sm_100a", ".visible .global .b8 table[16];\n"));
  EXPECT_FALSE(LoadedModule::load(small, large, {}, errors));
  PTXModule dangling = parseOk(
      kernel("", "ret;", "sm_100a", ".visible .global .u64 p = elsewhere;\n"));
  EXPECT_FALSE(LoadedModule::load(device, dangling, {}, errors));
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_THAT(errors[0].message, HasSubstr("no memory for variable 'table'"));
  EXPECT_THAT(errors[1].message, HasSubstr("'elsewhere', which is not in"));
  EXPECT_EQ(device.allocatedBytes(), 0u);
}

TEST(Launch, Limits) {
  Options options;
  options.gridLimit = 10;
  LaunchConfig config;
  config.grid = {4, 4, 1};
  EXPECT_THAT(errorOf(kernel("", "ret;"), config, {}, options),
              HasSubstr("limit of 10 CTAs"));
  options.stepLimit = 1000;
  EXPECT_THAT(errorOf(kernel("", "L: bra L;"), {}, {}, options),
              HasSubstr("step limit of 1000"));
  options.stepLimit = 100;
  config.grid = {1, 1, 1};
  config.block = {1024, 1, 1};
  EXPECT_THAT(
      errorOf(kernel("", ".reg .b32 %r<200000>; ret;"), config, {}, options),
      HasSubstr("bytes of registers and local memory, but the simulator's "
                "limit is 1073741824"));
  Device device(1000);
  EXPECT_TRUE(device.allocate("a", 600));
  EXPECT_FALSE(device.allocate("b", 600));
}

TEST(Launch, TrapsAreReported) {
  EXPECT_THAT(
      errorOf(kernel("", "trap;")),
      HasSubstr(
          "the kernel executed 'trap' [trap] at ptx line 6, block (0,0,0)"));
}

TEST(Launch, UnknownInstructionsAreNamedInFull) {
  EXPECT_THAT(unsupported("wgmma.fence.sync.aligned;"),
              HasSubstr("'wgmma.fence.sync.aligned'"));
  EXPECT_THAT(unsupported("add.rn.s32 %r0, %r1, %r2;"),
              HasSubstr("the qualifier '.rn' is not supported here"));
  EXPECT_THAT(unsupported("add.s32 %r0, %r1, %r2, %r3;"),
              HasSubstr("1 operand(s) more"));
  EXPECT_THAT(unsupported("add.s32 %r0, %r1;"), HasSubstr("lacks an operand"));
  EXPECT_THAT(unsupported("add.s64 %d0, %r1, %d2;"),
              HasSubstr("register '%r1' is too narrow"));
  EXPECT_THAT(unsupported("bra NOWHERE;"),
              HasSubstr("label 'NOWHERE' is not defined"));
  EXPECT_THAT(unsupported("mov.u32 %r0, nothing;"),
              HasSubstr("'nothing' is not declared"));
  EXPECT_THAT(
      unsupported("tcgen05.alloc.cta_group::3.sync.aligned.b32 [%d0], 32;"),
      HasSubstr("needs .cta_group::1 or .cta_group::2"));
  EXPECT_THAT(
      unsupported("tcgen05.alloc.cta_group::2.sync.aligned.b32 [%d0], 32; "
                  "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r0, 32;"),
      HasSubstr(
          "has a different .cta_group from an earlier tcgen05 instruction"));
  EXPECT_THAT(unsupported("call foo;"),
              HasSubstr("calls 'foo', which the module does not define"));
  EXPECT_THAT(unsupported("frobnicate.b32 %r0;"),
              HasSubstr("unknown instruction 'frobnicate.b32'"));
}

TEST(Launch, MutatedKernelsNeverCrash) {
  std::string text = gemmKernel();
  uint32_t state = 99;
  auto random = [&](size_t bound) {
    state = state * 1664525u + 1013904223u;
    return size_t(state >> 8) % bound;
  };
  unsigned launched = 0;
  for (int round = 0; round < 150; ++round) {
    std::string mutant = text;
    // Exchange, drop or repeat whole lines: what parses then runs.
    for (int edits = 0; edits < 2; ++edits) {
      size_t a = mutant.find('\n', random(mutant.size())),
             b = mutant.find('\n', random(mutant.size()));
      if (a == std::string::npos || b == std::string::npos)
        continue;
      size_t end = mutant.find('\n', a + 1);
      if (end == std::string::npos)
        continue;
      std::string line = mutant.substr(a, end - a);
      if (random(2))
        mutant.erase(a, end - a);
      else
        mutant.insert(b, line);
    }
    if (!PTXModule::parse(mutant))
      continue;
    Options options;
    options.scheduleSeed = uint64_t(round);
    options.stepLimit = 200000;
    launched += runGemm(mutant, 128, 128, 384, options)
                    .report.statistics.warpInstructions > 0;
  }
  EXPECT_GT(launched, 50u);
}
