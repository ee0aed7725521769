// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// chip: sm_100a
// family: tiles
// kind: right
// passes: m=128 n=64 k=0; m=128 n=64 k=128; m=300 n=136 k=400; m=128 n=320 k=272
// options: --multiprocessors=2
// why: phase 1 throughout: four roles, three rings, persistent tiles in bands

!a_tile = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!b_tile = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>
!s_tile = !fp8.tile<1x128xf32>
!d_tile = !fp8.tile<32x32xbf16, swizzle_64b>
!ab = !fp8.pipeline<2, a: !a_tile, b: !b_tile>
!s = !fp8.pipeline<2, s: !s_tile>
!acc = !fp8.output_pipeline<2, 128x64xf32>
!queue = !fp8.store_queue<1, !d_tile, 4>
!sum = !fp8.fragment<128x64xf32, 4>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @kernel(%map_a: !fp8.tensor_map<!a_tile>, %map_s: !fp8.tensor_map<!s_tile>, %map_b: !fp8.tensor_map<!b_tile>,
                     %map_d: !fp8.tensor_map<!d_tile>, %b_scale: memref<?x?xf32>, %tiles_m: index, %tiles_n: index, %blocks: index)
        kernel attributes {fp8.linear} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %c128 = arith.constant 128 : index
      %ab_p, %ab_c = fp8.pipeline : !fp8.producer<!ab>, !fp8.consumer<!ab>
      %s_p, %s_c = fp8.pipeline : !fp8.producer<!s>, !fp8.consumer<!s>
      %acc_p, %acc_c = fp8.output_pipeline : !acc
      %empty = fp8.store_queue : !queue

      fp8.role "epilogue" warps(4) (%acc = %acc_c, %s = %s_c, %queue = %empty) : !fp8.consumer<!acc>, !fp8.consumer<!s>, !queue {
        %s9, %queue9 = fp8.epilogue_warp(%w0 = %acc) : !fp8.consumer<!acc> -> (!fp8.consumer<!s>, !queue) {
          %w1, %s1, %queue1 = fp8.for_each_tile persistent band(2) (%tm, %tn) in (%tiles_m, %tiles_n)
              iter_args(%w2 = %w0, %s2 = %s, %queue2 = %queue) -> (!fp8.epilogue_warp<!acc>, !fp8.consumer<!s>, !queue) {
            %m = arith.muli %tm, %c128 : index
            %n = arith.muli %tn, %c64 : index
            %nb = arith.divui %n, %c128 : index
            %zero = fp8.zero : !sum
            %w3, %s3, %sum = scf.for %block = %c0 to %blocks step %c1 iter_args(%w4 = %w2, %s4 = %s2, %before = %zero)
                -> (!fp8.epilogue_warp<!acc>, !fp8.consumer<!s>, !sum) {
              %bs = memref.load %b_scale[%nb, %block] : memref<?x?xf32>
              %w5, %s5, %after = fp8.per_k_stage(%stage = %w4, %scales = %s4) : !fp8.epilogue_warp<!acc>, !fp8.consumer<!s>
                  -> (!fp8.epilogue_warp<!acc>, !fp8.consumer<!s>, !sum) {
                %partial = fp8.accumulator %stage : !fp8.epilogue_stage<!acc>
                %as = fp8.tile %scales["s"] : !fp8.consumer_stage<!s>
                %added = fp8.promote %before, %partial scales(%as, %bs) : !sum, !fp8.tmem<128x64xf32>, !s_tile
                fp8.yield %added : !sum
              }
              scf.yield %w5, %s5, %after : !fp8.epilogue_warp<!acc>, !fp8.consumer<!s>, !sum
            }
            %queue3 = fp8.store %sum, %map_d[%m, %n] through %queue2 : !sum, !fp8.tensor_map<!d_tile>, !queue
            fp8.yield %w3, %s3, %queue3 : !fp8.epilogue_warp<!acc>, !fp8.consumer<!s>, !queue
          }
          fp8.yield %w1, %s1, %queue1 : !fp8.epilogue_warp<!acc>, !fp8.consumer<!s>, !queue
        }
        fp8.yield %s9, %queue9 : !fp8.consumer<!s>, !queue
      }

      fp8.role "mma" warps(1) (%acc = %acc_p, %ab = %ab_c) : !fp8.producer<!acc>, !fp8.consumer<!ab> {
        %ab9 = fp8.mma_warp(%w0 = %acc) : !fp8.producer<!acc> -> !fp8.consumer<!ab> {
          %w1, %ab1 = fp8.for_each_tile persistent band(2) (%tm, %tn) in (%tiles_m, %tiles_n)
              iter_args(%w2 = %w0, %ab2 = %ab) -> (!fp8.mma_warp<!acc>, !fp8.consumer<!ab>) {
            %w3, %ab3 = scf.for %block = %c0 to %blocks step %c1 iter_args(%w4 = %w2, %ab4 = %ab2) -> (!fp8.mma_warp<!acc>, !fp8.consumer<!ab>) {
              %w5, %ab5 = fp8.per_k_stage(%stage = %w4, %input = %ab4) : !fp8.mma_warp<!acc>, !fp8.consumer<!ab>
                  -> (!fp8.mma_warp<!acc>, !fp8.consumer<!ab>) {
                %accumulator = fp8.accumulator %stage : !fp8.mma_stage<!acc>
                %at = fp8.tile %input["a"] : !fp8.consumer_stage<!ab>
                %bt = fp8.tile %input["b"] : !fp8.consumer_stage<!ab>
                fp8.mma %accumulator, %at, %bt : !fp8.tmem<128x64xf32>, !a_tile, !b_tile
              }
              scf.yield %w5, %ab5 : !fp8.mma_warp<!acc>, !fp8.consumer<!ab>
            }
            fp8.yield %w3, %ab3 : !fp8.mma_warp<!acc>, !fp8.consumer<!ab>
          }
          fp8.yield %w1, %ab1 : !fp8.mma_warp<!acc>, !fp8.consumer<!ab>
        }
        fp8.yield %ab9 : !fp8.consumer<!ab>
      }

      fp8.role "load" warps(1) (%ab = %ab_p) : !fp8.producer<!ab> {
        %ab1 = fp8.for_each_tile persistent band(2) (%tm, %tn) in (%tiles_m, %tiles_n) iter_args(%ab2 = %ab) -> (!fp8.producer<!ab>) {
          %m = arith.muli %tm, %c128 : index
          %n = arith.muli %tn, %c64 : index
          %ab3 = scf.for %block = %c0 to %blocks step %c1 iter_args(%ab4 = %ab2) -> (!fp8.producer<!ab>) {
            %k = arith.muli %block, %c128 : index
            %ab5 = fp8.produce(%stage = %ab4) : !fp8.producer<!ab> -> !fp8.producer<!ab> {
              fp8.tma_load %map_a[%m, %k], %stage["a"] : !fp8.tensor_map<!a_tile>, !fp8.producer_stage<!ab>
              fp8.tma_load %map_b[%n, %k], %stage["b"] : !fp8.tensor_map<!b_tile>, !fp8.producer_stage<!ab>
            }
            scf.yield %ab5 : !fp8.producer<!ab>
          }
          fp8.yield %ab3 : !fp8.producer<!ab>
        }
        fp8.yield %ab1 : !fp8.producer<!ab>
      }

      fp8.role "load scales" warps(1) (%s = %s_p) : !fp8.producer<!s> {
        %s1 = fp8.for_each_tile persistent band(2) (%tm, %tn) in (%tiles_m, %tiles_n) iter_args(%s2 = %s) -> (!fp8.producer<!s>) {
          %m = arith.muli %tm, %c128 : index
          %s3 = scf.for %block = %c0 to %blocks step %c1 iter_args(%s4 = %s2) -> (!fp8.producer<!s>) {
            %s5 = fp8.produce(%stage = %s4) : !fp8.producer<!s> -> !fp8.producer<!s> {
              fp8.tma_load %map_s[%block, %m], %stage["s"] : !fp8.tensor_map<!s_tile>, !fp8.producer_stage<!s>
            }
            scf.yield %s5 : !fp8.producer<!s>
          }
          fp8.yield %s3 : !fp8.producer<!s>
        }
        fp8.yield %s1 : !fp8.producer<!s>
      }
      gpu.return
    }
  }
  func.func @launch(%a: memref<?x?xf8E4M3FN> {fp8.name = "a", fp8.access = "read"},
                    %a_scale: memref<?x?xf32, strided<[?, 1]>> {fp8.name = "a_scale", fp8.access = "read"},
                    %b: memref<?x?xf8E4M3FN> {fp8.name = "b", fp8.access = "read"},
                    %b_scale: memref<?x?xf32> {fp8.name = "b_scale", fp8.access = "read"},
                    %d: memref<?x?xbf16> {fp8.name = "d", fp8.access = "write"}) attributes {fp8.problem = "blockwise_gemm"} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %threads = arith.constant 224 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %m = memref.dim %a, %zero : memref<?x?xf8E4M3FN>
    %n = memref.dim %b, %zero : memref<?x?xf8E4M3FN>
    %k = memref.dim %a, %one : memref<?x?xf8E4M3FN>
    %tiles_m = arith.ceildivui %m, %c128 : index
    %tiles_n = arith.ceildivui %n, %c64 : index
    %blocks = arith.ceildivui %k, %c128 : index
    %tiles = arith.muli %tiles_m, %tiles_n : index
    %sms = fp8.multiprocessor_count
    %grid = arith.minui %tiles, %sms : index
    %map_a = fp8.tensor_map %a : memref<?x?xf8E4M3FN> -> !fp8.tensor_map<!a_tile>
    %map_s = fp8.tensor_map %a_scale : memref<?x?xf32, strided<[?, 1]>> -> !fp8.tensor_map<!s_tile>
    %map_b = fp8.tensor_map %b : memref<?x?xf8E4M3FN> -> !fp8.tensor_map<!b_tile>
    %map_d = fp8.tensor_map %d : memref<?x?xbf16> -> !fp8.tensor_map<!d_tile>
    gpu.launch_func @kernels::@kernel blocks in (%grid, %one, %one) threads in (%threads, %one, %one)
      args(%map_a : !fp8.tensor_map<!a_tile>, %map_s : !fp8.tensor_map<!s_tile>, %map_b : !fp8.tensor_map<!b_tile>, %map_d : !fp8.tensor_map<!d_tile>, %b_scale : memref<?x?xf32>, %tiles_m : index, %tiles_n : index, %blocks : index)
    return
  }
}
