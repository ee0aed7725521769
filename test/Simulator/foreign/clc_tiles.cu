// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles handed out by cluster launch control: in each cluster of two CTAs a
// scheduler warp asks for clusters that have not started, two requests ahead;
// the responses go to both CTAs. Each tile's visits are counted, and who made
// them.
#include "Asm.cuh"

constexpr int slots = 2;

__device__ inline uint32_t remoteAddress(const void *pointer, uint32_t rank) {
  uint32_t address;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(address)
               : "r"(sharedAddress(pointer)), "r"(rank));
  return address;
}

__device__ inline void clusterSync() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/// The first CTA of the cluster taken over, or -1.
__device__ inline int taken(const void *response) {
  int x;
  asm volatile("{\n\t"
               ".reg .pred p;\n\t"
               ".reg .b128 r;\n\t"
               "ld.shared.b128 r, [%1];\n\t"
               "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, r;\n\t"
               "mov.b32 %0, -1;\n\t"
               "@p clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 "
               "{%0, _, _, _}, r;\n\t"
               "}"
               : "=r"(x)
               : "r"(sharedAddress(response))
               : "memory");
  return x;
}

extern "C" __global__ void __cluster_dims__(2) __launch_bounds__(96)
    clc_tiles(uint32_t *visits, uint32_t *owners) {
  __shared__ __align__(16) uint4 response[slots];
  __shared__ __align__(8) uint64_t full[slots], empty[slots];
  int warp = threadIdx.x / 32;
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) {
    for (int i = 0; i < slots; ++i) {
      barrierInit(&full[i], 1);
      barrierInit(&empty[i], 5); // two warps of each CTA, and the scheduler
    }
    fenceBarrierInit();
  }
  clusterSync();
  if (warp == 2) {
    if (rank == 0 && electOne()) {
      int issued = 0;
      for (int used = 0;; ++used) {
        for (; issued < used + slots; ++issued) {
          int slot = issued % slots;
          barrierWait(&empty[slot], (issued / slots & 1) ^ 1);
          for (uint32_t cta = 0; cta < 2; ++cta)
            asm volatile("mbarrier.arrive.expect_tx.relaxed.cluster.shared::"
                         "cluster.b64 _, [%0], 16;" ::"r"(
                             remoteAddress(&full[slot], cta))
                         : "memory");
          asm volatile(
              "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::"
              "complete_tx::bytes.multicast::cluster::all.b128 [%0], [%1];" ::
                  "r"(sharedAddress(&response[slot])),
              "r"(sharedAddress(&full[slot]))
              : "memory");
        }
        int slot = used % slots;
        barrierWait(&full[slot], used / slots & 1);
        int next = taken(&response[slot]);
        fenceProxyAsync();
        barrierArrive(&empty[slot]);
        if (next < 0)
          break;
      }
    }
  } else {
    int first = blockIdx.x - rank;
    int used = 0;
    for (; first >= 0; ++used) {
      if (threadIdx.x % 32 == 0) {
        atomicAdd(&visits[2 * (first + rank) + warp], 1);
        owners[2 * (first + rank) + warp] = blockIdx.x - rank;
      }
      int slot = used % slots;
      barrierWait(&full[slot], used / slots & 1);
      first = taken(&response[slot]);
      fenceProxyAsync();
      __syncwarp();
      if (threadIdx.x % 32 == 0)
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, "
                     "[%0];" ::"r"(remoteAddress(&empty[slot], 0))
                     : "memory");
    }
    // The responses to the requests ahead still have to come.
    for (int ahead = 1; ahead < slots; ++ahead, ++used)
      barrierWait(&full[used % slots], used / slots & 1);
  }
  __syncwarp();
  clusterSync();
}
