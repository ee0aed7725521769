// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two CTA pairs of a cluster, each with a 256x128 tile; they multicast A.
#include "pair_gemm.cuh"

extern "C" __global__ void __cluster_dims__(4) __launch_bounds__(128)
    pair_gemm(const __grid_constant__ CUtensorMap a,
              const __grid_constant__ CUtensorMap b, float *d, int n,
              int blocks) {
  pairGemm<256, 128, 2>(&a, &b, d, n, blocks);
}
