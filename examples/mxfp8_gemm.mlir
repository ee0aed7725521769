// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An MXFP8 GEMM for Blackwell, written by hand in phase 1: each 32 elements of a row of A and of B share a scale, a power of two (UE8M0),
// and the tensor cores apply it. So the sums stay in tensor memory over all of K, without promotion. The scales lie in memory as cuBLAS and
// PyTorch take them: tiles of 512 bytes for 128 rows and 128 elements of K. CTA pairs compute tiles of 256 x 128; in clusters of 2 x 2
// the two pairs share the rows of A, of which each CTA copies half for both.
//
// Scales of 1x128 and 128x128 blocks that are powers of two are a special case: repeat each for the blocks of 32 that it covers.

!a_box = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>
!a_tile = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!b_box = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>
!b_tile = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>
!scales = !fp8.tile<32x16xf8E8M0FNU>
!d_tile = !fp8.tile<32x64xbf16, swizzle_128b>
!ring = !fp8.pipeline<6, a: !a_tile, b: !b_tile, a_scale: !scales, b_scale: !scales, cta_group = 2>
!acc = !fp8.output_pipeline<2, 256x128xf32, cta_group = 2, scale_slots = 6>
!queue = !fp8.store_queue<2, !d_tile, 4>
!sum = !fp8.fragment<128x128xf32, 4>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @gemm(%a: !fp8.tensor_map<!a_box>, %a_scale: !fp8.tensor_map<!scales, rank = 4>, %b: !fp8.tensor_map<!b_box>,
                   %b_scale: !fp8.tensor_map<!scales, rank = 4>, %d: !fp8.tensor_map<!d_tile>, %tiles_m: index, %tiles_n: index, %blocks: index)
        kernel attributes {fp8.cluster = array<i64: 2, 2>, fp8.linear} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      // Of a CTA; two have a tile's rows.
      %tile_m = arith.constant 128 : index
      %tile_n = arith.constant 128 : index
      %half_n = arith.constant 64 : index
      %tile_k = arith.constant 128 : index
      %inp, %inc = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
      %accp, %accc = fp8.output_pipeline : !acc
      %queue = fp8.store_queue : !queue

      fp8.role "epilogue" warps(4) (%end = %accc, %q = %queue) : !fp8.consumer<!acc>, !queue {
        // Of an empty K nothing was computed: D is zero.
        %any = arith.cmpi ne, %blocks, %c0 : index
        %q9 = fp8.epilogue_warp(%warp = %end) : !fp8.consumer<!acc> -> !queue {
          %w2, %q2 = fp8.for_each_tile persistent band(8) (%tm, %tn) in (%tiles_m, %tiles_n)
              iter_args(%w = %warp, %qi = %q) -> (!fp8.epilogue_warp<!acc>, !queue) {
            %m = arith.muli %tm, %tile_m : index
            %n = arith.muli %tn, %tile_n : index
            %w3, %sum = fp8.consume(%stage = %w) : !fp8.epilogue_warp<!acc> -> (!fp8.epilogue_warp<!acc>, !sum) {
              %accumulator = fp8.accumulator %stage : !fp8.epilogue_stage<!acc>
              %f = scf.if %any -> !sum {
                %read = fp8.read %accumulator : !fp8.tmem<256x128xf32, cta_group = 2, scale_slots = 6> -> !sum
                scf.yield %read : !sum
              } else {
                %zero = fp8.zero : !sum
                scf.yield %zero : !sum
              }
              fp8.yield %f : !sum
            }
            %q3 = fp8.store %sum, %d[%m, %n] through %qi : !sum, !fp8.tensor_map<!d_tile>, !queue
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
              // A CTA has the scales of its own rows of A, and those of all columns.
              fp8.tma_load %a_scale[%tm, %kb, %c0, %c0], %stage["a_scale"] : !fp8.tensor_map<!scales, rank = 4>, !fp8.producer_stage<!ring>
              fp8.tma_load %b_scale[%tn, %kb, %c0, %c0], %stage["b_scale"] : !fp8.tensor_map<!scales, rank = 4>, !fp8.producer_stage<!ring>
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
                    %as = fp8.tile %input["a_scale"] : !fp8.consumer_stage<!ring>
                    %bs = fp8.tile %input["b_scale"] : !fp8.consumer_stage<!ring>
                    fp8.mma %accumulator, %at, %bt scaled_by(%as, %bs) accumulate(%not_first)
                        : !fp8.tmem<256x128xf32, cta_group = 2, scale_slots = 6>, !a_tile, !b_tile
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
                    %a_scale: memref<?x?x32x16xf8E8M0FNU> {fp8.name = "a_scale", fp8.access = "read"},
                    %b: memref<?x?xf8E4M3FN> {fp8.name = "b", fp8.access = "read"},
                    %b_scale: memref<?x?x32x16xf8E8M0FNU> {fp8.name = "b_scale", fp8.access = "read"},
                    %d: memref<?x?xbf16> {fp8.name = "d", fp8.access = "write"}) attributes {fp8.problem = "blockwise_gemm"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %tile_m = arith.constant 128 : index
    %tile_n = arith.constant 128 : index
    %tile_k = arith.constant 128 : index
    %threads = arith.constant 192 : index
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
    %map_a_scale = fp8.tensor_map %a_scale : memref<?x?x32x16xf8E8M0FNU> -> !fp8.tensor_map<!scales, rank = 4>
    %map_b = fp8.tensor_map %b : memref<?x?xf8E4M3FN> -> !fp8.tensor_map<!b_box>
    %map_b_scale = fp8.tensor_map %b_scale : memref<?x?x32x16xf8E8M0FNU> -> !fp8.tensor_map<!scales, rank = 4>
    %map_d = fp8.tensor_map %d : memref<?x?xbf16> -> !fp8.tensor_map<!d_tile>
    gpu.launch_func @kernels::@gemm blocks in (%grid, %c1, %c1) threads in (%threads, %c1, %c1)
      args(%map_a : !fp8.tensor_map<!a_box>, %map_a_scale : !fp8.tensor_map<!scales, rank = 4>, %map_b : !fp8.tensor_map<!b_box>,
           %map_b_scale : !fp8.tensor_map<!scales, rank = 4>, %map_d : !fp8.tensor_map<!d_tile>, %tiles_m : index, %tiles_n : index,
           %blocks : index)
    return
  }
}
