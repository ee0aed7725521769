// CTAs that divide K send one another shares of their sums, which count as bytes on the receiver's barrier, and add them up in the order of their
// numbers.
// RUN: fp8-opt %s --convert-fp8-to-nvvm --canonicalize --cse | FileCheck %s

!sum = !fp8.fragment<64x32xf32, 4, warpgroups>
!share = !fp8.fragment<64x16xf32, 4, warpgroups>
!exchange = !fp8.exchange<2, !sum>
!d = !fp8.tile<64x16xbf16, swizzle_32b>
!queue = !fp8.store_queue<1, !d, 4>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @kernel
  gpu.func @kernel(%map: !fp8.tensor_map<!d>, %i: index) kernel attributes {fp8.linear, fp8.cluster = array<i64: 1, 1, 2>} {
    // Two slots of 64 x 16 sums; behind them the barrier of what has come, of one arrival, and that of what has been read, of the warps of both CTAs.
    // CHECK: nvvm.mbarrier.init %{{.*}}, %c1_i32
    // CHECK: nvvm.mbarrier.init %{{.*}}, %c8_i32
    // CHECK: nvvm.fence.mbarrier.init
    // CHECK: nvvm.cluster.arrive.relaxed
    // CHECK: nvvm.cluster.wait
    %exchange = fp8.exchange : !exchange
    %queue = fp8.store_queue : !queue
    fp8.role "add" warps(4) (%x = %exchange, %q = %queue) : !exchange, !queue {
      %zero = fp8.zero : !sum
      // CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c8192_i32
      // CHECK: nvvm.mbarrier.try_wait %{{.*}}, %{{.*}} {scope = #nvvm.mem_scope<cluster>}
      // To each CTA its share: two pairs of each eight columns at a time.
      // CHECK: nvvm.mapa
      // CHECK-COUNT-4: "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [$0], {$1, $2, $3, $4}, [$5];"
      // CHECK-NOT: st.async
      // CHECK: nvvm.mbarrier.try_wait %{{.*}}, %{{.*}} {scope = #nvvm.mem_scope<cluster>}
      // CHECK-COUNT-3: llvm.load %{{.*}} : !llvm.ptr<3> -> vector<4xf32>
      // CHECK-COUNT-2: arith.addf
      // CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> vector<4xf32>
      // CHECK-COUNT-2: arith.addf
      // CHECK-NOT: arith.addf
      // A lane for each CTA hands the slots back.
      // CHECK: nvvm.bar.warp.sync
      // CHECK: nvvm.mbarrier.arrive %{{.*}} : !llvm.ptr<7>
      %share, %next = fp8.reduce_scatter %zero through %x : !sum, !exchange
      %stored = fp8.store %share, %map[%i, %i] through %q : !share, !fp8.tensor_map<!d>, !queue
      fp8.close %stored : !queue
      // A CTA ends when all that others have to tell it has come.
      // CHECK: nvvm.cp.async.bulk.wait_group 0
      // CHECK: nvvm.mbarrier.try_wait %{{.*}}, %{{.*}} {scope = #nvvm.mem_scope<cluster>}
      fp8.close %next : !exchange
    }
    // CHECK-NOT: nvvm.cluster.arrive
    // CHECK: gpu.return
    gpu.return
  }
}
