// RUN: fp8-opt %s --pass-pipeline='builtin.module(gpu.module(fp8-plan-kernels,fp8-place-fences,fp8-place-fences))' --debug-only=fp8-place-fences \
// RUN:   2> %t.log | FileCheck %s
// RUN: FileCheck %s --check-prefix=LOG < %t.log

// Once each, although the pass ran twice.
// LOG: a fence before 'fp8.release'
// LOG-NEXT: a fence before 'fp8.arrive'
// LOG-COUNT-5: a fence before 'fp8.release'
// LOG-COUNT-3: a fence before 'fp8.wait_mma'
// LOG-NOT: a fence

!a = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>
!b = !fp8.tile<16x128xf8E4M3FN, swizzle_128b>
!s = !fp8.tile<1x64xf32>
!blocks = !fp8.pipeline<2, a: !a, b: !b, s: !s>
!sum = !fp8.fragment<64x16xf32, 4, warpgroups>
!row = !fp8.tile<1x128xf32>
!ring = !fp8.pipeline<2, s: !row>
!plain = !fp8.pipeline<2>

gpu.module @kernels {
  gpu.func @fences(%s: !fp8.tensor_map<!row>, %out: memref<?xf32>) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    %p2, %c2 = fp8.pipeline : !fp8.producer<!plain>, !fp8.consumer<!plain>
    // CHECK-LABEL: fp8.role "read"
    fp8.role "read" warps(4) (%end = %c, %end2 = %c2) : !fp8.consumer<!ring>, !fp8.consumer<!plain> {
      // CHECK: fp8.read_element
      // CHECK: fp8.fence_async_proxy
      // CHECK-NEXT: fp8.release
      %first = fp8.acquire %end : !fp8.consumer<!ring>
      %row = fp8.tile %first["s"] : !fp8.consumer_stage<!ring>
      %x = fp8.read_element %row[0] : !row
      memref.store %x, %out[%c0] : memref<?xf32>
      %next = fp8.release %first : !fp8.consumer_stage<!ring>
      // An arrival hands over, too.
      // CHECK: fp8.read_element
      // CHECK: fp8.fence_async_proxy
      // CHECK-NEXT: fp8.arrive
      %second = fp8.acquire %next : !fp8.consumer<!ring>
      %row2 = fp8.tile %second["s"] : !fp8.consumer_stage<!ring>
      %y = fp8.read_element %row2[0] : !row
      memref.store %y, %out[%c0] : memref<?xf32>
      %signalled = fp8.arrive %second : !fp8.consumer_stage<!ring>
      %last = fp8.step %signalled : !fp8.signalled<!fp8.consumer_stage<!ring>>
      // Nothing overwrites the slots of a ring without tiles.
      // CHECK-NOT: fp8.fence_async_proxy
      // CHECK: fp8.close
      %stage = fp8.acquire %end2 : !fp8.consumer<!plain>
      %last2 = fp8.release %stage : !fp8.consumer_stage<!plain>
      fp8.close %last : !fp8.consumer<!ring>
      fp8.close %last2 : !fp8.consumer<!plain>
    }
    // CHECK-LABEL: fp8.role "load"
    // CHECK-NOT: fp8.fence_async_proxy
    fp8.role "load" warps(1) (%end = %p, %end2 = %p2) : !fp8.producer<!ring>, !fp8.producer<!plain> {
      %first = fp8.acquire %end : !fp8.producer<!ring>
      fp8.tma_load %s[%c0, %c0], %first["s"] : !fp8.tensor_map<!row>, !fp8.producer_stage<!ring>
      %next = fp8.release %first : !fp8.producer_stage<!ring>
      %second = fp8.acquire %next : !fp8.producer<!ring>
      fp8.tma_load %s[%c0, %c0], %second["s"] : !fp8.tensor_map<!row>, !fp8.producer_stage<!ring>
      %last = fp8.release %second : !fp8.producer_stage<!ring>
      %stage = fp8.acquire %end2 : !fp8.producer<!plain>
      %last2 = fp8.release %stage : !fp8.producer_stage<!plain>
      fp8.close %last : !fp8.producer<!ring>
      fp8.close %last2 : !fp8.producer<!plain>
    }
    gpu.return
  }

  // One fence serves all slots that were read in front of it.
  gpu.func @together(%s: !fp8.tensor_map<!row>, %out: memref<?xf32>) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    %p2, %c2 = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    // CHECK-LABEL: fp8.role "read_both"
    fp8.role "read_both" warps(4) (%end = %c, %end2 = %c2) : !fp8.consumer<!ring>, !fp8.consumer<!ring> {
      %first = fp8.acquire %end : !fp8.consumer<!ring>
      %row = fp8.tile %first["s"] : !fp8.consumer_stage<!ring>
      %x = fp8.read_element %row[0] : !row
      %second = fp8.acquire %end2 : !fp8.consumer<!ring>
      %row2 = fp8.tile %second["s"] : !fp8.consumer_stage<!ring>
      // CHECK: fp8.read_element
      // CHECK: fp8.read_element
      // CHECK-NEXT: fp8.fence_async_proxy
      // CHECK-NEXT: fp8.release
      // CHECK-NEXT: memref.store
      // CHECK-NEXT: fp8.release
      %y = fp8.read_element %row2[0] : !row
      %next = fp8.release %first : !fp8.consumer_stage<!ring>
      memref.store %x, %out[%c0] : memref<?xf32>
      %next2 = fp8.release %second : !fp8.consumer_stage<!ring>
      // A slot that is read behind the fence needs another, although it was taken in front.
      %third = fp8.acquire %next : !fp8.consumer<!ring>
      %fourth = fp8.acquire %next2 : !fp8.consumer<!ring>
      %row3 = fp8.tile %third["s"] : !fp8.consumer_stage<!ring>
      %row4 = fp8.tile %fourth["s"] : !fp8.consumer_stage<!ring>
      // CHECK: fp8.read_element
      // CHECK-NEXT: fp8.fence_async_proxy
      // CHECK-NEXT: fp8.release
      // CHECK-NEXT: fp8.read_element
      // CHECK-NEXT: fp8.fence_async_proxy
      // CHECK-NEXT: fp8.release
      %z = fp8.read_element %row3[0] : !row
      %next3 = fp8.release %third : !fp8.consumer_stage<!ring>
      %w = fp8.read_element %row4[0] : !row
      %next4 = fp8.release %fourth : !fp8.consumer_stage<!ring>
      // So does one whose reads lie in another block.
      %fifth = fp8.acquire %next3 : !fp8.consumer<!ring>
      %sixth = fp8.acquire %next4 : !fp8.consumer<!ring>
      %row5 = fp8.tile %fifth["s"] : !fp8.consumer_stage<!ring>
      %row6 = fp8.tile %sixth["s"] : !fp8.consumer_stage<!ring>
      %c1 = arith.constant 1 : index
      // CHECK: scf.for
      // CHECK: fp8.fence_async_proxy
      // CHECK-NEXT: fp8.release
      // CHECK-NEXT: memref.store
      // CHECK-NEXT: fp8.fence_async_proxy
      // CHECK-NEXT: fp8.release
      scf.for %i = %c0 to %c1 step %c1 {
        %v = fp8.read_element %row6[0] : !row
        memref.store %v, %out[%c0] : memref<?xf32>
      }
      %u = fp8.read_element %row5[0] : !row
      %last = fp8.release %fifth : !fp8.consumer_stage<!ring>
      memref.store %x, %out[%c0] : memref<?xf32>
      %last2 = fp8.release %sixth : !fp8.consumer_stage<!ring>
      memref.store %y, %out[%c0] : memref<?xf32>
      memref.store %z, %out[%c0] : memref<?xf32>
      memref.store %w, %out[%c0] : memref<?xf32>
      memref.store %u, %out[%c0] : memref<?xf32>
      fp8.close %last : !fp8.consumer<!ring>
      fp8.close %last2 : !fp8.consumer<!ring>
    }
    fp8.role "load_both" warps(1) (%end = %p, %end2 = %p2) : !fp8.producer<!ring>, !fp8.producer<!ring> {
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %last, %last2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%at = %end, %at2 = %end2) -> (!fp8.producer<!ring>, !fp8.producer<!ring>) {
        %slot = fp8.acquire %at : !fp8.producer<!ring>
        fp8.tma_load %s[%c0, %c0], %slot["s"] : !fp8.tensor_map<!row>, !fp8.producer_stage<!ring>
        %next = fp8.release %slot : !fp8.producer_stage<!ring>
        %slot2 = fp8.acquire %at2 : !fp8.producer<!ring>
        fp8.tma_load %s[%c0, %c0], %slot2["s"] : !fp8.tensor_map<!row>, !fp8.producer_stage<!ring>
        %next2 = fp8.release %slot2 : !fp8.producer_stage<!ring>
        scf.yield %next, %next2 : !fp8.producer<!ring>, !fp8.producer<!ring>
      }
      fp8.close %last : !fp8.producer<!ring>
      fp8.close %last2 : !fp8.producer<!ring>
    }
    gpu.return
  }

  // The A scales are loaded where their tiles are taken: here in front of the first wait, which has the fence of both slots.
  gpu.func @products(%am: !fp8.tensor_map<!a>, %bm: !fp8.tensor_map<!b>, %sm: !fp8.tensor_map<!s>, %scale: f32) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %p, %c = fp8.pipeline : !fp8.producer<!blocks>, !fp8.consumer<!blocks>
    %p2, %c2 = fp8.pipeline : !fp8.producer<!blocks>, !fp8.consumer<!blocks>
    // CHECK-LABEL: fp8.role "multiply"
    fp8.role "multiply" warps(4) (%end = %c, %end2 = %c2) : !fp8.consumer<!blocks>, !fp8.consumer<!blocks> {
      %zero = fp8.zero : !sum
      %first = fp8.acquire %end : !fp8.consumer<!blocks>
      %a = fp8.tile %first["a"] : !fp8.consumer_stage<!blocks>
      %b = fp8.tile %first["b"] : !fp8.consumer_stage<!blocks>
      %s = fp8.tile %first["s"] : !fp8.consumer_stage<!blocks>
      %pending = fp8.warpgroup_mma %a, %b : !a, !b -> !fp8.pending<!sum>
      %second = fp8.acquire %end2 : !fp8.consumer<!blocks>
      %a2 = fp8.tile %second["a"] : !fp8.consumer_stage<!blocks>
      %b2 = fp8.tile %second["b"] : !fp8.consumer_stage<!blocks>
      %s2 = fp8.tile %second["s"] : !fp8.consumer_stage<!blocks>
      // CHECK: fp8.warpgroup_mma
      // CHECK: fp8.warpgroup_mma
      // CHECK-NEXT: fp8.fence_async_proxy
      // CHECK-NEXT: fp8.wait_mma
      // CHECK-NEXT: fp8.promote
      // CHECK-NEXT: fp8.release
      // CHECK-NEXT: fp8.wait_mma
      // CHECK-NEXT: fp8.promote
      // CHECK-NEXT: fp8.release
      %pending2 = fp8.warpgroup_mma %a2, %b2 : !a, !b -> !fp8.pending<!sum>
      %done = fp8.wait_mma %pending : !fp8.pending<!sum>
      %sums = fp8.promote %zero, %done scales(%s, %scale) : !sum, !sum, !s
      %next = fp8.release %first : !fp8.consumer_stage<!blocks>
      %done2 = fp8.wait_mma %pending2 : !fp8.pending<!sum>
      %sums2 = fp8.promote %sums, %done2 scales(%s2, %scale) : !sum, !sum, !s
      %next2 = fp8.release %second : !fp8.consumer_stage<!blocks>
      // Behind the fence the second needs one of its own.
      // CHECK: fp8.fence_async_proxy
      // CHECK-NEXT: fp8.wait_mma
      // CHECK-NEXT: fp8.promote
      // CHECK-NEXT: fp8.release
      // CHECK: fp8.tile %{{.*}}["s"]
      // CHECK-NEXT: fp8.fence_async_proxy
      // CHECK-NEXT: fp8.wait_mma
      // CHECK-NEXT: fp8.promote
      // CHECK-NEXT: fp8.release
      %third = fp8.acquire %next : !fp8.consumer<!blocks>
      %a3 = fp8.tile %third["a"] : !fp8.consumer_stage<!blocks>
      %b3 = fp8.tile %third["b"] : !fp8.consumer_stage<!blocks>
      %s3 = fp8.tile %third["s"] : !fp8.consumer_stage<!blocks>
      %pending3 = fp8.warpgroup_mma %a3, %b3 : !a, !b -> !fp8.pending<!sum>
      %fourth = fp8.acquire %next2 : !fp8.consumer<!blocks>
      %a4 = fp8.tile %fourth["a"] : !fp8.consumer_stage<!blocks>
      %b4 = fp8.tile %fourth["b"] : !fp8.consumer_stage<!blocks>
      %pending4 = fp8.warpgroup_mma %a4, %b4 : !a, !b -> !fp8.pending<!sum>
      %done3 = fp8.wait_mma %pending3 : !fp8.pending<!sum>
      %sums3 = fp8.promote %sums2, %done3 scales(%s3, %scale) : !sum, !sum, !s
      %last = fp8.release %third : !fp8.consumer_stage<!blocks>
      %s4 = fp8.tile %fourth["s"] : !fp8.consumer_stage<!blocks>
      %done4 = fp8.wait_mma %pending4 : !fp8.pending<!sum>
      %sums4 = fp8.promote %sums3, %done4 scales(%s4, %scale) : !sum, !sum, !s
      %last2 = fp8.release %fourth : !fp8.consumer_stage<!blocks>
      fp8.close %last : !fp8.consumer<!blocks>
      fp8.close %last2 : !fp8.consumer<!blocks>
    }
    fp8.role "load_blocks" warps(1) (%end = %p, %end2 = %p2) : !fp8.producer<!blocks>, !fp8.producer<!blocks> {
      %c1 = arith.constant 1 : index
      %laps = arith.constant 2 : index
      %last, %last2 = scf.for %i = %c0 to %laps step %c1 iter_args(%at = %end, %at2 = %end2) -> (!fp8.producer<!blocks>, !fp8.producer<!blocks>) {
        %slot = fp8.acquire %at : !fp8.producer<!blocks>
        fp8.tma_load %am[%c0, %c0], %slot["a"] : !fp8.tensor_map<!a>, !fp8.producer_stage<!blocks>
        fp8.tma_load %bm[%c0, %c0], %slot["b"] : !fp8.tensor_map<!b>, !fp8.producer_stage<!blocks>
        fp8.tma_load %sm[%c0, %c0], %slot["s"] : !fp8.tensor_map<!s>, !fp8.producer_stage<!blocks>
        %next = fp8.release %slot : !fp8.producer_stage<!blocks>
        %slot2 = fp8.acquire %at2 : !fp8.producer<!blocks>
        fp8.tma_load %am[%c0, %c0], %slot2["a"] : !fp8.tensor_map<!a>, !fp8.producer_stage<!blocks>
        fp8.tma_load %bm[%c0, %c0], %slot2["b"] : !fp8.tensor_map<!b>, !fp8.producer_stage<!blocks>
        fp8.tma_load %sm[%c0, %c0], %slot2["s"] : !fp8.tensor_map<!s>, !fp8.producer_stage<!blocks>
        %next2 = fp8.release %slot2 : !fp8.producer_stage<!blocks>
        scf.yield %next, %next2 : !fp8.producer<!blocks>, !fp8.producer<!blocks>
      }
      fp8.close %last : !fp8.producer<!blocks>
      fp8.close %last2 : !fp8.producer<!blocks>
    }
    gpu.return
  }
}
