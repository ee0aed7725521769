// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One tile of D = A.B^T, e4m3 to f32, on CTA pairs: each CTA of a pair loads half
// of A's rows and half of B's, the even CTA issues the MMAs for both. `pairs`
// pairs of a cluster lie side by side along N and share A, of which each loads
// a part and multicasts it. K is a multiple of 128. Descriptors are written out
// from the PTX ISA's tables.
#include "Asm.cuh"

#include <cuda.h>

constexpr int tileK = 128, stages = 2;

__device__ inline uint64_t descriptor(const void *tile) {
  uint64_t bits = (sharedAddress(tile) & 0x3ffff) >> 4;
  bits |= uint64_t(1024 >> 4) << 32; // stride between 8-row groups
  bits |= uint64_t(1) << 46;         // version
  bits |= uint64_t(2) << 61;         // swizzle 128B
  return bits;
}

/// A copy that signals the mbarrier at the same offset in the even CTA of the
/// pair of each CTA that receives it.
__device__ inline void pairLoad2D(void *target, const void *map, int x, int y,
                                  uint64_t *barrier, uint16_t ctas) {
  asm volatile("cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.tile."
               "mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, "
               "%3}], [%4], %5;" ::"r"(sharedAddress(target)),
               "l"(map), "r"(x), "r"(y),
               "r"(sharedAddress(barrier) & 0xfeffffff), "h"(ctas)
               : "memory");
}

__device__ inline void pairCommit(uint64_t *barrier, uint16_t ctas) {
  asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::"
               "cluster.multicast::cluster.b64 [%0], %1;" ::"r"(
                   sharedAddress(barrier)),
               "h"(ctas)
               : "memory");
}

__device__ inline void clusterSync() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

template <int tileM, int tileN, int pairs>
__device__ inline void pairGemm(const CUtensorMap *a, const CUtensorMap *b,
                                float *d, int n, int blocks) {
  constexpr int rowsA = tileM / 2, rowsB = tileN / 2, partA = rowsA / pairs;
  constexpr int bytesA = rowsA * tileK, bytesB = rowsB * tileK;
  extern __shared__ __align__(1024) uint8_t shared[];
  __shared__ __align__(8) uint64_t full[stages], empty[stages], finished;
  __shared__ uint32_t tensorMemory;
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  int half = rank & 1, pair = rank / 2;
  uint8_t *tileA = shared, *tileB = shared + stages * bytesA;
  if (threadIdx.x == 0) {
    for (int i = 0; i < stages; ++i) {
      barrierInit(&full[i], 1);
      barrierInit(&empty[i], pairs);
    }
    barrierInit(&finished, 1);
    fenceBarrierInit();
  }
  // An allocation for the pair needs the other CTA to have started.
  clusterSync();
  if (warp == 2) {
    asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 "
                 "[%0], 128;" ::"r"(sharedAddress(&tensorMemory))
                 : "memory");
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;");
  }
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  clusterSync();
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  uint32_t accumulator = tensorMemory;
  int row = blockIdx.y * tileM + half * rowsA;
  int column = (blockIdx.x / (2 * pairs) * pairs + pair) * tileN;

  if (warp == 0 && electOne()) {
    uint16_t sharers = 0;
    for (int p = 0; p < pairs; ++p)
      sharers |= 1 << (2 * p + half);
    for (int use = 0; use < blocks; ++use) {
      int stage = use % stages;
      barrierWait(&empty[stage], (use / stages & 1) ^ 1);
      if (half == 0)
        barrierExpect(&full[stage], 2 * (bytesA + bytesB));
      int part = pair * partA;
      pairLoad2D(tileA + stage * bytesA + part * tileK, a, use * tileK,
                 row + part, &full[stage], sharers);
      pairLoad2D(tileB + stage * bytesB, b, use * tileK,
                 column + half * rowsB, &full[stage], 1 << rank);
    }
    // The other CTAs' commits arrive here, and a cluster barrier does not wait
    // for them.
    for (int use = blocks; use < blocks + stages; ++use)
      barrierWait(&empty[use % stages], (use / stages & 1) ^ 1);
  } else if (warp == 1 && half == 0 && electOne()) {
    // f32 += e4m3 * e4m3, both K-major
    constexpr uint32_t instruction =
        1u << 4 | (tileN / 8) << 17 | (tileM / 16) << 24;
    constexpr uint16_t all = (1 << 2 * pairs) - 1;
    for (int use = 0; use < blocks; ++use) {
      int stage = use % stages;
      barrierWait(&full[stage], use / stages & 1);
      asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
      for (int k = 0; k < tileK / 32; ++k) {
        uint64_t descA = descriptor(tileA + stage * bytesA) + 2 * k;
        uint64_t descB = descriptor(tileB + stage * bytesB) + 2 * k;
        asm volatile("{\n\t"
                     ".reg .pred p;\n\t"
                     "setp.ne.b32 p, %4, 0;\n\t"
                     "tcgen05.mma.cta_group::2.kind::f8f6f4 [%0], %1, %2, %3, "
                     "p;\n\t"
                     "}" ::"r"(accumulator),
                     "l"(descA), "l"(descB), "r"(instruction),
                     "r"(use + k > 0 ? 1 : 0)
                     : "memory");
      }
      pairCommit(&empty[stage], all);
    }
    pairCommit(&finished, 3 << (2 * pair));
  }
  __syncwarp();

  barrierWait(&finished, 0);
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  // With M 128, lanes 64 to 127 hold the right half of N.
  constexpr int columns = tileM == 128 ? tileN / 2 : tileN;
  float *out = d + (row + (tileM == 128 ? warp % 2 : warp) * 32 + lane) * n +
               column + (tileM == 128 ? warp / 2 * columns : 0);
  for (int c = 0; c < columns; c += 8) {
    uint32_t value[8];
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, "
                 "%5, %6, %7}, [%8];"
                 : "=r"(value[0]), "=r"(value[1]), "=r"(value[2]),
                   "=r"(value[3]), "=r"(value[4]), "=r"(value[5]),
                   "=r"(value[6]), "=r"(value[7])
                 : "r"(accumulator + (warp << 21) + c));
    asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
    for (int i = 0; i < 8; ++i)
      out[c + i] = __uint_as_float(value[i]);
  }
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  clusterSync();
  if (warp == 2) {
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, 128;" ::"r"(
        accumulator));
  }
}
