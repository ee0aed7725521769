// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// chip: sm_100a
// family: CTA pairs
// kind: right
// passes: m=256 n=64 k=0; m=256 n=64 k=128; m=100 n=200 k=272; m=300 n=136 k=400
// options: --multiprocessors=2
// why: CTA pairs: each CTA copies its rows of A and half of B, the leading one multiplies for both

!t = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!half = !fp8.tile<32x128xf8E4M3FN, swizzle_128b>
!d_tile = !fp8.tile<32x32xbf16, swizzle_64b>
!sum = !fp8.fragment<128x64xf32, 4>
!ab = !fp8.pipeline<2, a: !t, b: !half, cta_group = 2>
!acc = !fp8.output_pipeline<1, 256x64xf32, cta_group = 2>
!queue = !fp8.store_queue<1, !d_tile, 4>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @kernel(%map_a: !fp8.tensor_map<!t>, %map_b: !fp8.tensor_map<!half>, %map_d: !fp8.tensor_map<!d_tile>, %tiles_m: index, %tiles_n: index, %blocks: index, %rows: index) kernel attributes {fp8.linear, fp8.cluster = array<i64: 2, 1>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c32 = arith.constant 32 : index
      %c64 = arith.constant 64 : index
      %c128 = arith.constant 128 : index
      %ab_p, %ab_c = fp8.pipeline : !fp8.producer<!ab>, !fp8.consumer<!ab>
      %acc_p, %acc_c = fp8.output_pipeline : !acc
      %queue_empty = fp8.store_queue : !queue
      fp8.role "epilogue" warps(4) (%acc = %acc_c, %queue = %queue_empty) : !fp8.consumer<!acc>, !queue {
        %acc_tmem = fp8.wait_tmem %acc : !fp8.consumer<!acc> -> !fp8.tmem_ready<!acc>
        %accw = fp8.create_epilogue_warp %acc, %acc_tmem : !fp8.consumer<!acc>, !fp8.tmem_ready<!acc> -> !fp8.epilogue_warp<!acc>
        %any = arith.cmpi ne, %blocks, %c0 : index
        %acc3, %queue3 = fp8.for_each_tile persistent (%tm, %tn) in (%tiles_m, %tiles_n) iter_args(%acc1 = %accw, %queue1 = %queue) -> (!fp8.epilogue_warp<!acc>, !queue) {
          %m = arith.muli %tm, %c128 : index
          %n = arith.muli %tn, %c64 : index
          %sum = fp8.zero : !sum
          %acc2, %sum2 = fp8.consume(%acc_stage = %acc1) : !fp8.epilogue_warp<!acc> -> (!fp8.epilogue_warp<!acc>, !sum) {
            %accumulator = fp8.accumulator %acc_stage : !fp8.epilogue_stage<!acc>
            %sum1 = scf.if %any -> !sum {
              %read = fp8.read %accumulator : !fp8.tmem<256x64xf32, cta_group = 2> -> !sum
              scf.yield %read : !sum
            } else {
              %none = fp8.zero : !sum
              scf.yield %none : !sum
            }
            fp8.yield %sum1 : !sum
          }
          %queue2 = fp8.store %sum2, %map_d[%m, %n] through %queue1 : !sum, !fp8.tensor_map<!d_tile>, !queue
          fp8.yield %acc2, %queue2 : !fp8.epilogue_warp<!acc>, !queue
        }
        fp8.release_epilogue_warp %acc3 : !fp8.epilogue_warp<!acc>
        fp8.close %queue3 : !queue
      }
      fp8.role "mma" warps(1) (%acc = %acc_p, %ab = %ab_c) : !fp8.producer<!acc>, !fp8.consumer<!ab> {
        %accw = fp8.create_mma_warp %acc : !fp8.producer<!acc> -> !fp8.mma_warp<!acc>
        %acc5, %ab8 = fp8.for_each_tile persistent (%tm, %tn) in (%tiles_m, %tiles_n) iter_args(%acc1 = %accw, %ab1 = %ab) -> (!fp8.mma_warp<!acc>, !fp8.consumer<!ab>) {
          %acc4, %ab7 = fp8.leading_cta of pair (%acc2 = %acc1, %ab2 = %ab1) : !fp8.mma_warp<!acc>, !fp8.consumer<!ab> -> (!fp8.mma_warp<!acc>, !fp8.consumer<!ab>) {
            %acc3, %ab6 = fp8.produce(%acc_stage = %acc2) : !fp8.mma_warp<!acc> -> (!fp8.mma_warp<!acc>, !fp8.consumer<!ab>) {
              %ab5 = scf.for %block = %c0 to %blocks step %c1 iter_args(%ab3 = %ab2) -> (!fp8.consumer<!ab>) {
                %not_first = arith.cmpi ne, %block, %c0 : index
                %ab4 = fp8.consume(%ab_stage = %ab3) : !fp8.consumer<!ab> -> !fp8.consumer<!ab> {
                  %at = fp8.tile %ab_stage["a"] : !fp8.consumer_stage<!ab>
                  %bt = fp8.tile %ab_stage["b"] : !fp8.consumer_stage<!ab>
                  %accumulator = fp8.accumulator %acc_stage : !fp8.mma_stage<!acc>
                  fp8.mma %accumulator, %at, %bt accumulate(%not_first) : !fp8.tmem<256x64xf32, cta_group = 2>, !t, !half
                }
                scf.yield %ab4 : !fp8.consumer<!ab>
              }
              fp8.yield %ab5 : !fp8.consumer<!ab>
            }
            fp8.yield %acc3, %ab6 : !fp8.mma_warp<!acc>, !fp8.consumer<!ab>
          }
          fp8.yield %acc4, %ab7 : !fp8.mma_warp<!acc>, !fp8.consumer<!ab>
        }
        fp8.release_mma_warp %acc5 : !fp8.mma_warp<!acc>
        fp8.close %ab8 : !fp8.consumer<!ab>
      }
      fp8.role "load" warps(1) (%ab = %ab_p) : !fp8.producer<!ab> {
        %ab5 = fp8.for_each_tile persistent (%tm, %tn) in (%tiles_m, %tiles_n) iter_args(%ab1 = %ab) -> (!fp8.producer<!ab>) {
          %m = arith.muli %tm, %c128 : index
          %n = arith.muli %tn, %c64 : index
          %odd = arith.remui %tm, %c2 : index
          %shift = arith.muli %odd, %c32 : index
          %nh = arith.addi %n, %shift : index
          %ab4 = scf.for %block = %c0 to %blocks step %c1 iter_args(%ab2 = %ab1) -> (!fp8.producer<!ab>) {
            %k = arith.muli %block, %c128 : index
            %ab3 = fp8.produce(%ab_stage = %ab2) : !fp8.producer<!ab> -> !fp8.producer<!ab> {
              fp8.tma_load %map_a[%m, %k], %ab_stage["a"] : !fp8.tensor_map<!t>, !fp8.producer_stage<!ab>
              fp8.tma_load %map_b[%nh, %k], %ab_stage["b"] : !fp8.tensor_map<!half>, !fp8.producer_stage<!ab>
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
  func.func @launch(%a: memref<?x?xf8E4M3FN> {fp8.name = "a", fp8.access = "read"},
                    %b: memref<?x?xf8E4M3FN> {fp8.name = "b", fp8.access = "read"},
                    %d: memref<?x?xbf16> {fp8.name = "d", fp8.access = "write"}) attributes {fp8.problem = "gemm"} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %threads = arith.constant 192 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %m = memref.dim %a, %zero : memref<?x?xf8E4M3FN>
    %n = memref.dim %b, %zero : memref<?x?xf8E4M3FN>
    %k = memref.dim %a, %one : memref<?x?xf8E4M3FN>
    %rows = arith.ceildivui %m, %c128 : index
    %pairs = arith.ceildivui %rows, %c2 : index
    %tiles_m = arith.muli %pairs, %c2 : index
    %tiles_n = arith.ceildivui %n, %c64 : index
    %blocks = arith.ceildivui %k, %c128 : index
    %tiles = arith.muli %tiles_m, %tiles_n : index
    %sms = fp8.multiprocessor_count
    %grid = arith.minui %tiles, %sms : index
    %map_a = fp8.tensor_map %a : memref<?x?xf8E4M3FN> -> !fp8.tensor_map<!t>
    %map_b = fp8.tensor_map %b : memref<?x?xf8E4M3FN> -> !fp8.tensor_map<!half>
    %map_d = fp8.tensor_map %d : memref<?x?xbf16> -> !fp8.tensor_map<!d_tile>
    gpu.launch_func @kernels::@kernel blocks in (%grid, %one, %one) threads in (%threads, %one, %one)
      args(%map_a : !fp8.tensor_map<!t>, %map_b : !fp8.tensor_map<!half>, %map_d : !fp8.tensor_map<!d_tile>, %tiles_m : index, %tiles_n : index, %blocks : index, %m : index)
    return
  }
}
