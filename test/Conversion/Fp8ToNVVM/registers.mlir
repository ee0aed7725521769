// How registers are dealt out: at most 248 a thread, which is all that setmaxnreg gives, however many the others hand over; and to the
// roles of all other warpgroups at one place.
// RUN: fp8-opt %s --convert-fp8-to-nvvm --canonicalize --cse | FileCheck %s

!a = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>
!s = !fp8.tile<1x64xf32>
!d = !fp8.tile<64x64xbf16, swizzle_128b>
!ring = !fp8.pipeline<2, a: !a, b: !a, s: !s>
!sum = !fp8.fragment<64x64xf32, 4, warpgroups>
!queue = !fp8.store_queue<2, !d, 4>
// CHECK: gpu.func @kernel{{.*}}known_block_size = array<i32: 384, 1, 1>
gpu.module @kernels {
  gpu.func @kernel(%am: !fp8.tensor_map<!a>, %sm: !fp8.tensor_map<!s>, %dm: !fp8.tensor_map<!d>, %scale: f32, %mem: memref<?x?xf32>,
                   %out: memref<?xi32>) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    %queue = fp8.store_queue : !queue
    fp8.role "multiply" warps(4) (%in = %c, %q = %queue) : !fp8.consumer<!ring>, !queue {
      // CHECK: nvvm.setmaxregister {{.*}}increase 248
      %zero = fp8.zero : !sum
      %stage = fp8.acquire %in : !fp8.consumer<!ring>
      %a = fp8.tile %stage["a"] : !fp8.consumer_stage<!ring>
      %b = fp8.tile %stage["b"] : !fp8.consumer_stage<!ring>
      %x = fp8.warpgroup_mma %a, %b : !a, !a -> !fp8.pending<!sum>
      %f = fp8.wait_mma %x : !fp8.pending<!sum>
      %s = fp8.tile %stage["s"] : !fp8.consumer_stage<!ring>
      %sum = fp8.promote %zero, %f scales(%s, %scale) : !sum, !sum, !s
      %next = fp8.release %stage : !fp8.consumer_stage<!ring>
      %q2 = fp8.store %sum, %dm[%c0, %c0] through %q : !sum, !fp8.tensor_map<!d>, !queue
      fp8.close %next : !fp8.consumer<!ring>
      fp8.close %q2 : !queue
    }
    // The branch of all the others stands where the last one did.
    // CHECK: memref.dim
    // CHECK: scf.if
    // CHECK-NEXT: nvvm.setmaxregister {{.*}}decrease 40
    fp8.role "load" warps(1) (%in = %p) : !fp8.producer<!ring> {
      %stage = fp8.acquire %in : !fp8.producer<!ring>
      fp8.tma_load %am[%c0, %c0], %stage["a"] : !fp8.tensor_map<!a>, !fp8.producer_stage<!ring>
      fp8.tma_load %am[%c0, %c0], %stage["b"] : !fp8.tensor_map<!a>, !fp8.producer_stage<!ring>
      fp8.tma_load %sm[%c0, %c0], %stage["s"] : !fp8.tensor_map<!s>, !fp8.producer_stage<!ring>
      %next = fp8.release %stage : !fp8.producer_stage<!ring>
      fp8.close %next : !fp8.producer<!ring>
    }
    // What one of them uses may be made between them.
    fp8.role "idle" warps(1) { }
    %extent = memref.dim %mem, %c0 : memref<?x?xf32>
    fp8.role "others" warps(4) {
      %n = arith.index_cast %extent : index to i32
      memref.store %n, %out[%c0] : memref<?xi32>
    }
    // CHECK: gpu.return
    gpu.return
  }
}

// The roles that hold fragments take registers wherever they stand, those that do not multiply as well.
// CHECK: gpu.func @between{{.*}}known_block_size = array<i32: 512, 1, 1>
gpu.module @more {
  gpu.func @between(%am: !fp8.tensor_map<!a>, %dm: !fp8.tensor_map<!d>, %out: memref<?xi32>) kernel attributes {fp8.linear} {
    // CHECK: %[[WARP:.*]] = nvvm.shfl.sync idx
    %c0 = arith.constant 0 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    %queue = fp8.store_queue : !queue
    %other = fp8.store_queue : !queue
    // CHECK: %[[FROM4:.*]] = arith.addi %[[WARP]], %c-4_i32
    // CHECK: nvvm.setmaxregister {{.*}}increase 216
    // CHECK: wgmma
    // CHECK-NOT: setmaxregister
    // CHECK: %[[NOT4:.*]] = arith.cmpi uge, %[[FROM4]], %c4_i32
    // CHECK: %[[FROM12:.*]] = arith.addi %[[WARP]], %c-12_i32
    // CHECK: %[[NOT12:.*]] = arith.cmpi uge, %[[FROM12]], %c4_i32
    // CHECK: %[[REST:.*]] = arith.andi %[[NOT4]], %[[NOT12]]
    // CHECK: scf.if %[[REST]]
    // CHECK-NEXT: nvvm.setmaxregister {{.*}}decrease 40
    // CHECK: nvvm.setmaxregister {{.*}}increase 216
    fp8.role "first" warps(4) {
      %n = arith.constant 1 : i32
      memref.store %n, %out[%c0] : memref<?xi32>
    }
    fp8.role "multiply" warps(4) (%in = %c, %q = %queue) : !fp8.consumer<!ring>, !queue {
      %stage = fp8.acquire %in : !fp8.consumer<!ring>
      %a = fp8.tile %stage["a"] : !fp8.consumer_stage<!ring>
      %b = fp8.tile %stage["b"] : !fp8.consumer_stage<!ring>
      %x = fp8.warpgroup_mma %a, %b : !a, !a -> !fp8.pending<!sum>
      %f = fp8.wait_mma %x : !fp8.pending<!sum>
      %next = fp8.release %stage : !fp8.consumer_stage<!ring>
      %q2 = fp8.store %f, %dm[%c0, %c0] through %q : !sum, !fp8.tensor_map<!d>, !queue
      fp8.close %next : !fp8.consumer<!ring>
      fp8.close %q2 : !queue
    }
    fp8.role "load" warps(1) (%in = %p) : !fp8.producer<!ring> {
      %stage = fp8.acquire %in : !fp8.producer<!ring>
      fp8.tma_load %am[%c0, %c0], %stage["a"] : !fp8.tensor_map<!a>, !fp8.producer_stage<!ring>
      fp8.tma_load %am[%c0, %c0], %stage["b"] : !fp8.tensor_map<!a>, !fp8.producer_stage<!ring>
      %next = fp8.release %stage : !fp8.producer_stage<!ring>
      fp8.close %next : !fp8.producer<!ring>
    }
    fp8.role "idle" warps(3) { }
    fp8.role "zeros" warps(4) (%q = %other) : !queue {
      %zero = fp8.zero : !sum
      %q2 = fp8.store %zero, %dm[%c0, %c0] through %q : !sum, !fp8.tensor_map<!d>, !queue
      fp8.close %q2 : !queue
    }
    gpu.return
  }
}
