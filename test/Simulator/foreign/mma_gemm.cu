// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// D = A B^T as Ampere's kernels compute it: cp.async into shared memory,
// ldmatrix, mma.sync. One warp makes 32 x 32 of D. f16, or e4m3.
#include <cstdint>

__device__ void load(uint8_t *to, const uint8_t *from, int pitch) {
  // 32 rows of 64 bytes, 16 at a time.
  for (int at = threadIdx.x; at < 32 * 4; at += 32) {
    uint32_t target = uint32_t(__cvta_generic_to_shared(to)) + at * 16;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(target),
                 "l"(from + at / 4 * pitch + at % 4 * 16));
  }
  asm volatile("cp.async.commit_group;");
}

__device__ void fragments(uint32_t (&to)[4], const uint8_t *at) {
  uint32_t address = uint32_t(__cvta_generic_to_shared(at));
  asm volatile(
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
      : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
      : "r"(address));
}

template <bool Float8>
__device__ void multiply(float (&d)[4], const uint32_t (&a)[4], uint32_t b0,
                         uint32_t b1) {
  if (Float8)
    asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0),
                   "r"(b1));
  else
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0),
                   "r"(b1));
}

/// `bytes`: of a row of A and B, a multiple of 64.
template <bool Float8>
__device__ void gemm(const uint8_t *a, const uint8_t *b, float *d, int n,
                     int bytes) {
  __shared__ __align__(128) uint8_t aTile[32 * 64], bTile[32 * 64];
  a += blockIdx.y * 32 * bytes;
  b += blockIdx.x * 32 * bytes;
  float sums[2][4][4] = {};
  int lane = threadIdx.x;
  for (int k = 0; k < bytes; k += 64) {
    load(aTile, a + k, bytes);
    load(bTile, b + k, bytes);
    asm volatile("cp.async.wait_group 0;");
    __syncwarp();
    for (int step = 0; step < 64; step += 32) {
      uint32_t aParts[2][4], bParts[2][4];
      // Tiles of A: rows 0 to 7, 8 to 15, and the same 16 bytes on; of B: 16
      // bytes on first.
      for (int half = 0; half < 2; ++half) {
        fragments(aParts[half],
                  aTile + (half * 16 + lane % 16) * 64 + step + lane / 16 * 16);
        fragments(bParts[half],
                  bTile + (half * 16 + lane / 16 * 8 + lane % 8) * 64 + step +
                      lane / 8 % 2 * 16);
      }
      for (int row = 0; row < 2; ++row)
        for (int column = 0; column < 4; ++column)
          multiply<Float8>(sums[row][column], aParts[row],
                           bParts[column / 2][column % 2 * 2],
                           bParts[column / 2][column % 2 * 2 + 1]);
    }
    __syncwarp();
  }
  for (int row = 0; row < 2; ++row)
    for (int column = 0; column < 4; ++column)
      for (int i = 0; i < 4; ++i)
        d[(blockIdx.y * 32 + row * 16 + lane / 4 + i / 2 * 8) * n +
          blockIdx.x * 32 + column * 8 + lane % 4 * 2 + i % 2] =
            sums[row][column][i];
}

extern "C" __global__ void mma_gemm(const uint8_t *a, const uint8_t *b,
                                    float *d, int n, int bytes, int float8) {
  if (float8)
    gemm<true>(a, b, d, n, bytes);
  else
    gemm<false>(a, b, d, n, bytes);
}
