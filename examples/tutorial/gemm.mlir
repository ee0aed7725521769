// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernel of docs/tutorial.md: D = A * B^T of bf16 matrices for Hopper, a tile of 64 x 64 for each CTA. A load warp and a warpgroup that
// multiplies hand the slots of one ring to and fro.

!operand = !fp8.tile<64x64xbf16, swizzle_128b>
!result = !fp8.tile<64x64xbf16, swizzle_128b>
!ring = !fp8.pipeline<4, a: !operand, b: !operand>
!queue = !fp8.store_queue<1, !result, 4>
!sum = !fp8.fragment<64x64xf32, 4, warpgroups>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @gemm(%a: !fp8.tensor_map<!operand>, %b: !fp8.tensor_map<!operand>, %d: !fp8.tensor_map<!result>, %depth: index)
        kernel attributes {fp8.linear} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %block_m = gpu.block_id x
      %block_n = gpu.block_id y
      %m = arith.muli %block_m, %c64 : index
      %n = arith.muli %block_n, %c64 : index
      %producer, %consumer = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
      %queue = fp8.store_queue : !queue

      fp8.role "multiply" warps(4) (%first = %consumer, %empty = %queue) : !fp8.consumer<!ring>, !queue {
        %blocks = arith.ceildivui %depth, %c64 : index
        %zero = fp8.zero : !sum
        %last, %sum = scf.for %block = %c0 to %blocks step %c1 iter_args(%end = %first, %before = %zero)
            -> (!fp8.consumer<!ring>, !sum) {
          %stage = fp8.acquire %end : !fp8.consumer<!ring>
          %at = fp8.tile %stage["a"] : !fp8.consumer_stage<!ring>
          %bt = fp8.tile %stage["b"] : !fp8.consumer_stage<!ring>
          %pending = fp8.warpgroup_mma %at, %bt accumulate(%before : !sum) : !operand, !operand -> !fp8.pending<!sum>
          %after = fp8.wait_mma %pending : !fp8.pending<!sum>
          %next = fp8.release %stage : !fp8.consumer_stage<!ring>
          scf.yield %next, %after : !fp8.consumer<!ring>, !sum
        }
        fp8.close %last : !fp8.consumer<!ring>
        %stored = fp8.store %sum, %d[%m, %n] through %empty : !sum, !fp8.tensor_map<!result>, !queue
        fp8.close %stored : !queue
      }

      fp8.role "load" warps(1) (%first = %producer) : !fp8.producer<!ring> {
        %blocks = arith.ceildivui %depth, %c64 : index
        %last = scf.for %block = %c0 to %blocks step %c1 iter_args(%end = %first) -> (!fp8.producer<!ring>) {
          %k = arith.muli %block, %c64 : index
          %stage = fp8.acquire %end : !fp8.producer<!ring>
          fp8.tma_load %a[%m, %k], %stage["a"] : !fp8.tensor_map<!operand>, !fp8.producer_stage<!ring>
          fp8.tma_load %b[%n, %k], %stage["b"] : !fp8.tensor_map<!operand>, !fp8.producer_stage<!ring>
          %filled = fp8.release %stage : !fp8.producer_stage<!ring>
          scf.yield %filled : !fp8.producer<!ring>
        }
        fp8.close %last : !fp8.producer<!ring>
      }
      gpu.return
    }
  }

  func.func @launch(%a: memref<?x?xbf16> {fp8.name = "a", fp8.access = "read"},
                    %b: memref<?x?xbf16> {fp8.name = "b", fp8.access = "read"},
                    %d: memref<?x?xbf16> {fp8.name = "d", fp8.access = "write"}) attributes {fp8.problem = "gemm"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %threads = arith.constant 160 : index
    %m = memref.dim %a, %c0 : memref<?x?xbf16>
    %n = memref.dim %b, %c0 : memref<?x?xbf16>
    %k = memref.dim %a, %c1 : memref<?x?xbf16>
    %grid_m = arith.ceildivui %m, %c64 : index
    %grid_n = arith.ceildivui %n, %c64 : index
    %map_a = fp8.tensor_map %a : memref<?x?xbf16> -> !fp8.tensor_map<!operand>
    %map_b = fp8.tensor_map %b : memref<?x?xbf16> -> !fp8.tensor_map<!operand>
    %map_d = fp8.tensor_map %d : memref<?x?xbf16> -> !fp8.tensor_map<!result>
    gpu.launch_func @kernels::@gemm blocks in (%grid_m, %grid_n, %c1) threads in (%threads, %c1, %c1)
      args(%map_a : !fp8.tensor_map<!operand>, %map_b : !fp8.tensor_map<!operand>, %map_d : !fp8.tensor_map<!result>, %k : index)
    return
  }
}
