// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a programmatic launch asks of a kernel: global memory and tensor memory
// behind griddepcontrol.wait, tensor memory before
// griddepcontrol.launch_dependents.

#include "Kernels.h"

using namespace fp8::sim;
using namespace fp8::sim::test;

namespace {

constexpr char kRegisters[] = R"(
  .reg .pred %p<4>;
  .reg .b32 %r<8>;
  .reg .b64 %d<4>;
  ld.param.u64 %d0, [out];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %d1, %r0, 4;
  add.s64 %d2, %d0, %d1;
)";

/// Runs `body` in 64 threads with a buffer of a word each at %d0; %d2 is the
/// thread's.
Report runEarly(const std::string &body, bool programmatic = true) {
  Device device;
  uint64_t address = *device.allocate("out", 64 * 4);
  std::vector<uint32_t> words(64);
  device.write(address, words.data(), 64 * 4);
  LaunchConfig config;
  config.block = {64, 1, 1};
  config.programmatic = programmatic;
  return run(device,
             kernel(".param .u64 out", kRegisters + body + "\n  ret;",
                    "sm_100a", ".shared .align 16 .b8 slot[48];\n"),
             {KernelArgument::value(address)}, config);
}

} // namespace

TEST(ProgrammaticLaunch, AccessesStandBehindTheWait) {
  for (const char *access :
       {"ld.global.u32 %r1, [%d2];", "st.global.u32 [%d2], %r0;",
        "ld.u32 %r1, [%d2];", "red.global.add.u32 [%d2], %r0;",
        "ld.global.nc.u32 %r1, [%d2];"}) {
    std::string wait = "griddepcontrol.wait;\n";
    EXPECT_TRUE(runEarly(wait + access).ok()) << access;
    Report early = runEarly(access + ("\n" + wait));
    EXPECT_TRUE(has(early, ErrorKind::EarlyAccess)) << access;
    EXPECT_TRUE(runEarly(access, /*programmatic=*/false).ok()) << access;
  }
  EXPECT_NE(
      runEarly("ld.global.u32 %r1, [%d2];")
          .str()
          .find(
              "'ld.global.u32' accesses global memory, which the preceding "
              "kernel may still read or write, since the launch is "
              "programmatic; execute griddepcontrol.wait first [early-access]"),
      std::string::npos);
}

TEST(ProgrammaticLaunch, AMissingWaitIsReportedOnce) {
  Report report = runEarly("ld.global.u32 %r1, [%d2];\n"
                           "st.global.u32 [%d2], %r1;\n"
                           "st.global.u32 [%d2], %r0;\n");
  EXPECT_EQ(report.errors.size(), 1u) << report.str();
}

TEST(ProgrammaticLaunch, SharedMemoryAndParametersAreTheKernelsOwn) {
  Report report = runEarly(R"(
  mov.u32 %r1, slot;
  st.shared.u32 [%r1], 0;
  ld.param.u64 %d3, [out];
  prefetch.global.L2 [%d2];
)");
  EXPECT_TRUE(report.ok()) << report.str();
}

TEST(ProgrammaticLaunch, EachWarpWaitsOrIsOrderedBehindOneThatDoes) {
  // The second warp does not wait.
  const std::string oneWarp = R"(
  setp.ge.u32 %p0, %r0, 32;
  @%p0 bra other;
  griddepcontrol.wait;
other:
)";
  EXPECT_TRUE(has(runEarly(oneWarp + "st.global.u32 [%d2], %r0;"),
                  ErrorKind::EarlyAccess));
  Report ordered = runEarly(oneWarp + "bar.sync 0;\nst.global.u32 [%d2], %r0;");
  EXPECT_TRUE(ordered.ok()) << ordered.str();
  // Nor does the second lane.
  const std::string oneLane = R"(
  and.b32 %r1, %r0, 31;
  setp.ne.u32 %p0, %r1, 0;
  @%p0 bra other;
  griddepcontrol.wait;
other:
)";
  EXPECT_TRUE(has(runEarly(oneLane + "@%p0 st.global.u32 [%d2], %r0;"),
                  ErrorKind::EarlyAccess));
  Report met =
      runEarly(oneLane + "bar.warp.sync -1;\n@%p0 st.global.u32 [%d2], %r0;");
  EXPECT_TRUE(met.ok()) << met.str();
}

TEST(ProgrammaticLaunch, WhatACopyBehindTheWaitBringsIsBehindItToo) {
  // One thread waits and copies; the other warp learns of the copy alone.
  const std::string body = R"(
  mov.u32 %r1, slot; add.u32 %r2, %r1, 32;
  setp.eq.u32 %p0, %r0, 0; setp.ge.u32 %p1, %r0, 32;
  @%p0 mbarrier.init.shared::cta.b64 [%r2], 1;
  @%p0 fence.mbarrier_init.release.cluster;
  bar.sync 0;
  @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 16;
  @%p0 griddepcontrol.wait;
  @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d0], 16, [%r2];
W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;
  @!%p2 bra W;
  @%p1 st.global.u32 [%d2], %r0;
)";
  Report report = runEarly(body);
  EXPECT_TRUE(report.ok()) << report.str();
  EXPECT_TRUE(has(runEarly(replaced(body, "  @%p0 griddepcontrol.wait;\n", "")),
                  ErrorKind::EarlyAccess));
}

TEST(ProgrammaticLaunch, TensorMemoryIsAllocatedBetweenWaitAndSignal) {
  const std::string wait = "griddepcontrol.wait;\n",
                    signal = "griddepcontrol.launch_dependents;\n",
                    meet = "bar.sync 0;\n";
  auto allocate = [](const std::string &behind) {
    return R"(
  mov.u32 %r1, slot;
  setp.ge.u32 %p0, %r0, 32;
  @%p0 bra skip;
  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 32;
  ld.shared.u32 %r2, [%r1];
)" + behind +
           R"(
  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, 32;
skip:
)";
  };
  for (const std::string &right :
       {wait + allocate(signal), wait + allocate("") + meet + signal}) {
    Report report = runEarly(right);
    EXPECT_TRUE(report.ok()) << report.str();
  }
  Report before = runEarly(allocate("") + wait);
  EXPECT_TRUE(before.ok() && before.warnings.size() == 1);
  std::string early = before.str();
  EXPECT_NE(early.find("allocate after griddepcontrol.wait "
                       "[tensor-memory-allocation]"),
            std::string::npos)
      << early;
  // The other warp does not allocate, and is the first to signal.
  for (const std::string &wrong :
       {wait + signal + meet + allocate(""), wait + allocate("") + signal}) {
    std::string late = runEarly(wrong).str();
    EXPECT_NE(late.find("allocate before griddepcontrol.launch_dependents "
                        "[tensor-memory-allocation]"),
              std::string::npos)
        << late;
    EXPECT_NE(late.find("note: the dependent kernel may start from here on"),
              std::string::npos);
  }
  EXPECT_TRUE(
      runEarly(signal + meet + allocate(""), /*programmatic=*/false).ok());
}
