// A whole lap of a ring leads back to the number that a cursor set out with, with the other parity; what is no whole number of laps counts on.
// RUN: fp8-opt %s --pass-pipeline='builtin.module(gpu.module(convert-fp8-rings-to-barriers))' | FileCheck %s

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @kernel
  gpu.func @kernel(%map: !fp8.tensor_map<!fp8.tile<1x128xf32>>, %n: index) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "read" warps(4) (%end = %c) : !fp8.consumer<!ring> {
      // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %[[NUMBER:.*]] = %{{.*}}, %[[PARITY:.*]] = %{{.*}})
      %last = scf.for %i = %c0 to %n step %c1 iter_args(%e = %end) -> !fp8.consumer<!ring> {
        %s0 = fp8.acquire %e : !fp8.consumer<!ring>
        // CHECK: %[[N1:.*]], %[[P1:.*]] = fp8.advance %[[NUMBER]], %[[PARITY]] in 3
        %n0 = fp8.release %s0 : !fp8.consumer_stage<!ring>
        %s1 = fp8.acquire %n0 : !fp8.consumer<!ring>
        // CHECK: fp8.advance %[[N1]], %[[P1]] in 3
        %n1 = fp8.release %s1 : !fp8.consumer_stage<!ring>
        %s2 = fp8.acquire %n1 : !fp8.consumer<!ring>
        // CHECK: %[[FLIPPED:.*]] = arith.xori %[[PARITY]], %{{.*}} : i32
        // CHECK-NOT: fp8.advance
        // CHECK: scf.yield %{{.*}}, %{{.*}}, %[[NUMBER]], %[[FLIPPED]] : i32, i32, i32, i32
        %n2 = fp8.release %s2 : !fp8.consumer_stage<!ring>
        scf.yield %n2 : !fp8.consumer<!ring>
      }
      // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %[[NUMBER:.*]] = %{{.*}}, %[[PARITY:.*]] = %{{.*}})
      %more = scf.for %i = %c0 to %n step %c1 iter_args(%e = %last) -> !fp8.consumer<!ring> {
        %s0 = fp8.acquire %e : !fp8.consumer<!ring>
        // CHECK: %[[N1:.*]], %[[P1:.*]] = fp8.advance %[[NUMBER]], %[[PARITY]] in 3
        %n0 = fp8.release %s0 : !fp8.consumer_stage<!ring>
        %s1 = fp8.acquire %n0 : !fp8.consumer<!ring>
        // CHECK: %[[N2:.*]], %[[P2:.*]] = fp8.advance %[[N1]], %[[P1]] in 3
        %n1 = fp8.release %s1 : !fp8.consumer_stage<!ring>
        %s2 = fp8.acquire %n1 : !fp8.consumer<!ring>
        // CHECK: %[[N3:.*]], %[[P3:.*]] = fp8.advance %[[N2]], %[[P2]] in 3
        %n2 = fp8.release %s2 : !fp8.consumer_stage<!ring>
        %s3 = fp8.acquire %n2 : !fp8.consumer<!ring>
        // CHECK: %[[N4:.*]], %[[P4:.*]] = fp8.advance %[[N3]], %[[P3]] in 3
        // CHECK: scf.yield %{{.*}}, %{{.*}}, %[[N4]], %[[P4]] : i32, i32, i32, i32
        %n3 = fp8.release %s3 : !fp8.consumer_stage<!ring>
        scf.yield %n3 : !fp8.consumer<!ring>
      }
      fp8.close %more : !fp8.consumer<!ring>
    }
    fp8.role "load" warps(1) (%end = %p) : !fp8.producer<!ring> {
      // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %[[NUMBER:.*]] = %{{.*}}, %[[PARITY:.*]] = %{{.*}})
      %last = scf.for %i = %c0 to %n step %c1 iter_args(%e = %end) -> !fp8.producer<!ring> {
        %stage = fp8.acquire %e : !fp8.producer<!ring>
        fp8.tma_load %map[%i, %c0], %stage["s"] : !fp8.tensor_map<!fp8.tile<1x128xf32>>, !fp8.producer_stage<!ring>
        // CHECK: %[[N1:.*]], %[[P1:.*]] = fp8.advance %[[NUMBER]], %[[PARITY]] in 3
        // CHECK: scf.yield %{{.*}}, %{{.*}}, %[[N1]], %[[P1]] : i32, i32, i32, i32
        %next = fp8.release %stage : !fp8.producer_stage<!ring>
        scf.yield %next : !fp8.producer<!ring>
      }
      fp8.close %last : !fp8.producer<!ring>
    }
    gpu.return
  }
}
