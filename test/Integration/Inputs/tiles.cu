// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The blockwise-scaled GEMM with operands that come by TMA, for Hopper and later:
// a cluster of two blocks shares a tile of A, half of which each block copies to
// both; every block has 32 columns of D. It shows that tensor maps, swizzle,
// clusters, multicast and shared memory above 48 KiB reach the hardware as the
// manifest says. tiles.sm_90a.ptx is made of it by
//   nvcc -ptx -arch=sm_90a -std=c++17 -O3 tiles.cu
// in this directory.
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>

constexpr int tileM = 64, tileN = 32, tileK = 128, halfM = tileM / 2;

__device__ unsigned shared32(const void *pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ void clusterBarrier() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n"
               "barrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
}

__device__ void copyTile(void *to, const CUtensorMap *map, int column, int row,
                         unsigned barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::"
               "complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
                   shared32(to)),
               "l"(map), "r"(column), "r"(row), "r"(barrier)
               : "memory");
}

__device__ void copyTileToBoth(void *to, const CUtensorMap *map, int column,
                               int row, unsigned barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::"
               "complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], "
               "[%4], %5;" ::"r"(shared32(to)),
               "l"(map), "r"(column), "r"(row), "r"(barrier),
               "h"(static_cast<unsigned short>(3))
               : "memory");
}

/// Swizzle 128B: bits 4 to 6 of the offset, exclusive or bits 7 to 9.
__device__ float element(const unsigned char *tile, int row, int column) {
  int offset = row * tileK + column;
  __nv_fp8_e4m3 value;
  value.__x = tile[offset ^ (offset >> 3 & 0x70)];
  return float(value);
}

extern "C" __global__ void __launch_bounds__(128) __cluster_dims__(2, 1, 1)
    tiles(const __grid_constant__ CUtensorMap aMap, const float *aScale,
          const __grid_constant__ CUtensorMap bMap, const float *bScale,
          __nv_bfloat16 *d, int m, int n, int k, int aScaleStride) {
  extern __shared__ __align__(1024) unsigned char memory[];
  __shared__ unsigned long long filled;
  unsigned char *a = memory, *b = memory + tileM * tileK;
  int rank = blockIdx.x % 2, blocks = (k + tileK - 1) / tileK;
  int firstRow = blockIdx.y * tileM, firstColumn = blockIdx.x * tileN;
  unsigned barrier = shared32(&filled);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n"
                 "fence.mbarrier_init.release.cluster;" ::"r"(barrier)
                 : "memory");
  }
  clusterBarrier();

  // A thread has a column and 16 rows of D.
  int column = threadIdx.x % 32, rowGroup = threadIdx.x / 32;
  float sums[tileM / 4] = {};
  for (int block = 0; block < blocks; ++block) {
    if (threadIdx.x == 0) {
      asm volatile(
          "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
              barrier),
          "r"((tileM + tileN) * tileK)
          : "memory");
      copyTileToBoth(a + rank * halfM * tileK, &aMap, block * tileK,
                     firstRow + rank * halfM, barrier);
      copyTile(b, &bMap, block * tileK, firstColumn, barrier);
    }
    asm volatile("{\n.reg .pred done;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra again;\n}" ::"r"(barrier),
                 "r"(block & 1)
                 : "memory");
    float bFactor =
        firstColumn + column < n
            ? bScale[(firstColumn + column) / 128 * blocks + block]
            : 0;
    for (int i = 0; i < tileM / 4; ++i) {
      int row = i * 4 + rowGroup;
      float partial = 0;
      for (int x = 0; x < tileK; ++x)
        partial += element(a, row, x) * element(b, column, x);
      if (firstRow + row < m)
        sums[i] = fmaf(aScale[block * aScaleStride + firstRow + row] * bFactor,
                       partial, sums[i]);
    }
    // Both blocks have read the tiles before either copies over them.
    clusterBarrier();
  }
  for (int i = 0; i < tileM / 4; ++i) {
    int row = firstRow + i * 4 + rowGroup;
    if (row < m && firstColumn + column < n)
      d[(long long)row * n + firstColumn + column] = __float2bfloat16(sums[i]);
  }
}
