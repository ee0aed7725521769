// Elements that threads copy into slots: their arrival beside that of the bytes, its derived count, and the reads.
// RUN: fp8-opt %s --convert-fp8-to-nvvm --canonicalize --cse | FileCheck %s
// RUN: fp8-opt %s --fp8-report -o /dev/null | FileCheck %s --check-prefix=REPORT
// RUN: sed 's/fp8.pipeline :/fp8.pipeline {producer_arrivals = 1} :/' %s > %t.mlir && not fp8-opt %t.mlir --convert-fp8-to-nvvm 2>&1 | FileCheck %s --check-prefix=STATED

!a = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>
!s = !fp8.tile<1x4xf32>
!ring = !fp8.pipeline<2, a: !a, s: !s>

// CHECK: gpu.func @kernel
// CHECK: %[[TWO:.*]] = arith.constant 2 : i32
// REPORT: full x2 at {{[0-9]+}}: 2 arrivals and 8192 bytes
// REPORT-NEXT: load arrives 1x, one thread, with the announcement of the bytes
// REPORT-NEXT: load arrives 1x, cp.async.mbarrier.arrive, when the elements that it copied are there
// STATED: error: 'fp8.pipeline' op states 1 producer arrivals, but its roles make 2
// STATED: note: role "load" arrives once for each of its 1 warps, and again for the elements that it copies
gpu.module @kernels {
  gpu.func @kernel(%am: !fp8.tensor_map<!a>, %scales: memref<?x?xf32, strided<[?, 1]>>, %row: index, %block: index, %exists: i1, %out: memref<?xf32>)
      kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    // CHECK: nvvm.mbarrier.init %{{.*}}, %[[TWO]] : !llvm.ptr<3>, i32
    fp8.role "read" warps(4) (%in = %c) : !fp8.consumer<!ring> {
      %stage = fp8.acquire %in : !fp8.consumer<!ring>
      %tile = fp8.tile %stage["s"] : !fp8.consumer_stage<!ring>
      // CHECK: %[[ELEMENT:.*]] = llvm.load %{{.*}} : !llvm.ptr<3> -> f32
      %element = fp8.read_element %tile[3] : !s
      // CHECK: memref.store %[[ELEMENT]]
      memref.store %element, %out[%c0] : memref<?xf32>
      %next = fp8.release %stage : !fp8.consumer_stage<!ring>
      fp8.close %next : !fp8.consumer<!ring>
    }
    fp8.role "load" warps(1) (%in = %p) : !fp8.producer<!ring> {
      %stage = fp8.acquire %in : !fp8.producer<!ring>
      // CHECK: nvvm.mbarrier.arrive.expect_tx
      // Zero bytes are read where the element is not there: cp.async fills the rest with zeros.
      // CHECK: %[[READ:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : i32
      // CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 4, cache = ca, %[[READ]] : !llvm.ptr<3>, !llvm.ptr<1>, i32
      fp8.load_element %scales[%row, %block], %stage["s", 3] if %exists : memref<?x?xf32, strided<[?, 1]>>, !fp8.producer_stage<!ring>
      fp8.tma_load %am[%c0, %c0], %stage["a"] : !fp8.tensor_map<!a>, !fp8.producer_stage<!ring>
      // CHECK: nvvm.cp.async.mbarrier.arrive %{{.*}} {noinc = true} : !llvm.ptr<3>
      %next = fp8.release %stage : !fp8.producer_stage<!ring>
      fp8.close %next : !fp8.producer<!ring>
    }
    gpu.return
  }
}
