// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Snippets that two CTAs of a cluster run: %r0 is the rank, %r1 the peer's, %r2
// and %r3 the addresses of `s` and of the mbarrier `bar`, %d0 that of the CTA's
// word of the result.

#ifndef FP8_TEST_SIMULATOR_MACHINE_CLUSTERKERNELS_H
#define FP8_TEST_SIMULATOR_MACHINE_CLUSTERKERNELS_H

#include "Kernels.h"

namespace fp8::sim::test {

inline const char *const kShared =
    ".shared .align 128 .b8 s[1024];\n.shared .align 8 .b64 bar;\n";
inline const char *const kPrologue = R"(
  .reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %d<9>;
  mov.u32 %r0, %cluster_ctarank; xor.b32 %r1, %r0, 1; mov.u32 %r2, s; mov.u32 %r3, bar;
  ld.param.u64 %d0, [a]; mul.wide.u32 %d1, %r0, 4; add.s64 %d0, %d0, %d1;
)";
inline const char *const kSync = "barrier.cluster.arrive.release.aligned; "
                                 "barrier.cluster.wait.acquire.aligned;\n";

inline Report runPair(const std::string &body, std::vector<uint32_t> &out,
                      uint64_t seed = 0, const std::string &chip = "sm_90a") {
  Device device;
  std::vector<uint32_t> in(64);
  for (uint32_t i = 0; i < 64; ++i)
    in[i] = 1000 + i;
  uint64_t a = *device.allocate("a", 256), b = *device.allocate("b", 256);
  device.write(b, in.data(), 256);
  LaunchConfig config;
  config.grid = config.cluster = {2, 1, 1};
  Options options;
  options.scheduleSeed = seed;
  Report report = run(
      device,
      kernel(".param .u64 a, .param .u64 b",
             std::string(kPrologue) + body + "ret;", chip, kShared),
      {KernelArgument::value(a), KernelArgument::value(b)}, config, options);
  out.resize(2);
  device.read(a, out.data(), 8);
  return report;
}

inline const char *const kInit = "mbarrier.init.shared::cta.b64 [%r3], 1; "
                                 "fence.mbarrier_init.release.cluster;\n";
inline const char *const kArriveAtPeer =
    "mapa.shared::cluster.u32 %r4, %r3, %r1;\n"
    "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4];\n";
inline const char *const kWait =
    "L: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p0, [%r3], "
    "0; @!%p0 bra L;\n";

} // namespace fp8::sim::test

#endif // FP8_TEST_SIMULATOR_MACHINE_CLUSTERKERNELS_H
