// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two rings of one type whose handles change places on every trip: one acquire takes the slots of both, so both are handed over as
// that acquire demands. Threads copy an element into each slot beside TMA's tiles, D = element * A B^T.

// REQUIRES: compiler
// RUN: fp8-opt %s --fp8-gemm-to-ptx=chip=sm_90a --emit=ptx -o %t.ptx
// RUN: fp8-run %t.ptx --backend=sim --m=128 --n=64 --k=704 --schedules=8 | FileCheck %s
// RUN: fp8-run %t.ptx --backend=sim --m=64 --n=192 --k=64 --schedules=8 | FileCheck %s
// CHECK: {"ok":true,{{.*}}"errors":0,{{.*}}"schedules":8,{{.*}}"wrong":0,"unwritten":0,

// The CTAs of a cluster copy B for one another: both rings are handed back to both CTAs.
// RUN: sed -e 's/{fp8.linear}/{fp8.linear, fp8.cluster = array<i64: 2, 1>}/' -e 's/^\(!share = .*<\)64x64/\132x64/' -e 's/stage\["b"\] : !fp8.tensor/stage["b"] multicast along m : !fp8.tensor/' %s > %t.multicast.mlir
// RUN: fp8-opt %t.multicast.mlir --fp8-gemm-to-ptx=chip=sm_90a --emit=ptx -o %t.multicast.ptx
// RUN: grep multicast::cluster %t.multicast.ptx
// RUN: fp8-run %t.multicast.ptx --backend=sim --m=128 --n=64 --k=704 --schedules=8 | FileCheck %s


!operand = !fp8.tile<64x64xbf16, swizzle_128b>
!share = !fp8.tile<64x64xbf16, swizzle_128b>
!row = !fp8.tile<1x4xf32>
!queue = !fp8.store_queue<1, !operand, 4>
!sum = !fp8.fragment<64x64xf32, 4, warpgroups>
!ring = !fp8.pipeline<4, a: !operand, b: !operand, r: !row>
!p = !fp8.producer<!ring>
!c = !fp8.consumer<!ring>
!ps = !fp8.producer_stage<!ring>
!cs = !fp8.consumer_stage<!ring>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @gemm(%a: !fp8.tensor_map<!operand>, %b: !fp8.tensor_map<!share>, %d: !fp8.tensor_map<!operand>, %depth: index,
                   %element: memref<1x1xf32>) kernel attributes {fp8.linear} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %one = arith.constant 1.0 : f32
      %block_m = gpu.block_id x
      %block_n = gpu.block_id y
      %m = arith.muli %block_m, %c64 : index
      %n = arith.muli %block_n, %c64 : index
      %blocks = arith.ceildivui %depth, %c64 : index
      %queue = fp8.store_queue : !queue
      %even_p, %even_c = fp8.pipeline : !p, !c
      %odd_p, %odd_c = fp8.pipeline : !p, !c

      fp8.role "multiply" warps(4) (%even = %even_c, %odd = %odd_c, %empty = %queue) : !c, !c, !queue {
        %zero = fp8.zero : !sum
        %first, %second, %sum, %factor = scf.for %block = %c0 to %blocks step %c1
            iter_args(%end = %even, %other = %odd, %before = %zero, %unused = %one) -> (!c, !c, !sum, f32) {
          %stage = fp8.acquire %end : !c
          %at = fp8.tile %stage["a"] : !cs
          %bt = fp8.tile %stage["b"] : !cs
          %pending = fp8.warpgroup_mma %at, %bt accumulate(%before : !sum) : !operand, !operand -> !fp8.pending<!sum>
          %after = fp8.wait_mma %pending : !fp8.pending<!sum>
          %rt = fp8.tile %stage["r"] : !cs
          %read = fp8.read_element %rt[0] : !row
          %next = fp8.release %stage : !cs
          scf.yield %other, %next, %after, %read : !c, !c, !sum, f32
        }
        fp8.close %first : !c
        fp8.close %second : !c
        %scaled = fp8.map(%x = %sum) : !sum -> !sum {
          %y = arith.mulf %x, %factor : f32
          fp8.yield %y : f32
        }
        %stored = fp8.store %scaled, %d[%m, %n] through %empty : !sum, !fp8.tensor_map<!operand>, !queue
        fp8.close %stored : !queue
      }
      fp8.role "load" warps(1) (%even = %even_p, %odd = %odd_p) : !p, !p {
        %first, %second = scf.for %block = %c0 to %blocks step %c1 iter_args(%end = %even, %other = %odd) -> (!p, !p) {
          %k = arith.muli %block, %c64 : index
          %stage = fp8.acquire %end : !p
          fp8.tma_load %a[%m, %k], %stage["a"] : !fp8.tensor_map<!operand>, !ps
          fp8.tma_load %b[%n, %k], %stage["b"] : !fp8.tensor_map<!share>, !ps
          fp8.load_element %element[%c0, %c0], %stage["r", 0] : memref<1x1xf32>, !ps
          %filled = fp8.release %stage : !ps
          scf.yield %other, %filled : !p, !p
        }
        fp8.close %first : !p
        fp8.close %second : !p
      }
      gpu.return
    }
  }
  func.func @launch(%a: memref<?x?xbf16> {fp8.name = "a", fp8.access = "read"},
                    %b: memref<?x?xbf16> {fp8.name = "b", fp8.access = "read"},
                    %element: memref<1x1xf32> {fp8.name = "d_scale", fp8.access = "read"},
                    %d: memref<?x?xbf16> {fp8.name = "d", fp8.access = "write"}) attributes {fp8.problem = "gemm"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %threads = arith.constant 160 : index
    %m = memref.dim %a, %c0 : memref<?x?xbf16>
    %n = memref.dim %b, %c0 : memref<?x?xbf16>
    %k = memref.dim %a, %c1 : memref<?x?xbf16>
    %grid_m = arith.ceildivui %m, %c64 : index
    %grid_n = arith.ceildivui %n, %c64 : index
    %map_a = fp8.tensor_map %a : memref<?x?xbf16> -> !fp8.tensor_map<!operand>
    %map_b = fp8.tensor_map %b : memref<?x?xbf16> -> !fp8.tensor_map<!share>
    %map_d = fp8.tensor_map %d : memref<?x?xbf16> -> !fp8.tensor_map<!operand>
    gpu.launch_func @kernels::@gemm blocks in (%grid_m, %grid_n, %c1) threads in (%threads, %c1, %c1)
      args(%map_a : !fp8.tensor_map<!operand>, %map_b : !fp8.tensor_map<!share>, %map_d : !fp8.tensor_map<!operand>, %k : index,
           %element : memref<1x1xf32>)
    return
  }
}
