// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel in phase 2 that keeps A's scales in two rings, the even K blocks in one and the odd ones in the other: branches swap the
// handles of the rings. Canonicalization makes them selects, which lower like the branches.

// REQUIRES: compiler
// RUN: fp8-opt %s --fp8-gemm-to-ptx=chip=sm_100a --emit=ptx -o %t.branch.ptx
// RUN: fp8-run %t.branch.ptx --backend=sim --m=200 --n=200 --k=1168 --schedules=10 | FileCheck %s
// RUN: fp8-opt %s --canonicalize -o %t.mlir
// RUN: FileCheck %s --check-prefix=SELECT --input-file=%t.mlir
// RUN: fp8-opt %t.mlir --fp8-gemm-to-ptx=chip=sm_100a --emit=ptx -o %t.select.ptx
// RUN: fp8-run %t.select.ptx --backend=sim --m=200 --n=200 --k=1168 --schedules=10 | FileCheck %s
// RUN: fp8-run %t.select.ptx --backend=sim --m=1 --n=8 --k=16 --schedules=10 | FileCheck %s
// CHECK: {"ok":true,{{.*}}"errors":0,{{.*}}"schedules":10,"distinct_schedules":{{8|9|10}},{{.*}}"wrong":0,"unwritten":0,
// SELECT-COUNT-3: arith.select {{.*}} : !fp8.consumer<
// SELECT-COUNT-3: arith.select {{.*}} : !fp8.producer<

!a_tile = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!b_tile = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>
!s_tile = !fp8.tile<1x128xf32>
!d_tile = !fp8.tile<32x32xbf16, swizzle_64b>
!a_ring = !fp8.pipeline<2, a: !a_tile>
!b_ring = !fp8.pipeline<3, b: !b_tile>
!s_ring = !fp8.pipeline<2, s: !s_tile>
!acc = !fp8.output_pipeline<3, 128x64xf32>
!queue = !fp8.store_queue<1, !d_tile, 4>
!sum = !fp8.fragment<128x64xf32, 4>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @swapped(%a: !fp8.tensor_map<!a_tile>, %a_scale: !fp8.tensor_map<!s_tile>, %b: !fp8.tensor_map<!b_tile>,
                     %d: !fp8.tensor_map<!d_tile>, %b_scale: memref<?x?xf32>, %tiles_m: index, %blocks: index)
        kernel attributes {fp8.linear, fp8.computes = {a = 0, a_scale = 1, b = 2, b_block = 128, b_scale = 4, blocks = 6, d = 3}} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c64 = arith.constant 64 : index
      %c128 = arith.constant 128 : index
      %ap, %ac = fp8.pipeline : !fp8.producer<!a_ring>, !fp8.consumer<!a_ring>
      %bp, %bc = fp8.pipeline : !fp8.producer<!b_ring>, !fp8.consumer<!b_ring>
      %sp, %sc = fp8.pipeline : !fp8.producer<!s_ring>, !fp8.consumer<!s_ring>
      %tp, %tc = fp8.pipeline : !fp8.producer<!s_ring>, !fp8.consumer<!s_ring>
      %accp, %accc = fp8.output_pipeline : !acc
      %queue = fp8.store_queue : !queue

      fp8.role "epilogue" warps(4) (%end = %accc, %s0 = %sc, %t0 = %tc, %q0 = %queue)
          : !fp8.consumer<!acc>, !fp8.consumer<!s_ring>, !fp8.consumer<!s_ring>, !queue {
        %tile = gpu.block_id x
        %tm = arith.remui %tile, %tiles_m : index
        %tn = arith.divui %tile, %tiles_m : index
        %m = arith.muli %tm, %c128 : index
        %n = arith.muli %tn, %c64 : index
        %nb = arith.divui %n, %c128 : index
        %ready = fp8.wait_tmem %end : !fp8.consumer<!acc> -> !fp8.tmem_ready<!acc>
        %w0 = fp8.create_epilogue_warp %end, %ready : !fp8.consumer<!acc>, !fp8.tmem_ready<!acc> -> !fp8.epilogue_warp<!acc>
        %zero = fp8.zero : !sum
        %w1, %s1, %t1, %sum = scf.for %kb = %c0 to %blocks step %c1 iter_args(%w = %w0, %s = %s0, %t = %t0, %f = %zero)
            -> (!fp8.epilogue_warp<!acc>, !fp8.consumer<!s_ring>, !fp8.consumer<!s_ring>, !sum) {
          %rest = arith.remui %kb, %c2 : index
          %odd = arith.cmpi eq, %rest, %c1 : index
          %this, %other = scf.if %odd -> (!fp8.consumer<!s_ring>, !fp8.consumer<!s_ring>) {
            scf.yield %t, %s : !fp8.consumer<!s_ring>, !fp8.consumer<!s_ring>
          } else {
            scf.yield %s, %t : !fp8.consumer<!s_ring>, !fp8.consumer<!s_ring>
          }
          %bs = memref.load %b_scale[%nb, %kb] : memref<?x?xf32>
          %scales = fp8.acquire %this : !fp8.consumer<!s_ring>
          %stage = fp8.acquire %w : !fp8.epilogue_warp<!acc>
          %partial = fp8.accumulator %stage : !fp8.epilogue_stage<!acc>
          %as = fp8.tile %scales["s"] : !fp8.consumer_stage<!s_ring>
          %g = fp8.promote %f, %partial scales(%as, %bs) : !sum, !fp8.tmem<128x64xf32>, !s_tile
          %w2 = fp8.release %stage : !fp8.epilogue_stage<!acc>
          %used = fp8.release %scales : !fp8.consumer_stage<!s_ring>
          %s2, %t2 = scf.if %odd -> (!fp8.consumer<!s_ring>, !fp8.consumer<!s_ring>) {
            scf.yield %other, %used : !fp8.consumer<!s_ring>, !fp8.consumer<!s_ring>
          } else {
            scf.yield %used, %other : !fp8.consumer<!s_ring>, !fp8.consumer<!s_ring>
          }
          scf.yield %w2, %s2, %t2, %g : !fp8.epilogue_warp<!acc>, !fp8.consumer<!s_ring>, !fp8.consumer<!s_ring>, !sum
        }
        fp8.release_epilogue_warp %w1 : !fp8.epilogue_warp<!acc>
        fp8.close %s1 : !fp8.consumer<!s_ring>
        fp8.close %t1 : !fp8.consumer<!s_ring>
        %q1 = fp8.store %sum, %d[%m, %n] through %q0 : !sum, !fp8.tensor_map<!d_tile>, !queue
        fp8.close %q1 : !queue
      }

      fp8.role "mma" warps(1) (%end = %accp, %a0 = %ac, %b0 = %bc) : !fp8.producer<!acc>, !fp8.consumer<!a_ring>, !fp8.consumer<!b_ring> {
        %w0 = fp8.create_mma_warp %end : !fp8.producer<!acc> -> !fp8.mma_warp<!acc>
        %w1, %a1, %b1 = scf.for %kb = %c0 to %blocks step %c1 iter_args(%w = %w0, %ai = %a0, %bi = %b0)
            -> (!fp8.mma_warp<!acc>, !fp8.consumer<!a_ring>, !fp8.consumer<!b_ring>) {
          %bs = fp8.acquire %bi : !fp8.consumer<!b_ring>
          %as = fp8.acquire %ai : !fp8.consumer<!a_ring>
          %stage = fp8.acquire %w : !fp8.mma_warp<!acc>
          %accumulator = fp8.accumulator %stage : !fp8.mma_stage<!acc>
          %at = fp8.tile %as["a"] : !fp8.consumer_stage<!a_ring>
          %bt = fp8.tile %bs["b"] : !fp8.consumer_stage<!b_ring>
          fp8.mma %accumulator, %at, %bt : !fp8.tmem<128x64xf32>, !a_tile, !b_tile
          %a2 = fp8.release %as : !fp8.consumer_stage<!a_ring>
          %b2 = fp8.release %bs : !fp8.consumer_stage<!b_ring>
          %w2 = fp8.release %stage : !fp8.mma_stage<!acc>
          scf.yield %w2, %a2, %b2 : !fp8.mma_warp<!acc>, !fp8.consumer<!a_ring>, !fp8.consumer<!b_ring>
        }
        fp8.close %a1 : !fp8.consumer<!a_ring>
        fp8.close %b1 : !fp8.consumer<!b_ring>
        fp8.release_mma_warp %w1 : !fp8.mma_warp<!acc>
      }

      fp8.role "load" warps(1) (%a0 = %ap, %b0 = %bp) : !fp8.producer<!a_ring>, !fp8.producer<!b_ring> {
        %tile = gpu.block_id x
        %tm = arith.remui %tile, %tiles_m : index
        %tn = arith.divui %tile, %tiles_m : index
        %m = arith.muli %tm, %c128 : index
        %n = arith.muli %tn, %c64 : index
        %a1, %b1 = scf.for %kb = %c0 to %blocks step %c1 iter_args(%ai = %a0, %bi = %b0)
            -> (!fp8.producer<!a_ring>, !fp8.producer<!b_ring>) {
          %k = arith.muli %kb, %c128 : index
          %as = fp8.acquire %ai : !fp8.producer<!a_ring>
          fp8.tma_load %a[%m, %k], %as["a"] : !fp8.tensor_map<!a_tile>, !fp8.producer_stage<!a_ring>
          %a2 = fp8.release %as : !fp8.producer_stage<!a_ring>
          %bs = fp8.acquire %bi : !fp8.producer<!b_ring>
          fp8.tma_load %b[%n, %k], %bs["b"] : !fp8.tensor_map<!b_tile>, !fp8.producer_stage<!b_ring>
          %b2 = fp8.release %bs : !fp8.producer_stage<!b_ring>
          scf.yield %a2, %b2 : !fp8.producer<!a_ring>, !fp8.producer<!b_ring>
        }
        fp8.close %a1 : !fp8.producer<!a_ring>
        fp8.close %b1 : !fp8.producer<!b_ring>
      }

      fp8.role "load scales" warps(1) (%s0 = %sp, %t0 = %tp) : !fp8.producer<!s_ring>, !fp8.producer<!s_ring> {
        %tile = gpu.block_id x
        %tm = arith.remui %tile, %tiles_m : index
        %m = arith.muli %tm, %c128 : index
        %s1, %t1 = scf.for %kb = %c0 to %blocks step %c1 iter_args(%s = %s0, %t = %t0)
            -> (!fp8.producer<!s_ring>, !fp8.producer<!s_ring>) {
          %rest = arith.remui %kb, %c2 : index
          %odd = arith.cmpi eq, %rest, %c1 : index
          %this, %other = scf.if %odd -> (!fp8.producer<!s_ring>, !fp8.producer<!s_ring>) {
            scf.yield %t, %s : !fp8.producer<!s_ring>, !fp8.producer<!s_ring>
          } else {
            scf.yield %s, %t : !fp8.producer<!s_ring>, !fp8.producer<!s_ring>
          }
          %stage = fp8.acquire %this : !fp8.producer<!s_ring>
          fp8.tma_load %a_scale[%kb, %m], %stage["s"] : !fp8.tensor_map<!s_tile>, !fp8.producer_stage<!s_ring>
          %used = fp8.release %stage : !fp8.producer_stage<!s_ring>
          %s2, %t2 = scf.if %odd -> (!fp8.producer<!s_ring>, !fp8.producer<!s_ring>) {
            scf.yield %other, %used : !fp8.producer<!s_ring>, !fp8.producer<!s_ring>
          } else {
            scf.yield %used, %other : !fp8.producer<!s_ring>, !fp8.producer<!s_ring>
          }
          scf.yield %s2, %t2 : !fp8.producer<!s_ring>, !fp8.producer<!s_ring>
        }
        fp8.close %s1 : !fp8.producer<!s_ring>
        fp8.close %t1 : !fp8.producer<!s_ring>
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
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c224 = arith.constant 224 : index
    %m = memref.dim %a, %c0 : memref<?x?xf8E4M3FN>
    %n = memref.dim %b, %c0 : memref<?x?xf8E4M3FN>
    %k = memref.dim %a, %c1 : memref<?x?xf8E4M3FN>
    %tiles_m = arith.ceildivui %m, %c128 : index
    %tiles_n = arith.ceildivui %n, %c64 : index
    %blocks = arith.ceildivui %k, %c128 : index
    %tiles = arith.muli %tiles_m, %tiles_n : index
    %map_a = fp8.tensor_map %a : memref<?x?xf8E4M3FN> -> !fp8.tensor_map<!a_tile>
    %map_s = fp8.tensor_map %a_scale : memref<?x?xf32, strided<[?, 1]>> -> !fp8.tensor_map<!s_tile>
    %map_b = fp8.tensor_map %b : memref<?x?xf8E4M3FN> -> !fp8.tensor_map<!b_tile>
    %map_d = fp8.tensor_map %d : memref<?x?xbf16> -> !fp8.tensor_map<!d_tile>
    gpu.launch_func @kernels::@swapped blocks in (%tiles, %c1, %c1) threads in (%c224, %c1, %c1)
      args(%map_a : !fp8.tensor_map<!a_tile>, %map_s : !fp8.tensor_map<!s_tile>, %map_b : !fp8.tensor_map<!b_tile>,
           %map_d : !fp8.tensor_map<!d_tile>, %b_scale : memref<?x?xf32>, %tiles_m : index, %blocks : index)
    return
  }
}
