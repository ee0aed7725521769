// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel written by hand in phase 1, with its own division of labour: two load warps, eight epilogue warps, and three rings (A,
// B, and A's scales). `fp8-opt --fp8-gemm-to-ptx` lowers it like the kernels that it makes itself.

!a_tile = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!scale_tile = !fp8.tile<1x128xf32>
!d_tile = !fp8.tile<32x64xbf16, swizzle_128b>
!a_ring = !fp8.pipeline<3, a: !a_tile>
!b_ring = !fp8.pipeline<2, b: !a_tile>
!s_ring = !fp8.pipeline<4, s: !scale_tile>
!acc = !fp8.output_pipeline<2, 128x128xf32>
!queue = !fp8.store_queue<2, !d_tile, 8>
!sum = !fp8.fragment<128x128xf32, 8>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @gemm(%a: !fp8.tensor_map<!a_tile>, %a_scale: !fp8.tensor_map<!scale_tile>, %b: !fp8.tensor_map<!a_tile>,
                   %d: !fp8.tensor_map<!d_tile>, %b_scale: memref<?x?xf32>, %tiles_m: index, %tiles_n: index,
                   %blocks: index)
        kernel attributes {fp8.linear, fp8.computes = {a = 0, a_scale = 1, b = 2, b_block = 128, b_scale = 4, blocks = 7, d = 3}} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c128 = arith.constant 128 : index
      %ap, %ac = fp8.pipeline : !fp8.producer<!a_ring>, !fp8.consumer<!a_ring>
      %bp, %bc = fp8.pipeline : !fp8.producer<!b_ring>, !fp8.consumer<!b_ring>
      %sp, %sc = fp8.pipeline : !fp8.producer<!s_ring>, !fp8.consumer<!s_ring>
      %accp, %accc = fp8.output_pipeline : !acc
      %queue = fp8.store_queue : !queue

      fp8.role "epilogue" warps(8) (%end = %accc, %s = %sc, %q = %queue) : !fp8.consumer<!acc>, !fp8.consumer<!s_ring>, !queue {
        %s9, %q9 = fp8.epilogue_warp(%warp = %end) : !fp8.consumer<!acc> -> (!fp8.consumer<!s_ring>, !queue) {
          %w2, %s2, %q2 = fp8.for_each_tile persistent (%tm, %tn) in (%tiles_m, %tiles_n)
              iter_args(%w = %warp, %si = %s, %qi = %q) -> (!fp8.epilogue_warp<!acc>, !fp8.consumer<!s_ring>, !queue) {
            %m = arith.muli %tm, %c128 : index
            %n = arith.muli %tn, %c128 : index
            %zero = fp8.zero : !sum
            %w4, %s4, %sum = scf.for %kb = %c0 to %blocks step %c1 iter_args(%wk = %w, %sk = %si, %f = %zero)
                -> (!fp8.epilogue_warp<!acc>, !fp8.consumer<!s_ring>, !sum) {
              %bs = memref.load %b_scale[%tn, %kb] : memref<?x?xf32>
              %w5, %s5, %f5 = fp8.per_k_stage(%stage = %wk, %scales = %sk) : !fp8.epilogue_warp<!acc>, !fp8.consumer<!s_ring>
                  -> (!fp8.epilogue_warp<!acc>, !fp8.consumer<!s_ring>, !sum) {
                %partial = fp8.accumulator %stage : !fp8.epilogue_stage<!acc>
                %as = fp8.tile %scales["s"] : !fp8.consumer_stage<!s_ring>
                %f6 = fp8.promote %f, %partial scales(%as, %bs) : !sum, !fp8.tmem<128x128xf32>, !scale_tile
                fp8.yield %f6 : !sum
              }
              scf.yield %w5, %s5, %f5 : !fp8.epilogue_warp<!acc>, !fp8.consumer<!s_ring>, !sum
            }
            %q4 = fp8.store %sum, %d[%m, %n] through %qi : !sum, !fp8.tensor_map<!d_tile>, !queue
            fp8.yield %w4, %s4, %q4 : !fp8.epilogue_warp<!acc>, !fp8.consumer<!s_ring>, !queue
          }
          fp8.yield %w2, %s2, %q2 : !fp8.epilogue_warp<!acc>, !fp8.consumer<!s_ring>, !queue
        }
        fp8.yield %s9, %q9 : !fp8.consumer<!s_ring>, !queue
      }

      fp8.role "load a" warps(1) (%p = %ap, %s = %sp) : !fp8.producer<!a_ring>, !fp8.producer<!s_ring> {
        %p9, %s9 = fp8.for_each_tile persistent (%tm, %tn) in (%tiles_m, %tiles_n)
            iter_args(%pi = %p, %si = %s) -> (!fp8.producer<!a_ring>, !fp8.producer<!s_ring>) {
          %m = arith.muli %tm, %c128 : index
          %p3, %s3 = scf.for %kb = %c0 to %blocks step %c1 iter_args(%pk = %pi, %sk = %si)
              -> (!fp8.producer<!a_ring>, !fp8.producer<!s_ring>) {
            %k = arith.muli %kb, %c128 : index
            %p5 = fp8.produce(%stage = %pk) : !fp8.producer<!a_ring> -> !fp8.producer<!a_ring> {
              fp8.tma_load %a[%m, %k], %stage["a"] : !fp8.tensor_map<!a_tile>, !fp8.producer_stage<!a_ring>
            }
            %s5 = fp8.produce(%stage = %sk) : !fp8.producer<!s_ring> -> !fp8.producer<!s_ring> {
              fp8.tma_load %a_scale[%kb, %m], %stage["s"] : !fp8.tensor_map<!scale_tile>, !fp8.producer_stage<!s_ring>
            }
            scf.yield %p5, %s5 : !fp8.producer<!a_ring>, !fp8.producer<!s_ring>
          }
          fp8.yield %p3, %s3 : !fp8.producer<!a_ring>, !fp8.producer<!s_ring>
        }
        fp8.yield %p9, %s9 : !fp8.producer<!a_ring>, !fp8.producer<!s_ring>
      }

      fp8.role "load b" warps(1) (%p = %bp) : !fp8.producer<!b_ring> {
        %p9 = fp8.for_each_tile persistent (%tm, %tn) in (%tiles_m, %tiles_n) iter_args(%pi = %p) -> (!fp8.producer<!b_ring>) {
          %n = arith.muli %tn, %c128 : index
          %p3 = scf.for %kb = %c0 to %blocks step %c1 iter_args(%pk = %pi) -> (!fp8.producer<!b_ring>) {
            %k = arith.muli %kb, %c128 : index
            %p5 = fp8.produce(%stage = %pk) : !fp8.producer<!b_ring> -> !fp8.producer<!b_ring> {
              fp8.tma_load %b[%n, %k], %stage["b"] : !fp8.tensor_map<!a_tile>, !fp8.producer_stage<!b_ring>
            }
            scf.yield %p5 : !fp8.producer<!b_ring>
          }
          fp8.yield %p3 : !fp8.producer<!b_ring>
        }
        fp8.yield %p9 : !fp8.producer<!b_ring>
      }

      fp8.role "mma" warps(1) (%end = %accp, %ca = %ac, %cb = %bc) : !fp8.producer<!acc>, !fp8.consumer<!a_ring>, !fp8.consumer<!b_ring> {
        %a9, %b9 = fp8.mma_warp(%warp = %end) : !fp8.producer<!acc> -> (!fp8.consumer<!a_ring>, !fp8.consumer<!b_ring>) {
          %w2, %a2, %b2 = fp8.for_each_tile persistent (%tm, %tn) in (%tiles_m, %tiles_n)
              iter_args(%w = %warp, %ai = %ca, %bi = %cb) -> (!fp8.mma_warp<!acc>, !fp8.consumer<!a_ring>, !fp8.consumer<!b_ring>) {
            %w4, %a4, %b4 = scf.for %kb = %c0 to %blocks step %c1 iter_args(%wk = %w, %ak = %ai, %bk = %bi)
                -> (!fp8.mma_warp<!acc>, !fp8.consumer<!a_ring>, !fp8.consumer<!b_ring>) {
              %w5, %a5, %b5 = fp8.per_k_stage(%stage = %wk, %as = %ak, %bs = %bk)
                  : !fp8.mma_warp<!acc>, !fp8.consumer<!a_ring>, !fp8.consumer<!b_ring>
                  -> (!fp8.mma_warp<!acc>, !fp8.consumer<!a_ring>, !fp8.consumer<!b_ring>) {
                %accumulator = fp8.accumulator %stage : !fp8.mma_stage<!acc>
                %at = fp8.tile %as["a"] : !fp8.consumer_stage<!a_ring>
                %bt = fp8.tile %bs["b"] : !fp8.consumer_stage<!b_ring>
                fp8.mma %accumulator, %at, %bt : !fp8.tmem<128x128xf32>, !a_tile, !a_tile
              }
              scf.yield %w5, %a5, %b5 : !fp8.mma_warp<!acc>, !fp8.consumer<!a_ring>, !fp8.consumer<!b_ring>
            }
            fp8.yield %w4, %a4, %b4 : !fp8.mma_warp<!acc>, !fp8.consumer<!a_ring>, !fp8.consumer<!b_ring>
          }
          fp8.yield %w2, %a2, %b2 : !fp8.mma_warp<!acc>, !fp8.consumer<!a_ring>, !fp8.consumer<!b_ring>
        }
        fp8.yield %a9, %b9 : !fp8.consumer<!a_ring>, !fp8.consumer<!b_ring>
      }
      gpu.return
    }
  }

  func.func @launch(%a: memref<?x?xf8E4M3FN> {fp8.name = "a", fp8.access = "read"},
                    %a_scale: memref<?x?xf32, strided<[?, 1]>> {fp8.name = "a_scale", fp8.access = "read"},
                    %b: memref<?x?xf8E4M3FN> {fp8.name = "b", fp8.access = "read"},
                    %b_scale: memref<?x?xf32> {fp8.name = "b_scale", fp8.access = "read"},
                    %d: memref<?x?xbf16> {fp8.name = "d", fp8.access = "write"}) attributes {fp8.problem = "blockwise_gemm"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    %c352 = arith.constant 352 : index
    %m = memref.dim %a, %c0 : memref<?x?xf8E4M3FN>
    %n = memref.dim %b, %c0 : memref<?x?xf8E4M3FN>
    %k = memref.dim %a, %c1 : memref<?x?xf8E4M3FN>
    %tiles_m = arith.ceildivui %m, %c128 : index
    %tiles_n = arith.ceildivui %n, %c128 : index
    %blocks = arith.ceildivui %k, %c128 : index
    %tiles = arith.muli %tiles_m, %tiles_n : index
    %sms = fp8.multiprocessor_count
    %grid = arith.minui %tiles, %sms : index
    %map_a = fp8.tensor_map %a : memref<?x?xf8E4M3FN> -> !fp8.tensor_map<!a_tile>
    %map_s = fp8.tensor_map %a_scale : memref<?x?xf32, strided<[?, 1]>> -> !fp8.tensor_map<!scale_tile>
    %map_b = fp8.tensor_map %b : memref<?x?xf8E4M3FN> -> !fp8.tensor_map<!a_tile>
    %map_d = fp8.tensor_map %d : memref<?x?xbf16> -> !fp8.tensor_map<!d_tile>
    gpu.launch_func @kernels::@gemm blocks in (%grid, %c1, %c1) threads in (%c352, %c1, %c1)
      args(%map_a : !fp8.tensor_map<!a_tile>, %map_s : !fp8.tensor_map<!scale_tile>, %map_b : !fp8.tensor_map<!a_tile>,
           %map_d : !fp8.tensor_map<!d_tile>, %b_scale : memref<?x?xf32>, %tiles_m : index, %tiles_n : index, %blocks : index)
    return
  }
}
