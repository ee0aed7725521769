// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parts of kernels with an mbarrier at the start of shared memory.
#ifndef FP8_TEST_SIMULATOR_ISA_SYNC_BARRIERKERNELS_H
#define FP8_TEST_SIMULATOR_ISA_SYNC_BARRIERKERNELS_H

#include "Kernels.h"

namespace fp8::sim::test {

inline const char *const kShared = ".shared .align 16 .b8 s[1024];\n";

/// %p0: thread 0 of the CTA initialises the mbarrier at s+0 with `count`; all
/// pass bar.sync.
inline std::string init(unsigned count) {
  return "setp.eq.u32 %p0, %t, 0; mov.u32 %r50, s;\n@%p0 "
         "mbarrier.init.shared::cta.b64 [%r50], " +
         std::to_string(count) +
         ";\n@%p0 fence.mbarrier_init.release.cluster;\nbar.sync 0;\n";
}

/// Waits for the phase of that parity of the mbarrier at s+0.
inline std::string wait(const std::string &label, unsigned parity) {
  return label + ": mbarrier.try_wait.parity.shared::cta.b64 %p8, [%r50], " +
         std::to_string(parity) + ";\n@!%p8 bra " + label + ";\n";
}

/// What the simulator reports of one CTA that executes `body`.
inline Report reportOf(const std::string &body, uint32_t threads = 32,
                       Options options = {}) {
  Report report;
  compute(body, threads, threads, kShared, &report, options);
  return report;
}

} // namespace fp8::sim::test

#endif // FP8_TEST_SIMULATOR_ISA_SYNC_BARRIERKERNELS_H
