// RUN: fp8-opt %s --pass-pipeline='builtin.module(gpu.module(fp8-plan-kernels,fp8-place-fences,fp8-place-fences))' --debug-only=fp8-place-fences \
// RUN:   2> %t.log | FileCheck %s
// RUN: FileCheck %s --check-prefix=LOG < %t.log

// Once each, although the pass ran twice.
// LOG: a fence before 'fp8.release'
// LOG-NEXT: a fence before 'fp8.arrive'
// LOG-COUNT-5: a fence before 'fp8.release'
// LOG-NOT: a fence

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
}
