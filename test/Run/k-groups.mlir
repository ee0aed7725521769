// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// K groups: a slot holds the tiles of two K blocks behind one barrier, so that there is half as much waiting, and all of K is added up
// in tensor memory. Of an odd number of K blocks, the last group has one that lies past the end: TMA fills it with zeros, which are
// counted like any bytes and add nothing.

// REQUIRES: compiler
// DEFINE: %{opt} = fp8-opt %t.mlir --fp8-gemm-to-ptx=chip=sm_100a --emit=ptx -o %t.ptx
// DEFINE: %{run} = fp8-run %t.ptx --backend=sim --schedules=5
// RUN: cp %s %t.mlir && %{opt}
// RUN: %{run} --m=128 --n=64 --k=256 | FileCheck %s
// RUN: %{run} --m=200 --n=200 --k=1168 --multiprocessors=3 | FileCheck %s
// RUN: %{run} --m=300 --n=136 --k=1552 --multiprocessors=2 | FileCheck %s
// RUN: %{run} --m=1 --n=8 --k=16 | FileCheck %s
// RUN: %{run} --m=130 --n=72 --k=0 | FileCheck %s
// RUN: %{run} --m=200 --n=72 --k=400 --data=specials | FileCheck %s
// CHECK: {"ok":true,{{.*}}"errors":0,{{.*}}"schedules":5,{{.*}}"wrong":0,"unwritten":0,
// RUN: FileCheck %s --check-prefix=BYTES --input-file=%t.ptx
// One announcement for all four tiles of a slot.
// BYTES: 49152;
// BYTES: mbarrier.arrive.expect_tx
// BYTES-NOT: expect_tx
// RUN: %if ptxas %{ %ptxas -arch=sm_100a -v -o /dev/null %t.ptx 2>&1 | FileCheck %s --check-prefix=SPILL %}
// SPILL: 0 bytes spill stores, 0 bytes spill loads

// Groups of which only the first block is multiplied: half of K is missed.
// RUN: sed '/fp8.mma .*%a1, %b1/d' %s > %t.mlir && %{opt}
// RUN: not %{run} --m=128 --n=64 --k=256 2>/dev/null | FileCheck %s --check-prefix=MISSED
// MISSED: {"ok":false,{{.*}}"errors":0,{{.*}}"wrong":{{[0-9]+}},"unwritten":0,

!a_tile = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!b_tile = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>
!d_tile = !fp8.tile<32x32xbf16, swizzle_64b>
!ring = !fp8.pipeline<2, a0: !a_tile, b0: !b_tile, a1: !a_tile, b1: !b_tile>
!acc = !fp8.output_pipeline<2, 128x64xf32>
!queue = !fp8.store_queue<1, !d_tile, 4>
!sum = !fp8.fragment<128x64xf32, 4>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @groups(%a: !fp8.tensor_map<!a_tile>, %b: !fp8.tensor_map<!b_tile>, %d: !fp8.tensor_map<!d_tile>,
                     %tiles_m: index, %tiles_n: index, %groups: index) kernel attributes {fp8.linear} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %c128 = arith.constant 128 : index
      %c256 = arith.constant 256 : index
      %inp, %inc = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
      %accp, %accc = fp8.output_pipeline : !acc
      %queue = fp8.store_queue : !queue

      fp8.role "epilogue" warps(4) (%end = %accc, %q0 = %queue) : !fp8.consumer<!acc>, !queue {
        %any = arith.cmpi ne, %groups, %c0 : index
        %q9 = fp8.epilogue_warp(%w0 = %end) : !fp8.consumer<!acc> -> !queue {
          %w1, %q1 = fp8.for_each_tile persistent (%tm, %tn) in (%tiles_m, %tiles_n)
              iter_args(%w = %w0, %q = %q0) -> (!fp8.epilogue_warp<!acc>, !queue) {
            %m = arith.muli %tm, %c128 : index
            %n = arith.muli %tn, %c64 : index
            %w2, %sum = fp8.consume(%stage = %w) : !fp8.epilogue_warp<!acc> -> (!fp8.epilogue_warp<!acc>, !sum) {
              %accumulator = fp8.accumulator %stage : !fp8.epilogue_stage<!acc>
              %f = scf.if %any -> !sum {
                %read = fp8.read %accumulator : !fp8.tmem<128x64xf32> -> !sum
                scf.yield %read : !sum
              } else {
                %zero = fp8.zero : !sum
                scf.yield %zero : !sum
              }
              fp8.yield %f : !sum
            }
            %q2 = fp8.store %sum, %d[%m, %n] through %q : !sum, !fp8.tensor_map<!d_tile>, !queue
            fp8.yield %w2, %q2 : !fp8.epilogue_warp<!acc>, !queue
          }
          fp8.yield %w1, %q1 : !fp8.epilogue_warp<!acc>, !queue
        }
        fp8.yield %q9 : !queue
      }

      fp8.role "mma" warps(1) (%end = %accp, %in0 = %inc) : !fp8.producer<!acc>, !fp8.consumer<!ring> {
        %true = arith.constant true
        %in9 = fp8.mma_warp(%w0 = %end) : !fp8.producer<!acc> -> !fp8.consumer<!ring> {
          %w1, %in1 = fp8.for_each_tile persistent (%tm, %tn) in (%tiles_m, %tiles_n)
              iter_args(%w = %w0, %in2 = %in0) -> (!fp8.mma_warp<!acc>, !fp8.consumer<!ring>) {
            %w3, %in3 = fp8.produce(%stage = %w) : !fp8.mma_warp<!acc> -> (!fp8.mma_warp<!acc>, !fp8.consumer<!ring>) {
              %accumulator = fp8.accumulator %stage : !fp8.mma_stage<!acc>
              %in4 = scf.for %g = %c0 to %groups step %c1 iter_args(%in = %in2) -> (!fp8.consumer<!ring>) {
                %not_first = arith.cmpi ne, %g, %c0 : index
                %next = fp8.consume(%input = %in) : !fp8.consumer<!ring> -> !fp8.consumer<!ring> {
                  %a0 = fp8.tile %input["a0"] : !fp8.consumer_stage<!ring>
                  %b0 = fp8.tile %input["b0"] : !fp8.consumer_stage<!ring>
                  fp8.mma %accumulator, %a0, %b0 accumulate(%not_first) : !fp8.tmem<128x64xf32>, !a_tile, !b_tile
                  %a1 = fp8.tile %input["a1"] : !fp8.consumer_stage<!ring>
                  %b1 = fp8.tile %input["b1"] : !fp8.consumer_stage<!ring>
                  fp8.mma %accumulator, %a1, %b1 accumulate(%true) : !fp8.tmem<128x64xf32>, !a_tile, !b_tile
                }
                scf.yield %next : !fp8.consumer<!ring>
              }
              fp8.yield %in4 : !fp8.consumer<!ring>
            }
            fp8.yield %w3, %in3 : !fp8.mma_warp<!acc>, !fp8.consumer<!ring>
          }
          fp8.yield %w1, %in1 : !fp8.mma_warp<!acc>, !fp8.consumer<!ring>
        }
        fp8.yield %in9 : !fp8.consumer<!ring>
      }

      fp8.role "load" warps(1) (%p0 = %inp) : !fp8.producer<!ring> {
        %p1 = fp8.for_each_tile persistent (%tm, %tn) in (%tiles_m, %tiles_n) iter_args(%p2 = %p0) -> (!fp8.producer<!ring>) {
          %m = arith.muli %tm, %c128 : index
          %n = arith.muli %tn, %c64 : index
          %p3 = scf.for %g = %c0 to %groups step %c1 iter_args(%p = %p2) -> (!fp8.producer<!ring>) {
            %k0 = arith.muli %g, %c256 : index
            %k1 = arith.addi %k0, %c128 : index
            %next = fp8.produce(%stage = %p) : !fp8.producer<!ring> -> !fp8.producer<!ring> {
              fp8.tma_load %a[%m, %k0], %stage["a0"] : !fp8.tensor_map<!a_tile>, !fp8.producer_stage<!ring>
              fp8.tma_load %b[%n, %k0], %stage["b0"] : !fp8.tensor_map<!b_tile>, !fp8.producer_stage<!ring>
              fp8.tma_load %a[%m, %k1], %stage["a1"] : !fp8.tensor_map<!a_tile>, !fp8.producer_stage<!ring>
              fp8.tma_load %b[%n, %k1], %stage["b1"] : !fp8.tensor_map<!b_tile>, !fp8.producer_stage<!ring>
            }
            scf.yield %next : !fp8.producer<!ring>
          }
          fp8.yield %p3 : !fp8.producer<!ring>
        }
        fp8.yield %p1 : !fp8.producer<!ring>
      }
      gpu.return
    }
  }

  func.func @launch(%a: memref<?x?xf8E4M3FN> {fp8.name = "a", fp8.access = "read"},
                    %b: memref<?x?xf8E4M3FN> {fp8.name = "b", fp8.access = "read"},
                    %d: memref<?x?xbf16> {fp8.name = "d", fp8.access = "write"}) attributes {fp8.problem = "gemm"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c192 = arith.constant 192 : index
    %c256 = arith.constant 256 : index
    %m = memref.dim %a, %c0 : memref<?x?xf8E4M3FN>
    %n = memref.dim %b, %c0 : memref<?x?xf8E4M3FN>
    %k = memref.dim %a, %c1 : memref<?x?xf8E4M3FN>
    %tiles_m = arith.ceildivui %m, %c128 : index
    %tiles_n = arith.ceildivui %n, %c64 : index
    %groups = arith.ceildivui %k, %c256 : index
    %tiles = arith.muli %tiles_m, %tiles_n : index
    %sms = fp8.multiprocessor_count
    %grid = arith.minui %tiles, %sms : index
    %map_a = fp8.tensor_map %a : memref<?x?xf8E4M3FN> -> !fp8.tensor_map<!a_tile>
    %map_b = fp8.tensor_map %b : memref<?x?xf8E4M3FN> -> !fp8.tensor_map<!b_tile>
    %map_d = fp8.tensor_map %d : memref<?x?xbf16> -> !fp8.tensor_map<!d_tile>
    gpu.launch_func @kernels::@groups blocks in (%grid, %c1, %c1) threads in (%c192, %c1, %c1)
      args(%map_a : !fp8.tensor_map<!a_tile>, %map_b : !fp8.tensor_map<!b_tile>, %map_d : !fp8.tensor_map<!d_tile>,
           %tiles_m : index, %tiles_n : index, %groups : index)
    return
  }
}
