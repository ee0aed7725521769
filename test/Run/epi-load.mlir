// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A residual, D = sum + beta * C: an epilogue-load warp brings C through a ring of its own, of two slots, while the MMAs run. C comes in
// four tiles of 16 columns, and each is produced and consumed in another way: by scopes, by acquire and release, and by their halves.

// REQUIRES: compiler
// RUN: fp8-opt %s --fp8-gemm-to-ptx=chip=sm_100a --emit=ptx -o %t.ptx
// RUN: fp8-run %t.ptx --backend=sim --m=128 --n=64 --k=128 --schedules=10 | FileCheck %s
// RUN: fp8-run %t.ptx --backend=sim --m=200 --n=400 --k=656 --schedules=10 --multiprocessors=3 | FileCheck %s
// RUN: fp8-run %t.ptx --backend=sim --m=3 --n=16 --k=0 --schedules=3 | FileCheck %s
// CHECK: {"ok":true,{{.*}}"errors":0,{{.*}}"wrong":0,"unwritten":0,

!a_tile = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!b_tile = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>
!s_tile = !fp8.tile<1x128xf32>
!c_tile = !fp8.tile<128x16xbf16, swizzle_32b>
!d_tile = !fp8.tile<32x32xbf16, swizzle_64b>
!ring = !fp8.pipeline<3, a: !a_tile, b: !b_tile, s: !s_tile>
!c_ring = !fp8.pipeline<2, c: !c_tile>
!acc = !fp8.output_pipeline<2, 128x64xf32>
!queue = !fp8.store_queue<1, !d_tile, 4>
!sum = !fp8.fragment<128x64xf32, 4>
!c_ready = !fp8.ready<!fp8.consumer<!c_ring>>
!p_ready = !fp8.ready<!fp8.producer<!c_ring>>
!c_signalled = !fp8.signalled<!fp8.consumer_stage<!c_ring>>
!p_signalled = !fp8.signalled<!fp8.producer_stage<!c_ring>>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @residual(%a: !fp8.tensor_map<!a_tile>, %a_scale: !fp8.tensor_map<!s_tile>, %b: !fp8.tensor_map<!b_tile>,
                       %c: !fp8.tensor_map<!c_tile>, %d: !fp8.tensor_map<!d_tile>, %b_scale: memref<?x?xf32>,
                       %beta_at: memref<1x1xf32>, %tiles_m: index, %tiles_n: index, %blocks: index)
        kernel attributes {fp8.linear} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c16 = arith.constant 16 : index
      %c32 = arith.constant 32 : index
      %c64 = arith.constant 64 : index
      %c128 = arith.constant 128 : index
      %inp, %inc, %ine = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>, !fp8.consumer<!ring>
      // Warps arrive, not threads: 4 of the epilogue, where 128 threads would be.
      %cp, %cc = fp8.pipeline {producer_arrivals = 1, consumer_arrivals = 4} : !fp8.producer<!c_ring>, !fp8.consumer<!c_ring>
      %accp, %accc = fp8.output_pipeline {producer_arrivals = 1, consumer_arrivals = 4} : !acc
      %queue = fp8.store_queue : !queue

      fp8.role "epilogue" warps(4) (%end = %accc, %in0 = %ine, %r0 = %cc, %q0 = %queue)
          : !fp8.consumer<!acc>, !fp8.consumer<!ring>, !fp8.consumer<!c_ring>, !queue {
        %beta = memref.load %beta_at[%c0, %c0] : memref<1x1xf32>
        %in9, %r9, %q9 = fp8.epilogue_warp(%w0 = %end) : !fp8.consumer<!acc> -> (!fp8.consumer<!ring>, !fp8.consumer<!c_ring>, !queue) {
          %w8, %in8, %r8, %q8 = fp8.for_each_tile persistent (%tm, %tn) in (%tiles_m, %tiles_n)
              iter_args(%w = %w0, %in = %in0, %r = %r0, %q = %q0)
              -> (!fp8.epilogue_warp<!acc>, !fp8.consumer<!ring>, !fp8.consumer<!c_ring>, !queue) {
            %m = arith.muli %tm, %c128 : index
            %n = arith.muli %tn, %c64 : index
            %nb = arith.divui %n, %c128 : index
            %zero = fp8.zero : !sum
            %w1, %in1, %sum = scf.for %kb = %c0 to %blocks step %c1 iter_args(%wk = %w, %ink = %in, %f = %zero)
                -> (!fp8.epilogue_warp<!acc>, !fp8.consumer<!ring>, !sum) {
              %bs = memref.load %b_scale[%nb, %kb] : memref<?x?xf32>
              %w2, %in2, %f2 = fp8.per_k_stage(%stage = %wk, %input = %ink) : !fp8.epilogue_warp<!acc>, !fp8.consumer<!ring>
                  -> (!fp8.epilogue_warp<!acc>, !fp8.consumer<!ring>, !sum) {
                %partial = fp8.accumulator %stage : !fp8.epilogue_stage<!acc>
                %as = fp8.tile %input["s"] : !fp8.consumer_stage<!ring>
                %g = fp8.promote %f, %partial scales(%as, %bs) : !sum, !fp8.tmem<128x64xf32>, !s_tile
                fp8.yield %g : !sum
              }
              scf.yield %w2, %in2, %f2 : !fp8.epilogue_warp<!acc>, !fp8.consumer<!ring>, !sum
            }

            // A scope.
            %r1, %d0 = fp8.consume(%stage = %r) : !fp8.consumer<!c_ring> -> (!fp8.consumer<!c_ring>, !sum) {
              %t = fp8.tile %stage["c"] : !fp8.consumer_stage<!c_ring>
              %g = fp8.add_tile %sum[0], %t scaled %beta : !sum, !c_tile
              fp8.yield %g : !sum
            }
            // Linear handles; the signal and the advance of the release apart.
            %stage1 = fp8.acquire %r1 : !fp8.consumer<!c_ring>
            %t1 = fp8.tile %stage1["c"] : !fp8.consumer_stage<!c_ring>
            %d1 = fp8.add_tile %d0[16], %t1 scaled %beta : !sum, !c_tile
            %signalled1 = fp8.arrive %stage1 : !fp8.consumer_stage<!c_ring>
            %r2 = fp8.step %signalled1 : !c_signalled
            // The wait apart, and a scope that signals before it ends. The third and fourth tile lie in slots 0 and 1.
            %r4, %d3 = scf.for %i = %c0 to %c2 step %c1 iter_args(%ri = %r2, %f = %d1) -> (!fp8.consumer<!c_ring>, !sum) {
              %ready = fp8.wait %ri : !fp8.consumer<!c_ring>
              %r3, %d2 = fp8.consume_explicit(%stage = %ready) : !c_ready -> (!fp8.consumer<!c_ring>, !sum) {
                %slot = fp8.index %stage : !fp8.consumer_stage<!c_ring>
                %t = fp8.tile %stage["c"] : !fp8.consumer_stage<!c_ring>
                %is_third = arith.cmpi eq, %slot, %c0 : index
                %g = scf.if %is_third -> (!sum) {
                  %third = fp8.add_tile %f[32], %t scaled %beta : !sum, !c_tile
                  scf.yield %third : !sum
                } else {
                  %fourth = fp8.add_tile %f[48], %t scaled %beta : !sum, !c_tile
                  scf.yield %fourth : !sum
                }
                %signalled = fp8.arrive %stage : !fp8.consumer_stage<!c_ring>
                fp8.yield %signalled, %g : !c_signalled, !sum
              }
              scf.yield %r3, %d2 : !fp8.consumer<!c_ring>, !sum
            }
            %q1 = fp8.store %d3, %d[%m, %n] through %q : !sum, !fp8.tensor_map<!d_tile>, !queue
            fp8.yield %w1, %in1, %r4, %q1 : !fp8.epilogue_warp<!acc>, !fp8.consumer<!ring>, !fp8.consumer<!c_ring>, !queue
          }
          fp8.yield %w8, %in8, %r8, %q8 : !fp8.epilogue_warp<!acc>, !fp8.consumer<!ring>, !fp8.consumer<!c_ring>, !queue
        }
        fp8.yield %in9, %r9, %q9 : !fp8.consumer<!ring>, !fp8.consumer<!c_ring>, !queue
      }

      fp8.role "mma" warps(1) (%end = %accp, %in0 = %inc) : !fp8.producer<!acc>, !fp8.consumer<!ring> {
        %in9 = fp8.mma_warp(%w0 = %end) : !fp8.producer<!acc> -> !fp8.consumer<!ring> {
          %w8, %in8 = fp8.for_each_tile persistent (%tm, %tn) in (%tiles_m, %tiles_n) iter_args(%w = %w0, %in = %in0)
              -> (!fp8.mma_warp<!acc>, !fp8.consumer<!ring>) {
            %w1, %in1 = scf.for %kb = %c0 to %blocks step %c1 iter_args(%wk = %w, %ink = %in) -> (!fp8.mma_warp<!acc>, !fp8.consumer<!ring>) {
              %w2, %in2 = fp8.per_k_stage(%stage = %wk, %input = %ink) : !fp8.mma_warp<!acc>, !fp8.consumer<!ring>
                  -> (!fp8.mma_warp<!acc>, !fp8.consumer<!ring>) {
                %accumulator = fp8.accumulator %stage : !fp8.mma_stage<!acc>
                %at = fp8.tile %input["a"] : !fp8.consumer_stage<!ring>
                %bt = fp8.tile %input["b"] : !fp8.consumer_stage<!ring>
                fp8.mma %accumulator, %at, %bt : !fp8.tmem<128x64xf32>, !a_tile, !b_tile
              }
              scf.yield %w2, %in2 : !fp8.mma_warp<!acc>, !fp8.consumer<!ring>
            }
            fp8.yield %w1, %in1 : !fp8.mma_warp<!acc>, !fp8.consumer<!ring>
          }
          fp8.yield %w8, %in8 : !fp8.mma_warp<!acc>, !fp8.consumer<!ring>
        }
        fp8.yield %in9 : !fp8.consumer<!ring>
      }

      fp8.role "load" warps(1) (%p0 = %inp) : !fp8.producer<!ring> {
        %p9 = fp8.for_each_tile persistent (%tm, %tn) in (%tiles_m, %tiles_n) iter_args(%p = %p0) -> (!fp8.producer<!ring>) {
          %m = arith.muli %tm, %c128 : index
          %n = arith.muli %tn, %c64 : index
          %p2 = scf.for %kb = %c0 to %blocks step %c1 iter_args(%p1 = %p) -> (!fp8.producer<!ring>) {
            %k = arith.muli %kb, %c128 : index
            %next = fp8.produce(%stage = %p1) : !fp8.producer<!ring> -> !fp8.producer<!ring> {
              fp8.tma_load %a[%m, %k], %stage["a"] : !fp8.tensor_map<!a_tile>, !fp8.producer_stage<!ring>
              fp8.tma_load %b[%n, %k], %stage["b"] : !fp8.tensor_map<!b_tile>, !fp8.producer_stage<!ring>
              fp8.tma_load %a_scale[%kb, %m], %stage["s"] : !fp8.tensor_map<!s_tile>, !fp8.producer_stage<!ring>
            }
            scf.yield %next : !fp8.producer<!ring>
          }
          fp8.yield %p2 : !fp8.producer<!ring>
        }
        fp8.yield %p9 : !fp8.producer<!ring>
      }

      fp8.role "epilogue load" warps(1) (%r0 = %cp) : !fp8.producer<!c_ring> {
        %r9 = fp8.for_each_tile persistent (%tm, %tn) in (%tiles_m, %tiles_n) iter_args(%r = %r0) -> (!fp8.producer<!c_ring>) {
          %m = arith.muli %tm, %c128 : index
          %n = arith.muli %tn, %c64 : index
          // A scope.
          %r1 = fp8.produce(%stage = %r) : !fp8.producer<!c_ring> -> !fp8.producer<!c_ring> {
            fp8.tma_load %c[%m, %n], %stage["c"] : !fp8.tensor_map<!c_tile>, !fp8.producer_stage<!c_ring>
          }
          // Linear handles.
          %n1 = arith.addi %n, %c16 : index
          %stage1 = fp8.acquire %r1 : !fp8.producer<!c_ring>
          fp8.tma_load %c[%m, %n1], %stage1["c"] : !fp8.tensor_map<!c_tile>, !fp8.producer_stage<!c_ring>
          %r2 = fp8.release %stage1 : !fp8.producer_stage<!c_ring>
          // The wait, the barrier, the signal and the advance apart.
          %r4 = scf.for %i = %c0 to %c2 step %c1 iter_args(%ri = %r2) -> (!fp8.producer<!c_ring>) {
            %within = arith.muli %i, %c16 : index
            %half = arith.addi %n, %c32 : index
            %n2 = arith.addi %half, %within : index
            %ready = fp8.wait %ri : !fp8.producer<!c_ring>
            %stage = fp8.acquire %ready : !p_ready
            %t = fp8.tile %stage["c"] : !fp8.producer_stage<!c_ring>
            %full = fp8.mbarrier %stage : !fp8.producer_stage<!c_ring>
            fp8.tma_copy %c[%m, %n2], %t, %full : !fp8.tensor_map<!c_tile>, !c_tile
            %signalled = fp8.arrive %stage : !fp8.producer_stage<!c_ring>
            %r3 = fp8.step %signalled : !p_signalled
            scf.yield %r3 : !fp8.producer<!c_ring>
          }
          fp8.yield %r4 : !fp8.producer<!c_ring>
        }
        fp8.yield %r9 : !fp8.producer<!c_ring>
      }
      gpu.return
    }
  }

  func.func @launch(%a: memref<?x?xf8E4M3FN> {fp8.name = "a", fp8.access = "read"},
                    %a_scale: memref<?x?xf32, strided<[?, 1]>> {fp8.name = "a_scale", fp8.access = "read"},
                    %b: memref<?x?xf8E4M3FN> {fp8.name = "b", fp8.access = "read"},
                    %b_scale: memref<?x?xf32> {fp8.name = "b_scale", fp8.access = "read"},
                    %c: memref<?x?xbf16> {fp8.name = "c", fp8.access = "read"},
                    %beta: memref<1x1xf32> {fp8.name = "beta", fp8.access = "read"},
                    %d: memref<?x?xbf16> {fp8.name = "d", fp8.access = "write"}) attributes {fp8.problem = "blockwise_gemm"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %threads = arith.constant 224 : index
    %m = memref.dim %a, %c0 : memref<?x?xf8E4M3FN>
    %n = memref.dim %b, %c0 : memref<?x?xf8E4M3FN>
    %k = memref.dim %a, %c1 : memref<?x?xf8E4M3FN>
    %tiles_m = arith.ceildivui %m, %c128 : index
    %tiles_n = arith.ceildivui %n, %c64 : index
    %blocks = arith.ceildivui %k, %c128 : index
    %tiles = arith.muli %tiles_m, %tiles_n : index
    %sms = fp8.multiprocessor_count
    %grid = arith.minui %tiles, %sms : index
    %map_a = fp8.tensor_map %a : memref<?x?xf8E4M3FN> -> !fp8.tensor_map<!a_tile>
    %map_s = fp8.tensor_map %a_scale : memref<?x?xf32, strided<[?, 1]>> -> !fp8.tensor_map<!s_tile>
    %map_b = fp8.tensor_map %b : memref<?x?xf8E4M3FN> -> !fp8.tensor_map<!b_tile>
    %map_c = fp8.tensor_map %c : memref<?x?xbf16> -> !fp8.tensor_map<!c_tile>
    %map_d = fp8.tensor_map %d : memref<?x?xbf16> -> !fp8.tensor_map<!d_tile>
    gpu.launch_func @kernels::@residual blocks in (%grid, %c1, %c1) threads in (%threads, %c1, %c1)
      args(%map_a : !fp8.tensor_map<!a_tile>, %map_s : !fp8.tensor_map<!s_tile>, %map_b : !fp8.tensor_map<!b_tile>,
           %map_c : !fp8.tensor_map<!c_tile>, %map_d : !fp8.tensor_map<!d_tile>, %b_scale : memref<?x?xf32>,
           %beta : memref<1x1xf32>, %tiles_m : index, %tiles_n : index, %blocks : index)
    return
  }
}
