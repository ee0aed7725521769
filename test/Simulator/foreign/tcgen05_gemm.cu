// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One 128x64 tile of D = A.B^T, e4m3 to f32, on Blackwell's tensor cores: warp 0
// loads by TMA and issues the MMAs, all four warps read tensor memory. K is a
// multiple of 128. Instruction and shared-memory descriptors are written out
// from the PTX ISA's tables.
#include "Asm.cuh"

#include <cuda.h>

constexpr int tileM = 128, tileN = 64, tileK = 128, stages = 2;

__device__ inline uint64_t descriptor(const void *tile) {
  uint64_t bits = (sharedAddress(tile) & 0x3ffff) >> 4;
  bits |= uint64_t(1024 >> 4) << 32; // stride between 8-row groups
  bits |= uint64_t(1) << 46;         // version
  bits |= uint64_t(2) << 61;         // swizzle 128B
  return bits;
}

extern "C" __global__ void __launch_bounds__(128)
    tcgen05_gemm(const __grid_constant__ CUtensorMap a,
                 const __grid_constant__ CUtensorMap b, float *d, int n,
                 int blocks) {
  extern __shared__ __align__(1024) uint8_t shared[];
  uint8_t *tileA = shared, *tileB = shared + stages * tileM * tileK;
  __shared__ __align__(8) uint64_t full[stages], empty[stages], finished;
  __shared__ uint32_t tensorMemory;
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (int i = 0; i < stages; ++i) {
      barrierInit(&full[i], 1);
      barrierInit(&empty[i], 1);
    }
    barrierInit(&finished, 1);
    fenceBarrierInit();
  }
  if (warp == 0) {
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 "
                 "[%0], 64;" ::"r"(sharedAddress(&tensorMemory))
                 : "memory");
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
  }
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  uint32_t accumulator = tensorMemory;

  if (warp == 0 && electOne()) {
    // f32 += e4m3 * e4m3, both K-major
    constexpr uint32_t instruction =
        1u << 4 | (tileN / 8) << 17 | (tileM / 16) << 24;
    for (int issue = 0, use = 0; use < blocks; ++use) {
      for (; issue < blocks && issue < use + stages; ++issue) {
        int stage = issue % stages;
        barrierWait(&empty[stage], (issue / stages & 1) ^ 1);
        barrierExpect(&full[stage], (tileM + tileN) * tileK);
        tmaLoad2D(tileA + stage * tileM * tileK, &a, issue * tileK,
                  blockIdx.y * tileM, &full[stage]);
        tmaLoad2D(tileB + stage * tileN * tileK, &b, issue * tileK,
                  blockIdx.x * tileN, &full[stage]);
      }
      int stage = use % stages;
      barrierWait(&full[stage], use / stages & 1);
      for (int k = 0; k < tileK / 32; ++k) {
        uint64_t descA = descriptor(tileA + stage * tileM * tileK) + 2 * k;
        uint64_t descB = descriptor(tileB + stage * tileN * tileK) + 2 * k;
        asm volatile("{\n\t"
                     ".reg .pred p;\n\t"
                     "setp.ne.b32 p, %4, 0;\n\t"
                     "tcgen05.mma.cta_group::1.kind::f8f6f4 [%0], %1, %2, %3, "
                     "p;\n\t"
                     "}" ::"r"(accumulator),
                     "l"(descA), "l"(descB), "r"(instruction),
                     "r"(use + k > 0 ? 1 : 0)
                     : "memory");
      }
      asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::"
                   "cluster.b64 [%0];" ::"r"(sharedAddress(&empty[stage]))
                   : "memory");
    }
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::"
                 "cluster.b64 [%0];" ::"r"(sharedAddress(&finished))
                 : "memory");
  }
  __syncwarp();

  barrierWait(&finished, 0);
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  float *row = d + (blockIdx.y * tileM + warp * 32 + lane) * n +
               blockIdx.x * tileN;
  for (int column = 0; column < tileN; column += 8) {
    uint32_t value[8];
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, "
                 "%5, %6, %7}, [%8];"
                 : "=r"(value[0]), "=r"(value[1]), "=r"(value[2]),
                   "=r"(value[3]), "=r"(value[4]), "=r"(value[5]),
                   "=r"(value[6]), "=r"(value[7])
                 : "r"(accumulator + (warp << 21) + column));
    asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
    for (int i = 0; i < 8; ++i)
      row[column + i] = __uint_as_float(value[i]);
  }
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  if (warp == 0) {
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 64;" ::"r"(
        accumulator));
  }
}
