// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rest of a row that threads store, in a batch: the grid has a CTA for each product, and one more if their number is odd. What that one
// stores lies beyond the batch, and is not stored.

// REQUIRES: compiler
// RUN: fp8-opt %s --fp8-gemm-to-ptx=chip=sm_90a --emit=ptx -o %t.ptx
// RUN: fp8-run %t.ptx --backend=sim --m=200 --n=77 --k=400 --batch=3 --schedules=3 | FileCheck %s
// RUN: fp8-run %t.ptx --backend=sim --m=64 --n=72 --k=64 --batch=1 | FileCheck %s
// CHECK: {"ok":true,{{.*}}"errors":0,{{.*}}"wrong":0,"unwritten":0,

!a_tile = !fp8.tile<128x64xbf16, swizzle_128b>
!b_tile = !fp8.tile<64x64xbf16, swizzle_128b>
!d_tile = !fp8.tile<64x64xbf16, swizzle_128b>
!ring = !fp8.pipeline<3, a: !a_tile, b: !b_tile>
!queue = !fp8.store_queue<2, !d_tile, 4>
!sum = !fp8.fragment<64x64xf32, 4, warpgroups>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @sums(%a: !fp8.tensor_map<!a_tile, rank = 3>, %b: !fp8.tensor_map<!b_tile, rank = 3>, %d: !fp8.tensor_map<!d_tile, rank = 3>,
                   %tiles_m: index, %tiles_n: index, %blocks: index, %rest: memref<?x?x?xbf16, strided<[32768, 128, 1]>>) kernel attributes {fp8.linear} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %part = arith.constant 64 : index
      %rows = arith.constant 128 : index
      %columns = arith.constant 64 : index
      %depth = arith.constant 64 : index
      %bi = gpu.block_id y
      %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
      %queue = fp8.store_queue : !queue

      fp8.role "multiply" warps(4) (%end = %c, %q = %queue) : !fp8.consumer<!ring>, !queue {
        %end2, %q2 = fp8.for_each_tile persistent (%tm, %tn) in (%tiles_m, %tiles_n)
            iter_args(%e = %end, %qi = %q) -> (!fp8.consumer<!ring>, !queue) {
          %m = arith.muli %tm, %rows : index
          %n = arith.muli %tn, %columns : index
          %half = arith.addi %m, %part : index
          %zero = fp8.zero : !sum
          %e2, %x, %y = scf.for %kb = %c0 to %blocks step %c1 iter_args(%ek = %e, %upper = %zero, %lower = %zero)
              -> (!fp8.consumer<!ring>, !sum, !sum) {
            %e3, %x2, %y2 = fp8.consume(%stage = %ek) : !fp8.consumer<!ring> -> (!fp8.consumer<!ring>, !sum, !sum) {
              %at = fp8.tile %stage["a"] : !fp8.consumer_stage<!ring>
              %bt = fp8.tile %stage["b"] : !fp8.consumer_stage<!ring>
              %first = fp8.warpgroup_mma %at, %bt accumulate(%upper : !sum) : !a_tile, !b_tile -> !fp8.pending<!sum>
              %second = fp8.warpgroup_mma %at, %bt part 1 accumulate(%lower : !sum) : !a_tile, !b_tile -> !fp8.pending<!sum>
              %y3 = fp8.wait_mma %second : !fp8.pending<!sum>
              %x3 = fp8.wait_mma %first : !fp8.pending<!sum>
              fp8.yield %x3, %y3 : !sum, !sum
            }
            scf.yield %e3, %x2, %y2 : !fp8.consumer<!ring>, !sum, !sum
          }
          %q3 = fp8.store %x, %d[%bi, %m, %n] through %qi rest(%rest : memref<?x?x?xbf16, strided<[32768, 128, 1]>>) : !sum, !fp8.tensor_map<!d_tile, rank = 3>, !queue
          %q4 = fp8.store %y, %d[%bi, %half, %n] through %q3 rest(%rest : memref<?x?x?xbf16, strided<[32768, 128, 1]>>) : !sum, !fp8.tensor_map<!d_tile, rank = 3>, !queue
          fp8.yield %e2, %q4 : !fp8.consumer<!ring>, !queue
        }
        fp8.yield %end2, %q2 : !fp8.consumer<!ring>, !queue
      }

      fp8.role "load" warps(1) (%end = %p) : !fp8.producer<!ring> {
        %end2 = fp8.for_each_tile persistent (%tm, %tn) in (%tiles_m, %tiles_n) iter_args(%e = %end) -> (!fp8.producer<!ring>) {
          %m = arith.muli %tm, %rows : index
          %n = arith.muli %tn, %columns : index
          %e2 = scf.for %kb = %c0 to %blocks step %c1 iter_args(%ek = %e) -> (!fp8.producer<!ring>) {
            %k = arith.muli %kb, %depth : index
            %e3 = fp8.produce(%stage = %ek) : !fp8.producer<!ring> -> (!fp8.producer<!ring>) {
              fp8.tma_load %a[%bi, %m, %k], %stage["a"] : !fp8.tensor_map<!a_tile, rank = 3>, !fp8.producer_stage<!ring>
              fp8.tma_load %b[%bi, %n, %k], %stage["b"] : !fp8.tensor_map<!b_tile, rank = 3>, !fp8.producer_stage<!ring>
            }
            scf.yield %e3 : !fp8.producer<!ring>
          }
          fp8.yield %e2 : !fp8.producer<!ring>
        }
        fp8.yield %end2 : !fp8.producer<!ring>
      }
      gpu.return
    }
  }

  func.func @launch(%a: memref<?x?x?xbf16> {fp8.name = "a", fp8.access = "read"},
                    %b: memref<?x?x?xbf16> {fp8.name = "b", fp8.access = "read"},
                    %d: memref<?x?x?xbf16, strided<[32768, 128, 1]>> {fp8.name = "d", fp8.access = "write"}) attributes {fp8.problem = "gemm"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rows = arith.constant 128 : index
    %columns = arith.constant 64 : index
    %depth = arith.constant 64 : index
    %threads = arith.constant 160 : index
    %c2 = arith.constant 2 : index
    %batch = memref.dim %a, %c0 : memref<?x?x?xbf16>
    %pairs = arith.ceildivui %batch, %c2 : index
    %gy = arith.muli %pairs, %c2 : index
    %m = memref.dim %a, %c1 : memref<?x?x?xbf16>
    %n = memref.dim %b, %c1 : memref<?x?x?xbf16>
    %k = memref.dim %a, %c2 : memref<?x?x?xbf16>
    %tiles_m = arith.ceildivui %m, %rows : index
    %tiles_n = arith.ceildivui %n, %columns : index
    %blocks = arith.ceildivui %k, %depth : index
    %tiles = arith.muli %tiles_m, %tiles_n : index
    %sms = fp8.multiprocessor_count
    %grid = arith.minui %tiles, %sms : index
    %map_a = fp8.tensor_map %a : memref<?x?x?xbf16> -> !fp8.tensor_map<!a_tile, rank = 3>
    %map_b = fp8.tensor_map %b : memref<?x?x?xbf16> -> !fp8.tensor_map<!b_tile, rank = 3>
    %map_d = fp8.tensor_map %d whole_units : memref<?x?x?xbf16, strided<[32768, 128, 1]>> -> !fp8.tensor_map<!d_tile, rank = 3>
    gpu.launch_func @kernels::@sums blocks in (%grid, %gy, %c1) threads in (%threads, %c1, %c1)
      args(%map_a : !fp8.tensor_map<!a_tile, rank = 3>, %map_b : !fp8.tensor_map<!b_tile, rank = 3>, %map_d : !fp8.tensor_map<!d_tile, rank = 3>,
           %tiles_m : index, %tiles_n : index, %blocks : index, %d : memref<?x?x?xbf16, strided<[32768, 128, 1]>>)
    return
  }
}
