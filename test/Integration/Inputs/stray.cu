// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel that stores to address 8: what a failure on the hardware looks like.
// stray.sm_90a.ptx is made of it by
//   nvcc -ptx -arch=sm_90a -std=c++17 -O3 stray.cu
// in this directory.
extern "C" __global__ void stray(void *, void *, void *, void *, void *) {
  *reinterpret_cast<volatile int *>(8) = 1;
}
