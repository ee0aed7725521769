// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products in registers that add up all of K (`accumulate`): a warpgroup has two parts of A's rows, starts the products of both, and waits for
// the second one first. As it stands of bf16; by substitution of f16 and of fp8, e5m2 times e4m3 among them, where a row of 128 bytes is twice as
// many elements.

// REQUIRES: compiler
// DEFINE: %{opt} = fp8-opt %t.mlir --fp8-gemm-to-ptx=chip=sm_90a --emit=ptx -o %t.ptx
// DEFINE: %{run} = fp8-run %t.ptx --backend=sim --schedules=5
// DEFINE: %{runs} = %{run} --m=300 --n=200 --k=592 --multiprocessors=2 | FileCheck %s && %{run} --m=3 --n=16 --k=0 | FileCheck %s && %{run} --m=200 --n=72 --k=400 --data=specials | FileCheck %s
// RUN: cp %s %t.mlir && %{opt} && %{runs}
// CHECK: {"ok":true,{{.*}}"errors":0,{{.*}}"schedules":5,{{.*}}"wrong":0,"unwritten":0,
// RUN: FileCheck %s --check-prefix=ORDER --input-file=%t.ptx
// The second wait is for what the first one waited for already; ptxas adds one of its own after a wait that leaves more running than there are.
// ORDER: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
// ORDER: wgmma.wait_group.sync.aligned 0;
// ORDER: wgmma.wait_group.sync.aligned 0;
// RUN: %if ptxas %{ %ptxas -arch=sm_90a -v -o /dev/null %t.ptx 2>&1 | FileCheck %s --check-prefix=SPILL %}
// SPILL-NOT: {{warning|C75}}
// SPILL: 0 bytes spill stores, 0 bytes spill loads

// RUN: sed '/d_tile\|%%d\b/!s/bf16/f16/g' %s > %t.mlir && %{opt} && %{runs}
// RUN: sed '/%%b\b\|map_b\|b_tile =/s/bf16/f8E4M3FN/g; /%%a\b\|map_a\|a_tile =/s/bf16/f8E5M2/g; /_tile = .* operand/s/x64x/x128x/; s/constant 64 : index .. k/constant 128 : index/' %s > %t.mlir && %{opt} && %{runs}
// RUN: FileCheck %s --check-prefix=KIND --input-file=%t.ptx
// KIND: wgmma.mma_async.sync.aligned.m64n64k32.f32.e5m2.e4m3
// RUN: sed '/%%[ab]\b\|map_[ab]\|[ab]_tile =/s/bf16/f8E5M2/g; /_tile = .* operand/s/x64x/x128x/; s/constant 64 : index .. k/constant 128 : index/' %s > %t.mlir && %{opt} && %{runs}

// Without `accumulate` only the last K block counts; of one part alone, half of the rows are wrong.
// RUN: sed 's/ accumulate(%%lower : !sum)//' %s > %t.mlir && %{opt}
// RUN: not %{run} --m=128 --n=64 --k=256 2>/dev/null | FileCheck %s --check-prefix=LAST
// LAST: {"ok":false,{{.*}}"errors":0,{{.*}}"elements":8192,"wrong":{{[34][0-9][0-9][0-9]}},"unwritten":0,
// Without either op.
// RUN: fp8-test-opt %s --test-fp8-no-op=op=fp8.warpgroup_mma --fp8-gemm-to-ptx=chip=sm_90a --emit=ptx -o %t.ptx
// RUN: not %{run} --m=128 --n=64 --k=256 2>/dev/null | FileCheck %s --check-prefix=NOTHING
// RUN: fp8-test-opt %s --test-fp8-no-op=op=fp8.wait_mma --fp8-gemm-to-ptx=chip=sm_90a --emit=ptx -o %t.ptx
// RUN: not %{run} --m=128 --n=64 --k=256 2>/dev/null | FileCheck %s --check-prefix=NOTHING
// NOTHING: {"ok":false,

!a_tile = !fp8.tile<128x64xbf16, swizzle_128b> // operand
!b_tile = !fp8.tile<64x64xbf16, swizzle_128b> // operand
!d_tile = !fp8.tile<64x64xbf16, swizzle_128b>
!ring = !fp8.pipeline<3, a: !a_tile, b: !b_tile>
!queue = !fp8.store_queue<2, !d_tile, 4>
!sum = !fp8.fragment<64x64xf32, 4, warpgroups>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @sums(%a: !fp8.tensor_map<!a_tile>, %b: !fp8.tensor_map<!b_tile>, %d: !fp8.tensor_map<!d_tile>,
                   %tiles_m: index, %tiles_n: index, %blocks: index) kernel attributes {fp8.linear} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %part = arith.constant 64 : index
      %rows = arith.constant 128 : index
      %columns = arith.constant 64 : index
      %depth = arith.constant 64 : index // k
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
          %q3 = fp8.store %x, %d[%m, %n] through %qi : !sum, !fp8.tensor_map<!d_tile>, !queue
          %q4 = fp8.store %y, %d[%half, %n] through %q3 : !sum, !fp8.tensor_map<!d_tile>, !queue
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
              fp8.tma_load %a[%m, %k], %stage["a"] : !fp8.tensor_map<!a_tile>, !fp8.producer_stage<!ring>
              fp8.tma_load %b[%n, %k], %stage["b"] : !fp8.tensor_map<!b_tile>, !fp8.producer_stage<!ring>
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

  func.func @launch(%a: memref<?x?xbf16> {fp8.name = "a", fp8.access = "read"},
                    %b: memref<?x?xbf16> {fp8.name = "b", fp8.access = "read"},
                    %d: memref<?x?xbf16> {fp8.name = "d", fp8.access = "write"}) attributes {fp8.problem = "gemm"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rows = arith.constant 128 : index
    %columns = arith.constant 64 : index
    %depth = arith.constant 64 : index // k
    %threads = arith.constant 160 : index
    %m = memref.dim %a, %c0 : memref<?x?xbf16>
    %n = memref.dim %b, %c0 : memref<?x?xbf16>
    %k = memref.dim %a, %c1 : memref<?x?xbf16>
    %tiles_m = arith.ceildivui %m, %rows : index
    %tiles_n = arith.ceildivui %n, %columns : index
    %blocks = arith.ceildivui %k, %depth : index
    %tiles = arith.muli %tiles_m, %tiles_n : index
    %sms = fp8.multiprocessor_count
    %grid = arith.minui %tiles, %sms : index
    %map_a = fp8.tensor_map %a : memref<?x?xbf16> -> !fp8.tensor_map<!a_tile>
    %map_b = fp8.tensor_map %b : memref<?x?xbf16> -> !fp8.tensor_map<!b_tile>
    %map_d = fp8.tensor_map %d : memref<?x?xbf16> -> !fp8.tensor_map<!d_tile>
    gpu.launch_func @kernels::@sums blocks in (%grid, %c1, %c1) threads in (%threads, %c1, %c1)
      args(%map_a : !fp8.tensor_map<!a_tile>, %map_b : !fp8.tensor_map<!b_tile>, %map_d : !fp8.tensor_map<!d_tile>,
           %tiles_m : index, %tiles_n : index, %blocks : index)
    return
  }
}
