// The ops of the barrier family keep their text.
// RUN: fp8-opt %s | fp8-opt | FileCheck %s

!row = !fp8.tile<1x128xf32>
!out = !fp8.tile<32x64xbf16, swizzle_128b>
!sum = !fp8.fragment<128x64xf32, 4>
!product = !fp8.fragment<64x64xf32, 4, warpgroups>

// CHECK-LABEL: func.func @threads
func.func @threads() {
  // CHECK: fp8.id thread
  %thread = fp8.id thread
  // CHECK: %[[WARP:.*]] = fp8.id warp
  %warp = fp8.id warp
  // CHECK: fp8.id cta
  %cta = fp8.id cta
  // CHECK: fp8.role "load" warps(1) {
  fp8.role "load" warps(1) {
    // CHECK: %leader, %warp, %lane = fp8.role_thread %[[WARP]] promotes
    %leader, %number, %lane = fp8.role_thread %warp promotes
    // CHECK: fp8.keep_in_loop %lane
    %kept = fp8.keep_in_loop %lane
    fp8.yield
  }
  // CHECK: fp8.sync warp
  fp8.sync warp
  // CHECK: fp8.sync cta
  fp8.sync cta
  // CHECK: fp8.sync cluster_start
  fp8.sync cluster_start
  // CHECK: fp8.sync cluster_end
  fp8.sync cluster_end
  // CHECK: fp8.named_barrier %{{.*}}, 160
  fp8.named_barrier %warp, 160
  // CHECK: fp8.named_barrier arrive %{{.*}}, 160
  fp8.named_barrier arrive %warp, 160
  // CHECK: fp8.grid_dependency wait
  fp8.grid_dependency wait
  // CHECK: fp8.grid_dependency start_next
  fp8.grid_dependency start_next
  return
}

// CHECK-LABEL: func.func @barriers
func.func @barriers(%parity: i32, %rank: i32) {
  // CHECK: %[[SHARED:.*]] = fp8.shared_memory
  %barrier = fp8.shared_memory
  // CHECK: fp8.map_to_cta %[[SHARED]], %{{.*}}
  %remote = fp8.map_to_cta %barrier, %rank
  // CHECK: fp8.mbarrier_init %[[SHARED]], 4
  fp8.mbarrier_init %barrier, 4
  // CHECK: fp8.fence_mbarrier_init
  fp8.fence_mbarrier_init
  // CHECK: fp8.mbarrier_wait %[[SHARED]], %{{[^ ]*$}}
  fp8.mbarrier_wait %barrier, %parity
  // CHECK: fp8.mbarrier_wait %[[SHARED]], %{{.*}} cluster {limit = 1000 : i64}
  fp8.mbarrier_wait %barrier, %parity cluster {limit = 1000 : i64}
  // CHECK: fp8.mbarrier_test %[[SHARED]], %{{.*}}
  %done = fp8.mbarrier_test %barrier, %parity
  // CHECK: fp8.mbarrier_arrive %[[SHARED]]
  fp8.mbarrier_arrive %barrier
  // CHECK: fp8.mbarrier_arrive remote %{{.*}}
  fp8.mbarrier_arrive remote %remote
  // CHECK: fp8.mbarrier_arrive after_copies %[[SHARED]]
  fp8.mbarrier_arrive after_copies %barrier
  // CHECK: fp8.mbarrier_expect %[[SHARED]], 512
  fp8.mbarrier_expect %barrier, 512
  // CHECK: fp8.mbarrier_expect arrive remote %{{.*}}, 16
  fp8.mbarrier_expect arrive remote %remote, 16
  // CHECK: fp8.mbarrier_commit %[[SHARED]] mask %{{.*}} {cta_group = 2 : i64}
  fp8.mbarrier_commit %barrier mask %rank {cta_group = 2 : i64}
  // CHECK: fp8.fence_async_proxy
  fp8.fence_async_proxy
  // CHECK: fp8.fence_tmem before
  fp8.fence_tmem before
  // CHECK: fp8.fence_tmem after
  fp8.fence_tmem after
  // CHECK: fp8.advance %{{.*}}, %{{.*}} in 3
  %number, %next = fp8.advance %barrier, %parity in 3
  return
}

// CHECK-LABEL: func.func @copies
func.func @copies(%map: !fp8.tensor_map<!row>, %scales: memref<?xf32>, %i: index, %address: i32, %exists: i1) {
  // CHECK: fp8.prefetch_map %{{.*}} : !fp8.tensor_map
  fp8.prefetch_map %map : !fp8.tensor_map<!row>
  // CHECK: fp8.copy_tile %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}}, %{{.*}} mask %{{.*}} {cta_group = 2 : i64} : !fp8.tensor_map
  fp8.copy_tile %map[%i, %i], %address, %address mask %address {cta_group = 2 : i64} : !fp8.tensor_map<!row>
  // CHECK: fp8.copy_element %{{.*}}[%{{.*}}], %{{.*}} if %{{.*}} : memref<?xf32>
  fp8.copy_element %scales[%i], %address if %exists : memref<?xf32>
  // CHECK: fp8.wait_stores
  fp8.wait_stores
  // CHECK: fp8.request_answer multicast %{{.*}}, %{{.*}}
  fp8.request_answer multicast %address, %address
  // CHECK: fp8.read_answer %{{.*}}
  %more, %cta = fp8.read_answer %address
  // CHECK: fp8.tmem_alloc %{{.*}}, 512 last {cta_group = 2 : i64}
  %columns = fp8.tmem_alloc %address, 512 last {cta_group = 2 : i64}
  // CHECK: fp8.tmem_address %{{.*}}
  %again = fp8.tmem_address %address
  // CHECK: fp8.tmem_free %{{.*}}, 512
  fp8.tmem_free %columns, 512
  return
}

// CHECK-LABEL: func.func @fragments
func.func @fragments(%sum: !sum, %product: !product, %d: !fp8.tensor_map<!out>, %rest: memref<?x?xbf16>, %i: index, %slot: i32, %pair: vector<2xf32>) {
  // CHECK: fp8.view_at %{{.*}} : !tile
  %tile = fp8.view_at %slot : !row
  // CHECK: fp8.store_at %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] through %{{.*}}[%{{.*}}] of !store_queue rest(%{{.*}} : memref<?x?xbf16>) :
  %next = fp8.store_at %sum, %d[%i, %i] through %slot[%slot] of !fp8.store_queue<2, !out, 4> rest(%rest : memref<?x?xbf16>) : !sum, !fp8.tensor_map<!out>
  // CHECK: fp8.send_shares %{{.*}}, %{{.*}}, %{{.*}} of !exchange :
  fp8.send_shares %product, %slot, %slot of !fp8.exchange<4, !product> : !product
  // CHECK: fp8.add_shares %{{.*}} of !exchange :
  %share = fp8.add_shares %slot of !fp8.exchange<4, !product> : !fp8.fragment<64x16xf32, 4, warpgroups>
  // CHECK: fp8.compute_here %{{.*}} : vector<2xf32>
  fp8.compute_here %pair : vector<2xf32>
  return
}
