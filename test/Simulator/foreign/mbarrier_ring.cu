// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A ring of shared-memory stages between a producing and a consuming warp: full
// and empty mbarriers, data by ordinary stores. out[i] = 3 * in[i] + 1.
#include "Asm.cuh"

constexpr int stages = 3;

extern "C" __global__ void __launch_bounds__(64)
    mbarrier_ring(const int *in, int *out, int chunks) {
  __shared__ int ring[stages][32];
  __shared__ __align__(8) uint64_t full[stages], empty[stages];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (int i = 0; i < stages; ++i) {
      barrierInit(&full[i], 32);
      barrierInit(&empty[i], 1);
    }
    fenceBarrierInit();
  }
  __syncthreads();
  int stage = 0;
  uint32_t parity = 0;
  for (int chunk = 0; chunk < chunks; ++chunk) {
    int at = (blockIdx.x * chunks + chunk) * 32 + lane;
    if (warp == 0) {
      barrierWait(&empty[stage], parity ^ 1);
      ring[stage][lane] = in[at];
      barrierArrive(&full[stage]);
    } else {
      barrierWait(&full[stage], parity);
      // Reversed: each lane reads what another one wrote.
      int value = ring[stage][31 - lane];
      out[at + 31 - 2 * lane] = 3 * value + 1;
      __syncwarp();
      if (lane == 0)
        barrierArrive(&empty[stage]);
    }
    if (++stage == stages) {
      stage = 0;
      parity ^= 1;
    }
  }
}
