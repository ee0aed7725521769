// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One CTA pair with a 128x96 tile: the accumulator is folded, N/2 columns wide.
#include "pair_gemm.cuh"

extern "C" __global__ void __cluster_dims__(2) __launch_bounds__(128)
    pair_gemm_m128(const __grid_constant__ CUtensorMap a,
                   const __grid_constant__ CUtensorMap b, float *d, int n,
                   int blocks) {
  pairGemm<128, 96, 1>(&a, &b, d, n, blocks);
}
