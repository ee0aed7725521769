// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The blockwise-scaled GEMM for Hopper with two warpgroups in ping-pong: each has tiles of its own, and one multiplies while the other stores.
// Written by hand in phase 1; `fp8-opt --fp8-gemm-to-ptx=chip=sm_90a` lowers it.
//
// A CTA computes every gridDim.x-th tile, and its two roles take them in turn. Each role has a ring of its own, because every consumer of a
// ring gets every slot. The ring `!turn` has no tiles: a role holds its slot in its main loop, so that the other waits until that is over.

!a_tile = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>
!b_tile = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!scale_tile = !fp8.tile<1x64xf32>
!d_tile = !fp8.tile<64x64xbf16, swizzle_128b>
!ring = !fp8.pipeline<3, a: !a_tile, b: !b_tile, s: !scale_tile>
!turn = !fp8.pipeline<1>
!queue = !fp8.store_queue<2, !d_tile, 4>
!sum = !fp8.fragment<64x128xf32, 4, warpgroups>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // Adds up the products of a tile, of column %tn of tiles.
    func.func private @multiply(%end: !fp8.consumer<!ring>, %b_scale: memref<?x?xf32>, %tn: index, %blocks: index)
        -> (!fp8.consumer<!ring>, !sum) attributes {fp8.linear} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = fp8.zero : !sum
      %end2, %sum = scf.for %kb = %c0 to %blocks step %c1 iter_args(%e = %end, %f = %zero) -> (!fp8.consumer<!ring>, !sum) {
        %bs = memref.load %b_scale[%tn, %kb] : memref<?x?xf32>
        %e2, %f2 = fp8.consume(%stage = %e) : !fp8.consumer<!ring> -> (!fp8.consumer<!ring>, !sum) {
          %at = fp8.tile %stage["a"] : !fp8.consumer_stage<!ring>
          %bt = fp8.tile %stage["b"] : !fp8.consumer_stage<!ring>
          %as = fp8.tile %stage["s"] : !fp8.consumer_stage<!ring>
          %pending = fp8.warpgroup_mma %at, %bt : !a_tile, !b_tile -> !fp8.pending<!sum>
          %product = fp8.wait_mma %pending : !fp8.pending<!sum>
          %f3 = fp8.promote %f, %product scales(%as, %bs) : !sum, !sum, !scale_tile
          fp8.yield %f3 : !sum
        }
        scf.yield %e2, %f2 : !fp8.consumer<!ring>, !sum
      }
      return %end2, %sum : !fp8.consumer<!ring>, !sum
    }

    // Fills a ring with the K blocks of a tile.
    func.func private @load(%end: !fp8.producer<!ring>, %a: !fp8.tensor_map<!a_tile>, %a_scale: !fp8.tensor_map<!scale_tile>,
                            %b: !fp8.tensor_map<!b_tile>, %tile: index, %tiles_m: index, %blocks: index)
        -> !fp8.producer<!ring> attributes {fp8.linear} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %c128 = arith.constant 128 : index
      %tm = arith.remui %tile, %tiles_m : index
      %tn = arith.divui %tile, %tiles_m : index
      %m = arith.muli %tm, %c64 : index
      %n = arith.muli %tn, %c128 : index
      %end2 = scf.for %kb = %c0 to %blocks step %c1 iter_args(%e = %end) -> (!fp8.producer<!ring>) {
        %k = arith.muli %kb, %c128 : index
        %e2 = fp8.produce(%stage = %e) : !fp8.producer<!ring> -> (!fp8.producer<!ring>) {
          fp8.tma_load %a[%m, %k], %stage["a"] : !fp8.tensor_map<!a_tile>, !fp8.producer_stage<!ring>
          fp8.tma_load %b[%n, %k], %stage["b"] : !fp8.tensor_map<!b_tile>, !fp8.producer_stage<!ring>
          fp8.tma_load %a_scale[%kb, %m], %stage["s"] : !fp8.tensor_map<!scale_tile>, !fp8.producer_stage<!ring>
        }
        scf.yield %e2 : !fp8.producer<!ring>
      }
      return %end2 : !fp8.producer<!ring>
    }

    gpu.func @gemm(%a: !fp8.tensor_map<!a_tile>, %a_scale: !fp8.tensor_map<!scale_tile>, %b: !fp8.tensor_map<!b_tile>,
                   %d: !fp8.tensor_map<!d_tile>, %b_scale: memref<?x?xf32>, %tiles_m: index, %tiles: index, %blocks: index)
        kernel attributes {fp8.linear, fp8.computes = {a = 0, a_scale = 1, b = 2, b_block = 128, b_scale = 4, blocks = 7, d = 3}} {
      %c2 = arith.constant 2 : index
      %c64 = arith.constant 64 : index
      %c128 = arith.constant 128 : index
      %cta = gpu.block_id x
      %ctas = gpu.grid_dim x
      %both = arith.muli %ctas, %c2 : index
      %p0, %c0 = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
      %p1, %c1 = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
      %first, %second = fp8.pipeline : !fp8.producer<!turn>, !fp8.consumer<!turn>
      %queue0 = fp8.store_queue : !queue
      %queue1 = fp8.store_queue : !queue

      fp8.role "ping" warps(4) (%end = %c0, %turns = %first, %q = %queue0) : !fp8.consumer<!ring>, !fp8.producer<!turn>, !queue {
        %end2, %turns2, %q2 = scf.for %tile = %cta to %tiles step %both iter_args(%e = %end, %o = %turns, %qi = %q)
            -> (!fp8.consumer<!ring>, !fp8.producer<!turn>, !queue) {
          %tm = arith.remui %tile, %tiles_m : index
          %tn = arith.divui %tile, %tiles_m : index
          %m = arith.muli %tm, %c64 : index
          %n = arith.muli %tn, %c128 : index
          %turn = fp8.acquire %o : !fp8.producer<!turn>  // the first one passes
          %e2, %sum = func.call @multiply(%e, %b_scale, %tn, %blocks) : (!fp8.consumer<!ring>, memref<?x?xf32>, index, index) -> (!fp8.consumer<!ring>, !sum)
          %o2 = fp8.release %turn : !fp8.producer_stage<!turn>
          %q3 = fp8.store %sum, %d[%m, %n] through %qi : !sum, !fp8.tensor_map<!d_tile>, !queue
          scf.yield %e2, %o2, %q3 : !fp8.consumer<!ring>, !fp8.producer<!turn>, !queue
        }
        fp8.yield %end2, %turns2, %q2 : !fp8.consumer<!ring>, !fp8.producer<!turn>, !queue
      }

      fp8.role "pong" warps(4) (%end = %c1, %turns = %second, %q = %queue1) : !fp8.consumer<!ring>, !fp8.consumer<!turn>, !queue {
        %end2, %turns2, %q2 = scf.for %ping = %cta to %tiles step %both iter_args(%e = %end, %o = %turns, %qi = %q)
            -> (!fp8.consumer<!ring>, !fp8.consumer<!turn>, !queue) {
          %tile = arith.addi %ping, %ctas : index
          %isTile = arith.cmpi ult, %tile, %tiles : index
          %e2, %o2, %q3 = scf.if %isTile -> (!fp8.consumer<!ring>, !fp8.consumer<!turn>, !queue) {
            %tm = arith.remui %tile, %tiles_m : index
            %tn = arith.divui %tile, %tiles_m : index
            %m = arith.muli %tm, %c64 : index
            %n = arith.muli %tn, %c128 : index
            %turn = fp8.acquire %o : !fp8.consumer<!turn>  // waits until "ping" has multiplied
            %e3, %sum = func.call @multiply(%e, %b_scale, %tn, %blocks) : (!fp8.consumer<!ring>, memref<?x?xf32>, index, index) -> (!fp8.consumer<!ring>, !sum)
            %o3 = fp8.release %turn : !fp8.consumer_stage<!turn>
            %q4 = fp8.store %sum, %d[%m, %n] through %qi : !sum, !fp8.tensor_map<!d_tile>, !queue
            scf.yield %e3, %o3, %q4 : !fp8.consumer<!ring>, !fp8.consumer<!turn>, !queue
          } else {
            // Of an odd number of tiles this role has one less. Nobody waits for the turn that it leaves.
            scf.yield %e, %o, %qi : !fp8.consumer<!ring>, !fp8.consumer<!turn>, !queue
          }
          scf.yield %e2, %o2, %q3 : !fp8.consumer<!ring>, !fp8.consumer<!turn>, !queue
        }
        fp8.yield %end2, %turns2, %q2 : !fp8.consumer<!ring>, !fp8.consumer<!turn>, !queue
      }

      fp8.role "load" warps(1) (%end0 = %p0, %end1 = %p1) : !fp8.producer<!ring>, !fp8.producer<!ring> {
        %e0, %e1 = scf.for %ping = %cta to %tiles step %both iter_args(%i0 = %end0, %i1 = %end1) -> (!fp8.producer<!ring>, !fp8.producer<!ring>) {
          %pong = arith.addi %ping, %ctas : index
          %isTile = arith.cmpi ult, %pong, %tiles : index
          %j0 = func.call @load(%i0, %a, %a_scale, %b, %ping, %tiles_m, %blocks)
            : (!fp8.producer<!ring>, !fp8.tensor_map<!a_tile>, !fp8.tensor_map<!scale_tile>, !fp8.tensor_map<!b_tile>, index, index, index) -> !fp8.producer<!ring>
          %j1 = scf.if %isTile -> (!fp8.producer<!ring>) {
            %l1 = func.call @load(%i1, %a, %a_scale, %b, %pong, %tiles_m, %blocks)
              : (!fp8.producer<!ring>, !fp8.tensor_map<!a_tile>, !fp8.tensor_map<!scale_tile>, !fp8.tensor_map<!b_tile>, index, index, index) -> !fp8.producer<!ring>
            scf.yield %l1 : !fp8.producer<!ring>
          } else {
            scf.yield %i1 : !fp8.producer<!ring>
          }
          scf.yield %j0, %j1 : !fp8.producer<!ring>, !fp8.producer<!ring>
        }
        fp8.yield %e0, %e1 : !fp8.producer<!ring>, !fp8.producer<!ring>
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
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c384 = arith.constant 384 : index
    %m = memref.dim %a, %c0 : memref<?x?xf8E4M3FN>
    %n = memref.dim %b, %c0 : memref<?x?xf8E4M3FN>
    %k = memref.dim %a, %c1 : memref<?x?xf8E4M3FN>
    %tiles_m = arith.ceildivui %m, %c64 : index
    %tiles_n = arith.ceildivui %n, %c128 : index
    %blocks = arith.ceildivui %k, %c128 : index
    %tiles = arith.muli %tiles_m, %tiles_n : index
    %pairs = arith.ceildivui %tiles, %c2 : index
    %sms = fp8.multiprocessor_count
    %grid = arith.minui %pairs, %sms : index
    %map_a = fp8.tensor_map %a : memref<?x?xf8E4M3FN> -> !fp8.tensor_map<!a_tile>
    %map_s = fp8.tensor_map %a_scale : memref<?x?xf32, strided<[?, 1]>> -> !fp8.tensor_map<!scale_tile>
    %map_b = fp8.tensor_map %b : memref<?x?xf8E4M3FN> -> !fp8.tensor_map<!b_tile>
    %map_d = fp8.tensor_map %d : memref<?x?xbf16> -> !fp8.tensor_map<!d_tile>
    gpu.launch_func @kernels::@gemm blocks in (%grid, %c1, %c1) threads in (%c384, %c1, %c1)
      args(%map_a : !fp8.tensor_map<!a_tile>, %map_s : !fp8.tensor_map<!scale_tile>, %map_b : !fp8.tensor_map<!b_tile>,
           %map_d : !fp8.tensor_map<!d_tile>, %b_scale : memref<?x?xf32>, %tiles_m : index, %tiles : index, %blocks : index)
    return
  }
}
