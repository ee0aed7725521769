// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inline PTX that the CUDA sources here share (PTX ISA 8.8, sections "Parallel
// Synchronization and Communication Instructions" and "TensorCore 5th
// Generation Family Instructions").
#pragma once

#include <cstdint>

__device__ inline uint32_t sharedAddress(const void *pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ inline void barrierInit(uint64_t *barrier, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(
                   sharedAddress(barrier)),
               "r"(count)
               : "memory");
}

__device__ inline void fenceBarrierInit() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ inline void barrierArrive(uint64_t *barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(
                   sharedAddress(barrier))
               : "memory");
}

__device__ inline void barrierExpect(uint64_t *barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                   sharedAddress(barrier)),
               "r"(bytes)
               : "memory");
}

__device__ inline void barrierWait(uint64_t *barrier, uint32_t parity) {
  uint32_t done = 0;
  while (!done)
    asm volatile("{\n\t"
                 ".reg .pred p;\n\t"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
                 "selp.u32 %0, 1, 0, p;\n\t"
                 "}"
                 : "=r"(done)
                 : "r"(sharedAddress(barrier)), "r"(parity)
                 : "memory");
}

/// One lane of a converged warp.
__device__ inline bool electOne() {
  uint32_t elected = 0;
  asm volatile("{\n\t"
               ".reg .pred p;\n\t"
               "elect.sync _|p, 0xffffffff;\n\t"
               "selp.u32 %0, 1, 0, p;\n\t"
               "}"
               : "=r"(elected));
  return elected;
}

__device__ inline void tmaLoad2D(void *target, const void *map, int x, int y,
                                 uint64_t *barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile."
               "mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
                   sharedAddress(target)),
               "l"(map), "r"(x), "r"(y), "r"(sharedAddress(barrier))
               : "memory");
}

__device__ inline void tmaStore2D(const void *map, int x, int y,
                                  const void *source) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, "
      "%2}], [%3];" ::"l"(map),
      "r"(x), "r"(y), "r"(sharedAddress(source))
      : "memory");
}

__device__ inline void bulkCommit() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
__device__ inline void bulkWaitRead() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
__device__ inline void bulkWait() {
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
__device__ inline void fenceProxyAsync() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// The place of a 16-byte unit in a tile of 128-byte rows under swizzle 128B:
/// address bits [4,7) XOR [7,10), for a tile aligned to 1024 bytes.
__device__ inline uint32_t swizzle128(uint32_t offset) {
  return offset ^ ((offset >> 3) & 0x70);
}
