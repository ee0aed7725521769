// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tensor-wise FP8 GEMM, D = d_scale * (A * B^T), written by hand in phase 1: one scale for each tensor, whose product is d_scale, so
// that nothing but the end needs it. CTA pairs add up all of K in tensor memory, in tiles of 256 x 256; in clusters of 2 x 2 the two
// pairs share the rows of A, of which each CTA copies half for both. `fp8-opt --fp8-gemm-to-ptx` lowers it like the kernels that it
// makes itself.

!a_box = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>
!a_tile = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!b_box = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!b_tile = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!d_tile = !fp8.tile<32x64xbf16, swizzle_128b>
!ring = !fp8.pipeline<4, a: !a_tile, b: !b_tile, cta_group = 2>
!acc = !fp8.output_pipeline<2, 256x256xf32, cta_group = 2>
!queue = !fp8.store_queue<2, !d_tile, 8>
!sum = !fp8.fragment<128x256xf32, 8>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @gemm(%a: !fp8.tensor_map<!a_box>, %b: !fp8.tensor_map<!b_box>, %d: !fp8.tensor_map<!d_tile>, %d_scale: memref<1x1xf32>,
                   %tiles_m: index, %tiles_n: index, %blocks: index)
        kernel attributes {fp8.cluster = array<i64: 2, 2>, fp8.linear} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      // Of a CTA; two have a tile's rows.
      %tile_m = arith.constant 128 : index
      %tile_n = arith.constant 256 : index
      %half_n = arith.constant 128 : index
      %tile_k = arith.constant 128 : index
      %inp, %inc = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
      %accp, %accc = fp8.output_pipeline : !acc
      %queue = fp8.store_queue : !queue

      fp8.role "epilogue" warps(8) (%end = %accc, %q = %queue) : !fp8.consumer<!acc>, !queue {
        // Of an empty K nothing was computed: D is zero.
        %any = arith.cmpi ne, %blocks, %c0 : index
        %scale = memref.load %d_scale[%c0, %c0] : memref<1x1xf32>
        %q9 = fp8.epilogue_warp(%warp = %end) : !fp8.consumer<!acc> -> !queue {
          %w2, %q2 = fp8.for_each_tile persistent band(8) (%tm, %tn) in (%tiles_m, %tiles_n)
              iter_args(%w = %warp, %qi = %q) -> (!fp8.epilogue_warp<!acc>, !queue) {
            %m = arith.muli %tm, %tile_m : index
            %n = arith.muli %tn, %tile_n : index
            %w3, %sum = fp8.consume(%stage = %w) : !fp8.epilogue_warp<!acc> -> (!fp8.epilogue_warp<!acc>, !sum) {
              %accumulator = fp8.accumulator %stage : !fp8.epilogue_stage<!acc>
              %f = scf.if %any -> !sum {
                %read = fp8.read %accumulator : !fp8.tmem<256x256xf32, cta_group = 2> -> !sum
                scf.yield %read : !sum
              } else {
                %zero = fp8.zero : !sum
                scf.yield %zero : !sum
              }
              fp8.yield %f : !sum
            }
            %scaled = fp8.map(%x = %sum) : !sum -> !sum {
              %y = arith.mulf %x, %scale : f32
              fp8.yield %y : f32
            }
            %q3 = fp8.store %scaled, %d[%m, %n] through %qi : !sum, !fp8.tensor_map<!d_tile>, !queue
            fp8.yield %w3, %q3 : !fp8.epilogue_warp<!acc>, !queue
          }
          fp8.yield %w2, %q2 : !fp8.epilogue_warp<!acc>, !queue
        }
        fp8.yield %q9 : !queue
      }

      fp8.role "load" warps(1) (%p = %inp) : !fp8.producer<!ring> {
        %p9 = fp8.for_each_tile persistent band(8) (%tm, %tn) in (%tiles_m, %tiles_n) iter_args(%pi = %p) -> (!fp8.producer<!ring>) {
          %m = arith.muli %tm, %tile_m : index
          // Each CTA of the pair has one half of the columns of B^T.
          %n = arith.muli %tn, %tile_n : index
          %half = arith.remui %tm, %c2 : index
          %start = arith.muli %half, %half_n : index
          %nb = arith.addi %n, %start : index
          %p3 = scf.for %kb = %c0 to %blocks step %c1 iter_args(%pk = %pi) -> (!fp8.producer<!ring>) {
            %k = arith.muli %kb, %tile_k : index
            %p4 = fp8.produce(%stage = %pk) : !fp8.producer<!ring> -> !fp8.producer<!ring> {
              fp8.tma_load %a[%m, %k], %stage["a"] multicast along n : !fp8.tensor_map<!a_box>, !fp8.producer_stage<!ring>
              fp8.tma_load %b[%nb, %k], %stage["b"] multicast along m : !fp8.tensor_map<!b_box>, !fp8.producer_stage<!ring>
            }
            scf.yield %p4 : !fp8.producer<!ring>
          }
          fp8.yield %p3 : !fp8.producer<!ring>
        }
        fp8.yield %p9 : !fp8.producer<!ring>
      }

      fp8.role "mma" warps(1) (%end = %accp, %in = %inc) : !fp8.producer<!acc>, !fp8.consumer<!ring> {
        %in9 = fp8.mma_warp(%warp = %end) : !fp8.producer<!acc> -> !fp8.consumer<!ring> {
          %w2, %in2 = fp8.for_each_tile persistent band(8) (%tm, %tn) in (%tiles_m, %tiles_n)
              iter_args(%w = %warp, %ini = %in) -> (!fp8.mma_warp<!acc>, !fp8.consumer<!ring>) {
            %w3, %in3 = fp8.leading_cta of pair (%wl = %w, %inl = %ini) : !fp8.mma_warp<!acc>, !fp8.consumer<!ring>
                -> (!fp8.mma_warp<!acc>, !fp8.consumer<!ring>) {
              %w4, %in4 = fp8.produce(%stage = %wl) : !fp8.mma_warp<!acc> -> (!fp8.mma_warp<!acc>, !fp8.consumer<!ring>) {
                %accumulator = fp8.accumulator %stage : !fp8.mma_stage<!acc>
                %in5 = scf.for %kb = %c0 to %blocks step %c1 iter_args(%ink = %inl) -> (!fp8.consumer<!ring>) {
                  %not_first = arith.cmpi ne, %kb, %c0 : index
                  %in6 = fp8.consume(%input = %ink) : !fp8.consumer<!ring> -> !fp8.consumer<!ring> {
                    %at = fp8.tile %input["a"] : !fp8.consumer_stage<!ring>
                    %bt = fp8.tile %input["b"] : !fp8.consumer_stage<!ring>
                    fp8.mma %accumulator, %at, %bt accumulate(%not_first) : !fp8.tmem<256x256xf32, cta_group = 2>, !a_tile, !b_tile
                  }
                  scf.yield %in6 : !fp8.consumer<!ring>
                }
                fp8.yield %in5 : !fp8.consumer<!ring>
              }
              fp8.yield %w4, %in4 : !fp8.mma_warp<!acc>, !fp8.consumer<!ring>
            }
            fp8.yield %w3, %in3 : !fp8.mma_warp<!acc>, !fp8.consumer<!ring>
          }
          fp8.yield %w2, %in2 : !fp8.mma_warp<!acc>, !fp8.consumer<!ring>
        }
        fp8.yield %in9 : !fp8.consumer<!ring>
      }
      gpu.return
    }
  }

  func.func @launch(%a: memref<?x?xf8E4M3FN> {fp8.name = "a", fp8.access = "read"},
                    %b: memref<?x?xf8E4M3FN> {fp8.name = "b", fp8.access = "read"},
                    %d_scale: memref<1x1xf32> {fp8.name = "d_scale", fp8.access = "read"},
                    %d: memref<?x?xbf16> {fp8.name = "d", fp8.access = "write"}) attributes {fp8.problem = "gemm"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %tile_m = arith.constant 128 : index
    %tile_n = arith.constant 256 : index
    %tile_k = arith.constant 128 : index
    %threads = arith.constant 320 : index
    %cluster_m = arith.constant 2 : index
    %cluster_n = arith.constant 2 : index
    %m = memref.dim %a, %c0 : memref<?x?xf8E4M3FN>
    %n = memref.dim %b, %c0 : memref<?x?xf8E4M3FN>
    %k = memref.dim %a, %c1 : memref<?x?xf8E4M3FN>
    %tiles_m = arith.ceildivui %m, %tile_m : index
    %tiles_n = arith.ceildivui %n, %tile_n : index
    %blocks = arith.ceildivui %k, %tile_k : index
    // As many clusters as there is work for, or room.
    %ctas = arith.constant 4 : index // of a cluster
    %clusters_m = arith.ceildivui %tiles_m, %cluster_m : index
    %clusters_n = arith.ceildivui %tiles_n, %cluster_n : index
    %clusters = arith.muli %clusters_m, %clusters_n : index
    %sms = fp8.multiprocessor_count
    %fit = arith.divui %sms, %ctas : index
    %some = arith.maxui %fit, %c1 : index
    %launched = arith.minui %clusters, %some : index
    %grid = arith.muli %launched, %ctas : index
    %map_a = fp8.tensor_map %a : memref<?x?xf8E4M3FN> -> !fp8.tensor_map<!a_box>
    %map_b = fp8.tensor_map %b : memref<?x?xf8E4M3FN> -> !fp8.tensor_map<!b_box>
    %map_d = fp8.tensor_map %d : memref<?x?xbf16> -> !fp8.tensor_map<!d_tile>
    gpu.launch_func @kernels::@gemm blocks in (%grid, %c1, %c1) threads in (%threads, %c1, %c1)
      args(%map_a : !fp8.tensor_map<!a_box>, %map_b : !fp8.tensor_map<!b_box>, %map_d : !fp8.tensor_map<!d_tile>,
           %d_scale : memref<1x1xf32>, %tiles_m : index, %tiles_n : index, %blocks : index)
    return
  }
}
