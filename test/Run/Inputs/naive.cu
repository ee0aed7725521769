// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The blockwise-scaled GEMM without any art: one thread an element of D.
// naive.ptx is made of it by
//   nvcc -ptx -arch=sm_100a -std=c++17 -O3 -lineinfo naive.cu
// in this directory, and taking the directories out of its .file lines.
#include <cuda_bf16.h>
#include <cuda_fp8.h>

extern "C" __global__ void __launch_bounds__(128)
    naive(const __nv_fp8_e4m3 *a, const float *aScale, const __nv_fp8_e4m3 *b,
          const float *bScale, __nv_bfloat16 *d, int m, int n, int k,
          int aScaleStride, int dStride) {
  int row = blockIdx.y * 4 + threadIdx.x / 32;
  int column = blockIdx.x * 32 + threadIdx.x % 32;
  if (row >= m || column >= n)
    return;
  int blocks = (k + 127) / 128;
  float sum = 0;
  for (int block = 0; block < blocks; ++block) {
    float partial = 0;
    int end = min(k, (block + 1) * 128);
#pragma unroll 1
    for (int i = block * 128; i < end; ++i)
      partial += float(a[(long long)row * k + i]) *
                 float(b[(long long)column * k + i]);
    float scale = aScale[(long long)block * aScaleStride + row] *
                  bScale[column / 128 * blocks + block];
    sum = fmaf(scale, partial, sum);
  }
  d[(long long)row * dStride + column] = __float2bfloat16(sum);
}
