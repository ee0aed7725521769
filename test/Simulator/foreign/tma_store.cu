// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two 32x32 f32 tiles a block, staged under swizzle 128B by ordinary stores and
// written by TMA, clipped at the matrix's edges. The staging buffer is used
// twice: wait_group.read before the second use, wait_group at the end.
#include "Asm.cuh"

#include <cuda.h>

extern "C" __global__ void __launch_bounds__(128)
    tma_store(const __grid_constant__ CUtensorMap map, float scale) {
  __shared__ __align__(1024) uint8_t tile[32 * 128];
  for (int pass = 0; pass < 2; ++pass) {
    int x = blockIdx.x * 32, y = (blockIdx.y * 2 + pass) * 32;
    for (int i = threadIdx.x; i < 32 * 8; i += 128) {
      int row = i / 8, column = i % 8 * 4;
      float4 value;
      float base = scale * ((y + row) * 1000 + x + column);
      value.x = base;
      value.y = base + scale;
      value.z = base + 2 * scale;
      value.w = base + 3 * scale;
      *reinterpret_cast<float4 *>(tile + swizzle128(row * 128 + column * 4)) =
          value;
    }
    fenceProxyAsync();
    __syncthreads();
    if (threadIdx.x == 0) {
      tmaStore2D(&map, x, y, tile);
      bulkCommit();
      bulkWaitRead();
    }
    __syncthreads();
  }
  if (threadIdx.x == 0)
    bulkWait();
}
