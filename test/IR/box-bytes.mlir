// RUN: fp8-opt %s --verify-roundtrip | FileCheck %s

!tile = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>
!ring = !fp8.pipeline<2, a: !tile>

gpu.module @kernels {
  // Workgroup memory stands behind the arguments in the entry block.
  // CHECK: gpu.func @kernel(%{{.*}}: !fp8.tensor_map<!tile>, %{{.*}}: i32 {fp8.box_bytes = 0 : i64}) workgroup
  gpu.func @kernel(%map: !fp8.tensor_map<!tile>, %bytes: i32 {fp8.box_bytes = 0 : i64}) workgroup(%w : memref<4xf32, #gpu.address_space<workgroup>>)
      kernel attributes {fp8.linear} {
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "load" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %zero = arith.constant 0 : index
      %stage = fp8.acquire %end : !fp8.producer<!ring>
      // CHECK: fp8.tma_load %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}}["a"]
      fp8.tma_load %map[%zero, %zero], %stage["a"] : !fp8.tensor_map<!tile>, !fp8.producer_stage<!ring>
      %next = fp8.release %stage : !fp8.producer_stage<!ring>
      fp8.close %next : !fp8.producer<!ring>
    }
    fp8.role "use" warps(1) (%end = %c) : !fp8.consumer<!ring> {
      %stage = fp8.acquire %end : !fp8.consumer<!ring>
      %next = fp8.release %stage : !fp8.consumer_stage<!ring>
      fp8.close %next : !fp8.consumer<!ring>
    }
    gpu.return
  }
}
