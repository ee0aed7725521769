// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Half a warp at a barrier that counts whole warps (PTX ISA, bar.sync: all threads of the warp must execute the same instruction): what
// compute-sanitizer's synccheck must find. divergent.sm_90a.ptx is made of it by
//   nvcc -ptx -arch=sm_90a -std=c++17 -O3 divergent.cu
// in this directory.
extern "C" __global__ void divergent(int *out) {
  if (threadIdx.x % 32 < 16)
    __syncthreads();
  out[threadIdx.x] = 1;
}
