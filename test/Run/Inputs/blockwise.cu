// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A blockwise-scaled GEMM on Blackwell's tensor cores, 128x64 tiles: one thread
// of warp 4 loads by TMA and issues the MMAs, a fresh accumulator each 128 of
// K; warps 0-3 scale and add up in registers and store to D.
// blockwise.ptx is made of it by
//   nvcc -ptx -arch=sm_100a -std=c++17 -O3 blockwise.cu
// in this directory.
#include "../../Simulator/foreign/Asm.cuh"

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#ifndef OUTPUT
#define OUTPUT __nv_bfloat16
#endif

constexpr int tileM = 128, tileN = 64, tileK = 128, stages = 2;

__device__ inline void convert(float value, float &out) { out = value; }
__device__ inline void convert(float value, __half &out) {
  out = __float2half_rn(value);
}
__device__ inline void convert(float value, __nv_bfloat16 &out) {
  out = __float2bfloat16_rn(value);
}

/// K-major, swizzle 128B: 1024 bytes between groups of 8 rows, version 1.
__device__ inline uint64_t descriptor(const void *tile) {
  return (sharedAddress(tile) & 0x3ffff) >> 4 | uint64_t(1024 >> 4) << 32 |
         uint64_t(1) << 46 | uint64_t(2) << 61;
}

__device__ inline void commit(uint64_t *barrier) {
  asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::"
               "cluster.b64 [%0];" ::"r"(sharedAddress(barrier))
               : "memory");
}

__device__ inline void load8(uint32_t address, float (&value)[8]) {
  uint32_t bits[8];
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, "
               "%5, %6, %7}, [%8];"
               : "=r"(bits[0]), "=r"(bits[1]), "=r"(bits[2]), "=r"(bits[3]),
                 "=r"(bits[4]), "=r"(bits[5]), "=r"(bits[6]), "=r"(bits[7])
               : "r"(address));
  asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
  for (int i = 0; i < 8; ++i)
    value[i] = __uint_as_float(bits[i]);
}

struct Shared {
  uint8_t a[stages][tileM * tileK], b[stages][tileN * tileK];
  uint64_t inputFull[stages], sumFull[stages], sumEmpty[stages];
  uint32_t tensorMemory;
};

__device__ void multiply(Shared &shared, const CUtensorMap &a,
                         const CUtensorMap &b, int blocks) {
  constexpr uint32_t instruction = // f32 = e4m3 * e4m3
      1u << 4 | (tileN / 8) << 17 | (tileM / 16) << 24;
  for (int block = 0; block < blocks; ++block) {
    int stage = block % stages;
    uint32_t parity = block / stages & 1;
    // Epilogue done with the sums: the MMAs are done with the input.
    barrierWait(&shared.sumEmpty[stage], parity ^ 1);
    barrierExpect(&shared.inputFull[stage], (tileM + tileN) * tileK);
    tmaLoad2D(shared.a[stage], &a, block * tileK, blockIdx.y * tileM,
              &shared.inputFull[stage]);
    tmaLoad2D(shared.b[stage], &b, block * tileK, blockIdx.x * tileN,
              &shared.inputFull[stage]);
    barrierWait(&shared.inputFull[stage], parity);
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    for (int k = 0; k < tileK / 32; ++k)
      asm volatile("{\n\t"
                   ".reg .pred p;\n\t"
                   "setp.ne.b32 p, %4, 0;\n\t"
                   "tcgen05.mma.cta_group::1.kind::f8f6f4 [%0], %1, %2, %3, "
                   "p;\n\t"
                   "}" ::"r"(shared.tensorMemory + stage * tileN),
                   "l"(descriptor(shared.a[stage]) + 2 * k),
                   "l"(descriptor(shared.b[stage]) + 2 * k), "r"(instruction),
                   "r"(k)
                   : "memory");
    commit(&shared.sumFull[stage]);
  }
}

extern "C" __global__ void __launch_bounds__(160)
    blockwise(const __grid_constant__ CUtensorMap a, const float *aScale,
              const __grid_constant__ CUtensorMap b, const float *bScale,
              OUTPUT *d, int m, int n, int k, int aScaleStride) {
  extern __shared__ __align__(1024) uint8_t memory[];
  Shared &shared = *reinterpret_cast<Shared *>(memory);
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int blocks = (k + tileK - 1) / tileK;
  if (threadIdx.x == 0) {
    for (int i = 0; i < stages; ++i) {
      barrierInit(&shared.inputFull[i], 1);
      barrierInit(&shared.sumFull[i], 1);
      barrierInit(&shared.sumEmpty[i], 128);
    }
    fenceBarrierInit();
  }
  if (warp == 4) {
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 "
                 "[%0], 128;" ::"r"(sharedAddress(&shared.tensorMemory))
                 : "memory");
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
  }
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");

  if (warp == 4) {
    if (electOne())
      multiply(shared, a, b, blocks);
    __syncwarp();
  } else {
    int row = blockIdx.y * tileM + warp * 32 + lane;
    int column = blockIdx.x * tileN;
    float sums[tileN] = {};
    for (int block = 0; block < blocks; ++block) {
      int stage = block % stages;
      // Both 128-column blocks' scale is the tile's: 64 divides 128.
      float scale = bScale[column / 128 * blocks + block];
      scale *= row < m ? aScale[(size_t)block * aScaleStride + row] : 0;
      barrierWait(&shared.sumFull[stage], block / stages & 1);
      asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
      uint32_t address = shared.tensorMemory + (warp << 21) + stage * tileN;
#pragma unroll
      for (int i = 0; i < tileN; i += 8) {
        float partial[8];
        load8(address + i, partial);
#pragma unroll
        for (int j = 0; j < 8; ++j)
          sums[i + j] = fmaf(scale, partial[j], sums[i + j]);
      }
      asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
      barrierArrive(&shared.sumEmpty[stage]);
    }
#pragma unroll
    for (int i = 0; i < tileN; ++i)
      if (row < m && column + i < n)
        convert(sums[i], d[(size_t)row * n + column + i]);
  }
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  if (warp == 4)
    asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 128;" ::"r"(
        shared.tensorMemory));
}
