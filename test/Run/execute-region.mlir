// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loop written with branches, in a region that gives handles and sums back: it is lowered like a loop of scf.

// REQUIRES: compiler
// RUN: fp8-opt %s --fp8-prove="chip=sm_90a require json=%t.json" -o /dev/null
// RUN: fp8-opt %s --fp8-gemm-to-ptx=chip=sm_90a --emit=ptx -o %t.ptx
// RUN: fp8-check-ptx %t.ptx %t.json | FileCheck %s --check-prefix=TEXT
// TEXT: gemm: agrees with its skeleton, which is proved
// RUN: fp8-run %t.ptx --backend=sim --m=64 --n=64 --k=64 --schedules=3 | FileCheck %s
// RUN: fp8-run %t.ptx --backend=sim --m=200 --n=136 --k=584 --schedules=3 | FileCheck %s
// CHECK: {"ok":true,{{.*}}"errors":0,{{.*}}"wrong":0,"unwritten":0,

!operand = !fp8.tile<64x64xbf16, swizzle_128b>
!result = !fp8.tile<64x64xbf16, swizzle_128b>
!queue = !fp8.store_queue<1, !result, 4>
!sum = !fp8.fragment<64x64xf32, 4, warpgroups>
!ring = !fp8.pipeline<4, a: !operand, b: !operand>
!p = !fp8.producer<!ring>
!c = !fp8.consumer<!ring>
!ps = !fp8.producer_stage<!ring>
!cs = !fp8.consumer_stage<!ring>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @gemm(%a: !fp8.tensor_map<!operand>, %b: !fp8.tensor_map<!operand>, %d: !fp8.tensor_map<!result>, %depth: index)
        kernel attributes {fp8.linear} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %block_m = gpu.block_id x
      %block_n = gpu.block_id y
      %m = arith.muli %block_m, %c64 : index
      %n = arith.muli %block_n, %c64 : index
      %blocks = arith.ceildivui %depth, %c64 : index
      %queue = fp8.store_queue : !queue

      %producer, %consumer = fp8.pipeline : !p, !c
      fp8.role "multiply" warps(4) (%first = %consumer, %empty = %queue) : !c, !queue {
        %zero = fp8.zero : !sum
        %last, %sum = scf.execute_region -> (!c, !sum) {
          cf.br ^head(%c0, %first, %zero : index, !c, !sum)
        ^head(%i: index, %end: !c, %before: !sum):
          %lt = arith.cmpi ult, %i, %blocks : index
          cf.cond_br %lt, ^body, ^exit
        ^body:
          %stage = fp8.acquire %end : !c
          %at = fp8.tile %stage["a"] : !cs
          %bt = fp8.tile %stage["b"] : !cs
          %pending = fp8.warpgroup_mma %at, %bt accumulate(%before : !sum) : !operand, !operand -> !fp8.pending<!sum>
          %after = fp8.wait_mma %pending : !fp8.pending<!sum>
          %next = fp8.release %stage : !cs
          %j = arith.addi %i, %c1 : index
          cf.br ^head(%j, %next, %after : index, !c, !sum)
        ^exit:
          scf.yield %end, %before : !c, !sum
        }
        fp8.close %last : !c
        %stored = fp8.store %sum, %d[%m, %n] through %empty : !sum, !fp8.tensor_map<!result>, !queue
        fp8.close %stored : !queue
      }
      fp8.role "load" warps(1) (%first = %producer) : !p {
        %last = scf.for %block = %c0 to %blocks step %c1 iter_args(%end = %first) -> (!p) {
          %k = arith.muli %block, %c64 : index
          %stage = fp8.acquire %end : !p
          fp8.tma_load %a[%m, %k], %stage["a"] : !fp8.tensor_map<!operand>, !ps
          fp8.tma_load %b[%n, %k], %stage["b"] : !fp8.tensor_map<!operand>, !ps
          %filled = fp8.release %stage : !ps
          scf.yield %filled : !p
        }
        fp8.close %last : !p
      }

      gpu.return
    }
  }
  func.func @launch(%a: memref<?x?xbf16> {fp8.name = "a", fp8.access = "read"},
                    %b: memref<?x?xbf16> {fp8.name = "b", fp8.access = "read"},
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
    %map_b = fp8.tensor_map %b : memref<?x?xbf16> -> !fp8.tensor_map<!operand>
    %map_d = fp8.tensor_map %d : memref<?x?xbf16> -> !fp8.tensor_map<!result>
    gpu.launch_func @kernels::@gemm blocks in (%grid_m, %grid_n, %c1) threads in (%threads, %c1, %c1)
      args(%map_a : !fp8.tensor_map<!operand>, %map_b : !fp8.tensor_map<!operand>, %map_d : !fp8.tensor_map<!result>, %k : index)
    return
  }
}
