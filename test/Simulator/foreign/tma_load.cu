// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TMA load of a 64x64 tile of 16-bit elements under swizzle 128B, clipped at the
// matrix's edges, written back unswizzled by ordinary stores.
#include "Asm.cuh"

#include <cuda.h>

extern "C" __global__ void __launch_bounds__(128)
    tma_load(const __grid_constant__ CUtensorMap map, uint16_t *out) {
  __shared__ __align__(1024) uint8_t tile[64 * 128];
  __shared__ __align__(8) uint64_t full;
  if (threadIdx.x == 0) {
    barrierInit(&full, 1);
    fenceBarrierInit();
  }
  __syncthreads();
  if (threadIdx.x < 32 && electOne()) {
    barrierExpect(&full, sizeof(tile));
    tmaLoad2D(tile, &map, blockIdx.x * 64, blockIdx.y * 64, &full);
  }
  barrierWait(&full, 0);
  // out: one 64x64 tile a block, row-major, zeros where clipped.
  uint16_t *target =
      out + (blockIdx.y * gridDim.x + blockIdx.x) * (64 * 64);
  for (int i = threadIdx.x; i < 64 * 64; i += 128) {
    uint32_t offset = (i / 64) * 128 + (i % 64) * 2;
    target[i] = *reinterpret_cast<uint16_t *>(tile + swizzle128(offset));
  }
}
