// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel written by hand with the halves of acquire and release, in phases 1 and 2: each CTA computes one tile 64 columns wide, and
// every role gets at its slots in another way. Where a coordinate depends on the K block, the kernel finds the block from the number
// of the slot it works on. Without any one of the lowerings it gives wrong numbers, breaks a rule of the barriers, or never ends.

// REQUIRES: compiler
// RUN: fp8-opt %s --fp8-prove="chip=sm_100a require" -o /dev/null
// RUN: fp8-opt %s --fp8-gemm-to-ptx=chip=sm_100a --emit=ptx -o %t.ptx
// RUN: fp8-run %t.ptx --backend=sim --m=128 --n=64 --k=128 --schedules=10 --step-limit=10000000 | FileCheck %s
// RUN: fp8-run %t.ptx --backend=sim --m=200 --n=200 --k=1168 --schedules=10 --step-limit=10000000 | FileCheck %s
// RUN: fp8-run %t.ptx --backend=sim --m=1 --n=8 --k=16 --schedules=10 --step-limit=10000000 | FileCheck %s
// RUN: fp8-run %t.ptx --backend=sim --m=130 --n=72 --k=0 --schedules=10 --step-limit=10000000 | FileCheck %s
// CHECK: {"ok":true,{{.*}}"errors":0,{{.*}}"schedules":10,"distinct_schedules":{{8|9|10}},{{.*}}"wrong":0,"unwritten":0,

!a_tile = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!b_tile = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>
!s_tile = !fp8.tile<1x128xf32>
!d_tile = !fp8.tile<32x32xbf16, swizzle_64b>
!a_ring = !fp8.pipeline<2, a: !a_tile>
!b_ring = !fp8.pipeline<3, b: !b_tile>
!s_ring = !fp8.pipeline<4, s: !s_tile>
!acc = !fp8.output_pipeline<3, 128x64xf32>
!queue = !fp8.store_queue<1, !d_tile, 4>
!sum = !fp8.fragment<128x64xf32, 4>
!s_signalled = !fp8.signalled<!fp8.consumer_stage<!s_ring>>
!acc_signalled = !fp8.signalled<!fp8.epilogue_stage<!acc>>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @explicit(%a: !fp8.tensor_map<!a_tile>, %a_scale: !fp8.tensor_map<!s_tile>, %b: !fp8.tensor_map<!b_tile>,
                       %d: !fp8.tensor_map<!d_tile>, %b_scale: memref<?x?xf32>, %tiles_m: index, %blocks: index)
        kernel attributes {fp8.linear} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %c64 = arith.constant 64 : index
      %c128 = arith.constant 128 : index
      %rows = arith.muli %tiles_m, %c128 : index
      // The counts stand here as the seeds state them; they are what the roles make.
      %ap, %ac = fp8.pipeline {producer_arrivals = 1, consumer_arrivals = 1} : !fp8.producer<!a_ring>, !fp8.consumer<!a_ring>
      %bp, %bc = fp8.pipeline : !fp8.producer<!b_ring>, !fp8.consumer<!b_ring>
      %sp, %sc = fp8.pipeline {consumer_arrivals = 4} : !fp8.producer<!s_ring>, !fp8.consumer<!s_ring>
      %accp, %accc = fp8.output_pipeline : !acc
      %queue = fp8.store_queue : !queue

      // Scoped, and explicit: the scales go back before the accumulator does.
      fp8.role "epilogue" warps(4) (%end = %accc, %s0 = %sc, %q0 = %queue) : !fp8.consumer<!acc>, !fp8.consumer<!s_ring>, !queue {
        %tile = gpu.block_id x
        %tm = arith.remui %tile, %tiles_m : index
        %tn = arith.divui %tile, %tiles_m : index
        %m = arith.muli %tm, %c128 : index
        %n = arith.muli %tn, %c64 : index
        %nb = arith.divui %n, %c128 : index
        %s9, %sum9 = fp8.epilogue_warp(%w0 = %end) : !fp8.consumer<!acc> -> (!fp8.consumer<!s_ring>, !sum) {
          %zero = fp8.zero : !sum
          %w1, %s1, %sum = scf.for %i = %c0 to %blocks step %c1 iter_args(%w = %w0, %s = %s0, %f = %zero)
              -> (!fp8.epilogue_warp<!acc>, !fp8.consumer<!s_ring>, !sum) {
            // B's scale of the block that comes next, before it is there: the block from the slot of an end.
            %slot = fp8.index %w : !fp8.epilogue_warp<!acc>
            %lap = arith.divui %i, %c3 : index
            %before = arith.muli %lap, %c3 : index
            %kb = arith.addi %before, %slot : index
            %bs = memref.load %b_scale[%nb, %kb] : memref<?x?xf32>
            %w2, %s2, %g = fp8.consume_explicit(%stage = %w, %scales = %s) : !fp8.epilogue_warp<!acc>, !fp8.consumer<!s_ring>
                -> (!fp8.epilogue_warp<!acc>, !fp8.consumer<!s_ring>, !sum) {
              %partial = fp8.accumulator %stage : !fp8.epilogue_stage<!acc>
              %as = fp8.tile %scales["s"] : !fp8.consumer_stage<!s_ring>
              %h = fp8.promote %f, %partial scales(%as, %bs) : !sum, !fp8.tmem<128x64xf32>, !s_tile
              %scales1 = fp8.arrive %scales : !fp8.consumer_stage<!s_ring>
              %stage1 = fp8.arrive %stage : !fp8.epilogue_stage<!acc>
              fp8.yield %stage1, %scales1, %h : !acc_signalled, !s_signalled, !sum
            }
            scf.yield %w2, %s2, %g : !fp8.epilogue_warp<!acc>, !fp8.consumer<!s_ring>, !sum
          }
          fp8.yield %w1, %s1, %sum : !fp8.epilogue_warp<!acc>, !fp8.consumer<!s_ring>, !sum
        }
        %q1 = fp8.store %sum9, %d[%m, %n] through %q0 : !sum, !fp8.tensor_map<!d_tile>, !queue
        fp8.yield %s9, %q1 : !fp8.consumer<!s_ring>, !queue
      }

      // Linear, and explicit: A's slot goes back before B's ring has been looked at again.
      fp8.role "mma" warps(1) (%end = %accp, %a0 = %ac, %b0 = %bc) : !fp8.producer<!acc>, !fp8.consumer<!a_ring>, !fp8.consumer<!b_ring> {
        %w0 = fp8.create_mma_warp %end : !fp8.producer<!acc> -> !fp8.mma_warp<!acc>
        %w1, %a1, %b1 = scf.for %i = %c0 to %blocks step %c1 iter_args(%w = %w0, %ai = %a0, %bi = %b0)
            -> (!fp8.mma_warp<!acc>, !fp8.consumer<!a_ring>, !fp8.consumer<!b_ring>) {
          %w_done = fp8.try_wait %w : !fp8.mma_warp<!acc>
          %b_done = fp8.try_wait %bi : !fp8.consumer<!b_ring>
          %a_ready = fp8.wait %ai : !fp8.consumer<!a_ring>
          %b_ready = fp8.wait %bi unless %b_done : !fp8.consumer<!b_ring>
          %w_ready = fp8.wait %w unless %w_done : !fp8.mma_warp<!acc>
          %bs = fp8.acquire %b_ready : !fp8.ready<!fp8.consumer<!b_ring>>
          %as = fp8.acquire %a_ready : !fp8.ready<!fp8.consumer<!a_ring>>
          %stage = fp8.acquire %w_ready : !fp8.ready<!fp8.mma_warp<!acc>>
          %accumulator = fp8.accumulator %stage : !fp8.mma_stage<!acc>
          %at = fp8.tile %as["a"] : !fp8.consumer_stage<!a_ring>
          %bt = fp8.tile %bs["b"] : !fp8.consumer_stage<!b_ring>
          fp8.mma %accumulator, %at, %bt : !fp8.tmem<128x64xf32>, !a_tile, !b_tile
          %signalled = fp8.arrive %stage : !fp8.mma_stage<!acc>
          %as1 = fp8.arrive %as : !fp8.consumer_stage<!a_ring>
          %b2 = fp8.release %bs : !fp8.consumer_stage<!b_ring>
          %a2 = fp8.step %as1 : !fp8.signalled<!fp8.consumer_stage<!a_ring>>
          %w2 = fp8.step %signalled : !fp8.signalled<!fp8.mma_stage<!acc>>
          scf.yield %w2, %a2, %b2 : !fp8.mma_warp<!acc>, !fp8.consumer<!a_ring>, !fp8.consumer<!b_ring>
        }
        fp8.close %a1 : !fp8.consumer<!a_ring>
        fp8.close %b1 : !fp8.consumer<!b_ring>
        fp8.release_mma_warp %w1 : !fp8.mma_warp<!acc>
      }

      // A and its scales: fills whichever ring has a free slot, and looks again. A's coordinate comes from the slot of a stage; its
      // copies name their barrier. Those of the scales stand under a condition, so each announces its own bytes, and arrive arrives.
      fp8.role "load a" warps(1) (%a0 = %ap, %s0 = %sp) : !fp8.producer<!a_ring>, !fp8.producer<!s_ring> {
        %tile = gpu.block_id x
        %tm = arith.remui %tile, %tiles_m : index
        %m = arith.muli %tm, %c128 : index
        %a1, %s1, %last:2 = scf.while (%ai = %a0, %si = %s0, %i = %c0, %j = %c0)
            : (!fp8.producer<!a_ring>, !fp8.producer<!s_ring>, index, index)
            -> (!fp8.producer<!a_ring>, !fp8.producer<!s_ring>, index, index) {
          %more_a = arith.cmpi ult, %i, %blocks : index
          %more_s = arith.cmpi ult, %j, %blocks : index
          %more = arith.ori %more_a, %more_s : i1
          scf.condition(%more) %ai, %si, %i, %j : !fp8.producer<!a_ring>, !fp8.producer<!s_ring>, index, index
        } do {
        ^bb0(%ai: !fp8.producer<!a_ring>, %si: !fp8.producer<!s_ring>, %i: index, %j: index):
          %more_a = arith.cmpi ult, %i, %blocks : index
          %a_free = fp8.try_wait %ai : !fp8.producer<!a_ring>
          %load_a = arith.andi %more_a, %a_free : i1
          %a2, %i2 = scf.if %load_a -> (!fp8.producer<!a_ring>, index) {
            %ready = fp8.wait %ai unless %a_free : !fp8.producer<!a_ring>
            %stage = fp8.acquire %ready : !fp8.ready<!fp8.producer<!a_ring>>
            %slot = fp8.index %stage : !fp8.producer_stage<!a_ring>
            %lap = arith.divui %i, %c2 : index
            %before = arith.muli %lap, %c2 : index
            %kb = arith.addi %before, %slot : index
            %k = arith.muli %kb, %c128 : index
            %to = fp8.tile %stage["a"] : !fp8.producer_stage<!a_ring>
            %full = fp8.mbarrier %stage : !fp8.producer_stage<!a_ring>
            fp8.tma_copy %a[%m, %k], %to, %full : !fp8.tensor_map<!a_tile>, !a_tile
            %next = fp8.release %stage : !fp8.producer_stage<!a_ring>
            %i1 = arith.addi %i, %c1 : index
            scf.yield %next, %i1 : !fp8.producer<!a_ring>, index
          } else {
            scf.yield %ai, %i : !fp8.producer<!a_ring>, index
          }
          %more_s = arith.cmpi ult, %j, %blocks : index
          %s_free = fp8.try_wait %si : !fp8.producer<!s_ring>
          %load_s = arith.andi %more_s, %s_free : i1
          %s2, %j2 = scf.if %load_s -> (!fp8.producer<!s_ring>, index) {
            %ready = fp8.wait %si unless %s_free : !fp8.producer<!s_ring>
            %stage = fp8.acquire %ready : !fp8.ready<!fp8.producer<!s_ring>>
            %within = arith.cmpi ult, %m, %rows : index
            scf.if %within {
              %to = fp8.tile %stage["s"] : !fp8.producer_stage<!s_ring>
              %full = fp8.mbarrier %stage : !fp8.producer_stage<!s_ring>
              fp8.tma_copy %a_scale[%j, %m], %to, %full : !fp8.tensor_map<!s_tile>, !s_tile
            }
            %signalled = fp8.arrive %stage : !fp8.producer_stage<!s_ring>
            %next = fp8.step %signalled : !fp8.signalled<!fp8.producer_stage<!s_ring>>
            %j1 = arith.addi %j, %c1 : index
            scf.yield %next, %j1 : !fp8.producer<!s_ring>, index
          } else {
            scf.yield %si, %j : !fp8.producer<!s_ring>, index
          }
          scf.yield %a2, %s2, %i2, %j2 : !fp8.producer<!a_ring>, !fp8.producer<!s_ring>, index, index
        }
        fp8.close %a1 : !fp8.producer<!a_ring>
        fp8.close %s1 : !fp8.producer<!s_ring>
      }

      // B: waits, loads, signals and steps, one after another. The coordinate comes from the slot of a ready end.
      fp8.role "load b" warps(1) (%b0 = %bp) : !fp8.producer<!b_ring> {
        %tile = gpu.block_id x
        %tn = arith.divui %tile, %tiles_m : index
        %n = arith.muli %tn, %c64 : index
        %b1 = scf.for %i = %c0 to %blocks step %c1 iter_args(%bi = %b0) -> (!fp8.producer<!b_ring>) {
          %ready = fp8.wait %bi : !fp8.producer<!b_ring>
          %slot = fp8.index %ready : !fp8.ready<!fp8.producer<!b_ring>>
          %within = scf.index_switch %slot -> index
          case 0 {
            scf.yield %c0 : index
          }
          case 1 {
            scf.yield %c1 : index
          }
          default {
            scf.yield %c2 : index
          }
          %lap = arith.divui %i, %c3 : index
          %before = arith.muli %lap, %c3 : index
          %kb = arith.addi %before, %within : index
          %k = arith.muli %kb, %c128 : index
          %stage = fp8.acquire %ready : !fp8.ready<!fp8.producer<!b_ring>>
          fp8.tma_load %b[%n, %k], %stage["b"] : !fp8.tensor_map<!b_tile>, !fp8.producer_stage<!b_ring>
          %signalled = fp8.arrive %stage : !fp8.producer_stage<!b_ring>
          %next = fp8.step %signalled : !fp8.signalled<!fp8.producer_stage<!b_ring>>
          scf.yield %next : !fp8.producer<!b_ring>
        }
        fp8.close %b1 : !fp8.producer<!b_ring>
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
    gpu.launch_func @kernels::@explicit blocks in (%tiles, %c1, %c1) threads in (%c224, %c1, %c1)
      args(%map_a : !fp8.tensor_map<!a_tile>, %map_s : !fp8.tensor_map<!s_tile>, %map_b : !fp8.tensor_map<!b_tile>,
           %map_d : !fp8.tensor_map<!d_tile>, %b_scale : memref<?x?xf32>, %tiles_m : index, %blocks : index)
    return
  }
}
