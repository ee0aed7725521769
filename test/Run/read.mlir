// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A GEMM without scales, written by hand: all of K is added up in tensor memory, and the epilogue reads one accumulator a tile. Each
// accumulator is produced and consumed once a tile, so the MMA warp keeps its stage over the loop along K.

// REQUIRES: compiler
// RUN: fp8-opt %s --fp8-gemm-to-ptx=chip=sm_100a --emit=ptx -o %t.ptx
// RUN: fp8-run %t.ptx --backend=sim --m=128 --n=64 --k=128 --schedules=10 | FileCheck %s
// RUN: fp8-run %t.ptx --backend=sim --m=200 --n=400 --k=656 --schedules=10 --multiprocessors=3 | FileCheck %s
// RUN: fp8-run %t.ptx --backend=sim --m=1 --n=8 --k=16 --schedules=3 | FileCheck %s
// RUN: fp8-run %t.ptx --backend=sim --m=128 --n=64 --k=0 --schedules=3 | FileCheck %s
// CHECK: {"ok":true,{{.*}}"errors":0,{{.*}}"wrong":0,"unwritten":0,

!a_tile = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!b_tile = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>
!d_tile = !fp8.tile<32x32xbf16, swizzle_64b>
!ring = !fp8.pipeline<3, a: !a_tile, b: !b_tile>
!acc = !fp8.output_pipeline<2, 128x64xf32>
!queue = !fp8.store_queue<1, !d_tile, 4>
!sum = !fp8.fragment<128x64xf32, 4>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @plain(%a: !fp8.tensor_map<!a_tile>, %b: !fp8.tensor_map<!b_tile>, %d: !fp8.tensor_map<!d_tile>,
                    %tiles_m: index, %tiles_n: index, %blocks: index)
        kernel attributes {fp8.linear, fp8.computes = {a = 0, b = 1, d = 2, blocks = 5}} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %c128 = arith.constant 128 : index
      %any = arith.cmpi ne, %blocks, %c0 : index
      %inp, %inc = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
      %accp, %accc = fp8.output_pipeline : !acc
      %queue = fp8.store_queue : !queue

      fp8.role "epilogue" warps(4) (%end = %accc, %q0 = %queue) : !fp8.consumer<!acc>, !queue {
        %q9 = fp8.epilogue_warp(%w0 = %end) : !fp8.consumer<!acc> -> !queue {
          %w9, %q8 = fp8.for_each_tile persistent (%tm, %tn) in (%tiles_m, %tiles_n) iter_args(%w = %w0, %q = %q0)
              -> (!fp8.epilogue_warp<!acc>, !queue) {
            %m = arith.muli %tm, %c128 : index
            %n = arith.muli %tn, %c64 : index
            %w1, %sum = fp8.consume(%stage = %w) : !fp8.epilogue_warp<!acc> -> (!fp8.epilogue_warp<!acc>, !sum) {
              %accumulator = fp8.accumulator %stage : !fp8.epilogue_stage<!acc>
              // Without blocks of K no product writes the accumulator.
              %f = scf.if %any -> !sum {
                %read = fp8.read %accumulator : !fp8.tmem<128x64xf32> -> !sum
                scf.yield %read : !sum
              } else {
                %zero = fp8.zero : !sum
                scf.yield %zero : !sum
              }
              fp8.yield %f : !sum
            }
            %q1 = fp8.store %sum, %d[%m, %n] through %q : !sum, !fp8.tensor_map<!d_tile>, !queue
            fp8.yield %w1, %q1 : !fp8.epilogue_warp<!acc>, !queue
          }
          fp8.yield %w9, %q8 : !fp8.epilogue_warp<!acc>, !queue
        }
        fp8.yield %q9 : !queue
      }

      fp8.role "mma" warps(1) (%end = %accp, %in0 = %inc) : !fp8.producer<!acc>, !fp8.consumer<!ring> {
        %in9 = fp8.mma_warp(%w0 = %end) : !fp8.producer<!acc> -> !fp8.consumer<!ring> {
          %w9, %in8 = fp8.for_each_tile persistent (%tm, %tn) in (%tiles_m, %tiles_n) iter_args(%w = %w0, %in = %in0)
              -> (!fp8.mma_warp<!acc>, !fp8.consumer<!ring>) {
            %w1, %in3 = fp8.produce(%stage = %w) : !fp8.mma_warp<!acc> -> (!fp8.mma_warp<!acc>, !fp8.consumer<!ring>) {
              %accumulator = fp8.accumulator %stage : !fp8.mma_stage<!acc>
              %in2 = scf.for %kb = %c0 to %blocks step %c1 iter_args(%in1 = %in) -> (!fp8.consumer<!ring>) {
                %more = arith.cmpi ne, %kb, %c0 : index
                %next = fp8.consume(%input = %in1) : !fp8.consumer<!ring> -> !fp8.consumer<!ring> {
                  %at = fp8.tile %input["a"] : !fp8.consumer_stage<!ring>
                  %bt = fp8.tile %input["b"] : !fp8.consumer_stage<!ring>
                  fp8.mma %accumulator, %at, %bt accumulate(%more) : !fp8.tmem<128x64xf32>, !a_tile, !b_tile
                }
                scf.yield %next : !fp8.consumer<!ring>
              }
              fp8.yield %in2 : !fp8.consumer<!ring>
            }
            fp8.yield %w1, %in3 : !fp8.mma_warp<!acc>, !fp8.consumer<!ring>
          }
          fp8.yield %w9, %in8 : !fp8.mma_warp<!acc>, !fp8.consumer<!ring>
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
            }
            scf.yield %next : !fp8.producer<!ring>
          }
          fp8.yield %p2 : !fp8.producer<!ring>
        }
        fp8.yield %p9 : !fp8.producer<!ring>
      }
      gpu.return
    }
  }

  func.func @launch(%a: memref<?x?xf8E4M3FN> {fp8.name = "a", fp8.access = "read"},
                    %b: memref<?x?xf8E4M3FN> {fp8.name = "b", fp8.access = "read"},
                    %d: memref<?x?xbf16> {fp8.name = "d", fp8.access = "write"}) attributes {fp8.problem = "blockwise_gemm"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %threads = arith.constant 192 : index
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
    %map_b = fp8.tensor_map %b : memref<?x?xf8E4M3FN> -> !fp8.tensor_map<!b_tile>
    %map_d = fp8.tensor_map %d : memref<?x?xbf16> -> !fp8.tensor_map<!d_tile>
    gpu.launch_func @kernels::@plain blocks in (%grid, %c1, %c1) threads in (%threads, %c1, %c1)
      args(%map_a : !fp8.tensor_map<!a_tile>, %map_b : !fp8.tensor_map<!b_tile>, %map_d : !fp8.tensor_map<!d_tile>,
           %tiles_m : index, %tiles_n : index, %blocks : index)
    return
  }
}
