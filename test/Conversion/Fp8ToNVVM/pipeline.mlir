// A ring becomes barriers and tiles; its ends become cursors that loops carry.
// RUN: fp8-opt %s --convert-fp8-to-nvvm --canonicalize --cse | FileCheck %s

!tile = !fp8.tile<1x128xf32>
!ring = !fp8.pipeline<3, s: !tile>

// CHECK: llvm.mlir.global external @fp8_shared_memory() {addr_space = 3 : i32, alignment = 1024 : i64}
// 3 tiles of 512 bytes, then 6 barriers.
// CHECK: gpu.func @kernel(%[[MAP:.*]]: !llvm.ptr, %{{.*}}: index) kernel attributes {fp8.shared_memory_bytes = 1584 : i64, fp8.tensor_map_args = array<i32: 0>, known_block_size = array<i32: 160, 1, 1>, nvvm.minctasm = 1 : i32}
gpu.module @kernels {
  gpu.func @kernel(%map: !fp8.tensor_map<!tile>, %n: index) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // One load warp fills; four warps empty.
    // CHECK: scf.if
    // CHECK-COUNT-3: nvvm.mbarrier.init %{{.*}}, %c1_i32
    // CHECK-COUNT-3: nvvm.mbarrier.init %{{.*}}, %c4_i32
    // CHECK: nvvm.fence.mbarrier.init
    // CHECK: nvvm.barrier
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    // CHECK: scf.if
    // CHECK: %[[LEADER:.*]] = nvvm.elect.sync -> i1
    // A consumer begins with slot 0 and parity 0.
    // CHECK: %{{.*}}:2 = scf.for %{{.*}} iter_args(%[[I:.*]] = %c0_i32, %[[P:.*]] = %c0_i32) -> (i32, i32)
    fp8.role "read" warps(4) (%end = %c) : !fp8.consumer<!ring> {
      %last = scf.for %i = %c0 to %n step %c1 iter_args(%e = %end) -> !fp8.consumer<!ring> {
        // It waits on the full barrier.
        // CHECK: scf.while
        // CHECK: nvvm.mbarrier.try_wait %{{.*}}, %[[P]], %{{.*}}
        %stage = fp8.acquire %e : !fp8.consumer<!ring>
        // The warp's reads are done before one lane speaks for it; the empty barriers are 24 bytes on.
        // CHECK: nvvm.bar.warp.sync
        // CHECK: scf.if %[[LEADER]]
        // CHECK: arith.addi %{{.*}}, %c24_i32
        // CHECK: nvvm.mbarrier.arrive
        // CHECK: arith.cmpi eq, %{{.*}}, %c3_i32
        // CHECK: arith.xori %[[P]], %c1_i32
        // CHECK: scf.yield
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        scf.yield %next : !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
    }
    // A producer begins with parity 1, so that its first lap does not wait.
    // CHECK: %[[LEADER:.*]] = nvvm.elect.sync -> i1
    // CHECK: %{{.*}}:2 = scf.for %{{.*}} iter_args(%[[I:.*]] = %c0_i32, %[[P:.*]] = %c1_i32) -> (i32, i32)
    fp8.role "load" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %last = scf.for %i = %c0 to %n step %c1 iter_args(%e = %end) -> !fp8.producer<!ring> {
        // CHECK: nvvm.mbarrier.try_wait
        // CHECK: scf.if %[[LEADER]]
        // CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c512_i32
        %stage = fp8.acquire %e : !fp8.producer<!ring>
        // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MAP]], %{{.*}}, box[%c0_i32, %{{.*}}]
        fp8.tma_load %map[%i, %c0], %stage["s"] : !fp8.tensor_map<!tile>, !fp8.producer_stage<!ring>
        // The bytes complete the phase: no arrival here.
        // CHECK-NOT: nvvm.mbarrier.arrive
        // CHECK: scf.yield
        %next = fp8.release %stage : !fp8.producer_stage<!ring>
        scf.yield %next : !fp8.producer<!ring>
      }
      // Closing waits for every slot to come back.
      // CHECK: scf.for %{{.*}} = %c0_i32 to %c3_i32 step %c1_i32
      // CHECK: nvvm.mbarrier.try_wait
      fp8.close %last : !fp8.producer<!ring>
    }
    gpu.return
  }
}

// Copies under a condition: their number is not known where the stage is acquired, so each announces its own bytes and the release
// arrives.
// CHECK: gpu.func @conditional
gpu.module @conditional_kernels {
  gpu.func @conditional(%map: !fp8.tensor_map<!tile>, %cond: i1) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "read" warps(4) (%end = %c) : !fp8.consumer<!ring> {
      // CHECK: nvvm.mbarrier.try_wait
      // CHECK: nvvm.mbarrier.arrive
      %stage = fp8.acquire %end : !fp8.consumer<!ring>
      %next = fp8.release %stage : !fp8.consumer_stage<!ring>
      fp8.close %next : !fp8.consumer<!ring>
    }
    fp8.role "load" warps(1) (%end = %p) : !fp8.producer<!ring> {
      // CHECK: nvvm.mbarrier.try_wait
      // CHECK-NOT: nvvm.mbarrier.arrive.expect_tx
      %stage = fp8.acquire %end : !fp8.producer<!ring>
      scf.if %cond {
        // CHECK: nvvm.mbarrier.expect_tx %{{.*}}, %c512_i32
        // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
        fp8.tma_load %map[%c0, %c0], %stage["s"] : !fp8.tensor_map<!tile>, !fp8.producer_stage<!ring>
      }
      // One lane has filled the slot since the lanes met.
      // CHECK-NOT: nvvm.bar.warp.sync
      // CHECK: nvvm.mbarrier.arrive
      %next = fp8.release %stage : !fp8.producer_stage<!ring>
      fp8.close %next : !fp8.producer<!ring>
    }
    gpu.return
  }
}
