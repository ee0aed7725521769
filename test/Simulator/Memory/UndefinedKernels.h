// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels with undefined memory, and what is expected of their reports.

#ifndef FP8_TEST_SIMULATOR_MEMORY_UNDEFINEDKERNELS_H
#define FP8_TEST_SIMULATOR_MEMORY_UNDEFINEDKERNELS_H

#include "Kernels.h"

#include <gmock/gmock.h>

namespace fp8::sim::test {

inline const char *const kMemory =
    ".shared .align 1024 .b8 s[4096];\n.shared .align 8 .b64 bar;\n"
    ".shared .align 8 .b32 slot;\n";

/// One error, of `kind`, at what `message` says, from what `origin` says.
inline void expectOne(const Report &report, ErrorKind kind,
                      const std::string &message, const std::string &origin) {
  ASSERT_EQ(report.errors.size(), 1u) << report.str();
  const SimulationError &e = report.errors[0];
  EXPECT_EQ(e.kind, kind) << e.str();
  EXPECT_THAT(e.message, testing::HasSubstr(message));
  ASSERT_EQ(e.notes.size(), 1u) << e.str();
  EXPECT_THAT(e.notes[0].message, testing::HasSubstr(origin));
  EXPECT_LE(e.notes[0].where.ptxLine, e.where.ptxLine);
}

inline const char *const kStore = "\nst.global.b32 [%o], %r1;\n";

/// Two buffers of 1024 bytes: `in`, of which nothing is written unless
/// `written`, and `out`. %in and %out are their addresses.
inline Report runFromGlobal(const std::string &body, bool written) {
  Device device;
  uint64_t in = *device.allocate("in", 1024, {false, true}),
           out = *device.allocate("out", 1024);
  if (written)
    device.write(in, std::vector<uint8_t>(1024).data(), 1024);
  TensorMap map;
  map.rank = 2;
  map.dims = {64, 8};
  map.box = {64, 4};
  map.strides = {64};
  map.globalAddress = in;
  TensorMap target = map;
  target.globalAddress = out;
  LaunchConfig config;
  config.block = {32, 1, 1};
  return run(device,
             kernel(".param .u64 in, .param .u64 out, .param .align 64 .b8 "
                    "map[128], .param .align 64 .b8 target[128]",
                    R"(
  .reg .pred %p<9>; .reg .b32 %r<60>, %t; .reg .b64 %d<9>, %in, %out, %o;
  ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x;
  mul.wide.u32 %o, %t, 4; add.s64 %o, %o, %out;
  setp.eq.u32 %p0, %t, 0; mov.u32 %r2, s; mov.u32 %r3, bar;
  @%p0 mbarrier.init.shared::cta.b64 [bar], 1;
  @%p0 fence.mbarrier_init.release.cluster; bar.warp.sync -1;
)" + body + "\nret;",
                    "sm_100a", kMemory),
             {KernelArgument::value(in), KernelArgument::value(out),
              KernelArgument::tensorMap(map),
              KernelArgument::tensorMap(target)},
             config);
}

inline const char *const kExpect =
    "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 256;\n";
inline const char *const kWait =
    "L: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0; @!%p1 bra L;\n";

} // namespace fp8::sim::test

#endif // FP8_TEST_SIMULATOR_MEMORY_UNDEFINEDKERNELS_H
