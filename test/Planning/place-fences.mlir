// RUN: fp8-opt %s --pass-pipeline='builtin.module(gpu.module(fp8-plan-kernels,fp8-place-fences,fp8-place-fences))' --debug-only=fp8-place-fences \
// RUN:   2> %t.log | FileCheck %s
// RUN: FileCheck %s --check-prefix=LOG < %t.log

// Once each, although the pass ran twice.
// LOG: a fence before 'fp8.release'
// LOG: a fence before 'fp8.arrive'
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
}
