// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// chip: sm_90a
// family: clusters and multicast
// kind: right
// passes: m=128 n=64 k=0; m=128 n=64 k=64; m=64 n=64 k=200; m=200 n=72 k=448
// why: two CTAs copy half of each tile of B for both; a cluster may have a CTA without rows

!tile = !fp8.tile<64x64xbf16, swizzle_128b>
!sum = !fp8.fragment<64x64xf32, 4, warpgroups>
!share = !fp8.tile<32x64xbf16, swizzle_128b>
!a = !fp8.pipeline<2, a: !tile>
!b = !fp8.pipeline<2, b: !tile>
!queue = !fp8.store_queue<1, !tile, 4>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @kernel(%map_a: !fp8.tensor_map<!tile>, %map_b: !fp8.tensor_map<!share>, %map_d: !fp8.tensor_map<!tile>, %depth: index, %rows: index) kernel attributes {fp8.linear, fp8.cluster = array<i64: 2, 1>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %block_m = gpu.block_id x
      %block_n = gpu.block_id y
      %m = arith.muli %block_m, %c64 : index
      %n = arith.muli %block_n, %c64 : index
      %a_p, %a_c = fp8.pipeline : !fp8.producer<!a>, !fp8.consumer<!a>
      %b_p, %b_c = fp8.pipeline : !fp8.producer<!b>, !fp8.consumer<!b>
      %queue_empty = fp8.store_queue : !queue
      fp8.role "multiply" warps(4) (%a = %a_c, %b = %b_c, %queue = %queue_empty) : !fp8.consumer<!a>, !fp8.consumer<!b>, !queue {
        %blocks = arith.ceildivui %depth, %c64 : index
        %sum = fp8.zero : !sum
        %a3, %b3, %sum3 = scf.for %block = %c0 to %blocks step %c1 iter_args(%a1 = %a, %b1 = %b, %sum1 = %sum) -> (!fp8.consumer<!a>, !fp8.consumer<!b>, !sum) {
          %a_stage = fp8.acquire %a1 : !fp8.consumer<!a>
          %b_stage = fp8.acquire %b1 : !fp8.consumer<!b>
          %at = fp8.tile %a_stage["a"] : !fp8.consumer_stage<!a>
          %bt = fp8.tile %b_stage["b"] : !fp8.consumer_stage<!b>
          %pending = fp8.warpgroup_mma %at, %bt accumulate(%sum1 : !sum) : !tile, !tile -> !fp8.pending<!sum>
          %sum2 = fp8.wait_mma %pending : !fp8.pending<!sum>
          %b2 = fp8.release %b_stage : !fp8.consumer_stage<!b>
          %a2 = fp8.release %a_stage : !fp8.consumer_stage<!a>
          scf.yield %a2, %b2, %sum2 : !fp8.consumer<!a>, !fp8.consumer<!b>, !sum
        }
        %queue1 = fp8.store %sum3, %map_d[%m, %n] through %queue : !sum, !fp8.tensor_map<!tile>, !queue
        fp8.close %a3 : !fp8.consumer<!a>
        fp8.close %b3 : !fp8.consumer<!b>
        fp8.close %queue1 : !queue
      }
      fp8.role "load" warps(1) (%a = %a_p, %b = %b_p) : !fp8.producer<!a>, !fp8.producer<!b> {
        %blocks = arith.ceildivui %depth, %c64 : index
        %a3, %b3 = scf.for %block = %c0 to %blocks step %c1 iter_args(%a1 = %a, %b1 = %b) -> (!fp8.producer<!a>, !fp8.producer<!b>) {
          %k = arith.muli %block, %c64 : index
          %a_stage = fp8.acquire %a1 : !fp8.producer<!a>
          fp8.tma_load %map_a[%m, %k], %a_stage["a"] : !fp8.tensor_map<!tile>, !fp8.producer_stage<!a>
          %a2 = fp8.release %a_stage : !fp8.producer_stage<!a>
          %b_stage = fp8.acquire %b1 : !fp8.producer<!b>
          fp8.tma_load %map_b[%n, %k], %b_stage["b"] multicast along m : !fp8.tensor_map<!share>, !fp8.producer_stage<!b>
          %b2 = fp8.release %b_stage : !fp8.producer_stage<!b>
          scf.yield %a2, %b2 : !fp8.producer<!a>, !fp8.producer<!b>
        }
        fp8.close %a3 : !fp8.producer<!a>
        fp8.close %b3 : !fp8.producer<!b>
      }
      gpu.return
    }
  }
  func.func @launch(%a: memref<?x?xbf16> {fp8.name = "a", fp8.access = "read"},
                    %b: memref<?x?xbf16> {fp8.name = "b", fp8.access = "read"},
                    %d: memref<?x?xbf16> {fp8.name = "d", fp8.access = "write"}) attributes {fp8.problem = "gemm"} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %threads = arith.constant 160 : index
    %c64 = arith.constant 64 : index
    %m = memref.dim %a, %zero : memref<?x?xbf16>
    %n = memref.dim %b, %zero : memref<?x?xbf16>
    %k = memref.dim %a, %one : memref<?x?xbf16>
    %two = arith.constant 2 : index
    %rows = arith.ceildivui %m, %c64 : index
    %pairs = arith.ceildivui %rows, %two : index
    %grid_m = arith.muli %pairs, %two : index
    %grid_n = arith.ceildivui %n, %c64 : index
    %map_a = fp8.tensor_map %a : memref<?x?xbf16> -> !fp8.tensor_map<!tile>
    %map_b = fp8.tensor_map %b : memref<?x?xbf16> -> !fp8.tensor_map<!share>
    %map_d = fp8.tensor_map %d : memref<?x?xbf16> -> !fp8.tensor_map<!tile>
    gpu.launch_func @kernels::@kernel blocks in (%grid_m, %grid_n, %one) threads in (%threads, %one, %one)
      args(%map_a : !fp8.tensor_map<!tile>, %map_b : !fp8.tensor_map<!share>, %map_d : !fp8.tensor_map<!tile>, %k : index, %m : index)
    return
  }
}
