// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// D = A.B^T, e4m3 to f32, warp-specialised for sm_90a: a warpgroup that loads
// by TMA and two that compute, 64 of the 128 rows of a 128x64 tile each. They
// keep one wgmma group in flight, and give a stage back when the next one's
// products are under way. The loading warpgroup gives registers to the others.
#include "Asm.cuh"

#include <cuda.h>

constexpr int kStages = 3, kRowsA = 128, kRowsB = 64, kBlock = 128;
constexpr int kStageBytes = (kRowsA + kRowsB) * kBlock;

__device__ inline void wgmmaFence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ inline void wgmmaCommit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int N>
__device__ inline void wgmmaWait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}

/// K-major tile of 128-byte rows under swizzle 128B: 8 rows are 1024 bytes.
__device__ inline uint64_t descriptor(uint32_t address) {
  return uint64_t(1) << 62 | uint64_t(1024 >> 4) << 32 | uint64_t(1) << 16 |
         (address & 0x3ffff) >> 4;
}

__device__ inline void wgmma(float (&d)[32], uint64_t a, uint64_t b,
                             int accumulate) {
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %34, 0;\n\t"
               "wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3 {"
               "%0, %1, %2, %3, %4, %5, %6, %7, "
               "%8, %9, %10, %11, %12, %13, %14, %15, "
               "%16, %17, %18, %19, %20, %21, %22, %23, "
               "%24, %25, %26, %27, %28, %29, %30, %31"
               "}, %32, %33, p, 1, 1;\n\t}"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]),
                 "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]),
                 "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
                 "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]),
                 "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]),
                 "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]),
                 "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]),
                 "+f"(d[30]), "+f"(d[31])
               : "l"(a), "l"(b), "r"(accumulate)
               : "memory");
}

__device__ inline void load(const void *mapA, const void *mapB, uint8_t *shared,
                            uint64_t *full, uint64_t *empty, int blocks) {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
  if (threadIdx.x != 0)
    return;
  asm volatile("prefetch.tensormap [%0];" ::"l"(mapA) : "memory");
  asm volatile("griddepcontrol.wait;" ::: "memory");
#pragma unroll 1
  for (int block = 0; block < blocks; ++block) {
    int stage = block % kStages;
    barrierWait(empty + stage, block / kStages % 2 ^ 1);
    barrierExpect(full + stage, kStageBytes);
    uint8_t *tile = shared + stage * kStageBytes;
    tmaLoad2D(tile, mapA, block * kBlock, blockIdx.y * kRowsA, full + stage);
    tmaLoad2D(tile + kRowsA * kBlock, mapB, block * kBlock, blockIdx.x * kRowsB,
              full + stage);
  }
}

__device__ inline void compute(float *d, int n, uint8_t *shared, uint64_t *full,
                               uint64_t *empty, int blocks) {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  int group = threadIdx.x / 128 - 1, thread = threadIdx.x % 128;
  float sum[32];
#pragma unroll
  for (int i = 0; i < 32; ++i)
    sum[i] = 0;
#pragma unroll 1
  for (int block = 0; block < blocks; ++block) {
    int stage = block % kStages;
    barrierWait(full + stage, block / kStages % 2);
    uint32_t tile = sharedAddress(shared + stage * kStageBytes);
    uint64_t a = descriptor(tile + group * 64 * kBlock),
             b = descriptor(tile + kRowsA * kBlock);
    wgmmaFence();
#pragma unroll
    for (int k = 0; k < 4; ++k)
      wgmma(sum, a + 2 * k, b + 2 * k, 1);
    wgmmaCommit();
    wgmmaWait<1>(); // the block before
    if (block > 0 && thread == 0)
      barrierArrive(empty + (block - 1) % kStages);
  }
  wgmmaWait<0>(); // the last
  asm volatile("griddepcontrol.launch_dependents;");
  int row =
      blockIdx.y * kRowsA + group * 64 + thread / 32 * 16 + thread % 32 / 4;
  float *target = d + row * n + blockIdx.x * kRowsB + thread % 4 * 2;
#pragma unroll
  for (int i = 0; i < 32; i += 2)
    *reinterpret_cast<float2 *>(target + i / 4 * 8 + i % 4 / 2 * 8 * n) =
        make_float2(sum[i], sum[i + 1]);
}

extern "C" __global__ void __launch_bounds__(384, 1)
    wgmma_gemm(const __grid_constant__ CUtensorMap mapA,
               const __grid_constant__ CUtensorMap mapB, float *d, int n,
               int blocks) {
  extern __shared__ __align__(1024) uint8_t shared[];
  __shared__ __align__(8) uint64_t full[kStages], empty[kStages];
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      barrierInit(full + stage, 1);
      barrierInit(empty + stage, 2);
    }
    fenceBarrierInit();
  }
  __syncthreads();
  if (threadIdx.x < 128)
    load(&mapA, &mapB, shared, full, empty, blocks);
  else
    compute(d, n, shared, full, empty, blocks);
}
