// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Machines and kernels whose times the tests of the cost model ask for.

#ifndef FP8_TEST_TUNING_KERNELS_H
#define FP8_TEST_TUNING_KERNELS_H

#include "fp8/Chip/Chip.h"
#include "fp8/Tuning/CostModel.h"

namespace fp8::tuning {

inline const Machine &h200 = *fp8::chip::lookup("sm_90a")->machine;
inline const Machine &b200 = *fp8::chip::lookup("sm_100a")->machine;

/// A kernel of four stages.
inline KernelShape makeKernel(int64_t tileM, int64_t tileN) {
  KernelShape kernel;
  kernel.config.tileM = tileM;
  kernel.config.tileN = tileN;
  kernel.config.stages = 4;
  return kernel;
}

/// The kernel of a CTA pair.
inline KernelShape makePair(int64_t tileM, int64_t tileN) {
  KernelShape pair = makeKernel(tileM, tileN);
  pair.config.ctaGroup = pair.config.cluster.m = 2;
  return pair;
}

/// A kernel for Hopper.
inline KernelShape warpgroupKernel(int64_t rows, int64_t tileN) {
  KernelShape kernel = makeKernel(rows, tileN);
  kernel.warpgroups = rows == 256 ? 2 : rows / 64;
  kernel.overlaps = rows == 64 && tileN <= 128;
  return kernel;
}

/// Of the launch that the kernel's configuration names.
inline double totalUs(const Problem &problem, const KernelShape &kernel,
                      const Machine &machine = h200) {
  return predict(machine, problem, kernel).total;
}

} // namespace fp8::tuning

#endif // FP8_TEST_TUNING_KERNELS_H
