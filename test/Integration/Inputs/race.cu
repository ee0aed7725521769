// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two warps that read what the other one writes, without waiting for it: what compute-sanitizer's racecheck must find.
// race.sm_90a.ptx is made of it by
//   nvcc -ptx -arch=sm_90a -std=c++17 -O3 race.cu
// in this directory.
extern "C" __global__ void race(int *out) {
  __shared__ volatile int words[64];
  words[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = words[63 - threadIdx.x];
}
