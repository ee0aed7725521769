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

// Two copies, each told of its own bytes, and one whose bytes no argument has.
// CHECK-LABEL: func.func @barriers
func.func @barriers(%map: !fp8.tensor_map<!tile>, %whole: !fp8.tensor_map<!tile>, %bytes: i32 {fp8.box_bytes = 0 : i64}, %k: index, %at: i32, %barrier: i32, %other: i32)
    attributes {fp8.linear, fp8.barriers} {
  // CHECK-COUNT-2: fp8.mbarrier_expect %{{.*}}, 8192 as %
  fp8.mbarrier_expect %barrier, 8192 as %bytes
  fp8.mbarrier_expect %other, 8192 as %bytes
  fp8.mbarrier_expect %other, 8192
  fp8.tma_prefetch %map[%k, %k] : !fp8.tensor_map<!tile>
  fp8.copy_tile %map[%k, %k], %at, %barrier : !fp8.tensor_map<!tile>
  fp8.copy_tile %map[%k, %k], %at, %other : !fp8.tensor_map<!tile>
  fp8.copy_tile %whole[%k, %k], %at, %other : !fp8.tensor_map<!tile>
  return
}
