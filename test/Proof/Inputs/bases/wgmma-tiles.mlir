// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// chip: sm_90a
// family: tiles
// kind: right
// passes: m=64 n=64 k=0; m=64 n=64 k=64; m=128 n=200 k=200; m=300 n=72 k=136
// options: --multiprocessors=2
// why: phase 1 on Hopper: persistent tiles on two multiprocessors

!tile = !fp8.tile<64x64xbf16, swizzle_128b>
!sum = !fp8.fragment<64x64xf32, 4, warpgroups>
!ab = !fp8.pipeline<2, a: !tile, b: !tile>
!queue = !fp8.store_queue<1, !tile, 4>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @kernel(%map_a: !fp8.tensor_map<!tile>, %map_b: !fp8.tensor_map<!tile>, %map_d: !fp8.tensor_map<!tile>, %depth: index, %tiles_m: index, %tiles_n: index) kernel attributes {fp8.linear} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %ab_p, %ab_c = fp8.pipeline : !fp8.producer<!ab>, !fp8.consumer<!ab>
      %queue_empty = fp8.store_queue : !queue
      fp8.role "multiply" warps(4) (%ab = %ab_c, %queue = %queue_empty) : !fp8.consumer<!ab>, !queue {
        %blocks = arith.ceildivui %depth, %c64 : index
        %ab5, %queue3 = fp8.for_each_tile persistent (%tm, %tn) in (%tiles_m, %tiles_n) iter_args(%ab1 = %ab, %queue1 = %queue) -> (!fp8.consumer<!ab>, !queue) {
          %m = arith.muli %tm, %c64 : index
          %n = arith.muli %tn, %c64 : index
          %sum = fp8.zero : !sum
          %ab4, %sum4 = scf.for %block = %c0 to %blocks step %c1 iter_args(%ab2 = %ab1, %sum1 = %sum) -> (!fp8.consumer<!ab>, !sum) {
            %ab3, %sum3 = fp8.consume(%ab_stage = %ab2) : !fp8.consumer<!ab> -> (!fp8.consumer<!ab>, !sum) {
              %at = fp8.tile %ab_stage["a"] : !fp8.consumer_stage<!ab>
              %bt = fp8.tile %ab_stage["b"] : !fp8.consumer_stage<!ab>
              %pending = fp8.warpgroup_mma %at, %bt accumulate(%sum1 : !sum) : !tile, !tile -> !fp8.pending<!sum>
              %sum2 = fp8.wait_mma %pending : !fp8.pending<!sum>
              fp8.yield %sum2 : !sum
            }
            scf.yield %ab3, %sum3 : !fp8.consumer<!ab>, !sum
          }
          %queue2 = fp8.store %sum4, %map_d[%m, %n] through %queue1 : !sum, !fp8.tensor_map<!tile>, !queue
          fp8.yield %ab4, %queue2 : !fp8.consumer<!ab>, !queue
        }
        fp8.close %ab5 : !fp8.consumer<!ab>
        fp8.close %queue3 : !queue
      }
      fp8.role "load" warps(1) (%ab = %ab_p) : !fp8.producer<!ab> {
        %blocks = arith.ceildivui %depth, %c64 : index
        %ab5 = fp8.for_each_tile persistent (%tm, %tn) in (%tiles_m, %tiles_n) iter_args(%ab1 = %ab) -> (!fp8.producer<!ab>) {
          %m = arith.muli %tm, %c64 : index
          %n = arith.muli %tn, %c64 : index
          %ab4 = scf.for %block = %c0 to %blocks step %c1 iter_args(%ab2 = %ab1) -> (!fp8.producer<!ab>) {
            %k = arith.muli %block, %c64 : index
            %ab3 = fp8.produce(%ab_stage = %ab2) : !fp8.producer<!ab> -> !fp8.producer<!ab> {
              fp8.tma_load %map_a[%m, %k], %ab_stage["a"] : !fp8.tensor_map<!tile>, !fp8.producer_stage<!ab>
              fp8.tma_load %map_b[%n, %k], %ab_stage["b"] : !fp8.tensor_map<!tile>, !fp8.producer_stage<!ab>
            }
            scf.yield %ab3 : !fp8.producer<!ab>
          }
          fp8.yield %ab4 : !fp8.producer<!ab>
        }
        fp8.close %ab5 : !fp8.producer<!ab>
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
    %grid_m = arith.ceildivui %m, %c64 : index
    %grid_n = arith.ceildivui %n, %c64 : index
    %tiles = arith.muli %grid_m, %grid_n : index
    %sms = fp8.multiprocessor_count
    %grid = arith.minui %tiles, %sms : index
    %map_a = fp8.tensor_map %a : memref<?x?xbf16> -> !fp8.tensor_map<!tile>
    %map_b = fp8.tensor_map %b : memref<?x?xbf16> -> !fp8.tensor_map<!tile>
    %map_d = fp8.tensor_map %d : memref<?x?xbf16> -> !fp8.tensor_map<!tile>
    gpu.launch_func @kernels::@kernel blocks in (%grid, %one, %one) threads in (%threads, %one, %one)
      args(%map_a : !fp8.tensor_map<!tile>, %map_b : !fp8.tensor_map<!tile>, %map_d : !fp8.tensor_map<!tile>, %k : index, %grid_m : index, %grid_n : index)
    return
  }
}
