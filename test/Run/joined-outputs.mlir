// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two output pipelines of one type, whose MMA warps come out of a branch in either order: each keeps a named barrier, counts and
// tensor memory of its own.

// REQUIRES: compiler
// RUN: fp8-opt %s --fp8-prove=chip=sm_100a -o /dev/null 2>&1 | FileCheck %s --check-prefix=PROOF
// RUN: fp8-opt %s --fp8-gemm-to-ptx=chip=sm_100a --emit=ptx -o %t.ptx
// RUN: fp8-run %t.ptx --backend=sim --m=128 --n=128 --k=256 --schedules=8 | FileCheck %s
// RUN: fp8-run %t.ptx --backend=sim --m=200 --n=200 --k=328 --schedules=8 | FileCheck %s
// RUN: fp8-run %t.ptx --backend=sim --m=128 --n=128 --k=0 --schedules=8 | FileCheck %s
// PROOF: remark: kernel 'gemm' ends for all launches
// PROOF: remark: kernel 'gemm' completes a phase in each lap
// PROOF: remark: kernel 'gemm' keeps ownership for all launches
// CHECK: {"ok":true,{{.*}}"errors":0,{{.*}}"schedules":8,{{.*}}"wrong":0,"unwritten":0,

!a_tile = !fp8.tile<128x64xbf16, swizzle_128b>
!b_tile = !fp8.tile<64x64xbf16, swizzle_128b>
!d_tile = !fp8.tile<32x64xbf16, swizzle_128b>
!ring = !fp8.pipeline<3, a: !a_tile, b1: !b_tile, b2: !b_tile>
!acc = !fp8.output_pipeline<1, 128x64xf32>
!queue = !fp8.store_queue<1, !d_tile, 4>
!sum = !fp8.fragment<128x64xf32, 4>
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @gemm(%a: !fp8.tensor_map<!a_tile>, %b: !fp8.tensor_map<!b_tile>, %d: !fp8.tensor_map<!d_tile>, %depth: index) kernel attributes {fp8.linear} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %c128 = arith.constant 128 : index
      %bm = gpu.block_id x
      %bn = gpu.block_id y
      %m = arith.muli %bm, %c128 : index
      %n = arith.muli %bn, %c128 : index
      %blocks = arith.ceildivui %depth, %c64 : index
      %any = arith.cmpi ne, %depth, %c0 : index
      %inp, %inc = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
      %left_p, %left_c = fp8.output_pipeline : !acc
      %right_p, %right_c = fp8.output_pipeline : !acc
      %queue1 = fp8.store_queue : !queue
      %queue2 = fp8.store_queue : !queue
      fp8.role "left" warps(4) (%end = %left_c, %q = %queue1) : !fp8.consumer<!acc>, !queue {
        %rdy = fp8.wait_tmem %end : !fp8.consumer<!acc> -> !fp8.tmem_ready<!acc>
        %w = fp8.create_epilogue_warp %end, %rdy : !fp8.consumer<!acc>, !fp8.tmem_ready<!acc> -> !fp8.epilogue_warp<!acc>
        %st = fp8.acquire %w : !fp8.epilogue_warp<!acc>
        %ac = fp8.accumulator %st : !fp8.epilogue_stage<!acc>
        // Without blocks of K no product writes the accumulator.
        %sum = scf.if %any -> !sum {
          %read = fp8.read %ac : !fp8.tmem<128x64xf32> -> !sum
          scf.yield %read : !sum
        } else {
          %zero = fp8.zero : !sum
          scf.yield %zero : !sum
        }
        %w3 = fp8.release %st : !fp8.epilogue_stage<!acc>
        fp8.release_epilogue_warp %w3 : !fp8.epilogue_warp<!acc>
        %off = arith.constant 0 : index
        %nn = arith.addi %n, %off : index
        %q3 = fp8.store %sum, %d[%m, %nn] through %q : !sum, !fp8.tensor_map<!d_tile>, !queue
        fp8.close %q3 : !queue
      }
      fp8.role "right" warps(4) (%end = %right_c, %q = %queue2) : !fp8.consumer<!acc>, !queue {
        %rdy = fp8.wait_tmem %end : !fp8.consumer<!acc> -> !fp8.tmem_ready<!acc>
        %w = fp8.create_epilogue_warp %end, %rdy : !fp8.consumer<!acc>, !fp8.tmem_ready<!acc> -> !fp8.epilogue_warp<!acc>
        %st = fp8.acquire %w : !fp8.epilogue_warp<!acc>
        %ac = fp8.accumulator %st : !fp8.epilogue_stage<!acc>
        // Without blocks of K no product writes the accumulator.
        %sum = scf.if %any -> !sum {
          %read = fp8.read %ac : !fp8.tmem<128x64xf32> -> !sum
          scf.yield %read : !sum
        } else {
          %zero = fp8.zero : !sum
          scf.yield %zero : !sum
        }
        %w3 = fp8.release %st : !fp8.epilogue_stage<!acc>
        fp8.release_epilogue_warp %w3 : !fp8.epilogue_warp<!acc>
        %off = arith.constant 64 : index
        %nn = arith.addi %n, %off : index
        %q3 = fp8.store %sum, %d[%m, %nn] through %q : !sum, !fp8.tensor_map<!d_tile>, !queue
        fp8.close %q3 : !queue
      }
      fp8.role "load" warps(1) (%p = %inp) : !fp8.producer<!ring> {
        %n2 = arith.addi %n, %c64 : index
        %l = scf.for %kb = %c0 to %blocks step %c1 iter_args(%e = %p) -> (!fp8.producer<!ring>) {
          %k = arith.muli %kb, %c64 : index
          %s = fp8.acquire %e : !fp8.producer<!ring>
          fp8.tma_load %a[%m, %k], %s["a"] : !fp8.tensor_map<!a_tile>, !fp8.producer_stage<!ring>
          fp8.tma_load %b[%n, %k], %s["b1"] : !fp8.tensor_map<!b_tile>, !fp8.producer_stage<!ring>
          fp8.tma_load %b[%n2, %k], %s["b2"] : !fp8.tensor_map<!b_tile>, !fp8.producer_stage<!ring>
          %x = fp8.release %s : !fp8.producer_stage<!ring>
          scf.yield %x : !fp8.producer<!ring>
        }
        fp8.close %l : !fp8.producer<!ring>
      }
      fp8.role "mma" warps(1) (%e1 = %left_p, %e2 = %right_p, %in = %inc) : !fp8.producer<!acc>, !fp8.producer<!acc>, !fp8.consumer<!ring> {
          %w1 = fp8.create_mma_warp %e1 : !fp8.producer<!acc> -> !fp8.mma_warp<!acc>
          %w2 = fp8.create_mma_warp %e2 : !fp8.producer<!acc> -> !fp8.mma_warp<!acc>
          %cond = arith.cmpi ult, %c0, %depth : index
          %x1, %x2 = scf.if %cond -> (!fp8.mma_warp<!acc>, !fp8.mma_warp<!acc>) {
            scf.yield %w1, %w2 : !fp8.mma_warp<!acc>, !fp8.mma_warp<!acc>
          } else {
            scf.yield %w2, %w1 : !fp8.mma_warp<!acc>, !fp8.mma_warp<!acc>
          }
          %s1 = fp8.acquire %x1 : !fp8.mma_warp<!acc>
          %s2 = fp8.acquire %x2 : !fp8.mma_warp<!acc>
          %ac1 = fp8.accumulator %s1 : !fp8.mma_stage<!acc>
          %ac2 = fp8.accumulator %s2 : !fp8.mma_stage<!acc>
          %l = scf.for %kb = %c0 to %blocks step %c1 iter_args(%e = %in) -> (!fp8.consumer<!ring>) {
            %nf = arith.cmpi ne, %kb, %c0 : index
            %s = fp8.acquire %e : !fp8.consumer<!ring>
            %at = fp8.tile %s["a"] : !fp8.consumer_stage<!ring>
            %b1 = fp8.tile %s["b1"] : !fp8.consumer_stage<!ring>
            %b2 = fp8.tile %s["b2"] : !fp8.consumer_stage<!ring>
            fp8.mma %ac1, %at, %b1 accumulate(%nf) : !fp8.tmem<128x64xf32>, !a_tile, !b_tile
            fp8.mma %ac2, %at, %b2 accumulate(%nf) : !fp8.tmem<128x64xf32>, !a_tile, !b_tile
            %x = fp8.release %s : !fp8.consumer_stage<!ring>
            scf.yield %x : !fp8.consumer<!ring>
          }
          fp8.close %l : !fp8.consumer<!ring>
          %r1 = fp8.release %s1 : !fp8.mma_stage<!acc>
          %r2 = fp8.release %s2 : !fp8.mma_stage<!acc>
          fp8.release_mma_warp %r1 : !fp8.mma_warp<!acc>
          fp8.release_mma_warp %r2 : !fp8.mma_warp<!acc>
      }
      gpu.return
    }
  }
  func.func @launch(%a: memref<?x?xbf16> {fp8.name = "a", fp8.access = "read"}, %b: memref<?x?xbf16> {fp8.name = "b", fp8.access = "read"}, %d: memref<?x?xbf16> {fp8.name = "d", fp8.access = "write"}) attributes {fp8.problem = "gemm"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    %threads = arith.constant 320 : index
    %m = memref.dim %a, %c0 : memref<?x?xbf16>
    %n = memref.dim %b, %c0 : memref<?x?xbf16>
    %k = memref.dim %a, %c1 : memref<?x?xbf16>
    %gm = arith.ceildivui %m, %c128 : index
    %gn = arith.ceildivui %n, %c128 : index
    %map_a = fp8.tensor_map %a : memref<?x?xbf16> -> !fp8.tensor_map<!a_tile>
    %map_b = fp8.tensor_map %b : memref<?x?xbf16> -> !fp8.tensor_map<!b_tile>
    %map_d = fp8.tensor_map %d : memref<?x?xbf16> -> !fp8.tensor_map<!d_tile>
    gpu.launch_func @kernels::@gemm blocks in (%gm, %gn, %c1) threads in (%threads, %c1, %c1) args(%map_a : !fp8.tensor_map<!a_tile>, %map_b : !fp8.tensor_map<!b_tile>, %map_d : !fp8.tensor_map<!d_tile>, %k : index)
    return
  }
}
