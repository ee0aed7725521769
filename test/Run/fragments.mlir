// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All that an epilogue does with fragments, on every layout of an accumulator in tensor memory: promotion with a row of B scales, a
// residual in two tiles, a bias, a map and an e4m3 store, D = d_scale * (sum + beta * C + bias). Each CTA computes one tile. As it stands,
// on CTA pairs with M 256, 128 rows a CTA; by substitution, on pairs with M 128 (warp halves) and on single CTAs with M 64 (lane halves).

// REQUIRES: compiler
// DEFINE: %{opt} = fp8-opt %t.mlir --fp8-gemm-to-ptx=chip=sm_100a --emit=ptx -o %t.ptx
// DEFINE: %{run} = fp8-run %t.ptx --backend=sim --schedules=5
// DEFINE: %{runs} = %{run} --m=300 --n=336 --k=1168 | FileCheck %s && %{run} --m=3 --n=16 --k=0 | FileCheck %s && %{run} --m=200 --n=208 --k=272 --data=specials | FileCheck %s
// RUN: cp %s %t.mlir && %{opt} && %{runs}
// RUN: %if ptxas %{ %ptxas -arch=sm_100a -v -o /dev/null %t.ptx 2>&1 | FileCheck %s --check-prefix=SPILL %}
// CHECK: {"ok":true,{{.*}}"errors":0,{{.*}}"schedules":5,{{.*}}"wrong":0,"unwritten":0,
// SPILL: 0 bytes spill stores, 0 bytes spill loads

// M 128 over a pair: 64 rows a CTA.
// RUN: sed 's/tile<128x128/tile<64x128/; s/1x128xf32> .. rows/1x64xf32>/; s/<128x64xbf16/<64x64xbf16/; s/256x128xf32/128x128xf32/; s/fragment<128x128xf32, 4>/fragment<64x128xf32, 4, warp_halves>/; s/constant 128 : index .. rows/constant 64 : index/' %s > %t.half.mlir
// RUN: cp %t.half.mlir %t.mlir && %{opt} && %{runs}
// RUN: %if ptxas %{ %ptxas -arch=sm_100a -v -o /dev/null %t.ptx 2>&1 | FileCheck %s --check-prefix=SPILL %}

// M 64, of one CTA, which leads itself.
// RUN: sed 's/128x128xf32, cta_group = 2/64x128xf32/; s/, cta_group = 2//; s/warp_halves/lane_halves/; s/tile<64x128xf8E4M3FN, swizzle_128b> .. b/tile<128x128xf8E4M3FN, swizzle_128b>/; s/constant 64 : index .. b/constant 128 : index/; s/%group = arith.constant 2/%group = arith.constant 1/; s/of pair/of cluster/; s/fp8.cluster = array<i64: 2, 1>, //; s/d_tile = !fp8.tile<32/d_tile = !fp8.tile<16/' %t.half.mlir > %t.mlir
// RUN: %{opt} && %{runs}
// RUN: %if ptxas %{ %ptxas -arch=sm_100a -v -o /dev/null %t.ptx 2>&1 | FileCheck %s --check-prefix=SPILL %}

// The residual's second tile where the first belongs; a bias that is not added.
// RUN: sed 's/%with_c0\[64\]/%with_c0[0]/' %t.half.mlir > %t.mlir && %{opt}
// RUN: not %{run} --m=128 --n=128 --k=128 2>/dev/null | FileCheck %s --check-prefix=WRONG
// RUN: sed 's/%x = %with_bias/%x = %with_c/' %t.half.mlir > %t.mlir && %{opt}
// RUN: not %{run} --m=128 --n=128 --k=128 2>/dev/null | FileCheck %s --check-prefix=WRONG
// WRONG: {"ok":false,{{.*}}"errors":0,{{.*}}"elements":16384,"wrong":{{[0-9][0-9][0-9][0-9]+}},"unwritten":0,

!a_tile = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!b_tile = !fp8.tile<64x128xf8E4M3FN, swizzle_128b> // b
!s_tile = !fp8.tile<1x128xf32> // rows
!t_tile = !fp8.tile<1x128xf32>
!c_tile = !fp8.tile<128x64xbf16, swizzle_128b>
!bias_tile = !fp8.tile<1x128xf32>
!d_tile = !fp8.tile<32x64xf8E4M3FN, swizzle_64b>
!ring = !fp8.pipeline<3, a: !a_tile, b: !b_tile, cta_group = 2>
!s_ring = !fp8.pipeline<2, s: !s_tile, t: !t_tile>
!c_ring = !fp8.pipeline<2, c: !c_tile>
!bias_ring = !fp8.pipeline<1, bias: !bias_tile>
!acc = !fp8.output_pipeline<2, 256x128xf32, cta_group = 2>
!partial = !fp8.tmem<256x128xf32, cta_group = 2>
!queue = !fp8.store_queue<1, !d_tile, 4>
!sum = !fp8.fragment<128x128xf32, 4>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @fragments(%a: !fp8.tensor_map<!a_tile>, %a_scale: !fp8.tensor_map<!s_tile>, %b: !fp8.tensor_map<!b_tile>,
                        %b_scale: !fp8.tensor_map<!t_tile>, %c: !fp8.tensor_map<!c_tile>, %bias: !fp8.tensor_map<!bias_tile>,
                        %d: !fp8.tensor_map<!d_tile>, %beta_at: memref<1x1xf32>, %d_scale_at: memref<1x1xf32>, %tiles_m: index, %blocks: index)
        kernel attributes {fp8.cluster = array<i64: 2, 1>, fp8.linear} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %c128 = arith.constant 128 : index
      %rows = arith.constant 128 : index // rows
      %b_rows = arith.constant 64 : index // b
      %group = arith.constant 2 : index
      %tile = gpu.block_id x
      %tm = arith.remui %tile, %tiles_m : index
      %tn = arith.divui %tile, %tiles_m : index
      %m = arith.muli %tm, %rows : index
      %n = arith.muli %tn, %c128 : index
      // The part of B's rows that is this CTA's of the pair.
      %part = arith.remui %tm, %group : index
      %part_start = arith.muli %part, %b_rows : index
      %nb = arith.addi %n, %part_start : index
      %inp, %inc = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
      %sp, %sc = fp8.pipeline : !fp8.producer<!s_ring>, !fp8.consumer<!s_ring>
      %cp, %cc = fp8.pipeline : !fp8.producer<!c_ring>, !fp8.consumer<!c_ring>
      %biasp, %biasc = fp8.pipeline : !fp8.producer<!bias_ring>, !fp8.consumer<!bias_ring>
      %accp, %accc = fp8.output_pipeline : !acc
      %queue = fp8.store_queue : !queue

      fp8.role "epilogue" warps(4) (%end = %accc, %s0 = %sc, %cin = %cc, %bin = %biasc, %q0 = %queue)
          : !fp8.consumer<!acc>, !fp8.consumer<!s_ring>, !fp8.consumer<!c_ring>, !fp8.consumer<!bias_ring>, !queue {
        %beta = memref.load %beta_at[%c0, %c0] : memref<1x1xf32>
        %d_scale = memref.load %d_scale_at[%c0, %c0] : memref<1x1xf32>
        %s9, %c9, %b9, %q9 = fp8.epilogue_warp(%w0 = %end) : !fp8.consumer<!acc>
            -> (!fp8.consumer<!s_ring>, !fp8.consumer<!c_ring>, !fp8.consumer<!bias_ring>, !queue) {
          %zero = fp8.zero : !sum
          %w1, %s1, %sum = scf.for %kb = %c0 to %blocks step %c1 iter_args(%w = %w0, %s = %s0, %f = %zero)
              -> (!fp8.epilogue_warp<!acc>, !fp8.consumer<!s_ring>, !sum) {
            %w2, %s2, %f2 = fp8.per_k_stage(%stage = %w, %scales = %s) : !fp8.epilogue_warp<!acc>, !fp8.consumer<!s_ring>
                -> (!fp8.epilogue_warp<!acc>, !fp8.consumer<!s_ring>, !sum) {
              %partial = fp8.accumulator %stage : !fp8.epilogue_stage<!acc>
              %as = fp8.tile %scales["s"] : !fp8.consumer_stage<!s_ring>
              %bs = fp8.tile %scales["t"] : !fp8.consumer_stage<!s_ring>
              %g = fp8.promote %f, %partial scales(%as, row %bs) : !sum, !partial, !s_tile, !t_tile
              fp8.yield %g : !sum
            }
            scf.yield %w2, %s2, %f2 : !fp8.epilogue_warp<!acc>, !fp8.consumer<!s_ring>, !sum
          }
          %c2, %with_c0 = fp8.consume(%stage = %cin) : !fp8.consumer<!c_ring> -> (!fp8.consumer<!c_ring>, !sum) {
            %t = fp8.tile %stage["c"] : !fp8.consumer_stage<!c_ring>
            %g = fp8.add_tile %sum[0], %t scaled %beta : !sum, !c_tile
            fp8.yield %g : !sum
          }
          %c3, %with_c = fp8.consume(%stage = %c2) : !fp8.consumer<!c_ring> -> (!fp8.consumer<!c_ring>, !sum) {
            %t = fp8.tile %stage["c"] : !fp8.consumer_stage<!c_ring>
            %g = fp8.add_tile %with_c0[64], %t scaled %beta : !sum, !c_tile
            fp8.yield %g : !sum
          }
          %b2, %with_bias = fp8.consume(%stage = %bin) : !fp8.consumer<!bias_ring> -> (!fp8.consumer<!bias_ring>, !sum) {
            %t = fp8.tile %stage["bias"] : !fp8.consumer_stage<!bias_ring>
            %g = fp8.add_row %with_c, %t : !sum, !bias_tile
            fp8.yield %g : !sum
          }
          %scaled = fp8.map(%x = %with_bias) : !sum -> !sum {
            %y = arith.mulf %x, %d_scale : f32
            fp8.yield %y : f32
          }
          %q2 = fp8.store %scaled, %d[%m, %n] through %q0 : !sum, !fp8.tensor_map<!d_tile>, !queue
          fp8.yield %w1, %s1, %c3, %b2, %q2
              : !fp8.epilogue_warp<!acc>, !fp8.consumer<!s_ring>, !fp8.consumer<!c_ring>, !fp8.consumer<!bias_ring>, !queue
        }
        fp8.yield %s9, %c9, %b9, %q9 : !fp8.consumer<!s_ring>, !fp8.consumer<!c_ring>, !fp8.consumer<!bias_ring>, !queue
      }

      fp8.role "mma" warps(1) (%end = %accp, %in0 = %inc) : !fp8.producer<!acc>, !fp8.consumer<!ring> {
        %in9 = fp8.mma_warp(%w0 = %end) : !fp8.producer<!acc> -> !fp8.consumer<!ring> {
          %w8, %in8 = fp8.leading_cta of pair (%wl = %w0, %inl = %in0) : !fp8.mma_warp<!acc>, !fp8.consumer<!ring>
              -> (!fp8.mma_warp<!acc>, !fp8.consumer<!ring>) {
            %w1, %in1 = scf.for %kb = %c0 to %blocks step %c1 iter_args(%w = %wl, %in = %inl) -> (!fp8.mma_warp<!acc>, !fp8.consumer<!ring>) {
              %w2, %in2 = fp8.per_k_stage(%stage = %w, %input = %in) : !fp8.mma_warp<!acc>, !fp8.consumer<!ring>
                  -> (!fp8.mma_warp<!acc>, !fp8.consumer<!ring>) {
                %accumulator = fp8.accumulator %stage : !fp8.mma_stage<!acc>
                %at = fp8.tile %input["a"] : !fp8.consumer_stage<!ring>
                %bt = fp8.tile %input["b"] : !fp8.consumer_stage<!ring>
                fp8.mma %accumulator, %at, %bt : !partial, !a_tile, !b_tile
              }
              scf.yield %w2, %in2 : !fp8.mma_warp<!acc>, !fp8.consumer<!ring>
            }
            fp8.yield %w1, %in1 : !fp8.mma_warp<!acc>, !fp8.consumer<!ring>
          }
          fp8.yield %w8, %in8 : !fp8.mma_warp<!acc>, !fp8.consumer<!ring>
        }
        fp8.yield %in9 : !fp8.consumer<!ring>
      }

      fp8.role "load" warps(1) (%p0 = %inp, %s0 = %sp) : !fp8.producer<!ring>, !fp8.producer<!s_ring> {
        %p1, %s1 = scf.for %kb = %c0 to %blocks step %c1 iter_args(%p = %p0, %s = %s0) -> (!fp8.producer<!ring>, !fp8.producer<!s_ring>) {
          %k = arith.muli %kb, %c128 : index
          %p2 = fp8.produce(%stage = %p) : !fp8.producer<!ring> -> !fp8.producer<!ring> {
            fp8.tma_load %a[%m, %k], %stage["a"] : !fp8.tensor_map<!a_tile>, !fp8.producer_stage<!ring>
            fp8.tma_load %b[%nb, %k], %stage["b"] : !fp8.tensor_map<!b_tile>, !fp8.producer_stage<!ring>
          }
          %s2 = fp8.produce(%stage = %s) : !fp8.producer<!s_ring> -> !fp8.producer<!s_ring> {
            fp8.tma_load %a_scale[%kb, %m], %stage["s"] : !fp8.tensor_map<!s_tile>, !fp8.producer_stage<!s_ring>
            fp8.tma_load %b_scale[%kb, %n], %stage["t"] : !fp8.tensor_map<!t_tile>, !fp8.producer_stage<!s_ring>
          }
          scf.yield %p2, %s2 : !fp8.producer<!ring>, !fp8.producer<!s_ring>
        }
        fp8.yield %p1, %s1 : !fp8.producer<!ring>, !fp8.producer<!s_ring>
      }

      fp8.role "load c" warps(1) (%p0 = %cp, %b0 = %biasp) : !fp8.producer<!c_ring>, !fp8.producer<!bias_ring> {
        %n64 = arith.addi %n, %c64 : index
        %p1 = fp8.produce(%stage = %p0) : !fp8.producer<!c_ring> -> !fp8.producer<!c_ring> {
          fp8.tma_load %c[%m, %n], %stage["c"] : !fp8.tensor_map<!c_tile>, !fp8.producer_stage<!c_ring>
        }
        %p2 = fp8.produce(%stage = %p1) : !fp8.producer<!c_ring> -> !fp8.producer<!c_ring> {
          fp8.tma_load %c[%m, %n64], %stage["c"] : !fp8.tensor_map<!c_tile>, !fp8.producer_stage<!c_ring>
        }
        %b1 = fp8.produce(%stage = %b0) : !fp8.producer<!bias_ring> -> !fp8.producer<!bias_ring> {
          fp8.tma_load %bias[%c0, %n], %stage["bias"] : !fp8.tensor_map<!bias_tile>, !fp8.producer_stage<!bias_ring>
        }
        fp8.yield %p2, %b1 : !fp8.producer<!c_ring>, !fp8.producer<!bias_ring>
      }
      gpu.return
    }
  }

  func.func @launch(%a: memref<?x?xf8E4M3FN> {fp8.name = "a", fp8.access = "read"},
                    %a_scale: memref<?x?xf32, strided<[?, 1]>> {fp8.name = "a_scale", fp8.access = "read"},
                    %b: memref<?x?xf8E4M3FN> {fp8.name = "b", fp8.access = "read"},
                    %b_scale_row: memref<?x?xf32, strided<[?, 1]>> {fp8.name = "b_scale_row", fp8.access = "read"},
                    %c: memref<?x?xbf16> {fp8.name = "c", fp8.access = "read"},
                    %bias: memref<1x?xf32, strided<[?, 1]>> {fp8.name = "bias", fp8.access = "read"},
                    %beta: memref<1x1xf32> {fp8.name = "beta", fp8.access = "read"},
                    %d_scale: memref<1x1xf32> {fp8.name = "d_scale", fp8.access = "read"},
                    %d: memref<?x?xf8E4M3FN> {fp8.name = "d", fp8.access = "write"}) attributes {fp8.problem = "blockwise_gemm"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    %rows = arith.constant 128 : index // rows
    %group = arith.constant 2 : index
    %threads = arith.constant 224 : index
    %m = memref.dim %a, %c0 : memref<?x?xf8E4M3FN>
    %n = memref.dim %b, %c0 : memref<?x?xf8E4M3FN>
    %k = memref.dim %a, %c1 : memref<?x?xf8E4M3FN>
    %group_rows = arith.muli %rows, %group : index
    %groups_m = arith.ceildivui %m, %group_rows : index
    %tiles_m = arith.muli %groups_m, %group : index
    %tiles_n = arith.ceildivui %n, %c128 : index
    %blocks = arith.ceildivui %k, %c128 : index
    %tiles = arith.muli %tiles_m, %tiles_n : index
    %map_a = fp8.tensor_map %a : memref<?x?xf8E4M3FN> -> !fp8.tensor_map<!a_tile>
    %map_s = fp8.tensor_map %a_scale : memref<?x?xf32, strided<[?, 1]>> -> !fp8.tensor_map<!s_tile>
    %map_b = fp8.tensor_map %b : memref<?x?xf8E4M3FN> -> !fp8.tensor_map<!b_tile>
    %map_t = fp8.tensor_map %b_scale_row : memref<?x?xf32, strided<[?, 1]>> -> !fp8.tensor_map<!t_tile>
    %map_c = fp8.tensor_map %c : memref<?x?xbf16> -> !fp8.tensor_map<!c_tile>
    %map_bias = fp8.tensor_map %bias : memref<1x?xf32, strided<[?, 1]>> -> !fp8.tensor_map<!bias_tile>
    %map_d = fp8.tensor_map %d : memref<?x?xf8E4M3FN> -> !fp8.tensor_map<!d_tile>
    gpu.launch_func @kernels::@fragments blocks in (%tiles, %c1, %c1) threads in (%threads, %c1, %c1)
      args(%map_a : !fp8.tensor_map<!a_tile>, %map_s : !fp8.tensor_map<!s_tile>, %map_b : !fp8.tensor_map<!b_tile>,
           %map_t : !fp8.tensor_map<!t_tile>, %map_c : !fp8.tensor_map<!c_tile>, %map_bias : !fp8.tensor_map<!bias_tile>,
           %map_d : !fp8.tensor_map<!d_tile>, %beta : memref<1x1xf32>, %d_scale : memref<1x1xf32>, %tiles_m : index, %blocks : index)
    return
  }
}
