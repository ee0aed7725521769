// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel written by hand with all that may follow the sum over K: D = d_scale * (sum + beta * C + bias), D in f8E4M3FN. C comes in
// two tiles of 64 columns, the bias as a row; scales are bf16, B's one for each column. Each CTA computes one tile; eight warps share
// its rows.

// REQUIRES: compiler
// RUN: fp8-opt %s --fp8-gemm-to-ptx=chip=sm_100a --emit=ptx -o %t.ptx
// RUN: fp8-run %t.ptx --backend=sim --m=128 --n=128 --k=128 --schedules=10 | FileCheck %s
// RUN: fp8-run %t.ptx --backend=sim --m=200 --n=336 --k=656 --schedules=10 | FileCheck %s
// RUN: fp8-run %t.ptx --backend=sim --m=3 --n=16 --k=0 --schedules=3 | FileCheck %s
// RUN: fp8-run %t.ptx --backend=sim --m=200 --n=208 --k=272 --data=specials --schedules=3 | FileCheck %s
// CHECK: {"ok":true,{{.*}}"errors":0,{{.*}}"wrong":0,"unwritten":0,

// C in f32, unswizzled, and a bias in f16; D in f16.
// RUN: sed 's/c_tile = .*/c_tile = !fp8.tile<128x64xf32>/; s/\(%c: memref<?x?x\)bf16/\1f32/; s/memref<?x?xbf16> -> \(!fp8.tensor_map<!c_tile>\)/memref<?x?xf32> -> \1/' %s > %t.mlir
// RUN: sed -i 's/bias_tile = .*/bias_tile = !fp8.tile<1x128xf16>/; s/memref<1x?xf32/memref<1x?xf16/' %t.mlir
// RUN: sed -i 's/d_tile = .*/d_tile = !fp8.tile<32x64xf16, swizzle_128b>/; s/memref<?x?xf8E4M3FN> -> \(!fp8.tensor_map<!d_tile>\)/memref<?x?xf16> -> \1/; s/\(%d: memref<?x?x\)f8E4M3FN/\1f16/' %t.mlir
// RUN: fp8-opt %t.mlir --fp8-gemm-to-ptx=chip=sm_100a --emit=ptx -o %t.ptx
// RUN: fp8-run %t.ptx --backend=sim --m=200 --n=336 --k=272 --schedules=3 | FileCheck %s

// Four warps, which own all columns of a row, so that a tile is half of theirs; C in f16, B's scales in f32.
// RUN: sed 's/warps(8)/warps(4)/; s/f32, 8>/f32, 4>/; s/d_tile, 8>/d_tile, 4>/; s/threads = .*/threads = arith.constant 224 : index/' %s > %t.mlir
// RUN: sed -i 's/c_tile = .*/c_tile = !fp8.tile<128x64xf16, swizzle_128b>/; s/\(%c: memref<?x?x\)bf16/\1f16/; s/memref<?x?xbf16> -> \(!fp8.tensor_map<!c_tile>\)/memref<?x?xf16> -> \1/' %t.mlir
// RUN: sed -i 's/row_tile = .*/row_tile = !fp8.tile<1x128xf32>/; s/\(%b_scale_row: memref<?x?x\)bf16/\1f32/; s/memref<?x?xbf16, strided<\[?, 1\]>> -> \(!fp8.tensor_map<!row_tile>\)/memref<?x?xf32, strided<[?, 1]>> -> \1/' %t.mlir
// RUN: fp8-opt %t.mlir --fp8-gemm-to-ptx=chip=sm_100a --emit=ptx -o %t.ptx
// RUN: fp8-run %t.ptx --backend=sim --m=200 --n=336 --k=272 --schedules=3 | FileCheck %s

// All functions of the map, where they are exact: they leave the result as it was.
// RUN: sed 's/^ *%y = arith.mulf %x, %d_scale : f32/%i0 = arith.subf %d_scale, %d_scale : f32\n%i1 = math.exp2 %i0 : f32\n%i2 = math.exp %i0 : f32\n%i3 = math.rsqrt %i1 : f32\n%i4 = math.tanh %i0 : f32\n%i5 = math.sqrt %i2 : f32\n%i6 = math.absf %i4 : f32\n%i7 = math.floor %i6 : f32\n%i8 = math.ceil %i7 : f32\n%i9 = arith.mulf %i3, %i5 : f32\n%j0 = arith.mulf %x, %i9 : f32\n%y = math.fma %j0, %d_scale, %i8 : f32/' %s > %t.mlir
// RUN: fp8-opt %t.mlir --fp8-gemm-to-ptx=chip=sm_100a --emit=ptx -o %t.ptx
// RUN: fp8-run %t.ptx --backend=sim --m=200 --n=208 --k=272 | FileCheck %s
// RUN: FileCheck %s --check-prefix=MATH --input-file=%t.ptx
// MATH-DAG: ex2.approx.ftz.f32
// MATH-DAG: rsqrt.approx.f32
// MATH-DAG: tanh.approx.f32
// MATH-DAG: sqrt.rn.f32
// MATH-DAG: cvt.rmi.f32.f32
// MATH-DAG: cvt.rpi.f32.f32

// A residual that misses the second half of the columns is refuted, and without the proof seen.
// RUN: sed 's/%with_c0\[64\]/%with_c0[0]/' %s > %t.mlir
// RUN: not fp8-opt %t.mlir --fp8-gemm-to-ptx=chip=sm_100a --emit=ptx -o %t.ptx 2>&1 | FileCheck %s --check-prefix=REFUTED
// REFUTED: error: kernel 'epilogue' does not compute what it says: a sum and its residual must have the same columns
// RUN: fp8-opt %t.mlir --fp8-gemm-to-ptx="chip=sm_100a prove=false" --emit=ptx -o %t.ptx
// RUN: not fp8-run %t.ptx --backend=sim --m=128 --n=128 --k=128 2>/dev/null | FileCheck %s --check-prefix=MISSED
// MISSED: {"ok":false,{{.*}}"errors":0,{{.*}}"elements":16384,"wrong":{{[0-9][0-9][0-9][0-9]+}},"unwritten":0,

!ab_tile = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!s_tile = !fp8.tile<1x128xbf16>
!row_tile = !fp8.tile<1x128xbf16>
!c_tile = !fp8.tile<128x64xbf16, swizzle_128b>
!bias_tile = !fp8.tile<1x128xf32>
!d_tile = !fp8.tile<32x64xf8E4M3FN, swizzle_64b>
!ring = !fp8.pipeline<2, a: !ab_tile, b: !ab_tile, s: !s_tile, t: !row_tile>
!c_ring = !fp8.pipeline<2, c: !c_tile>
!bias_ring = !fp8.pipeline<1, bias: !bias_tile>
!acc = !fp8.output_pipeline<2, 128x128xf32>
!queue = !fp8.store_queue<1, !d_tile, 8>
!sum = !fp8.fragment<128x128xf32, 8>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @epilogue(%a: !fp8.tensor_map<!ab_tile>, %a_scale: !fp8.tensor_map<!s_tile>, %b: !fp8.tensor_map<!ab_tile>,
                       %b_scale: !fp8.tensor_map<!row_tile>, %c: !fp8.tensor_map<!c_tile>, %bias: !fp8.tensor_map<!bias_tile>,
                       %d: !fp8.tensor_map<!d_tile>, %beta_at: memref<1x1xf32>, %d_scale_at: memref<1x1xf32>, %tiles_m: index, %blocks: index)
        kernel attributes {fp8.linear, fp8.computes = {a = 0, a_scale = 1, b = 2, b_block = 1, b_scale = 3, c = 4, bias = 5, d = 6, beta = 7, d_scale = 8, blocks = 10}} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %c128 = arith.constant 128 : index
      %tile = gpu.block_id x
      %tm = arith.remui %tile, %tiles_m : index
      %tn = arith.divui %tile, %tiles_m : index
      %m = arith.muli %tm, %c128 : index
      %n = arith.muli %tn, %c128 : index
      %inp, %inc, %ine = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>, !fp8.consumer<!ring>
      %cp, %cc = fp8.pipeline : !fp8.producer<!c_ring>, !fp8.consumer<!c_ring>
      %biasp, %biasc = fp8.pipeline : !fp8.producer<!bias_ring>, !fp8.consumer<!bias_ring>
      %accp, %accc = fp8.output_pipeline : !acc
      %queue = fp8.store_queue : !queue

      fp8.role "epilogue" warps(8) (%end = %accc, %in0 = %ine, %cin = %cc, %bin = %biasc, %q0 = %queue)
          : !fp8.consumer<!acc>, !fp8.consumer<!ring>, !fp8.consumer<!c_ring>, !fp8.consumer<!bias_ring>, !queue {
        %beta = memref.load %beta_at[%c0, %c0] : memref<1x1xf32>
        %d_scale = memref.load %d_scale_at[%c0, %c0] : memref<1x1xf32>
        %in9, %c9, %b9, %q9 = fp8.epilogue_warp(%w0 = %end) : !fp8.consumer<!acc>
            -> (!fp8.consumer<!ring>, !fp8.consumer<!c_ring>, !fp8.consumer<!bias_ring>, !queue) {
          %zero = fp8.zero : !sum
          %w1, %in1, %sum = scf.for %kb = %c0 to %blocks step %c1 iter_args(%w = %w0, %in = %in0, %f = %zero)
              -> (!fp8.epilogue_warp<!acc>, !fp8.consumer<!ring>, !sum) {
            %w2, %in2, %f2 = fp8.per_k_stage(%stage = %w, %scales = %in) : !fp8.epilogue_warp<!acc>, !fp8.consumer<!ring>
                -> (!fp8.epilogue_warp<!acc>, !fp8.consumer<!ring>, !sum) {
              %partial = fp8.accumulator %stage : !fp8.epilogue_stage<!acc>
              %as = fp8.tile %scales["s"] : !fp8.consumer_stage<!ring>
              %bs = fp8.tile %scales["t"] : !fp8.consumer_stage<!ring>
              %g = fp8.promote %f, %partial scales(%as, row %bs) : !sum, !fp8.tmem<128x128xf32>, !s_tile, !row_tile
              fp8.yield %g : !sum
            }
            scf.yield %w2, %in2, %f2 : !fp8.epilogue_warp<!acc>, !fp8.consumer<!ring>, !sum
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
          fp8.yield %w1, %in1, %c3, %b2, %q2 : !fp8.epilogue_warp<!acc>, !fp8.consumer<!ring>, !fp8.consumer<!c_ring>, !fp8.consumer<!bias_ring>, !queue
        }
        fp8.yield %in9, %c9, %b9, %q9 : !fp8.consumer<!ring>, !fp8.consumer<!c_ring>, !fp8.consumer<!bias_ring>, !queue
      }

      fp8.role "mma" warps(1) (%end = %accp, %in0 = %inc) : !fp8.producer<!acc>, !fp8.consumer<!ring> {
        %in9 = fp8.mma_warp(%w0 = %end) : !fp8.producer<!acc> -> !fp8.consumer<!ring> {
          %w1, %in1 = scf.for %kb = %c0 to %blocks step %c1 iter_args(%w = %w0, %in = %in0) -> (!fp8.mma_warp<!acc>, !fp8.consumer<!ring>) {
            %w2, %in2 = fp8.per_k_stage(%stage = %w, %input = %in) : !fp8.mma_warp<!acc>, !fp8.consumer<!ring>
                -> (!fp8.mma_warp<!acc>, !fp8.consumer<!ring>) {
              %accumulator = fp8.accumulator %stage : !fp8.mma_stage<!acc>
              %at = fp8.tile %input["a"] : !fp8.consumer_stage<!ring>
              %bt = fp8.tile %input["b"] : !fp8.consumer_stage<!ring>
              fp8.mma %accumulator, %at, %bt : !fp8.tmem<128x128xf32>, !ab_tile, !ab_tile
            }
            scf.yield %w2, %in2 : !fp8.mma_warp<!acc>, !fp8.consumer<!ring>
          }
          fp8.yield %w1, %in1 : !fp8.mma_warp<!acc>, !fp8.consumer<!ring>
        }
        fp8.yield %in9 : !fp8.consumer<!ring>
      }

      fp8.role "load" warps(1) (%p0 = %inp) : !fp8.producer<!ring> {
        %p1 = scf.for %kb = %c0 to %blocks step %c1 iter_args(%p = %p0) -> (!fp8.producer<!ring>) {
          %k = arith.muli %kb, %c128 : index
          %p2 = fp8.produce(%stage = %p) : !fp8.producer<!ring> -> !fp8.producer<!ring> {
            fp8.tma_load %a[%m, %k], %stage["a"] : !fp8.tensor_map<!ab_tile>, !fp8.producer_stage<!ring>
            fp8.tma_load %b[%n, %k], %stage["b"] : !fp8.tensor_map<!ab_tile>, !fp8.producer_stage<!ring>
            fp8.tma_load %a_scale[%kb, %m], %stage["s"] : !fp8.tensor_map<!s_tile>, !fp8.producer_stage<!ring>
            fp8.tma_load %b_scale[%kb, %n], %stage["t"] : !fp8.tensor_map<!row_tile>, !fp8.producer_stage<!ring>
          }
          scf.yield %p2 : !fp8.producer<!ring>
        }
        fp8.yield %p1 : !fp8.producer<!ring>
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
                    %a_scale: memref<?x?xbf16, strided<[?, 1]>> {fp8.name = "a_scale", fp8.access = "read"},
                    %b: memref<?x?xf8E4M3FN> {fp8.name = "b", fp8.access = "read"},
                    %b_scale_row: memref<?x?xbf16, strided<[?, 1]>> {fp8.name = "b_scale_row", fp8.access = "read"},
                    %c: memref<?x?xbf16> {fp8.name = "c", fp8.access = "read"},
                    %bias: memref<1x?xf32, strided<[?, 1]>> {fp8.name = "bias", fp8.access = "read"},
                    %beta: memref<1x1xf32> {fp8.name = "beta", fp8.access = "read"},
                    %d_scale: memref<1x1xf32> {fp8.name = "d_scale", fp8.access = "read"},
                    %d: memref<?x?xf8E4M3FN> {fp8.name = "d", fp8.access = "write"}) attributes {fp8.problem = "blockwise_gemm"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    // Eight warps for the epilogue, three others; four and three.
    %threads = arith.constant 352 : index
    %m = memref.dim %a, %c0 : memref<?x?xf8E4M3FN>
    %n = memref.dim %b, %c0 : memref<?x?xf8E4M3FN>
    %k = memref.dim %a, %c1 : memref<?x?xf8E4M3FN>
    %tiles_m = arith.ceildivui %m, %c128 : index
    %tiles_n = arith.ceildivui %n, %c128 : index
    %blocks = arith.ceildivui %k, %c128 : index
    %tiles = arith.muli %tiles_m, %tiles_n : index
    %map_a = fp8.tensor_map %a : memref<?x?xf8E4M3FN> -> !fp8.tensor_map<!ab_tile>
    %map_s = fp8.tensor_map %a_scale : memref<?x?xbf16, strided<[?, 1]>> -> !fp8.tensor_map<!s_tile>
    %map_b = fp8.tensor_map %b : memref<?x?xf8E4M3FN> -> !fp8.tensor_map<!ab_tile>
    %map_t = fp8.tensor_map %b_scale_row : memref<?x?xbf16, strided<[?, 1]>> -> !fp8.tensor_map<!row_tile>
    %map_c = fp8.tensor_map %c : memref<?x?xbf16> -> !fp8.tensor_map<!c_tile>
    %map_bias = fp8.tensor_map %bias : memref<1x?xf32, strided<[?, 1]>> -> !fp8.tensor_map<!bias_tile>
    %map_d = fp8.tensor_map %d : memref<?x?xf8E4M3FN> -> !fp8.tensor_map<!d_tile>
    gpu.launch_func @kernels::@epilogue blocks in (%tiles, %c1, %c1) threads in (%threads, %c1, %c1)
      args(%map_a : !fp8.tensor_map<!ab_tile>, %map_s : !fp8.tensor_map<!s_tile>, %map_b : !fp8.tensor_map<!ab_tile>,
           %map_t : !fp8.tensor_map<!row_tile>, %map_c : !fp8.tensor_map<!c_tile>, %map_bias : !fp8.tensor_map<!bias_tile>,
           %map_d : !fp8.tensor_map<!d_tile>, %beta : memref<1x1xf32>, %d_scale : memref<1x1xf32>, %tiles_m : index, %blocks : index)
    return
  }
}
